"""Run an emitted module on this machine, with NumPy arrays in and out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from transkern.fuse.checks.guards import OTHER_SIZES
from transkern.ir import nodes as n
from transkern.ir.containers import container_text
from transkern.ir.expr import NOWHERE, Expr, Span
from transkern.ir.traverse import with_bodies
from transkern.runtime.foreign import UNCHANGEABLE
from transkern.targets.naming import PYTHON, function_name
from transkern.targets.pallas.module.emit import emit
from transkern.targets.places import PLACE, Places, place_of

__all__ = ["Printed", "load", "printed"]


@dataclass(frozen=True, slots=True)
class Printed:
    """What remains of a program when it is printed.

    `text` is the module; `placed` the same, whose errors know their place among `spans`; `numbered` another form of it,
    which tells with its results at which of several returns they are, and where views lie (empty: `placed` does).
    `params` are the names of the arguments, `written` those that are written, `returns` what each return gives.
    """

    name: str
    text: str
    placed: str
    numbered: str
    spans: tuple[Span, ...]
    params: tuple[str, ...]
    written: tuple[str, ...]
    returns: tuple[n.Result, ...]
    narrow: bool


def printed(program: n.Program, narrow: bool = False) -> Printed:
    """The texts of a program, in which float64 are float32 where `narrow`; raises CompileError as `emit`."""
    places = Places()
    placed = emit(program, narrow, places)
    text = emit(program, narrow) if places.spans else placed
    counted, returns = _numbered(program)
    numbered = emit(counted, narrow, places) if counted is not program else ""
    return Printed(
        program.name, text, placed, numbered, tuple(places.spans), tuple(p.name for p in program.params),
        tuple(p.name for p in program.params if isinstance(p, n.ArrayParam) and p.written), tuple(returns), narrow,
    )  # fmt: skip


def load(of: Printed) -> Callable[..., Any]:
    """A function of NumPy arrays (or JAX arrays) that runs the module.

    NumPy in gives NumPy out, of the dtypes NumPy gives, and written arguments are changed in place after the call has
    succeeded. It returns NotImplemented for sizes that need other code. With a JAX array among the arguments the
    results are JAX arrays; one that is written is refused with TypeError, as JAX arrays do not change.
    Interpreted unless JAX's default device is a TPU.
    """
    function = _executed(of, of.placed)
    numbered, wide = function, "with jax.enable_x64(True):" in of.text
    if of.numbered:  # where one of several returns, or a view: which, and what or where
        numbered = _executed(of, of.numbered)

    def store(bound: dict[str, Any], made: Any) -> Any:
        """What was computed, without the new values of the arguments that are written, which get them."""
        if not of.written:
            return made
        made, new = made
        for name, value in zip(of.written, new, strict=True):
            bound[name][...] = np.asarray(value)
        return made

    def run(*args: Any) -> Any:
        import jax

        bound = dict(zip(of.params, args, strict=True))
        if of.narrow:
            args = tuple(_narrowed(a) for a in args)
        if any(isinstance(a, jax.Array) for a in args):
            if any(isinstance(bound[name], jax.Array) for name in of.written):
                raise TypeError(UNCHANGEABLE)
            if not any(isinstance(a, jax.core.Tracer) for a in args):
                return store(bound, function(*args))
            if of.written:
                raise TypeError(UNTRACEABLE)
            if wide and jax.dtypes.canonicalize_dtype(np.float64) != np.float64:
                raise TypeError(WIDE)
            return _without_derivative(function, args)
        for name in of.written:
            if not bound[name].flags.writeable:
                raise ValueError("assignment destination is read-only")
        try:
            made = numbered(*args)
        except ValueError as error:
            if str(error) == OTHER_SIZES:
                return NotImplemented
            raise
        made = store(bound, made)
        number, made = made if of.numbered else (0, made)
        return _to_numpy(of.returns[number], made, bound)

    def place(error: BaseException) -> Span:
        """Where in the source an error comes from, without what JAX says of its own frames, which nobody sees."""
        notes = [note for note in getattr(error, "__notes__", ()) if "JAX_TRACEBACK_FILTERING" not in note]
        if notes:
            error.__notes__ = notes
        else:
            vars(error).pop("__notes__", None)
        number = place_of(error)
        return NOWHERE if number is None else of.spans[number]

    run.__name__ = of.name
    run.__doc__ = function.__doc__
    run.__dict__.update(text=of.text, jax_function=function, why=lambda: "sizes", place=place)
    return run


def _executed(of: Printed, text: str) -> Any:
    """The function of one of the texts, which are our own."""
    space: dict[str, Any] = {"__name__": f"transkern_pallas_{of.name}", "_at": _at}
    exec(compile(text, f"<pallas {of.name}>", "exec"), space)
    return space[function_name(of.name, PYTHON)]


def _at(error: BaseException, place: int) -> BaseException:
    """An error that knows its place, until it is told."""
    error.__dict__[PLACE] = place
    return error


WIDE = (
    "JAX traces this call with 32 bits, and the function computes with 64, as NumPy does of these types\n"
    '  help: jax.config.update("jax_enable_x64", True); where a Python number became an array of integers, keep it out '
    "of what is traced (functools.partial, static_argnums)"
)

UNTRACEABLE = "JAX traces this call, and the function writes into an array of NumPy's: return what is new instead"

NO_DERIVATIVE = (
    "a compiled function has no derivative that JAX knows (jax.grad, jax.jvp, jax.vjp)\n"
    "  help: give it one with f.defgrad (or jax.custom_vjp around it), or differentiate a function of jax.numpy"
)


def _without_derivative(function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    """A call that JAX traces: what it differentiates ends in an error that says so."""
    import jax

    places = [k for k, a in enumerate(args) if isinstance(a, jax.Array)]

    def of_arrays(*given: Any) -> Any:
        arguments = list(args)
        for k, a in zip(places, given, strict=True):
            arguments[k] = a
        return function(*arguments)

    def derivative(primals: Any, tangents: Any) -> Any:
        raise TypeError(NO_DERIVATIVE)

    traced = jax.custom_jvp(of_arrays)
    traced.defjvp(derivative)
    return traced(*(args[k] for k in places))


def _narrowed(value: Any) -> Any:
    half = {"float64": np.float32, "int64": np.int32, "uint64": np.uint32, "complex128": np.complex64}
    if isinstance(value, np.ndarray) and value.dtype.name in half:
        return value.astype(half[value.dtype.name])
    return value


def _numbered(program: n.Program) -> tuple[n.Program, list[n.Result]]:
    """The program with each return's number beside its result, where there are several or it is one of two, which it
    hands back both, and the results."""
    returns: list[n.Result] = []

    def block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        return tuple(one(s) for s in statements)

    def one(s: n.Stmt) -> n.Stmt:
        if not isinstance(s, n.Return):
            return with_bodies(s, block)
        returns.append(s.result)
        return replace(s, result=n.TupleResult((n.ConstantResult(len(returns) - 1), _both(s.result)), "tuple"))

    body = program.body
    if not body or not isinstance(body[-1], n.Return):
        body = (*body, n.Return(n.ConstantResult(None)))
    made = replace(program, body=block(body))
    return made if len(returns) > 1 or any(_both(r) != r for r in returns) else program, returns


def _both(result: n.Result) -> n.Result:
    """A result with both of those of which some of it is one, and with a view's place for its elements."""
    if isinstance(result, n.ViewResult):
        place = [n.TupleResult(tuple(n.ScalarResult(e, True) for e in part), "tuple") for part in _place(result)]
        return n.TupleResult(tuple(place), "place")
    if not isinstance(result, n.TupleResult):
        return result
    kind = "tuple" if result.kind == "either" else result.kind
    return replace(result, items=tuple(map(_both, result.items)), kind=kind)


