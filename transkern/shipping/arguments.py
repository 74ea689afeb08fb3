"""Arguments of a package's functions that are made up of others: tuples, lists of a known length, lists of numbers,
dicts of known keys, dataclasses and named tuples.

Compiled code takes arrays and numbers; what they stand in is looked at by a few lines of Python in the package. So a
function that changes a list, or hands one back, would need what transkern does around a call, and is refused.
"""

from __future__ import annotations

from collections.abc import Sequence

from transkern.frontend.values.types import ArgType, ArrayType, ConstantType, NumbersType, ScalarType, StructType

_KINDS = ("tuple", "list", "dict", "record")
_KEYS = (str, int)
_NUMBERS = ("int", "float", "bool")
_SHORT = 2  # numbers from which a list of them is an array

HELPERS = '''

_NUMBERS = {"int": (int, np.int64), "float": (float, np.float64), "bool": (bool, np.bool_)}


def _apart(call, shapes):
    """A function of the arrays and numbers that tuples and lists among its arguments hold."""

    def taken(*given):
        parts = []
        for k, value in enumerate(given):
            if not _parts(shapes[k] if k < len(shapes) else None, value, parts):
                return NotImplemented
        return call(*parts)

    return taken


def _parts(shape, value, parts):
    if shape is None:
        parts.append(value)
        return True
    if type(shape) is str:
        kind, dtype = _NUMBERS[shape]
        if type(value) is not list or len(value) < 2 or any(type(v) is not kind for v in value):
            return False
        try:
            parts.append(np.array(value, dtype))
        except OverflowError:
            return False
        return True
    kind, items, *keys = shape
    if type(kind) is str:
        if type(value).__name__ != kind or _fields(value) != keys[0]:
            return False
        value = [getattr(value, name) for name in keys[0]]
    elif type(value) is not kind or len(value) != len(items):
        return False
    elif keys:
        if [*map(repr, value)] != [*map(repr, keys[0])]:
            return False
        value = value.values()
    return all(_parts(item, part, parts) for item, part in zip(items, value))


def _fields(value):
    """The attributes of an object, in their order."""
    if isinstance(value, tuple):
        return getattr(value, "_fields", ())
    return tuple(getattr(value, "__dict__", None) or getattr(type(value), "__slots__", ()))
'''
"""What the package has for them."""


def is_held(kind: ArgType) -> bool:
    """Whether a package can take arguments of a type."""
    match kind:
        case ArrayType() | ScalarType() | ConstantType():
            return True
        case NumbersType(python):
            return python in _NUMBERS
        case StructType(made_of, items, keys):
            return made_of in _KINDS and all(isinstance(k, _KEYS) for k in keys) and all(map(is_held, items))
    return False


def is_made_up(kind: ArgType) -> bool:
    """Whether it is made up of others."""
    return isinstance(kind, (StructType, NumbersType))


def objects_in(kind: ArgType) -> int:
    """How many lists, dicts and objects there are in an argument."""
    if not isinstance(kind, StructType):
        return int(isinstance(kind, NumbersType))
    return (kind.kind != "tuple") + sum(map(objects_in, kind.items))


def shape_text(kind: ArgType) -> str:
    """How an argument is made up, as the package's `_parts` takes it."""
    match kind:
        case NumbersType(python):
            return repr(python)
        case StructType(made_of, items, keys, of):
            inner = ", ".join(map(shape_text, items))
            held = f"({inner}{',' * (len(items) == 1)})"
            if made_of in ("dict", "record"):
                return f"({'dict' if of is None else repr(of.__name__)}, {held}, {keys!r})"
            return f"({made_of}, {held})"
    return "None"


def short_lists(types: tuple[ArgType, ...]) -> list[tuple[ArgType, ...]]:
    """The same types with lists of numbers that are too short to be arrays."""
    if not any(isinstance(kind, NumbersType) for kind in types):
        return []
    return [tuple(_short(kind, count) for kind in types) for count in range(_SHORT)]


def _short(kind: ArgType, count: int) -> ArgType:
    if not isinstance(kind, NumbersType):
        return kind
    number = ScalarType({"int": "int64", "float": "float64", "bool": "bool"}[kind.python], kind.python)
    return StructType("list", (number,) * count)


def annotation(kind: ArgType) -> str:
    """The type in a stub."""
    match kind:
        case NumbersType(python):
            return f"list[{python}]"
        case StructType("tuple", items):
            return f"tuple[{', '.join(map(annotation, items)) or '()'}]"
        case StructType("list", items):
            return f"list[{_union(items)}]"
        case StructType("dict", items, keys):
            return f"dict[{' | '.join(dict.fromkeys(type(k).__name__ for k in keys)) or 'Any'}, {_union(items)}]"
        case ScalarType(dtype, python):
            return python or f"np.{'bool_' if dtype == 'bool' else dtype}"
        case ArrayType(dtype):
            return f"NDArray[np.{'bool_' if dtype == 'bool' else dtype}]"
        case ConstantType(bool() | int() | str() as value):
            return f"Literal[{value!r}]"
    return "Any"


def _union(items: Sequence[ArgType]) -> str:
    found = list(dict.fromkeys(map(annotation, items)))
    return "Any" if "Any" in found or not found else " | ".join(found)


def told(names: Sequence[str], types: tuple[ArgType, ...], params: list[str]) -> str:
    """What a function takes, for who calls it otherwise: `params` is how its program says it."""
    if not any(map(is_made_up, types)):
        return ", ".join(params)
    return ", ".join(f"{name}: {kind}" for name, kind in zip(names, types, strict=False))

