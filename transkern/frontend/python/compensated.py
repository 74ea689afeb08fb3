"""Python's `sum` of floats, which from 3.12 on carries along what each addition has lost (Neumaier's summation).

CPython's `builtin_sum_impl`: as long as the sum is a float and so is what is added, both exactly of that type, the low
bits that the addition drops go to a second sum, which is added at the end, or before the first item of another type.
"""

from __future__ import annotations

import sys
from math import isfinite

from transkern.frontend.context import Context
from transkern.frontend.numpy.elementwise import apply
from transkern.frontend.translate.arguments import Arguments, handles
from transkern.frontend.values.scalars import scalar_expr
from transkern.frontend.values.values import Scalar, Seq, Static, Value
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Var

IS_COMPENSATED = sys.version_info >= (3, 12)
"""Whether this Python does so."""
ADDITION = "transkern.compensated_addition"
"""The path of `added` as a function of the language."""


def added(ctx: Context, total: Value, lost: Value, item: Value) -> tuple[Value, Value]:
    """The sum with an item, and what has been lost by now."""
    total, item = ctx.deref(total), ctx.deref(item)
    if not IS_COMPENSATED or not is_float(total):
        return apply(ctx, "add", [total, item], operator_call=True), lost
    if isinstance(total, Static) and isinstance(item, Static) and isinstance(lost, Static) and is_float(item):
        x, y = total.value, item.value
        z = x + y
        return Static(z), Static(lost.value + ((x - z) + y if abs(x) >= abs(y) else (y - z) + x))
    if is_float(item):
        one, two = ctx.let(scalar_expr(ctx, total), "total"), ctx.let(scalar_expr(ctx, item), "item")
        made = ctx.let(_do("add", one, two), "total")
        larger = Apply("greater_equal", (_do("absolute", one), _do("absolute", two)), "bool")
        dropped = b.where(
            larger, _do("add", _do("subtract", one, made), two), _do("add", _do("subtract", two, made), one)
        )
        return Scalar(made, True), Scalar(ctx.let(_do("add", scalar_expr(ctx, lost), dropped), "lost"), True)
    if not _is_int(item):  # what has been lost counts before an item of another type
        total, lost = completed(ctx, total, lost), Static(0.0)
    return apply(ctx, "add", [total, item], operator_call=True), lost


def completed(ctx: Context, total: Value, lost: Value) -> Value:
    """The sum with what its additions have lost: nothing that would make NaN of infinity, or 0.0 of -0.0."""
    if lost == Static(0.0) or not is_float(ctx.deref(total)):
        return total
    if isinstance(lost, Static) and isinstance(total, Static):
        return Static(total.value + lost.value) if isfinite(lost.value) else total
    one, rest = scalar_expr(ctx, total), ctx.let(scalar_expr(ctx, lost), "lost")
    counts = b.both(
        Apply("not_equal", (rest, Const(0.0, "float64")), "bool"), Apply("isfinite", (rest,), "bool")
    )
    total = ctx.deref(total)
    if isinstance(total, Scalar) and total.doubt is not None and isinstance(one, Var):
        # Without an iteration it is the integer 0: what is known of that stays with the variable.
        ctx.emit(n.If(counts, (n.Assign(one.name, _do("add", one, rest)),), ()))
        return total
    return Scalar(ctx.let(b.where(counts, _do("add", one, rest), one), "total"), True)


@handles(ADDITION, names="total lost item")
def _added(ctx: Context, a: Arguments) -> Value:
    return Seq(added(ctx, a.need("total"), a.need("lost"), a.need("item")), "tuple")


def is_float(value: Value) -> bool:
    """Whether a value is one of Python's floats, exactly."""
    if isinstance(value, Static):
        return type(value.value) is float
    return isinstance(value, Scalar) and value.python and value.dtype == "float64"


def _is_int(value: Value) -> bool:
    if isinstance(value, Static):
        return isinstance(value.value, int)
    return isinstance(value, Scalar) and value.python and value.dtype in ("index", "bool")


def _do(op: str, *args: Expr) -> Expr:
    return Apply(op, args, "float64")
