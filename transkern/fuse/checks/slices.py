"""Slices whose ends move with a loop are asked before it whether they are counted from an array's end:

    for k in 1 .. w:                                     if n - w + 1 >= 0:
        guard (size of m[:n - k]) == (… of m[1:])            for k in 1 .. w:
        write m[i] = min(m[i], m[i + 1])           to            write m[i] = min(m[i], m[i + 1])  for i < n - k
            for i < ((n - k) + n if n - k < 0 else n - k)    else:
                                                             … as it was

In a slice ``m[:n - k]`` the end counts from the array's end where it is negative, and what stands beside it has one
element or as many. The range of the loop tells the iteration in which that is most likely; if it is not so there, it
is so nowhere: sizes are differences, checks of them hold, and a store is seen to be in place. The second version is
the loop as it was written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from transkern.analysis.accesses import Level
from transkern.analysis.verdicts import MakingWalk, Walk, own_variables
from transkern.fuse.checks.bounds import settled_choice
from transkern.fuse.lowering.copies import with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Axis, Expr, Reduce, Var
from transkern.ir.facts import conjunction, conjuncts
from transkern.ir.highest import highest
from transkern.ir.traverse import (
    buffers_read,
    map_own,
    own_exprs,
    resolved,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
)  # fmt: skip
from transkern.records import replace

_STATEMENTS = 60
"""A loop with more of them is not written twice."""

_PLAIN = (n.Let, n.Assign, n.Guard, n.Define, n.Write, n.Loop, n.If)


def settle_slices(program: n.Program) -> n.Program:
    """The program with loops in order in two versions where that settles where their slices end."""
    if not any(isinstance(s, n.Loop) and s.kind == "sequential" for s in walk(program.body)):
        return program
    state = _Settling(program)
    body = state.block(program.body)
    return replace(program, body=body, variables=state.variables, buffers=state.buffers)


class _Settling(MakingWalk):
    loops_only = True

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        made = self.settled(s) if isinstance(s, n.Loop) and s.kind == "sequential" else None
        return [self.inside(s) if made is None else made]

    def settled(self, s: n.Loop) -> n.Stmt | None:
        inner = list(walk(s.body))
        if len(inner) > _STATEMENTS or not all(isinstance(x, _PLAIN) for x in inner):
            return None
        changed = scalars_set(s) | {x.axis for x in inner if isinstance(x, n.Loop)} | {s.axis}
        asked: dict[Expr, None] = {}
        moving = False
        for end, around in _all_ends(s.body, (s,), {}):
            worst = highest(b.neg(end), around)
            if worst is not None and not variables_read(worst) & changed and not buffers_read(worst):
                asked |= dict.fromkeys(conjuncts(_at_least_zero(b.neg(worst))))
                moving = moving or bool(variables_read(end) & {x.axis for x in around})
        if not moving or any(self.holds(b.logical_not(part)) for part in asked):
            return None
        known = conjunction([part for part in asked if not self.holds(part)])
        private = own_variables(s, self.variables, self.reads)
        plain = with_own_names(s, self.names, self.variables, self.buffers, private) if known != b.TRUE else None
        fine = _Simplifying(self, known).statement(s)[0]
        return fine if plain is None else n.If(known, (fine,), (plain,), span=s.span)


def _at_least_zero(e: Expr) -> Expr:
    """``e >= 0``, of the less of two as of both."""
    terms, _ = b.affine(e)
    for atom, factor in terms.items():
        match atom:
            case Apply("minimum" | "maximum" as op, (x, y), _) if (op == "minimum") == (factor > 0):
                rest = b.sub(e, b.mul(b.index(factor), atom))
                one, two = (_at_least_zero(b.add(rest, b.mul(b.index(factor), v))) for v in (x, y))
                return b.both(one, two)
            case _:
                pass
    return b.compare("greater_equal", e, b.ZERO)


def _all_ends(
    block: Sequence[n.Stmt], around: tuple[n.Loop, ...], lets: Mapping[str, Expr]
) -> Iterator[tuple[Expr, tuple[n.Loop, ...]]]:
    """What is counted from an array's end where it is negative, in sizes of statements, and the loops around them."""
    lets = dict(lets)
    for s in block:
        sizes: list[Expr] = []
        match s:
            case n.Let(name, value) if value.dtype == "index":
                lets[name] = resolved(value, lets)
            case n.Loop(body=body):
                yield from _all_ends(body, (*around, s), lets)
            case n.If():
                yield from _all_ends((*s.then, *s.orelse), around, lets)
            case n.Define() | n.Write():
                reduced = (e for own in own_exprs(s) for e in walk_expr(own) if isinstance(e, Reduce))
                sizes = [a.extent for a in (*s.axes, *(a for e in reduced for a in e.axes))]
            case n.Guard(condition):
                sizes = [condition]
            case _:
                pass
        yield from ((end, around) for e in sizes for end in _ends(resolved(e, lets)))


def _ends(size: Expr) -> Iterator[Expr]:
    """What is counted from an array's end where it is negative."""
    for e in walk_expr(size):
        match e:
            case Apply("where", (Apply("less", (end, b.ZERO)), _, other), "index") if end == other:
                yield end
            case _:
                pass


class _Simplifying(Walk):
    """The statements of a loop where slices do not count from ends."""

    def __init__(self, place: _Settling, known: Expr) -> None:
        super().__init__(replace(place.program, buffers=place.buffers))
        self.buffers = place.buffers
        self.levels, self.facts, self.lets = list(place.levels), [*place.facts, *conjuncts(known)], dict(place.lets)
        self.sizes: dict[str, Expr] = {}  # names of sizes, as what they are: equal ones are equal expressions then

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        match s:
            case n.Define() | n.Write():
                axes = tuple(Axis(a.name, self.simplified(a.extent)) for a in s.axes)
                if isinstance(s, n.Define):
                    old = self.buffers[s.buffer]
                    self.buffers[s.buffer] = replace(old, dims=tuple(map(self.simplified, old.dims)))
                self.levels += [Level(a.name, b.ZERO, a.extent) for a in axes]
                made = map_own(s, self.simpler)
                del self.levels[len(self.levels) - len(axes) :]
                return [replace(made, axes=axes)]
            case n.Guard():
                s = map_own(s, self.simpler)
                assert isinstance(s, n.Guard)
                left = [part for part in conjuncts(s.condition) if not self.holds(part)]
                return [replace(s, condition=conjunction(left))] if left else []
            case n.Let(name, value) if value.dtype == "index" and b.is_size_name(name):
                self.sizes[name] = self.simplified(value)
                return [replace(s, value=self.sizes[name])]
            case _:
                return [self.inside(map_own(s, self.simpler))]

    def simplified(self, e: Expr) -> Expr:
        return b.map_expr(e, self.simpler)

    def simpler(self, e: Expr) -> Expr | None:
        if isinstance(e, Var):
            return self.sizes.get(e.name)
        return settled_choice(self, e, self.simpler)

