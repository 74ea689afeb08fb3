"""Lengths that iterations change, and the variables whose steps bound how often a loop runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from transkern import refusals
from transkern.frontend.context import Context
from transkern.frontend.loops.carried.kinds import join_kinds, kind_of, of_any_length, of_any_shape
from transkern.frontend.loops.trips import bound_of
from transkern.frontend.values.numbers import is_number
from transkern.frontend.values.scalars import static_expr
from transkern.frontend.values.values import (
    Array,
    Maybe,
    Scalar,
    Static,
    Unbound,
    Value,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir.expr import Expr, Var
from transkern.ir.traverse import scalars_set, variables_read

if TYPE_CHECKING:
    from transkern.frontend.loops.carried.state import LoopState
    from transkern.frontend.loops.looping import Loops


def check_counting(state: LoopState, owner: Loops, pending: list[tuple[Value, Value]]) -> None:
    """Whether every iteration increases the variable that bounds the trips; else the loop is translated again."""
    counting = Var(state.counts.counting)
    for slot, value in pending:
        if isinstance(slot, Scalar) and slot.expr == counting and isinstance(value, (Scalar, Static)):
            now = value.expr if isinstance(value, Scalar) else static_expr(owner.ctx, value.value)
            gap = b.difference(owner.ctx.facts.unnamed(now), slot.expr) if now.dtype == "index" else None
            if gap is not None and gap >= 1:
                return
    state.counts.uncounted |= {k for k, s in state.slots.items() if isinstance(s, Scalar) and s.expr == counting}
    state.widened = True


def counted(state: LoopState, ctx: Context, name: str, kind: Any) -> Any:
    """The kind of an array whose length only an iteration knows: a count, and room for the most or for any."""
    if kind[0] not in ("array", "dynamic") or kind[2] == ():  # or without axes
        return kind
    dtype, first, rest, facts = kind[1:] if kind[0] == "dynamic" else (kind[1], kind[2][0], kind[2][1:], kind[3])
    if any(_is_inner(state, ctx, d) for d in rest):
        if ctx.session.reserves:
            return of_any_shape(ctx, name, dtype, 1 + len(rest))
        ctx.must_be_known(
            Unbound(""), f"`{name}` has a shape that only the loop knows, and is read after an iteration",
            "allocate it at its final size before the loop, or append to a list", refusals.RUN_TIME_LENGTH,
        )  # fmt: skip
    if kind[0] == "array" and not _is_inner(state, ctx, first):
        return kind
    bound = None if first is None else bound_of(ctx, first)
    if bound is None or _is_inner(state, ctx, bound):
        return of_any_length(ctx, name, dtype, rest)
    return ("dynamic", dtype, bound, rest, facts)


def _is_inner(state: LoopState, ctx: Context, size: Expr) -> bool:
    """Whether a size has to do with what the loop makes."""
    names = variables_read(size) - state.known - ctx.facts.entry
    if names <= state.lengths:
        return any(names & scalars_set(s) for s in ctx.emitter.out)
    return bool(names)


def shrinks(state: LoopState, pending: list[tuple[Value, Value]]) -> bool:
    """Whether the array that bounds the trips is shorter at the end of the iteration."""
    for slot, value in pending:
        if (
            isinstance(slot, Array)
            and slot.dims
            and slot.dims[0] == Var(state.counts.shrinking)
            and isinstance(value, Array)
        ):
            gap = b.difference(b.inhabited(value.domain[0]), Var(state.counts.shrinking))
            return gap is not None and gap < 0
    return False


def with_before(state: LoopState, ctx: Context, name: str, kind: Any, value: Value) -> Any:
    """The kind of a number that the loop's target leaves, or that was there before: there may be no iteration."""
    given = state.before.get(name)
    if isinstance(given, Maybe):
        given = given.value
    number = isinstance(given, Scalar) or (isinstance(given, Static) and is_number(given))
    if state.runs == b.TRUE or kind[0] != "scalar" or given is None or not number:
        return kind
    return join_kinds(ctx, name, kind_of(ctx, given), kind, value, given)
