"""Lists whose length is known at run time only: a buffer with a bound, and a count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NoReturn

import numpy as np

from transkern import refusals
from transkern.frontend import compositions
from transkern.frontend.anew import Site
from transkern.frontend.containers import putting, rows
from transkern.frontend.containers.elements import element, is_typed, list_position, numbers_of
from transkern.frontend.containers.list_types import (
    all_typed,
    columns_of,
    fail_differ,
    list_type,
    make_tags,
    note_kinds,
    numbers_of_texts,
    tag_of,
    untag,
    widen_by,
)
from transkern.frontend.containers.making import held, list_of, new
from transkern.frontend.containers.putting import (
    append,
    must_be_own,
    of_one_class,
    put,
    row_number,
    shorten,
    tag_many,
    takes_types_of,
)
from transkern.frontend.context import Context
from transkern.frontend.loops.trips import bound_of
from transkern.frontend.numpy.arrays import list_array
from transkern.frontend.python.whole import NO_SIZE, integer_expr
from transkern.frontend.state import aliasing, guards, handing, twins
from transkern.frontend.values.asking import asked
from transkern.frontend.values.numbers import type_name
from transkern.frontend.values.values import (
    OPTIONAL,
    Array,
    GrowingList,
    Row,
    Scalar,
    Seq,
    Static,
    Value,
)
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Const, Expr, Var

_NO_ARGUMENT = ("OverflowError", NO_SIZE)


def filled(ctx: Context, name: str, items: Sequence[Value], site: Site | None = None) -> GrowingList:
    """A list with `items` in it."""
    owner = new(ctx, name, site, len(items))
    if len(items) > 1 and all(i == Seq((), "set") for i in items):
        compositions.compose(ctx, "lists", "put_empty_sets", [owner, Static(len(items))], {})
        items = ()
    for item in items:
        append(ctx, owner, item)
    return owner


def forget_behind_none(ctx: Context, owner: GrowingList) -> None:
    """Makes zeros of what stands where a list has None, which may be anything: it is handed back with the rest."""
    if owner.row == OPTIONAL:
        flags, held = owner.columns
        for leaf in held.leaves:
            for one in (leaf, replace(leaf, buffer=leaf.tags, dtype="uint8", python=False)):
                if one.buffer in ctx.names.buffers:
                    axis, *rest = ctx.names.axes((owner.length, *one.dims))
                    index = (*one.index(axis.var), *(a.var for a in rest))
                    none = ctx.names.load(flags.buffer, flags.index(axis.var))
                    kept = b.where(none, Const(0, one.dtype), ctx.names.load(one.buffer, index))
                    ctx.emit(n.Write(one.buffer, (axis, *rest), index, kept))
    if owner.rows is not None:
        forget_behind_none(ctx, owner.rows.pool)
    for column in owner.columns:
        forget_behind_none(ctx, column)


def must_be_fixed(
    ctx: Context, owner: GrowingList, problem: str, help: str, kind: refusals.Kind = refusals.RUN_TIME_LENGTH
) -> NoReturn:
    """The list's length must be known at specialisation."""
    grown_by = owner.limits.grown_by
    ctx.must_be_known(Static(None) if grown_by is None else Scalar(grown_by, True), problem, help, kind)


def queue(ctx: Context, items: Value | None, most: Value | None, site: Site) -> GrowingList:
    """``collections.deque(items, maxlen)``."""
    owner = new(ctx, "queue", site, queue=True)
    if most is not None and most != Static(None):
        longest = ctx.let(integer_expr(ctx, most), "maxlen")
        owner.limits = replace(owner.limits, most=longest)
        ctx.guard(b.compare("greater_equal", longest, b.ZERO), "ValueError", "maxlen must be non-negative")
    if items is not None:
        if owner.limits.most is not None and not isinstance(ctx.deref(items), (Seq, Static)):
            compositions.compose(ctx, "lists", "append_all", [owner, items], {})
        else:
            extend(ctx, owner, items)
    return owner


def append_left(ctx: Context, owner: GrowingList, value: Value) -> None:
    """``deque.appendleft``; of one in a list what is there moves up by one."""
    if owner.row_of is not None:
        return _insert(ctx, owner, b.ZERO, value)
    head = Var(owner.head)
    ctx.emit(n.Assign(owner.head, b.sub(head, b.ONE)))
    guards.must_have_room(ctx, b.compare("greater_equal", head, b.ZERO))
    twins.note_longer_in_front(ctx, owner)
    put(ctx, owner, value, b.ZERO)
    ctx.emit(n.Assign(owner.count, b.add(b.size(owner.count), b.ONE)))
    if owner.limits.most is not None:
        shorten(ctx, owner)


