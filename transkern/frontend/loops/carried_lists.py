"""Lists that a loop binds anew (``found = [v for v in found if …]``): each has memory that all iterations share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from transkern.frontend.anew import Site
from transkern.frontend.containers import growing, list_types, rows
from transkern.frontend.context import Context
from transkern.frontend.numpy.elementwise import list_array
from transkern.frontend.values.values import Array, GrowingList, Pool, Row, Scalar, Value, children
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Const


def carried(
    ctx: Context, name: str, dtype: str, python: bool, initial: Value | None, pool: Pool | None = None,
    site: Site | None = None,
) -> GrowingList:  # fmt: skip
    """A list that a loop binds anew, with what it holds before the first iteration; with a `site`, numbers of several
    types."""
    owner = growing.new(ctx, name)
    owner.objects, owner.site = pool, site
    list_types.list_type(ctx, owner, dtype, (), python, None)
    ctx.buffers[owner.buffer] = list_types.without_range(ctx.buffers[owner.buffer])
    if isinstance(initial, GrowingList):
        assign_all(ctx, [(owner, initial)])
    return owner


@dataclass(frozen=True, slots=True)
class Table:
    """What a list of tuples is like; two that are alike hold elements of one type."""

    dtype: str
    python: bool
    row: str
    of: type | None
    objects: Pool | None
    options: tuple[str | None, ...]
    tagged: bool
    columns: tuple[Table, ...]
    site: Site | None = field(compare=False)


def shape_of_table(owner: GrowingList) -> Table | None:
    """What a list of tuples of numbers is like; None where it is another one."""
    columns = [_shape(c) for c in owner.columns]
    return None if None in columns or owner.head or owner.prefix or not columns else _shape(owner)


def _shape(one: GrowingList) -> Table | None:
    columns = tuple(_shape(c) for c in one.columns)
    if one.dims or one.rows or None in columns or not (one.dtype or columns):
        return None
    shapes = tuple(c for c in columns if c is not None)
    tagged = bool(one.tags)
    return Table(one.dtype, one.python, one.row, one.of, one.objects, one.options, tagged, shapes, one.site)


def carried_table(ctx: Context, name: str, shape: Table, initial: Value | None) -> GrowingList:
    """A list of tuples that a loop binds anew, with what it holds before the first iteration."""
    owner = growing.new(ctx, name)
    _become_like(ctx, owner, shape)
    if isinstance(initial, GrowingList) and initial.columns:
        assign_all(ctx, [(owner, initial)])
    return owner


def _become_like(ctx: Context, made: GrowingList, shape: Table) -> None:
    """An empty list becomes one for elements of a kind, with room for any number of them."""
    made.row, made.of, made.objects, made.options, made.site = (
        shape.row, shape.of, shape.objects, shape.options, shape.site,
    )  # fmt: skip
    for part in shape.columns:
        column = GrowingList(ctx.fresh(f"{made.buffer}_{len(made.columns)}"), made.count, depth=made.depth)
        column.known = made.known
        _become_like(ctx, column, part)
        made.columns.append(column)
    if made.columns:
        ctx.columns[made.buffer] = [c.buffer for c in made.columns]
    else:
        list_types.list_type(ctx, made, shape.dtype, (), shape.python, None)
        ctx.buffers[made.buffer] = list_types.without_range(ctx.buffers[made.buffer])


@dataclass(frozen=True, slots=True)
class Nested:
    """What a list of lists (`arrays`) of their own lengths is like: what these hold."""

    pool: Table
    arrays: bool


def shape_of_nested(owner: GrowingList) -> Nested | None:
    """What a list of lists of numbers, or of tuples of them, is like; None where it is another one."""
    rows = owner.rows
    if rows is None or rows.shared or owner.prefix or owner.head or owner.options:
        return None
    pool = _shape(rows.pool)
    return None if pool is None else Nested(pool, rows.arrays)


def is_of_empty(owner: GrowingList) -> bool:
    """Whether all lists in a list of lists are empty, as far as is known."""
    return owner.rows is not None and not (owner.rows.pool.dtype or owner.rows.pool.columns)


def carried_nested(ctx: Context, name: str, shape: Nested, initial: Value | None) -> GrowingList:
    """A list of lists that a loop binds anew, with what it holds before the first iteration."""
    owner = growing.new(ctx, name)
    owner.rows = rows.made(ctx, name, shape.pool.site or ("fixed",), shape.arrays)
    for one in (owner, *owner.rows.lists[:-1]):
        list_types.list_type(ctx, one, "index", (), True, None)
        ctx.buffers[one.buffer] = list_types.without_range(ctx.buffers[one.buffer])
    _become_like(ctx, owner.rows.pool, shape.pool)
    if isinstance(initial, GrowingList):
        assign_all(ctx, [(owner, initial)])
    return owner


def _with_rows(ctx: Context, owner: GrowingList, value: GrowingList) -> list[tuple[GrowingList, GrowingList]]:
    """What a list takes over with the elements of another: where these are lists, they are copied: who has one of
    them under another name must not change it."""
    if owner.rows is None or value.rows is None or owner.rows is value.rows:
        return [(owner, value)]
    for one in (owner, value):
        if _is_seen_elsewhere(ctx, one, (owner, value)):
            ctx.must_stay(owner.rows.pool.buffer)
            ctx.must_stay(value.rows.pool.buffer)
    pairs = list(zip(owner.rows.lists, value.rows.lists, strict=True))
    return [(owner, value), *(pair for pair in pairs if not _is_untyped(pair[1]))]


def _is_seen_elsewhere(ctx: Context, owner: GrowingList, known: Sequence[GrowingList]) -> bool:
    """Whether some of the lists in a list stand in another one than those `known`, too, or are the caller's."""

    def is_other(value: Value) -> bool:
        if not isinstance(value, (Row, GrowingList)) or any(value is one for one in known):
            return False
        return rows.stands_in(value, owner)

    held = (value for contents in ctx.heap.values() for value in (contents, *(children(contents) or ())))
    of_caller = any(ctx.heap[token] is owner for token in ctx.paths)
    return of_caller or any(map(is_other, held)) or bool(ctx.still_named(is_other))


