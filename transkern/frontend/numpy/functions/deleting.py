"""Arrays without some of their elements: ``np.delete``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import as_array
from transkern.frontend.numpy.functions.selecting import is_one_element
from transkern.frontend.numpy.shaping import reshape, transpose
from transkern.frontend.numpy.sizes import constant_axis, normal_axis
from transkern.frontend.python.whole import integer_expr
from transkern.frontend.subscripts.arrays import array_item, positions, scalar_position
from transkern.frontend.subscripts.slices import settle_slice
from transkern.frontend.subscripts.storing import write
from transkern.frontend.translate.arguments import Arguments, handles
from transkern.frontend.values.numbers import is_number
from transkern.frontend.values.values import Array, Concatenation, Range, Scalar, Seq, Slice, Static, Value
from transkern.ir import build as b
from transkern.ir.expr import Apply, Const, Expr


@handles("numpy.delete", names="arr obj axis")
def _delete(ctx: Context, a: Arguments) -> Value:
    value = a.array("arr")
    axis_given = a.get("axis")
    if axis_given is None and value.ndim != 1:
        value = reshape(ctx, value, [Static(-1)])
    value = ctx.kept(value)
    axis = 0 if axis_given is None else normal_axis(ctx, constant_axis(ctx, axis_given), value.ndim)
    if axis != 0:
        moved = [axis, *[d for d in range(value.ndim) if d != axis]]
        value = transpose(ctx, value, moved)
    removed = a.need("obj")
    if isinstance(removed, Slice):
        removed = array_item(ctx, as_array(ctx, Range(b.ZERO, value.dims[0], b.ONE)), [removed])
    _check_removed(ctx, removed, value.dims[0])
    match removed:
        case Seq((Array() as only,), "tuple" | "list") if only.dtype != "bool":  # a further axis changes nothing
            removed = only
        case _:
            pass
    if isinstance(removed, Static) and isinstance(removed.value, slice):
        removed = _positions(ctx, removed.value, value.dims[0])
    pieces = removed.pieces if isinstance(removed, Concatenation) else (
        (removed,) if isinstance(removed, Scalar) or is_number(removed) else (positions(ctx, removed),)
    )  # fmt: skip
    result = _without(ctx, value, pieces, axis)
    if axis == 0:
        return result
    stored = ctx.kept(result)
    back = [*range(1, axis + 1), 0, *range(axis + 1, value.ndim)]
    return transpose(ctx, stored, back)


def _check_removed(ctx: Context, removed: Value, extent: Expr) -> None:
    """That positions are integers, and a mask is one of the axis."""
    if not (isinstance(removed, (Scalar, Array, Seq)) or is_number(removed)):
        return
    if isinstance(removed, Seq) and (not removed.items or any(isinstance(i, Array) and i.ndim for i in removed.items)):
        return
    dtype = as_array(ctx, removed).dtype
    if dtype.startswith(("float", "complex")):
        ctx.guard(b.FALSE, "IndexError", "arrays used as indices must be of integer (or boolean) type")
    if dtype == "bool":
        mask = ctx.kept(as_array(ctx, removed))
        text = "boolean array argument obj to delete must be one dimensional and match the axis length of {}"
        fits = b.compare("equal", mask.dims[0], extent) if mask.ndim == 1 else b.FALSE
        ctx.guard(fits, "ValueError", text, (extent,))


def _positions(ctx: Context, item: slice, extent: Expr) -> Array:
    """What a slice names, as positions."""
    parts = (None if p is None else Static(p) for p in (item.start, item.stop, item.step))
    span = settle_slice(ctx, Slice(*parts), extent)
    (axis,) = ctx.names.axes((span.length,))
    return Array((axis,), b.cast(b.add(span.start, b.mul(span.step, axis.var)), "int64"))


def _without(ctx: Context, value: Array, pieces: Sequence[Value], axis: int) -> Array:
    """`value` without the positions in `pieces`, as a filter."""
    extent = value.dims[0]
    low: Expr = b.ZERO
    high = extent
    masks: list[Callable[[Expr], Expr]] = []
    removed: list[tuple[Array, Expr]] = []
    flags: Array | None = None
    for piece in pieces:
        if isinstance(piece, Array) and piece.dtype.startswith(("float", "complex")):
            ctx.guard(b.FALSE, "IndexError", "arrays used as indices must be of integer (or boolean) type")
        single = _single_position(ctx, piece)
        if single is not None:
            at = scalar_position(ctx, Scalar(single), extent, axis)
            if b.difference(at, b.sub(high, b.ONE)) == 0:
                high = at
            elif at == low:
                low = b.add(low, b.ONE)
            else:
                masks.append(_other_than(at))
            continue
        assert isinstance(piece, Array)
        behind = _places_behind(piece)
        if behind is not None and b.at_least(extent, b.add(b.inhabited(piece.domain[0]), behind)):
            removed.append((piece, behind))
            continue
        if flags is None:
            (line,) = ctx.names.axes((extent,))
            flags = ctx.define(Array((line,), b.TRUE), "keep")
        stored = ctx.compact(piece, "removed") if piece.mask is not None else piece
        if stored.dtype == "bool":
            masks.append(_not_in(stored))
            continue
        write(ctx, flags, [stored], Static(False))
    kept = b.sub(high, low)
    axes = ctx.names.axes((b.maximum(kept, b.ZERO), *value.dims[1:]))
    position = b.add(axes[0].var, low)
    body = value.at((position, *(x.var for x in axes[1:])))
    mask: Expr = b.TRUE if flags is None else flags.at((position,))
    masks += [_not_selected(piece, behind, low, high) for piece, behind in removed]
    for m in masks:
        with ctx.facts.axis_ranges(axes[:1]):
            mask = b.both(mask, m(position))
    return Array(axes, body) if mask == b.TRUE else Array(axes, body, mask)


def _other_than(at: Expr) -> Callable[[Expr], Expr]:
    return lambda k: b.compare("not_equal", k, at)


def _not_in(flags: Array) -> Callable[[Expr], Expr]:
    return lambda k: b.logical_not(flags.at((k,)))


def _places_behind(piece: Array) -> Expr | None:
    """Where ``np.where(mask)[0]`` begins to count, for positions that are a mask's or so many behind them."""
    if piece.mask is None:
        return None
    match piece.body:
        case Apply("add", (place, Const(int(behind))), "int64") if behind >= 0:
            pass
        case place:
            behind = 0
    return b.index(behind) if place == b.cast(piece.axes[0].var, "int64") else None


def _not_selected(piece: Array, behind: Expr, low: Expr, high: Expr) -> Callable[[Expr], Expr]:
    """The positions in ``[low, high)`` that ``np.where(mask)[0] + behind`` does not name."""
    end = b.add(b.inhabited(piece.domain[0]), behind)

    def keep(k: Expr) -> Expr:
        kept = b.logical_not(piece.mask_at(b.sub(k, behind)))
        if b.difference(b.inhabited(high), end) != 0:
            kept = b.either(b.compare("greater_equal", k, end), kept)
        return kept if b.at_least(low, behind) else b.either(b.compare("less", k, behind), kept)

    return keep


def _single_position(ctx: Context, piece: Value) -> Expr | None:
    return integer_expr(ctx, piece) if is_one_element(piece) else None
