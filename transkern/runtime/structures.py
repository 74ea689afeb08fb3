"""Arguments with a structure (tuples, lists, dicts, named tuples, objects): taken apart for a call, changed after it.

Compiled code takes arrays and numbers only: `{"w": w, "b": (c, 2)}` as the argument `p` is `p_w`, `p_b_0`, `p_b_1`.
"""

from __future__ import annotations

import dataclasses
import enum
import itertools
import operator
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from transkern import refusals
from transkern.errors import CompileError
from transkern.ir import generators
from transkern.plain import NUMPYS_BOOL, dtype_of, is_plain_object, key_name, part_path
from transkern.runtime.calls.appended import Place, below
from transkern.runtime.foreign import kind_of

_DEEP, _MANY = 8, 512

ONE_LEAF = ("leaf", "numbers", "generator", "text")
"""Kinds of arguments of which one thing is passed, and nothing of what is in them."""

COLUMNS = ("rows", "ragged")
"""Kinds of lists that are passed as arrays, whatever their length."""

_FEW = 16  # tuples or lists in a list, up to which each is an argument of its own

_PLACES = 8  # of tuples that are passed as arrays

VARIES = ".varies"
"""Behind the path of a tuple of integers, or of a text, among what is demanded: its numbers or characters are
arguments, and not known by value."""


class Used(NamedTuple):
    """What a function uses of an argument: those `names` among an object's attributes (None: all), and the lists that
    it only appends to."""

    names: frozenset[str] | None = None
    appended: frozenset[Place] = frozenset()


ALL = Used()


class Mismatch(Exception):
    """The arguments are not of the structure that code was made for."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How an argument is made up.

    `kind` is ``leaf``, ``numbers`` (a list of numbers of one type, Python's or NumPy's: `keys` names it), ``rows`` (a
    list of many tuples of numbers: `keys` names the types of their places), ``ragged`` (a list of many lists of numbers
    of one type: `keys` names it; passed are all numbers, and where each list begins), ``appended`` (a list that is only
    appended to: nothing is passed), ``opaque`` (nothing that can take part: used nowhere, it does no harm),
    ``generator`` (of random numbers, of a kind that `keys` names: its state is passed), ``text`` (of ASCII characters:
    their codes are passed), ``tuple``, ``list``, ``dict``
    (with its `keys`) or ``record`` (an instance of `of` whose attributes are `keys`).
    """

    path: str
    kind: str
    keys: tuple[Any, ...] = ()
    of: type | None = None
    items: tuple[Shape, ...] = ()
    columns: tuple[str, ...] = ()  # of ``rows`` and ``ragged``: the names of the arrays that are passed
    only: frozenset[str] | None = None  # of an object: the attributes that count, where not all do

    def leaves(self) -> Iterator[str]:
        """The names of what is passed on."""
        if self.kind in ONE_LEAF:
            yield self.path
        elif self.kind in COLUMNS:
            yield from self.columns
        for item in self.items:
            yield from item.leaves()


def is_plain(values: Sequence[Any]) -> bool:
    """Whether no argument has a structure (the common case)."""
    return all(isinstance(v, _PLAIN) or v is None or kind_of(v) is not None for v in values)


_PLAIN = (np.ndarray, int, float, complex, np.generic, str)