def pop_left(ctx: Context, owner: GrowingList) -> Value:
    """``deque.popleft``."""
    assert owner.head
    count = b.size(owner.count)
    ctx.guard(b.compare("greater", count, b.ZERO), "IndexError", "pop from an empty deque")
    if not is_typed(ctx, owner):
        ctx.guard(b.FALSE, "IndexError", "pop from an empty deque")
    value = twins.taken(ctx, owner, held(ctx, element(ctx, owner, b.ZERO)))
    twins.note_shorter(ctx, owner, in_front=True)
    if owner.row_of is None:
        ctx.emit(n.Assign(owner.head, b.add(Var(owner.head), b.ONE)))
    else:
        rows.shift(ctx, owner.row_of)
    ctx.emit(n.Assign(owner.count, b.sub(count, b.ONE)))
    return value


def with_types(ctx: Context, owner: GrowingList) -> GrowingList:
    """A list as one of the types that are put into it later."""
    wanted = None if owner.site is None else ctx.learned.wanted.get(owner.site)
    if wanted is None or owner.columns or not owner.dtype:
        return owner
    made = owner
    tagged = owner.tags in ctx.names.buffers
    if tagged:  # a copy, of which is not known of what list
        ctx.learned.held.note(owner.site, ctx.learned.held.tell(None))
    if (owner.dtype, owner.python) != wanted:
        array = list_array(ctx, owner)
        made = list_of(ctx, replace(array, body=all_typed(ctx, array, wanted[0]), view=False), wanted[1])
        made.site, made.row, made.extent = owner.site, owner.row, owner.extent
    make_tags(ctx, made)
    if tagged and made is not owner:
        kinds = list_array(ctx, replace(owner, buffer=owner.tags, dtype="uint8", python=False, tags=""))
        ctx.emit(n.Write(made.tags, kinds.axes, tuple(a.var for a in kinds.axes), kinds.body))
    elif made.tags and not tagged:
        axis = ctx.names.axis("i", made.length)
        of_before = Scalar(Const(0, owner.dtype), owner.python)
        note_kinds(ctx, made, of_before)
        kind = tag_of(of_before)
        ctx.emit(n.Write(made.tags, (axis,), (axis.var,), kind))
    return made


def extend(ctx: Context, owner: GrowingList, value: Value) -> None:
    """``list.extend``."""
    must_be_own(ctx, owner)
    contents = ctx.deref(value)
    if isinstance(contents, Static) and not isinstance(contents.value, np.ndarray):
        asked(ctx, iter, contents.value)
    if isinstance(contents, Scalar):
        ctx.guard(b.FALSE, "TypeError", f"'{type_name(contents)}' object is not iterable")
    if owner.row_of is not None and not isinstance(contents, Static):
        putting.extend_row(ctx, owner.row_of, contents)
        return
    of_numpy = isinstance(contents, Static) and isinstance(contents.value, (np.generic, np.ndarray))
    if isinstance(contents, (Seq, Static)) and not of_numpy:
        items = contents.items if isinstance(contents, Seq) else [Static(v) for v in contents.value]
        for item in items:
            append(ctx, owner, item)
        return
    if isinstance(contents, GrowingList) and not is_typed(ctx, contents):
        return
    if isinstance(contents, GrowingList) and _go_one_by_one(ctx, owner, contents):
        compositions.compose(ctx, "lists", "put_behind", [owner, contents], {})
        return
    ctx.emit(n.Assign(owner.count, b.add(b.size(owner.count), _put_behind(ctx, owner, contents))))


def _go_one_by_one(ctx: Context, owner: GrowingList, value: GrowingList) -> bool:
    """Whether what a list is extended by has lists in it that are others than its own; also in tuples."""
    if not value.columns or owner.dtype or (owner.columns and owner.of is not value.of):
        return rows.go_one_by_one(owner, value)
    owner.of = value.of
    columns = columns_of(ctx, owner, Seq((Static(None),) * len(value.columns), value.row))
    return any(_go_one_by_one(ctx, mine, its) for mine, its in zip(columns, value.columns, strict=True))