def _place(r: n.ViewResult) -> tuple[tuple[Expr, ...], ...]:
    return r.dims, r.offset, *r.steps


def _to_numpy(result: n.Result, made: Any, bound: dict[str, Any]) -> Any:
    match result:
        case n.ArrayResult(_, _, dtype, empty):
            array = np.asarray(made)
            kind = empty if empty and array.size == 0 else dtype
            return array.astype(kind) if array.dtype != kind else np.array(array)
        case n.ListResult(_, _, dtype, python, dims):
            if dims:
                return [row.copy() for row in np.asarray(made).astype(dtype)]
            if python:
                return np.asarray(made).tolist()
            return list(np.asarray(made).astype("int64" if dtype == "index" else dtype))
        case n.ScalarResult(value, python):
            scalar = np.asarray(made)[()]
            return scalar.item() if python else scalar.astype("int64" if value.dtype == "index" else value.dtype)
        case n.TupleResult(items, "dict", keys):
            values = [_to_numpy(i, m, bound) for i, m in zip(items, made.values(), strict=True)]
            return dict(zip(keys, values, strict=True))
        case n.TupleResult((tag, one, two), "either"):
            holds = _to_numpy(tag, made[0], bound)
            return _to_numpy(one, made[1], bound) if holds else _to_numpy(two, made[2], bound)
        case n.TupleResult(items, kind):
            if kind == "raise":
                return made
            if kind == "record" and not isinstance(made, tuple):
                made = [object.__getattribute__(made, k) for k in result.keys]
            parts = [_to_numpy(i, m, bound) for i, m in zip(items, made, strict=True)]
            if kind not in ("tuple", "list"):
                return eval(container_text(result))(*parts)
            return tuple(parts) if kind == "tuple" else parts
        case n.ViewResult():
            return _view(result, made, bound)
        case n.ArgumentResult(name):
            return bound[name]
        case n.ConstantResult(value):
            return value


def _view(r: n.ViewResult, place: Any, bound: dict[str, Any]) -> Any:
    """NumPy's own view of the argument."""
    base = bound[r.buffer]
    dims, offset, *steps = place
    if len(offset) < base.ndim:  # a position in C-contiguous memory
        base = base.reshape(-1)
    if r.part:
        base = getattr(base, r.part)
    strides = [sum(row[k] * base.strides[d] for d, row in enumerate(steps)) for k in range(len(dims))]
    if 0 in dims:
        return base.reshape(-1)[:0].reshape(dims)
    start = base[(..., *(slice(o, None) for o in offset))]
    return np.lib.stride_tricks.as_strided(start, dims, strides, writeable=not r.readonly)
