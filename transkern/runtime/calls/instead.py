"""What runs where a function is not compiled: NumPy, or parts of it that are."""

from __future__ import annotations

import types
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from transkern import refusals
from transkern.errors import CompileError, TranskernError
from transkern.runtime.boundary import callers_depth, own_errors

if TYPE_CHECKING:
    from transkern.runtime.compiled import Compiled

__tracebackhide__ = True  # pytest: what a user looks for is in the frames around


def beside(
    compiled: Compiled, error: TranskernError, args: Sequence[Any], keywords: Mapping[str, Any]
) -> tuple[Callable[..., Any], Sequence[Any]]:
    """What runs where arguments are of types that compiled code does not take, and its arguments: with compiled
    parts that do without those."""
    if not isinstance(error, CompileError) or error.kind not in (refusals.ARGUMENT_TYPE, refusals.DTYPE):
        compiled._say_that_numpy_runs(error)
        return compiled.function, ()
    from transkern.partial.parts import type_beside

    values = compiled._parameters.bind(args, keywords)
    names = compiled._names
    known = tuple(type_beside(name, value, names) for name, value in zip(names, values, strict=True))
    target = compiled._resolve_target(None)
    if (target, known) not in compiled._refused:
        compiled._refused[target, known] = compiled._in_parts(error, known, target)
    return compiled._refused[target, known], values


def _is_first(compiled: Compiled, errors: Sequence[TranskernError]) -> bool:
    """Whether nothing has been said yet of what runs in NumPy; of a part nothing is said."""
    compiled._whole._left += errors
    first = compiled._whole is compiled and not compiled._fell_back
    compiled._fell_back = True
    return first


def _say_that_parts_run(compiled: Compiled, refusals: Sequence[CompileError], count: int, target: str) -> None:
    """Once: what of a function runs in Python, and what that costs."""
    if _is_first(compiled, refusals):
        name = compiled.function.__name__
        lines = "\n".join(map(str, refusals))
        each = f"{count} part{'s' * (count > 1)}"
        costs = "" if target == "cpu" else ", and NumPy arrays are copied to the device and back for each"
        text = f"`{name}` is compiled in {each}{costs}; the rest runs in Python:\n{lines}"
        warnings.warn(text, stacklevel=callers_depth())


def parts_of(
    compiled: Compiled, error: TranskernError, key_types: tuple[Any, ...], target: str
) -> Callable[..., Any] | None:
    """A function with compiled parts in place of one that is refused; None where there are none."""
    if not isinstance(error, CompileError) or not isinstance(compiled.function, types.FunctionType):
        return None
    from transkern.partial.parts import parts_between

    with own_errors(compiled.function):
        found = parts_between(compiled.function, key_types, target == "cpu", compiled.part)
    if found is None:
        return None
    _say_that_parts_run(compiled, found.refusals, found.count, target)
    return found.function


def say_that_numpy_runs(compiled: Compiled, error: TranskernError) -> None:
    """Once: why a function is not compiled."""
    if _is_first(compiled, [error]):
        text = f"`{compiled.function.__name__}` runs in NumPy, as it cannot be compiled:\n{error}"
        warnings.warn(text, stacklevel=callers_depth())