def _put_behind(ctx: Context, owner: GrowingList, contents: Value) -> Expr:
    """The elements of a list or an array, behind those that a list has; how many they are."""
    if isinstance(contents, GrowingList) and contents.columns:
        if (owner.columns or owner.of) and owner.of is not contents.of:
            fail_differ(ctx)
        owner.of = contents.of
        columns = columns_of(ctx, owner, Seq((Static(None),) * len(contents.columns), contents.row))
        for mine, its in zip(columns, contents.columns, strict=True):
            added = _put_behind(ctx, mine, its)
        return added
    if owner.columns:
        fail_differ(ctx)
    contents = of_one_class(ctx, owner, numbers_of_texts(ctx, owner, contents))
    contents = rows.as_numbers(ctx, owner, contents)
    rows.must_be_alike(ctx, owner, contents)
    array, python = numbers_of(ctx, contents)
    twins.note_more(ctx, owner, contents)
    is_python = python
    takes_types_of(ctx, owner, contents, (array.dtype, python))
    extent = bound_of(ctx, array.dims[0])
    wanted = None if owner.site is None else ctx.learned.wanted.get(owner.site)
    dtype, python = wanted or (array.dtype if array.dtype != "int64" or not python else "index", python)
    list_type(ctx, owner, dtype, array.dims[1:], python, extent)
    widen_by(ctx, owner, None)
    count = b.size(owner.count)
    index = (*owner.index(b.add(count, array.axes[0].var)), *(a.var for a in array.axes[1:]))
    ctx.emit(n.Write(owner.buffer, array.axes, index, all_typed(ctx, array, owner.dtype)))
    tag_many(ctx, owner, contents, array, is_python, index)
    return array.dims[0]


def changed(ctx: Context, owner: GrowingList, part: Callable[[Array], Array]) -> GrowingList:
    """A new list of `part` of the elements, which `part` takes of each column."""
    if not owner.columns:
        array, python = numbers_of(ctx, replace(owner, rows=None, options=(), objects=None))
        made = list_of(ctx, part(array), python)
        made.row, made.rows, made.options, made.objects = owner.row, owner.rows, owner.options, owner.objects
        made.shared, made.site = owner.shared, owner.site
        twins.note(ctx, made, owner)
        if owner.tags in ctx.names.buffers:
            kinds = part(list_array(ctx, replace(owner, buffer=owner.tags, dtype="uint8", python=False, tags="")))
            tags = n.Buffer(ctx.names.fresh(f"{made.buffer}_types"), "uint8", ctx.names.buffers[made.buffer].dims)
            made.tags, ctx.names.buffers[tags.name] = tags.name, tags
            ctx.emit(n.Alloc(tags.name))
            ctx.emit(n.Write(tags.name, kinds.axes, tuple(a.var for a in kinds.axes), kinds.body))
        return made
    columns = [changed(ctx, c, part) for c in owner.columns]
    made = of_columns(ctx, columns, owner.row, b.size(columns[0].leaves[0].count))
    made.of, made.site = owner.of, owner.site
    twins.note(ctx, made, owner)
    return made


def gathered(ctx: Context, owner: GrowingList, positions: Array) -> GrowingList:
    """A new list of the elements at some positions, which it has; lists among them are the same lists."""
    if not is_typed(ctx, owner):
        return new(ctx, "items")
    if not owner.columns:
        axis = positions.axes[0]

        def part(array: Array) -> Array:
            rest = array.axes[1:]
            return Array((axis, *rest), array.at((b.as_index(positions.body), *(a.var for a in rest))))

        return changed(ctx, owner, part)
    made = of_columns(ctx, [gathered(ctx, c, positions) for c in owner.columns], owner.row, positions.dims[0])
    made.of, made.site = owner.of, owner.site
    twins.note(ctx, made, owner)
    return made


def of_columns(ctx: Context, columns: Sequence[GrowingList], row: str, length: Expr) -> GrowingList:
    """A list of tuples of the elements of lists of one length."""

    def counted(one: GrowingList, count: str) -> GrowingList:
        return replace(one, count=count, columns=[counted(c, count) for c in one.columns])

    made = new(ctx, "items")
    made.row, made.columns = row, [counted(c, made.count) for c in columns]
    ctx.lists.columns[made.buffer] = []
    ctx.names.bounds[made.count] = ctx.names.bounds[columns[0].count]
    ctx.emit(n.Assign(made.count, length))
    return made


def check_moved(ctx: Context, owner: GrowingList, why: str) -> None:
    """The arrays and lists in a list are about to change places: nobody may still look at one where it stood."""
    twins.check_views(ctx, owner, f"arrays in a list {why}")
    if names := twins.rows_named(ctx, owner):
        rows.wanted(ctx, owner, f"lists in a list {why}, while `{names[0]}` is one")


