"""What values are, in the user's words."""

from __future__ import annotations

import enum
import types
from pathlib import Path

import numpy as np

from transkern.frontend.values.values import (
    FUNCTIONS,
    Array,
    Bound,
    Char,
    Dict,
    Flags,
    Flat,
    Function,
    GrowingList,
    Hashed,
    Instance,
    Iterated,
    JoinedText,
    Known,
    Method,
    Object,
    OneOf,
    OrNone,
    Record,
    Row,
    Scalar,
    Scope,
    Seq,
    Shown,
    Static,
    Text,
    Unbound,
    Value,
    View,
)

_SHOWN_TEXTS = 8


def describe(value: Value) -> str:
    """What a value is, in the user's words."""
    match value:
        case Row(rows) if rows.kind == "text":
            return "a text that the run makes"
        case Object() | Row():
            return "a list, dict or object"
        case Instance(pool):
            return f"an object of `{pool.kind.__name__}`"
        case Dict():
            return "a dict"
        case Record(kind):
            return f"an object of `{kind.__name__}`"
        case JoinedText():
            return "a text joined of a list"
        case Text():
            return "a text made of run-time numbers"
        case OneOf(_, options):
            more = [f"{len(options) - _SHOWN_TEXTS} more"] if len(options) > _SHOWN_TEXTS else []
            return f"one of {', '.join([*map(repr, options[:_SHOWN_TEXTS]), *more])}"
        case Char():
            return "a character"
        case Shown(held):
            return f"{describe(held)} in a text"
        case Flat():
            return "the iterator `.flat`"
        case Flags():
            return "the flags of an array"
        case Iterated(kind):
            return f"a {kind.__name__} object, which is an iterator"
        case View(_, name):
            return f"`.{name}()` of a dict"
        case OrNone(inner):
            return f"{describe(inner)} or None"
        case Static(found):
            return _described(found)
        case Scalar(expr, python):
            kinds = {"index": "int", "float64": "float", "bool": "bool", "complex128": "complex"}
            return f"a Python {kinds.get(expr.dtype, expr.dtype)}" if python else f"a NumPy {expr.dtype}"
        case Array():
            return f"an array of {value.dtype} with {value.ndim} dimension" + ("" if value.ndim == 1 else "s")
        case Seq(items, kind):
            return f"a {kind} of {len(items)}"
        case GrowingList(kind=kind):
            return f"a {kind}"
        case Hashed(kind):
            return f"a {kind} whose keys are known at run time"
        case Known(path):
            return f"`{path.replace('numpy.', 'np.', 1).removeprefix('builtins.')}`"
        case Function(name):
            return "a lambda" if name == "<lambda>" else f"the function `{name}`"
        case Method(Seq(), name) if name in _ITERATORS:
            return _ITERATORS[name]
        case Method(_, "reversed"):
            return "a `reversed`"
        case Method(_, name):
            return f"the method `.{name}`"
        case Bound(function):
            return f"the method `.{function.name}`"
        case Unbound(why):
            return f"something without a value: {why}"
        case _:
            return f"a {type(value).__name__.lower()}"


_ITERATORS = {
    "zip": "a zip", "enumerate": "an enumerate", "ndenumerate": "an `np.ndenumerate`", "ndindex": "an `np.ndindex`",
}  # fmt: skip
_TWO_FUNCTIONS = "functions", "write both calls: f(x) if condition else g(x), or np.where(condition, f(x), g(x))"


def difference(one: Value, two: Value, side: str = "path") -> tuple[str, str]:
    """What a name is where it has one of two values, each on a path (side) of its own; and what helps."""
    shown = [describe(v) for v in (one, two)]
    types = [isinstance(v, Static) and isinstance(v.value, type) for v in (one, two)]
    if all(types) or (isinstance(one, FUNCTIONS) and isinstance(two, FUNCTIONS)):
        what, help = ("types", "take one of them, or write a function for each") if all(types) else _TWO_FUNCTIONS
        which = ", " + " and ".join(s.removeprefix("the type ") for s in shown) if shown[0] != shown[1] else ""
        return f"one of two {what}{which}, as a run-time condition decides", help
    return f"{shown[0]} on one {side} and {shown[1]} on the other", f"give it a value of one type on every {side}"


def instead(value: Value, help: str) -> str:
    """What helps where a value is none: `help`, unless it may become one."""
    match value:
        case Method(Seq(), name) if name in _ITERATORS:
            return "make a list of it: list(…)"
        case Method(_, name) if name != "reversed":
            return f"call it: .{name}(…)"
        case _:
            return help


def _described(found: object) -> str:
    """What an object that is known is. Nothing of a class of the user's is asked, and no addresses are told."""
    match found:
        case None:
            return "None"
        case np.ndarray():
            return "a constant array"
        case type():
            shown = f"{found.__module__}.{found.__qualname__}".removeprefix("builtins.")
            return f"the type `{shown.replace('numpy.', 'np.', 1) if shown.startswith('numpy.') else found.__name__}`"
        case enum.Enum():
            return f"`{type(found).__name__}.{found.name}`"
        case bool() | int() | float() | complex() | str() | np.generic() | slice() | tuple() | list():
            return f"the {type(found).__name__} {found!r}"
        case np.dtype():
            return f"the dtype {found}"
        case types.ModuleType():
            return f"the module `{found.__name__}`"
        case Scope():
            return f"the module {Path(found.file).name}"
        case _:
            return f"an object of `{type(found).__name__}`"