def shape_of(
    path: str, value: Any, parameters: Collection[str] = (), above: tuple[int, ...] = (),
    used: Used = ALL,
) -> Shape:  # fmt: skip
    """The structure of an argument of a function with these parameters, of which it uses what `used` says."""
    if id(value) in above or len(above) > _DEEP:
        return Shape(path, "opaque")
    if () in used.appended and type(value) is list:
        return Shape(path, "appended")
    above, only = (*above, id(value)), used.names

    def inner(names: Sequence[str], values: Sequence[Any], keys: Sequence[Any] = ()) -> tuple[Shape, ...]:
        paths = [part_path(path, n, parameters) for n in names]
        uses = [Used(None, below(used.appended, k)) if used.appended else ALL for k in keys or names]
        return tuple(shape_of(p, v, parameters, above, u) for p, v, u in zip(paths, values, uses, strict=True))

    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return Shape(path, "record", tuple(value._fields), type(value), inner(value._fields, value))
    if type(value) is tuple and not _is_constant(value):
        return Shape(path, "tuple", (), None, inner([str(k) for k in range(len(value))], value))
    if type(value) is range and all(-(2**63) <= v < 2**63 for v in (value.start, value.stop, value.step)):
        return Shape(path, "range", (value.step,), None, inner(["start", "stop"], [value.start, value.stop]))
    if type(value) is list:
        if len(value) > 1 and (kind := type_of_numbers(value)):
            return Shape(path, "numbers", (kind,))
        if len(value) > _FEW and (columns_ := _columns(value)):
            kind, keys = columns_
            names = [f"column{k}" for k in range(len(keys))] if kind == "rows" else ["values", "starts"]
            columns = tuple(part_path(path, n, parameters) for n in names)
            return Shape(path, kind, keys, columns=columns)
        return Shape(path, "list", (), None, inner([str(k) for k in range(len(value))], value, range(len(value))))
    if type(value) is dict:
        if not all(isinstance(k, (str, int, float, bool, tuple, enum.Enum)) or k is None for k in value):
            return Shape(path, "opaque")
        names = [key_name(k, n) for n, k in enumerate(value)]
        return Shape(path, "dict", tuple(value), None, inner(names, list(value.values()), list(value)))
    if isinstance(value, (dict, list, set, frozenset)) and is_plain_object(value):
        return Shape(path, "opaque", (type(value).__name__,))  # of the user's: it holds more than its attributes
    if is_object(value):
        found = attributes_of(value, only)
        return Shape(path, "record", tuple(found), type(value), inner(list(found), list(found.values())), only=only)
    if kind := generators.kind_of(value):
        return Shape(path, "generator", (kind,))
    if above[1:] and not _is_leaf(value):
        return Shape(path, "opaque", (type(value).__name__,))
    return Shape(path, "leaf")


def _is_constant(value: Any) -> bool:
    """Tuples without arrays and floats stand in the types by value: shapes, axes, names."""
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return all(_is_constant(v) for v in value)
    return value is None or type(value) in (int, str, bool)


def type_of_numbers(values: Sequence[Any]) -> str:
    """The type of numbers, Python's or NumPy's, where all are of one; else an empty text."""
    return _common_type(values) or _of_numpy(values)


def _common_type(values: Sequence[Any]) -> str:
    kinds = set(map(type, values))
    if len(kinds) != 1:
        return ""
    (kind,) = kinds
    if kind is int:
        return "int" if min(values) >= -(2**63) and max(values) < 2**63 else ""
    return kind.__name__ if kind in (float, bool) else ""


def _of_numpy(values: Sequence[Any]) -> str:
    """The same of numbers of NumPy's: ``float32``, ``bool_`` …"""
    (kind, *others) = set(map(type, values))
    if others or not issubclass(kind, np.generic) or np.dtype(kind).kind not in "biufc":
        return ""
    return NUMPYS_BOOL if kind is np.bool_ else str(np.dtype(kind))


def _columns(values: list[Any]) -> tuple[str, tuple[str, ...]] | None:
    """What a list of tuples or lists of numbers is: its kind, and the types of its numbers."""
    kind, *others = set(map(type, values))
    if others or kind not in (tuple, list):
        return None
    if kind is tuple:
        if len(set(map(len, values))) > 1 or not 0 < len(values[0]) <= _PLACES:
            return None
        types = tuple(map(_common_type, zip(*values, strict=True)))
        return ("rows", types) if all(types) else None
    if len(set(map(id, values))) < len(values):
        return None
    found = _common_type(list(itertools.chain.from_iterable(values)))
    return ("ragged", (found,)) if found else None


