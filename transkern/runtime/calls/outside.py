"""Names of modules among the arguments of a call (`frontend.sources.module_names`): which they are for a function.

Those that the function binds anew (`global`) or changes in place, once its translation asks for them, and those that
were found to be others than what there was code for: a rate that falls from epoch to epoch, an array that the script
binds anew.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from transkern.errors import CompileError, NeedsConstant
from transkern.frontend.sources.module_names import ModuleNames, Name, demanded, names_of, parameters_for
from transkern.plain import is_plain_object
from transkern.runtime import structures
from transkern.runtime.arrays import described
from transkern.runtime.calls.uses import used_by
from transkern.runtime.specialisation import Specialisation

_Made = TypeVar("_Made")

_DATA = (int, float, complex, np.generic, np.ndarray, list)
"""What varies as data does. Texts, dicts and what else a name may stand for are options, or part of the code."""


_Key = tuple[int, str]  # a module's names by their identity, and one of them


class Wanted(Exception):
    """Names must be arguments, `demands` says which; `problem` is what to raise where they cannot be."""

    def __init__(self, problem: CompileError, demands: Iterable[str]) -> None:
        super().__init__()
        self.problem, self.demands = problem, tuple(demands)


class Outside:
    """The names of modules that are arguments of a function."""

    __slots__ = ("_bound", "_never", "_space", "_varying", "parameters", "values")

    def __init__(self, function: Any) -> None:
        self._space: dict[str, Any] = getattr(function, "__globals__", {})
        self._bound: dict[_Key, Name] = {}  # by the function
        self._varying: dict[_Key, Name] = {}
        self._never: set[_Key] = set()  # those of them for which code is refused
        self.values: tuple[ModuleNames, ...] = ()  # the arguments
        self.parameters: list[str] = []  # and what they are called

    @property
    def varies(self) -> bool:
        """Whether there are names for which there might be code without them."""
        return bool(self._varying)

    @property
    def binds(self) -> str:
        """A name that the function changes, if any."""
        return next((name for _, name in self._bound), "")

    def take(self, demands: Iterable[str], own: Iterable[str]) -> bool:
        """Has names that a translation asks for as arguments; whether they are the function's to have. `own` are the
        function's own parameters."""
        for demand in demands:
            asked = demanded(demand)
            if asked is None:
                return False
            module, name = asked
            space = self._space
            if space.get("__name__") != module:
                space = getattr(sys.modules.get(module), "__dict__", {})
            if name not in space or (id(space), name) in self._bound:
                return False
            self._bound[id(space), name] = Name(space, name)
            self._varying.pop((id(space), name), None)
        self._set(own)
        return True

    def vary(self, watched: Iterable[Specialisation], own: Iterable[str]) -> None:
        """Has those names as arguments that are bound to other data than when code was made."""
        for made in watched:
            for key, (_, objects) in (made.conditions or {}).items():
                if isinstance(key, tuple) and key[0] == "name":
                    space, before = objects
                    now, which = space.get(key[2]), (id(space), key[2])
                    if now is not before and type(now) is type(before) and _is_data(now) and which not in self._never:
                        self._varying[which] = Name(space, key[2])
        self._set(own)

    def refuse(self, own: Iterable[str]) -> bool:
        """Takes back, for good, what only varies, as code for it is refused; whether there was any."""
        some = bool(self._varying)
        self._never |= self._varying.keys()
        self._varying.clear()
        self._set(own)
        return some

    def _set(self, own: Iterable[str]) -> None:
        names: dict[int, list[Name]] = {}
        for found in (*self._bound.values(), *self._varying.values()):
            names.setdefault(id(found.space), []).append(found)
        self.values = tuple(names_of(found[0].space, (name for _, name in found)) for found in names.values())
        self.parameters = parameters_for([type(value) for value in self.values], own)


def with_names(function: Any, types: tuple[Any, ...], made: Callable[[tuple[Any, ...]], _Made]) -> _Made:
    """What is `made` of a function for the types of its arguments, and for those of the names of modules that are asked
    for, as they are now. NeedsConstant: something else is asked for."""
    from transkern.frontend.values.types import structured, types_of  # here, as where calls are served from the cache

    outside, own = Outside(function), list(inspect.signature(function).parameters)
    more: list[Any] = []
    while True:
        try:
            return made((*types, *more))
        except NeedsConstant as need:
            if demanded(need.demand) is None:
                raise
            if not outside.take((need.demand, *need.more), own):
                raise need.problem from None
        shapes = structures.shapes_of(outside.parameters, outside.values, (), used_by(function))
        names = [name for shape in shapes for name in shape.leaves()]
        seen = [described(value) for value in structures.taken_apart(shapes, outside.values)]
        leaves = iter(types_of(names, seen))
        more = [structured(shape, leaves) for shape in shapes]


class Held(NamedTuple):
    """A name, the arrays in what it stands for, and its lists, dicts and objects by their identity."""

    name: Name
    arrays: list[Any]
    containers: frozenset[int]


def data_held(made: Specialisation) -> list[Held]:
    """The names of arrays, lists, dicts and objects that code was made for as they were found, where it changes its
    arguments, which may be these."""
    if not made.written and not made.changes:
        return []
    out = []
    for key, (_, objects) in (made.conditions or {}).items():
        if isinstance(key, tuple) and key[0] == "name":
            arrays, containers = list[Any](), set[int]()
            _collect(objects[1], _DEEP, arrays, containers)
            if arrays or (containers and made.changes):
                out.append(Held(Name(objects[0], key[2]), arrays, frozenset(containers)))
    return out


def changed_in(
    made: Specialisation, held: Sequence[Held], names: Sequence[str], values: Sequence[Any], owners: Mapping[str, Any]
) -> list[Name]:
    """Which of the names that are held a call changes by way of its arguments."""
    written = [v for n, v in zip(names, values, strict=True) if n in made.written]
    changed = {id(owners[path]) for path, _, _ in made.changes} if made.changes else frozenset[int]()
    found = []
    for one in held:
        if (changed and not changed.isdisjoint(one.containers)) or share(one.arrays, written):
            found.append(one.name)
    return found


def share(arrays: Sequence[Any], written: Sequence[Any]) -> bool:
    """Whether one of some arrays may have memory of one of others. (What NumPy's own question takes is more than many a
    call does: arrays with memory of their own have it with their views alone.)"""
    for w in written:
        if not isinstance(w, np.ndarray):
            continue
        owner = _owner(w)
        for a in arrays:
            if _owner(a) is owner if owner.flags.owndata else np.may_share_memory(a, w):
                return True
    return False


def _owner(array: Any) -> Any:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


_DEEP = 3


def _collect(value: Any, depth: int, arrays: list[Any], containers: set[int]) -> None:
    """The arrays in a value, and the lists, dicts and objects."""
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return
    parts: Iterable[Any] = ()
    if isinstance(value, (list, tuple, set, frozenset)):
        parts = value
    elif isinstance(value, dict):
        parts = value.values()
    elif is_plain_object(value):
        parts = vars(value).values() if hasattr(value, "__dict__") else ()
    else:
        return
    if not isinstance(value, (tuple, frozenset)):
        containers.add(id(value))
    if depth:
        for part in parts:
            _collect(part, depth - 1, arrays, containers)


def _is_data(value: Any) -> bool:
    return isinstance(value, _DATA) and not isinstance(value, bool)
