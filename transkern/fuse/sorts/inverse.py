"""The order of an order is where each of its elements stands in it:

    order = library argsort(x) {axis: 1}              order = library argsort(x) {axis: 1}
    rank = library argsort(order) {axis: 1}     to    scatter rank[i, order[i, j]] = j  for i < n, j < m

Ranks are written so (``x.argsort().argsort()``): a second sort for what a pass over the order tells. Each row of an
order along an axis holds each place of that axis once, so that no two stores meet, all elements get one, and there are
no equal elements whose order a kind of sort would decide. What was stored into in between is no order any more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Axis, Load
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
                if orders.get(s.ins[0]) == axis and not any(s.views):
                    s = _inverse(program, s, int(axis), names)
                known_here = {s.buffer if isinstance(s, n.Scatter) else s.outs[0]: axis}
            else:
                known_here = {}
            written = buffers_written(s)
            orders = {name: a for name, a in orders.items() if name not in written}
            out.append(with_bodies(s, partial(block, known=orders)))
            orders = orders | known_here
        return tuple(out)

    return replace(program, body=block(program.body, {}))


def _inverse(program: n.Program, s: n.Library, axis: int, names: Names) -> n.Scatter:
    (order,) = s.ins
    buffer = program.buffers[order]
    axes = tuple(Axis(names.fresh("ii"), extent) for extent in buffer.dims)
    here = tuple(a.var for a in axes)
    place = b.as_index(Load(order, here, buffer.dtype))
    index = (*here[:axis], place, *here[axis + 1 :])
    return n.Scatter(s.outs[0], axes, index, b.cast(here[axis], program.buffers[s.outs[0]].dtype))
