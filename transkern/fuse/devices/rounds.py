"""Places that go round by comparisons:

    parallel i in 0 .. n:                    parallel i in 0 .. n:
        y[i] = x[(i - 1) % n]          to        y[i] = x[(i - 1 + n if i - 1 < 0 else i - 1)]

A division of 64 bits is some forty instructions, and a periodic stencil (`np.roll`) has one for each neighbour and
axis. Of a shift by more than one the remainder is taken before the loops, once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Var
from transkern.ir.names import Names
from transkern.ir.traverse import buffers_read, map_own, scalars_set, variables_read, walk, with_bodies
from transkern.records import replace


def compare_rounds(program: n.Program) -> n.Program:
    """The program whose loops compare where an axis and what stays goes round at a size that the axis is below."""
    names, out = Names.of(program), list[n.Stmt]()
    for s in program.body:
        out += _Rounds.of(s, names).made()
    return replace(program, body=tuple(out))


@dataclass
class _Rounds:
    """What becomes of a statement of the function's own level, and what is computed in front of it."""

    statement: n.Stmt
    names: Names
    changing: frozenset[str]  # inside of it
    shifts: dict[tuple[Expr, Expr], n.Let] = field(default_factory=dict)

    @classmethod
    def of(cls, statement: n.Stmt, names: Names) -> _Rounds:
        axes = {s.axis for s in walk((statement,)) if isinstance(s, (n.Loop, n.Scanning, n.Compact))}
        return cls(statement, names, frozenset(scalars_set(statement) | axes))

    def made(self) -> list[n.Stmt]:
        (made,) = self.block((self.statement,), {})
        return [*self.shifts.values(), made]

    def block(self, statements: Sequence[n.Stmt], stops: Mapping[str, Expr]) -> tuple[n.Stmt, ...]:
        """The statements within loops over axes from zero or more to `stops`."""
        return tuple(self.within(s, stops) for s in statements)

    def within(self, s: n.Stmt, stops: Mapping[str, Expr]) -> n.Stmt:
        if stops:
            s = map_own(s, lambda e: self.compared(e, stops))
        inside = dict(stops)
        if isinstance(s, n.Loop) and s.step == b.ONE and b.at_least(s.start, b.ZERO):
            inside[s.axis] = s.stop
        return with_bodies(s, lambda inner: self.block(inner, inside))

    def compared(self, e: Expr, stops: Mapping[str, Expr]) -> Expr | None:
        match e:
            case Apply("remainder", (form, size), "index") if not self.moves(size):
                pass
            case _:
                return None
        for name in sorted(variables_read(form) & stops.keys()):
            whole = b.sub(form, Var(name, "index"))
            if self.moves(whole) or not b.at_least(b.sub(size, stops[name]), b.ZERO):
                continue
            if (known := b.constant(whole)) == -1:
                return b.where(b.compare("less", form, b.ZERO), b.add(form, size), form)
            at = form if known in (0, 1) else b.add(Var(name, "index"), self.shift(whole, size))
            return b.where(b.compare("less", at, size), at, b.sub(at, size))
        return None

    def moves(self, e: Expr) -> bool:
        return bool(buffers_read(e) or variables_read(e) & self.changing)

    def shift(self, whole: Expr, size: Expr) -> Expr:
        if (whole, size) not in self.shifts:
            value = b.mod(whole, b.maximum(size, b.ONE))
            self.shifts[whole, size] = n.Let(self.names.fresh("shift"), value, span=self.statement.span)
        return Var(self.shifts[whole, size].name, "index")
