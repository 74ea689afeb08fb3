"""Compiled functions as operators of PyTorch: inside `torch.compile`, `torch.export` and autograd.

An operator is made for each function and each form of its arguments and results, under the name
``transkern::<function>_<digest>`` or one that `register` gives. Its fake kernel computes the shapes and dtypes of the
results from those of the arguments, which may be symbols, and never runs the function.
"""

from __future__ import annotations

import hashlib
import keyword
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.fx.experimental import symbolic_shapes

from transkern import refusals
from transkern.errors import CompileError
from transkern.frameworks import calls, gradients
from transkern.frameworks.plans import Output, Plan, as_planned, plan, put_together, taken_apart
from transkern.frameworks.templates import Slot, Template, fill, take, text
from transkern.runtime import foreign
from transkern.runtime.keys import is_compiled

if TYPE_CHECKING:
    from transkern.runtime.compiled import Compiled

_NAMESPACE = "transkern"


# ---- symbols ---------------------------------------------------------------------------------------------------------


class _Calculus:
    """`sizes.Calculus` of PyTorch's symbols."""

    def maximum(self, a: Any, b: Any) -> Any:
        return torch.sym_max(a, b)

    def minimum(self, a: Any, b: Any) -> Any:
        return torch.sym_min(a, b)

    def where(self, condition: Any, a: Any, b: Any) -> Any:
        if isinstance(condition, torch.SymBool) and isinstance(a, torch.SymInt) and isinstance(b, torch.SymInt):
            return torch.sym_ite(condition, a, b)
        return a if condition else b

    def both(self, a: Any, b: Any) -> Any:
        return symbolic_shapes.sym_and(a, b)

    def either(self, a: Any, b: Any) -> Any:
        return symbolic_shapes.sym_or(a, b)

    def negated(self, a: Any) -> Any:
        return torch.sym_not(a)

    def same(self, a: Any, b: Any) -> bool:
        return bool(symbolic_shapes.statically_known_true(a == b))


_SYMBOLS = {torch.SymInt: "int", torch.SymFloat: "float", torch.SymBool: "bool"}
_PYTHON: dict[str, Callable[[Any], Any]] = {"int": int, "float": float, "bool": bool}


def _fixed(value: Any) -> Any:
    kind = _SYMBOLS.get(type(value))
    return _PYTHON[kind](value) if kind else value


def _holds(condition: Any) -> bool:
    if isinstance(condition, torch.SymBool):
        return bool(symbolic_shapes.guard_or_true(condition))
    return bool(condition)


def _check(condition: Any, error: Callable[[], Exception]) -> None:
    torch._check(condition, lambda: str(error()))


SYMBOLS = calls.Symbols(
    fixed=_fixed,
    kind=lambda value: _SYMBOLS.get(type(value), ""),
    holds=_holds,
    check=_check,
    calculus=_Calculus(),
)


def _may_be_same(a: Any, b: Any) -> bool:
    return not symbolic_shapes.statically_known_true(a != b)


def abstract(value: Any) -> calls.Abstract | None:
    """What is known of a tensor before a run; TypeError where NumPy has no such tensor."""
    if not isinstance(value, torch.Tensor):
        return None
    foreign.check_torch(value)
    return calls.Abstract(np.dtype(_name(value.dtype)), value.shape)


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


# ---- operators -------------------------------------------------------------------------------------------------------


@dataclass
class Operator:
    """One operator: a function, the form of its arguments, and of its results."""

    compiled: Compiled
    templates: tuple[Template, ...]
    names: tuple[str, ...]
    structure: Any
    count: int
    written: tuple[int, ...]
    whole: bool
    call: Any = None  # the operator's overload

    def values(self, leaves: Sequence[Any]) -> list[Any]:
        return [fill(template, leaves) for template in self.templates]

    def planned(self, leaves: Sequence[Any], fresh: Callable[[str, Any], Any]) -> Plan:
        """The plan for other leaves; CompileError where it is one that this operator does not give."""
        made = calls.call(self.compiled, self.values(leaves), abstract, SYMBOLS)
        found = plan(made, made.sizes(SYMBOLS, fresh), self.whole)
        if found.structure != self.structure:
            problem = "the function returns something else for these sizes than for those it was traced with"
            raise CompileError(refusals.FRAMEWORKS, problem, "trace it with sizes that are known (dynamic=False)")
        return found

    def fake(self, *leaves: Any) -> Any:
        def fresh(name: str, bound: Any) -> Any:
            return torch.library.get_ctx().new_dynamic_size(min=0, max=bound if type(bound) is int else None)

        device = _device(leaves)
        made = self.planned(leaves, fresh)
        return self._handed([torch.empty(o.dims, dtype=getattr(torch, o.dtype), device=device) for o in made.outputs])

    def run(self, *leaves: Any) -> Any:
        """The function itself, on the memory of the tensors."""
        given = [foreign.from_torch(v.detach()) if isinstance(v, torch.Tensor) else v for v in leaves]
        result = self.compiled._parameters.call(self.compiled, self.values(given))
        found: dict[int, Any] = {}
        taken_apart(self.structure, result, found)
        memory = [v for v in given if isinstance(v, np.ndarray)]
        device, outputs = _device(leaves), []
        for number, output in enumerate(self._outputs):
            outputs.append(_tensor(output, found[number], memory, device))
        return self._handed(outputs)

    def _handed(self, outputs: list[Any]) -> Any:
        return None if not outputs else outputs[0] if len(outputs) == 1 else tuple(outputs)

    def outputs(self, leaves: Sequence[Any]) -> list[Any]:
        """What the operator gives."""
        given = self.call(*leaves)
        return [] if not self.count else [given] if self.count == 1 else list(given)

    _outputs: tuple[Output, ...] = ()


