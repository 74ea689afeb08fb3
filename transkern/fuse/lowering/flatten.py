"""Loops over all axes of contiguous arrays become one loop over their elements:

    parallel i in 0 .. n:                           parallel e in 0 .. n * m:
        parallel j in 0 .. m:              to           y[e] = max(a[e] + b[e], 0)
            y[i, j] = max(a[i, j] + b[i, j], 0)

Short rows then cost nothing, and threads share the elements evenly.
"""

from __future__ import annotations

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import exprs, map_block, walk
from transkern.records import replace


def flatten_loops(program: n.Program) -> n.Program:
    """The program with such nests at its top as single loops."""
    names = Names.of(program)
    return replace(program, body=tuple(_flat(s, program, names) for s in program.body))


def _flat(s: n.Stmt, program: n.Program, names: Names) -> n.Stmt:
    nest: list[n.Loop] = []
    inner: n.Stmt = s
    while isinstance(inner, n.Loop) and inner.kind == "parallel" and inner.start == b.ZERO and inner.step == b.ONE:
        nest.append(inner)
        if len(inner.body) != 1 or not isinstance(inner.body[0], n.Loop):
            break
        inner = inner.body[0]
    if len(nest) < 2 or any(x.spare is not None for x in nest):
        return s
    body = nest[-1].body
    if not all(isinstance(x, (n.Let, n.Store)) for x in walk(body)):
        return s
    whole: tuple[Expr, ...] = tuple(Var(x.axis) for x in nest)
    extents = tuple(x.stop for x in nest)
    axes = {x.axis for x in nest}

    def contiguous(buffer: str, index: tuple[Expr, ...]) -> bool:
        info = program.buffers[buffer]
        return index == whole and info.layout == "C" and info.dims == extents

    for e in exprs(body):
        if isinstance(e, Load) and not contiguous(e.buffer, e.index) and (e.index or program.buffers[e.buffer].dims):
            return s
    if not all(contiguous(x.buffer, x.index) for x in walk(body) if isinstance(x, n.Store)):
        return s
    element = Var(names.fresh("e"))

    def linear(e: Expr) -> Expr | None:
        return Load(e.buffer, (element,), e.dtype) if isinstance(e, Load) and e.index == whole else None

    made = tuple(replace(x, index=(element,)) if isinstance(x, n.Store) else x for x in map_block(body, linear))
    if any(isinstance(e, Var) and e.name in axes for e in exprs(made)):
        return s  # a position is a value here
    return replace(nest[0], axis=element.name, stop=b.product(extents), body=made)
