"""A loop is split at the one iteration that the others meet:

    for i in 0 .. n:                                for i in 0 .. k: d[i, j] = min(d[i, j], d[i, k] + d[k, j])
        d[i, j] = min(d[i, j],              to      for i in k .. k + 1: …
                      d[i, k] + d[k, j])            for i in k + 1 .. n: …

Row `k` is written in iteration `k` only, and read in all of them: before and behind it the iterations are independent.
With the first or last iteration as the one that is met, this is peeling.
"""

from __future__ import annotations

from transkern.analysis.splitting import splitting_point
from transkern.analysis.verdicts import Verdict, Walk
from transkern.fuse.lowering.copies import with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr
from transkern.ir.names import Names
from transkern.ir.traverse import walk
from transkern.records import replace


def split_loops(program: n.Program) -> n.Program:
    """The program with loops split where one iteration alone keeps the others from being independent."""
    if not any(isinstance(s, n.Loop) and s.kind == "sequential" for s in walk(program.body)):
        return program
    state = _Splitting(program)
    body = state.block(program.body)
    return replace(program, body=body, variables=state.variables, buffers=state.buffers)


class _Splitting(Walk):
    loops_only = True

    def __init__(self, program: n.Program) -> None:
        self.buffers = dict(program.buffers)
        super().__init__(replace(program, buffers=self.buffers))
        self.names = Names.of(program)
        self.variables = dict(program.variables)

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if isinstance(s, n.Loop) and s.kind == "sequential" and b.constant(s.step) == 1:
            verdict = self.judged(s)
            point = splitting_point(verdict)
            if point is not None:
                return self.split(s, point, verdict)
        return [self.inside(s)]

    def within(self, point: Expr, s: n.Loop) -> Expr:
        """`point`, not outside the range of `s`."""
        if not self.holds(b.compare("greater_equal", point, s.start)):
            point = b.maximum(point, s.start)
        if not self.holds(b.compare("less_equal", point, s.stop)):
            point = b.minimum(point, s.stop)
        return point

    def split(self, s: n.Loop, point: Expr, verdict: Verdict) -> list[n.Stmt]:
        """Three loops: before the point, the point, behind it; what is there of each."""
        at, behind = self.within(point, s), self.within(b.add(point, b.ONE), s)
        private = verdict.scalars.private
        parts = [replace(s, stop=at), replace(s, start=at, stop=behind), replace(s, start=behind)]
        out: list[n.Stmt] = []
        for k, part in enumerate(parts):
            if b.difference(part.start, part.stop) == 0:
                continue
            if k:
                part = with_own_names(part, self.names, self.variables, self.buffers, private)
            out.append(self.inside(part))
        return out
