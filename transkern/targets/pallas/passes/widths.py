"""How large Python's integers become in a program whose data have 32 bits, as kernels then compute with no more:

    total = total + i * i    for i < n      at most n * (n * n), which is checked before the call
    a, b = b, a + b                         open: the program needs 64 bits

What only moves along an array (``x[i + 1]``, ``lo = mid + 1``) is as good as a position in it: an array that 32 bits do
not count does not come here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.traverse import bodies, map_own, own_exprs, variables_read, walk, walk_expr, with_bodies
from transkern.targets.pallas.forms.values import is_outside, numbers_of, scalar_params

MOST = 2**31 - 1
_FLOAT = 2**30  # what `checked_integers` lets pass, so that there is room for a step behind it
BEYOND = "an index beyond 32 bits"
_COMPARE = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
_ALTERNATIVES, _STEPS = 12, 5000

Term = tuple[dict[str, Fraction], Expr]
"""What a number is at most: shares of what variables are, whose value is being looked for, and the rest."""

Loops = tuple[n.Loop | n.While, ...]


class _Open(Exception):
    """No bound is known."""


def integers_stay_below(program: n.Program) -> list[Expr] | None:
    """What must be at most `MOST` when the function is called, or None where nothing can be said."""
    try:
        found = _Widths(program).needed()
    except _Open:
        return None
    return None if any(map(_is_hopeless, found)) else found


def checked_integers(block: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
    """The statements with the checks of floats that become integers of Python's made for 32 bits instead of 64, without
    those that all numbers of 32 bits pass."""
    made = (_checked(s) for s in block)
    return tuple(
        with_bodies(s, checked_integers) for s in made if not isinstance(s, n.Guard) or s.condition != b.TRUE
    )


_ORDER = ("less", "less_equal", "greater", "greater_equal")


def _compared(e: Expr) -> Expr | None:
    """What a comparison with a number beyond 32 bits is for all of 32 bits; None of others."""
    match e:
        case Apply("and_then" | "logical_and", (x, y), _):
            one, two = (b.map_expr(z, _compared) for z in (x, y))
            return b.both(one, two)
        case Apply(op, (x, y), "bool") if op in _ORDER and x.dtype == y.dtype == "index":
            for value, above in ((b.constant(x), op.startswith("greater")), (b.constant(y), op.startswith("less"))):
                if value is not None and not -(1 << 31) <= value < 1 << 31:
                    return b.TRUE if (value > 0) == above else b.FALSE
    return None


def _checked(s: n.Stmt) -> n.Stmt:
    def narrower(e: Expr) -> Expr | None:
        if isinstance(e, Const) and e.dtype.startswith("float") and abs(e.value) == 2.0**63:
            return Const(math.copysign(_FLOAT, e.value), e.dtype)  # type: ignore[arg-type]
        return None

    if not isinstance(s, n.Guard) or s.error != "OverflowError":
        return s
    s = replace(s, condition=b.map_expr(s.condition, _compared))
    made = map_own(s, narrower)
    assert isinstance(made, n.Guard)
    return s if made.condition == s.condition else replace(made, message=BEYOND)


class _Widths:
    def __init__(self, program: n.Program) -> None:
        self.program, self.params = program, scalar_params(program)
        self.axes: dict[str, tuple[Expr, Expr]] = {}
        self.values: dict[str, list[tuple[Expr, Loops]]] = {}  # of names and buffers, with the loops around
        self.known: dict[str, list[Term]] = {}
        self.open: list[str] = []  # the variables whose value is being looked for, outer first
        self.steps = 0
        self.given = {p.name for p in program.params if isinstance(p, n.ScalarParam)}
        self.collect(program.body, ())

    def collect(self, block: Iterable[n.Stmt], around: Loops) -> None:
        for s in block:
            inner = around
            match s:
                case n.Loop(axis, start, stop):
                    self.axes[axis] = start, stop
                    inner = (*around, s)
                case n.While():
                    inner = (*around, s)
                case n.Let(of, value) | n.Assign(of, value):
                    self.note(of, value, around)
                case n.Store(of, _, value):
                    self.note(of, value, around)
                case n.Accumulate(of, "sum", value):
                    self.note(of, Apply("add", (Var(of), value), "index"), around)
                case n.Accumulate(of, "count"):
                    self.note(of, b.add(Var(of), b.ONE), around)
                case n.Accumulate(of, _, value, position):
                    self.note(of, value if position is None else position, around)
                case n.Compact(count=of, stop=stop, append=append, axis=axis, start=start):
                    self.axes[axis] = start, stop
                    self.note(of, b.add(Var(of), stop) if append else stop, around)
                case n.Scanning(axis=axis, stop=stop):
                    self.axes[axis] = b.ZERO, stop
                case _:
                    pass
            for body in bodies(s):
                self.collect(body, inner)

    def note(self, of: str, value: Expr, around: Loops) -> None:
        if value.dtype in ("index", "int64"):
            self.values.setdefault(of, []).append((value, around))

    # --- what must be known

    def needed(self) -> list[Expr]:
        found: dict[Expr, None] = {}
        elements: dict[Expr, None] = {}  # of arrays: they have 32 bits, whoever computes them
        for s in walk(self.program.body):
            if isinstance(s, n.Guard):
                continue
            stored = s.value if isinstance(s, n.Store) and s.value.dtype == "index" else None
            if isinstance(s, n.Return):
                for value in numbers_of(s.result, places=False):  # a place is within its array
                    self.visit(value, True, found)
                continue
            for e in own_exprs(s):
                self.visit(e, e is stored, found)
            values = s.values if isinstance(s, n.Compact) else (s.value,) if isinstance(s, n.Store) else ()
            converted = (x.args[0] for e in values for x in walk_expr(e) if isinstance(x, Apply) and x.dtype == "int64")
            for e in (*values, *converted):
                if e.dtype == "index" and variables_read(e) and self.is_outside(e):
                    elements[b.maximum(e, b.sub(b.index(-1), e))] = None
        return [*(x for x in found if not _is_small(x) and x not in elements), *elements]

    def visit(self, e: Expr, data: bool, found: dict[Expr, None]) -> None:
        """Notes the bounds of what is used as a number: converted, stored, compared, divided. What is asked of sizes
        and arguments alone, Python answers."""
        if e.dtype == "bool" and is_outside(e, self.params):
            return
        if data and e.dtype == "index" and not self.is_outside(e):
            found[self.bound(e)] = None
        match e:
            case Load(_, index):
                for i in index:
                    self.visit(i, False, found)
            case Apply(op, args, dtype):
                used = (
                    op in ("floor_divide", "remainder", *_COMPARE) or (dtype != "index" and op != "where")
                )
                for a in args:
                    self.visit(a, used and a.dtype == "index", found)
            case _:
                pass

    def is_outside(self, e: Expr) -> bool:
        """Whether the function around the kernels computes it."""
        return not any(isinstance(x, Load) or (isinstance(x, Var) and x.name not in self.params) for x in walk_expr(e))

    # --- bounds

    def bound(self, e: Expr) -> Expr:
        self.steps = 0
        return _most([self.plain(t) for t in self.terms(e)])

    def plain(self, term: Term) -> Expr:
        coefficients, rest = term
        assert not coefficients
        return rest

    def terms(self, e: Expr) -> list[Term]:
        """What the magnitude of `e` is at most: the largest of these."""
        self.steps += 1
        if self.steps > _STEPS:
            raise _Open
        match e:
            case Const(value):
                return [({}, b.index(abs(int(value))))]  # type: ignore[arg-type]
            case Var(of):
                return self.variable(of)
            case Load(of):
                return self.element(e, of)
            case Apply("cast", (x,), _) if x.dtype in ("index", "int64"):
                return self.terms(x)
            case Apply("cast", (x,), _):
                return [({}, b.index(_largest(x.dtype)))]
            case Apply(op, args, _):
                found = self.operation(op, args)
                sure = [x for t, x in found if not t]
                found = [*(x for x in found if x[0]), *([({}, _most(sure))] if sure else [])]
                if len(found) > _ALTERNATIVES:
                    raise _Open
                return found
            case _:
                raise _Open

    def operation(self, op: str, args: tuple[Expr, ...]) -> list[Term]:
        match op:
            case "add" | "subtract" | "bitwise_or" | "bitwise_xor":
                return [_sum(x, y) for x in self.terms(args[0]) for y in self.terms(args[1])]
            case "negative" | "positive" | "absolute" | "right_shift" | "floor" | "ceil" | "trunc" | "rint":
                return self.terms(args[0])
            case "invert":
                return [_sum(x, ({}, b.ONE)) for x in self.terms(args[0])]
            case "multiply":
                return [_product(x, y) for x in self.terms(args[0]) for y in self.terms(args[1])]
            case "square":
                return self.operation("multiply", (args[0], args[0]))
            case "power" if isinstance(args[1], Const) and 0 <= args[1].value <= 64:  # type: ignore[operator]
                factors = [args[0]] * int(args[1].value)  # type: ignore[arg-type]
                return [({}, b.product(tuple(self.number(x) for x in factors)))]
            case "left_shift" if isinstance(args[1], Const) and 0 <= args[1].value < 64:  # type: ignore[operator]
                return self.operation("multiply", (args[0], b.index(1 << int(args[1].value))))  # type: ignore[arg-type]
            case "floor_divide":
                divisor = b.constant(args[1])
                if divisor is None or abs(divisor) < 2:
                    return self.terms(args[0])
                part = Fraction(1, abs(divisor))
                whole = b.index(abs(divisor))
                return [({k: c * part for k, c in t.items()}, b.add(b.floordiv(x, whole), b.ONE))
                        for t, x in self.terms(args[0])]  # fmt: skip
            case "remainder" | "fmod":
                return self.terms(args[1])
            case "bitwise_and" if isinstance(args[1], Const) and args[1].value >= 0:  # type: ignore[operator]
                return self.terms(args[1])
            case "maximum" | "minimum" | "fmax" | "fmin" | "gcd":
                return [*self.terms(args[0]), *self.terms(args[1])]
            case "where":
                return [*self.terms(args[1]), *self.terms(args[2])]
            case "sign":
                return [({}, b.ONE)]
            case "bitwise_count":
                return [({}, b.index(64))]
            case _:
                raise _Open

    def number(self, e: Expr) -> Expr:
        """A bound that depends on nothing that is looked for."""
        found = self.terms(e)
        if any(t for t, _ in found):
            raise _Open
        return _most([x for _, x in found])

    def element(self, e: Expr, of: str) -> list[Term]:
        buffer = self.program.buffers[of]
        if e.dtype not in ("index", "int64"):
            return [({}, b.index(_largest(e.dtype)))]
        if buffer.high is not None and buffer.low is not None:
            return [*self.terms(buffer.low), *self.terms(buffer.high)]
        if buffer.role == "argument" or of not in self.values:
            return [({}, b.index(MOST))]
        return self.variable(of)

    def variable(self, of: str) -> list[Term]:
        if of in self.open:
            return [({of: Fraction(1)}, b.ZERO)]
        if of in self.known:
            return self.known[of]
        if of in self.axes:
            found = [t for e in self.axes[of] for t in self.terms(e)]
        elif of in self.values:
            self.open.append(of)
            try:
                found = self.resolved(of)
            finally:
                self.open.pop()
        elif of in self.given:
            found = [_of_argument(of)]
        elif of in self.program.bounds:
            found = self.terms(self.program.bounds[of])
        elif b.is_size_name(of):
            found = [({}, Var(of))]
        else:
            raise _Open
        if not self.open:
            self.known[of] = found
        return found

    def resolved(self, of: str) -> list[Term]:
        """A variable's value from those that it is given: what it has of itself makes it grow with each iteration."""
        first: list[Term] = [_of_argument(of)] if of in self.given else []
        growth: Expr = b.ZERO
        for value, around in self.values[of]:
            for coefficients, rest in self.terms(value):
                others = {k: c for k, c in coefficients.items() if k != of}
                own = coefficients.get(of, Fraction(0))
                if own == 0:
                    first.append((others, rest))
                elif own < 1:
                    factor = 1 / (1 - own)
                    whole = b.index(math.ceil(factor))
                    first.append(({k: c * factor for k, c in others.items()}, b.mul(whole, rest)))
                elif own > 1 or others:
                    raise _Open
                elif b.constant(rest) != 0:
                    growth = b.add(growth, self.repeated(rest, around))
        return [(t, b.add(x, growth)) for t, x in first or [({}, b.ZERO)]]

    def repeated(self, by: Expr, around: Loops) -> Expr:
        """What adding `by` in each iteration comes to; a step of one is a count of what a machine has done."""
        if any(isinstance(s, n.While) for s in around):
            if (b.constant(by) or MOST) > 8:
                raise _Open
            return by
        trips = [b.add(*(self.number(e) for e in self.axes[s.axis])) for s in around if isinstance(s, n.Loop)]
        return b.mul(by, b.product(tuple(trips)))


