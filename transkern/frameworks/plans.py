"""How a result is put together from the arrays that an operator gives: a plan, made before a run."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from transkern import refusals
from transkern.analysis.outcomes import ArrayOf, Fixed, Itself, Made, NumberOf, Part
from transkern.analysis.sizes import Sizes, Unknown
from transkern.errors import CompileError
from transkern.frameworks.calls import Call
from transkern.frameworks.templates import build


@dataclass(frozen=True, slots=True)
class Output:
    """An array that an operator gives: its dtype, and its sizes."""

    dtype: str
    dims: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a function returns: `outputs`, `numbers` of Python's that are known, and `structure`, nested tuples that say
    where they go (`put_together`)."""

    outputs: tuple[Output, ...]
    numbers: tuple[Any, ...]
    structure: Any


def plan(made: Call, sizes: Sizes, whole: bool = False) -> Plan:
    """The plan of a call's result. Arguments that are returned are handed back as they are; with `whole` they are
    outputs, too, if they are arrays. Numbers that only a run knows are arrays without axes.

    Raises sizes.Unknown where the size of an array is known to a run only, and `sizes` has no symbols for that.
    """
    outputs: list[Output] = []
    numbers: list[Any] = []

    def output(dtype: str, dims: Sequence[Any]) -> tuple[Any, ...]:
        outputs.append(Output(dtype, tuple(dims)))
        return ("output", len(outputs) - 1)

    def visit(part: Part) -> tuple[Any, ...]:
        match part:
            case ArrayOf(dtype, dims):
                return output(dtype, [sizes.value(d) for d in dims])
            case NumberOf(dtype, _, None):
                return output(dtype, ())
            case NumberOf(dtype, _, value):
                assert value is not None
                try:
                    numbers.append(sizes.holds(value))
                except Unknown:
                    return output(dtype, ())
                return ("number", len(numbers) - 1)
            case Itself(path) if whole and path in made.outcome.dims:
                leaf = made.leaves[made.names.index(path)]
                return output(dtype_of(leaf), tuple(leaf.shape))
            case Itself(path):
                return ("argument", path)
            case Fixed(value):
                return ("constant", value)
            case Made(kind, items, keys, of):
                return (kind, keys, of, *map(visit, items))

    structure = visit(made.outcome.result)
    return Plan(tuple(outputs), tuple(numbers), structure)


def dtype_of(array: Any) -> str:
    """The name of the dtype of an array of any library."""
    return str(array.dtype).rpartition(".")[2]


def put_together(structure: Any, outputs: Sequence[Any], arguments: Any, numbers: Sequence[Any] = ()) -> Any:
    """The result, of what an operator gives; `arguments` gives the argument of a path."""
    match structure:
        case ("number", number):
            return numbers[number]
        case ("output", number):
            return outputs[number]
        case ("argument", path):
            return arguments(path)
        case ("constant", value):
            return value
        case (kind, keys, of, *items):
            parts = [put_together(item, outputs, arguments, numbers) for item in items]
            return build(kind, parts, keys, class_of(of) if of else None)
        case _:
            raise AssertionError(structure)


def class_of(path: str) -> type:
    """The class ``module:Outer.Inner``."""
    module, _, names = path.partition(":")
    found: Any = sys.modules[module]
    for name in names.split("."):
        found = getattr(found, name)
    assert isinstance(found, type)
    return found


def taken_apart(structure: Any, result: Any, found: dict[int, Any]) -> None:
    """Puts the parts of a result that a run has given into `found`, by the number of the output; raises CompileError
    where the result is made up in another way than the plan says."""
    match structure:
        case ("output", number):
            found[number] = result
        case ("argument" | "number", _):
            pass
        case ("constant", value):
            if type(value) is not type(result):
                raise _other(structure, result)
        case ("dict", keys, _, *items):
            if not isinstance(result, dict) or result.keys() != set(keys):  # JAX has an order of its own
                raise _other(structure, result)
            for key, item in zip(keys, items, strict=True):
                taken_apart(item, result[key], found)
        case ("record", keys, of, *items):
            if type(result) is not class_of(of):
                raise _other(structure, result)
            for key, item in zip(keys, items, strict=True):
                taken_apart(item, getattr(result, key), found)
        case (kind, _, _, *items):
            if type(result).__name__ != kind or len(result) != len(items):
                raise _other(structure, result)
            for part, item in zip(result, items, strict=True):
                taken_apart(item, part, found)


def _other(structure: Any, result: Any) -> CompileError:
    problem = f"the function returned {result!r:.60}, and not the {structure[0]} that it was traced with"
    return CompileError(refusals.FRAMEWORKS, problem, "trace it again: what it reads has changed")


def as_planned(output: Output, value: Any) -> np.ndarray[Any, Any]:
    """A part of a run's result as the array that was planned, C-contiguous; CompileError where it is another one."""
    dtype = np.dtype(output.dtype)
    array = np.asarray(value)
    if array.ndim != len(output.dims):
        raise _other(("array", ()), value)
    if array.dtype != dtype:
        if array.size and not (array.ndim == 0 and np.can_cast(array.dtype, dtype, "same_kind")):
            raise _other(("array", ()), value)
        array = array.astype(dtype)
    return np.ascontiguousarray(array).reshape(array.shape)  # of no axes it would make one
