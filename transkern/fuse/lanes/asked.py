"""Lanes ask together before they compute what few of them choose:

    sequential k in 0 .. m:                    wasted := a hint from where the thread has been here last
        parallel lane in 0 .. 64:              sequential k in 0 .. m:
            let d = f(x[lane], k)                  wanted := True
            let t = sqrt(d) if d > 0      to       if wasted < 4:
                    else inf                           parallel lane in 0 .. 64:
            …                                              count sum= 1 if f(x[lane], k) > 0 else 0
                                                       wanted := count > 0
                                                       wasted := wasted + 1 if wanted else 0
                                                   if wanted: parallel lane in 0 .. 64: … as above
                                                   else: parallel lane in 0 .. 64: let t = inf …

Vectors compute both sides of a choice, whatever the lanes choose: eight roots take as long as forty additions, also
where no lane takes one (rays that meet no sphere, pairs beyond a cutoff). Where lanes have asked in vain four times,
the next 64 loops of a thread ask nothing: where most lanes want all of it, that costs a hundredth.

Legal as nobody sees what is not chosen; not where NumPy's warnings are asked for, which the side not taken may raise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from transkern.fuse.lanes.together import always
from transkern.fuse.lowering.copies import with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.ops import OPS, TRANSCENDENTAL
from transkern.ir.storage import itemsize
from transkern.ir.traverse import (
    buffers_read,
    buffers_written,
    map_block,
    own_exprs,
    variables_read,
    walk_expr,
    with_bodies,
)  # fmt: skip
from transkern.records import replace

_DIVISION = 32
"""Additions of vectors that take as long as a division or a root."""

_DIVISIONS = frozenset(("divide", "python_divide", "reciprocal", "sqrt"))

_SAVED = 3
"""Times the work that is passed by is that of asking, at least."""

_LANES = 16
"""Lanes at least: fewer are soon done."""

_VAIN, _PAUSE = 4, 64
"""Questions in vain, behind which none is asked in so many loops."""


def ask_before_costly(program: n.Program) -> n.Program:
    """The program in which blocks of lanes pass by what none of them chooses."""
    if program.warns:
        return program
    state = _Asking(program)
    body = state.block(program.body, in_lanes=False)
    return replace(program, body=body, buffers=state.buffers, variables=state.variables)


@dataclass(frozen=True, slots=True)
class _Choice:
    """What the lanes of a body do where none of them has a condition, or (`inverse`) all do: the other side."""

    condition: Expr
    inverse: bool

    @property
    def asks(self) -> Expr:
        """What a lane that needs the costly side fulfils."""
        return b.logical_not(self.condition) if self.inverse else self.condition

    def other(self, body: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        def change(e: Expr) -> Expr | None:
            if isinstance(e, Apply) and e.op == "where" and e.args[0] == self.condition:
                return b.map_expr(e.args[1 if self.inverse else 2], change)
            return None

        return map_block(body, change)


class _Asking:
    def __init__(self, program: n.Program) -> None:
        self.names = Names.of(program)
        self.buffers, self.variables = dict(program.buffers), dict(program.variables)

    def block(self, statements: Sequence[n.Stmt], in_lanes: bool) -> tuple[n.Stmt, ...]:
        """`in_lanes`: whether a parallel loop is around, whose iterations have variables of their own."""
        out: list[n.Stmt] = []
        for s in statements:
            if in_lanes and isinstance(s, n.Loop) and s.kind == "sequential":
                out += self.loop(s)
                continue
            inside = in_lanes or (isinstance(s, n.Loop) and s.kind == "parallel")
            out.append(with_bodies(s, lambda body, inside=inside: self.block(body, inside)))  # type: ignore[misc]
        return tuple(out)

    def loop(self, s: n.Loop) -> list[n.Stmt]:
        """A loop in order, whose lanes ask where that pays, between what the last one has left and what it leaves."""
        before: list[n.Stmt] = []
        body: list[n.Stmt] = []
        after: list[n.Stmt] = []
        for x in s.body:
            choice = _rare(x) if isinstance(x, n.Loop) else None
            if choice is None or not isinstance(x, n.Loop):
                body += self.block((x,), in_lanes=True)
                continue
            wasted, wanted = Var(self.names.fresh("wasted")), Var(self.names.fresh("wanted"), "bool")
            self.variables |= {wasted.name: "index", wanted.name: "bool"}
            hint = Load(self.names.fresh("hint"), (b.ZERO,), "index")
            self.buffers[hint.buffer] = n.Buffer(hint.buffer, "index", (b.ONE,), line=x.span.line, kept=True)
            paused = b.where(b.compare("less", hint, b.index(_PAUSE)), b.add(hint, b.ONE), b.ZERO)
            before.append(n.Alloc(hint.buffer, span=x.span))
            known = b.where(b.compare("less", hint, b.index(_VAIN)), hint, paused)
            before.append(n.Assign(wasted.name, known, span=x.span))
            body += self.asked(x, choice, wasted, wanted)
            after.append(n.Store(hint.buffer, hint.index, wasted, span=x.span))
        return [*before, replace(s, body=tuple(body)), *after]

    def asked(self, lanes: n.Loop, choice: _Choice, wasted: Var, wanted: Var) -> list[n.Stmt]:
        """The lanes with all that they compute if one of them needs it, and with the other side if none does."""
        span, dtype = lanes.span, f"int{8 * _width(choice.condition)}"
        count = Var(self.names.fresh("count"), dtype)
        one, none = b.cast(b.ONE, dtype), b.cast(b.ZERO, dtype)
        add = n.Accumulate(count.name, "sum", b.where(choice.asks, one, none), span=span)
        question = replace(lanes, body=(*_needed(lanes.body, (choice.condition,)), add))
        asking = (
            n.Accumulator(count.name, "sum", dtype, span=span), self.own(question),
            n.Assign(wanted.name, b.compare("greater", count, none), span=span),
            n.Assign(wasted.name, b.where(wanted, b.add(wasted, b.ONE), b.ZERO), span=span),
        )  # fmt: skip
        return [
            n.Assign(wanted.name, b.TRUE, span=span),
            n.If(b.compare("less", wasted, b.index(_VAIN)), asking, span=span),
            n.If(wanted, (lanes,), (self.own(replace(lanes, body=choice.other(lanes.body))),), span=span),
        ]

    def own(self, s: n.Loop) -> n.Loop:
        return with_own_names(s, self.names, self.variables, self.buffers)


def _rare(s: n.Loop) -> _Choice | None:
    """The choice of lanes that leaves them the least to do, where asking takes a small part of what that saves."""
    count = b.constant(b.sub(s.stop, s.start))
    if s.kind != "parallel" or count is None or count < _LANES:
        return None
    if not all(isinstance(x, (n.Let, n.Store)) for x in s.body):
        return None
    reached = (e for x in s.body for own in own_exprs(x) for e in always(own))
    conditions = dict.fromkeys(e.args[0] for e in reached if isinstance(e, Apply) and e.op == "where")
    if not conditions:
        return None
    written = {name for x in s.body for name in buffers_written(x)}
    whole, best, most = _work(s.body), None, 0
    for choice in (_Choice(e, inverse) for e in conditions for inverse in (False, True)):
        needed = [x.value for x in _needed(s.body, (choice.condition,))]
        asked = [*needed, choice.condition]
        if any(buffers_read(e) & written for e in asked) or not any(s.axis in variables_read(e) for e in asked):
            continue
        saved = whole - _work(choice.other(s.body))
        if saved >= max(_DIVISION, _SAVED * (1 + sum(map(_cost, asked)))) and saved > most:
            best, most = choice, saved
    return best


def _needed(body: Sequence[n.Stmt], values: Iterable[Expr]) -> list[n.Let]:
    """The names of a body that values are made of, in order."""
    names = {name for e in values for name in variables_read(e)}
    found: list[n.Let] = []
    for x in reversed(body):
        if isinstance(x, n.Let) and x.name in names:
            found.insert(0, x)
            names |= variables_read(x.value)
    return found


def _work(body: Sequence[n.Stmt]) -> int:
    """What a lane has to do for all that it stores."""
    stored = [e for x in body if isinstance(x, n.Store) for e in own_exprs(x)]
    return sum(map(_cost, [*stored, *(x.value for x in _needed(body, stored))]))


def _cost(e: Expr) -> int:
    return sum(_own_cost(x) for x in dict.fromkeys(walk_expr(e)))


def _own_cost(e: Expr) -> int:
    if not isinstance(e, Apply) or e.op not in OPS:
        return int(isinstance(e, Load))
    return _DIVISION if e.op in _DIVISIONS else 2 * OPS[e.op].cost if OPS[e.op].cost >= TRANSCENDENTAL else 1


def _width(condition: Expr) -> int:
    """Bytes of what a condition compares."""
    return max(_widths(condition), default=8)


def _widths(condition: Expr) -> Iterator[int]:
    for e in walk_expr(condition):
        if e.dtype.startswith("float"):
            yield max(4, itemsize(e.dtype))