def _of_argument(of: str) -> Term:
    return {}, b.maximum(Var(of), b.neg(Var(of)))


def _largest(dtype: str) -> int:
    if dtype == "bool":
        return 1
    if dtype.startswith("float"):
        return _FLOAT
    bits = int(dtype.lstrip("uint"))
    return (1 << bits) - 1 if dtype.startswith("u") else min(1 << bits - 1, MOST)


def _sum(x: Term, y: Term) -> Term:
    names = x[0].keys() | y[0].keys()
    return {k: x[0].get(k, Fraction(0)) + y[0].get(k, Fraction(0)) for k in names}, b.add(x[1], y[1])


def _product(x: Term, y: Term) -> Term:
    if x[0]:
        x, y = y, x
    if x[0] or (y[0] and b.constant(x[1]) is None):
        raise _Open
    by = b.constant(x[1])
    return {k: c * by for k, c in y[0].items()} if by is not None else {}, b.mul(x[1], y[1])


def _most(bounds: list[Expr]) -> Expr:
    """What none of these exceeds: of each part, none of which is negative, as much as one of them has."""
    parts: dict[Expr, int] = {}
    total = 0
    for terms, rest in map(b.affine, bounds):
        total = max(total, rest)
        for part, count in terms.items():
            parts[part] = max(parts.get(part, 0), count)
    return b.from_affine(parts, total)