def reverse(ctx: Context, owner: GrowingList) -> None:
    """``list.reverse``."""
    must_be_own(ctx, owner, grows=False)
    check_moved(ctx, owner, "put into another order")
    aliasing.note_store(ctx, owner.buffer)
    if not is_typed(ctx, owner):
        return
    last = b.sub(owner.length, b.ONE)

    def turn(column: GrowingList) -> None:
        axes = ctx.names.axes((column.length, *column.dims))
        rest = tuple(a.var for a in axes[1:])
        held = ctx.names.load(column.buffer, (*column.index(b.sub(last, axes[0].var)), *rest))
        turned = ctx.define(Array(axes, held), "reversed")
        index = (*column.index(turned.axes[0].var), *(a.var for a in turned.axes[1:]))
        ctx.emit(n.Write(column.buffer, turned.axes, index, turned.body))

    each(ctx, owner, turn)


def put_all(ctx: Context, owner: GrowingList, array: Array) -> None:
    """As many numbers as the list has, into it."""
    untag(ctx, owner)
    must_be_own(ctx, owner, grows=False)
    aliasing.note_store(ctx, owner.buffer)
    index = owner.index(array.axes[0].var)
    ctx.emit(n.Write(owner.buffer, array.axes, index, all_typed(ctx, array, owner.dtype)))


def put_back(ctx: Context, owner: GrowingList, made: GrowingList) -> None:
    """The elements of another list of the same length, in the place of those of a list."""
    must_be_own(ctx, owner, grows=False)
    check_moved(ctx, owner, "put into another order")
    aliasing.note_store(ctx, owner.buffer)
    if owner.columns:
        for mine, its in zip(owner.columns, made.columns, strict=True):
            put_back(ctx, mine, its)
        return
    for mine_in, its_in in ((owner.buffer, made.buffer), (owner.tags, made.tags)):
        if its_in in ctx.names.buffers:
            axes = ctx.names.axes((made.length, *(owner.dims if mine_in == owner.buffer else ())))
            rest = tuple(a.var for a in axes[1:])
            held = ctx.names.load(its_in, (axes[0].var, *rest))
            ctx.emit(n.Write(mine_in, axes, (*owner.index(axes[0].var), *rest), held))


def copied(ctx: Context, owner: GrowingList) -> GrowingList:
    """``list.copy``."""
    if not owner.dtype and not owner.columns:
        is_typed(ctx, owner)
        return new(ctx, "items")
    made = changed(ctx, owner, lambda array: array)
    made.extent = owner.extent
    return made


def from_items(ctx: Context, value: Value, site: Site | None = None) -> GrowingList:
    """A list of what a tuple or list holds."""
    assert isinstance(value, Seq)
    made = filled(ctx, "items", value.items, site)
    made.extent = b.index(len(value.items))
    return made


def each(ctx: Context, owner: GrowingList, change: Callable[[GrowingList], None]) -> None:
    for column in owner.leaves:
        change(column)
        if column.tags in ctx.names.buffers:
            change(replace(column, buffer=column.tags, dtype="uint8", tags=""))


def clear(ctx: Context, owner: GrowingList) -> None:
    must_be_own(ctx, owner)
    _set_length(ctx, owner, b.ZERO)


def _set_length(ctx: Context, owner: GrowingList, length: Expr) -> None:
    twins.note_shorter(ctx, owner)
    ctx.emit(n.Assign(owner.count, length))
    if owner.row_of is not None:
        rows.set_size(ctx, owner.row_of, b.size(owner.count))


def pop(ctx: Context, owner: GrowingList, item: Value | None) -> Value:
    """``list.pop``: the last element, or one further in front, behind which the others move up."""
    must_be_own(ctx, owner)
    at = b.neg(b.ONE) if item is None else list_position(ctx, item, *_NO_ARGUMENT)
    count = b.size(owner.count)
    kind = "an empty deque" if owner.is_queue else "empty list"
    ctx.guard(b.compare("greater", count, b.ZERO), "IndexError", f"pop from {kind}")
    if not is_typed(ctx, owner):
        ctx.guard(b.FALSE, "IndexError", f"pop from {kind}")
    last = b.sub(count, b.ONE)
    if b.constant(at) == -1:
        value = twins.taken(ctx, owner, held(ctx, element(ctx, owner, last)))
        _set_length(ctx, owner, last)
        return value
    _not_queue(ctx, owner, "pop")
    at = position_in(ctx, owner, at, "pop index out of range")
    value = twins.taken(ctx, owner, held(ctx, element(ctx, owner, at)))
    _close_gap(ctx, owner, at)
    return value


