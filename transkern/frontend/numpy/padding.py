"""`np.pad`: for each position of the result, the position that it takes its value from."""

from __future__ import annotations

from collections.abc import Sequence

from transkern import refusals
from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import as_array
from transkern.frontend.numpy.library_calls import stored
from transkern.frontend.python.whole import integer_expr
from transkern.frontend.subscripts.storable import storable
from transkern.frontend.translate.arguments import Arguments, handles
from transkern.frontend.values.scalars import scalar_expr
from transkern.frontend.values.values import Array, Scalar, Seq, Static, Value
from transkern.ir import build as b
from transkern.ir.expr import Axis, Expr

_MODES = ("constant", "empty", "edge", "reflect", "symmetric", "wrap")


@handles("numpy.pad", names="array pad_width mode constant_values reflect_type")
def _pad(ctx: Context, a: Arguments) -> Value:
    value = stored(ctx, a.array("array"), "unpadded")
    mode = a.text("mode", "constant")
    if mode not in _MODES:
        ctx.fail(refusals.OPTION, f"np.pad with mode={mode!r}", f"supported: {', '.join(_MODES)}")
    if a.text("reflect_type", "even") != "even":
        help = "pad with 'even', or with zeros, and compute the rest"
        ctx.fail(refusals.OPTION, "np.pad with reflect_type='odd'", help)
    if not as_array(ctx, a.need("pad_width")).dtype.startswith(("int", "index")):
        ctx.guard(b.FALSE, "TypeError", "`pad_width` must be of integral type.")
    given = _pairs(ctx, a.need("pad_width"), max(value.ndim, 1))  # a number's, too, are looked at
    widths = [tuple(integer_expr(ctx, w) for w in pair) for pair in given]
    for pair in widths:
        for w in pair:
            if not b.is_nonnegative(w):
                ctx.guard(b.compare("greater_equal", w, b.ZERO), "ValueError", "index can't contain negative values")
    sizes = [tuple(w if b.is_nonnegative(w) else ctx.extent(w) for w in pair) for pair in widths[: value.ndim]]
    axes = ctx.names.axes(
        tuple(b.add(b.add(n, before), after) for n, (before, after) in zip(value.dims, sizes, strict=True))
    )
    if mode in ("constant", "empty"):
        fill = a.get("constant_values") or Static(0)
        return _constant(ctx, value, axes, sizes, _pairs(ctx, fill, value.ndim))
    at: list[Expr] = []
    for d, (axis, (before, after)) in enumerate(zip(axes, sizes, strict=True)):
        n = value.dims[d]
        if b.constant(before) == 0 and b.constant(after) == 0:
            at.append(axis.var)
            continue
        none = b.both(b.compare("equal", before, b.ZERO), b.compare("equal", after, b.ZERO))
        ctx.guard(
            b.either(b.compare("greater", n, b.ZERO), none),
            "ValueError", f"can't extend empty axis {d} using modes other than 'constant' or 'empty'",
        )  # fmt: skip
        at.append(_source(mode, b.sub(axis.var, before), n))
    return Array(axes, value.at(tuple(at)))


def _pairs(ctx: Context, value: Value, ndim: int) -> list[tuple[Value, Value]]:
    """``(before, after)`` for each axis of what `np.pad` takes for that."""
    if not isinstance(value, Seq):
        return [(value, value)] * ndim
    items = list(value.items)
    if items and all(isinstance(i, Seq) for i in items):
        pairs = [tuple(i.items) for i in items]  # type: ignore[union-attr, arg-type]
        pairs = [p * 2 if len(p) == 1 else p for p in pairs]
        pairs = pairs * ndim if len(pairs) == 1 else pairs
    else:
        pairs = [tuple(items * 2 if len(items) == 1 else items)] * ndim
    if len(pairs) != ndim or any(len(p) != 2 for p in pairs):
        help = "give one number, one pair, or a pair for each axis"
        ctx.fail(refusals.WRONG_ARGUMENTS, "np.pad: the widths do not fit the array", help)
    return [(p[0], p[1]) for p in pairs]


def _constant(
    ctx: Context, value: Array, axes: Sequence[Axis], sizes: Sequence[tuple[Expr, ...]],
    fill: Sequence[tuple[Value, Value]],
) -> Array:  # fmt: skip
    """Where axes meet in a corner, the last one has its value there, as NumPy fills one axis after the other."""
    at = [b.sub(x.var, before) for x, (before, _) in zip(axes, sizes, strict=True)]
    body = value.at(tuple(at))
    for d, (axis, (before, after)) in enumerate(zip(axes, sizes, strict=True)):
        low, high = (_fill(ctx, v, value.dtype) for v in fill[d])
        if b.constant(after) != 0:
            body = b.where(b.compare("less", at[d], value.dims[d]), body, high)
        if b.constant(before) != 0:
            body = b.where(b.compare("less", axis.var, before), low, body)
    return Array(tuple(axes), body)


def _fill(ctx: Context, given: Value, dtype: str) -> Expr:
    """A value that goes all along an edge: a NumPy number, which is stored."""
    number = scalar_expr(ctx, as_array(ctx, given))
    return b.cast(storable(ctx, Scalar(number), number, dtype, True), dtype)


def _source(mode: str, at: Expr, n: Expr) -> Expr:
    """The position within ``range(n)`` that a position before, in or behind it is a copy of."""
    top = b.sub(n, b.ONE)
    match mode:
        case "edge":
            return b.minimum(b.maximum(at, b.ZERO), top)
        case "wrap":
            return b.mod(at, n)
        case "symmetric":
            period = b.mul(b.index(2), n)
            rest = b.mod(at, period)
            return b.where(b.compare("less", rest, n), rest, b.sub(b.sub(period, b.ONE), rest))
        case _:
            period = b.maximum(b.mul(b.index(2), top), b.ONE)
            rest = b.mod(at, period)
            return b.where(b.compare("less", rest, n), rest, b.sub(period, rest))
