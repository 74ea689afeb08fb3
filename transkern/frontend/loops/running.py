"""Loops of the run: the types of what they carry are widened until they hold."""

from __future__ import annotations

import ast
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from transkern import refusals
from transkern.frontend.containers import pools
from transkern.frontend.context import Context
from transkern.frontend.loops.carried.begun import changed_in_place, check_sharing, check_stored
from transkern.frontend.loops.carried.state import LoopState
from transkern.frontend.loops.turns import Turns
from transkern.frontend.sources.source import span_of
from transkern.frontend.state import evaluating, stores
from transkern.frontend.state.control import Crossed
from transkern.frontend.syntax.desugar import WHOLE
from transkern.frontend.syntax.liveness import live_names, read_by
from transkern.frontend.syntax.syntax import assigned_names, stored_in
from transkern.frontend.values.values import Array, GrowingList, Scalar, Seq, Static, Value
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr
from transkern.ir.traverse import buffers_read, variables_read

if TYPE_CHECKING:
    from transkern.frontend.loops.looping import Loops

_ITEMS, _DEPTH = 4, 2  # of tuples and short lists, whose types stand for all
_SETTLING = 20  # translations of a loop until the types of what it carries hold


def run_loop(
    loops: Loops, node: ast.While | ast.For, body: Sequence[ast.stmt], trip: Any, targets: Any, runs: Expr | None,
    turns: Turns | None = None,
) -> None:  # fmt: skip
    """A run-time loop. One in a function that is called inside a `try` may be left by an exception: so is then the
    loop around it, which is another one of the function, or the body of the `try`."""
    ctx, before = loops.ctx, len(loops.ctx.control.crossed)
    if not any(c.depth < ctx.session.depth for c in ctx.control.catching):
        _settled(loops, node, body, trip, targets, runs, turns)
        return
    crossed = Crossed(ctx.session.depth, ctx.names.variable("left", "bool"), set())
    ctx.control.crossed.append(crossed)
    start, out = len(ctx.emitter.out), ctx.emitter.out
    try:
        _settled(loops, node, body, trip, targets, runs, turns)
    finally:
        del ctx.control.crossed[before:]
    if crossed.used:
        out.insert(start, n.Assign(crossed.left.name, b.FALSE, span=ctx.session.place()))
        ctx.emit(n.If(crossed.left, (n.Break(span=ctx.session.place()),)))


def _type_of(ctx: Context, value: Value, depth: int = 0) -> object:
    """The type of what a loop reads: one function may be called for an array and for a list."""
    held = ctx.deref(value)
    match held:
        case Array():
            return "array", held.dtype, held.ndim
        case Scalar():
            return held.expr.dtype, held.python
        case GrowingList():
            return "list", held.dtype, held.python
        case Static(known):
            return type(known)
        case Seq(items) if depth < _DEPTH:
            return tuple(_type_of(ctx, item, depth + 1) for item in items[:_ITEMS])
        case _:
            return type(held)


def _settled(
    loops: Loops, node: ast.While | ast.For, body: Sequence[ast.stmt], trip: Any, targets: Any, runs: Expr | None,
    turns: Turns | None = None,
) -> None:  # fmt: skip
    """A run-time loop: names that its body assigns become slots; their types are widened until they hold. `runs`
    says, where it is known, whether there is a first iteration; the names of `turns` need no slots."""
    ctx = loops.ctx
    span = span_of(node, loops.scope.file)
    assigned = assigned_names(body) | set(targets)
    live = live_names(loops.node, node)
    assigned -= changed_in_place(loops, body, assigned)
    assigned -= turns.names if turns is not None else set()
    before, heap = dict(loops.env), dict(ctx.heap.contents)
    check_sharing(loops, body, {name for name in assigned if name in live[0] or " " in name}, before)
    called = () if ctx.session.pinned else tuple(f.node for f in ctx.session.called)
    read = sorted(name for name in read_by(node) - assigned if name in before)
    place = (span, called, tuple(_type_of(ctx, before[name]) for name in read))
    state = LoopState(
        loops, assigned - set(targets), before, live, assigned, stored_in(body), runs, turns, place,
        hasattr(node, WHOLE),
    )  # fmt: skip
    ctx.control.loop_path, outer_path = (*ctx.control.loop_path, ctx.control.loop_number()), ctx.control.loop_path
    # what is in arrays, and how long lists are, an iteration before may have changed
    ctx.facts.forget(lambda fact: any(buffers_read(t) or variables_read(t) & ctx.lists.counts for t, _ in fact[0]))
    begun, untyped = len(ctx.aliasing.writes), len(ctx.lists.untyped)
    for _ in range(_SETTLING):
        # an iteration must not read again what one before it has changed
        for frame in (*ctx.scopes.frames[:-1], before):
            written = set(ctx.aliasing.writes[begun:])
            for name in stores.outdated(frame, written):
                evaluating.evaluate_name(ctx, frame, name, functools.partial(stores.is_filter_of, buffers=written))
        saved = ctx.snapshot()
        del ctx.lists.untyped[untyped:]
        loops.env.clear()
        loops.env.update(before)
        ctx.heap.contents = dict(heap)
        with ctx.emitter.block() as setup:
            ctx.session.span = span
            state.enter(loops)
            loops.loops.append(state)
            stored = _found_out(ctx)
            try:
                ctx.session.span = span
                statement = trip(state)
            finally:
                loops.loops.pop()
            changed = set(ctx.aliasing.writes[begun:])
            if any(stores.outdated(frame, changed) for frame in (*ctx.scopes.frames[:-1], before)):
                state.widened = True
            # those of an iteration's own are read in the order in which they are filled
            filled = [owner for owner in ctx.lists.untyped[untyped:] if owner.dtype or owner.columns]
            if any(owner.around.depth <= len(ctx.control.trips) or owner.options for owner in filled):
                state.widened = True
            # what the iteration took for known before its store, or of a list's length, may not be so
            if _found_out(ctx) > stored:
                state.widened = True
        if not state.widened:
            state.settle(loops)
        if not state.widened:
            check_stored(loops, state, changed)
            state.remember(ctx)
            break
        state.widened = False
        ctx.restore(saved)
        ctx.control.deferred = None
    else:
        touched = state.contents.touched.values()
        inner = (k for kind in touched for k in (kind[2] if kind[0] == "items" else (kind,)))
        kinds = (*inner, *state.kinds.values())
        pools.wanted_among(ctx, kinds, "objects that a loop hands on from iteration to iteration")
        problem = "the types of this loop's variables do not settle, as where a tuple holds the one before it"
        help = "keep what is collected in a list, with .append, and give each name one type before the loop"
        ctx.fail(refusals.TYPE_DIFFERS, problem, help, node)
    ctx.control.loop_path = outer_path
    if ctx.control.deferred is not None and not ctx.control.trips:
        raise ctx.control.deferred
    ctx.emitter.out.extend(setup)
    ctx.session.span = span
    # the loop may bind what it reads
    if state.runs is not None and not variables_read(state.runs) <= ctx.facts.entry:
        state.runs = ctx.let_tentative(state.runs, "runs")
    ctx.emit(statement)
    loops.env.clear()
    loops.env.update(state.after(loops))
    ctx.heap.contents = {**ctx.heap.contents, **heap, **state.held_after()}


def _found_out(ctx: Context) -> int:
    """How much has been found out of which iterations before had no idea: what is stored into, of what range."""
    return len(ctx.aliasing.stored) + len(ctx.aliasing.reached) + len(ctx.lists.grown)
