"""A loop in two versions where what is not known before it runs decides whether its iterations are independent:

    for i in 0 .. n:                           if (k == 0 or k >= n or k <= -n):
        a[i] = a[i + k] * 2          to            for i in 0 .. n: …       (now proven independent)
                                               else:
                                                   for i in 0 .. n: …

Where the loop inside asks for more, it is there in a version more (neighbours that go round in both directions of a
grid). The test is a few comparisons before the loop. What it says of the subscripts (`k` is not negative) is used in
the first version.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from transkern.analysis.accesses import Level
from transkern.analysis.deciding import deciding_facts
from transkern.analysis.verdicts import MakingWalk, Verdict
from transkern.fuse.checks.bounds import prove_bounds
from transkern.fuse.lowering.copies import with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr
from transkern.ir.traverse import scalars_set, variables_read, walk
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
        more = self.inner_facts(s, facts)
        other: n.Stmt = self.copy(s, verdict)
        if more:
            other = n.If(reduce(b.both, facts), (self.copy(s, verdict),), (other,), span=s.span)
        return [n.If(reduce(b.both, more or facts), (s,), (other,), span=s.span)]

    def copy(self, s: n.Loop, verdict: Verdict) -> n.Stmt:
        return with_own_names(s, self.names, self.variables, self.buffers, verdict.scalars.private)

    def inner_facts(self, s: n.Loop, facts: Sequence[Expr]) -> tuple[Expr, ...]:
        """Conditions under which the one loop inside is independent, too; none where nothing of that kind is found, or
        where it is in any case."""
        loops = [x for x in s.body if isinstance(x, n.Loop)]
        if len(loops) != 1 or not all(isinstance(x, n.Let | n.Loop) for x in s.body) or loops[0].kind == "parallel":
            return ()
        found: tuple[Expr, ...] = ()
        with self.scope():
            self.facts += facts
            self.levels.append(Level(s.axis, s.start, s.stop, b.constant(s.step) or 1))
            verdict = self.judged(loops[0])
            if not verdict.independent:
                more = tuple(f for f in deciding_facts(verdict) if f not in facts)
                if more and self.judged(loops[0], more).parallel:
                    found = (*facts, *more)
            self.levels.pop()
        changing = scalars_set(s) | {s.axis}
        return found if not any(variables_read(e) & changing for e in found) else ()
