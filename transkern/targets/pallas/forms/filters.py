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
    """The kept values move to the front of their padded outputs, in a kernel of its own (`_packed`)."""
    if vector.mosaic or vector.axes:
        raise Inexpressible("a compaction")
    slot = vector.slots[s.axis]
    made = [vector.ensure(out) for out in s.outputs]
    vector.axes[s.axis] = AxisInfo(slot, s.stop, b.ZERO, 1)
    vector.block(s.body)
    keep = vector.module.fresh("keep")
    vector.out.append(assign(keep, vector.spread(vector.expr(s.mask), [slot])))
    flat = quote("_0.reshape(-1)", name(keep)) if vector.rank > 1 else name(keep)
    held: list[ast.expr] = []  # all is read before anything is stored: a compaction may be in place
    for value in s.values:
        for a in s.inner:
            vector.axes[a.name] = AxisInfo(vector.slots[a.name], a.extent, b.ZERO, 1)
        node = vector.spread(vector.expr(value), sorted(vector.open_slots()))
        for a in s.inner:
            del vector.axes[a.name]
        if s.inner and slot != 0:
            raise Inexpressible("a compaction of inner axes")
        held.append(quote("_0.reshape(-1)", node) if not s.inner and vector.rank > 1 else node)
    target = vector.module.identifier(s.count)
    del vector.axes[s.axis]
    if not (s.append and s.count in vector.env):
        given = [flat, array_of(held), array_of(own_of(vector, s)), ast.Constant(all(made))]
        moved = call(vector.module.helper("_packed"), given)
        outputs = ast.List([ast.Name(vector.python(out), ast.Store()) for out in s.outputs], ast.Store())
        targets = ast.Tuple([outputs, ast.Name(target, ast.Store())], ast.Store())
        vector.out.append(ast.Assign([targets], moved, lineno=0))
        if vector.module.wide:
            vector.out.append(assign(target, quote(f"_0.astype(jnp.{vector.module.integer})", name(target))))
        vector.env[s.count] = Value(name(target), "index")
        return
    append(vector, s, keep, flat, held)


def array_of(items: list[ast.expr]) -> ast.expr:
    return ast.List(items, ast.Load())


def own_of(vector: Statements, s: n.Compact) -> list[ast.expr]:
    return [name(vector.python(out)) for out in s.outputs]


def append(vector: Statements, s: n.Compact, keep: str, flat: ast.expr, held: list[ast.expr]) -> None:
    """The kept values move behind what there is."""
    to, base = vector.module.fresh("place"), vector.env[s.count].node
    counted = quote(f"_0.astype(jnp.{vector.module.integer})", flat)
    places = call(vector.module.helper("_running"), [counted, constant(0), ast.Constant("sum")])
    running = quote("_0 + _1 - 1", base, places)
    limit = vector.size(vector.program.buffers[s.outputs[0]].dims[0])
    vector.out.append(assign(to, quote("jnp.where(_0, _1, _2)", flat, running, limit)))
    moved: list[ast.stmt] = []
    for own, value in zip(own_of(vector, s), held, strict=True):
        assert isinstance(own, ast.Name)
        node = value
        if len(s.outputs) > 1:
            vector.out.append(assign(one := vector.module.fresh("moved"), node))
            node = name(one)
        moved.append(assign(own.id, quote("_0.at[_1].set(_2, mode='drop')", own, name(to), node)))
    vector.out += moved
    target = vector.module.identifier(s.count)
    vector.out.append(assign(target, quote(f"_0 + jnp.sum(_1, dtype=jnp.{vector.module.integer})", base, name(keep))))
    vector.env[s.count] = Value(name(target), "index")
