"""A loop that reads what it has stored a number of steps before is as many chains, which have nothing of each other's:

    for s in c .. n + 1:                            if c >= 2:
        w[s] = w[s] + w[s - c]          to              parallel r in 0 .. min(c, n + 1 - c):
                                                            for q in 0 .. (n + 1 - c - r + c - 1) // c:
                                                                w[c + r + q * c] = w[c + r + q * c] + w[r + q * c]
                                                    else: the loop as it was

- *Property.* The distance is one number for all iterations, which the run knows (a coin's worth, a thing's weight, a
  delay): sums that can be paid, knapsacks that take things again and again, combs.
- *Legality.* All that the loop stores it stores at one place that moves with it, and what it reads of that memory is
  there, or the distance before: so an iteration meets those alone that are a multiple of it away, and these stay in
  their order.
- *Schedule.* In order, one thread had all of it. Neighbouring chains touch neighbours at the same step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from transkern.fuse.lowering.copies import with_own_names
from transkern.fuse.states.reading import shared_bases
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    always_read,
    buffers_read,
    buffers_written,
    exprs,
    map_block,
    scalars_set,
    variables_read,
    walk,
    with_bodies,
)
from transkern.records import replace

_FEWEST = 2
"""Chains from which on they have threads."""


def part_chains(program: n.Program) -> n.Program:
    """The program with such loops in two versions."""
    if not any(isinstance(s, n.Loop) and s.kind == "sequential" for s in walk(program.body)):
        return program
    state = _Parting(program)
    body = state.block(program.body)
    return replace(program, body=body, variables=state.variables, buffers=state.buffers)


class _Parting:
    def __init__(self, program: n.Program) -> None:
        self.names = Names.of(program)
        self.variables, self.buffers = dict(program.variables), dict(program.buffers)
        self.shared = shared_bases(program) | {p.name for p in program.params if isinstance(p, n.ArrayParam) and p.base}

    def block(self, statements: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
        return tuple(map(self.statement, statements))

    def statement(self, s: n.Stmt) -> n.Stmt:
        if isinstance(s, n.Loop) and s.kind == "parallel":
            return s  # an iteration is a thread's
        distance = self.distance(s) if isinstance(s, n.Loop) and s.step == b.ONE and not s.fails else None
        if distance is None:
            return with_bodies(s, self.block)
        assert isinstance(s, n.Loop)
        plain = with_own_names(s, self.names, self.variables, self.buffers, ())
        enough = b.compare("greater_equal", distance, b.index(_FEWEST))
        return n.If(enough, (self.chains(s, distance),), (plain,), span=s.span)

    def chains(self, s: n.Loop, distance: Expr) -> n.Loop:
        chain, turn = (Var(self.names.fresh(x), "index") for x in ("chain", "turn"))
        turns, count = Var(self.names.fresh("turns"), "index"), b.sub(s.stop, s.start)
        left = b.sub(b.add(b.sub(count, chain), distance), b.ONE)
        first = b.add(s.start, chain)
        here = n.Let(s.axis, b.add(first, b.mul(turn, distance)), span=s.span)
        begin, body = self.carried(s, distance, first)
        inner = n.Loop(turn.name, b.ZERO, turns, b.ONE, "sequential", (here, *body), span=s.span)
        many = n.Let(turns.name, Apply("floor_divide", (left, distance), "index"), span=s.span)
        threads = b.minimum(distance, count)
        return n.Loop(chain.name, b.ZERO, threads, b.ONE, "parallel", (many, *begin, inner), span=s.span)

    def carried(self, s: n.Loop, distance: Expr, first: Expr) -> tuple[tuple[n.Stmt, ...], tuple[n.Stmt, ...]]:
        """What goes before a chain that begins with the iteration `first`, and its body, which has what it stored last
        in a variable, where it stores in each step."""
        *lets, store = s.body
        if not isinstance(store, n.Store) or not all(isinstance(x, n.Let) for x in lets):
            return (), s.body
        known = _places(lets)
        back = {s.axis: b.sub(Var(s.axis, "index"), distance)}
        before = tuple(b.substitute(b.map_expr(e, known), back) for e in store.index)

        def is_last(e: Expr) -> bool:
            return isinstance(e, Load) and e.buffer == store.buffer and all(
                b.sub(b.map_expr(x, known), y) == b.ZERO for x, y in zip(e.index, before, strict=True)
            )  # fmt: skip

        values = [x.value for x in (*lets, store) if isinstance(x, (n.Let, n.Store))]
        if not any(is_last(e) for value in values for e in always_read(value)):
            return (), s.body
        dtype = store.value.dtype
        last, made = self.names.fresh(f"{store.buffer}_last"), self.names.fresh(store.buffer)
        self.variables[last] = dtype
        there = tuple(b.substitute(e, {s.axis: first}) for e in before)
        begin = n.Assign(last, Load(store.buffer, there, dtype), span=s.span)
        *rest, changed = map_block(s.body, lambda e: Var(last, dtype) if is_last(e) else None)
        assert isinstance(changed, n.Store)
        kept = Var(made, dtype)
        stored = n.Let(made, changed.value, span=store.span), replace(changed, value=kept)
        return (begin,), (*rest, *stored, n.Assign(last, kept, span=store.span))

    def distance(self, s: n.Loop) -> Expr | None:
        """How many steps before an iteration has stored what this one reads; None where there is no such number, or one
        that is known."""
        inside = list(walk(s.body))
        if not all(isinstance(x, (n.Let, n.Store, n.If)) for x in inside):
            return None
        written = frozenset[str]().union(*map(buffers_written, s.body))
        changed = frozenset({*scalars_set(s), s.axis})
        for e in (s.start, s.stop):
            if variables_read(e) & changed or buffers_read(e) & written:
                return None
        if written & self.shared:
            return None
        resolved = _places(inside)
        places = {(x.buffer, tuple(b.map_expr(e, resolved) for e in x.index)) for x in inside if isinstance(x, n.Store)}
        if not places or len(places) > len(written) or any(x.atomic for x in inside if isinstance(x, n.Store)):
            return None
        found: set[Expr] = set()
        for buffer, stored in places:
            if self.buffers[buffer].is_reserved or not self.moves(stored, s.axis, changed):
                return None
            for e in exprs(s.body):
                if not isinstance(e, Load) or e.buffer != buffer:
                    continue
                index = [b.map_expr(x, resolved) for x in e.index]
                if len(index) != len(stored):
                    return None
                for one, two in zip(stored, index, strict=True):
                    away = b.sub(one, two)
                    if away == b.ZERO:
                        continue
                    if s.axis not in variables_read(one) or variables_read(away) & changed or buffers_read(away):
                        return None
                    found.add(away)
        distance = found.pop() if len(found) == 1 else None
        return None if distance is None or b.constant(distance) is not None else distance

    def moves(self, index: tuple[Expr, ...], axis: str, changed: frozenset[str]) -> bool:
        """Whether a place moves with a loop by one, along one dimension."""
        along = [e for e in index if axis in variables_read(e)]
        if len(along) != 1 or any(buffers_read(e) for e in index):
            return False
        terms = b.affine(along[0])[0]
        others = frozenset[str]().union(*(variables_read(t) for t in terms if t != Var(axis, "index")))
        fixed = frozenset[str]().union(*(variables_read(e) for e in index if e is not along[0]))
        return terms.get(Var(axis, "index")) == 1 and not (others | fixed) & changed


def _places(lets: Iterable[n.Stmt]) -> Callable[[Expr], Expr | None]:
    """What puts places for their names, for `map_expr`."""
    known = {x.name: x.value for x in lets if isinstance(x, n.Let) and x.value.dtype == "index"}

    def resolved(e: Expr) -> Expr | None:
        return b.map_expr(known[e.name], resolved) if isinstance(e, Var) and e.name in known else None

    return resolved
