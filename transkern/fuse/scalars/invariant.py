"""What an iteration computes just as the last one did is computed once, before the loop:

    for i in 0 .. n:                                       s := 0
        s := 0                                             parallel j in 0 .. n: s sum= x[j]
        parallel j in 0 .. n: s sum= x[j]        to        for i in 0 .. n:
        y[i] = x[i] - s / n                                    y[i] = x[i] - s / n

Such are loops that read nothing that the loop around them changes, and change nothing but numbers and arrays of their
own: `x.mean()` in a loop over the elements of `x`, however it is spelled. They raise nothing, and what they read lies
within its array wherever they stand (which is proven), so that it does no harm where the loop does not run. Arrays are
kept if that is cheaper than to compute their elements again. Compilers of C move no loops.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from transkern.analysis.verdicts import Walk
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.ops import OPS
from transkern.ir.traverse import (
    bodies,
    buffers_used,
    buffers_written,
    exprs,
    own_exprs,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
)  # fmt: skip
from transkern.records import replace

_WORTH = 4
"""Additions that an element costs at least for which there is memory."""
_PURE = (n.Let, n.Assign, n.Store, n.Accumulator, n.Accumulate, n.Loop, n.If, n.Alloc)
_DIVISIONS = ("floor_divide", "remainder")


def move_invariants(program: n.Program) -> n.Program:
    """The program with what loops compute again and again before them."""
    if not any(isinstance(x, n.Loop) for s in walk(program.body) if isinstance(s, _LOOPS) for x in _inside(s)):
        return program
    return replace(program, body=_Moving(program).block(program.body))


_LOOPS = (n.Loop, n.While)


def _inside(s: n.Stmt) -> Iterable[n.Stmt]:
    return walk([x for body in bodies(s) for x in body])


class _Moving(Walk):
    loops_only = True

    def __init__(self, program: n.Program) -> None:
        super().__init__(program)
        self.writers = Counter(name for s in walk(program.body) for name in _changed_by(s))
        self.readers = Counter(name for s in walk(program.body) for name in _read_by(s))

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        s = self.inside(s)  # from inside out: what leaves one loop may leave the next
        if isinstance(s, _LOOPS) and not (isinstance(s, n.Loop) and _runs_once(s)):
            moved = self.invariant(s)
            if moved:
                left = tuple(x for x in s.body if not any(x is m for m in moved))
                return [*moved, replace(s, body=left)]
        return [s]

    def invariant(self, loop: n.Loop | n.While) -> list[n.Stmt]:
        """The statements of the loop's body that go before it."""
        if not any(isinstance(s, n.Loop) for s in loop.body):
            return []
        uses = _Uses(loop)
        chosen = [_Candidate(s, self.program) for s in loop.body if _is_harmless(s)]
        while True:
            chosen = self.settled(chosen, loop, uses)
            wanted = self.worthwhile(chosen)
            proven = [c for c in wanted if self.is_within(c.statement)]
            if len(proven) == len(wanted):
                return [c.statement for c in wanted]
            chosen = [c for c in chosen if c in proven or c not in wanted]

    def settled(self, chosen: list[_Candidate], loop: n.Loop | n.While, uses: _Uses) -> list[_Candidate]:
        """Those of which no other statement of the loop changes what they read, or what they change."""
        mine = {id(x) for c in chosen for x in walk((c.statement,))}
        changed = {name for s in _inside(loop) if id(s) not in mine for name in _changed_by(s)}
        changed |= {loop.axis} if isinstance(loop, n.Loop) else set()
        while True:
            writers: dict[str, list[_Candidate]] = {}
            for c in chosen:
                for name in c.changed:
                    writers.setdefault(name, []).append(c)
            kept = [c for c in chosen if not c.read & changed and self.is_own(c, writers, uses)]
            if len(kept) == len(chosen):
                return kept
            left = {id(c) for c in kept}
            changed |= {name for c in chosen if id(c) not in left for name in c.changed}
            chosen = kept

    def is_within(self, s: n.Stmt) -> bool:
        """Whether the statement reads and writes within arrays where it need not run."""
        within = _Within(self)
        within.block((s,))
        return within.proven

    def is_own(self, c: _Candidate, writers: dict[str, list[_Candidate]], uses: _Uses) -> bool:
        """Whether nobody else changes what the statement does, and it begins anew in each iteration."""
        for name in c.changed:
            here, first = writers[name], uses.first[name]
            if self.writers[name] != sum(o.times[name] for o in here) or first is not here[0].statement:
                return False
            if self.readers[name] != uses.reads[name]:
                return False
            if name in self.program.buffers:
                made = [o for o in here if not isinstance(o.statement, n.Alloc)]
                if self.program.buffers[name].role != "temporary" or len(made) != 1 or name in made[0].read:
                    return False
            elif len(here) == 1 and self.readers[name] == c.reads[name]:
                continue  # nobody else knows it
            elif not isinstance(first, (n.Let, n.Assign, n.Accumulator)) or name in _read_by(first):
                return False
        return True

    def worthwhile(self, chosen: list[_Candidate]) -> list[_Candidate]:
        """The loops among them that cost more than their results, what these need, and the numbers that need them."""
        wanted = [c for c in chosen if isinstance(c.statement, n.Loop) and self.pays(c.statement)]
        while wanted:
            named = {name for c in wanted for name in c.read | c.changed}
            made = {name for c in wanted for name in c.changed}
            more = [
                c for c in chosen if c not in wanted
                and (c.changed & named or (isinstance(c.statement, n.Let) and c.read & made))
            ]  # fmt: skip
            if not more:
                break
            wanted += more
        return [c for c in chosen if c in wanted]

    def pays(self, loop: n.Loop) -> bool:
        if _runs_once(loop):
            return False
        stored = {name for s in walk((loop,)) if isinstance(s, n.Store) for name in (s.buffer,)}
        costs = sum(
            OPS[e.op].cost for e in exprs((loop,)) if isinstance(e, Apply) and e.op in OPS and e.dtype != "index"
        )
        return not stored or costs >= _WORTH or any(isinstance(s, n.Accumulate) for s in walk((loop,)))


