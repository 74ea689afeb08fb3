"""What a row computes of what it was reduced to goes behind the reductions, for several rows at a time (strip-mining,
then loop distribution):

    parallel i in 0 .. n:                        parallel block in 0 .. ceildiv(n, 16):
        accumulator total by sum                     parallel row in 0 .. minimum(16, n - 16 * block):
        parallel j in 0 .. m:                            accumulator total by sum
            total sum= x[i, j] * w[j]       to           parallel j in 0 .. m: total sum= x[16 * block + row, j] * w[j]
        y[i] = 1.0 / (1.0 + exp(-total))                 totals[row] = total
                                                     parallel row in 0 .. minimum(16, n - 16 * block):
                                                         y[16 * block + row] = 1.0 / (1.0 + exp(-totals[row]))

The new loop behind has vectors; a row alone calls `exp` for one number. Done where the loop is parallel, what follows
its inner loops has none itself, and costs what vectors are for. Few rows are in smaller blocks, so that threads have
as much to do as each other.
"""

from __future__ import annotations

from transkern.fuse.lowering.copies import with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.ops import OPS, TRANSCENDENTAL
from transkern.ir.traverse import (
    buffers_used,
    buffers_written,
    map_block,
    own_exprs,
    scalars_used,
    walk,
    walk_expr,
    with_bodies,
)  # fmt: skip
from transkern.records import replace

_ROWS = 16
"""Rows of a block: two vectors of float64."""
_BLOCKS = 16
"""Blocks that there are at least, if there are as many rows: threads share blocks."""
_HANDED = 4
"""Numbers of a row that are kept for what follows."""


def distribute_epilogues(program: n.Program) -> n.Program:
    """The program with such loops over rows in two."""
    if not any(_dear(e) for s in walk(program.body) for own in own_exprs(s) for e in walk_expr(own)):
        return program
    state = _Epilogues(program)
    body = state.block(program.body)
    return replace(program, body=body, variables=state.variables, buffers=state.buffers)


class _Epilogues:
    def __init__(self, program: n.Program) -> None:
        self.names, self.variables, self.buffers = Names.of(program), dict(program.variables), dict(program.buffers)

    def block(self, statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        return tuple(x for s in statements for x in self.statement(s))

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if isinstance(s, n.Loop) and s.kind == "parallel" and s.step == b.ONE:
            at = _epilogue(s)
            if at is not None and (made := self.apart(s, s.body[:at], s.body[at:])) is not None:
                return made
        return [with_bodies(s, self.block)]

    def apart(self, s: n.Loop, head: tuple[n.Stmt, ...], tail: tuple[n.Stmt, ...]) -> list[n.Stmt] | None:
        extent = b.sub(s.stop, s.start)
        if (known := b.constant(extent)) is not None and known < 2 * _ROWS:
            return None
        own = {x.buffer for x in walk(head) if isinstance(x, n.Alloc)}
        if any(own & (buffers_used(x) | buffers_written(x)) for x in tail):
            return None
        dtypes = {x.name: x.dtype for x in head if isinstance(x, n.Accumulator)}
        dtypes |= {x.name: x.value.dtype for x in head if isinstance(x, n.Let)}
        dtypes |= {x.name: x.value.dtype for x in walk(head) if isinstance(x, n.Assign)}
        theirs = {x.name for x in tail if isinstance(x, n.Let)}
        given = sorted({name for x in tail for name in scalars_used(x)} & dtypes.keys() - theirs)
        if not 1 <= len(given) <= _HANDED:
            return None
        most, line = b.index(_ROWS), s.span.line
        together = Var(self.names.fresh("together"), "index")
        block, row = Var(self.names.fresh("block"), "index"), Var(self.names.fresh("row"), "index")
        first = b.add(s.start, b.mul(block, together))
        kept = {name: self.names.fresh(f"{name}_rows") for name in given}
        self.buffers |= {kept[name]: n.Buffer(kept[name], dtypes[name], (most,), line=line) for name in given}
        keeps = [n.Store(kept[name], (row,), Var(name, dtypes[name]), span=s.span) for name in given]

        def read(e: Expr) -> Expr | None:
            return Load(kept[e.name], (row,), e.dtype) if isinstance(e, Var) and e.name in kept else None

        count = b.minimum(most, b.minimum(together, b.sub(s.stop, first)))
        place = n.Let(s.axis, b.add(first, row), span=s.span)
        inner = replace(s, axis=row.name, start=b.ZERO, stop=count, spare=None, large=False)
        rows = replace(inner, body=(place, *self.block(head), *keeps))
        behind = with_own_names(
            replace(inner, body=(place, *map_block(tail, read))), self.names, self.variables, self.buffers
        )
        allocs = [n.Alloc(buffer, span=s.span) for buffer in kept.values()]
        size = b.maximum(b.ONE, b.minimum(most, b.floordiv(extent, b.index(_BLOCKS))))
        blocks = b.floordiv(b.sub(b.add(extent, together), b.ONE), together)
        return [
            n.Let(together.name, size, span=s.span),
            replace(s, axis=block.name, start=b.ZERO, stop=blocks, body=(*allocs, rows, behind), spare=None),
        ]


def _epilogue(s: n.Loop) -> int | None:
    """Where what a row computes of its reductions begins, if vectors gain by it."""
    if any(not isinstance(x, _KNOWN) for x in walk(s.body)):
        return None
    at = len(s.body)
    while at and isinstance(last := s.body[at - 1], (n.Let, n.Store, n.Accumulate)):
        if isinstance(last, n.Accumulate) and last.op != "sum":
            break
        at -= 1
    head, tail = s.body[:at], s.body[at:]
    if not any(isinstance(x, n.Loop) for x in head):
        return None
    own = {x.name for x in walk(head) if isinstance(x, n.Accumulator)}
    if any(isinstance(x, n.Accumulate) and x.name not in own for x in walk(head)):
        return None  # what rows add up together
    if any(isinstance(x, n.Accumulate) and x.name in own for x in tail):
        return None
    written = {name for x in head for name in buffers_written(x)}
    if any(written & buffers_written(x) for x in tail):
        return None
    return at if any(_dear(e) for x in tail for value in own_exprs(x) for e in walk_expr(value)) else None


_KNOWN = (n.Let, n.Assign, n.Store, n.Accumulator, n.Accumulate, n.Loop, n.Alloc, n.If)
"""What a row may be made of: nothing that leaves the loop."""


def _dear(e: Expr) -> bool:
    return isinstance(e, Apply) and e.op in OPS and OPS[e.op].cost >= TRANSCENDENTAL and e.dtype.startswith("float")
