"""Operators and comparisons of objects whose classes say what they mean: `__add__`, `__radd__`, `__lt__`, …

    p + q   ->   P.__add__(p, q), else Q.__radd__(q, p)
"""

from __future__ import annotations

import dataclasses

import numpy as np

from transkern import refusals
from transkern.frontend.containers import pools
from transkern.frontend.context import Context
from transkern.frontend.python.truth import truth
from transkern.frontend.python.whole import python_number
from transkern.frontend.translate.special_methods import called, class_of, method
from transkern.frontend.values.values import (
    Array,
    Concatenation,
    Instance,
    OrNone,
    Record,
    Scalar,
    Seq,
    Static,
    Value,
)
from transkern.ir import build as b

_BINARY = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv", "floor_divide": "floordiv",
    "remainder": "mod", "power": "pow", "bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor",
    "left_shift": "lshift", "right_shift": "rshift", "matmul": "matmul",
}  # fmt: skip
_UNARY = {"negative": "__neg__", "positive": "__pos__", "invert": "__invert__"}
_ORDER = {
    "less": ("__lt__", "__gt__"), "less_equal": ("__le__", "__ge__"), "greater": ("__gt__", "__lt__"),
    "greater_equal": ("__ge__", "__le__"), "equal": ("__eq__", "__eq__"), "not_equal": ("__ne__", "__ne__"),
}  # fmt: skip


def _handed(ctx: Context, value: Value) -> Value:
    """The left operand as the right one's method gets it: NumPy makes a number of Python's of one of its own."""
    if isinstance(value, Scalar) and not value.python:
        return python_number(ctx, value)
    return Static(value.value.item()) if isinstance(value, Static) and isinstance(value.value, np.generic) else value


def _reflected(ctx: Context, name: str, x: Value, y: Value) -> Value | None:
    bound = method(ctx, y, name)
    if bound is None:
        return None
    held = ctx.deref(x)
    if isinstance(held, (Array, Concatenation)) and (not isinstance(held, Array) or held.ndim):
        ctx.fail(refusals.OBJECT, "an operator between an array and an object", "call the object's method")
    held = Scalar(held.body) if isinstance(held, Array) else x
    given = _handed(ctx, held)
    if given is not held and any(method(ctx, y, n) for n in ("__len__", "__getitem__")):
        problem = "an operator between NumPy's number and an object that is a sequence"
        ctx.fail(refusals.OBJECT, problem, "call the object's method")
    return called(ctx, bound, given)


def binary(ctx: Context, op: str, x: Value, y: Value) -> Value | None:
    """An operator of two operands, of which one is an object with a method for it; None where none is."""
    stem = _BINARY[op]
    one, two = class_of(ctx, x), class_of(ctx, y)
    if one is not two and one is not object and issubclass(two, one):  # the derived class is asked first
        made = _reflected(ctx, f"__r{stem}__", x, y)
        if made is not None:
            return made
    bound = method(ctx, x, f"__{stem}__")
    if bound is not None:
        return called(ctx, bound, y)
    return _reflected(ctx, f"__r{stem}__", x, y)


def in_place_name(op: str) -> str:
    return f"__i{_BINARY[op]}__"


def in_place(ctx: Context, op: str, x: Value, y: Value) -> Value | None:
    """``x += y`` by `__iadd__`."""
    bound = method(ctx, x, in_place_name(op))
    return None if bound is None else called(ctx, bound, y)


def unary(ctx: Context, op: str, x: Value) -> Value | None:
    bound = method(ctx, x, _UNARY[op])
    return None if bound is None else called(ctx, bound)


def compared(ctx: Context, op: str, x: Value, y: Value) -> Value | None:
    """A comparison by `__eq__`, `__lt__`, …; of objects whose class has none by what they are."""
    own, other = _ORDER[op]
    for name, one, two in ((own, x, y), (other, y, x)):
        bound = method(ctx, one, name)
        if bound is not None:
            return called(ctx, bound, _handed(ctx, two) if one is y else two)
    if op == "not_equal":
        equal = compared(ctx, "equal", x, y)
        if equal is None:
            return None
        holds = truth(ctx, equal)
        if isinstance(holds, Static):
            return Static(not holds.value)
        assert isinstance(holds, Scalar)
        return Scalar(b.logical_not(holds.expr), True)
    held = [v.value if isinstance(v, OrNone) and isinstance(v.value, Instance) else v for v in (x, y)]
    if op != "equal" or not all(_by_identity(ctx, v) for v in held):
        return None
    told = pools.same(x, y)
    return Static(x == y) if told is None else told


def fields_compared(op: str, x: Value, y: Value) -> tuple[Value, Value]:
    """Of objects of one dataclass, whose comparison it makes, the tuples that are compared; anything else as it is."""
    if not (isinstance(x, Record) and isinstance(y, Record) and x.kind is y.kind and dataclasses.is_dataclass(x.kind)):
        return x, y
    options = x.kind.__dataclass_params__  # type: ignore[attr-defined]
    if not (options.eq if op in ("equal", "not_equal") else options.order):
        return x, y
    names = [field.name for field in dataclasses.fields(x.kind) if field.compare]
    one, two = ([record.get(name) for name in names] for record in (x, y))
    if None in one or None in two:
        return x, y
    return Seq(tuple(v for v in one if v)), Seq(tuple(v for v in two if v))


def _by_identity(ctx: Context, value: Value) -> bool:
    """Whether it is an object that equals itself only."""
    contents = ctx.deref(value)
    return (
        isinstance(contents, Record) and contents is not value and not contents.is_tuple
        and not dataclasses.is_dataclass(contents.kind)
        and not any("__eq__" in vars(kind) for kind in contents.kind.__mro__[:-1])
    )  # fmt: skip
