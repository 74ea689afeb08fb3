"""Python's integers made of other numbers, as `int`, `round` and `math.floor` make them."""

from __future__ import annotations

from transkern.frontend.context import Context
from transkern.frontend.values import Scalar
from transkern.ir import build as b
from transkern.ir.expr import Apply, Const, Expr

TOO_LARGE = "Python int too large for compiled code, where it has 64 bits"
"""Python's integers know no limit: what needs more bits must not go on as another number."""


def to_integer(ctx: Context, expr: Expr, rounding: str = "") -> Scalar:
    """``int(x)``, or of ``rint(x)``, ``floor(x)``, …, with Python's errors for NaN and infinities."""
    if expr.dtype == "uint64":
        expr = ctx.let(expr, "x")
        ctx.guard(Apply("less_equal", (expr, Const(2**63 - 1, "uint64")), "bool"), "OverflowError", TOO_LARGE)
    if not expr.dtype.startswith("float"):
        return Scalar(b.as_index(expr), True)
    held = ctx.let(expr, "x")
    text = "cannot convert float {} to integer"
    ctx.guard(b.logical_not(Apply("isnan", (held,), "bool")), "ValueError", text.format("NaN"))
    ctx.guard(b.logical_not(Apply("isinf", (held,), "bool")), "OverflowError", text.format("infinity"))
    if expr.dtype != "float16":
        low, high = Const(-(2.0**63), expr.dtype), Const(2.0**63, expr.dtype)
        fits = b.both(Apply("greater_equal", (held, low), "bool"), Apply("less", (held, high), "bool"))
        ctx.guard(fits, "OverflowError", TOO_LARGE)
    return Scalar(b.cast(Apply(rounding, (held,), held.dtype) if rounding else held, "index"), True)