def _is_hopeless(bound: Expr) -> bool:
    """Whether a bound only holds where what the call gives is next to nothing: of elements that may be any number of 32
    bits, and something is added to."""
    parts, rest = b.affine(bound)
    return rest > MOST or (rest == MOST and bool(parts)) or any(k * _surely(x) >= _FLOAT for x, k in parts.items())


def _surely(e: Expr) -> int:
    """What a bound is at least, if no size, and no argument, is less than one."""
    match e:
        case Apply("multiply", args):
            return math.prod(map(_surely, args))
        case Apply("maximum", args):
            return max(map(_surely, args))
        case Apply("add"):
            parts, rest = b.affine(e)
            return rest + sum(k * _surely(x) for x, k in parts.items())
        case _:
            return b.constant(e) or 1


def _is_small(bound: Expr) -> bool:
    """Whether a bound is a few times the length of an array, or of a loop that ends."""
    value = b.constant(bound)
    return value <= MOST if value is not None else _lengths(bound) <= 16


def _lengths(e: Expr) -> float:
    """How many times the longest array something is at most."""
    match e:
        case Const(value):
            return 0.0 if value <= 1 << 20 else math.inf  # type: ignore[operator]
        case Var(of):
            return 1.0 if b.is_size_name(of) else 10.0
        case Apply("maximum" | "minimum", (x, y)):
            return max(_lengths(x), _lengths(y))
        case Apply("add" | "subtract", (x, y)):
            return _lengths(x) + _lengths(y)
        case Apply("multiply", (Const(value), x)):
            return int(value) * _lengths(x)  # type: ignore[arg-type]
        case Apply("negative" | "floor_divide", (x, *_)):
            return _lengths(x)
        case _:
            return math.inf