def _device(leaves: Sequence[Any]) -> Any:
    return next((v.device for v in leaves if isinstance(v, torch.Tensor)), torch.device("cpu"))


def _tensor(output: Output, value: Any, memory: list[np.ndarray[Any, Any]], device: Any) -> Any:
    """A part of a result as a contiguous tensor that shares its memory with nothing."""
    if hasattr(value, "__cuda_array_interface__"):
        return torch.from_dlpack(value).contiguous().clone()
    array = as_planned(output, value)
    if not array.flags.writeable or any(np.may_share_memory(array, other) for other in memory):
        array = array.copy()
    memory.append(array)
    made = torch.from_numpy(array)
    return made if device.type == "cpu" else made.to(device)


_OPERATORS: dict[tuple[str, str], Operator] = {}
_NAMES: set[str] = set()


def apply(compiled: Compiled, values: Sequence[Any]) -> tuple[Plan, list[Any], calls.Call]:
    """A call of a function with tensors that are traced: as an operator. The plan of its result, what the operator
    gives, and the call.

    Raises:
        CompileError: what the function does, or returns, is nothing that a graph holds.
        TypeError: a tensor requires gradients, and the function has none.
    """
    operator, leaves, made, found = _operator(compiled, values, "")
    return found, operator.outputs(leaves), made


def traced(compiled: Compiled, values: Sequence[Any]) -> Any:
    """The result of such a call."""
    found, outputs, made = apply(compiled, values)
    return put_together(found.structure, outputs, made.owner, found.numbers)


def _is_leaf(value: Any) -> bool:
    return isinstance(value, (torch.Tensor, *_SYMBOLS))


def _operator(compiled: Compiled, values: Sequence[Any], name: str) -> tuple[Operator, list[Any], calls.Call, Plan]:
    """The operator for a call, its arguments, the call and its plan."""
    made = calls.call(compiled, values, abstract, SYMBOLS)
    templates, leaves = take([_Number(v) if type(v) in _KINDS else v for v in values], _is_leaf_or_number)
    leaves = [v.value if isinstance(v, _Number) else v for v in leaves]
    tensors = [k for k, v in enumerate(leaves) if isinstance(v, torch.Tensor)]
    wanted = torch.is_grad_enabled() and any(leaves[k].requires_grad for k in tensors)
    if wanted and compiled.gradient is None:
        raise TypeError(foreign.NO_GRADIENT)
    whole = compiled.gradient is not None
    found = plan(made, made.sizes(SYMBOLS, lambda name, bound: 0), whole)
    paths = [path for path, v in zip(made.names, made.leaves, strict=True) if isinstance(v, torch.Tensor)]
    written = tuple(k for k, path in zip(tensors, paths, strict=True) if path in made.outcome.written)
    _check_effects(compiled, made, written, wanted, leaves)
    kinds = [_kind(v) for v in leaves]
    form = ", ".join(text(template, kinds.__getitem__) for template in templates)
    dtypes = tuple(o.dtype for o in found.outputs)
    told = f"{form} -> {dtypes} {[len(o.dims) for o in found.outputs]} {found.structure} {written} {whole}"
    known = _OPERATORS.get((compiled.key, told))
    if known is None or name:
        argument_names = _argument_names(compiled, templates, len(leaves))
        known = Operator(compiled, templates, argument_names, found.structure, len(found.outputs), written, whole)
        known._outputs = tuple(Output(o.dtype, (-1,) * len(o.dims)) for o in found.outputs)
        _define(known, name or _fresh_name(compiled, told), kinds)
        _OPERATORS[compiled.key, told] = known
    return known, leaves, made, found


