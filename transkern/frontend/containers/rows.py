"""Lists of lists that have lengths of their own: the elements of all of them stand in one memory.

A list that gets longer than the room it has moves to that memory's end, where it gets twice the room. The list around
holds numbers, so that lists may change places in it, and several names may stand for one.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

from transkern import refusals
from transkern.frontend.anew import NotKnown
from transkern.frontend.containers import growing, list_types, twins
from transkern.frontend.context import Context
from transkern.frontend.numpy.arrays import as_array
from transkern.frontend.state import aliasing, guards, handing
from transkern.frontend.values.describing import describe
from transkern.frontend.values.values import (
    OPTIONAL,
    Array,
    Concatenation,
    GrowingList,
    Object,
    Row,
    Rows,
    Scalar,
    Seq,
    Static,
    Value,
)
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Const, Expr, Load

_LEAST = 4


def made(ctx: Context, name: str, site: tuple[object, ...], kind: str = "") -> Rows:
    """No rows yet."""
    starts, sizes, rooms = (growing.new(ctx, f"{name}_{of}") for of in ("starts", "sizes", "rooms"))
    for one in (starts, sizes, rooms):  # an iteration may ask for a row before one is made in the program's order
        list_types.list_type(ctx, one, "index", (), True, b.ZERO)
        ctx.names.buffers[one.buffer] = list_types.without_range(ctx.names.buffers[one.buffer])
    pool = growing.new(ctx, f"{name}_pool", (), (*site, "pool"), unbounded=True)
    return Rows(starts, sizes, rooms, pool, kind)


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
    if owner.site is not None and owner.site[0] not in ("fixed", "argument") and owner.site not in ctx.learned.ragged:
        error.ragged = owner.site
    raise error


def may_share(owner: GrowingList, shown: Rows) -> bool:
    """Whether a list that has nothing in it yet may get the very lists of another: their memory is there wherever the
    list is."""
    return not owner.dtype and any(block is shown.starts.blocks[-1] for block in owner.blocks)


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


def number_of(ctx: Context, rows: Rows, value: Value) -> Expr:
    """The number of the row that `value` is, or of a new one with its elements."""
    if isinstance(value, Row) and value.rows is rows:
        return value.number
    contents = ctx.deref(value)
    if isinstance(contents, (Array, Concatenation)):
        return _array_number(ctx, rows, contents)
    kind = contents.kind if isinstance(contents, (GrowingList, Seq)) else ""
    if kind not in (("list", "tuple") if not rows.kind else (rows.kind,)):
        among = rows.kind or "list"
        help = f"append {among}s only: {'(x,)' if among == 'tuple' else '[x]'} for a number"
        ctx.fail(refusals.LIST_OF_TYPES, f"{describe(contents)} among {among}s", help)
    rows.kind = kind
    if isinstance(value, Object):
        handing.note_handed(ctx, value)
    twins.note_original(ctx, rows.pool.buffer, value if isinstance(value, Object) else contents, rows.pool.site)
    if isinstance(contents, Seq) and contents.row_of is not None:
        twins.note_original(ctx, rows.pool.buffer, contents.row_of, rows.pool.site)
    assert isinstance(contents, (GrowingList, Seq))
    if isinstance(contents, GrowingList) and (isinstance(value, Row) or not handing.is_last_look(ctx, value)):
        aliasing.note_append(ctx, contents.buffer)
    number = _new(ctx, rows)
    extend(ctx, Row(rows, number), contents, is_new=True)
    return number


def _array_number(ctx: Context, rows: Rows, value: Array | Concatenation) -> Expr:
    """The number of a new row with the elements of an array: that is what stands in the list around, then."""
    array = ctx.kept(as_array(ctx, value))
    if rows.kind not in ("", "array"):
        ctx.fail(refusals.LIST_OF_TYPES, f"an array among {rows.kind}s", "append arrays only")
    rows.kind = "array"
    if array.view:
        aliasing.note_append(ctx, array.base)
        aliasing.note_held(ctx, rows.pool.buffer, array.base)
        twins.note_array(ctx, rows.pool, array)
        rows.shared = rows.shared or aliasing.is_of_argument(ctx, array.base)
    number = _new(ctx, rows)
    extend(ctx, Row(rows, number), array, is_new=True)
    return number


def array_of(ctx: Context, rows: Rows, number: Expr) -> Array:
    """The array of a number."""
    size = ctx.extent(Load(rows.sizes.buffer, (number,), "index"))
    axes = ctx.names.axes((size, *rows.pool.dims))
    at = b.add(_start(ctx, Row(rows, number)), axes[0].var)
    return Array(axes, ctx.names.load(rows.pool.buffer, (at, *(a.var for a in axes[1:]))), view=True)


def _new(ctx: Context, rows: Rows) -> Expr:
    """The number of a new row without elements."""
    number = ctx.let(b.size(rows.starts.count), "number")
    growing.append(ctx, rows.starts, Scalar(b.size(rows.pool.count), True))
    growing.append(ctx, rows.sizes, Static(0))
    growing.append(ctx, rows.rooms, Static(0))
    for one in (rows.starts, rows.sizes, rows.rooms):
        ctx.names.buffers[one.buffer] = list_types.without_range(ctx.names.buffers[one.buffer])
    return number


def _size(ctx: Context, row: Row) -> Expr:
    return ctx.let(Load(row.rows.sizes.buffer, (row.number,), "index"), "size")


def _start(ctx: Context, row: Row) -> Expr:
    return ctx.let(Load(row.rows.starts.buffer, (row.number,), "index"), "start")


def set_size(ctx: Context, row: Row, size: Expr) -> None:
    ctx.emit(n.Store(row.rows.sizes.buffer, (row.number,), size))


def append(ctx: Context, row: Row, value: Value, is_new: bool = False) -> None:
    """One more element behind those of a row; of a new one, nobody has seen it without."""
    if not is_new:
        aliasing.note_store(ctx, row.rows.pool.buffer)
    size = _size(ctx, row)
    with ctx.emitter.block(ctx.emitter.out) as put:  # it tells the elements' type
        growing.put(ctx, row.rows.pool, value, b.add(_start(ctx, row), size))
    _make_room(ctx, row, size, b.ONE)
    ctx.emitter.out.extend(put)
    set_size(ctx, row, b.add(size, b.ONE))


def extend(ctx: Context, row: Row, value: Value, is_new: bool = False) -> None:
    """The elements of a list or an array behind those of a row."""
    if not is_new:
        aliasing.note_store(ctx, row.rows.pool.buffer)
    contents = ctx.deref(value)
    if isinstance(contents, Seq):
        for item in contents.items:
            append(ctx, row, item, is_new)
        return
    if isinstance(contents, GrowingList) and not contents.dtype and not contents.columns:
        ctx.lists.untyped.append(contents.original)
        return
    if not isinstance(contents, GrowingList):
        contents = ctx.kept(growing.numbers(ctx, contents))
    size = _size(ctx, row)
    more = ctx.let(contents.length if isinstance(contents, GrowingList) else contents.dims[0], "more")
    with ctx.emitter.block(ctx.emitter.out) as put:
        growing.put_many(ctx, row.rows.pool, contents, b.add(_start(ctx, row), size))
    _make_room(ctx, row, size, more)
    ctx.emitter.out.extend(put)
    set_size(ctx, row, b.add(size, more))


def _make_room(ctx: Context, row: Row, size: Expr, more: Expr) -> None:
    """Room for `more` elements behind the `size` that a row has."""
    rows, pool = row.rows, row.rows.pool
    needed = b.add(size, more)
    with ctx.emitter.block() as out:
        here, there = _start(ctx, row), ctx.let(b.size(pool.count), "moved")
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


def joined(ctx: Context, name: str, one: Value, two: Value, out1: list[n.Stmt], out2: list[n.Stmt]) -> Row | None:
    """The row that is `one` after `out1` and `two` after `out2`."""
    found = next((v for v in (one, two) if isinstance(v, Row)), None)
    if found is None:
        return None
    number = ctx.names.variable(name, "index")
    for value, out in ((one, out1), (two, out2)):
        contents = value if isinstance(value, Row) else ctx.deref(value)
        if isinstance(value, Row) and value.rows is not found.rows:
            return None
        if not isinstance(contents, (Row, Seq, GrowingList)):
            return None
        with ctx.emitter.block(out) as more:
            ctx.emit(n.Assign(number.name, number_of(ctx, found.rows, value)))
        out.extend(more)
    return Row(found.rows, number)


