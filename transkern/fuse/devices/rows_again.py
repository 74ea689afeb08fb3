"""Rows that many threads go through, each its own, again and again, are read from a turned copy:

    parallel i in 0 .. n:                           parallel k, j: y_turned[k, j] = y[j, k]
        parallel j in 0 .. m:                       parallel i in 0 .. n:
            s := 0                          to          parallel j in 0 .. m:
            for k in 0 .. p:                                s := 0
                s += (x[i, k] - y[j, k]) ** 2               for k in 0 .. p:
            d[i, j] = s                                         s += (x[i, k] - y_turned[k, j]) ** 2
                                                            d[i, j] = s

- *Property.* Neighbouring points of a kernel (`j`) go along neighbouring rows in a loop of their own, and what else
  they read is one element for all of them, or stands side by side: distances of all pairs, the nearest of some points.
- *Legality.* Nothing in the kernel stores into the array.
- *Schedule.* A warp asks for 32 lines of memory at a time otherwise, or has one point, and adds up what its threads
  have found. Sizes decide when the program runs: rows of up to `TERMS` elements, each read `GAIN` times, by enough
  points for all threads.
"""

from __future__ import annotations

from collections.abc import Iterable

from transkern.fuse.checks.choices import choose, may_choose
from transkern.fuse.schedule.turn import GAIN, TERMS, TurningReductions, chains_in, work_of
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.traverse import buffers_allocated, buffers_written, exprs, scalars_set, variables_read, walk
from transkern.records import replace

_TERMS = 5
"""Elements of a row from which on its neighbours are in other lines of memory."""
_LANES = 32
_POINTS = 32_768
"""Points from which on each had better have a thread of its own."""


def turn_rows(program: n.Program) -> n.Program:
    """The program with turned copies of the arrays that kernels read so."""
    if not any(isinstance(s, n.Accumulate) for s in walk(program.body)):
        return program
    state = _TurningRows(program)
    body = state.block(program.body)
    return replace(program, body=body, variables=state.variables, buffers=state.buffers)


class _TurningRows(TurningReductions):
    points = 0  # loops of the present nest that are its points, from the outermost one

    def block(self, statements: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
        """Loops in order have no such kernels, or are ones."""
        out: list[n.Stmt] = []
        rest = list(statements)
        while rest:
            s = rest.pop(0)
            if isinstance(s, n.If):
                s = replace(s, then=self.block(s.then), orelse=self.block(s.orelse))
            elif isinstance(s, n.Loop) and s.kind == "parallel":
                arrays, enough = self.candidates(s)
                if arrays and may_choose(out, s, rest):
                    rest = choose(out, (enough,), self.versions(s, arrays), rest, self.names, self.variables)
                    continue
            out.append(s)
        return tuple(out)

    def candidates(self, outer: n.Loop) -> tuple[list[str], Expr]:
        axes = _points(outer)
        self.points = len(axes)
        if any(isinstance(s, (n.While, n.Guard, n.Alloc, n.Compact, n.Scanning)) for s in walk((outer,))):
            return [], b.TRUE
        changed = {*buffers_written(outer), *buffers_allocated(outer)}
        inside = {*scalars_set(outer), *(s.axis for s in walk((outer,)) if isinstance(s, n.Loop))}
        condition: Expr = b.compare("greater_equal", b.product(tuple(map(_extent, axes))), b.index(_POINTS))
        condition = b.both(condition, b.compare("greater_equal", _extent(axes[-1]), b.index(_LANES)))
        found: list[str] = []
        for chain in chains_in((outer,)):
            if len(chain) < 3 or not self.has_lanes(chain):
                continue
            arrays = {e.buffer for e in exprs(chain[-1].body) if isinstance(e, Load) and self.across(e, chain)}
            work, terms = work_of(outer, chain), _extent(chain[-1])
            if not arrays or arrays & changed or work is None or not self.gains(chain, arrays):
                continue
            condition = b.both(condition, b.compare("greater_equal", terms, b.index(_TERMS)))
            condition = b.both(condition, b.compare("less_equal", terms, b.index(TERMS)))
            for name in sorted(arrays - set(found)):
                cost = b.mul(b.index(GAIN), b.product(self.buffers[name].dims))
                condition = b.both(condition, b.compare("greater_equal", work, cost))
                found.append(name)
        return ([], b.TRUE) if variables_read(condition) & inside else (found, condition)

    def has_lanes(self, chain: list[n.Loop]) -> bool:
        inner = chain[-1]
        return len(chain) > self.points and inner.step == b.ONE and chain[self.points - 1].step == b.ONE

    def across(self, e: Load, chain: list[n.Loop]) -> bool:
        """Whether the innermost loop runs along a row, of each point another one."""
        info = self.buffers.get(e.buffer)
        if info is None or info.layout != "C" or info.element or len(info.dims) != 2 or len(e.index) != 2:
            return False
        lanes, inner, axes = Var(chain[self.points - 1].axis), Var(chain[-1].axis), {x.axis for x in chain}
        row, column = e.index
        if (variables_read(row) | variables_read(column)) & scalars_set(chain[0]):
            return False
        return (
            b.affine(row)[0].get(lanes) == 1 and variables_read(row) & axes == {lanes.name}
            and b.affine(column)[0].get(inner) == 1 and variables_read(column) & axes == {inner.name}
        )  # fmt: skip

    def gains(self, chain: list[n.Loop], arrays: set[str]) -> bool:
        """Whether with the copies all that neighbouring points read is one element, or stands side by side."""
        lanes = Var(chain[self.points - 1].axis)
        for e in exprs(chain[-1].body):
            if isinstance(e, Load) and not self.across(e, chain):
                within = [lanes.name in variables_read(x) for x in e.index]
                if any(within[:-1]) or (any(within) and b.affine(e.index[-1])[0].get(lanes) != 1):
                    return False
        return True

    def limited(self, inner: n.Loop) -> n.Loop:
        return inner

    def copied(self, name: str, copy: str, outer: n.Loop) -> n.Loop:
        rows, columns = self.buffers[name].dims
        row, column = (Var(self.names.fresh(x)) for x in ("row", "column"))
        store = n.Store(copy, (column, row), Load(name, (row, column), self.buffers[name].dtype), span=outer.span)
        along = n.Loop(row.name, b.ZERO, rows, b.ONE, "parallel", (store,), span=outer.span)
        return n.Loop(column.name, b.ZERO, columns, b.ONE, "parallel", (along,), span=outer.span)


def _extent(loop: n.Loop) -> Expr:
    return b.sub(loop.stop, loop.start)


def _points(outer: n.Loop) -> list[n.Loop]:
    """The perfect nest of loops in any order that `outer` opens."""
    axes = [outer]
    while len(axes[-1].body) == 1:
        inner = axes[-1].body[0]
        if not isinstance(inner, n.Loop) or inner.kind != "parallel":
            break
        axes.append(inner)
    return axes
