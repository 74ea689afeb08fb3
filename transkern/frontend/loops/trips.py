"""How often loops run, how large sizes get, and which conditions keep holding inside a loop."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from transkern.frontend.context import Context
from transkern.frontend.loops.falling import falls_at_most
from transkern.frontend.values.values import Array, Scalar, Static, Value
from transkern.ir import build as b
from transkern.ir.expr import Apply, Const, Expr, Var
from transkern.ir.facts import conjuncts
from transkern.ir.traverse import buffers_read, variables_read

if TYPE_CHECKING:
    from transkern.frontend.loops.carried.state import LoopState


def trip_bound(ctx: Context, condition: Expr, state: LoopState, body: Sequence[ast.stmt]) -> Expr | None:
    """How often a `while` runs at most, where its condition is ``size > 0`` of an array that every iteration shortens
    (checked when the loop is lowered), ``count < limit`` of a list that grows, or of integers that fall."""
    state.counts.shrinking, state.counts.counting = "", ""

    for part in conjuncts(condition):
        match part:
            case Apply("greater" | "not_equal", (Var(name), Const(0)), _) if name in ctx.names.bounds:
                slots = [s for s in state.slots.values() if isinstance(s, Array) and s.dims and s.dims[0] == Var(name)]
                if slots and not state.counts.may_stay_long:
                    state.counts.shrinking = name
                    return bound_of(ctx, ctx.names.bounds[name])
            case Apply("less" | "less_equal", (Var(name), limit), _) if name in _counters(state):
                given = not buffers_read(limit) and variables_read(limit) <= ctx.facts.entry
                bound = limit if given else bound_of(ctx, limit)
                if bound is not None:
                    state.counts.counting = name
                    return b.maximum(b.add(bound, b.ONE) if part.op == "less_equal" else bound, b.ZERO)
            case _:
                pass
    return falls_at_most(ctx, conjuncts(condition), state, body)


def _counters(state: LoopState) -> set[str]:
    """The integers that a loop counts up from a number that is not negative."""
    found = set()
    for name, slot in state.slots.items():
        match slot, state.before.get(name):
            case Scalar(Var(variable, "index"), True), Static(int() as first) if first >= 0:
                found |= {variable} - ({variable} if name in state.counts.uncounted else set())
            case _:
                pass
    return found


def trip_count(start: Expr, stop: Expr, step: Expr) -> Expr:
    size = b.constant(step)
    if not size:  # the quotient, rounded up, whichever sign it has
        return b.maximum(b.sub(b.ZERO, b.floordiv(b.sub(start, stop), step)), b.ZERO)
    span = b.maximum(b.sub(stop, start) if size > 0 else b.sub(start, stop), b.ZERO)
    return b.floordiv(b.add(span, b.index(abs(size) - 1)), b.index(abs(size)))


def stable_parts(ctx: Context, condition: Expr) -> Expr:
    """The parts of a condition that stay true as long as its loop's slots are not assigned: those on sizes that only
    change there, at the end of an iteration."""
    parts = [
        p for p in conjuncts(condition)
        if all(b.is_size_name(v) and v not in ctx.lists.counts for v in variables_read(p)) and not buffers_read(p)
    ]  # fmt: skip
    result: Expr = b.TRUE
    for p in parts:
        result = b.both(result, p)
    return result


def zero(dtype: str) -> Const:
    if dtype == "bool":
        return Const(False, dtype)
    return Const(0.0 if dtype.startswith(("float", "complex")) else 0, dtype)


def condition_of(value: Value) -> Expr:
    if isinstance(value, Static):
        return b.TRUE if value.value else b.FALSE
    assert isinstance(value, Scalar)
    return value.expr


def bound_of(ctx: Context, dim: Expr) -> Expr | None:
    """An upper bound of a size over what is known before any loop."""
    if not buffers_read(dim) and variables_read(dim) <= ctx.facts.entry:
        return dim
    match dim:
        case Const():
            return dim
        case Var(name):
            if ctx.lists.may_grow(name):
                return None
            if name in ctx.names.bounds:
                return bound_of(ctx, ctx.names.bounds[name])
            if name in ctx.facts.ranges:
                return bound_of(ctx, b.sub(ctx.facts.ranges[name][1], b.ONE))
            if name in ctx.facts.named and (bound := bound_of(ctx, ctx.facts.named[name])) is not None:
                return bound
            return dim if b.is_size_name(name) and name not in ctx.names.variables else None
        case _:
            pass
    match dim:
        case Apply("maximum", (x, y), "index"):
            p, q = bound_of(ctx, x), bound_of(ctx, y)
            return None if p is None or q is None else b.maximum(p, q)
        case Apply("minimum", (x, y), "index"):
            p, q = bound_of(ctx, x), bound_of(ctx, y)
            return p if q is None else q if p is None else b.minimum(p, q)
        case Apply("where", (_, x, y), "index"):
            p, q = bound_of(ctx, x), bound_of(ctx, y)
            return None if p is None or q is None else b.maximum(p, q)
        case Apply("add", (x, y), "index"):
            p, q = bound_of(ctx, x), bound_of(ctx, y)
            return None if p is None or q is None else b.add(p, q)
        case Apply("multiply", (x, y), "index"):
            p, q = bound_of(ctx, x), bound_of(ctx, y)
            positive = b.is_nonnegative(x) and b.is_nonnegative(y)
            return None if p is None or q is None or not positive else b.mul(p, q)
        case Apply("subtract", (x, y), "index"):
            p = bound_of(ctx, x)
            if p is None:
                return None
            if isinstance(y, Const):
                return b.sub(p, y)
            return p if b.is_nonnegative(y) or (isinstance(y, Var) and _starts_at_0(ctx, y)) else None
        case Apply("floor_divide", (x, Const(value)), "index"):
            p = bound_of(ctx, x)
            return None if p is None else b.floordiv(p, b.index(int(value)))  # type: ignore[arg-type]
        case _:
            return None


def _starts_at_0(ctx: Context, number: Var) -> bool:
    """Whether an axis, or another number whose range is known, is never negative."""
    return number.name in ctx.facts.ranges and ctx.facts.not_negative(ctx.facts.ranges[number.name][0])
