"""Functions compiled before they are called, for the types that are known, side by side.

Known are the types that earlier runs have compiled a function for (`remember`; kept in the disk cache by the function's
file and name, so that they outlive a change of its text, of transkern or of the compiler), else those that its
decorator or its annotations state.

The C compiler is a process of its own, and runs beside the translation of the next functions, which is Python and takes
turns in the threads of one process (`warm`); `transkern cache warm` translates in several processes as well.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
import types
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from transkern.errors import CompileError, NeedsConstant, TranskernError, TypesNeeded
from transkern.frontend.values.types import ArgType, ArrayType, ConstantType, ScalarType, types_of
from transkern.ir.storage import MANY_ROWS, SHORT_ROW, small_of_names
from transkern.runtime.caching import cache
from transkern.runtime.caching.plain_data import NotPlain, as_plain, from_plain
from transkern.runtime.calls.outside import with_names
from transkern.runtime.calls.stated import stated_types, states_types
from transkern.runtime.foreign import chosen
from transkern.targets.table import TARGETS

if TYPE_CHECKING:
    from transkern.runtime.compiled import Compiled

_MOST = 8
"""Choices of types that are remembered of a function."""

_CONSTANTS = 16
"""Things that are made constants because a translation asks for them, at most."""

Types = tuple[ArgType, ...]


@dataclass(frozen=True, slots=True)
class Warmed:
    """What became of one function for one choice of types.

    `from_cache`: its code was on disk already; `problem`: why there is none, in a line (empty: there is code);
    `seconds` that it took.
    """

    name: str
    types: str
    target: str
    from_cache: bool = False
    problem: str = ""
    seconds: float = 0.0


# ---- what is known ---------------------------------------------------------------------------------------------------


def remember(function: types.FunctionType, arg_types: Types) -> None:
    """That a function has been compiled for such types; of those that other processes cannot name (classes, functions)
    nothing is kept, nor of a lambda, which has no name itself."""
    if "<lambda>" in function.__qualname__ or len(arg_types) != _count(function):
        return
    key = _key(function)
    with suppress(NotPlain):
        told = [as_plain(kind) for kind in arg_types]
        known = cache.recalled_types(key)
        if told not in known:
            cache.remember_types(key, [*known, told][-_MOST:])


def remembered(function: types.FunctionType) -> list[Types]:
    """The types that a function was compiled for in earlier runs, the first ones first."""
    found = []
    for told in cache.recalled_types(_key(function)):
        with suppress(KeyError, ValueError, TypeError):  # of another version
            found.append(tuple(map(from_plain, told)))
    return [one for one in found if len(one) == _count(function)]


def _count(function: types.FunctionType) -> int:
    """The parameters of a function, but for those that take any number of arguments."""
    return function.__code__.co_argcount + function.__code__.co_kwonlyargcount


def _key(function: types.FunctionType) -> str:
    place = f"{os.path.realpath(function.__code__.co_filename)}\n{function.__qualname__}"
    return hashlib.sha256(place.encode("utf-8", "surrogatepass")).hexdigest()


def as_called(names: Sequence[str], stated: Types, demands: Iterable[str] = ()) -> Types:
    """The types of a call whose arguments are as `stated`: of two named sizes none is equal to another, and arrays with
    short rows have many.

    What the translation `demands` to be constant is one where its value is stated (``float32[n,3]``, ``axis`` as a
    literal). Raises TypesNeeded where only a call tells a type.
    """
    demands = set(demands)
    short = {1, *(t.dims[-1] for t in stated if isinstance(t, ArrayType) and _has_short_rows(t))}
    arrays = [(name, _sizes(t)) for name, t in zip(names, stated, strict=True) if isinstance(t, ArrayType)]
    short |= small_of_names(demands, dict(arrays))
    seen: dict[int | str, str] = {}
    found: list[ArgType] = []
    for name, kind in zip(names, stated, strict=True):
        match kind:
            case ArrayType():
                dims: list[int | str] = []
                for k, d in enumerate(kind.dims):
                    constant = isinstance(d, int) and (d in short or f"{name}.{k}" in demands)
                    dims.append(d if constant else seen.setdefault(d, f"{name}_{k}"))
                found.append(replace(kind, dims=tuple(dims), extents=_sizes(kind)))
            case ConstantType(value):
                found += types_of([name], [value], {name} & demands)
            case ScalarType():
                found.append(kind)
            case _:
                raise TypesNeeded(f"only a call tells how `{name}` is made up: {kind}")
    return tuple(found)


def _sizes(kind: ArrayType) -> tuple[int, ...]:
    """The sizes of an array; a named one is large."""
    return tuple(d if isinstance(d, int) else sys.maxsize for d in kind.dims)


def _has_short_rows(kind: ArrayType) -> bool:
    """As `is_short` for the array; a named size is large."""
    if len(kind.dims) < 2 or not isinstance(kind.dims[-1], int) or not 1 < kind.dims[-1] <= SHORT_ROW:
        return False
    rows = 1
    for d in kind.dims[:-1]:
        rows *= d if isinstance(d, int) else MANY_ROWS
    return rows >= MANY_ROWS


# ---- compiling -------------------------------------------------------------------------------------------------------

class Task(NamedTuple):
    """A function and the types that it is to be compiled for: those that a call has (`called`), or such as somebody
    states; None: those that it states itself."""

    name: str
    types: Types | None
    called: bool = False


def tasks(compiled: Compiled, given: Sequence[Types] = ()) -> list[Task]:
    """What is to be done to have code of a function for `given` types, or for those that are known."""
    name = compiled.function.__qualname__
    if given:
        return [Task(name, each) for each in given]
    if isinstance(compiled.function, types.FunctionType) and (known := remembered(compiled.function)):
        return [Task(name, each, called=True) for each in known]
    return [Task(name, None)] if states_types(compiled) else []


def done(compiled: Compiled, task: Task) -> Warmed:
    """Does it; what became of it."""
    started, target, kinds = time.perf_counter(), chosen(compiled.target, None), task.types or ()
    problem, from_cache = "", False
    try:
        if task.called:
            from_cache = _has_code(compiled, kinds, target)
        else:
            kinds = stated_types(compiled, task.types)
            problem, from_cache = _for_stated(compiled, kinds, target)
    except TranskernError as error:
        problem = error.problem if isinstance(error, CompileError) else str(error).partition("\n")[0]
    told = f"({', '.join(map(str, kinds))})"
    return Warmed(task.name, told, target, from_cache, problem, time.perf_counter() - started)


def _has_code(compiled: Compiled, kinds: Types, target: str) -> bool:
    """Compiles a function for the types of a call; whether its code was on disk. (Where a constant is asked for, that
    is what is kept: a call asks for more then, and those types are remembered too.)"""
    try:
        return compiled.prepare(kinds, target).from_cache
    except NeedsConstant:
        return True


def _for_stated(compiled: Compiled, kinds: Types, target: str) -> tuple[str, bool]:
    """Compiles a function for types that are stated; why it has no code, and whether that was on disk."""
    demands = set[str]()
    if not TARGETS[target].in_place:  # as for a call: elements are copied to a device
        kinds = tuple(replace(kind, aligned=True) if isinstance(kind, ArrayType) else kind for kind in kinds)
    for _ in range(_CONSTANTS):
        called = as_called(compiled._parameters.names, kinds, demands)
        try:
            made = with_names(compiled.function, called, lambda types: compiled.prepare(types, target))
            return "", made.from_cache
        except NeedsConstant as need:
            if as_called(compiled._parameters.names, kinds, demands | {need.demand}) == called:
                return f"`{need.demand}` is part of the code, and its value is not stated", False
            demands.add(need.demand)
    return "its translation asks for ever more constants", False


def warm(functions: Iterable[Compiled]) -> list[Warmed]:
    """`transkern.warm`, of given functions."""
    waiting = [(one, task) for one in functions for task in tasks(one)]
    count = min(len(waiting), 2 * (os.cpu_count() or 1))  # while one translates, the others wait for their compilers
    if count <= 1:
        return [done(*each) for each in waiting]
    with ThreadPoolExecutor(count, "transkern-warm") as threads:
        return list(threads.map(lambda each: done(*each), waiting))


def compiled_in(kind: type[Compiled], space: dict[str, Any], module: str) -> Iterator[Compiled]:
    """The compiled functions that a module defines, and those of its classes."""
    for value in list(space.values()):
        value = getattr(value, "__func__", value)
        if isinstance(value, kind):
            if value.function.__module__ == module:
                yield value
        elif isinstance(value, type) and value.__module__ == module:
            yield from compiled_in(kind, dict(vars(value)), module)
