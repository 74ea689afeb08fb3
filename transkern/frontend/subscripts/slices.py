"""Slices, settled against the extent of what they are taken of."""

from __future__ import annotations

from dataclasses import dataclass

from transkern.errors import NOT_COMPILED
from transkern.frontend.anew import NotKnown
from transkern.frontend.context import Context
from transkern.frontend.subscripts.positions import check_position
from transkern.frontend.values import large
from transkern.frontend.values.scalars import scalar_expr
from transkern.frontend.values.values import OrNone, Slice, Value
from transkern.ir import build as b
from transkern.ir import extremes
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.traverse import buffers_read

_FAR = 1 << 32
"""Less than this, a position may be moved without leaving 64 bits."""


@dataclass(frozen=True, slots=True)
class Span:
    """A slice settled against an extent: positions ``start + step * axis`` for ``axis < length``."""

    start: Expr
    length: Expr
    step: Expr


def settle_slice(ctx: Context, item: Slice, extent: Expr) -> Span:
    """``slice.indices`` on expressions; the length's form is canonical, so that equal slices have equal sizes."""
    item = large.clipped(item, extent)
    step_value = _step(ctx, item.step)
    step = b.constant(step_value)
    if step == 0:
        ctx.guard(b.FALSE, "ValueError", "slice step cannot be zero")
    start = None if item.start is None else bound(ctx, item.start)
    stop = None if item.stop is None else bound(ctx, item.stop)
    if step is None or step > 0:
        begin = _or_default(item.start, _from_end(ctx, start, extent, b.ZERO), b.ZERO)
        if item.stop is None:
            length = b.sub(extent, begin)
            length = length if b.at_least(extent, begin) else b.maximum(length, b.ZERO)
        else:
            last = _or_default(item.stop, _from_end(ctx, stop, extent, extent), extent)
            # length = max(min(last, extent) - begin, 0): the clip of `begin` at extent changes nothing
            whole = b.at_least(extent, last) or _is_of_parts(ctx, last, extent)
            within = b.inhabited(last if whole else b.minimum(last, extent))  # `begin` is not below 0
            length = b.maximum(b.sub(within, begin), b.ZERO)
            gap = b.difference(last, begin)
            if gap is not None and gap > 0 and ctx.facts.within(b.sub(last, b.ONE), extent)[1]:
                length = b.index(gap)  # a[k : k + 3] that is seen to be inside
        if step != 1:
            length = b.floordiv(b.add(length, b.sub(step_value, b.ONE)), step_value)
        if buffers_read(begin) and not isinstance(begin, Load):  # it would be asked for each element again
            begin = ctx.let(begin, "start")
        return Span(begin, length, step_value)  # it is only used where the slice holds an element: no clip above
    top = b.sub(extent, b.ONE)
    begin = top if start is None else b.minimum(_from_end(ctx, start, extent, top, floor=-1), top)
    end = b.index(-1) if stop is None else b.minimum(_from_end(ctx, stop, extent, b.index(-1), floor=-1), top)
    begin, end = _or_default(item.start, begin, top), _or_default(item.stop, end, b.index(-1))
    length = b.maximum(b.sub(begin, end), b.ZERO)
    if step != -1:
        length = b.floordiv(b.add(length, b.index(-step - 1)), b.index(-step))
    return Span(begin, length, b.index(step))


def _is_positive(ctx: Context, step: Expr) -> bool:
    low_high = ctx.facts.range_of(step)
    if low_high is not None and b.at_least(low_high[0], b.ONE):
        return True
    return ctx.facts.not_negative(b.sub(step, b.ONE))


