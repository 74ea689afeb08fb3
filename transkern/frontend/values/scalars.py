"""The numbers that values are, as expressions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from transkern import refusals
from transkern.frontend.context import Context
from transkern.frontend.values import large
from transkern.frontend.values.describing import describe, instead
from transkern.frontend.values.numbers import static_dtype, type_name
from transkern.frontend.values.values import Array, OrNone, Scalar, Static, Value
from transkern.ir import build as b
from transkern.ir.expr import Apply, Const, Expr

_NUMBER = "write a number there: of an array one of its elements, or x.sum()"


def static_expr(ctx: Context, value: Any) -> Const:
    """A Python or NumPy number as a constant of its own type."""
    dtype = static_dtype(value)
    if isinstance(value, np.generic):
        return Const(value.item(), dtype)
    return large.whole(ctx, int(value)) if dtype == "index" else Const(value, dtype)  # an enum's member, too


def present(ctx: Context, value: Value, error: str = "TypeError", message: str = "") -> Value:
    """`value` where it is used as something that is not None: Python's error where it is."""
    if not isinstance(value, OrNone):
        return value
    if not message:  # what Python or NumPy make of None there
        error, message = "RuntimeError", "this is None here, where a value is needed, which is not compiled"
    ctx.guard(b.logical_not(value.none), error, message)
    return value.value


def ordered(ctx: Context, symbol: str, x: Value, y: Value) -> tuple[Value, Value]:
    """Two values of which Python asks which is first: its error where one is None."""
    if not isinstance(x, OrNone) and not isinstance(y, OrNone):
        return x, y
    sides = [(v.value, v.none) if isinstance(v, OrNone) else (v, b.FALSE) for v in (x, y)]
    names, nones = [type_name(v) for v, _ in sides], [none for _, none in sides]
    cases = ((b.both(*nones), (0, 1)), (nones[0], (0,)), (nones[1], (1,)))
    for holds, absent in cases:
        if holds != b.FALSE:
            shown = ["NoneType" if k in absent else name for k, name in enumerate(names)]
            text = f"'{symbol}' not supported between instances of '{shown[0]}' and '{shown[1]}'"
            ctx.guard(b.logical_not(holds), "TypeError", text)
    return sides[0][0], sides[1][0]


def scalar_expr(ctx: Context, value: Value) -> Expr:
    """The expression of a scalar value (an array without dims counts)."""
    value = present(ctx, value)
    match value:
        case Static(v) if isinstance(v, (bool, int, float, complex, np.generic)):
            return static_expr(ctx, v)
        case Scalar(expr):
            return expr
        case Array(axes=(), body=body):
            return body
        case Array(axes=axes, mask=None) if all(b.constant(a.extent) == 1 for a in axes):
            return value.at(tuple(b.ZERO for _ in axes))
        case _:
            ctx.fail(refusals.NEEDED, f"a number is needed here, not {describe(value)}", instead(value, _NUMBER))


def select(position: Expr, elements: Sequence[Expr]) -> Expr:
    """The element at a position in a short list."""
    value = elements[-1]
    for at in range(len(elements) - 2, -1, -1):
        value = b.where(b.compare("equal", position, b.index(at)), elements[at], value)
    return value


def nonzero(expr: Expr) -> Expr:
    """``expr != 0``."""
    if expr.dtype == "bool":
        return expr
    if expr.dtype == "index":
        return b.compare("not_equal", expr, b.ZERO)
    zero: Any = 0 if expr.dtype.startswith(("int", "uint")) else 0.0
    return Apply("not_equal", (expr, Const(zero, expr.dtype)), "bool")
