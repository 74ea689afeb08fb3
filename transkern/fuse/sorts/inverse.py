"""The order of an order is where each of its elements stands in it:

    order = library argsort(x) {axis: 1}              order = library argsort(x) {axis: 1}
                                                      parallel i in 0 .. n:
    rank = library argsort(order) {axis: 1}     to        parallel j in 0 .. m: rank[i, order[i, j]] = j

Ranks are written so (``x.argsort().argsort()``): a second sort for what a pass over the order tells. Each row of an
order along an axis holds each place of that axis once, so that no two stores meet, in whatever order they come, all
elements get one, and there are no equal elements whose order a kind of sort would decide. What was stored into in
between is no order any more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import buffers_written, walk, with_bodies
from transkern.records import replace


def invert_orders(program: n.Program) -> n.Program:
    """The program without sorts of orders."""
    if sum(isinstance(s, n.Library) and s.name == "argsort" for s in walk(program.body)) < 2:
        return program
    names = Names.of(program)

    def block(statements: Sequence[n.Stmt], known: Mapping[str, object]) -> tuple[n.Stmt, ...]:
        """`known`: of arrays that are orders, the axis."""
        orders, out = dict(known), list[n.Stmt]()
        for s in statements:
            axis = dict(s.attributes).get("axis") if isinstance(s, n.Library) and s.name == "argsort" else None
            if isinstance(s, n.Library) and axis is not None:
                known_here = {s.outs[0]: axis}
                if orders.get(s.ins[0]) == axis and not any(s.views) and s.outs[0] != s.ins[0]:
                    s = _inverse(program, s, int(axis), names)
            else:
                known_here = {}
            written = buffers_written(s)
            orders = {name: a for name, a in orders.items() if name not in written}
            out.append(with_bodies(s, partial(block, known=orders)))
            orders = orders | known_here
        return tuple(out)

    return replace(program, body=block(program.body, {}))


def _inverse(program: n.Program, s: n.Library, axis: int, names: Names) -> n.Stmt:
    (order,) = s.ins
    buffer = program.buffers[order]
    here = tuple(Var(names.fresh("ii"), "index") for _ in buffer.dims)
    place = b.as_index(Load(order, here, buffer.dtype))
    value = b.cast(here[axis], program.buffers[s.outs[0]].dtype)
    inner: n.Stmt = n.Store(s.outs[0], (*here[:axis], place, *here[axis + 1 :]), value, span=s.span)
    for x, extent in reversed([*zip(here, buffer.dims, strict=True)]):
        inner = n.Loop(x.name, b.ZERO, extent, b.ONE, "parallel", (inner,), span=s.span)
    return inner
