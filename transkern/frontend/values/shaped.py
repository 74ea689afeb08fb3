"""Arrays of which an iteration, or one of two paths, decides the whole shape: memory without a bound, in one row, and
their sizes beside it."""

from __future__ import annotations

from dataclasses import replace

from transkern.frontend.context import Context
from transkern.frontend.state import guards
from transkern.frontend.values.values import Array
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Load, Var


def made(ctx: Context, name: str, dtype: str, ndim: int) -> Array:
    """One that has no elements yet."""
    buffer = ctx.buffer(name, dtype, (guards.room(ctx, ()),))
    ctx.lists.rooms.add(buffer.name)
    dims = tuple(ctx.names.count(ctx.names.fresh(f"{name}_dim"), None) for _ in range(ndim))
    ctx.emit(n.Alloc(buffer.name))
    for size in dims:
        ctx.emit(n.Assign(size.name, b.ZERO))
    axes = ctx.names.axes(dims)
    return Array(axes, Load(buffer.name, (b.ravel([a.var for a in axes], dims),), dtype), view=True)


def is_shaped(ctx: Context, value: Array) -> bool:
    """Whether a slot is one of these."""
    return value.view and value.ndim > len(ctx.names.buffers[value.base].dims)


def fill(ctx: Context, slot: Array, value: Array) -> None:
    """`value`, of any shape with as many axes, into `slot`."""
    value = ctx.kept(value)
    sizes = [ctx.let(d, "size") for d in value.dims]  # the slot's own may be among them
    value = replace(value, axes=tuple(replace(a, extent=d) for a, d in zip(value.axes, sizes, strict=True)))
    room = ctx.names.buffers[slot.base].dims[0]
    guards.must_have_room(ctx, b.compare("less_equal", b.product(tuple(sizes)), room))
    ctx.emit(n.Write(slot.base, value.axes, (b.ravel([a.var for a in value.axes], sizes),), value.body))
    for own, size in zip(slot.dims, sizes, strict=True):
        assert isinstance(own, Var)
        ctx.emit(n.Assign(own.name, size))


def fill_counted(ctx: Context, buffer: n.Buffer, count: Var, value: Array) -> None:
    """`value` into `buffer`, its length into `count`."""
    if buffer.name in ctx.lists.rooms:
        # of a filter: at most
        guards.must_have_room(ctx, b.compare("less_equal", value.axes[0].extent, buffer.dims[0]))
    if value.mask is not None:
        ctx.emit(n.Filter((buffer.name,), count.name, value.axes[:1], value.mask, (value.body,), value.axes[1:]))
        return
    ctx.emit(n.Write(buffer.name, value.axes, tuple(a.var for a in value.axes), value.body))
    ctx.emit(n.Assign(count.name, value.dims[0]))