def is_object(value: Any) -> bool:
    if isinstance(value, (type, enum.Enum)) or callable(getattr(value, "__array__", None)):
        return False
    return dataclasses.is_dataclass(value) or (is_plain_object(value) and not isinstance(value, (BaseException, tuple)))


def attributes_of(value: Any, only: Collection[str] | None = None) -> Mapping[str, Any]:
    """An object's attributes, or those of them that are among `only`, in the order in which they were set (slots in the
    order of the classes)."""
    if only is not None:
        return {name: v for name, v in attributes_of(value).items() if name in only}
    if hasattr(value, "__dict__"):
        found: Mapping[str, Any] = vars(value)
        return found
    names = [n for c in reversed(type(value).__mro__) for n in getattr(c, "__slots__", ())]
    return {n: getattr(value, n) for n in names if hasattr(value, n)}


def _is_leaf(value: Any) -> bool:
    return (
        value is None or value is Ellipsis or callable(value) or _is_constant(value) or hasattr(value, "__dlpack__")
        or isinstance(value, (np.ndarray, np.generic, float, complex, str, bytes, np.dtype, slice, enum.Enum))
    )  # fmt: skip


def taken_apart(shapes: Sequence[Shape], values: Sequence[Any]) -> list[Any]:
    """The arrays and numbers in the arguments, in order; raises Mismatch where they are made up otherwise."""
    out: list[Any] = []
    for shape, value in zip(shapes, values, strict=True):
        _take_apart(shape, value, out)
    if len(out) > _MANY:
        raise CompileError(
            refusals.ARGUMENT_TYPE, f"the arguments hold {len(out)} arrays and numbers",
            "put those of one shape into one array (np.stack)",
        )
    return out


def _take_apart(shape: Shape, value: Any, out: list[Any]) -> None:
    match shape.kind:
        case "leaf":
            out.append(value)
            return
        case "opaque":
            return
        case "appended":
            if type(value) is not list:
                raise Mismatch
            return
        case "generator":
            if generators.kind_of(value) != shape.keys[0]:
                raise Mismatch
            out.append(generators.state_of(value))
            return
        case "numbers":
            if type(value) is not list or len(value) < 2 or type_of_numbers(value) != shape.keys[0]:
                raise Mismatch
            out.append(np.array(value, dtype_of(shape.keys[0])))
            return
        case "text":
            out.append(codes_of(value))
            return
        case "rows" | "ragged":
            out += columns_in(shape, value)
            return
        case "range":
            if type(value) is not range or value.step != shape.keys[0]:
                raise Mismatch
            parts: Any = (value.start, value.stop)
        case "tuple" | "list":
            if type(value) is not (tuple if shape.kind == "tuple" else list) or len(value) != len(shape.items):
                raise Mismatch
            parts = value
        case "dict":
            if type(value) is not dict or tuple(value) != shape.keys:
                raise Mismatch
            parts = value.values()
        case _:
            if type(value) is not shape.of:
                raise Mismatch
            if issubclass(type(value), tuple):
                parts = value
            else:
                found = attributes_of(value, shape.only)
                if tuple(found) != shape.keys:
                    raise Mismatch
                parts = found.values()
    for item, part in zip(shape.items, parts, strict=True):
        _take_apart(item, part, out)




def columns_in(shape: Shape, value: Any) -> list[Any]:
    """The arrays that are passed for a list of tuples or lists; raises Mismatch where it is none of this kind."""
    if type(value) is not list or len(value) <= _FEW or _columns(value) != (shape.kind, shape.keys):
        raise Mismatch
    if shape.kind == "rows":
        return [np.array(c, dtype_of(k)) for c, k in zip(zip(*value, strict=True), shape.keys, strict=True)]
    starts = np.zeros(len(value) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, value), np.int64, len(value)), out=starts[1:])
    return [np.array(list(itertools.chain.from_iterable(value)), dtype_of(shape.keys[0])), starts]


