"""Lists that a loop binds anew (``found = [v for v in found if …]``): each has memory that all iterations share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from transkern.frontend.anew import Site
from transkern.frontend.containers import growing, list_types, making, rows
from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import list_array
from transkern.frontend.state import aliasing, handing
from transkern.frontend.values.values import (
    CHARACTERS,
    Array,
    GrowingList,
    JoinedText,
    Pool,
    Row,
    Rows,
    Scalar,
    Value,
    children,
)
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Const


def carried(
    ctx: Context, name: str, dtype: str, python: bool, initial: Value | None, pool: Pool | None = None,
    site: Site | None = None,
) -> GrowingList:  # fmt: skip
    """A list that a loop binds anew, with what it holds before the first iteration; with a `site`, numbers of several
    types."""
    owner = making.new(ctx, name)
    owner.objects, owner.site = pool, site
    _hold(ctx, owner, dtype, python)
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
    nested: bool = False  # its elements are lists (tuples, arrays: `kind`) of their own lengths
    kind: str = ""
    pool: Table | None = None  # what these hold; None where all are empty, as far as is known
    shared: bool = field(default=False, compare=False)  # some of these are views of arguments


def shape_of_table(owner: GrowingList) -> Table | None:
    """What a list of tuples of numbers, or of lists of their own lengths, is like; None where it is another one."""
    is_table = (owner.columns or owner.rows is not None) and not owner.head and not owner.prefix
    return shape_of(owner) if is_table else None


def shape_of(one: GrowingList) -> Table | None:
    """What a list is like; None where its elements are arrays of one shape, or of no type yet."""
    columns = tuple(shape_of(c) for c in one.columns)
    if one.dims or None in columns or not (one.dtype or columns or one.rows is not None):
        return None
    shapes = tuple(c for c in columns if c is not None)
    shape = Table(one.dtype, one.python, one.row, one.of, one.objects, one.options, bool(one.tags), shapes, one.site)
    if one.rows is None:
        return shape
    pool = shape_of(one.rows.pool)
    if pool is None and not _is_untyped(one.rows.pool):
        return None
    kind = one.rows.kind if pool is not None or one.rows.kind == "tuple" else ""
    return replace(shape, dtype="index", python=True, nested=True, kind=kind, pool=pool, shared=one.rows.shared)


def joined(one: Table, two: Table) -> Table | None:
    """What two lists are both like, where some of the lists in them are empty, as far as is known."""
    pools = [p for p in (one.pool, two.pool) if p is not None]
    pool = joined(*pools) if len(pools) == 2 else next(iter(pools), None)
    kinds = [one.kind or two.kind, two.kind or one.kind]
    heads = [replace(x, columns=(), pool=None, kind=kind) for x, kind in zip((one, two), kinds, strict=True)]
    if heads[0] != heads[1] or len(one.columns) != len(two.columns) or (pools and pool is None):
        return None
    columns = [joined(*both) for both in zip(one.columns, two.columns, strict=True)]
    found = tuple(c for c in columns if c is not None)
    if len(found) < len(columns):
        return None
    return replace(heads[0], columns=found, pool=pool, shared=one.shared or two.shared)


TEXT = Table("index", True, "", None, None, CHARACTERS, False, (), None)
"""The characters of a text."""


def text_of_both(ctx: Context, old: Any, new: Any) -> Any:
    """The kind of a text that the run makes, where another one, or a known one, is in its place in the next iteration;
    None where they are no such. One that stands in a list is known by its number."""
    if not ctx.learned.spelling.may_copy:
        return None
    match old, new:
        case ("choice", (str(),)), ("row", Rows(kind="text")) | ("text",):
            return new
        case ("character",) | ("row", Rows(kind="text")), ("text",):
            return new
        case ("text",), ("choice", (str(),)) | ("character",) | ("row", Rows(kind="text")):
            return old
        case _:
            return None


def carried_text(ctx: Context, name: str, initial: Value | None) -> JoinedText:
    """A text that a loop binds anew, in memory of its own."""
    held = carried_table(ctx, name, TEXT, None)
    if initial is not None:
        assign_all(ctx, [(held, characters(ctx, initial))])
    return JoinedText(held, "")


def characters(ctx: Context, text: Value) -> GrowingList:
    """The characters of a text that a loop hands on, in memory."""
    held = rows.text_of(ctx.deref(text))
    assert held is not None
    return held if isinstance(held, GrowingList) else growing.from_items(ctx, held)


def has_shared(one: Table) -> bool:
    """Whether arguments stand in a list, as far as is known."""
    return one.shared or any(map(has_shared, one.columns)) or (one.pool is not None and has_shared(one.pool))


def of_arrays(*lists: GrowingList | Table) -> list[GrowingList]:
    """The lists in some whose elements are arrays of one shape: a loop that binds such a list anew carries them as
    arrays of lengths of their own."""
    parts = (part for x in lists if isinstance(x, GrowingList) for part in x.parts)
    return [part for part in parts if len(part.dims) == 1 and not (part.row or part.prefix or part.rows)]


def of_one_length(one: GrowingList | Table, two: GrowingList | Table) -> list[GrowingList]:
    """The lists in two that have lists of one length in them, where they should have such of lengths of their own."""
    nested = [x.rows is not None if isinstance(x, GrowingList) else x.nested for x in (one, two)]
    lists = [x.row == "list" for x in (one, two)]
    if all(map(max, nested, lists)) and (any(nested) or len(one.columns) != len(two.columns)):
        found = (x for x, is_nested in zip((one, two), nested, strict=True) if not is_nested)
        return [x for x in found if isinstance(x, GrowingList)]
    if len(one.columns) != len(two.columns):
        return []
    columns: Iterable[tuple[GrowingList | Table, GrowingList | Table]] = zip(one.columns, two.columns, strict=True)
    return [x for both in columns for x in of_one_length(*both)]


def _pool_of(one: GrowingList | Table) -> GrowingList | Table | None:
    if isinstance(one, Table):
        return one.pool
    return None if one.rows is None else one.rows.pool


def of_one_type(one: GrowingList | Table, two: GrowingList | Table) -> list[tuple[GrowingList, str, bool]]:
    """The lists of numbers in two that have numbers of one type where the other has them of another, or of several:
    that type (its memory's), and whether they are Python's."""
    if one.columns or two.columns:
        columns: Iterable[tuple[GrowingList | Table, GrowingList | Table]] = zip(one.columns, two.columns, strict=False)
        return [x for both in columns for x in of_one_type(*both)]
    pools = [_pool_of(x) for x in (one, two)]
    if pools[0] is not None and pools[1] is not None:
        return of_one_type(pools[0], pools[1])
    if not (one.dtype and two.dtype) or one.options or two.options or one.objects or two.objects:
        return []
    tagged = [bool(x.tags) if isinstance(x, GrowingList) else x.tagged for x in (one, two)]
    if (one.dtype, one.python, tagged[0]) == (two.dtype, two.python, tagged[1]):
        return []
    both = ((one, two, tagged[0]), (two, one, tagged[1]))
    return [
        (x, y.dtype, y.python) for x, y, has_tags in both
        if isinstance(x, GrowingList) and not has_tags and not x.dims and x.rows is None
    ]  # fmt: skip


def tell_types(ctx: Context, one: GrowingList, two: GrowingList) -> None:
    """Of a list of numbers of one type that is one of another type in the next iteration, each says of which it is."""
    for fixed, dtype, python in of_one_type(one, two):
        if fixed.site is not None and fixed.site[0] != "fixed" and fixed.site not in ctx.learned.wanted:
            list_types.mixed(ctx, fixed, dtype, python, "give its elements one type")


def carried_table(ctx: Context, name: str, shape: Table, initial: Value | None) -> GrowingList:
    """A list that a loop binds anew, with what it holds before the first iteration."""
    owner = making.new(ctx, name)
    become_like(ctx, owner, shape)
    if isinstance(initial, GrowingList) and not _is_untyped(initial):
        assign_all(ctx, [(owner, initial)])
    return owner


def become_like(ctx: Context, made: GrowingList, shape: Table) -> None:
    """An empty list becomes one for elements of a kind, with room for any number of them."""
    made.row, made.of, made.objects, made.options, made.site = (
        shape.row, shape.of, shape.objects, shape.options, shape.site,
    )  # fmt: skip
    for part in shape.columns:
        column = GrowingList(ctx.names.fresh(f"{made.buffer}_{len(made.columns)}"), made.count, around=made.around)
        become_like(ctx, column, part)
        made.columns.append(column)
    if made.columns:
        ctx.lists.columns[made.buffer] = [c.buffer for c in made.columns]
        return
    _hold(ctx, made, shape.dtype, shape.python)
    if shape.nested:
        site = shape.pool and shape.pool.site
        made.rows = making.new_rows(ctx, made.buffer, site or ("fixed",), shape.kind)
        made.rows.shared = shape.shared
        for one in made.rows.lists[:-1]:
            _hold(ctx, one, "index", True)
        if shape.pool is not None:
            become_like(ctx, made.rows.pool, shape.pool)


def _hold(ctx: Context, made: GrowingList, dtype: str, python: bool) -> None:
    """Room for any number of numbers of a type."""
    list_types.list_type(ctx, made, dtype, (), python, None)
    ctx.names.buffers[made.buffer] = list_types.without_range(ctx.names.buffers[made.buffer])


def _with_rows(ctx: Context, owner: GrowingList, value: GrowingList) -> list[tuple[GrowingList, GrowingList]]:
    """What a list takes over with the elements of another: where these are lists, or have some in them, they are
    copied: who has one of them under another name must not change it."""
    pairs = [(owner, value)]
    for mine, its in zip(owner.parts, value.parts, strict=False):
        if mine.rows is None or its.rows is None or mine.rows is its.rows:
            continue
        aliasing.note_held_as_in(ctx, mine.rows.pool.buffer, its.rows.pool.buffer)
        if any(_is_seen_elsewhere(ctx, one, (owner, value)) for one in (mine, its)):
            handing.must_stay(ctx, mine.rows.pool.buffer)
            handing.must_stay(ctx, its.rows.pool.buffer)
        for inner in zip(mine.rows.lists, its.rows.lists, strict=True):
            pairs += [] if _is_untyped(inner[1]) else _with_rows(ctx, *inner)
    return pairs


def _is_seen_elsewhere(ctx: Context, part: GrowingList, known: Sequence[GrowingList]) -> bool:
    """Whether some of the lists in a part of two `known` lists stand elsewhere, too, or are the caller's."""

    def is_other(value: Value) -> bool:
        if not isinstance(value, (Row, GrowingList)) or any(value is one for one in known):
            return False
        return rows.stands_in(value, part)

    def shows_other(value: Value) -> bool:
        return any(map(is_other, _inside(value)))

    of_caller = any(ctx.heap.contents[token] is one for token in ctx.inputs.paths for one in known)
    return of_caller or any(map(shows_other, ctx.heap.contents.values())) or bool(ctx.scopes.still_named(shows_other))


def _inside(value: Value) -> Iterable[Value]:
    """A value, and what is in it where it is a tuple."""
    yield value
    for item in children(value) or ():
        yield from _inside(item)


def _is_untyped(value: GrowingList) -> bool:
    return not (value.dtype or value.columns)


def share_kinds(ctx: Context, one: Site | None, two: Site | None) -> None:
    """What the numbers in one of two lists are, those in the other may be, too."""
    if one is not None and two is not None and one != two:
        held = ctx.learned.held
        kinds = held.kinds.get(one, set()) | held.kinds.get(two, set())
        for site in (one, two) if kinds else ():
            held.note(site, kinds)


def _memories(ctx: Context, owner: GrowingList, value: GrowingList) -> list[tuple[GrowingList, GrowingList]]:
    """The lists that the elements of two lists stand in, side by side; the tags are such, too."""
    if value.columns:
        columns = zip(owner.columns, value.columns, strict=True)
        return [m for mine, its in columns for m in _memories(ctx, mine, replace(its, count=value.count))]
    share_kinds(ctx, owner.site, value.site)
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
            found.append((tags, Array(ctx.names.axes((value.length,)), list_types.tag_of(number))))
        for mine, its in _memories(ctx, owner, value):
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
