"""Checks that the ranges of loops decide are made once, before the loops:

    for t in 0 .. steps:                       if size <= n:
        for i in 1 .. size:                        for t in 0 .. steps:
            guard (i < n)              to              for i in 1 .. size: a[i] = a[i - 1] + a[i]
            a[i] = a[i - 1] + a[i]             else:
                                                   for t in 0 .. steps:
                                                       for i in 1 .. size:
                                                           guard (i < n)
                                                           a[i] = a[i - 1] + a[i]

for functions that take their sizes as arguments. The first version is a nest without checks to everything that follows.
The second one stands as it was written: it raises where Python does, and leaves behind what Python leaves. (Loops whose
iterations are independent have versions of their own, in `parallelise`, which looks at data as well.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from functools import partial

from transkern.analysis.verdicts import MakingWalk, own_variables
from transkern.fuse.checks.guards import same_sizes, with_one_name
from transkern.fuse.lowering.copies import with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr
from transkern.ir.facts import conjuncts
from transkern.ir.highest import at_worst
from transkern.ir.traverse import buffers_read, scalars_set, variables_read, walk, walk_expr, with_bodies
from transkern.records import replace

_STATEMENTS = 60
"""A loop with more of them is not written twice."""

_CHOICES = 4
"""As many choices of data as are asked about both of their values."""

_LEAVES = (n.Break, n.Continue, n.Return, n.While)
"""After these, and in a loop without a range, a check may never come up."""


def check_ahead(program: n.Program) -> n.Program:
    """The program with loops in order in two versions where their ranges decide all of their checks."""
    if not any(isinstance(s, n.Loop) and s.kind == "sequential" for s in walk(program.body)):
        return program
    state = _Ahead(program)
    body = state.block(program.body)
    return replace(program, body=body, variables=state.variables, buffers=state.buffers)


class _Ahead(MakingWalk):
    loops_only = True

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if not isinstance(s, n.Loop) or s.kind != "sequential":
            return [self.inside(s)]
        inner = list(walk(s.body))
        if not any(isinstance(x, n.Guard) for x in inner) or len(inner) > _STATEMENTS:
            return [self.inside(s)]
        if self.judged(s).parallel:
            return [s]
        if any(isinstance(x, _LEAVES) for x in inner):
            return [self.inside(s)]
        changed, axes = scalars_set(s), {x.axis for x in inner if isinstance(x, n.Loop)} | {s.axis}
        found = _settled(s.body, (s,), {}, changed)
        if found is None:
            return [self.inside(s)]
        known, body = found
        if variables_read(known) & (changed | axes) or known == b.FALSE:
            return [self.inside(s)]
        if known == b.TRUE:
            return [replace(s, body=body)]
        private = own_variables(s, self.variables, self.reads)
        plain = with_own_names(s, self.names, self.variables, self.buffers, private)
        fails = not any(isinstance(x, n.If) for x in inner)  # else a check may never come up
        plain = replace(plain, body=_up_to(known, plain.body), fails=fails)
        made = {x.buffer for x in inner if isinstance(x, n.Alloc)}
        for old, new in same_sizes(known):
            body = with_one_name(body, self.buffers, made, old, new)
        return [n.If(known, (replace(s, body=body),), (plain,), span=s.span)]


def _up_to(known: Expr, block: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
    """The statements where `known` does not hold: none behind the check of it."""
    out: list[n.Stmt] = []
    for s in block:
        if isinstance(s, n.Guard) and s.condition == known:
            return (*out, replace(s, condition=b.FALSE))
        out.append(with_bodies(s, partial(_up_to, known)))
    return tuple(out)


def _settled(
    block: Iterable[n.Stmt], around: tuple[n.Loop, ...], lets: Mapping[str, Expr], changed: Set[str]
) -> tuple[Expr, tuple[n.Stmt, ...]] | None:
    """What all checks of the statements come to in the loops around, which change what is `changed`, and the statements
    without them; None where the ranges of the loops do not decide that."""
    known: Expr = b.TRUE
    out: list[n.Stmt] = []
    lets = dict(lets)
    for s in block:
        match s:
            case n.Guard(condition):
                for part in conjuncts(_either_way(b.substitute(condition, lets), changed)):
                    worst = at_worst(part, around)
                    if worst is None or buffers_read(part):  # also where there is a way around what data say
                        return None
                    known = b.both(known, worst)
                continue
            case n.Let(name, value) if value.dtype == "index":
                lets[name] = b.substitute(value, lets)
                out.append(s)
            case n.Loop(body=body):
                found = _settled(body, (*around, s), lets, changed)
                if found is None:
                    return None
                known = b.both(known, found[0])
                out.append(replace(s, body=found[1]))
            case n.If(condition, then, orelse) if any(isinstance(x, n.Guard) for x in walk((s,))):
                checks = [x.condition for x in walk((s,)) if isinstance(x, n.Guard)]
                inside = lets | {x.name: x.value for x in walk((s,)) if isinstance(x, n.Let)}
                names = {name for e in checks for name in variables_read(b.substitute(e, inside))}
                if not buffers_read(condition) and variables_read(b.substitute(condition, lets)) & names:
                    return None  # it may be there for the sake of the checks
                branches = [_settled(x, around, lets, changed) for x in (then, orelse)]
                if branches[0] is None or branches[1] is None:
                    return None
                known = b.both(known, b.both(branches[0][0], branches[1][0]))
                out.append(replace(s, then=branches[0][1], orelse=branches[1][1]))
            case _:
                out.append(s)
    return known, tuple(out)


def _either_way(condition: Expr, changed: Set[str], left: int = _CHOICES) -> Expr:
    """A condition that makes sure of this one whatever data choose between two values, as a gap's and a match's score:
    that it holds of both."""
    for x in walk_expr(condition):
        match x:
            case Apply("where", (asks, one, two)) if left and (variables_read(asks) & changed or buffers_read(asks)):
                ways = (_with_value(condition, x, way) for way in (one, two))
                return b.both(*(_either_way(way, changed, left - 1) for way in ways))
    return condition


def _with_value(condition: Expr, choice: Expr, value: Expr) -> Expr:
    return b.map_expr(condition, lambda e: value if e == choice else None)
