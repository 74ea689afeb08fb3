"""A compiled function on the chunks of dask's arrays: one task a chunk."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from transkern import refusals
from transkern.dask.plans import Plan, plan
from transkern.errors import CompileError
from transkern.runtime.compiled import Compiled


def apply(function: Callable[..., Any], /, *args: Any, rechunk: bool = False, **keywords: Any) -> Any:
    """What ``function(*args, **keywords)`` returns, with dask's arrays in place of NumPy's, computed chunk by chunk.

    The function's text says which axes may be cut: those along which an element of the result depends on elements at a
    known distance alone. Chunks overlap by that distance. NumPy's arrays among the arguments are cut as the others are.

    Args:
        function: a plain function, which is compiled for one thread, or a compiled one.
        args: dask's or NumPy's arrays, and numbers.
        keywords: the same, by name.
        rechunk: put chunks together along axes that have to be whole, instead of raising an error.

    Returns:
        A dask array, or the tuple, list or dict of dask arrays that the function returns arrays in.

    Raises:
        CompileError: the function cannot be compiled, or an axis that it needs whole has several chunks.
    """
    import dask.array as da

    compiled = function if isinstance(function, Compiled) else Compiled(function, threads=1)
    values = [
        da.from_array(v, chunks=-1) if isinstance(v, np.ndarray) and v.ndim else v
        for v in compiled._parameters.bind(args, keywords)
    ]
    made = plan(compiled, values)
    arrays = _aligned(made, values, rechunk)
    return _result(made, values, arrays)


def _aligned(made: Plan, values: Sequence[Any], rechunk: bool) -> dict[int, Any]:
    """The arrays with equal chunks along each axis that is cut, none shorter than the overlap, and one along others."""
    from dask.array.core import unify_chunks
    from dask.array.overlap import ensure_minimum_chunksize

    arrays: dict[int, Any] = {}
    for k, axes in made.inputs.items():
        array = values[k]
        cut = [d for d, axis in enumerate(axes) if not axis and array.numblocks[d] > 1]
        if cut and not rechunk:
            raise _needs_whole(made, k, cut[0], array.numblocks[cut[0]])
        arrays[k] = array.rechunk(dict.fromkeys(cut, -1)) if cut else array
    pairs = [x for k, array in arrays.items() for x in (array, _labels(made, k))]
    _, unified = unify_chunks(*pairs)
    arrays = dict(zip(arrays, unified, strict=True))
    for axis, least in made.found.least.items():
        for k, array in arrays.items():
            for d, own in enumerate(made.inputs[k]):
                if own == axis and min(array.chunks[d]) < least and len(array.chunks[d]) > 1:
                    chunks = ensure_minimum_chunksize(least, array.chunks[d])
                    arrays[k] = arrays[k].rechunk({d: chunks})
    return arrays


def _labels(made: Plan, position: int) -> tuple[str, ...]:
    """What dask is to call the dims of an array: equal where they are cut together."""
    return tuple(axis or f"{position}.{d}" for d, axis in enumerate(made.inputs[position]))


def _needs_whole(made: Plan, position: int, dim: int, chunks: int) -> CompileError:
    name = made.program.params[position].name
    reason, line = made.whole(position, dim)
    where = f" ({line})" if line else ""
    problem = f"axis {dim} of `{name}` has {chunks} chunks, and has to be whole: {reason}{where}"
    return CompileError(refusals.CHUNKS, problem, f"{name}.rechunk({{{dim}: -1}}), or apply(..., rechunk=True)")


def _result(made: Plan, values: Sequence[Any], arrays: Mapping[int, Any]) -> Any:
    """The arrays of the result, as the function returns them."""
    import dask.array as da
    from dask.array.overlap import overlap

    given: list[Any] = []
    for k, array in arrays.items():
        depth = {d: made.found.axes[axis] for d, axis in enumerate(made.inputs[k]) if axis}
        if any(map(any, depth.values())):
            array = overlap(array, depth, dict.fromkeys(range(array.ndim), "none"), allow_rechunk=False)
        given += [array, _labels(made, k)]
    cut = tuple(made.found.axes)
    rest = [None if k in arrays else value for k, value in enumerate(values)]
    call = functools.partial(_call, made.compiled, rest, tuple(arrays), made.structure)
    every = da.blockwise(
        call, cut, *given, dtype=object, meta=np.empty((0,) * len(cut), object), concatenate=True,
        name=f"{made.compiled.function.__name__}-{_token(made, values)}",
    )  # fmt: skip
    found = [_output(made, every, k) for k in range(len(made.outputs))]
    return _filled(made.structure, found)


def _token(made: Plan, values: Sequence[Any]) -> str:
    from dask.base import tokenize

    function = made.compiled.function
    return str(tokenize(function.__qualname__, function.__code__.co_code, made.compiled.options, *values))


def _output(made: Plan, every: Any, number: int) -> Any:
    """An array of the result: one item of what each block gives, without what it overlaps by."""
    import dask.array as da
    from dask.array.overlap import trim_overlap
    from dask.highlevelgraph import HighLevelGraph

    output = made.outputs[number]
    cut = tuple(made.found.axes)
    blocks = dict(zip(cut, every.chunks, strict=True))
    name = f"{every.name}-{number}"
    tasks = {}
    for key in np.ndindex(*every.numblocks):
        at = dict(zip(cut, key, strict=True))
        there = tuple(at[d] if isinstance(d, str) else 0 for d in output.dims)
        tasks[(name, *there)] = (_item, (every.name, *key), number)
    chunks = tuple(blocks[d] if isinstance(d, str) else (d,) for d in output.dims)
    graph = HighLevelGraph.from_collections(name, tasks, dependencies=[every])
    array = da.Array(graph, name, chunks, dtype=output.dtype)
    depth = {k: made.found.axes[d] for k, d in enumerate(output.dims) if isinstance(d, str)}
    if any(map(any, depth.values())):
        return trim_overlap(array, depth, dict.fromkeys(range(array.ndim), "none"))
    return array


def _item(block: Sequence[Any], number: int) -> Any:
    return block[number]


def _call(compiled: Compiled, rest: Sequence[Any], positions: Sequence[int], structure: Any, *blocks: Any) -> list[Any]:
    """The arrays that a function returns for blocks, in the places of its arguments that `positions` says."""
    values = list(rest)
    for k, block in zip(positions, blocks, strict=True):
        values[k] = np.ascontiguousarray(block)
    found: list[Any] = []
    _taken(compiled._parameters.call(compiled, values), structure, found)
    return found


def _taken(value: Any, structure: Any, found: list[Any]) -> None:
    """Puts the arrays of a result into `found`, in the order of its structure."""
    if isinstance(structure, int):
        found.append(value)
    elif isinstance(structure, dict):
        for key, inner in structure.items():
            _taken(value[key], inner, found)
    else:
        for item, inner in zip(value, structure, strict=True):
            _taken(item, inner, found)


def _filled(structure: Any, found: Sequence[Any]) -> Any:
    """A structure with arrays in place of their numbers."""
    if isinstance(structure, int):
        return found[structure]
    if isinstance(structure, dict):
        return {key: _filled(inner, found) for key, inner in structure.items()}
    return type(structure)(_filled(inner, found) for inner in structure)
