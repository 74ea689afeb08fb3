"""What cannot be less than zero is not asked whether it is:

    length = sqrt(x * x + y * y)
    r[i] = 255.0 if (0.0 if length < 0.0 else length) > 255.0 else …    to    255.0 if length > 255.0 else length

NaN is not less than zero, either. -0.0 is not, but it is not what ``np.maximum(x, 0)`` gives.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Var
from transkern.ir.traverse import exprs, map_own, walk, with_bodies
from transkern.records import replace


class _Sign(IntEnum):
    """Of a float that is no NaN."""

    ANY = 0
    ZERO = 1  # at least 0.0, or -0.0
    PLUS = 2  # at least 0.0


def decide_signs(program: n.Program) -> n.Program:
    """The program without such questions."""
    if not any(isinstance(e, Apply) and _asked(e) is not None for e in exprs(program.body)):
        return program
    assigned = frozenset(s.name for s in walk(program.body) if isinstance(s, n.Assign | n.Accumulate))
    return replace(program, body=_Signs(assigned).block(program.body))


def _asked(e: Apply) -> Expr | None:
    """What an expression asks whether it is less than zero, or than something below."""
    match e:
        case Apply("less", (x, Const(float() as value, "float32" | "float64"))) if value <= 0:
            return x
        case Apply("greater", (Const(float() as value, "float32" | "float64"), x)) if value <= 0:
            return x
        case Apply("maximum" | "maximum_number", (x, Const(float() as value)), "float32" | "float64") if (
            value < 0 or str(value) == "0.0"  # of 0.0 and -0.0 it is the second
        ):
            return x
        case _:
            return None


class _Signs:
    def __init__(self, assigned: frozenset[str]) -> None:
        self.assigned = assigned  # names that have other values later
        self.known: dict[str, _Sign] = {}
        self.found: dict[Expr, _Sign] = {}

    def block(self, statements: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in statements:
            made = with_bodies(map_own(s, self.decided), self.block)
            if isinstance(made, n.Let) and made.name not in self.assigned and made.value.dtype.startswith("float"):
                self.known[made.name] = self.of(made.value)
            out.append(made)
        return tuple(out)

    def decided(self, e: Expr) -> Expr | None:
        """The answer, if an expression asks for a sign that is known; None to look into it."""
        x = _asked(e) if isinstance(e, Apply) else None
        if x is None or not isinstance(e, Apply):
            return None
        sign = self.of(x)
        if e.dtype == "bool":
            return b.FALSE if sign >= _Sign.ZERO else None
        return b.map_expr(x, self.decided) if sign == _Sign.PLUS else None

    def of(self, e: Expr) -> _Sign:
        """What is known of a float."""
        if e not in self.found:
            self.found[e] = self.asked(e)
        return self.found[e]

    def asked(self, e: Expr) -> _Sign:
        match e:
            case Const(float() as value):
                return _Sign.ANY if value < 0 or str(value) == "-0.0" else _Sign.PLUS
            case Var(name):
                return self.known.get(name, _Sign.ANY)
            case Apply("cast", (x,), _):
                plus = x.dtype == "bool" or x.dtype.startswith("uint")
                return _Sign.PLUS if plus else self.of(x) if x.dtype.startswith("float") else _Sign.ANY
            case Apply("absolute" | "square" | "exp" | "exp2" | "hypot"):
                return _Sign.PLUS
            case Apply("sqrt", (x,)):
                return max(_Sign.ZERO, self.of(x))
            case Apply("multiply", (x, y)):
                return _Sign.PLUS if x == y else min(self.of(x), self.of(y))
            case Apply("add", (x, y)):
                one, two = self.of(x), self.of(y)
                return max(one, two) if min(one, two) > _Sign.ANY else _Sign.ANY
            case Apply("divide", (x, y)):
                return self.of(x) if self.of(y) == _Sign.PLUS else _Sign.ANY
            case Apply("where", (_, x, y)) | Apply("maximum" | "minimum", (x, y)):
                return min(self.of(x), self.of(y))
            case _:
                return _Sign.ANY
