"""Bounds checks in loops go where the ranges of the loops around them prove that they hold:

    for i in 0 .. n:                                     for i in 0 .. n:
        for j in 0 .. i:                                     for j in 0 .. i:
            guard (j < n)                      to                s := s + a[j]
            s := s + a[j + n if j < 0 else j]

The proof is isl's, over all values of sizes: what it cannot show stays.
"""

from __future__ import annotations

from dataclasses import replace

from transkern.analysis.verdicts import Walk
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr
from transkern.ir.facts import conjuncts
from transkern.ir.traverse import map_own, walk


def prove_bounds(program: n.Program) -> n.Program:
    """The program without checks and wrapped subscripts that the loops around them make needless."""
    if not any(isinstance(s, n.Loop) and s.kind == "sequential" for s in walk(program.body)):
        return program
    return replace(program, body=_Proving(program).block(program.body))


class _Proving(Walk):
    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if not self.levels:
            return [self.inside(s)]
        if isinstance(s, n.Guard):
            left = [part for part in conjuncts(s.condition) if not self.holds(part)]
            if not left:
                return []
            condition: Expr = b.TRUE
            for part in left:
                condition = b.both(condition, part)
            return [replace(s, condition=condition)]
        return [self.inside(map_own(s, self.unwrapped))]

    def unwrapped(self, e: Expr) -> Expr | None:
        """A subscript that counts from the end where it is negative, if it never is."""
        match e:
            case Apply("where", (Apply("less", (x, Const(0)), _) as negative, _, same), "index") if x == same:
                return b.map_expr(x, self.unwrapped) if self.holds(b.logical_not(negative)) else None
            case _:
                return None
