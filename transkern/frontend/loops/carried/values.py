"""What the end of an iteration puts into the slots of a loop."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from transkern.frontend.containers import list_types
from transkern.frontend.context import Context
from transkern.frontend.loops.carried import dicts as carried_dicts
from transkern.frontend.loops.carried import lists as carried_lists
from transkern.frontend.python.characters import code_of
from transkern.frontend.values import doubts, shaped
from transkern.frontend.values.scalars import scalar_expr, select
from transkern.frontend.values.values import (
    Array,
    Char,
    GrowingList,
    Hashed,
    Instance,
    JoinedText,
    Object,
    OneOf,
    OrNone,
    Row,
    Scalar,
    Static,
    Value,
    children,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Var
from transkern.ir.traverse import buffers_read, variables_read, walk_expr

if TYPE_CHECKING:
    from transkern.frontend.loops.carried.state import LoopState
    from transkern.frontend.loops.looping import Loops


def assign_all(state: LoopState, owner: Loops, pending: list[tuple[Value, Value]]) -> None:
    """The slots take their values at once: what reads a slot that changes is evaluated first."""
    ctx = owner.ctx
    changing = {s.expr.name for s, _ in pending if isinstance(s, Scalar) and isinstance(s.expr, Var)}
    moving = {s.base for s, _ in pending if isinstance(s, Array)}
    changing |= {v for s, _ in pending if isinstance(s, Array) for d in s.dims for v in variables_read(d)}
    settled: list[tuple[Value, Value]] = []
    lists = [(s, v) for s, v in pending if isinstance(s, GrowingList) and isinstance(v, GrowingList)]
    pending = [p for p in pending if p not in lists]
    carried_lists.assign_all(ctx, lists)
    pending = [
        (Scalar(s.code, True), Scalar(code, True))
        if isinstance(s, Char) and (code := code_of(v)) is not None else
        numbers_of(s, v) or (s, v)
        for s, v in pending
    ]  # fmt: skip
    changing |= {s.expr.name for s, _ in pending if isinstance(s, Scalar) and isinstance(s.expr, Var)}
    for slot, value in pending:
        if isinstance(slot, Scalar):
            expr = b.cast(scalar_expr(ctx, value), slot.dtype)
            others = changing - {slot.expr.name}  # type: ignore[union-attr]
            if len(pending) > 1 and (variables_read(expr) & others or buffers_read(expr) & moving):
                expr = ctx.let(expr, "next")
                if isinstance(expr, Var) and expr.name in changing:
                    held = ctx.names.fresh("next")
                    ctx.emit(n.Let(held, expr))
                    expr = Var(held, slot.dtype)
            tag = None if slot.tag is None else list_types.tag_of(value)
            settled.append((slot, Scalar(expr, slot.python, tag)))
        elif isinstance(slot, Array) and isinstance(value, Array):
            own = {v for d in slot.dims for v in variables_read(d)}
            value = _as_it_is_now(ctx, value, changing - own)
            reads = buffers_read(value.body) | (set() if value.mask is None else buffers_read(value.mask))
            if len(pending) > 1 and reads & (moving - {slot.base}):
                value = ctx.define(value, f"next_{slot.base}")
            settled.append((slot, value))
        else:
            settled.append((slot, value))
    names = {s.expr.name: k for k, s in state.slots.items() if isinstance(s, Scalar) and isinstance(s.expr, Var)}
    for slot, value in settled:
        if isinstance(slot, Scalar):
            assert isinstance(slot.expr, Var) and isinstance(value, Scalar)
            place = ctx.scopes.places.get(names.get(slot.expr.name, ""), ctx.session.span)
            ctx.emitter.out.append(n.Assign(slot.expr.name, value.expr, span=place))
            if isinstance(slot.tag, Var) and value.tag is not None and value.tag != slot.tag:
                ctx.emitter.out.append(n.Assign(slot.tag.name, value.tag, span=place))
        elif isinstance(slot, Array) and shaped.is_shaped(ctx, slot):
            assert isinstance(value, Array)
            shaped.fill(ctx, slot, value)
        elif isinstance(slot, Array):
            assert isinstance(value, Array)
            size = slot.dims[0] if slot.dims else None
            if isinstance(size, Var) and size.name == f"{slot.base}.size":
                shaped.fill_counted(owner.ctx, ctx.names.buffers[slot.base], size, value)
            else:
                ctx.emit(n.Write(slot.base, value.axes, tuple(a.var for a in value.axes), value.body))


def _as_it_is_now(ctx: Context, value: Array, changing: set[str]) -> Array:
    """An array with the sizes and numbers that it has here, before other slots change."""
    parts = [*value.domain, value.body, *([] if value.mask is None else [value.mask])]
    names: dict[str, Expr] = {}
    for var in (e for p in parts for e in walk_expr(p) if isinstance(e, Var)):
        if var.name in changing and var.name not in names:
            held = ctx.names.fresh("next") + (".size" if b.is_size_name(var.name) else "")
            ctx.emit(n.Let(held, var))
            names[var.name] = Var(held, var.dtype)
    if not names:
        return value
    axes = tuple(replace(x, extent=b.substitute(x.extent, names)) for x in value.axes)
    mask = None if value.mask is None else b.substitute(value.mask, names)
    return replace(value, axes=axes, body=b.substitute(value.body, names), mask=mask)


def note_left(state: LoopState, name: str, slot: Value, value: Value) -> None:
    """The types of the numbers that an iteration leaves in a slot."""
    if isinstance(slot, Scalar) and isinstance(slot.expr, Var):
        kinds = doubts.kinds_of(value)
        left = state.numbers.left.setdefault(slot.expr.name, set())
        left.update(kinds)
        if value != slot and any(python for _, python in kinds) and name not in state.numbers.python_left:
            state.numbers.python_left.add(name)
            state.widened = state.widened or slot.doubt is not None
        if len(left) > 1 and name not in state.numbers.mixed:
            state.numbers.mixed.add(name)
            state.widened = True
        if slot.doubt is not None and slot.doubt.split is not None and doubts.choice((slot, value)) is None:
            state.numbers.untold.add(name)
            state.widened = True
    for s, v in zip(children(slot) or (), children(value) or (), strict=True):
        note_left(state, name, s, v)


def of_elements(ctx: Context, value: Value) -> Value:
    """A number or an array on its way from one iteration to the next: not of a list that is empty."""
    return doubts.settled_array(ctx, value) if isinstance(value, Array) else doubts.settled(ctx, value)


def numbers_of(one: Value, two: Value) -> tuple[Value, Value] | None:
    """The numbers that stand for two lists, two objects, or two texts among those of the first."""
    if isinstance(one, OneOf) and isinstance(two, (OneOf, Static)):
        options, at = (two.options, two.index) if isinstance(two, OneOf) else ((two.value,), b.ZERO)
        return Scalar(one.index, True), Scalar(select(at, [b.index(one.options.index(o)) for o in options]), True)
    if isinstance(one, (Row, Instance)) and isinstance(two, (Row, Instance)) and type(one) is type(two):
        return Scalar(one.number, True), Scalar(two.number, True)
    return None


def slot_pairs(state: LoopState, ctx: Context, slot: Value, value: Value) -> list[tuple[Value, Value]]:
    """What becomes of the variables of a slot, when it becomes `value`: pairs of them and of their values."""
    if isinstance(slot, OrNone):
        pairs = none_pairs(slot, value)
        if isinstance(value, Static) and value.value is None:
            return pairs
        inner = value.value if isinstance(value, OrNone) else value
        return pairs + slot_pairs(state, ctx, slot.value, inner)
    if isinstance(slot, Object) and slot.token in state.contents.fresh:
        return slot_pairs(state, ctx, state.contents.fresh[slot.token], ctx.deref(value))
    if slot == value:
        return []
    if isinstance(slot, Hashed) and isinstance(found := ctx.deref(value), Hashed):
        return [] if found is slot else [*carried_dicts.pairs(slot, found)]
    if isinstance(slot, JoinedText):
        return [(slot.items, carried_lists.characters(ctx, value))]
    mine, others = children(slot), children(value)
    if mine is not None and others is not None:
        return [p for s, v in zip(mine, others, strict=True) for p in slot_pairs(state, ctx, s, v)]
    if isinstance(slot, Scalar) and slot.doubt is not None and slot.doubt.split is not None:
        return [(slot, value), *doubts.handed_on(slot, slot.doubt.split, value)]
    return [(slot, value)]


def none_pairs(slot: OrNone, value: Value) -> list[tuple[Value, Value]]:
    """Whether a slot is None after this."""
    absent = isinstance(value, Static) and value.value is None
    now: Value = Scalar(value.none, True) if isinstance(value, OrNone) else Static(absent)
    return [] if isinstance(value, OrNone) and value.none == slot.none else [(Scalar(slot.none, True), now)]
