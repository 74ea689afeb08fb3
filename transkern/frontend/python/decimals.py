"""``round(x, digits)`` of Python's floats: the float nearest to that decimal number with so many digits that is nearest
to `x`, and of two as near to it the one whose last digit is even."""

from __future__ import annotations

from transkern.frontend.context import Context
from transkern.ir import build as b
from transkern.ir.expr import Apply, Const, Expr

MOST_DIGITS = 22
"""The greatest power of ten that a float64 is."""
_SPLITTER = 134217729.0  # 2**27 + 1: a float64 as two whose products with others of such halves are exact
_WHOLE = 2.0**53  # from here on, floats times the power are further apart than what rounding may change


def rounded_to(ctx: Context, x: Expr, digits: int) -> Expr:
    """`x` is a float64, times a power of ten that is one, too: Dekker's product has what the product itself lacks, so
    that ties are told from what is next to them; the quotient of two exact numbers is the nearest float."""
    scale = 10.0**digits
    x = ctx.let(x, "rounded")
    product = ctx.let(_of("multiply", x, _float(scale)), "scaled")
    lost = ctx.let(_lost(ctx, x, scale, product), "lost")
    whole = ctx.let(_of("rint", product), "whole")
    apart = ctx.let(_of("subtract", product, whole), "apart")
    nothing, one, half = _float(0.0), _float(1.0), _float(0.5)
    up = b.both(b.compare("equal", apart, half), b.compare("greater", lost, nothing))
    down = b.both(b.compare("equal", apart, _float(-0.5)), b.compare("less", lost, nothing))
    # a product beyond 2**52 is whole itself: what it lacks may be half of one
    halved = _of("multiply", whole, half)
    odd = b.compare("not_equal", halved, _of("floor", halved))
    between = b.both(b.compare("equal", _of("absolute", lost), half), odd)
    nearest = b.where(up, _of("add", whole, one), b.where(down, _of("subtract", whole, one), whole))
    nearest = b.where(between, _of("add", whole, _of("multiply", lost, _float(2.0))), nearest)
    decides = b.compare("less", _of("absolute", product), _float(_WHOLE))  # of infinities and NaN it does not
    return b.where(decides, _of("divide", nearest, _float(scale)), x)


def _lost(ctx: Context, x: Expr, scale: float, product: Expr) -> Expr:
    """What rounding has taken from a product, exactly."""
    spread = _SPLITTER * scale
    scale_high = spread - (spread - scale)
    scale_low = scale - scale_high
    stretched = ctx.let(_of("multiply", x, _float(_SPLITTER)), "stretched")
    high = ctx.let(_of("subtract", stretched, _of("subtract", stretched, x)), "high")
    low = ctx.let(_of("subtract", x, high), "low")
    rest = _of("subtract", product, _of("multiply", high, _float(scale_high)))
    rest = _of("subtract", rest, _of("multiply", low, _float(scale_high)))
    rest = _of("subtract", rest, _of("multiply", high, _float(scale_low)))
    return _of("subtract", _of("multiply", low, _float(scale_low)), rest)


def _of(op: str, *args: Expr) -> Expr:
    return Apply(op, args, "float64")


def _float(value: float) -> Const:
    return Const(value, "float64")
