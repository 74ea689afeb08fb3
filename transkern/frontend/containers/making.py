"""Lists whose length is known at run time only, as they are made: empty, or of an array's elements."""

from __future__ import annotations

from dataclasses import replace

from transkern import refusals
from transkern.frontend.anew import NotKnown, Site
from transkern.frontend.containers import list_types
from transkern.frontend.containers.list_types import fresh_name, list_type, make_optional, without_range
from transkern.frontend.context import Context
from transkern.frontend.loops.trips import bound_of
from transkern.frontend.numpy.arrays import as_array, list_array
from transkern.frontend.state import guards
from transkern.frontend.values import doubts
from transkern.frontend.values.numbers import is_number, is_python_number
from transkern.frontend.values.values import (
    OPTIONAL,
    Around,
    Array,
    GrowingList,
    Instance,
    Limits,
    OneOf,
    OrNone,
    Rows,
    Scalar,
    Seq,
    Value,
)
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr
from transkern.ir.traverse import variables_read


def new(
    ctx: Context, name: str, site: Site | None = None, room: int = 0, queue: bool = False, unbounded: bool = False
) -> GrowingList:
    """An empty list, with room for so many elements; a `queue` has room on both sides."""
    buffer = fresh_name(ctx, name)
    count = ctx.names.count(buffer, b.index(room))
    ctx.lists.counts.add(count.name)
    ctx.lists.depths[count.name] = len(ctx.control.trips)
    ctx.aliasing.made_in[buffer] = ctx.control.loop_path
    ctx.emit(n.Assign(count.name, b.ZERO))
    blocks = (*ctx.emitter.around, ctx.emitter.out)
    around = Around(len(ctx.control.trips), frozenset(ctx.names.taken), blocks)
    owner = GrowingList(buffer, count.name, around=around, limits=Limits(unbounded=unbounded), site=site)
    if queue:
        owner.head = ctx.names.variable(f"{name}_head", "index").name
        least = guards.room(ctx, (b.ONE,))  # what is appended may be arrays, for which there is less room
        ctx.emit(n.Assign(owner.head, b.floordiv(least, b.index(2))))
    ctx.emit(n.Alloc(buffer))
    if site in ctx.learned.ragged:
        owner.rows = new_rows(ctx, name, site or ())
    elif site is not None:
        owner.ahead = {
            at: new_rows(ctx, name, at) for at in sorted(ctx.learned.ragged, key=repr) if _is_item_of(at, site)
        }
    if site in ctx.learned.optional:
        make_optional(ctx, owner)
    return owner


def become_optional(ctx: Context, owner: GrowingList) -> None:
    """A list gets None: one that has had nothing yet is one with None from here on, as a list becomes one of tuples;
    of another one the translation begins anew."""
    typed = owner.dtype or owner.columns or owner.row or owner.of or owner.options
    if not (typed or owner.rows or owner.objects or owner.dims or owner.prefix) and owner.row_of is None:
        make_optional(ctx, owner)
        return
    help = "take a number that stands for it"
    error = NotKnown(refusals.MAY_BE_NONE, "a list with None in it", help, ctx.session.span, ctx.session.lines)
    error.finding = ctx.learned.of_list("optional", owner.site)
    raise error


def _is_item_of(at: Site, site: Site) -> bool:
    """Whether a place is that of an item of the tuples in a list."""
    behind = at[len(site) :]
    return bool(behind) and at[: len(site)] == site and all(isinstance(k, int) for k in behind)


def as_list(ctx: Context, value: Seq) -> GrowingList:
    """A list of numbers whose length is known."""
    array = as_array(ctx, value)
    if array.ndim != 1 or not all(is_number(i) or isinstance(i, Scalar) for i in value.items):
        ctx.fail(refusals.LIST_OF_TYPES, "a list of lists of different things", "use an array with two dimensions")
    python = all(is_python_number(i) for i in value.items)
    body = b.as_index(array.body) if python and array.dtype == "int64" else array.body
    return list_of(ctx, replace(array, body=body), python)


def list_of(ctx: Context, array: Array, python: bool) -> GrowingList:
    """A new list of an array's elements (its rows)."""
    if python and array.dtype == "int64":
        array = replace(array, body=b.as_index(array.body))
    owner = new(ctx, "items")
    owner.extent = array.domain[0] if variables_read(array.domain[0]) <= ctx.facts.entry else None
    array = ctx.kept(array)
    _hold(ctx, owner, array, python)
    ctx.emit(n.Assign(owner.count, array.dims[0]))
    return owner


def _hold(ctx: Context, owner: GrowingList, array: Array, python: bool) -> None:
    """The elements of an array in the memory of a new list, or of one of its columns."""
    owner.around = replace(owner.around, depth=len(ctx.control.trips))
    ctx.names.bounds[owner.count] = b.ZERO
    list_type(ctx, owner, array.dtype, array.dims[1:], python, bound_of(ctx, array.dims[0]))
    ctx.names.buffers[owner.buffer] = without_range(ctx.names.buffers[owner.buffer])
    ctx.emit(n.Write(owner.buffer, array.axes, tuple(a.var for a in array.axes), array.body))


def held(ctx: Context, value: Value, moved: bool = True) -> Value:
    """`value` now, as the list that it is in is about to change; `moved`: it will not stand there, then."""
    match value:
        case Scalar(expr, python, tag, doubt):
            kept = None if tag is None else ctx.let(tag, "popped type")
            return Scalar(ctx.let(expr, "popped"), python, kept, doubts.named(ctx, doubt, "popped"))
        case OneOf(index, options):
            return OneOf(ctx.let(index, "popped"), options)
        case Seq(items, kind):
            return Seq(tuple(held(ctx, i) for i in items), kind)
        case OrNone(inner, none):
            return OrNone(held(ctx, inner), ctx.let(none, "popped is None"))
        case Array():
            return ctx.define(replace(value, view=False), "popped")
        case Instance(pool, number):
            return Instance(pool, ctx.let(number, "popped"))
        case GrowingList() if value.prefix:
            copy = list_of(ctx, list_array(ctx, value), value.python)
            if not moved:
                ctx.lists.twins.rows.copies[copy.buffer] = value.buffer
            return copy
        case _:
            return value


def new_rows(ctx: Context, name: str, site: tuple[object, ...], kind: str = "") -> Rows:
    """No rows yet."""
    starts, sizes, rooms = (new(ctx, f"{name}_{of}") for of in ("starts", "sizes", "rooms"))
    for one in (starts, sizes, rooms):  # an iteration may ask for a row before one is made in the program's order
        list_types.list_type(ctx, one, "index", (), True, b.ZERO)
        ctx.names.buffers[one.buffer] = list_types.without_range(ctx.names.buffers[one.buffer])
    pool = new(ctx, f"{name}_pool", (*site, "pool"), unbounded=True)
    return Rows(starts, sizes, rooms, pool, kind)


def nothings(ctx: Context, extent: Expr) -> GrowingList:
    """``[None] * extent``."""
    made = new(ctx, "items")
    flags = list_of(ctx, Array(ctx.names.axes((extent,)), b.TRUE), True)
    held = GrowingList(ctx.names.fresh(f"{made.buffer}_1"), made.count, around=made.around.of_parts)
    made.row, made.columns = OPTIONAL, [replace(flags, count=made.count, extent=None), held]
    ctx.lists.columns[made.buffer] = [held.buffer]
    ctx.names.bounds[made.count] = ctx.names.bounds[flags.count]
    ctx.emit(n.Assign(made.count, extent))
    return made
