"""Bounds checks in loops go where the ranges of the loops around them prove that they hold:

    for i in 0 .. n:                                     for i in 0 .. n:
        for j in 0 .. i:                                     for j in 0 .. i:
            guard (j < n)                      to                s := s + a[j]
            s := s + a[j + n if j < 0 else j]

The proof is isl's, over all values of sizes: what it cannot show stays. A check that is the same in every iteration,
and the first thing that an iteration does, goes before the loop. What looks for the first position that is outside, for
a check of all, goes where no position is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from transkern.analysis.everywhere import parts
from transkern.analysis.verdicts import Walk
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Var
from transkern.ir.facts import conjuncts
from transkern.ir.traverse import (
    buffers_read,
    buffers_written,
    is_in_order,
    map_block,
    map_own,
    scalars_set,
    variables_read,
    walk,
)  # fmt: skip
from transkern.records import replace


def prove_bounds(program: n.Program) -> n.Program:
    """The program without checks and wrapped subscripts that the loops around them make needless."""
    if not any(_asks(s) for s in walk(program.body)):
        return program
    return replace(program, body=_Proving(program).block(program.body))


def _asks(s: n.Stmt) -> bool:
    """Whether a check may be in or behind a statement."""
    return (isinstance(s, (n.Loop, n.While)) and is_in_order(s)) or (isinstance(s, n.Accumulate) and s.op == "first")


def _is_empty(s: n.Stmt) -> bool:
    return isinstance(s, n.Loop) and s.kind == "parallel" and not s.body


class _Proving(Walk):
    def __init__(self, program: n.Program) -> None:
        super().__init__(program)
        self.repeated = 0  # how many `while` loops are around
        self.nowhere: set[str] = set()  # searches that find nothing

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if isinstance(s, n.While):
            self.repeated += 1
            made = self.inside(s)
            self.repeated -= 1
            return [made]
        if not self.levels and not self.repeated:
            made = self.inside(s)
            if _is_empty(made):
                return []
            return self.hoisted(made) if isinstance(made, n.Loop) and made.kind == "sequential" else [made]
        if isinstance(s, n.Accumulate) and s.op == "first" and self.is_nowhere(s.value):
            self.nowhere.add(s.name)
            return []
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
        if _is_empty(made):
            return []
        return self.hoisted(made) if isinstance(made, n.Loop) else [made]

    def block(self, statements: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
        found = super().block(statements)
        gone = {s.name for s in found if isinstance(s, n.Accumulator)} & self.nowhere
        if not gone:
            return found
        self.nowhere -= gone
        outside: set[Expr] = {Var(name, "index") for name in gone}
        out: list[n.Stmt] = []
        for s in found:
            if isinstance(s, n.Accumulator) and s.name in gone:
                continue
            if isinstance(s, n.Let) and s.value in outside:
                outside.add(Var(s.name, "index"))
                continue
            if isinstance(s, n.Guard) and any(s.condition == b.compare("less", x, b.ZERO) for x in outside):
                continue  # nothing is outside
            out.append(s)
        # once more: without them, more may hold
        return self.block(map_block(tuple(out), lambda e: b.index(-1) if e in outside else None))

    def is_nowhere(self, condition: Expr) -> bool:
        """Whether a condition holds at no position, as one of those that it is made of does not."""
        match condition:
            case Apply("and_then" | "logical_and" | "bitwise_and", (x, y)):
                if self.is_nowhere(x):
                    return True
                with self.scope():
                    self.facts += parts(x)
                    return self.is_nowhere(y)
            case Apply("logical_not", (inner,)):
                return all(map(self.holds, conjuncts(inner)))
            case _:
                return False

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
        return settled_choice(self, e, self.simpler)


def settled_choice(place: Walk, e: Expr, simpler: Callable[[Expr], Expr | None]) -> Expr | None:
    """A choice between integers (a subscript counted from the end where it is negative, a slice's bound, a size that
    may be 1) as the one of them that it always is at a place; its parts as `simpler` makes them."""
    match e:
        case Apply("where" | "minimum" | "maximum" as op, args, "index"):
            *condition, x, y = (b.map_expr(a, simpler) for a in args)
            if op == "where":
                if place.holds(b.either(b.logical_not(condition[0]), b.compare("equal", x, y))):
                    return y
                if place.holds(b.either(condition[0], b.compare("equal", x, y))):
                    return x
                return b.where(condition[0], x, y)
            least = b.compare("less_equal", x, y)
            if place.holds(least):
                return x if op == "minimum" else y
            if place.holds(b.compare("less_equal", y, x)):
                return y if op == "minimum" else x
            return (b.minimum if op == "minimum" else b.maximum)(x, y)
        case _:
            return None