def containers(shapes: Sequence[Shape], values: Sequence[Any]) -> dict[str, Any]:
    """The lists, dicts and objects in the arguments, by path."""
    found: dict[str, Any] = {}

    def visit(shape: Shape, value: Any) -> None:
        if shape.kind in ("leaf", "opaque", "generator", "text"):
            return
        found[shape.path] = value
        parts = _parts(shape, value) if shape.items else []
        for item, part in zip(shape.items, parts, strict=True):
            visit(item, part)

    for shape, value in zip(shapes, values, strict=True):
        visit(shape, value)
    return found


@contextmanager
def drawn_from(shapes: Sequence[Shape], values: Sequence[Any], leaves: Sequence[Any]) -> Iterator[None]:
    """Generators among the arguments get the states in which a call leaves those of its `leaves`."""
    found: list[tuple[Any, Any]] = []
    states = iter(leaves)

    def visit(shape: Shape, value: Any) -> None:
        if shape.kind == "generator":
            found.append((value, next(states)))
        else:
            for _ in range(1 if shape.kind in ONE_LEAF else len(shape.columns)):
                next(states)
        for item, part in zip(shape.items, _parts(shape, value) if shape.items else (), strict=True):
            visit(item, part)

    for shape, value in zip(shapes, values, strict=True):
        visit(shape, value)
    if len({id(g) for g, _ in found}) < len(found):
        raise CompileError(refusals.RANDOM, "one random generator is in the arguments twice", "pass it once")
    try:
        yield
    finally:
        for generator, state in found:
            generators.set_state(generator, state)


def in_columns(shapes: Sequence[Shape]) -> set[str]:
    """The paths of lists that are passed as arrays."""
    found = {shape.path for shape in shapes if shape.columns}
    return found.union(*(in_columns(shape.items) for shape in shapes))


def has_generators(shapes: Sequence[Shape]) -> bool:
    return any(shape.kind == "generator" or has_generators(shape.items) for shape in shapes)


def state_demands(shapes: Sequence[Shape]) -> Iterator[str]:
    """The lengths of the generators' states: they are no sizes of the function's."""
    for shape in shapes:
        if shape.kind == "generator":
            yield f"{shape.path}.0"
        yield from state_demands(shape.items)


def _parts(shape: Shape, value: Any) -> list[Any]:
    if shape.kind == "dict":
        return list(value.values())
    if shape.kind == "record" and not isinstance(value, tuple):
        return list(attributes_of(value, shape.only).values())
    if shape.kind == "range":
        return [value.start, value.stop]
    return list(value)


Change = tuple[str, str, Any]  # the path of a container, what happens to it, and the key or attribute


_noted = threading.local()


@contextmanager
def noting() -> Iterator[Callable[[], None]]:
    """Within, what is put into arguments is noted; gives what takes it out again."""
    before: list[Callable[[], object]] = []

    def undo() -> None:
        for step in reversed(before):
            step()

    outer, _noted.before = getattr(_noted, "before", None), before
    try:
        yield undo
    finally:
        _noted.before = outer


def _undone(owner: Any, kind: str, key: Any) -> Callable[[], object]:
    """What makes a container as it is now, once it has changed so."""
    match kind:
        case "attribute":
            if key not in (held := attributes_of(owner)):
                return lambda: object.__delattr__(owner, key)
            value = held[key]
            return lambda: object.__setattr__(owner, key, value)
        case "item" if isinstance(owner, dict) and key not in owner:
            return lambda: owner.pop(key)
        case "item":
            value = owner[key]
            return lambda: operator.setitem(owner, key, value)
        case "without":  # in the order in which its keys were
            items = dict(owner)
            return lambda: (owner.clear(), owner.update(items))
        case _:
            elements = list(owner)
            return lambda: operator.setitem(owner, slice(None), elements)


