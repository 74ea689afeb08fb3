"""Stores into lists of run-time length: what takes the place of an element that a list has."""

from __future__ import annotations

import collections
import operator
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from transkern import refusals
from transkern.frontend.compositions import compose
from transkern.frontend.containers import growing, list_types, making, pools, putting, rows
from transkern.frontend.containers.elements import is_typed, list_position, numbers
from transkern.frontend.context import Context
from transkern.frontend.loops.iterating import made_now
from transkern.frontend.numpy.arrays import as_array, list_array
from transkern.frontend.state import aliasing, handing, twins
from transkern.frontend.subscripts.positions import check_position
from transkern.frontend.values import python_types
from transkern.frontend.values.describing import describe
from transkern.frontend.values.values import (
    OPTIONAL,
    Array,
    Concatenation,
    GrowingList,
    Instance,
    Object,
    OrNone,
    Range,
    Record,
    Row,
    Seq,
    Slice,
    Static,
    Value,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr


def store_item(ctx: Context, owner: GrowingList, items: Sequence[Value], value: Value) -> None:
    """``list[k] = value``."""
    putting.must_be_own(ctx, owner, grows=False)
    if isinstance(items[0], (Range, Slice)):
        _store_slice(ctx, owner, items[0], value)
        return
    of: Any = collections.deque() if owner.is_queue else []
    check_position(ctx, items[0], lambda at: operator.setitem(of, at, ()))
    outside = "deque index out of range" if owner.is_queue else "list assignment index out of range"
    at = growing.position_in(ctx, owner, list_position(ctx, ctx.deref(items[0])), outside)
    put_at(ctx, owner, at, value)


IN_SLICES = "make a list of what is to be in it: a = a[:k] + values + a[k:]"


def check_iterable(ctx: Context, at: Value, value: Value) -> None:
    """Python's error where what is stored into a slice of a list is no iterable."""
    step = at.step if isinstance(at, Slice) else None
    part = slice(None, None, None if step in (None, Static(None), Static(1)) else 2)
    python_types.check(ctx, lambda given: operator.setitem([1], part, given), value)


def how_many(ctx: Context, value: GrowingList | Array) -> Expr:
    """How many elements there are in what is stored into a list."""
    return value.length if isinstance(value, GrowingList) else value.domain[0] if value.axes else b.ZERO


def _store_slice(ctx: Context, owner: GrowingList, at: Value, value: Value) -> None:
    """``list[:] = values``: the list forgets what it has, and gets others."""
    check_iterable(ctx, at, value)
    contents = ctx.deref(made_now(ctx, value))
    if contents is owner and at == Slice(None, None, None):
        return
    plain = not (owner.is_queue or owner.dims or owner.row not in ("", "tuple") or owner.prefix)
    if plain and isinstance(at, Slice) and at.step in (None, Static(None), Static(1)) and _has_ends(at):
        if not isinstance(contents, GrowingList):
            contents = growing.from_items(ctx, contents) if isinstance(contents, Seq) else making.list_of(
                ctx, numbers(ctx, contents), isinstance(contents, Range)
            )  # fmt: skip
        ends = [Static(None) if end is None else end for end in (at.start, at.stop)]
        contents = ctx.deref(compose(ctx, "lists", "with_part", [owner, *ends, contents], {}))
    elif plain and isinstance(at, Slice) and at.step not in (None, Static(None), Static(1)):
        if isinstance(contents, (Range, Seq)):
            contents = growing.from_items(ctx, contents) if isinstance(contents, Seq) else contents
        elif contents is owner:
            contents = growing.copied(ctx, owner)
        ends = [Static(None) if end is None else end for end in (at.start, at.stop, at.step)]
        compose(ctx, "lists", "store_steps", [owner, *ends, contents], {})
        return
    elif at != Slice(None, None, None) or not plain:
        problem = "a store into a slice of a list whose length only the run knows"
        ctx.fail(refusals.TARGET, problem, IN_SLICES)
    if isinstance(contents, Seq):
        contents = making.held(ctx, contents)
    elif isinstance(contents, (Array, Concatenation, Range)):
        contents = making.list_of(ctx, numbers(ctx, contents), isinstance(contents, Range))
    growing.clear(ctx, owner)
    growing.extend(ctx, owner, contents)


def delete_slice(ctx: Context, owner: GrowingList, at: Slice) -> None:
    """``del list[a:b]`` and ``del list[a:b:c]``."""
    putting.must_be_own(ctx, owner)
    start, stop, step = (Static(None) if part is None else ctx.deref(part) for part in (at.start, at.stop, at.step))
    if step not in (Static(None), Static(1)):
        compose(ctx, "lists", "delete_steps", [owner, start, stop, step], {})
    elif stop == Static(None) and start != Static(None):
        compose(ctx, "lists", "shorten", [owner, start], {})
    else:
        compose(ctx, "lists", "delete_part", [owner, start, stop], {})


def _has_ends(at: Slice) -> bool:
    return any(end not in (None, Static(None)) for end in (at.start, at.stop))


def put_at(ctx: Context, owner: GrowingList, at: Expr, value: Value) -> None:
    """A value in the place of the one at a position that a list has."""
    if not is_typed(ctx, owner):
        return  # it has none
    outer, ctx.lists.replacing = ctx.lists.replacing, owner.count
    try:
        _replace(ctx, owner, at, value)
    finally:
        ctx.lists.replacing = outer


def _note(ctx: Context, owner: GrowingList) -> None:
    """Where arrays have copies elsewhere (`trace.append(self.x)`), these stay what they are when another comes in place
    of one; a list in a list, and a list's numbers, change in place."""
    arrays = owner.dims and not (owner.row and owner.row != OPTIONAL) and not owner.prefix and owner.rows is None
    (aliasing.note_replaced if arrays else aliasing.note_store)(ctx, owner.buffer)


def _replace(ctx: Context, owner: GrowingList, at: Expr, value: Value) -> None:
    _note(ctx, owner)
    given = value
    is_object = isinstance(value, Instance) or isinstance(ctx.deref(value), Record)
    if not is_object and not pools.is_keyed(ctx, value):
        value = ctx.deref(value)
    elif owner.row != OPTIONAL:
        putting.put(ctx, owner, value, at)
        return
    if owner.objects is not None and value != Static(None) and not isinstance(value, OrNone):
        ctx.fail(refusals.LIST_OF_TYPES, f"{describe(value)} in a list of objects", "store objects of one class")
    if owner.rows is not None:
        ctx.emit(n.Store(owner.buffer, owner.index(at), putting.row_number(ctx, owner.rows, given)))
        return
    if owner.row != OPTIONAL and (isinstance(value, OrNone) or (value == Static(None) and not owner.options)):
        making.become_optional(ctx, owner)
    if owner.row == OPTIONAL:
        for leaf in owner.leaves:
            _note(ctx, leaf)
        putting.put_optional(ctx, owner, given if isinstance(given, Row) else value, at)
        return
    if owner.row and owner.dims:
        _store_row(ctx, owner, at, value, given)
        return
    if owner.dims and not owner.row and isinstance(value, (Array, Concatenation)):
        _store_array(ctx, owner, at, as_array(ctx, value))
        return
    if owner.columns or owner.dims or isinstance(value, (Seq, GrowingList)):
        if isinstance(value, Record) and value.kind is owner.of:
            value = Seq(value.items)
        if isinstance(value, Seq) and _fits(ctx, owner, value):
            _store_columns(ctx, owner, at, value)
            return
        if owner.row == "list" and (isinstance(value, GrowingList) or getattr(value, "kind", "") == "list"):
            rows.wanted(ctx, owner, "a list of lists of different lengths")
        problem = f"a store of {describe(value)} into a list whose elements are of another type"
        ctx.fail(refusals.LIST_OF_TYPES, problem, "store what is like the other elements, or use an array")
    _store_number(ctx, owner, at, value)


def _store_array(ctx: Context, owner: GrowingList, at: Expr, array: Array) -> None:
    """An array takes the place of one in a list: its elements do, as long as no name stands for the one before."""
    twins.check_views(ctx, owner, "an array in a list that is replaced by another")
    array = ctx.compact(array, "row") if array.mask is not None else array
    same = len(array.dims) == len(owner.dims) and all(
        one == two or ctx.facts.assume_equal(one, two) for one, two in zip(array.dims, owner.dims, strict=True)
    )
    if not same and (array.dtype, array.dims[1:]) == (owner.dtype, owner.dims[1:]) and array.dims:
        rows.wanted(ctx, owner, "a list of arrays of different lengths")
    if not same or array.dtype != owner.dtype:
        ctx.fail(refusals.LIST_OF_TYPES, "a list whose elements differ in type", "store arrays of one dtype and shape")
    if array.view:
        owner.shared = handing.note_element(ctx, owner, array) or owner.shared
    new = ctx.define(replace(array, view=False), "item")
    index = (*owner.index(at), *(a.var for a in new.axes))
    ctx.names.buffers[owner.buffer] = list_types.without_range(ctx.names.buffers[owner.buffer])
    ctx.emit(n.Write(owner.buffer, new.axes, index, new.body))


def _store_number(ctx: Context, owner: GrowingList, at: Expr, value: Value) -> None:
    expr, python = list_types.typed(ctx, owner, value)
    if (expr.dtype, python) != (owner.dtype, owner.python) or (owner.prefix and list_types.tells_its_type(value)):
        list_types.mixed(ctx, owner, expr.dtype, python, "store elements of the type it has")
    before = ctx.names.buffers[owner.buffer]
    list_types.widen(ctx, owner, expr)
    if len(ctx.control.trips) > owner.around.depth and ctx.names.buffers[owner.buffer] != before:
        ctx.aliasing.stored.add(owner.buffer)  # what has been read of it in the loop may be of the next iteration
    list_types.tag(ctx, owner, at, value)
    ctx.emit(n.Store(owner.buffer, owner.index(at), expr))


def _fits(ctx: Context, owner: GrowingList, value: Value) -> bool:
    """Whether a value is a tuple like those in a list."""
    if not owner.columns or owner.row == OPTIONAL:
        return True  # or `_replace` says what does not
    value = ctx.deref(value)
    same = isinstance(value, Seq) and value.kind == owner.row and len(value.items) == len(owner.columns)
    return same and all(_fits(ctx, c, i) for c, i in zip(owner.columns, value.items, strict=True))  # type: ignore


def _store_columns(ctx: Context, owner: GrowingList, at: Expr, value: Value) -> None:
    if not owner.columns or owner.row == OPTIONAL:
        _replace(ctx, owner, at, value)
        return
    value = ctx.deref(value)
    assert isinstance(value, Seq)
    for column, item in zip(owner.columns, value.items, strict=True):
        _store_columns(ctx, column, at, item)


def _store_row(ctx: Context, owner: GrowingList, at: Expr, value: Value, given: Value) -> None:
    """A list takes the place of one in a list: its numbers do, as long as no name stands for the one before."""
    if isinstance(given, Object):
        handing.note_handed(ctx, given)
        twins.note_original(ctx, owner.buffer, given, owner.site)
    value = making.as_list(ctx, value) if isinstance(value, Seq) else value
    if not isinstance(value, GrowingList) or value.columns or (len(value.dims) + 1) != len(owner.dims):
        problem = f"a store of {describe(value)} into a list of lists"
        ctx.fail(refusals.NESTED_LIST, problem, "use an array with two dimensions")
    others = ctx.scopes.still_named(
        lambda v: isinstance(v, GrowingList) and bool(v.prefix) and v.buffer == owner.buffer
    )
    if others or value.extent is None:
        problem = "a list in a list that is replaced by another" + (f", while `{others[0]}` is one" if others else "")
        rows.wanted(ctx, owner, problem)
    if (value.dtype, value.python) != (owner.dtype, owner.python):
        list_types.mixed(ctx, owner, value.dtype, value.python, "store elements of the type it has")
    if not value.prefix:
        aliasing.note_append(ctx, value.buffer)
    if twins.note_row(ctx, owner, value):
        rows.wanted(ctx, owner, "a list in a list that stands in several, and is changed in a loop")
    same = b.compare("equal", value.extent, owner.dims[0])
    if same == b.FALSE or (same != b.TRUE and not ctx.facts.assume_equal(value.extent, owner.dims[0])):
        rows.wanted(ctx, owner, "a list of lists of different lengths")
    array = ctx.define(replace(list_array(ctx, value), view=False), "row")
    index = (*owner.prefix, at, *(a.var for a in array.axes))
    ctx.emit(n.Write(owner.buffer, array.axes, index, b.cast(array.body, owner.dtype)))
