"""Dicts and sets that a loop binds anew (``rank = new``), or that are one of two on two paths: each has memory of its
own, which takes what another one holds, place by place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from transkern.frontend.containers import hashed, list_types
from transkern.frontend.context import Context
from transkern.frontend.loops.carried import lists as carried_lists
from transkern.frontend.loops.carried.lists import Table
from transkern.frontend.values.values import (
    Dict,
    GrowingList,
    Hashed,
    Object,
    Seq,
    Value,
    children,
    same_structure,
    with_children,
)


@dataclass(frozen=True, slots=True)
class Shape:
    """What a dict or a set is like; two that are alike hold keys and values of one type. `keys` and `values` are None
    where none are known yet."""

    kind: str
    of: type | None
    default: Value | None
    frozen: bool
    keys: Table | None
    values: Table | None


def shape_of(made: Hashed) -> Shape | None:
    """What a dict or a set is like; None where its keys or values are of no kind that is taken over."""
    parts = [_table(one) for one in (made.keys, made.values)]
    if made.is_callers or any(p is False for p in parts):
        return None
    return Shape(made.kind, made.of, made.default, made.frozen, *parts)


def _table(one: GrowingList | None) -> Table | Any | None:
    """What a list is like, None where nothing is known to be in it, False where its elements are not taken over."""
    if one is None or not (one.dtype or one.columns):
        return None
    return carried_lists.shape_of(one) or False


def joined(ctx: Context, one: Shape | Hashed, two: Hashed) -> Shape | None:
    """What two dicts (sets) are both like; None where there is no such thing. Numbers of other types begin anew, as
    such of several."""
    shapes = [one if isinstance(one, Shape) else shape_of(one), shape_of(two)]
    first, second = shapes
    if first is None or second is None:
        return None
    if (first.kind, first.of, first.default, first.frozen) != (second.kind, second.of, second.default, second.frozen):
        return None
    parts: list[Table | None] = []
    for name in ("keys", "values"):
        mine, its = getattr(first, name), getattr(second, name)
        part = mine or its
        if mine is not None and its is not None:
            part = carried_lists.joined(mine, its)
            lists = mine if isinstance(one, Shape) else getattr(one, name), getattr(two, name)
            for fixed, dtype, python in carried_lists.of_one_type(*lists) if part is None else ():
                if fixed.site is not None:
                    list_types.mixed(ctx, fixed, dtype, python, "give its keys, and its values, one type")
            if part is None:
                return None
        parts.append(part)
    return Shape(first.kind, first.of, first.default, first.frozen, *parts)


def made(ctx: Context, name: str, shape: Shape, initial: Value | None = None) -> Hashed:
    """A dict or a set of its own, with what another one holds to begin with."""
    slot = hashed.new(ctx, name, shape.kind, ("fixed", name), shape.default, shape.of)
    for one, table in ((slot.keys, shape.keys), (slot.values, shape.values)):
        if one is not None and table is not None:
            carried_lists.become_like(ctx, one, table)
    for one in (slot.alive, slot.codes, slot.table, slot.info):  # of what they take over, nothing is known
        ctx.names.buffers[one.buffer] = list_types.without_range(ctx.names.buffers[one.buffer])
    slot = hashed.as_frozen(slot) if shape.frozen else slot
    if isinstance(initial, Hashed):
        take(ctx, slot, initial)
    return slot


def pairs(slot: Hashed, value: Hashed) -> list[tuple[GrowingList, GrowingList]]:
    """The lists that take the elements of others, where a dict or a set becomes another."""
    found = [(slot.alive, value.alive), (slot.codes, value.codes), (slot.table, value.table), (slot.info, value.info)]
    for mine, its in ((slot.keys, value.keys), (slot.values, value.values)):
        if mine is not None and its is not None:
            found.append((mine, its))
    return found


def take(ctx: Context, slot: Hashed, value: Hashed) -> None:
    """A dict or a set becomes what another one is."""
    carried_lists.assign_all(ctx, [(mine, its) for mine, its in pairs(slot, value) if its.dtype or its.columns])


def is_known_dict(ctx: Context, value: Object) -> bool:
    """Whether it is a dict or a set that is written out."""
    contents = ctx.deref(value)
    return isinstance(contents, Dict) or (isinstance(contents, Seq) and contents.kind == "set")


def is_hashed(ctx: Context, kind: Any) -> bool:
    """Whether it is a dict or a set whose keys are known at run time only."""
    match kind:
        case ("hashed", _) | ("same", Hashed()):
            return True
        case ("fresh", inner):
            return is_hashed(ctx, inner)
        case ("object", Object() as value):
            return isinstance(ctx.deref(value), Hashed)
        case _:
            return False


def has_other_keys(ctx: Context, kind: Any, value: Object) -> bool:
    """Whether two dicts that are written out have other keys; of a set the elements tell the order."""
    if not is_known_dict(ctx, value):
        return False
    if isinstance(ctx.deref(value), Seq):
        return True
    one = children(ctx.deref(value)) or ()
    match kind:
        case ("object", Object() as other) if is_known_dict(ctx, other):
            return not same_structure(ctx.deref(other), ctx.deref(value))
        case ("fresh", ("items", shell, kinds)) if isinstance(shell, (Dict, Seq)):
            return len(kinds) != len(one) or shell != with_children(ctx.deref(value), ())
        case _:
            return False