def put_back(changes: Sequence[Change], values: Sequence[Any], owners: Mapping[str, Any]) -> None:
    """What the function has put into its arguments."""
    noted = getattr(_noted, "before", None)
    for (path, kind, key), value in zip(changes, values, strict=True):
        if value is ...:
            continue  # as it was
        owner = owners[path]
        if noted is not None:
            noted.append(_undone(owner, kind, key))
        match kind:
            case "item":
                owner[key] = value
            case "attribute":
                object.__setattr__(owner, key, value)
            case "without":
                del owner[key]
            case "appended":
                owner.extend(value)
            case _:
                owner[:] = value


def with_demands(shape: Shape, value: Any, demands: Collection[str], parameters: Collection[str] = ()) -> Shape:
    """The structure where the numbers of a list or a tuple that `demands` names are arguments of their own."""
    if shape.kind == "leaf" and shape.path + VARIES in demands and is_of_integers(value):
        return _by_numbers(shape.path, value, parameters)
    if shape.kind == "leaf" and shape.path + VARIES in demands and is_of_characters(value):
        return Shape(shape.path, "text")
    if shape.kind == "numbers" and shape.path in demands:
        items = tuple(Shape(part_path(shape.path, str(k), parameters), "leaf") for k in range(len(value)))
        return Shape(shape.path, "list", (), None, items)
    if shape.kind in COLUMNS and shape.path in demands:
        paths = [part_path(shape.path, str(k), parameters) for k in range(len(value))]
        inner = (shape_of(p, v, parameters) for p, v in zip(paths, value, strict=True))
        return Shape(shape.path, "list", (), None, tuple(inner))
    if not shape.items:
        return shape
    parts = _parts(shape, value)
    items = tuple(with_demands(s, v, demands, parameters) for s, v in zip(shape.items, parts, strict=True))
    return shape if items == shape.items else dataclasses.replace(shape, items=items)


def is_of_integers(value: Any) -> bool:
    """Whether a value is a tuple of integers, or of such tuples: positions, shapes, axes."""
    return type(value) is tuple and bool(value) and all(type(v) is int or is_of_integers(v) for v in value)


def is_of_characters(value: Any) -> bool:
    """Whether a value is a text whose characters may be arguments. (A size that is an argument is not 1, where that is
    not known.)"""
    return type(value) is str and len(value) > 1 and value.isascii()


def texts_in(shapes: Sequence[Shape]) -> set[str]:
    """The paths of texts of which the characters are arguments."""
    found = {shape.path for shape in shapes if shape.kind == "text"}
    return found.union(*(texts_in(shape.items) for shape in shapes if shape.items))


def codes_of(value: Any) -> np.ndarray[Any, Any]:
    """The codes of a text's characters. Raises Mismatch for anything else."""
    if not is_of_characters(value):
        raise Mismatch
    return np.frombuffer(value.encode("ascii"), np.uint8).astype(np.int64)


def _by_numbers(path: str, value: Any, parameters: Collection[str]) -> Shape:
    if not isinstance(value, tuple):
        return Shape(path, "leaf")
    items = (_by_numbers(part_path(path, str(k), parameters), v, parameters) for k, v in enumerate(value))
    return Shape(path, "tuple", (), None, tuple(items))


def shapes_of(
    names: Sequence[str], values: Sequence[Any], demands: Collection[str],
    used: Callable[[str, Any], Used],
) -> tuple[Shape, ...]:  # fmt: skip
    """What arguments are made of, where some of their parts must be constants; `used` tells what counts of an argument
    (`calls.uses`)."""
    shapes = (shape_of(n, v, names, used=used(n, v)) for n, v in zip(names, values, strict=True))
    return tuple(with_demands(s, v, demands, names) for s, v in zip(shapes, values, strict=True))
