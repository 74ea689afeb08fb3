"""What Python says of the types of its values: which operators, attributes and subscripts they have, and which not.

NumPy takes lists and tuples for arrays; Python does not. So where no operand is an array, Python is asked, with values
of the same types, whether it knows the operation: what it raises, the compiled function raises.
"""

from __future__ import annotations

import ast
import collections
import itertools
import operator
import types
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from transkern.frontend.context import Context
from transkern.frontend.values import classes, doubts
from transkern.frontend.values.asking import raised, told
from transkern.frontend.values.large import is_large
from transkern.frontend.values.values import (
    Array,
    Char,
    Concatenation,
    Dict,
    Function,
    GrowingList,
    Hashed,
    Iterated,
    JoinedText,
    Known,
    Method,
    OneOf,
    Range,
    Record,
    Row,
    Scalar,
    Seq,
    Slice,
    Static,
    Text,
    Value,
    View,
)
from transkern.ir import build as b

SYMBOLS = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "floor_divide": "//", "remainder": "%",
    "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^", "left_shift": "<<", "right_shift": ">>",
}  # fmt: skip
"""The operators of which Python has a sign for two numbers, by the names of NumPy's functions."""

BINARY: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "add": (operator.add, operator.iadd), "subtract": (operator.sub, operator.isub),
    "multiply": (operator.mul, operator.imul), "divide": (operator.truediv, operator.itruediv),
    "floor_divide": (operator.floordiv, operator.ifloordiv), "remainder": (operator.mod, operator.imod),
    "power": (operator.pow, operator.ipow), "matmul": (operator.matmul, operator.imatmul),
    "bitwise_and": (operator.and_, operator.iand), "bitwise_or": (operator.or_, operator.ior),
    "bitwise_xor": (operator.xor, operator.ixor), "left_shift": (operator.lshift, operator.ilshift),
    "right_shift": (operator.rshift, operator.irshift),
}  # fmt: skip
"""Python's operators by the ufunc of each: plain, and in place."""
UNARY: dict[str, Callable[[Any], Any]] = {
    "negative": operator.neg, "positive": operator.pos, "invert": operator.invert,
}  # fmt: skip
COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip
_NUMBERS: dict[str, Any] = {"index": 1, "float64": 1.0, "complex128": 1j, "bool": True}
_SEQUENCES: dict[str, Callable[[], Any]] = {
    "list": lambda: [1], "tuple": lambda: (1,), "set": set, "dict_keys": lambda: {}.keys(),
    "dict_values": lambda: {}.values(), "dict_items": lambda: {}.items(),
}  # fmt: skip
"""Made anew each time: `operator.imul` makes its list twice as long."""
_ITERATORS: dict[type, Callable[[], Any]] = {
    types.GeneratorType: lambda: (None for _ in range(0)), map: lambda: map(len, ()), filter: lambda: filter(None, ()),
    zip: zip, enumerate: lambda: enumerate(()), itertools.product: itertools.product,
    itertools.combinations: lambda: itertools.combinations((), 1),
    itertools.permutations: lambda: itertools.permutations(()),
    itertools.combinations_with_replacement: lambda: itertools.combinations_with_replacement((), 1),
    itertools.accumulate: lambda: itertools.accumulate(()), itertools.chain: itertools.chain,
    itertools.compress: lambda: itertools.compress((), ()), itertools.groupby: lambda: itertools.groupby(()),
    itertools.dropwhile: lambda: itertools.dropwhile(bool, ()), itertools.islice: lambda: itertools.islice((), 0),
    itertools.filterfalse: lambda: itertools.filterfalse(None, ()), itertools.pairwise: lambda: itertools.pairwise(()),
    itertools.starmap: lambda: itertools.starmap(len, ()), itertools.zip_longest: lambda: itertools.zip_longest((), ()),
    itertools.takewhile: lambda: itertools.takewhile(bool, ()),
}  # fmt: skip
_UNKNOWN = object()


def is_array(value: Value) -> bool:
    """Whether it is an array, also one without axes."""
    held = value.value if isinstance(value, Static) else value
    return isinstance(held, (Array, Concatenation, np.ndarray))


def is_numpy(value: Value) -> bool:
    """Whether it is an array or a number of NumPy's."""
    number = isinstance(value, Static) and isinstance(value.value, np.generic)
    return is_array(value) or number or (isinstance(value, Scalar) and not value.python)