def _step(ctx: Context, given: Value | None) -> Expr:
    """A slice's step: a constant, or positive."""
    if given is None:
        return b.ONE
    step = bound(ctx, given)
    positive = (b.constant(step) or 0) > 0 or _is_positive(ctx, step)
    known = b.constant(step) is not None and not isinstance(given, OrNone)
    if not known and not positive:
        try:
            ctx.must_be_known(
                given, "a slice with a run-time step that may be negative or zero",
                "use a constant step, one of a loop over range(1, n), or index: x[np.arange(0, len(x), step)]",
            )  # fmt: skip
        except NotKnown:
            if any(trips is not None for trips in ctx.control.trips):  # whose iterations may be translated one by one
                raise
            step = _positive(ctx, _or_default(given, step, b.ONE))
    return _or_default(given, step, b.ONE)


def _positive(ctx: Context, step: Expr) -> Expr:
    """A step that nothing tells before the call, after a check that it goes forwards."""
    step = ctx.let(step, "step")
    ctx.guard(b.compare("not_equal", step, b.ZERO), "ValueError", "slice step cannot be zero")
    text = f"a slice with a negative step that only the run knows is {NOT_COMPILED}"
    ctx.guard(b.compare("greater", step, b.ZERO), "RuntimeError", text)
    return ctx.let(b.maximum(step, b.ONE), "step")


def bound(ctx: Context, value: Value) -> Expr:
    """A bound, which may be None at run time: what it is where it is not."""
    missing, value = (value.none, value.value) if isinstance(value, OrNone) else (b.FALSE, value)
    check_position(ctx, value, lambda at: range(0)[at:], missing)
    expr = scalar_expr(ctx, value)
    if expr.dtype == "uint64":  # beyond the end of every array
        expr = Apply("minimum", (expr, Const(extremes.HIGHEST, "uint64")), "uint64")
    made = ctx.facts.unnamed(b.as_index(expr))  # ``half = n // 2``: what it is of the sizes is known then
    return made if ctx.facts.is_of_arguments(made) else _moved(ctx, expr)


def _moved(ctx: Context, expr: Expr) -> Expr:
    """A bound as a position: of a position in an array, moved by a number (``order[0] + 1``), which does not wrap."""
    match expr:
        case Apply("add" | "subtract" as op, (x, Const(int() as by)), "int64") if (
            abs(by) < _FAR and ctx.facts.range_of(x) is not None
        ):
            return b.add(b.as_index(x), b.index(by if op == "add" else -by))
        case _:
            return b.as_index(expr)


def _is_of_parts(ctx: Context, bound: Expr, extent: Expr) -> bool:
    """Whether a bound is as much as there is in whole parts, ``x[: n // k * k]``, which have a length: held for so."""
    return any(
        isinstance(k, Var) and b.mul(b.floordiv(extent, k), k) == bound and ctx.facts.assume_at_least(k, 1)
        for k in b.factors(bound)
    )


def _or_default(given: Value | None, bound: Expr, default: Expr) -> Expr:
    """A bound, or what stands for None at its place where it is that at run time."""
    return b.where(given.none, default, bound) if isinstance(given, OrNone) else bound


def _from_end(ctx: Context, bound: Expr | None, extent: Expr, default: Expr, floor: int = 0) -> Expr:
    """A slice bound with negative values counted from the end and nothing below `floor`; not clipped above."""
    if bound is None:
        return default
    value = b.constant(bound)
    if value is not None:
        if value >= 0:
            return bound
        return b.maximum(b.add(extent, bound), b.index(floor))
    certain, _ = ctx.facts.within(bound, b.add(extent, b.ONE))
    if certain or _is_of_parts(ctx, bound, extent):
        return bound
    back = b.difference(extent, bound)
    if floor == 0 and back is not None and back > 0:
        if back <= 2:  # n - 1 and n - 2: below 0, they are before the beginning from the end, too
            return b.maximum(bound, b.ZERO)
        if ctx.facts.assume_at_least(extent, back):
            return bound
    if ctx.facts.not_negative(bound):
        return bound
    return b.where(b.compare("less", bound, b.ZERO), b.maximum(b.add(extent, bound), b.index(floor)), bound)
