"""Python's classes: which one a value is of, and which one a name stands for."""

from __future__ import annotations

import enum
import functools
import types
from typing import Any

import numpy as np

from transkern import refusals
from transkern.frontend.context import Context
from transkern.frontend.sources import identity
from transkern.frontend.values import doubts
from transkern.frontend.values.describing import describe
from transkern.frontend.values.values import (
    Array,
    Bound,
    Char,
    Concatenation,
    Dict,
    Flags,
    Flat,
    Function,
    Generator,
    GrowingList,
    Hashed,
    Instance,
    Iterated,
    JoinedText,
    Known,
    Method,
    OneOf,
    OrNone,
    Partial,
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
from transkern.ir.expr import Const

_NUMBERS: dict[str, type] = {"index": int, "int64": int, "float64": float, "bool": bool, "complex128": complex}
"""Of Python, by the type that they are computed in."""
_SEQUENCES: dict[str, type] = {"tuple": tuple, "list": list, "set": set, "dict": dict}


def is_plain_enum(kind: object) -> bool:
    """Whether a name stands for an enum that looks up its members as Python's do."""
    if not isinstance(kind, type) or type(kind) is not enum.EnumType or not list(kind):
        return False
    made = (c for c in kind.__mro__ if c.__module__ not in ("enum", "builtins"))
    return not any(name in vars(c) for c in made for name in ("_missing_", "__class_getitem__", "__getattr__"))


def object_at(value: Value) -> object | None:
    """The class, or the dtype, that a value stands for; None where it is something else."""
    match value:
        case Static(np.dtype() | type() | types.UnionType() as found):
            return found
        case Known(path) if isinstance(named := named_object(path), type):
            return named
    return None


def named_object(path: str) -> object | None:
    """The function, class or module of Python's library or NumPy that a path names, of what has been imported."""
    return identity.resolved(path) if identity.is_known_library(path) else None


def class_of(value: Value) -> type | None:
    """The class of a value (of what an object's token stands for), where it is known."""
    match value:
        case Generator(legacy=legacy):
            return np.random.RandomState if legacy else np.random.Generator
        case Array() | Concatenation():
            return np.ndarray
        case Static(found):
            return type(found)
        case Scalar(expr, True):
            return _NUMBERS[expr.dtype]
        case Scalar(expr, False):
            return np.dtype(expr.dtype).type
        case Seq(kind=kind, frozen=frozen):
            return frozenset if frozen else _SEQUENCES.get(kind)
        case GrowingList(kind=kind):
            return _SEQUENCES[kind]
        case Row(rows):
            return str if rows.kind == "text" else _SEQUENCES[rows.kind or "list"]
        case Hashed():
            return (frozenset if value.frozen else set) if value.kind == "set" else value.of or dict
        case Dict():
            return dict
        case Record(kind=kind):
            return kind
        case Text() | JoinedText() | Char():
            return str
        case OneOf(options=options) if len(kinds := {type(v) for v in options}) == 1:
            return kinds.pop()
        case Range():
            return range
        case Flat():
            return np.flatiter
        case Flags():
            return type(np.empty(0).flags)
        case Iterated(kind):
            return kind
        case View(_, name):
            return type(getattr({}, name)())
        case Method(Seq(), "zip" | "enumerate" as name):
            return zip if name == "zip" else enumerate
        case Slice():
            return slice
        case Function():
            return types.FunctionType
        case Bound():
            return types.MethodType
        case Partial():
            return functools.partial
        case Known(path) if (named := named_object(path)) is not None:
            return type(named)
        case _:
            return None


def is_instance(ctx: Context, value: Value, wanted: tuple[Any, ...], asking: str = "isinstance") -> Value:
    """Whether a value is of one of some classes: at run time, of a number whose type is decided there, and of what may
    be None. `asking` is who wants to know."""

    def is_one(value: Value) -> bool:
        kind = value.pool.kind if isinstance(value, Instance) else class_of(value)
        if kind is None:
            help = "classes are known of numbers, arrays, texts, lists, dicts and objects"
            ctx.fail(refusals.OPERANDS, f"`{asking}` of {describe(value)}", help)
        return issubclass(kind, wanted)

    if isinstance(value, OneOf) and class_of(value) is None:
        holds = value.where(lambda option: isinstance(option, wanted))
        return Static(bool(holds.value)) if isinstance(holds, Const) else Scalar(holds, True)
    if not isinstance(value, OrNone):
        found = doubts.whether(ctx, value, is_one, f"`{asking}` of")
        return Static(found) if isinstance(found, bool) else Scalar(found, True)
    told, none = is_instance(ctx, ctx.deref(value.value), wanted, asking), issubclass(type(None), wanted)
    if told == Static(none):
        return told
    holds = told.expr if isinstance(told, Scalar) else b.FALSE if none else b.TRUE
    return Scalar(b.either(value.none, holds) if none else b.both(b.logical_not(value.none), holds), True)
