"""The end of an iteration: the names' values go into their slots, and the types of these are widened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transkern import refusals
from transkern.frontend.containers import tuples
from transkern.frontend.loops.carried.counts import check_counting, counted, shrinks, with_before
from transkern.frontend.loops.carried.kinds import join_kinds, kind_of, of_its_own, without_made
from transkern.frontend.loops.carried.sharing import check_alias, check_function, check_lists, note_lists, note_shown
from transkern.frontend.loops.carried.values import assign_all, none_pairs, note_left, of_elements, slot_pairs
from transkern.frontend.state import handing
from transkern.frontend.values.describing import describe
from transkern.frontend.values.reach import stands_in_list
from transkern.frontend.values.values import (
    ITEM,
    Array,
    Function,
    GrowingList,
    Hashed,
    Known,
    Maybe,
    Object,
    OrNone,
    Scalar,
    Seq,
    Static,
    Unbound,
    Value,
    are_of_other_lengths,
    children,
    deleted,
    lies,
    same_structure,
)
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr

if TYPE_CHECKING:
    from transkern.frontend.loops.carried.state import LoopState
    from transkern.frontend.loops.looping import Loops


def end_iteration(state: LoopState, owner: Loops, leaving: bool = False) -> None:
    ctx = owner.ctx
    pending: list[tuple[Value, Value]] = []
    flags: list[n.Stmt] = []
    for name in sorted(state.all_assigned):
        value = owner.env.get(name)
        if value is None or isinstance(value, (Unbound, Function, Known)):
            if isinstance(value, Unbound) and name in state.slots and state.is_live(name):
                decides = Static(None) if value.decides is None else Scalar(value.decides)
                help = "give it a value of one type on every path"
                ctx.must_be_known(decides, value.why, help, refusals.TYPE_DIFFERS)
            elif isinstance(value, Unbound) and _is_first_left(state, name, value):
                state.differing[name] = value
                state.widened = True
            check_function(state, ctx, name, value)
            if name in state.slots:
                state.needs_flag(name)
            continue
        if name in state.kinds and name not in state.slots:
            state.widened = state.widened or (name in state.outside.never and value != state.before[name])
            state.outside.never -= {name} if state.widened else set()
            continue  # found at another end of this iteration: the loop is translated again
        bound: Expr | None = b.TRUE
        if isinstance(value, Maybe):
            bound = value.bound
            value = value.value
        given = value.value if isinstance(value, OrNone) else value
        is_new = isinstance(given, Object) and given.token not in state.contents.heap
        if is_new and isinstance(given, Object) and given.token not in state.contents.fresh:
            state.contents.made_at.setdefault(name, ctx.heap.sites[given.token])
        if name not in state.kinds:
            if state.is_live(name):
                kind = counted(state, ctx, name, kind_of(ctx, value))
                if is_new or (isinstance(value, GrowingList) and state.is_made_inside(value)):
                    kind = of_its_own(ctx, kind)  # which the next translation of the loop does not know
                kind = without_made(ctx, kind, state.contents.heap)  # nor what stands in a tuple
                state.kinds[name] = with_before(state, ctx, name, kind, value)
                state.widened = True
            continue
        if bound is None:
            state.needs_flag(name)
        elif name in state.flags and bound != state.flags[name]:
            flags.append(n.Assign(state.flags[name].name, bound))
        elif name not in state.flags and bound != b.TRUE:
            state.needs_flag(name)
        value = of_elements(ctx, value)
        wanted = join_kinds(ctx, name, state.kinds[name], kind_of(ctx, value), value, state.slots[name])
        wanted = without_made(ctx, wanted, state.contents.heap)
        if wanted != state.kinds[name]:
            state.kinds[name] = wanted
            state.widened = True
        if state.kinds[name] != state.made_as[name]:  # found here, or at another end: the loop is translated again
            continue
        slot = state.slots[name]
        is_tagged = isinstance(value, Scalar) and value.tag is not None
        if is_tagged and name not in state.numbers.tagged and wanted[0] == "scalar":
            state.numbers.tagged.add(name)
            state.widened = True
            continue
        for made in _lists_in(value) if value != slot else ():
            check_lists(state, owner, name, made, leaving)
        if isinstance(slot, OrNone):
            if value == slot and not isinstance(slot.value, Object):
                note_left(state, name, slot, value)
                continue
            pending += none_pairs(slot, value)
            if isinstance(value, Static) and value.value is None:
                continue
            slot, value = slot.value, value.value if isinstance(value, OrNone) else value
        if isinstance(slot, GrowingList) and isinstance(value, Seq):
            value = tuples.as_tuple(tuples.as_list(ctx, value))
        if value != slot:
            note_lists(state, owner, name, slot, value, leaving)
            if stands_in_list(value, ctx.heap.handed, ctx.aliasing.appended):
                handing.must_keep(ctx, slot)
        if isinstance(slot, Object) and slot.token in state.contents.fresh:
            slot, value = state.contents.fresh[slot.token], ctx.deref(value)
        note_left(state, name, slot, value)
        (state.outside.kept if value == slot else state.outside.rebound).add(name)
        if value != slot or _lists_in(value):
            check_alias(state, owner, name, slot, value)
            note_shown(state, owner, name, slot, value)
            if isinstance(slot, Array) and isinstance(value, Array) and value.view and value.base == slot.base:
                state.outside.views.add(name)
            pending += slot_pairs(state, ctx, slot, value)
    _end_objects(state, owner, pending)
    if not state.widened and state.counts.counting and not leaving:
        check_counting(state, owner, pending)
    if state.widened:
        return
    if state.counts.shrinking and not leaving and not shrinks(state, pending):
        state.counts.may_stay_long = state.widened = True  # a list that grows in it has no bound, then
        return
    assign_all(state, owner, pending)
    for flag in flags:
        ctx.emit(flag)


def _is_first_left(state: LoopState, name: str, value: Unbound) -> bool:
    """Whether a value that cannot be read is the first one of a name that may be read: to read it in the next iteration
    is no UnboundLocalError."""
    new = name not in state.before and name not in state.kinds and name not in state.differing
    return new and state.is_live(name) and value != deleted(name)


def _end_objects(state: LoopState, owner: Loops, pending: list[tuple[Value, Value]]) -> None:
    """What the iteration has put into lists, dicts and objects from before the loop."""
    ctx = owner.ctx
    for token, before in state.contents.heap.items():
        start, now = state.contents.objects.get(token, before), ctx.heap.contents[token]
        if token in state.contents.objects and same_structure(start, now):
            note_left(state, ITEM, start, now)
        if now is start or now == start:
            continue
        if not same_structure(start, now):
            if isinstance(now, Seq):
                others = [
                    t for t, before in state.contents.heap.items()
                    if are_of_other_lengths(state.contents.objects.get(t, before), ctx.heap.contents[t])
                ]
                ctx.must_grow(token, "a list that changes its length in a run-time loop", others=others)
            problem = f"{describe(now)} that gains a key in a run-time loop"
            ctx.must_be_known(now, problem, "set the key before it", refusals.RUN_TIME_KEYS)
        kind = kind_of(ctx, before)
        if token not in state.contents.touched:
            state.contents.touched[token] = kind
            state.widened = True
        pairs = zip(children(start) or (), children(now) or (), strict=True)
        rebound = {(token, k) for k, (s, v) in enumerate(pairs) if s != v and lies(s)} - state.contents.rebound_items
        if rebound:
            state.contents.rebound_items |= rebound
            state.widened = True
        wanted = join_kinds(ctx, ITEM, state.contents.touched[token], kind_of(ctx, now), now, start)
        wanted = without_made(ctx, wanted, state.contents.heap)
        if wanted != state.contents.touched[token]:
            state.contents.touched[token] = wanted
            state.widened = True
        if token in state.contents.objects:
            note_shown(state, owner, ITEM, start, now)
            pending += slot_pairs(state, ctx, start, now)


def _lists_in(value: Value) -> list[Value]:
    """The lists, dicts and objects in a value."""
    if isinstance(value, OrNone):
        return _lists_in(value.value)
    if isinstance(value, (Object, GrowingList, Hashed)):
        return [value]
    return [made for v in children(value) or () for made in _lists_in(v)]