def _is_untyped(value: GrowingList) -> bool:
    return not (value.dtype or value.columns)


def _memories(owner: GrowingList, value: GrowingList) -> list[tuple[GrowingList, GrowingList]]:
    """The lists that the elements of two lists stand in, side by side; the tags are such, too."""
    if value.columns:
        columns = zip(owner.columns, value.columns, strict=True)
        return [m for mine, its in columns for m in _memories(mine, replace(its, count=value.count))]
    found = [(owner, replace(value, objects=None, options=(), rows=None))]  # the numbers that stand for them
    if owner.tags and value.tags:
        tags = [replace(one, buffer=one.tags, dtype="uint8", python=False, tags="") for one in (owner, value)]
        found.append((tags[0], replace(tags[1], objects=None, options=())))
    return found


def assign_all(ctx: Context, pairs: Sequence[tuple[GrowingList, GrowingList]]) -> None:
    """Lists take the elements of others, all at once."""
    pairs = [pair for owner, value in pairs for pair in _with_rows(ctx, owner, value)]
    found, lengths = [], []
    for owner, value in pairs:
        if owner.tags and not value.tags and value.dtype:
            number = Scalar(Const(0, value.dtype), value.python)
            list_types.note_kinds(ctx, owner, number)
            tags = replace(owner, buffer=owner.tags, dtype="uint8", python=False, tags="")
            found.append((tags, Array(ctx.axes((value.length,)), list_types.tag_of(number))))
        for mine, its in _memories(owner, value):
            array = list_array(ctx, its)
            if len(pairs) > 1:
                array = ctx.define(replace(array, view=False), owner.buffer)
            found.append((mine, array))
        lengths.append((owner.count, ctx.let(value.length, "length")))
    for mine, array in found:
        index = mine.index(array.axes[0].var)
        ctx.emit(n.Write(mine.buffer, array.axes, index, b.cast(array.body, mine.dtype)))
    for count, length in lengths:
        ctx.emit(n.Assign(count, length))
