"""Filters and scans over a block, as JAX's own."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Var
from transkern.targets.pallas.forms.values import Inexpressible, Value
from transkern.targets.pallas.forms.vector import AxisInfo
from transkern.targets.pallas.printing.quote import (
    assign,
    call,
    constant,
    name,
    quote,
)

if TYPE_CHECKING:
    from transkern.targets.pallas.forms.statements import Statements


def scanning(vector: Statements, s: n.Scanning) -> None:
    if vector.mosaic:
        raise Inexpressible("a scan")
    slot = vector.slots[s.axis]
    vector.axes[s.axis] = AxisInfo(slot, s.stop, b.ZERO, 1)
    vector.block(s.body)
    value = vector.expr(s.value)
    node = vector.spread(value, sorted(vector.open_slots()))
    buffer = vector.program.buffers[s.buffer]
    typed = quote(f"_0.astype(jnp.{vector.module.dtype(buffer.dtype)})", node)
    axis = call(vector.module.helper("_running"), [typed, constant(slot), ast.Constant(s.op)])
    held = vector.module.fresh("running")
    if s.op != "prod" and buffer.dtype.startswith("float"):
        given = [node, constant(slot), quote(f"jnp.{vector.module.dtype(buffer.dtype)}")]
        axis = call(vector.module.helper(f"_cum{s.op}"), given)
    vector.out.append(assign(held, axis))
    vector.env[held] = Value(name(held), buffer.dtype, vector.open_slots())
    vector.store(n.Store(s.buffer, s.index, Var(held, buffer.dtype), span=s.span), vector.mask)
    del vector.axes[s.axis]


def compact(vector: Statements, s: n.Compact) -> None:
    """The kept values move to the front of their padded outputs: positions are a running count."""
    if vector.mosaic or vector.axes:
        raise Inexpressible("a compaction")
    slot = vector.slots[s.axis]
    for out in s.outputs:
        vector.ensure(out)
    vector.axes[s.axis] = AxisInfo(slot, s.stop, b.ZERO, 1)
    vector.block(s.body)
    keep = vector.module.fresh("keep")
    vector.out.append(assign(keep, vector.spread(vector.expr(s.mask), [slot])))
    flat = quote("_0.reshape(-1)", name(keep)) if vector.rank > 1 else name(keep)
    to = vector.module.fresh("place")
    base = vector.env[s.count].node if s.append and s.count in vector.env else ast.Constant(0)
    counted = quote(f"_0.astype(jnp.{vector.module.integer})", flat)
    places = call(vector.module.helper("_running"), [counted, constant(0), ast.Constant("sum")])
    running = quote("_0 + _1 - 1", base, places)
    limit = vector.size(vector.program.buffers[s.outputs[0]].dims[0])
    vector.out.append(assign(to, quote("jnp.where(_0, _1, _2)", flat, running, limit)))
    moved: list[ast.stmt] = []  # when all has been read: a compaction may be in place
    for out, value in zip(s.outputs, s.values, strict=True):
        for a in s.inner:
            vector.axes[a.name] = AxisInfo(vector.slots[a.name], a.extent, b.ZERO, 1)
        node = vector.spread(vector.expr(value), sorted(vector.open_slots()))
        for a in s.inner:
            del vector.axes[a.name]
        if s.inner and slot != 0:
            raise Inexpressible("a compaction of inner axes")
        if not s.inner and vector.rank > 1:
            node = quote("_0.reshape(-1)", node)
        if len(s.outputs) > 1:
            vector.out.append(assign(held := vector.module.fresh("moved"), node))
            node = name(held)
        own = vector.python(out)
        moved.append(assign(own, quote("_0.at[_1].set(_2, mode='drop')", name(own), name(to), node)))
    vector.out += moved
    target = vector.module.identifier(s.count)
    vector.out.append(assign(target, quote(f"_0 + jnp.sum(_1, dtype=jnp.{vector.module.integer})", base, name(keep))))
    vector.env[s.count] = Value(name(target), "index")
    del vector.axes[s.axis]
