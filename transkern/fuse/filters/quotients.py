"""Tests of quotients without the division, in loops that clear flags:

    parallel p: alive[p] = alive[p] and a / u <= t

A division costs ten to twenty times what a product does. For u > 0, a >= 0 and t > 0 the test is decided by products
wherever the quotient does not round to t itself:

    a < t · u, rounded           a is then below t · u, as a is a float: a / u < t, and rounded a / u <= t
    a > t' · u, rounded          where t' is the float after t: a / u > t', and rounded a / u >= t' > t

(for ``<``: with the float before t, and t). Whatever is neither (a quotient that rounds to t, a NaN, an overflow) is
in doubt. The loop runs with products, keeps what is in doubt and notes that there was a doubt; then, which is rare, it
runs again with the division as the source has it. Running it twice does no harm, as it only clears flags. What the loop
does not change (t, the operand of a maximum) is taken to be a number: one test before the loop makes sure of that.

Worth while where the loop runs again and again on arrays in the cache: inside another loop.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from transkern.fuse.checks.extremes import Invariants, lifted_nan_tests, repeated_loops
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.ops import MIRRORED
from transkern.ir.traverse import buffers_read, map_own, own_exprs, variables_read
from transkern.records import replace

_TESTS = ("less", "less_equal", "greater", "greater_equal")
_LANES = {"float32": "int32", "float64": "int64"}  # integers as wide: flags in vector registers


def simplify_repeated(program: n.Program) -> n.Program:
    """The program with cheaper tests in its repeated loops: of quotients, else of NaN in extremes (`extremes`)."""
    names = Names.of(program)
    return repeated_loops(program, lambda loop: _decided(loop, names) or lifted_nan_tests(loop, names))


@dataclass(slots=True)
class _Decision:
    """What replaces one test: whether it is certainly false, and whether it is certain at all."""

    excluded: Expr
    certain: Expr


def _decided(loop: n.Loop, names: Names) -> list[n.Stmt] | None:
    flags = loop.body[-1] if loop.body else None
    if not isinstance(flags, n.Store) or any(not isinstance(s, n.Let) for s in loop.body[:-1]):
        return None
    own = Load(flags.buffer, flags.index, "bool")
    terms = list(_conjuncts(flags.value))
    lets = {s.name: s for s in loop.body[:-1] if isinstance(s, n.Let)}
    others = [t for t in terms if t != own]
    values = [*others, *(s.value for s in lets.values())]
    if len(others) == len(terms) or any(flags.buffer in buffers_read(x) for x in values):
        return None
    deciding = _Deciding(loop, names, lets)
    kept: Expr = own
    decisions: list[_Decision] = []
    for term in others:
        decision = deciding.test(term)
        if decision is None:
            kept = b.both(kept, term)
        else:
            decisions.append(decision)
    return deciding.two_loops(flags, kept, decisions) if decisions else None


def _conjuncts(e: Expr) -> list[Expr]:
    match e:
        case Apply("and_then" | "bitwise_and" | "logical_and", (x, y), "bool"):
            return [*_conjuncts(x), *_conjuncts(y)]
        case _:
            return [e]


@dataclass
class _Deciding:
    loop: n.Loop
    names: Names
    lets: dict[str, n.Let]
    numbers: list[Expr] = field(default_factory=list)  # what holds before the loop where products may decide
    within: list[n.Let] = field(default_factory=list)
    dtype: str = ""

    def __post_init__(self) -> None:
        self.invariants = Invariants(self.names, self.loop)

    def test(self, term: Expr) -> _Decision | None:
        """What decides ``a / u <= t`` and its like; None where `term` is something else."""
        match term:
            case Apply(op, (x, y), "bool") if op in _TESTS and x.dtype in _LANES:
                if self.invariants.holds(y) and (quotient := self._quotient(x)) is not None:
                    return self._decide(op, *quotient, y)
                if self.invariants.holds(x) and (quotient := self._quotient(y)) is not None:
                    return self._decide(MIRRORED[op], *quotient, x)
        return None

    def _seen(self, e: Expr) -> Expr:
        while isinstance(e, Var) and e.name in self.lets:
            e = self.lets[e.name].value
        return e

    def _quotient(self, e: Expr) -> tuple[Expr, Expr] | None:
        match self._seen(e):
            case Apply("divide", (a, u), dtype) if dtype in _LANES and self.dtype in ("", dtype):
                if self._not_negative(a) and not self.invariants.holds(u):
                    self.dtype = dtype
                    return a, u
        return None

    def _not_negative(self, e: Expr) -> bool:
        """Whether `e` is not below zero (NaN is not)."""
        match self._seen(e):
            case Const(value):
                return not isinstance(value, complex) and value >= 0
            case Apply("maximum", (x, y), _):
                return self._not_negative(x) or self._not_negative(y)
            case Apply("multiply", (x, y), _) if x == y:
                return True
            case Apply("multiply" | "add" | "minimum", (x, y), _):
                return self._not_negative(x) and self._not_negative(y)
            case Apply("absolute" | "square" | "sqrt" | "exp", _, _):
                return True
            case _:
                return False

    def _decide(self, op: str, a: Expr, u: Expr, t: Expr) -> _Decision:
        dtype = a.dtype
        bound = self.invariants.value(t)
        self.numbers.append(Apply("greater", (bound, Const(0.0, dtype)), "bool"))
        equal_below = op in ("less_equal", "greater")  # the float t itself belongs to the side below
        toward = Const(float("inf") if equal_below else float("-inf"), dtype)
        beside = self.invariants.bind("beside", Apply("nextafter", (bound, toward), dtype))
        low, high = (bound, beside) if equal_below else (beside, bound)
        divisor = self._bind("divisor", u)
        below = Apply("less", (a, Apply("multiply", (divisor, low), dtype)), "bool")
        above = _both(
            Apply("greater", (a, Apply("multiply", (divisor, high), dtype)), "bool"),
            Apply("greater", (divisor, Const(0.0, dtype)), "bool"),
        )
        excluded, included = (above, below) if op in ("less", "less_equal") else (below, above)
        excluded = self._bind("excluded", excluded)
        return _Decision(excluded, Apply("bitwise_or", (included, excluded), "bool"))

    def _bind(self, base: str, e: Expr) -> Expr:
        """A variable of the loop's body."""
        if isinstance(e, Var):
            return e
        name = self.names.fresh(base)
        self.within.append(n.Let(name, e, span=self.loop.body[-1].span))
        return Var(name, e.dtype)

    def two_loops(self, flags: n.Store, kept: Expr, decisions: list[_Decision]) -> list[n.Stmt]:
        """Products where what the loop does not change are numbers; the division where they are not, or in doubt."""
        lanes = _LANES[self.dtype]
        doubt = self.names.fresh("doubt")
        certain = decisions[0].certain
        for decision in decisions[1:]:
            certain = _both(certain, decision.certain)
        for decision in decisions:
            kept = b.where(decision.excluded, b.FALSE, kept)
        body: tuple[n.Stmt, ...] = (
            *self.within,
            n.Accumulate(doubt, "any", b.where(certain, Const(0, lanes), Const(1, lanes)), span=flags.span),
            replace(flags, value=kept),
        )
        body = tuple(map_own(s, self.invariants.number_extreme) for s in (*self._read_by(body), *body))
        usable: Expr = b.TRUE
        for condition in [*self.numbers, *self.invariants.are_numbers()]:
            usable = b.both(usable, condition)
        decides = Var(self.names.fresh("products_decide"), "bool")
        undecided = Apply("not_equal", (Var(doubt, lanes), Const(0, lanes)), "bool")
        return [
            *self.invariants.before,
            n.Let(decides.name, usable, span=self.loop.span),
            n.Accumulator(doubt, "any", lanes, span=self.loop.span),
            n.If(decides, (replace(self.loop, body=body),), span=self.loop.span),
            n.If(b.either(b.logical_not(decides), undecided), (self.loop,), span=self.loop.span),
        ]

    def _read_by(self, body: tuple[n.Stmt, ...]) -> list[n.Let]:
        """The variables of the old body that the new one needs, in order."""
        needed: set[str] = set()
        todo = {name for s in body for e in own_exprs(s) for name in variables_read(e)}
        while todo:
            name = todo.pop()
            if name in self.lets and name not in needed:
                needed.add(name)
                todo |= variables_read(self.lets[name].value)
        return [s for name, s in self.lets.items() if name in needed]


def _both(x: Expr, y: Expr) -> Expr:
    """Both, without a branch: operands of vectors."""
    return Apply("bitwise_and", (x, y), "bool")
