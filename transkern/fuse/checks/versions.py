"""A loop in two versions where what is not known before it runs decides whether its iterations are independent:

    for i in 0 .. n:                           if (k == 0 or k >= n or k <= -n):
        a[i] = a[i + k] * 2          to            for i in 0 .. n: …       (now proven independent)
                                               else:
                                                   for i in 0 .. n: …

The test is a few comparisons before the loop. What it says of the subscripts (`k` is not negative) is used in the first
version.
"""

from __future__ import annotations

from transkern.analysis.deciding import deciding_facts
from transkern.analysis.verdicts import MakingWalk
from transkern.fuse.checks.bounds import prove_bounds
from transkern.fuse.lowering.copies import with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr
from transkern.ir.traverse import walk
from transkern.records import replace

_STATEMENTS = 40
"""A loop with more of them is not written twice."""


def version_loops(program: n.Program) -> n.Program:
    """The program with loops that a test decides in two versions."""
    if not any(isinstance(s, n.Loop) and s.kind == "sequential" for s in walk(program.body)):
        return program
    state = _Versions(program)
    body = state.block(program.body)
    made = replace(program, body=body, variables=state.variables, buffers=state.buffers)
    return prove_bounds(made) if state.made else program


class _Versions(MakingWalk):
    loops_only = True

    def __init__(self, program: n.Program) -> None:
        super().__init__(program)
        self.made = 0

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if not isinstance(s, n.Loop):
            return [self.inside(s)]
        if s.kind == "parallel":
            return [s]  # there is enough to do in parallel
        verdict = self.judged(s)
        if verdict.independent:
            return [s]
        facts = deciding_facts(verdict)
        if not facts or sum(1 for _ in walk(s.body)) > _STATEMENTS or not self.judged(s, facts).parallel:
            return [self.inside(s)]
        self.made += 1
        condition: Expr = b.TRUE
        for fact in facts:
            condition = b.both(condition, fact)
        other = with_own_names(s, self.names, self.variables, self.buffers, verdict.scalars.private)
        return [n.If(condition, (s,), (other,), span=s.span)]
