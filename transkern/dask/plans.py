"""What a function allows on arrays in chunks: which axes may be cut, and how far chunks overlap."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from transkern import limits, refusals
from transkern.analysis.locality import Locality, locality
from transkern.analysis.locality.places import Places
from transkern.errors import CompileError, NeedsConstant
from transkern.frontend.sources.observed import observing
from transkern.frontend.sources.source import live_function
from transkern.frontend.specialise import specialise
from transkern.frontend.values.types import ArgType, ArrayType, types_of
from transkern.fuse.lowering.raised import raise_loops
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.runtime.compiled import Compiled


@dataclass(frozen=True)
class Output:
    """An array of the result: its dtype, and for each dim the axis that it runs along, or its length, or NaN where only
    the run knows that."""

    dtype: str
    dims: tuple[str | float, ...]


@dataclass(frozen=True)
class Plan:
    """How a function is applied to arrays in chunks.

    `inputs` says for each array, by its position among the arguments, which axis each of its dims is (empty: none that
    may be cut); `structure` is the result, with the numbers of `outputs` in place of arrays.
    """

    compiled: Compiled
    program: n.Program
    found: Locality
    inputs: Mapping[int, tuple[str, ...]]
    structure: Any
    outputs: tuple[Output, ...]

    def whole(self, position: int, dim: int) -> tuple[str, str]:
        """Why a dim of an array has to be in one chunk: the reason, and the line."""
        param = self.program.params[position]
        assert isinstance(param, n.ArrayParam)
        size = _name_of(param.dims[dim])
        reason = self.found.whole.get(self.found.axis(size)) if size else None
        if reason is None:
            return "its length is part of the code", ""
        return reason.text, self.program.cited(reason.span)


def is_array(value: Any) -> bool:
    """Whether a value is an array with axes: NumPy's, or one in chunks."""
    return hasattr(value, "shape") and hasattr(value, "dtype") and len(value.shape) > 0


def plan(function: Compiled, values: Sequence[Any]) -> Plan:
    """How `function` is applied to `values`, among which are arrays.

    Raises CompileError where it cannot be compiled, writes into its arguments, or returns something else than arrays.
    """
    names = function._names
    with limits.compilation_of(function.function), observing():
        program = _program(function, values)
        for p in program.params:
            if isinstance(p, n.ArrayParam) and p.written:
                problem = f"`{function.function.__name__}` writes into `{p.name}`, and chunks are not written into"
                raise CompileError(refusals.OUT, problem, f"return a changed copy: {p.name} = {p.name}.copy()")
        if program.changes or program.captured or len(program.params) != len(names):
            problem = f"`{function.function.__name__}` takes more than arrays and numbers"
            raise CompileError(refusals.ARGUMENT_TYPE, problem, "pass arrays and numbers one by one")
        sizes: dict[str, int] = {}
        for p, value in zip(program.params, values, strict=True):
            if isinstance(p, n.ArrayParam):
                sizes |= {_name_of(d): extent for d, extent in zip(p.dims, value.shape, strict=True) if _name_of(d)}
        numbers = {
            p.name: int(value)
            for p, value in zip(program.params, values, strict=True)
            if isinstance(p, n.ScalarParam) and isinstance(value, (int, np.integer))
        }
        found = locality(program, numbers, sizes)
        structure, outputs = _outputs(program, found, numbers, sizes, function.function.__name__)
    inputs = {
        k: tuple(_axis(found, _name_of(d)) for d in p.dims)
        for k, p in enumerate(program.params)
        if isinstance(p, n.ArrayParam)
    }
    return Plan(function, program, found, inputs, structure, outputs)


def _program(function: Compiled, values: Sequence[Any]) -> n.Program:
    """The program for arrays each of whose axes has a size of its own."""
    demands: set[str] = set()
    names = function._names
    while True:
        types: list[ArgType] = [
            _array_type(name, value, demands) if is_array(value) else types_of([name], [value], demands)[0]
            for name, value in zip(names, values, strict=True)
        ]
        try:
            return raise_loops(specialise(live_function(function.function), tuple(types)))
        except NeedsConstant as need:
            if need.demand in demands:
                raise need.problem from None
            demands.add(need.demand)


