"""What runs where a function is not compiled: NumPy, or parts of it that are."""

from __future__ import annotations

import dataclasses
import functools
import types
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from transkern import refusals
from transkern.errors import CompileError, PerformanceWarning, TranskernError
from transkern.runtime.boundary import callers_depth, own_errors
from transkern.runtime.foreign import chosen

if TYPE_CHECKING:
    from transkern.runtime.compiled import Compiled

__tracebackhide__ = True  # pytest: what a user looks for is in the frames around


@dataclasses.dataclass(slots=True)
class InNumpy:
    """What of a function runs in NumPy: of a part (which `is_brief` if it has no loop) the `whole` function has it;
    `left` is why, `is_told` whether somebody has been told; `is_quiet`: of many compilations nobody is."""

    whole: Compiled | None = None
    is_brief: bool = False
    left: list[TranskernError] = dataclasses.field(default_factory=list)
    is_told: bool = False
    is_quiet: bool = False


def beside(
    compiled: Compiled, error: TranskernError, args: Sequence[Any], keywords: Mapping[str, Any]
) -> tuple[Callable[..., Any], Sequence[Any]]:
    """What runs where arguments are of types that compiled code does not take, and its arguments: with compiled
    parts that do without those."""
    if not isinstance(error, CompileError) or error.kind not in (refusals.ARGUMENT_TYPE, refusals.DTYPE):
        compiled._say_that_numpy_runs(error)
        return compiled.function, ()
    from transkern.partial.parts import type_beside

    values = [*compiled._parameters.bind(args, keywords), *compiled.outside.values]
    names = compiled._names
    known = tuple(type_beside(name, value, names) for name, value in zip(names, values, strict=True))
    target = chosen(compiled.target, None)
    if (target, known) not in compiled.known.refused:
        compiled.known.refused[target, known] = compiled._in_parts(error, known, target)
    return compiled.known.refused[target, known], values


def _is_first(compiled: Compiled, errors: Sequence[TranskernError]) -> bool:
    """Whether nothing has been said yet of what runs in NumPy; of a part nothing is said."""
    own = compiled.in_numpy
    (own if own.whole is None else own.whole.in_numpy).left.extend(errors)
    first = own.whole is None and not own.is_told
    own.is_told = True
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
        found = parts_between(compiled.function, key_types, target == "cpu", functools.partial(_part, compiled))
    if found is None:
        return None
    _say_that_parts_run(compiled, found.refusals, found.count, target)
    return found.function


def _part(compiled: Compiled, function: types.FunctionType, brief: bool) -> Compiled:
    """A part of the function, compiled as it is."""
    of = compiled.options
    made = type(compiled)(
        function, target=compiled.target, fallback="numpy", allow_float32=of.allow_float32, boundscheck=of.boundscheck,
        fastmath=of.fastmath, warnings=of.warnings, threads=of.threads or None, profile=of.profile,
    )  # fmt: skip
    made.in_numpy = InNumpy(compiled.in_numpy.whole or compiled, brief)
    return made


def say_that_numpy_runs(compiled: Compiled, error: TranskernError) -> None:
    """Once: why a function is not compiled."""
    if _is_first(compiled, [error]):
        text = f"`{compiled.function.__name__}` runs in NumPy, as it cannot be compiled:\n{error}"
        warnings.warn(text, stacklevel=callers_depth())


def say_if_compiled_often(compiled: Compiled, key_types: tuple[Any, ...], target: str) -> None:
    """Once: which arguments make code anew at each call."""
    if compiled.in_numpy.is_quiet or len(compiled.known.info.specialisations) != _MANY:
        return
    seen = [types for known, types in compiled.known.code if known == target and len(types) == len(key_types)]
    kinds = [{str(kind) for kind in column} for column in zip(*seen, key_types, strict=True)]
    most = max(map(len, kinds), default=0)
    names = [name for name, found in zip(compiled._names, kinds, strict=False) if 2 * len(found) > most > 1]
    named = ", ".join(f"`{name}`" for name in names) or "its arguments"
    now = ", ".join(str(k) for n, k in zip(compiled._names, key_types, strict=False) if n in names)
    differ = f"{named} differ{'s' * (len(names) == 1)} from call to call, now {now}"
    code = refusals.MANY_SPECIALISATIONS.code
    text = (
        f"`{compiled.function.__name__}` has been compiled {_MANY} times: {differ} [{code}]\n"
        "  help: each value of a number that is part of the code (an axis, a "
        "number of repetitions), each dtype and each structure of an argument is compiled for by itself; compute "
        "with it in the function, or pass arrays"
    )
    warnings.warn(text, PerformanceWarning, stacklevel=callers_depth())


_MANY = 16
"""Compilations of one function in one process after which somebody should know."""
