"""Iterations that are apart, one after the other where they are few and each goes over much in order:

    parallel k in 0 .. b:                      if b <= 256 and …:
        sequential i in 0 .. n:         to         sequential k in 0 .. b: sequential i in 0 .. n: …
            parallel j in 0 .. n: …            else:
                                                   parallel k in 0 .. b: sequential i in 0 .. n: …

A batch of images, each with a greedy choice among its boxes. In step, each image would look at a place of its own,
which is a gather of XLA's a step, and so are arrays of three axes; one after the other they are one kernel, whose state
stays in VMEM and whose passes fill the lanes by themselves. Many iterations with little in each gain by going in step,
and so do rows whose places are the same in all: they fill a register's eight.
"""

from __future__ import annotations

from collections.abc import Sequence

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.traverse import (
    buffers_read,
    buffers_used,
    buffers_written,
    exprs,
    is_in_order,
    variables_read,
    walk,
    with_bodies,
)
from transkern.records import replace

_FEW = 256
"""Iterations that go one after the other, at most: a step of a kernel takes a tenth of a microsecond, XLA's tens."""
_HELD = 1 << 20
"""Elements of all arrays, at most: they stay in VMEM."""


def order_batches(program: n.Program) -> n.Program:
    """The program with such loops twice, and the choice between them, which sizes make."""
    given = [p for p in program.params if isinstance(p, n.ArrayParam)]
    sizes = frozenset(d.name for p in given for d in p.dims if isinstance(d, Var))

    def inside(block: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
        return tuple(statement(s) for s in block)

    def statement(s: n.Stmt) -> n.Stmt:
        if isinstance(s, n.If):
            return with_bodies(s, inside)
        if not isinstance(s, n.Loop) or s.kind != "parallel" or not any(map(_goes_over_much, walk(s.body))):
            return s
        arrays = [program.buffers[of] for of in sorted({*buffers_used(s), *buffers_written(s)})]
        if not _chooses_places(s) and all(len(of.dims) < 3 for of in arrays):
            return s
        held: Expr = b.ZERO
        for of in arrays:
            held = b.add(held, b.product(of.dims))
        count = b.sub(s.stop, s.start)
        if not variables_read(count) | variables_read(held) <= sizes:
            return s
        few = b.compare("less_equal", count, b.index(_FEW))
        fits = b.compare("less_equal", held, b.index(_HELD))
        return n.If(b.both(few, fits), (replace(s, kind="sequential"),), (s,), span=s.span)

    return replace(program, body=inside(program.body))


def _goes_over_much(s: n.Stmt) -> bool:
    """Whether a loop in order stores, and has loops over many that are parallel."""
    if not is_in_order(s) or not buffers_written(s):
        return False
    passes = [x for x in walk((s,)) if isinstance(x, n.Loop) and x.kind == "parallel"]
    return any(b.constant(b.sub(x.stop, x.start)) is None for x in passes)


def _chooses_places(s: n.Loop) -> bool:
    """Whether data say which elements a loop looks at."""
    chosen = {x.name for x in walk((s,)) if isinstance(x, n.Accumulator)}
    for x in walk((s,)):
        if isinstance(x, (n.Let, n.Assign)) and (buffers_read(x.value) or variables_read(x.value) & chosen):
            chosen.add(x.name)
    places = [i for e in exprs((s,)) if isinstance(e, Load) for i in e.index]
    places += [i for x in walk((s,)) if isinstance(x, n.Store) for i in x.index]
    return any(buffers_read(i) or variables_read(i) & chosen for i in places)
