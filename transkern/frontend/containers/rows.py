"""Lists of lists that have lengths of their own: the elements of all of them stand in one memory.

A list that gets longer than the room it has moves to that memory's end, where it gets twice the room. The list around
holds numbers, so that lists may change places in it, and several names may stand for one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

from transkern import refusals
from transkern.frontend.anew import Finding, NotKnown
from transkern.frontend.containers.elements import row_start
from transkern.frontend.context import Context
from transkern.frontend.state import guards
from transkern.frontend.values.values import (
    OPTIONAL,
    Array,
    Char,
    Concatenation,
    GrowingList,
    JoinedText,
    OneOf,
    Row,
    Rows,
    Seq,
    Static,
    Value,
)
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Const, Expr, Load

_LEAST = 4


def stands_in(value: Row | GrowingList, owner: GrowingList) -> bool:
    """Whether a value is a list in a list of such, or has one of its lists in it, too."""
    row = value if isinstance(value, Row) else value.row_of
    if row is not None:
        return row.rows is owner.rows
    parts = value.parts if isinstance(value, GrowingList) else []
    return owner.rows is not None and any(part.rows is owner.rows for part in parts)


def wanted(ctx: Context, owner: GrowingList, problem: str) -> NoReturn:
    """The lists in a list have lengths of their own: the translation begins anew, with such ones."""
    error = NotKnown(
        refusals.NESTED_LIST, problem, "use an array with two dimensions", ctx.session.span, ctx.session.lines
    )
    error.finding = ctx.learned.of_list("ragged", owner.site)
    raise error


def as_table(ctx: Context, owner: GrowingList) -> None:
    """A list of short lists whose items change: the translation begins anew, with rows of one type."""
    if owner.site is None or owner.site in ctx.learned.tables or owner.row != "list":
        return
    help = "make it an array with two dimensions"
    error = NotKnown(refusals.NESTED_LIST, "a store into a list in a list", help, ctx.session.span, ctx.session.lines)
    error.finding = Finding("tables", owner.site)
    raise error


def kind_of(ctx: Context, value: Value) -> str:
    """What a list is among others of their own lengths."""
    if isinstance(value, GrowingList) and value.is_queue:
        if value.limits.most is not None:
            help = "make it shorter where it gets too long"
            ctx.fail(refusals.DEQUE, "a deque with a `maxlen` in a list", help)
        return "deque"
    return value.kind if isinstance(value, (GrowingList, Seq)) else ""


def text_of(value: Value) -> Value | None:
    """The characters of a text, which may stand in a list as one that the run makes; None of anything else."""
    match value:
        case JoinedText():
            return value.characters
        case Char():
            return Seq((value,), "list")
        case Static(str() as text) | OneOf(options=(str() as text,)) if text.isascii():
            return Seq(tuple(Char(b.index(ord(c))) for c in text), "list")
        case _:
            return None


def may_share(owner: GrowingList, shown: Rows) -> bool:
    """Whether a list that has nothing in it yet may get the very lists of another: their memory is there wherever the
    list is."""
    return not owner.dtype and any(block is shown.starts.around.blocks[-1] for block in owner.around.blocks)


def go_one_by_one(owner: GrowingList, value: GrowingList) -> bool:
    """Whether lists that are put among lists of their own lengths are others than those, or of one length."""
    if owner.rows is None or value.rows is owner.rows:
        return False
    return value.row == "list" if value.rows is None else not may_share(owner, value.rows)


def as_numbers(ctx: Context, owner: GrowingList, value: Value) -> Value:
    """What is put behind the elements of a list; the very lists of another one by their numbers, where it has them."""
    if not isinstance(value, GrowingList) or value.rows is owner.rows is None:
        return value
    if value.rows is not owner.rows:
        if owner.rows is None and not (owner.dtype or owner.columns):
            wanted(ctx, owner, "a list of lists of different lengths")
        if owner.rows is None or value.rows is None or not may_share(owner, value.rows):
            problem = "lists of lists put together, or into another list"
            help = "append them one by one, or put the lists into one: cells[row * n + column]"
            ctx.must_be_known(Static(None), problem, help, refusals.NESTED_LIST)
        owner.rows = value.rows
    return replace(value, rows=None)


def must_be_alike(ctx: Context, owner: GrowingList, value: Value) -> None:
    """What is put behind lists of one length is such lists, and arrays behind arrays. A list that has nothing yet has
    what is put there."""
    if isinstance(value, GrowingList):
        row = value.row if value.dims else ""
    elif isinstance(value, (Array, Concatenation)):
        row = ""
    else:
        return
    if not owner.dtype:
        owner.row = row
    elif owner.dims and owner.row != row:
        help = "make all of them arrays, or all of them lists"
        ctx.must_be_known(Static(None), "arrays and lists in one list", help, refusals.LIST_OF_TYPES)


def size_of(ctx: Context, row: Row) -> Expr:
    return ctx.let(Load(row.rows.sizes.buffer, (row.number,), "index"), "size")


def set_size(ctx: Context, row: Row, size: Expr) -> None:
    ctx.emit(n.Store(row.rows.sizes.buffer, (row.number,), size))


def shift(ctx: Context, row: Row) -> None:
    """A row begins one element later."""
    for one, by in ((row.rows.starts, b.ONE), (row.rows.sizes, b.neg(b.ONE)), (row.rows.rooms, b.neg(b.ONE))):
        ctx.emit(n.Store(one.buffer, (row.number,), b.add(Load(one.buffer, (row.number,), "index"), by)))


def make_room(ctx: Context, row: Row, size: Expr, more: Expr) -> None:
    """Room for `more` elements behind the `size` that a row has."""
    rows, pool = row.rows, row.rows.pool
    needed = b.add(size, more)
    with ctx.emitter.block() as out:
        here, there = row_start(ctx, row), ctx.let(b.size(pool.count), "moved")
        room = ctx.let(b.maximum(b.mul(b.index(2), needed), b.index(_LEAST)), "room")
        end = b.add(there, room)
        guards.must_have_room(ctx, b.compare("less", end, guards.room(ctx, ())))
        for buffer, dims in _memories(pool):
            axes = ctx.names.axes((size, *dims))
            rest = tuple(a.var for a in axes[1:])
            held = ctx.names.load(buffer, (b.add(here, axes[0].var), *rest))
            # behind all that there is: the parts do not overlap, and a device need not keep one meanwhile
            moved = n.Write if ctx.session.reserves else n.Scatter
            ctx.emit(moved(buffer, axes, (b.add(there, axes[0].var), *rest), held))
        for buffer, code in _codes(pool):
            (axis,) = ctx.names.axes((b.sub(room, size),))
            ctx.emit(n.Write(buffer, (axis,), (b.add(b.add(there, size), axis.var),), code))
        ctx.emit(n.Store(rows.starts.buffer, (row.number,), there))
        ctx.emit(n.Store(rows.rooms.buffer, (row.number,), room))
        ctx.emit(n.Assign(pool.count, end))
    room_now = Load(rows.rooms.buffer, (row.number,), "index")
    ctx.emit(n.If(b.compare("greater", needed, room_now), tuple(out)))


def _memories(pool: GrowingList) -> list[tuple[str, tuple[Expr, ...]]]:
    """The buffers that hold a list's elements, and the dims of one."""
    if pool.columns:
        return [m for c in pool.columns for m in _memories(c)]
    found = [(pool.buffer, pool.dims)] if pool.dtype else []
    return found + ([(pool.tags, ())] if pool.tags else [])


def _codes(pool: GrowingList) -> list[tuple[str, Const]]:
    """The buffers of numbers that stand for something, with what the room behind a row says: a result is made of a pool
    as a whole. Where there may be None, there is None: what stands behind it is forgotten (`forget_behind_none`)."""
    if pool.row == OPTIONAL:
        return [(pool.columns[0].buffer, Const(True, "bool"))]
    if pool.columns:
        return [code for c in pool.columns for code in _codes(c)]
    texts = [(pool.buffer, Const(0, pool.dtype))] if pool.options and pool.dtype else []
    return texts + ([(pool.tags, Const(0, "uint8"))] if pool.tags else [])


