"""Slots of a loop: the variables and the memory that names have in it, and what is in them before it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from transkern.frontend.containers import list_types, putting, tuples
from transkern.frontend.context import Context
from transkern.frontend.loops.carried import dicts as carried_dicts
from transkern.frontend.loops.carried import lists as carried_lists
from transkern.frontend.loops.carried.kinds import kind_of
from transkern.frontend.loops.carried.values import of_elements
from transkern.frontend.python.characters import code_of
from transkern.frontend.state import aliasing
from transkern.frontend.values import doubts, shaped
from transkern.frontend.values.scalars import scalar_expr, select
from transkern.frontend.values.values import (
    ITEM,
    Array,
    Char,
    Doubt,
    Instance,
    Kind,
    Object,
    OneOf,
    OrNone,
    Row,
    Scalar,
    Static,
    Value,
    children,
    lies,
    with_children,
)
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Const, Expr

if TYPE_CHECKING:
    from transkern.frontend.loops.carried.state import LoopState
    from transkern.frontend.loops.looping import Loops


def slot_of(state: LoopState, owner: Loops, name: str, kind: Any, initial: Value | None) -> Value:
    ctx = owner.ctx
    if kind[0] in ("scalar", "array", "dynamic", "shaped") and initial is not None:
        initial = of_elements(ctx, initial)
    match kind:
        case ("scalar", dtype, python, low_high, types):
            variable = ctx.names.variable(name, dtype)
            if low_high is not None:
                ctx.facts.ranges[variable.name] = low_high
            value = Const(0, dtype) if initial is None else b.cast(scalar_expr(ctx, initial), dtype)
            ctx.emit(n.Assign(variable.name, value))
            tag = None
            if name in state.numbers.tagged:
                tag = ctx.names.variable(f"{name} type", "uint8")
                ctx.emit(n.Assign(tag.name, list_types.tag_of(Static(0) if initial is None else initial)))
            if isinstance(initial, Static) and isinstance(initial.value, float) and math.isinf(initial.value):
                ctx.facts.bounds[variable.name] = initial.value
            doubt = _doubt(state, owner, name, types, Scalar(variable, python), initial)
            return doubts.shown(Scalar(variable, python, tag, doubt))
        case ("array", dtype, dims, facts):
            buffer = ctx.buffer(name, dtype, dims, **facts)
            if initial is not None:
                assert isinstance(initial, Array)
                _note_outside(state, ctx, buffer.name, name, initial)
                ctx.emit(n.Define(buffer.name, initial.axes, b.cast(initial.body, dtype)))
            else:
                ctx.emit(n.Alloc(buffer.name))
            return ctx.names.whole(buffer)
        case ("dynamic", dtype, bound, rest, facts):
            buffer = ctx.buffer(name, dtype, (bound, *rest), **facts)
            count = ctx.names.count(buffer.name, bound)
            if name in ctx.learned.lengthened:
                ctx.lists.rooms.add(buffer.name)
            ctx.emit(n.Alloc(buffer.name))
            if initial is not None:
                assert isinstance(initial, Array)
                _note_outside(state, ctx, buffer.name, name, initial)
                shaped.fill_counted(ctx, buffer, count, initial)
            else:
                ctx.emit(n.Assign(count.name, b.ZERO))
            return ctx.names.whole(buffer, (count, *rest))
        case ("shaped", dtype, ndim):
            slot = shaped.made(ctx, name, dtype, ndim)
            if isinstance(initial, Array):
                _note_outside(state, ctx, slot.base, name, initial)
                shaped.fill(ctx, slot, initial)
            return slot
        case ("items", shell, kinds):
            items = [None] * len(kinds) if initial is None else list(children(initial) or ())
            made = tuple(slot_of(state, owner, name, k, i) for k, i in zip(kinds, items, strict=True))
            return with_children(shell, made)
        case ("choice", (None,)):
            return Static(None)  # no iteration that is known yet makes something else of it
        case ("choice", options):
            variable = ctx.names.variable(name, "index")
            start: Expr = b.ZERO
            if isinstance(initial, Static):
                start = b.index(options.index(initial.value))
            if isinstance(initial, OneOf):
                start = select(initial.index, [b.index(options.index(o)) for o in initial.options])
            ctx.emit(n.Assign(variable.name, start))
            return OneOf(variable, options)
        case ("character",):
            variable = ctx.names.variable(name, "index")
            code = None if initial is None else code_of(initial)
            ctx.emit(n.Assign(variable.name, b.ZERO if code is None else code))
            return Char(variable)
        case ("or none", inner):
            none = ctx.names.variable(f"{name} is None", "bool")
            absent = isinstance(initial, Static) and initial.value is None
            holds = initial.none if isinstance(initial, OrNone) else b.TRUE if absent else b.FALSE
            ctx.emit(n.Assign(none.name, holds))
            first = initial.value if isinstance(initial, OrNone) else None if absent else initial
            return OrNone(slot_of(state, owner, name, inner, first), none)
        case ("object", value) if initial is not None:
            return value  # type: ignore[no-any-return]
        case ("object", value):
            return slot_of(state, owner, name, ("fresh", kind_of(ctx, ctx.deref(value))), None)
        case ("fresh", inner):
            contents = slot_of(state, owner, name, inner, None if initial is None else ctx.deref(initial))
            made_object = ctx.heap.allocate(contents, ("fixed",))
            state.contents.fresh[made_object.token] = contents
            if isinstance(initial, Object):
                state.contents.begun_as[made_object.token] = name, initial
            return made_object
        case ("row", rows):
            number = ctx.names.variable(name, "index")
            ctx.emit(n.Assign(number.name, b.ZERO if initial is None else putting.row_number(ctx, rows, initial)))
            return Row(rows, number)
        case ("instance", pool):
            number = ctx.names.variable(name, "index")
            ctx.emit(n.Assign(number.name, initial.number if isinstance(initial, Instance) else b.ZERO))
            return Instance(pool, number)
        case ("list", dtype, python, pool, site):
            return carried_lists.carried(ctx, name, dtype, python, initial, pool, site)
        case ("table", shape):
            return carried_lists.carried_table(ctx, name, shape, initial)
        case ("tuple", inner):
            return tuples.as_tuple(slot_of(state, owner, name, inner, tuples.as_list(ctx, initial)))
        case ("text",):
            return carried_lists.carried_text(ctx, name, initial)
        case ("hashed", shape):
            return carried_dicts.made(ctx, name, shape, initial)
        case ("same", value):
            return value  # type: ignore[no-any-return]
    raise AssertionError(kind)


def contents_of(state: LoopState, owner: Loops, token: int, kind: Any) -> Value:
    """A list, dict or object at the start of an iteration: an array that none puts another for stays what it is."""
    initial = state.contents.heap[token]
    items = children(initial)
    if kind[0] != "items" or items is None:
        return slot_of(state, owner, ITEM, kind, initial)
    return with_children(kind[1], tuple(
        item if lies(item) and (token, k) not in state.contents.rebound_items else slot_of(state, owner, ITEM, of, item)
        for k, (of, item) in enumerate(zip(kind[2], items, strict=True))
    ))  # fmt: skip


def _doubt(
    state: LoopState, owner: Loops, name: str, types: tuple[Kind, ...], slot: Scalar, initial: Value | None
) -> Doubt | None:  # fmt: skip
    """What is known of a number's type where iterations leave another one than there was before."""
    numbers = None if name in state.numbers.python_left or initial is None else doubts.python_numbers(initial)
    doubted = doubts.doubt(types, numbers)
    begins = initial is not None or state.tells or all(python for _, python in types)
    if doubted is None or not begins or name in state.numbers.untold or len(types) > 2:
        return doubted
    if initial is None:  # nobody reads what it is before it has a value
        initial = Scalar(Const(0, types[0][0]), types[0][1])
    if state.runs is not None and name not in state.numbers.mixed:
        return replace(doubted, told=lambda: state.needs_split(name))  # in the first iteration one, then the other
    with owner.ctx.emitter.block(owner.ctx.emitter.out) as out:
        split = doubts.joined_at(owner.ctx, name, slot, (initial,), (out,), types)
    owner.ctx.emitter.out.extend(out)
    return replace(doubted, split=split and replace(split, handed_on=not state.tells))


def _note_outside(state: LoopState, ctx: Context, slot: str, name: str, initial: Value) -> None:
    if aliasing.is_seen(ctx, name, initial):
        assert isinstance(initial, Array)
        state.outside.from_outside[slot] = name
        ctx.aliasing.begun.add(slot)
        ctx.aliasing.note_copy(name, slot, frozenset([initial.base]), None, lambda: state.outside.stale.add(name))
