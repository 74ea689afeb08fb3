"""Compiled functions for the CPU inside what JAX traces: `jit`, `vmap`, `shard_map`, `grad` and the like.

A call becomes one that XLA makes: of whole batches under `vmap`, and of each device's own part under `shard_map`. The
shapes and dtypes of its results are computed from those of its arguments, without a run.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from transkern import refusals
from transkern.analysis.sizes import Unknown
from transkern.errors import CompileError
from transkern.frameworks import calls, gradients, xla
from transkern.frameworks.plans import Plan, as_planned, plan, put_together, taken_apart
from transkern.frameworks.templates import Template, fill, take, text
from transkern.runtime.foreign import UNCHANGEABLE, chosen
from transkern.targets.pallas.module.load import NO_DERIVATIVE, UNTRACEABLE, WIDE

if TYPE_CHECKING:
    from transkern.runtime.compiled import Compiled


def traced(compiled: Compiled, values: Sequence[Any]) -> Any:
    """The result of a call with arrays that JAX traces, and a value for each parameter. Numbers in it are arrays
    without axes.

    Raises:
        CompileError: the function cannot be compiled for these types, or what it does, or returns, is nothing that a
            trace holds: results whose sizes only a run knows, printed lines.
        TypeError: the function writes into an array, or computes in 64 bits where JAX has 32.
    """
    made, found = _planned(compiled, values)
    if not found.outputs:
        return put_together(found.structure, (), made.owner, found.numbers)
    templates, leaves = take(values, _is_traced)
    run = functools.partial(_outputs, compiled, templates, found)
    transform = _without_derivative if compiled.gradient is None else functools.partial(_with_gradient, compiled, found)
    outputs = transform(templates, run)(*_alike_on_devices(leaves))
    return put_together(found.structure, outputs, made.owner, found.numbers)


def _is_traced(value: Any) -> bool:
    return isinstance(value, jax.Array)


def _abstract(value: Any) -> calls.Abstract | None:
    if not _is_traced(value):
        return None
    if jax.numpy.issubdtype(value.dtype, jax.dtypes.extended):
        raise TypeError(f"a JAX array of {value.dtype}, which NumPy has not: pass jax.random.key_data(key)")
    return calls.Abstract(np.dtype(value.dtype), value.shape)


# ---- a call ----------------------------------------------------------------------------------------------------------


def _outputs(compiled: Compiled, templates: Sequence[Template], found: Plan, *leaves: Any) -> list[Any]:
    """The arrays of a result: by a callback, or by code that JAX traces, as the target is."""
    if chosen(compiled.target, "jax", leaves) == "pallas":
        made: dict[int, Any] = {}
        result = compiled.call_on_target([fill(template, leaves) for template in templates])
        taken_apart(found.structure, result, made)
        return [made[k] for k in range(len(found.outputs))]
    host = _Host(compiled, tuple(templates), found, leaves[0].ndim)
    shapes = [jax.ShapeDtypeStruct(o.dims, o.dtype) for o in found.outputs]  # type: ignore[no-untyped-call]
    outputs = xla.call(host.fill, host.key, shapes, leaves)
    if outputs is None:
        outputs = jax.pure_callback(host, shapes, *leaves, vmap_method="expand_dims")
    return [_differing(output, _axes(leaves[0])) for output in outputs]


def _planned(compiled: Compiled, values: Sequence[Any]) -> tuple[calls.Call, Plan]:
    name = compiled.function.__name__
    made = calls.call(compiled, values, _abstract)
    for path, leaf in zip(made.names, made.leaves, strict=True):
        if path in made.outcome.written:
            raise TypeError(UNCHANGEABLE if _is_traced(leaf) else UNTRACEABLE)
    if made.outcome.effects:
        problem = f"`{name}` {made.outcome.effects}, and JAX may leave a call out, or run it again"
        raise CompileError(refusals.FRAMEWORKS, problem, "do that outside of what is traced")
    try:
        found = plan(made, made.sizes(), whole=compiled.gradient is not None)
    except Unknown:
        problem = f"how many elements `{name}` returns depends on the values of its arguments, which JAX has not yet"
        help = "call it outside of what is traced, or return an array of a known size and a count"
        raise CompileError(refusals.FRAMEWORKS, problem, help) from None
    for output in found.outputs:
        if jax.dtypes.canonicalize_dtype(output.dtype) != np.dtype(output.dtype):
            raise TypeError(WIDE)
    return made, found


# ---- shard_map -------------------------------------------------------------------------------------------------------


def _axes(value: Any) -> frozenset[Any]:
    """The axes of a mesh along which each device has a value of its own."""
    kind = jax.typeof(value)
    known = getattr(kind, "mat", None)  # since JAX 0.10
    found: frozenset[Any] = getattr(known, "varying", None) or getattr(kind, "vma", None) or frozenset()
    return found


def _alike_on_devices(leaves: Sequence[Any]) -> list[Any]:
    """Arguments of which each device has its own if it has one of any, as results do; a gradient adds up over devices
    then where the argument was one for all."""
    every = frozenset().union(*map(_axes, leaves))
    return [_differing(leaf, every) for leaf in leaves]


def _differing(value: Any, axes: frozenset[Any]) -> Any:
    missing = axes - _axes(value)
    return jax.lax.pcast(value, tuple(sorted(missing, key=str)), to="varying") if missing else value


# ---- callbacks -------------------------------------------------------------------------------------------------------


class _Host:
    """What a callback runs: the function, for each member of a batch."""

    def __init__(self, compiled: Compiled, templates: tuple[Template, ...], found: Plan, axes: int) -> None:
        """`axes` are those of the first array."""
        self.compiled, self.templates, self.plan, self.axes = compiled, templates, found, axes

    @property
    def key(self) -> str:
        """Equal for hosts that do the same."""
        forms = ", ".join(text(template, str) for template in self.templates)
        return f"{self.compiled.key} {forms} {self.plan} {self.axes}"

    def __call__(self, *leaves: Any) -> list[Any]:
        arrays = [np.asarray(leaf) for leaf in leaves]
        batch = self._batch(arrays)
        if not batch:
            return self._one(arrays)
        made = [np.empty((*batch, *o.dims), o.dtype) for o in self.plan.outputs]
        self.fill(arrays, made)
        return made

    def _batch(self, arrays: Sequence[np.ndarray[Any, Any]]) -> tuple[int, ...]:
        """The axes that `vmap` has put in front: they are 1 where an array has none."""
        count = arrays[0].ndim - self.axes
        return np.broadcast_shapes(*(a.shape[:count] for a in arrays)) if count else ()

    def fill(self, arrays: Sequence[np.ndarray[Any, Any]], made: Sequence[np.ndarray[Any, Any]]) -> None:
        """Puts what the function computes of each member of a batch into `made`."""
        batch = self._batch(arrays)
        given = [np.broadcast_to(a, (*batch, *a.shape[len(batch) :])) for a in arrays] if batch else arrays
        for at in np.ndindex(*batch):
            for whole, part in zip(made, self._one([a[(*at, ...)] for a in given]), strict=True):
                np.copyto(whole[(*at, ...)], part)

    def _one(self, arrays: Sequence[np.ndarray[Any, Any]]) -> list[Any]:
        values = [fill(template, arrays) for template in self.templates]
        result = self.compiled._parameters.call(self.compiled, values)
        found: dict[int, Any] = {}
        taken_apart(self.plan.structure, result, found)
        return [as_planned(o, found[k]) for k, o in enumerate(self.plan.outputs)]


# ---- derivatives -----------------------------------------------------------------------------------------------------


def _without_derivative(templates: Sequence[Template], run: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
    """A call whose derivative is an error that says so."""

    def call(*leaves: Any) -> list[Any]:
        return run(*leaves)

    def derivative(primals: Any, tangents: Any) -> Any:
        raise TypeError(NO_DERIVATIVE)

    made = jax.custom_jvp(call)
    made.defjvp(derivative)
    return made


def _with_gradient(
    compiled: Compiled, found: Plan, templates: Sequence[Template], run: Callable[..., list[Any]]
) -> Callable[..., list[Any]]:
    """A call with the function's own gradient."""
    gradient = compiled.gradient
    assert gradient is not None

    def call(*leaves: Any) -> list[Any]:
        return run(*leaves)

    def forward(*leaves: Any) -> Any:
        outputs = made(*leaves)  # which has a gradient itself
        return outputs, (leaves, outputs if compiled.gradient_takes_result else None)

    def backward(kept: Any, outer: Sequence[Any]) -> Any:
        leaves, outputs = kept
        given = [outer] if outputs is None else [outer, outputs]
        results = [put_together(found.structure, one, None, found.numbers) for one in given]
        values = [fill(template, leaves) for template in templates]
        answer = gradient._parameters.call(gradient, [*results, *values])
        each = gradients.by_leaf(compiled, templates, answer, [a.shape for a in leaves], lambda a, b: bool(a == b))
        return tuple(_cotangent(g, a) for g, a in zip(each, leaves, strict=True))

    made = jax.custom_vjp(call)
    made.defvjp(forward, backward)
    return made


def _cotangent(gradient: Any, argument: Any) -> Any:
    """A gradient in the type that JAX wants of it."""
    if not jax.numpy.issubdtype(argument.dtype, jax.numpy.inexact):
        return np.zeros(argument.shape, jax.dtypes.float0)
    if gradient is None:
        return _differing(jax.numpy.zeros(argument.shape, argument.dtype), _axes(argument))
    return _differing(jax.numpy.asarray(gradient, argument.dtype), _axes(argument))