def _array_type(name: str, value: Any, demands: set[str]) -> ArrayType:
    dims: list[int | str] = []
    for k, extent in enumerate(value.shape):
        if extent != extent:
            problem = f"`{name}` has chunks of unknown size"
            raise CompileError(refusals.CHUNKS, problem, f"compute them: {name}.compute_chunk_sizes()")
        known = extent == 1 or any(d.rstrip("_") == f"{name}.{k}" for d in demands)
        dims.append(int(extent) if known else f"{name}_{k}")
    (scalar,) = types_of([name], [np.zeros((), value.dtype)])
    assert isinstance(scalar, ArrayType)
    return replace(scalar, dims=tuple(dims))


def _name_of(dim: Any) -> str:
    return getattr(dim, "name", "")


def _axis(found: Locality, size: str) -> str:
    axis = found.axis(size) if size else ""
    return axis if axis in found.axes else ""


# ---- results ---------------------------------------------------------------------------------------------------------


def _outputs(
    program: n.Program, found: Locality, numbers: Mapping[str, int], sizes: Mapping[str, int], name: str
) -> tuple[Any, tuple[Output, ...]]:
    """The structure of the result, and its arrays."""
    returned = [s.result for s in _returns(program.body)]
    outputs: list[Output] = []
    along = iter(found.results)
    places = Places(lambda size: size, set(sizes), dict(numbers))

    def length(dim: Any) -> float:
        form = places.linear(dim)
        if form is None or any(name not in sizes for name in form.names):
            return float("nan")
        return sum(sizes[size] * by for size, by in form.terms) + form.offset

    def output(dtype: str, dims: Sequence[Any]) -> int:
        axes = next(along)
        axes = axes if all(axis in found.axes or not axis for axis in axes) else ("",) * len(dims)
        outputs.append(Output(dtype, tuple(axis or length(d) for axis, d in zip(axes, dims, strict=True))))
        return len(outputs) - 1

    def walk(r: n.Result) -> Any:
        match r:
            case n.ArrayResult(_, dims, dtype) | n.ViewResult(_, dims, _, _, dtype):
                return output(dtype, dims)
            case n.ArgumentResult(of):
                buffer = program.buffers[of]
                return output(buffer.element or buffer.dtype, buffer.dims)
            case n.TupleResult(items, "tuple" | "list" as kind):
                return (tuple if kind == "tuple" else list)(walk(item) for item in items)
            case n.TupleResult(items, "dict", keys):
                return dict(zip(keys, map(walk, items), strict=True))
            case _:
                problem = f"`{name}` returns something else than arrays, which chunks cannot give"
                raise CompileError(refusals.CHUNKS, problem, "return arrays, or tuples, lists and dicts of them")

    if len(returned) != 1:
        problem = f"`{name}` returns in {len(returned)} places"
        raise CompileError(refusals.CHUNKS, problem, "return in one place, at the end")
    return walk(returned[0]), tuple(outputs)


def _returns(body: Sequence[n.Stmt]) -> Iterator[n.Return]:
    return (s for s in walk(body) if isinstance(s, n.Return))


# ---- words -----------------------------------------------------------------------------------------------------------


def explain(function: Callable[..., Any], /, *args: Any, **keywords: Any) -> str:
    """Which axes of the arguments may be cut, how far chunks overlap, and why the others may not: as text.

    Raises CompileError as `apply` does.
    """
    compiled = function if isinstance(function, Compiled) else Compiled(function)
    made = plan(compiled, compiled._parameters.bind(args, keywords))
    lines = []
    for position, axes in made.inputs.items():
        name = made.program.params[position].name
        for k, axis in enumerate(axes):
            if axis:
                low, high = made.found.axes[axis]
                beside = f", {low} elements before and {high} behind each chunk" if low or high else ""
                lines.append(f"{name} axis {k}: may be cut{beside}")
            else:
                reason, line = made.whole(position, k)
                lines.append(f"{name} axis {k}: whole, as {reason}" + (f" ({line})" if line else ""))
    return "\n".join(lines)