def delete(ctx: Context, owner: GrowingList, item: Value) -> None:
    """``del list[k]``."""
    must_be_own(ctx, owner)
    at = list_position(ctx, item)
    _not_queue(ctx, owner, "del")
    at = position_in(ctx, owner, at, "list assignment index out of range")
    if is_typed(ctx, owner):  # or it has no element
        _close_gap(ctx, owner, at)


def _close_gap(ctx: Context, owner: GrowingList, at: Expr) -> None:
    """What stands behind a position moves up by one."""
    check_moved(ctx, owner, "of which one is taken out")
    last = b.sub(b.size(owner.count), b.ONE)

    def move(column: GrowingList) -> None:
        axes = ctx.names.axes((b.sub(last, at), *column.dims))
        here = b.add(at, axes[0].var)
        rest = tuple(a.var for a in axes[1:])
        moved = ctx.names.load(column.buffer, (*column.index(b.add(here, b.ONE)), *rest))
        ctx.emit(n.Write(column.buffer, axes, (*column.index(here), *rest), moved))

    each(ctx, owner, move)
    _set_length(ctx, owner, last)


def _not_queue(ctx: Context, owner: GrowingList, name: str) -> None:
    if owner.is_queue:
        ctx.fail(refusals.DEQUE, f"`{name}` inside a deque", "use a list")


def position_in(ctx: Context, owner: GrowingList, at: Expr, message: str) -> Expr:
    """A position that a list has, of one that may count from its end; IndexError with `message` where it has none."""
    count = owner.length
    at = ctx.let(at, "at")
    if ctx.control.trusted:
        return at
    inside = b.both(b.compare("less", at, count), b.compare("greater_equal", at, b.neg(count)))
    ctx.guard(inside, "IndexError", message)
    return b.wrap_index(at, count)


def insert(ctx: Context, owner: GrowingList, item: Value, value: Value) -> None:
    """``list.insert``: put behind the others, the element changes places with those from `position` on."""
    must_be_own(ctx, owner)
    _not_queue(ctx, owner, "insert")
    count = owner.length
    at = list_position(ctx, item, *_NO_ARGUMENT)
    _insert(ctx, owner, ctx.let(b.maximum(b.minimum(b.wrap_index(at, count), count), b.ZERO), "at"), value)


def _insert(ctx: Context, owner: GrowingList, place: Expr, value: Value) -> None:
    check_moved(ctx, owner, "behind one that is put among them")
    append(ctx, owner, value)
    here = owner if owner.row_of is None else handing.opened(ctx, owner.row_of)
    last = b.sub(here.length, b.ONE)

    def move(column: GrowingList) -> None:
        axis, *rest = ctx.names.axes((b.sub(last, place), *column.dims))
        behind = tuple(a.var for a in rest)
        lain = ctx.names.load(column.buffer, (*column.index(last), *behind))
        behind_all = ctx.define(Array(tuple(rest), lain), "inserted").at(behind) if rest else None
        new = ctx.let(lain, "inserted") if behind_all is None else behind_all
        above = b.add(place, axis.var)
        moved = ctx.names.load(column.buffer, (*column.index(above), *behind))
        ctx.emit(n.Write(column.buffer, (axis, *rest), (*column.index(b.add(above, b.ONE)), *behind), moved))
        if rest:
            ctx.emit(n.Write(column.buffer, tuple(rest), (*column.index(place), *behind), new))
        else:
            ctx.emit(n.Store(column.buffer, column.index(place), new))

    each(ctx, here, move)


def joined_rows(ctx: Context, name: str, one: Value, two: Value, out1: list[n.Stmt], out2: list[n.Stmt]) -> Row | None:
    """The row that is `one` after `out1` and `two` after `out2`."""
    found = next((v for v in (one, two) if isinstance(v, Row)), None)
    if found is None:
        return None
    number = ctx.names.variable(name, "index")
    for value, out in ((one, out1), (two, out2)):
        contents = value if isinstance(value, Row) else ctx.deref(value)
        if isinstance(value, Row) and value.rows is not found.rows:
            return None
        if not isinstance(contents, (Row, Seq, GrowingList)) and rows.text_of(contents) is None:
            return None
        with ctx.emitter.block(out) as more:
            ctx.emit(n.Assign(number.name, row_number(ctx, found.rows, value)))
        out.extend(more)
    return Row(found.rows, number)