class _Number:
    """A number that is an argument by itself: the operator takes it."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value


def _is_leaf_or_number(value: Any) -> bool:
    return isinstance(value, _Number) or _is_leaf(value)


_KINDS = {bool: "bool", int: "SymInt", float: "float", torch.SymInt: "SymInt", torch.SymFloat: "float",
          torch.SymBool: "bool"}  # fmt: skip


def _kind(leaf: Any) -> str:
    return _KINDS.get(type(leaf), "Tensor")


def _check_effects(
    compiled: Compiled, made: calls.Call, written: Sequence[int], wanted: bool, leaves: Sequence[Any]
) -> None:
    name = compiled.function.__name__
    if made.outcome.effects:
        problem = f"`{name}` {made.outcome.effects}, and a graph may leave a call out, or run it again"
        raise CompileError(refusals.FRAMEWORKS, problem, "do that outside of what is traced")
    if len(written) < len(made.outcome.written):
        other = next(p for p, v in zip(made.names, made.leaves, strict=True)
                     if p in made.outcome.written and not isinstance(v, torch.Tensor))  # fmt: skip
        problem = f"`{name}` writes into `{other}`, which is no tensor: a graph would not do that"
        raise CompileError(refusals.FRAMEWORKS, problem, "pass a tensor, or return what is new")
    if written:
        _check_aliases(name, written, leaves)
    if written and wanted:
        problem = f"`{name}` writes into its arguments: it has no gradient"
        raise CompileError(refusals.GRADIENT, problem, "return what is new instead, or call it under torch.no_grad()")


def _check_aliases(name: str, written: Sequence[int], leaves: Sequence[Any]) -> None:
    """A graph writes into a copy of what an operator changes: it must be seen under one name alone."""
    places = [(k, v.untyped_storage()._cdata) for k, v in enumerate(leaves) if isinstance(v, torch.Tensor)]
    for k in written:
        if any(other != k and place == leaves[k].untyped_storage()._cdata for other, place in places):
            told = "writes into an argument that shares memory with another one, and a graph keeps them apart"
            raise CompileError(refusals.SHARED_MEMORY, f"`{name}` {told}", "pass a copy: x.clone()")


# ---- definitions -----------------------------------------------------------------------------------------------------


def _argument_names(compiled: Compiled, templates: Sequence[Template], count: int) -> tuple[str, ...]:
    """Names for the arguments of an operator: the parameters', with numbers behind those of parts."""
    names: list[str] = []
    for parameter, template in zip(compiled._names, templates, strict=True):
        inner: list[int] = []
        fill_numbers(template, inner)
        for k, _ in enumerate(inner):
            made = parameter if isinstance(template, Slot) else f"{parameter}_{k}"
            made = re.sub(r"\W", "_", made, flags=re.ASCII)
            made = f"arg_{made}" if keyword.iskeyword(made) or made.startswith("_") or made in ("self", "out") else made
            while made in names:
                made += "_"
            names.append(made)
    assert len(names) == count
    return tuple(names)


def fill_numbers(template: Template, found: list[int]) -> None:
    """Puts the numbers of a template's slots into `found`."""
    if isinstance(template, Slot):
        found.append(template.number)
    for item in getattr(template, "items", ()):
        fill_numbers(item, found)


def _fresh_name(compiled: Compiled, told: str) -> str:
    """The name of an operator: of the function, and of all that it was made for."""
    code = compiled.function.__code__
    function = compiled.function
    parts = (function.__module__, function.__qualname__, code.co_code.hex(), repr(code.co_names), told)
    digest = hashlib.sha256("\n".join(map(str, parts)).encode()).hexdigest()[:8]
    plain = re.sub(r"\W+", "_", compiled.function.__name__, flags=re.ASCII).strip("_") or "lambda"
    made = name = f"{_NAMESPACE}::{plain}_{digest}"
    number = 1
    while made in _NAMES:
        number += 1
        made = f"{name}_{number}"
    return made


