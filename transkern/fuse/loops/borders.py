"""Loops whose conditions differ at their borders alone, without the conditions in between:

    for i in 0 .. n:                                    for i in 0 .. 1: out[i] = (0.0 if i == 0 else x[i - 1]) + …
        out[i] = (x[i - 1] if i - 1 >= 0 else 0.0)      for i in 1 .. n - 1: out[i] = x[i - 1] + x[i + 1]
            + (x[i + 1] if i + 1 < n else 0.0)    to    for i in n - 1 .. n: …

A border is what a condition tells from the rest with a bound that lies a few iterations from an end of the loop:
comparisons, clamps (``min(i + 1, n - 1)``) and wraps (``(i + 1) % n``). That is index set splitting; what it needs is
that the distance of the bound from the end is a number. Where the loop is shorter than its borders, what is in between
is empty, and the borders meet.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from transkern.analysis.verdicts import own_variables, reads_of
from transkern.fuse.lanes.memory import contiguous
from transkern.fuse.lowering.copies import with_own_names
from transkern.fuse.lowering.kernels import runs_on_host
from transkern.fuse.schedule.columns import is_float_sum
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Var
from transkern.ir.names import Names
from transkern.ir.ops import OPPOSITE
from transkern.ir.traverse import (
    buffers_read,
    exprs,
    map_block,
    map_own,
    own_exprs,
    resolved,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)
from transkern.records import replace

_BORDER = 16
"""Iterations of a border, at most."""

_SHORT = 4 * _BORDER
"""A loop that is known to have so few iterations is left alone: there is little between its borders."""

_STATEMENTS = 64
"""A loop with more of them is not written three times."""

_SETS = (n.Let, n.Store, n.If, n.Assign)


def split_borders(program: n.Program) -> n.Program:
    """The program with loops split at the borders that their conditions tell from the rest."""
    return _Borders(program).run()


@dataclass(frozen=True)
class _Ends:
    """How many iterations at the beginning and at the end of a loop are borders."""

    first: int = 0
    last: int = 0

    def with_(self, other: _Ends) -> _Ends:
        return _Ends(max(self.first, other.first), max(self.last, other.last))


def assigned(s: n.Loop) -> set[str]:
    """The variables that a loop sets again and again."""
    return {x.name for x in walk(s.body) if isinstance(x, n.Assign)}


class Splitting:
    """A program in which loops become several, with names of their own."""

    def __init__(self, program: n.Program) -> None:
        self.program, self.names = program, Names.of(program)
        self.variables, self.buffers = dict(program.variables), dict(program.buffers)
        self.reads = reads_of(program.body)  # how often each scalar is read, by the loops made so far as well

    def run(self) -> n.Program:
        body = self.block(self.program.body)
        return replace(self.program, body=body, variables=self.variables, buffers=self.buffers)

    def block(self, statements: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
        return tuple(made for s in statements for made in self.statement(s))

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        """What becomes of a statement."""
        raise NotImplementedError

    def copy(self, s: n.Loop, of: n.Loop | None = None) -> n.Loop:
        """A copy of what a loop has become, with names of its own: also for variables that no iteration hands on."""
        made = with_own_names(s, self.names, self.variables, self.buffers, self.own(of or s))
        self.reads.update(reads_of((made,)))
        return made

    def changed(self, s: n.Loop, body: tuple[n.Stmt, ...]) -> n.Loop:
        """A loop with another body, of which less may be read."""
        self.reads.subtract(reads_of(s.body))
        self.reads.update(reads_of(body))
        return replace(s, body=body)

    def own(self, s: n.Loop) -> set[str]:
        return own_variables(s, self.variables, self.reads)

    def hands_on(self, s: n.Loop) -> bool:
        """Whether others read variables that a parallel loop sets: only its last iteration may, in one loop."""
        return s.kind == "parallel" and bool(assigned(s) - self.own(s))


def places_inside(block: Iterable[n.Stmt]) -> dict[str, Expr]:
    """What names stand for inside a loop: one place each, though loops beside each other may use a name again."""
    found: dict[str, Expr] = {}
    several: set[str] = set()
    for s in walk(block):
        if isinstance(s, n.Let) and s.value.dtype == "index":
            if found.setdefault(s.name, s.value) != s.value:
                several.add(s.name)
        elif isinstance(s, n.Assign):
            several.add(s.name)
    return {name: place for name, place in found.items() if name not in several}


class _Borders(Splitting):
    depth = 0  # loops around in one kernel: in those that the host runs each has one, with its reductions
    begun: frozenset[str] = frozenset()  # the reductions that each iteration of the loop around has for itself
    in_one: frozenset[str] = frozenset()  # of these, sums of floats, whose two parts are added up behind one loop

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if isinstance(s, n.Loop) and (_is_plain(s) or self.adds_up(s)):
            lets, s = self.wraps_named(s) if self.depth else ([], s)
            return [*lets, *self.split(s)]
        match s:
            case n.Loop():
                before = self.depth, self.begun, self.in_one
                self.depth += not runs_on_host(s)
                own = [x for x in s.body if isinstance(x, n.Accumulator)]
                self.begun = frozenset(x.name for x in own)
                self.in_one = frozenset(x.name for x in own if is_float_sum(x))
                made = replace(s, body=self.block(s.body))
                self.depth, self.begun, self.in_one = before
                return [made]
            case n.While():
                return [replace(s, body=self.block(s.body))]
            case n.If():
                return [replace(s, then=self.block(s.then), orelse=self.block(s.orelse))]
            case _:
                return [s]

    def wraps_named(self, s: n.Loop) -> tuple[list[n.Stmt], n.Loop]:
        """An inner loop behind the remainders that it does not change, which have a branch in C."""
        own = scalars_set(s) | {x.axis for x in walk((s,)) if isinstance(x, n.Loop)}
        found = dict.fromkeys(
            e for e in exprs(s.body)
            if isinstance(e, Apply) and e.op == "remainder" and e.dtype == "index"
            and not variables_read(e) & own and not buffers_read(e)
        )  # fmt: skip
        names: dict[Expr, Var] = {e: Var(self.names.fresh("round")) for e in found}
        lets: list[n.Stmt] = [n.Let(v.name, e, span=s.span) for e, v in names.items()]
        return lets, replace(s, body=map_block(s.body, names.get)) if names else s

    def adds_up(self, s: n.Loop) -> bool:
        """Whether an inner loop takes part in reductions that begin around it: its parts may, too."""
        inside = list(walk(s.body))
        sums = [x for x in inside if isinstance(x, n.Accumulate)]
        return (
            self.depth > 0
            and all(isinstance(x, (n.Let, n.Store, n.If, n.Accumulate)) for x in inside)
            and all(x.position is None and x.name not in self.in_one for x in sums)
        )

    def split(self, s: n.Loop) -> list[n.Stmt]:
        inner = replace(s, body=self.block(s.body))
        if b.constant(s.step) != 1 or len(list(walk(s.body))) > _STATEMENTS or self.hands_on(s):
            return [inner]
        extent = b.difference(s.stop, s.start)
        if extent is not None and extent <= _SHORT:
            return [inner]
        ends = _Inside(s).ends()
        if ends == _Ends():
            return [inner]
        low, high = b.add(s.start, b.index(ends.first)), b.sub(s.stop, b.index(ends.last))
        middle = replace(self.copy(s), start=low, stop=high, spare=None)
        between = self.changed(middle, tuple(_Inside(middle, s, ends).changed(middle.body)))
        own = {x.name for x in walk(s.body) if isinstance(x, n.Accumulate)} & self.begun
        if own and contiguous(between.axis, (between,), self.buffers) <= 0:
            return [inner]  # lanes go over what is around it (`columns.py`)
        made: list[n.Stmt] = []
        begun = s.start
        if ends.first:
            begun = b.minimum(low, s.stop)
            made.append(replace(in_order(s), stop=begun))
        # a clamp of a clamp has borders behind those of the inner one
        made += self.split(between) if between.body else []
        if ends.last:
            last = self.copy(s)
            made.append(replace(in_order(last), start=b.maximum(high, begun)))
        return made


def _is_plain(s: n.Loop) -> bool:
    """Whether a loop does nothing but store, or, if no loop inside it hands anything on, to set variables as well."""
    inside = list(walk(s.body))
    hand_on = any(isinstance(x, n.Loop) and x.kind != "parallel" for x in inside)
    return all(isinstance(x, (n.Let, n.Store, n.If, n.Loop) if hand_on else (*_SETS, n.Loop)) for x in inside)


def in_order(s: n.Stmt) -> n.Loop:
    """A border: too little for threads and streams."""
    made = with_bodies(s, lambda block: tuple(in_order(x) if isinstance(x, n.Loop) else x for x in block))
    assert isinstance(made, n.Loop)
    return replace(made, kind="sequential", spare=None, large=False)


class _Inside:
    """What holds for a loop's iterations between `ends` of the loop that it is a part of."""

    def __init__(self, loop: n.Loop, whole: n.Loop | None = None, ends: _Ends | None = None) -> None:
        self.loop, self.known = loop, ends
        self.start, self.stop = (whole or loop).start, (whole or loop).stop
        self.set = scalars_set(loop) | {loop.axis}
        self.lets = places_inside(loop.body)

    def ends(self) -> _Ends:
        """Of what borders it takes that the conditions are decided between them."""
        found = _Ends()
        nested = any(isinstance(s, n.Loop) for s in walk(self.loop.body))
        for s in walk(self.loop.body):
            for x in chain.from_iterable(map(walk_expr, own_exprs(s))):
                if nested and isinstance(x, Apply) and x.op in ("minimum", "maximum"):
                    continue  # a subscript that the loop inside computes once
                made = self.asked(x)
                if made is not None:
                    found = found.with_(made[0])
        return found

    def changed(self, block: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
        """The statements, with conditions decided."""
        out: list[n.Stmt] = []
        for s in block:
            s = map_own(s, self.decided)
            if isinstance(s, n.If):
                if isinstance(s.condition, Const):
                    out += self.changed(s.then if s.condition.value else s.orelse)
                    continue
            out.append(with_bodies(s, self.changed))
        return tuple(out)

    def decided(self, e: Expr) -> Expr | None:
        made = self.asked(e)
        if made is None:
            return None
        return b.map_expr(made[1], self.decided) if made[1] != e else None

    def asked(self, e: Expr) -> tuple[_Ends, Expr] | None:
        """Where it is decided what an expression is, and as what."""
        match e:
            case Apply("less" | "greater" | "less_equal" | "greater_equal" as op, (x, y), "bool") if x.dtype == "index":
                return self.settled([(op, x, y)], b.TRUE) or self.settled([(OPPOSITE[op], x, y)], b.FALSE)
            case Apply("equal" | "not_equal" as op, (x, y), "bool") if x.dtype == "index" and y.dtype == "index":
                other = b.TRUE if op == "not_equal" else b.FALSE
                return self.settled([("less", x, y)], other) or self.settled([("greater", x, y)], other)
            case Apply("minimum" | "maximum" as op, (x, y), "index"):
                less = "less_equal" if op == "minimum" else "greater_equal"
                return self.settled([(less, x, y)], x) or self.settled([(OPPOSITE[less], x, y)], y)
            case Apply("remainder", (x, y), "index"):
                return self.settled([("greater_equal", x, b.ZERO), ("less", x, y)], x)
            case _:
                return None

    def settled(self, conditions: list[tuple[str, Expr, Expr]], made: Expr) -> tuple[_Ends, Expr] | None:
        """The borders outside of which all conditions hold, with what holds then; None if they are no borders."""
        ends = _Ends()
        for op, x, y in conditions:
            one = self.border(op, x, y)
            if one is None or (self.known is not None and one.with_(self.known) != self.known):
                return None
            ends = ends.with_(one)
        return ends, made

    def border(self, op: str, x: Expr, y: Expr) -> _Ends | None:
        """The iterations at one end for which a comparison need not hold, if those are a few."""
        if op.startswith("less"):
            x, y = y, x
        form = resolved(b.sub(x, y), self.lets)  # at least 0, or 1
        least = 1 if op in ("less", "greater") else 0
        terms, _ = b.affine(form)
        axis = Var(self.loop.axis, "index")
        factor = terms.get(axis, 0)
        rest = b.sub(form, b.mul(b.index(factor), axis))
        if abs(factor) != 1 or variables_read(rest) & self.set or buffers_read(rest):
            return None
        if factor == 1:  # axis >= least - rest
            few = b.difference(b.sub(b.index(least), rest), self.start)
            return _Ends(first=max(few, 0)) if few is not None and few <= _BORDER else None
        few = b.difference(self.stop, b.add(rest, b.index(1 - least)))  # axis <= rest - least
        return _Ends(last=max(few, 0)) if few is not None and few <= _BORDER else None