class _Uses:
    """Of each name in a loop the first statement of the body that knows it, and how often it is read."""

    def __init__(self, loop: n.Loop | n.While) -> None:
        self.first: dict[str, n.Stmt] = {}
        for s in (*(loop.head if isinstance(loop, n.While) else ()), *loop.body):
            for x in walk((s,)):
                for name in _changed_by(x) | _read_by(x):
                    self.first.setdefault(name, s)
        self.reads = Counter(name for s in _inside(loop) for name in _read_by(s))


class _Candidate:
    """A statement of a loop's body, with what it reads that it does not itself bind, and what it changes."""

    def __init__(self, statement: n.Stmt, program: n.Program) -> None:
        self.statement = statement
        self.times = Counter(name for s in walk((statement,)) for name in _changed_by(s))
        self.changed = set(self.times)
        bound = {s.axis for s in walk((statement,)) if isinstance(s, n.Loop)}
        self.reads = Counter(name for s in walk((statement,)) for name in _read_by(s))
        self.read = set(self.reads) - bound
        sizes = (d for name in self.changed if name in program.buffers for d in program.buffers[name].dims)
        self.read |= {name for d in sizes for name in variables_read(d)}


class _Within(Walk):
    """Whether all elements that statements touch lie in their arrays, whatever conditions around them say."""

    def __init__(self, around: Walk) -> None:
        super().__init__(around.program)
        self.levels, self.facts, self.lets = list(around.levels), list(around.facts), dict(around.lets)
        self.everywhere = list(around.everywhere)
        self.proven = True

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        places = [(e.buffer, e.index) for own in own_exprs(s) for e in walk_expr(own) if isinstance(e, Load)]
        if isinstance(s, n.Store):
            places.append((s.buffer, s.index))
        self.proven = self.proven and all(self.is_within(*place) for place in places)
        return [self.inside(s)] if self.proven else [s]

    def is_within(self, buffer: str, index: tuple[Expr, ...]) -> bool:
        dims = self.program.buffers[buffer].dims
        if len(index) != len(dims):
            dims = (b.product(dims),)
        return all(self.is_place(at, dim) for at, dim in zip(index, dims, strict=True))

    def is_place(self, at: Expr, dim: Expr) -> bool:
        if isinstance(at, Var) and any(
            v.axis == at.name and v.start == b.ZERO and v.step == 1 and v.stop == dim for v in self.levels
        ):
            return True
        return self.holds(b.both(b.compare("less_equal", b.ZERO, at), b.compare("less", at, dim)))


def _is_harmless(s: n.Stmt) -> bool:
    """Whether the statement raises nothing where it need not run: of Python's integers, no divisor is 0."""
    return all(isinstance(x, _PURE) for x in walk((s,))) and not any(
        isinstance(e, Apply) and e.op in _DIVISIONS and not e.dtype.startswith(("float", "complex"))
        and b.constant(e.args[1]) in (None, 0)
        for e in exprs((s,))
    )  # fmt: skip


def _runs_once(loop: n.Loop) -> bool:
    length = b.constant(b.sub(loop.stop, loop.start))
    return length is not None and length <= 1


def _changed_by(s: n.Stmt) -> set[str]:
    """What a statement itself gives values to, those inside it left aside."""
    if any(True for _ in bodies(s)):
        own: set[str] = {s.count, *s.outputs} if isinstance(s, n.Compact) else set()
        return own | ({s.buffer} if isinstance(s, n.Scanning) else set())
    made = set(scalars_set(s)) | set(buffers_written(s))
    return made | ({s.buffer} if isinstance(s, n.Alloc) else set())


def _read_by(s: n.Stmt) -> set[str]:
    """What a statement itself reads."""
    found = {e.name if isinstance(e, Var) else e.buffer for own in own_exprs(s) for e in walk_expr(own)
             if isinstance(e, (Var, Load))}  # fmt: skip
    return found if any(True for _ in bodies(s)) else found | set(buffers_used(s))