def example(ctx: Context, value: Value) -> Any:
    """A value of the type of this one; `_UNKNOWN` where it is an array, or of a type that is not known here."""
    match ctx.deref(value):
        case Known(path):
            found = classes.named_object(path)
            return _UNKNOWN if found is None else found
        case Scalar(expr, False):
            return np.ones((), "int64" if expr.dtype == "index" else expr.dtype)[()]
        case Static(np.generic() as number):
            return np.ones((), number.dtype)[()]
        case Static(None):
            return None
        case Static(bool() | int() | float() | complex() as number) if type(number) in (bool, int, float, complex):
            return number if is_large(value) else type(number)(1)
        case Static(str() as text):
            return text
        case Text() | JoinedText() | Char() | OneOf(options=(str(), *_)):
            return "a"
        case Scalar(expr, True) if expr.dtype in _NUMBERS:
            return _NUMBERS[expr.dtype]
        case Seq(kind="set", frozen=True):
            return frozenset()
        case Seq(_, kind):
            return _SEQUENCES[kind]() if kind in _SEQUENCES else _UNKNOWN
        case GrowingList() as owner:
            return collections.deque([1]) if owner.is_queue else (1,) if owner.kind == "tuple" else [1]
        case Row(rows):
            return "a" if rows.kind == "text" else (1,) if rows.kind == "tuple" else [1]
        case Dict():
            return {}
        case Hashed(kind="set", frozen=frozen):
            return frozenset() if frozen else set()
        case Hashed(of=of) if of is not None:
            return of()
        case Hashed(default=default):
            return {} if default is None else collections.defaultdict()
        case Record(kind) as record if record.is_tuple:
            return tuple.__new__(kind, [1] * len(record.items))
        case Range():
            return range(1)
        case Slice():
            return slice(None)
        case Function():
            return _function
        case Iterated(kind):
            return _ITERATORS[kind]() if kind in _ITERATORS else _UNKNOWN
        case View(_, name):
            return getattr({}, name)()
        case Method(Seq(), "zip" | "enumerate" as name):
            return _ITERATORS[zip if name == "zip" else enumerate]()
        case Method(inner, "reversed"):
            found = example(ctx, inner)
            return _UNKNOWN if found is _UNKNOWN else reversed(found)
        case _:
            return _UNKNOWN


def _function() -> None:
    """What stands for functions."""


def check(ctx: Context, asked: Callable[..., Any], *values: Value) -> None:
    """The TypeError where there is no such operation for values of these types, none of which is an array."""

    def refusal(values: Sequence[Value]) -> tuple[str, str] | None:
        examples = [example(ctx, v) for v in values]
        if any(e is _UNKNOWN for e in examples):
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                asked(*examples)
            except TypeError as error:
                return told(error)
            except Exception:  # of the examples: what the values themselves do is seen where they are computed with
                return None
        return None

    if (found := doubts.certain(ctx, values, refusal, "an operation with")) is not None:
        ctx.guard(b.FALSE, *found)


def check_item(ctx: Context, asked: Callable[[Any, Any], Any], owner: Value, item: Value) -> None:
    """The TypeError where values of this type have no items to be `asked` for, or none by such a subscript; what keys a
    dict may have, is seen where they are looked up."""
    if not isinstance(owner, Dict) and not (isinstance(owner, Hashed) and owner.kind == "dict"):
        check(ctx, asked, owner, item)


def check_attribute(ctx: Context, value: Value, name: str) -> None:
    """Python's AttributeError where values of this type have no attribute of the name."""
    if isinstance(value, (Known, Function)) or value == Static(None):
        return
    found = example(ctx, value)
    if found is _UNKNOWN:
        return
    try:
        getattr(found, name)
    except AttributeError as error:
        raised(ctx, error)


def known_set(value: Value) -> set[Any] | frozenset[Any] | None:
    """The set that a value is, where all its elements are known."""
    if not isinstance(value, Seq) or value.kind != "set" or not all(isinstance(i, Static) for i in value.items):
        return None
    return (frozenset if value.frozen else set)(i.value for i in value.items if isinstance(i, Static))


_FAMILIES: tuple[tuple[type, ...], ...] = (
    (bool, int, float, complex), (str,), (list,), (tuple,), (dict,), (set, frozenset), (range,), (slice,),
    (collections.deque,), (type(None),), (type(_function),),
)  # fmt: skip


def are_of_different_families(ctx: Context, one: Value, two: Value) -> bool:
    """Whether no two values of these types are equal."""
    if is_numpy(one) or is_numpy(two):
        return False
    found = [example(ctx, v) for v in (one, two)]
    families = [next((k for k, kinds in enumerate(_FAMILIES) if isinstance(e, kinds)), None) for e in found]
    return None not in families and families[0] != families[1]
