"""All that compiled code may depend on outside its arguments: told in texts for the disk cache, and watched at calls.

A survey goes from what a translation has looked at through lists, objects, classes and functions, to what cannot
change. It takes of objects and classes the attributes that the translated functions name, and those that Python itself
looks up: no others can have been read. One walk gives both: a text for each thing looked at (`told`), and the
conditions under which it stays so (`conditions`).
"""

from __future__ import annotations

import collections
import dataclasses
import enum
import functools
import operator
import sys
import types
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from transkern.frontend.sources import identity
from transkern.frontend.sources.observed import ABSENT, Looks
from transkern.plain import is_plain_object
from transkern.runtime.caching.fingerprints import digest, held_by, of_code, of_constant
from transkern.runtime.caching.watching import Conditions, quoted
from transkern.standing_in import plain_code
from transkern.wrappers import is_cache, same_function

_READ_BY_NAME = frozenset(["getattr", "hasattr", "setattr", "vars", "__dict__"])
"""In a function that names one of them, the names of attributes may be computed."""

_ASIDE = frozenset([
    "__dict__", "__doc__", "__module__", "__weakref__", "__annotations__", "__firstlineno__", "__static_attributes__",
])  # fmt: skip
"""What no compiled code reads of a class."""

_SPECIAL = frozenset(
    name for kind in (int, float, complex, str, list, dict, set, collections.deque, types.GeneratorType, object)
    for name in dir(kind) if name.startswith("__")
) - _ASIDE | frozenset([
    "__call__", "__enter__", "__exit__", "__getattr__", "__index__", "__matmul__", "__imatmul__", "__rmatmul__",
    "__missing__", "__post_init__", "__slots__", "__match_args__", "__dataclass_fields__", "__new__", "_fields",
    "_field_defaults", *(f"__i{name}__" for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow")),
])  # fmt: skip
"""What Python looks up in classes by itself."""

_MADE_BY_CLASS = 1 << 9  # of `type.__flags__`
_FEW, _LARGE = 8, 4096  # items that are compared one by one, and bytes that are copied for it


class Survey:
    """One walk. `names` are those that the translated functions use; `own` are the compiled function's globals;
    `passed` says of an array, and of which one it is of those met, whether its elements come anew with each call."""

    def __init__(self, own: dict[str, Any], names: Collection[str], passed: Callable[[Any, int], bool]) -> None:
        self.own, self.names, self._passed = own, frozenset(names), passed
        self.whole = not self.names.isdisjoint(_READ_BY_NAME)
        self.told: list[str] = []
        self.conditions: Conditions = {}
        self.arrays: list[Any] = []
        self.portable = True  # whether another process can find all of it by the same way
        self._modules: dict[str, Any] = {}
        self._seen: dict[int, int] = {}
        self._alive: list[Any] = []  # so that no two have one identity

    def look(self, space: Mapping[str, Any], name: str, value: Any) -> None:
        """A name of a module, and what it stands for."""
        self._named(space, name, value)
        self.told.append(digest(self.label(space), name, "absent" if value is ABSENT else self.of(value)))

    def label(self, space: Any) -> str:
        """What a module's names are found by: nothing, where they are the compiled function's own."""
        if space is self.own:
            return ""
        name = str(space.get("__name__", ""))
        module = sys.modules.get(name)
        if module is None or vars(module) is not space:
            self.portable = False
        return name

    def of(self, value: Any) -> str:
        """The text of a value: equal where compiled code cannot tell two apart."""
        constant = of_constant(value)
        if constant is not None:
            return constant
        if id(value) in self._seen:
            return f"seen {self._seen[id(value)]}"
        self._seen[id(value)] = len(self._seen)
        self._alive.append(value)
        return digest(_name(type(value)), *self._parts(value))

    def function(self, value: types.FunctionType, root: bool = False) -> Iterator[str]:
        """A function. Whether the `root` still has its code, its caller asks."""
        yield of_code(value.__code__)
        yield self.label(value.__globals__)
        if not root:
            stands = "({0}.__code__ is {1} or {2}({0}.__code__) is {3})"  # what stands in for it comes and goes
            self._when(stands, value, value.__code__, plain_code, plain_code(value.__code__))
        if value.__defaults__ or value.__kwdefaults__:
            self._when(
                "{0}.__defaults__ is {1} and {0}.__kwdefaults__ is {2}", value, value.__defaults__, value.__kwdefaults__
            )
        yield self.of(value.__defaults__)
        yield self.of(value.__kwdefaults__)
        for cell in value.__closure__ or ():
            try:
                held = cell.cell_contents
            except ValueError:  # assigned later
                yield "empty"
                self._asked(_is_empty, cell)
            else:
                self._when("{0}.cell_contents is {1}", cell, held)
                yield self.of(held)
        if value.__dict__:
            yield from self._attributes(value.__dict__, frozenset(["__wrapped__"]))

    # --- kinds of values

    def _parts(self, value: Any) -> Iterator[str]:
        inner = same_function(value)
        if inner is not None:
            yield from ("cached" if is_cache(value) else "wrapped", self.of(inner))
        elif isinstance(value, types.ModuleType):
            yield f"module {value.__name__}"
            self.label(vars(value))
        elif isinstance(value, type):
            yield from self._class(value)
        elif isinstance(value, types.FunctionType) and not identity.is_librarys(value):
            yield from self.function(value)
        elif isinstance(value, enum.Enum):
            yield from (self.of(type(value)), value.name, self.of(value.value))
        elif isinstance(value, np.ndarray):
            yield from self._array(value)
        elif isinstance(value, (tuple, list, set, frozenset, collections.deque)):
            yield from self._items(value)
        elif isinstance(value, Mapping):
            yield from self._mapping(value)
        elif isinstance(value, (int, float, complex, str)):
            yield from (str(of_constant(_plain(value))), self.of(type(value)))
        elif isinstance(value, types.MethodType):
            yield from (self.of(value.__func__), self.of(value.__self__))
        elif isinstance(value, functools.partial):
            yield from map(self.of, (value.func, value.args, value.keywords))
        elif isinstance(value, np.vectorize):
            parts = (value.pyfunc, value.otypes, value.signature, value.excluded, value.cache)
            self._when("({0}.pyfunc, {0}.otypes, {0}.signature, {0}.cache) == {1}", value, (*parts[:3], parts[4]))
            yield from map(self.of, parts)
        elif isinstance(value, property):
            yield from map(self.of, (value.fget, value.fset))
        elif isinstance(value, (staticmethod, classmethod)):
            yield self.of(value.__func__)
        elif isinstance(value, functools.cached_property):
            yield self.of(value.func)
        elif isinstance(value, types.SimpleNamespace):
            yield from self._mapping(vars(value))
        elif is_plain_object(value):
            yield from self._object(value)
        else:
            yield self._other(value)

    def _items(self, value: Collection[Any]) -> Iterator[str]:
        """What is in a list, tuple or set, in its order."""
        items = tuple(value)
        if isinstance(value, list) and len(items) <= _FEW:
            tests = [f"len({{0}}) == {len(items)}", *(f"{{0}}[{k}] is {{{k + 1}}}" for k in range(len(items)))]
            self._when(" and ".join(tests), value, *items)
        elif not isinstance(value, (tuple, frozenset)):
            self._asked(_has_items, value, items)
        yield from map(self.of, items)
        if type(value).__flags__ & _MADE_BY_CLASS:
            yield self.of(type(value))

    def _mapping(self, value: Mapping[Any, Any]) -> Iterator[str]:
        """What is in a dict; one of a class of its own is asked while the function is translated, and then does what
        its methods do."""
        keys, values = tuple(value), tuple(value.values())
        if isinstance(value, (dict, types.MappingProxyType)):
            self._asked(_has_pairs, value, keys, values)
        else:
            self._asked(_tells, value, self._alone, self._alone(value))
        for key, held in zip(keys, values, strict=True):
            yield self.of(key)
            yield self.of(held)
        if type(value).__flags__ & _MADE_BY_CLASS:
            yield from self._object(value, True)

    def _alone(self, value: Mapping[Any, Any]) -> str:
        """The text of what is in a mapping now, by itself."""
        survey = Survey(self.own, self.names, self._passed)
        return digest(*(survey.of(part) for pair in list(value.items()) for part in pair))

    def _array(self, value: np.ndarray[Any, Any]) -> Iterator[str]:
        number = len(self.arrays)
        self.arrays.append(value)
        yield digest(*map(str, (of_constant(value.dtype), value.shape, value.strides, value.flags.aligned)))
        same_form = "{0}.shape == {1} and {0}.strides == {2} and {0}.dtype is {3}"
        form = value, value.shape, value.strides, value.dtype
        if value.dtype.hasobject:
            items = value.ravel().tolist()
            self._asked(_has_elements, value, tuple(items))
            yield from map(self.of, items)
        elif self._passed(value, number):
            self._when(same_form, *form)
            yield "passed"
        elif value.nbytes <= _LARGE:
            self._when(f"{same_form} and {{0}}.tobytes() == {{4}}", *form, value.tobytes())
            yield value.tobytes().hex()
        else:
            held = value.copy()
            self._when(same_form, *form)
            self._asked(_has_bytes, value, held)
            yield held.tobytes().hex()
        if type(value) is not np.ndarray:
            yield self.of(type(value))

    def _object(self, value: Any, whole: bool = False) -> Iterator[str]:
        """The attributes of an object that may have been read, and its class."""
        kind = type(value)
        yield self.of(kind)
        fields = [f.name for f in dataclasses.fields(value)] if dataclasses.is_dataclass(value) else []
        whole = whole or any(hasattr(kind, name) and name not in vars(object) for name in ("__getattr__",))
        if hasattr(value, "__dict__"):
            held = vars(value)
            self._when("{0}.__dict__ is {1} and {0}.__class__ is {2}", value, held, kind)
            yield from self._attributes(held, more=fields, whole=whole)
        for name in sorted({n for c in kind.__mro__ for n in _slots(c)}):
            if whole or self.whole or name in self.names or name in fields:
                found = getattr(value, name, ABSENT)
                self._when(f"getattr({{0}}, {quoted(name)}, {{1}}) is {{2}}", value, ABSENT, found)
                yield from (name, "absent" if found is ABSENT else self.of(found))

    def _attributes(
        self, held: Mapping[str, Any], without: Collection[str] = (), more: Iterable[str] = (), whole: bool = False
    ) -> Iterator[str]:
        """What an object's `__dict__` has of the names that count."""
        if whole or self.whole:
            wanted: Collection[str] = [n for n in held if isinstance(n, str)]
            self._when("{0}.keys() == {1}", held, set(held))
        else:
            wanted = self.names.union(more)
            self._when("{1}.isdisjoint({0})", held, frozenset(wanted) - held.keys())
        for name in sorted(n for n in wanted if n in held and n not in without):
            self._named(held, name, held[name])
            yield from (name, self.of(held[name]))

    def _class(self, kind: type) -> Iterator[str]:
        """What a class of the user's says of the names that count; others are known by their own."""
        yield _name(kind)
        if _is_librarys(kind):
            return
        self._when("{0}.__bases__ is {1}", kind, kind.__bases__)
        yield from (self.of(type(kind)), *map(self.of, kind.__bases__))
        held = vars(kind)
        wanted = self.names | _SPECIAL if not self.whole else held.keys() - _ASIDE
        self._when("{1}.isdisjoint({0}.__dict__)", kind, wanted - held.keys())
        for name in sorted(wanted & held.keys()):
            self._when(f"{{0}}.__dict__[{quoted(name)}] is {{1}}", kind, held[name])
            if name == "__dataclass_fields__":
                for field in held[name].values():
                    yield from (field.name, str(field.init), self.of(field.default), self.of(field.default_factory))
            else:
                yield from (name, self.of(held[name]))
        if issubclass(kind, enum.Enum):
            for member in kind:
                yield from (member.name, self.of(member.value))
        if "__getattr__" in held or issubclass(kind, Mapping):
            for name in sorted(wanted & held.keys()):
                yield from self._run(held[name])

    def _run(self, value: Any) -> Iterator[str]:
        """The globals of a method that runs in Python while a function is translated."""
        for name in sorted(_names(plain_code(value.__code__))) if isinstance(value, types.FunctionType) else ():
            if name in value.__globals__:
                self._named(value.__globals__, name, value.__globals__[name])
                yield from (name, self.of(value.__globals__[name]))

    def _other(self, value: Any) -> str:
        """What takes part by what it is called, where it is what others find under that name, or not at all."""
        owner = getattr(value, "__self__", None)
        if callable(value) and owner is not None and not isinstance(owner, types.ModuleType):
            return digest("of", str(value.__name__), self.of(owner))
        path = identity.name_of(value) if callable(value) else identity.path_of(value)
        if path is None:
            return "some"
        return f"{'known' if identity.resolved(path) is value else 'other'} {path}"

    # --- conditions

    def _named(self, space: Any, name: str, value: Any) -> None:
        if value is ABSENT:
            self.conditions["absent", id(space), name] = f"{quoted(name)} not in {{0}}", (space,)
        else:
            self.conditions["name", id(space), name] = f"{{0}}[{quoted(name)}] is {{1}}", (space, value)

    def _when(self, template: str, *objects: Any) -> None:
        """A condition on the first of the objects that stand in it."""
        self.conditions[template, id(objects[0])] = template, objects

    def _asked(self, test: Callable[..., bool], value: Any, *then: Any) -> None:
        """The same by a function, which gets `value` and what was found of it."""
        places = ", ".join(f"{{{k}}}" for k in range(2 + len(then)))
        self.conditions[test, id(value)] = f"{{0}}({places[5:]})", (test, value, *then)


def of_translation(function: types.FunctionType, arg_types: Sequence[Any], looks: Looks) -> Survey:
    """What a translation that has just been made depends on."""
    names: set[str] = set().union(*(_names(plain_code(f.__code__)) for f in looks.functions.values()))

    def is_passed(array: Any, number: int) -> bool:
        return id(array) in looks.passed and id(array) not in looks.by_value

    return _made(function, arg_types, names, is_passed, [(v.space, v.name, v.value) for v in looks.names.values()])


def as_json(survey: Survey, looks: Looks) -> dict[str, Any] | None:
    """A survey for the disk cache; None where it does not hold in other processes."""
    if not survey.portable or not looks.exact:
        return None
    return {
        "names": sorted(survey.names), "told": survey.told,
        "looks": [[survey.label(look.space), look.name] for look in looks.names.values()],
        "passed": [k for k, a in enumerate(survey.arrays) if id(a) in looks.passed and id(a) not in looks.by_value],
    }  # fmt: skip


_LAZY = ("numpy", "scipy")
"""Packages whose modules are loaded when they are asked for (`np.random`): the translation had asked."""


def found_again(function: types.FunctionType, arg_types: Sequence[Any], entry: Mapping[str, Any]) -> Survey | None:
    """The survey of an entry of the disk cache, where all is as it was then."""
    looks = []
    for module, name in entry["looks"]:
        if module and module not in sys.modules:
            return None
        space = vars(sys.modules[module]) if module else function.__globals__
        if name not in space and module.partition(".")[0] in _LAZY:
            with suppress(AttributeError, ImportError):
                getattr(sys.modules[module], name)
        looks.append((space, name, space.get(name, ABSENT)))
    passed = frozenset(entry["passed"])
    survey = _made(function, arg_types, entry["names"], lambda _, number: number in passed, looks)
    return survey if survey.portable and survey.told == entry["told"] else None


def _made(
    function: types.FunctionType, arg_types: Sequence[Any], names: Collection[str],
    passed: Callable[[Any, int], bool], looks: Iterable[tuple[Mapping[str, Any], str, Any]],
) -> Survey:  # fmt: skip
    survey = Survey(function.__globals__, names, passed)
    survey.told += survey.function(function, root=True)
    for kind in arg_types:
        survey.told += map(survey.of, held_by(kind))
    for space, name, value in looks:
        survey.look(space, name, value)
    return survey


def _names(code: types.CodeType) -> set[str]:
    """What a function may look up: the names in its code, and its texts, which ``getattr`` takes."""
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _names(constant)
        else:
            found.update(c for c in (constant if isinstance(constant, tuple) else (constant,)) if isinstance(c, str))
    return found


def _name(kind: type) -> str:
    return f"{kind.__module__} {kind.__qualname__}"


def _is_librarys(kind: type) -> bool:
    """Whether a class is written in C, by NumPy or in Python's library: nobody changes it."""
    if not kind.__flags__ & _MADE_BY_CLASS:
        return True
    file = getattr(sys.modules.get(str(kind.__module__)), "__file__", None)
    return isinstance(file, str) and (identity.is_pythons(file) or file.startswith(tuple(np.__path__)))


def _plain(value: Any) -> Any:
    """A number or text of a class of its own as Python's."""
    kinds: tuple[Any, ...] = (int, float, complex, str)
    return next(kind(value) for kind in kinds if isinstance(value, kind))


def _slots(kind: type) -> tuple[str, ...]:
    found = vars(kind).get("__slots__", ())
    return (found,) if isinstance(found, str) else tuple(found)


def _is_empty(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is ABSENT
    except ValueError:
        return True


def _has_items(value: Collection[Any], items: tuple[Any, ...]) -> bool:
    return len(value) == len(items) and all(map(operator.is_, value, items))


def _has_pairs(value: Mapping[Any, Any], keys: tuple[Any, ...], values: tuple[Any, ...]) -> bool:
    return len(value) == len(keys) and all(map(operator.is_, value, keys)) and all(
        map(operator.is_, value.values(), values)
    )


def _tells(value: Any, text: Callable[[Any], str], told: str) -> bool:
    return text(value) == told


def _has_elements(value: np.ndarray[Any, Any], items: tuple[Any, ...]) -> bool:
    return _has_items(value.ravel().tolist(), items)


def _has_bytes(value: np.ndarray[Any, Any], held: np.ndarray[Any, Any]) -> bool:
    now, then = (np.ascontiguousarray(a).view(np.uint8) for a in (value, held))
    return bool(np.array_equal(now, then))
