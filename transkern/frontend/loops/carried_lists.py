"""Lists that a loop binds anew (``found = [v for v in found if …]``): each has memory that all iterations share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from transkern.frontend.anew import Site
from transkern.frontend.containers import growing, list_types
from transkern.frontend.context import Context
from transkern.frontend.numpy.elementwise import list_array
from transkern.frontend.values.values import Array, GrowingList, Pool, Scalar, Value
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
    ctx.names.buffers[owner.buffer] = list_types.without_range(ctx.names.buffers[owner.buffer])
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

    def like(made: GrowingList, shape: Table) -> GrowingList:
        made.row, made.of, made.objects, made.options, made.site = (
            shape.row, shape.of, shape.objects, shape.options, shape.site,
        )  # fmt: skip
        for k, part in enumerate(shape.columns):
            buffer = ctx.names.fresh(f"{made.buffer}_{k}")
            made.columns.append(like(GrowingList(buffer, made.count, depth=made.depth, known=made.known), part))
        if made.columns:
            ctx.lists.columns[made.buffer] = [c.buffer for c in made.columns]
        else:
            list_types.list_type(ctx, made, shape.dtype, (), shape.python, None)
            ctx.names.buffers[made.buffer] = list_types.without_range(ctx.names.buffers[made.buffer])
        return made

    like(owner, shape)
    if isinstance(initial, GrowingList) and initial.columns:
        assign_all(ctx, [(owner, initial)])
    return owner


def _memories(owner: GrowingList, value: GrowingList) -> list[tuple[GrowingList, GrowingList]]:
    """The lists that the elements of two lists stand in, side by side; the tags are such, too."""
    if value.columns:
        columns = zip(owner.columns, value.columns, strict=True)
        return [m for mine, its in columns for m in _memories(mine, replace(its, count=value.count))]
    found = [(owner, replace(value, objects=None, options=()))]
    if owner.tags and value.tags:
        tags = [replace(one, buffer=one.tags, dtype="uint8", python=False, tags="") for one in (owner, value)]
        found.append((tags[0], replace(tags[1], objects=None, options=())))
    return found


def assign_all(ctx: Context, pairs: Sequence[tuple[GrowingList, GrowingList]]) -> None:
    """Lists take the elements of others, all at once."""
    found, lengths = [], []
    for owner, value in pairs:
        if owner.tags and not value.tags and value.dtype:
            number = Scalar(Const(0, value.dtype), value.python)
            list_types.note_kinds(ctx, owner, number)
            tags = replace(owner, buffer=owner.tags, dtype="uint8", python=False, tags="")
            found.append((tags, Array(ctx.names.axes((value.length,)), list_types.tag_of(number))))
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
