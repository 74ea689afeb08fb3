"""Bounds checks in loops go where the ranges of the loops around them prove that they hold:

    for i in 0 .. n:                                     for i in 0 .. n:
        for j in 0 .. i:                                     for j in 0 .. i:
            guard (j < n)                      to                s := s + a[j]
            s := s + a[j + n if j < 0 else j]

The proof is isl's, over all values of sizes: what it cannot show stays. A check that is the same in every iteration,
and the first thing that an iteration does, goes before the loop.
"""

from __future__ import annotations

from dataclasses import replace

from transkern.analysis.verdicts import Walk
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr
from transkern.ir.facts import conjuncts
from transkern.ir.traverse import buffers_read, buffers_written, map_own, scalars_set, variables_read, walk


def prove_bounds(program: n.Program) -> n.Program:
    """The program without checks and wrapped subscripts that the loops around them make needless."""
    if not any(isinstance(s, n.Loop) and s.kind == "sequential" for s in walk(program.body)):
        return program
    return replace(program, body=_Proving(program).block(program.body))


class _Proving(Walk):
    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if not self.levels:
            made = self.inside(s)
            return self.hoisted(made) if isinstance(made, n.Loop) and made.kind == "sequential" else [made]
        if isinstance(s, n.Guard):
            s = map_own(s, self.simpler)
            assert isinstance(s, n.Guard)
            left = [part for part in conjuncts(s.condition) if not self.holds(part)]
            if not left:
                return []
            condition: Expr = b.TRUE
            for part in left:
                condition = b.both(condition, part)
            return [replace(s, condition=condition)]
        made = self.inside(map_own(s, self.simpler))
        return self.hoisted(made) if isinstance(made, n.Loop) else [made]

    def hoisted(self, loop: n.Loop) -> list[n.Stmt]:
        """The loop, and before it the checks at its beginning that its iterations share."""
        changing = {loop.axis} | {name for s in loop.body for name in scalars_set(s)}
        written = {name for s in loop.body for name in buffers_written(s)}
        first, last = (loop.start, loop.stop) if (b.constant(loop.step) or 1) > 0 else (loop.stop, loop.start)
        runs = b.compare("less", first, last)
        before: list[n.Stmt] = []
        body = list(loop.body)
        position = 0
        while position < len(body) and isinstance(s := body[position], (n.Guard, n.Let)):
            exprs = (s.condition, *s.args) if isinstance(s, n.Guard) else ()
            if isinstance(s, n.Let):
                position += 1
            elif any(variables_read(e) & changing or buffers_read(e) & written for e in exprs):
                break  # the checks behind it may come only after it
            else:
                before.append(replace(s, condition=b.either(b.logical_not(runs), s.condition)))
                del body[position]
        return [*before, replace(loop, body=tuple(body))]

    def simpler(self, e: Expr) -> Expr | None:
        """A choice between integers (a subscript counted from the end where it is negative, a slice's bound, a size
        that may be 1) as the one of them that it always is."""
        match e:
            case Apply("where" | "minimum" | "maximum" as op, args, "index"):
                *condition, x, y = (b.map_expr(a, self.simpler) for a in args)
                if op == "where":
                    if self.holds(b.either(b.logical_not(condition[0]), b.compare("equal", x, y))):
                        return y
                    if self.holds(b.either(condition[0], b.compare("equal", x, y))):
                        return x
                    return b.where(condition[0], x, y)
                least = b.compare("less_equal", x, y)
                if self.holds(least):
                    return x if op == "minimum" else y
                if self.holds(b.compare("less_equal", y, x)):
                    return y if op == "minimum" else x
                return (b.minimum if op == "minimum" else b.maximum)(x, y)
            case _:
                return None