def _define(operator: Operator, name: str, kinds: Sequence[str]) -> None:
    """Makes an operator known to PyTorch."""
    _NAMES.add(name)
    mutable = {k: f"Tensor(a{k}!)" for k in operator.written}
    inputs = ", ".join(f"{mutable.get(k, kind)} {operator.names[k]}" for k, kind in enumerate(kinds))
    outputs = "Tensor" if operator.count == 1 else f"({', '.join(['Tensor'] * operator.count)})"
    defined = torch.library.custom_op(
        name, operator.run, mutates_args=tuple(operator.names[k] for k in operator.written),
        schema=f"({inputs}) -> {outputs}",
    )  # fmt: skip
    defined.register_fake(operator.fake)
    if operator.compiled.gradient is not None and not operator.written:
        defined.register_autograd(
            lambda context, *outer: _backward(operator, context, outer), setup_context=_save(operator)
        )
    if not operator.written:
        defined.register_vmap(lambda info, axes, *leaves: _batched(operator, info.batch_size, axes, leaves))
    operator.call = defined._opoverload


def _save(operator: Operator) -> Callable[..., None]:
    def setup(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        outputs = [] if not operator.count else [output] if operator.count == 1 else list(output)
        ctx.others = [None if isinstance(v, torch.Tensor) else v for v in inputs]
        kept = outputs if operator.compiled.gradient_takes_result else []
        ctx.save_for_backward(*(v for v in inputs if isinstance(v, torch.Tensor)), *kept)
        ctx.like = [(o.shape, o.dtype, o.device) for o in outputs]
        for output_ in outputs:
            if not output_.dtype.is_floating_point and not output_.dtype.is_complex:
                ctx.mark_non_differentiable(output_)

    return setup


def _backward(operator: Operator, ctx: Any, outer: Sequence[Any]) -> Any:
    """The gradients of an operator's arguments, by the function's own."""
    saved = list(ctx.saved_tensors)
    leaves = [saved.pop(0) if other is None else other for other in ctx.others]
    given = [
        torch.zeros(shape, dtype=dtype, device=device) if g is None else g.contiguous()
        for g, (shape, dtype, device) in zip(outer, ctx.like, strict=True)
    ]
    compiled = operator.compiled
    assert compiled.gradient is not None
    values = operator.values(leaves)
    numbers = operator.planned(leaves, lambda name, bound: 0).numbers
    arguments = [put_together(operator.structure, given, None, numbers)]
    if compiled.gradient_takes_result:
        arguments.append(put_together(operator.structure, saved, None, numbers))
    found = traced(compiled.gradient, [*arguments, *values])
    shapes = [v.shape if isinstance(v, torch.Tensor) else None for v in leaves]
    made = gradients.by_leaf(compiled, operator.templates, found, shapes, _may_be_same)
    return tuple(g if v is None else _like(g, v) for g, v in zip(made, leaves, strict=True))


def _like(gradient: Any, leaf: Any) -> Any:
    """A gradient in the dtype of what it is of; None for what has none."""
    if not isinstance(leaf, torch.Tensor) or not (leaf.dtype.is_floating_point or leaf.dtype.is_complex):
        return None
    return None if gradient is None else torch.as_tensor(gradient, dtype=leaf.dtype, device=leaf.device)


def _batched(operator: Operator, size: int, axes: Sequence[int | None], leaves: Sequence[Any]) -> Any:
    """The call of an operator for each member of a batch; `axes` says along which axis of each argument they lie."""
    if not size:
        problem = f"torch.vmap of `{operator.compiled.function.__name__}` over a batch without members"
        raise CompileError(refusals.FRAMEWORKS, problem, "leave out the call where there is nothing to compute")
    each = [v.unbind(axis) if axis is not None else (v,) * size for v, axis in zip(leaves, axes, strict=True)]
    found = [operator.outputs(one) for one in zip(*each, strict=True)]
    outputs = [torch.stack(parts) for parts in zip(*found, strict=True)]
    return operator._handed(outputs), (0 if operator.count == 1 else (0,) * operator.count)


def register(name: str, function: Compiled, /, *args: Any, **keywords: Any) -> Any:
    """Defines the operator `name` (``"mylib::nms"``) for calls of `function` with arguments such as these.

    Args:
        name: a namespace and a name, as `torch.library.custom_op` takes it.
        function: a compiled function.
        args, keywords: arguments whose kinds, dtypes and numbers of axes are those of later calls; the sizes of tensors
            and the values of numbers are free. Nothing is run.

    Returns:
        the operator, ``torch.ops.mylib.nms.default``, which takes the tensors and numbers of the arguments in order,
        and gives a tensor, or a tuple of tensors. Graphs of `torch.export` have this one from then on; a process that
        loads them has to register it before.

    Raises:
        CompileError: the function cannot be compiled for these, or returns something that a graph does not hold.
    """
    if not is_compiled(function):
        raise TypeError(f"transkern.frameworks.torch.register takes a compiled function, not {function!r:.60}")
    with torch.no_grad():
        return _operator(function, function._parameters.bind(args, keywords), name)[0].call
