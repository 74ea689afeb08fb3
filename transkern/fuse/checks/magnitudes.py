"""How large the integers of a loop can get, told before it runs, from sizes and from what the loop begins with.

    for i in range(n):
        for j in range(m):          total is at most |total| + n * m * (n * m) afterwards
            total += i * j

Bounds are sums, products and maxima of float64: none cancels anything, so that each is off by one part in 2^52 at
most, and `LIMIT` leaves room for thousands of them. What overflows to infinity, or to NaN, is not less than it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from transkern.analysis.intervals import STEPS, Intervals
from transkern.analysis.scalars import exposed
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.traverse import bodies, scalars_set, variables_read, walk_expr

LIMIT = 2.0**63 * (1 - 2.0**-40)
_LARGEST_TEST = 200
"""Operations in a test: one with more is not made."""

_DEPTH = 4
"""As many names of names of a new value are looked through."""


@dataclass(frozen=True, slots=True)
class Most:
    """What a number's absolute value is at most: `value` (float64), which is at most `ever` for all calls."""

    ever: float
    value: Expr


def enough_bits(
    operations: Iterable[Apply], loop: n.Loop, known: Intervals, seen: Mapping[str, Expr] = MappingProxyType({})
) -> Expr | None:
    """A condition before `loop` under which the results of operations in it have 64 bits; None where there is none.

    `seen` are the magnitudes (float64) of the elements that the loop reads of some buffers.
    """
    found = _Magnitudes(loop, known, seen)
    test: Expr = b.TRUE
    for e in dict.fromkeys(operations):
        most = found.computed(e)
        if most is None:
            return None
        if most.ever >= LIMIT:
            test = b.both(test, Apply("less", (most.value, Const(LIMIT, "float64")), "bool"))
    return test if sum(1 for _ in walk_expr(test)) <= _LARGEST_TEST else None


def usual(test: Expr) -> bool:
    """Whether a test of `enough_bits` holds for axes of a million and numbers of a thousand."""
    match test:
        case Apply("and_then", (x, y)):
            return usual(x) and usual(y)
        case Apply("less", (x, Const(limit))):
            return _usually(x) < limit.real
        case _:
            return True


def _usually(e: Expr) -> float:
    match e:
        case Const(value):
            return float(value.real)
        case Apply("add", (x, y)):
            return _usually(x) + _usually(y)
        case Apply("multiply", (x, y)):
            return _usually(x) * _usually(y)
        case Apply("maximum", (x, y)):
            return max(_usually(x), _usually(y))
        case Apply(_, (x,)):
            return _usually(x)
        case Var(name):
            return 1e6 if b.is_size_name(name) else 1e3
        case _:
            raise AssertionError(f"not a part of a test: {e}")


class _Magnitudes:
    def __init__(self, loop: n.Loop, known: Intervals, seen: Mapping[str, Expr]) -> None:
        self.loop, self.known, self.seen = loop, known, seen
        self.axes: dict[str, n.Loop] = {}
        self.sets: dict[str, list[tuple[Expr, tuple[n.Stmt, ...]]]] = {}  # values, with the loops that they stand in
        self.lets: dict[str, Expr] = {}
        self.otherwise: set[str] = set()  # set by what counts or accumulates
        self.collect((loop,), ())
        self.changed = scalars_set(loop)
        self.found: dict[Expr, Most | None] = {}

    def collect(self, block: Sequence[n.Stmt], around: tuple[n.Stmt, ...]) -> None:
        for s in block:
            if isinstance(s, n.Let) and s.value.dtype == "index":
                self.lets[s.name] = s.value
            if isinstance(s, (n.Let, n.Assign)):
                self.sets.setdefault(s.name, []).append((s.value, around))
            elif isinstance(s, n.Loop):
                self.axes[s.axis] = s
            else:
                self.otherwise |= scalars_set(s) - {x for body in bodies(s) for i in body for x in scalars_set(i)}
            inner = (*around, s) if isinstance(s, (n.Loop, n.While, n.Compact, n.Scanning)) else around
            for body in bodies(s):
                self.collect(body, inner)

    def of(self, e: Expr) -> Most | None:
        """The magnitude of an integer, as far as 64 bits hold all others."""
        if e not in self.found:
            self.found[e] = None  # what depends on itself has no bound
            self.found[e] = self.bounded(e)
        return self.found[e]

    def bounded(self, e: Expr) -> Most | None:
        interval = self.known.of(e, {})
        always = float(max(-interval[0], interval[1])) if interval is not None else float("inf")
        if always < 2.0**24:  # no test tells more that matters
            return _constant(always)
        found = self.computed(e)
        if always < 2.0**62:
            return _constant(always) if found is None else Most(min(always, found.ever), found.value)
        return found

    def computed(self, e: Expr) -> Most | None:
        """The magnitude of an integer from those that it is computed from."""
        match e:
            case Const(value):
                return _constant(abs(float(value.real)))
            case Var(name, "index"):
                return self.variable(e, name)
            case Load(buffer) if buffer in self.seen:
                return Most(2.0**64, self.seen[buffer])
            case Apply("cast", (x,), "index" | "int64") if x.dtype.startswith(("index", "int", "uint")):
                return self.of(x)
            case Apply(op, _, "index" | "int64") if op in _RULES and all(x.dtype in _WIDE for x in _numbers(e)):
                found = [self.of(x) for x in _numbers(e)]
                known = [x for x in found if x is not None]
                return _RULES[op](*known) if len(known) == len(found) else None
            case Apply("left_shift", (x, Const(by)), "index") if 0 <= by.real < 64:
                most = self.of(x)
                return most and _product(most, _constant(2.0**by.real))
            case _:
                return None

    def variable(self, e: Expr, name: str) -> Most | None:
        if name in self.axes:
            start, stop = self.of(self.axes[name].start), self.of(self.axes[name].stop)
            return None if start is None or stop is None else _larger(start, stop)
        if name not in self.changed:
            interval = self.known.of(e, {})
            always = max(-interval[0], interval[1]) if interval is not None else 2**63
            return Most(float(always), Apply("absolute", (b.cast(e, "float64"),), "float64"))
        return self.running(name)

    def running(self, name: str) -> Most | None:
        """The magnitude of a variable that the loop sets: what it begins with, and what each step adds."""
        if name not in self.sets or name in self.otherwise:
            return None
        most: Most = _constant(0.0)
        if exposed(self.loop.body, name):
            most = Most(2.0**63, Apply("absolute", (b.cast(Var(name), "float64"),), "float64"))
        added: list[Most] = []
        for value, around in self.sets[name]:
            step = self.step(self.in_full(value, name), name)
            if step is None:
                return None
            if step[0] is not None:
                most = _larger(most, step[0])
            if step[1] is not None:
                times = self.times(around)
                if times is None:
                    return None
                added.append(_product(times, step[1]))
        for more in added:
            most = _sum(most, more)
        return most

    def in_full(self, value: Expr, name: str) -> Expr:
        """A new value of `name`, without names that the loop has given to what it makes of an old one."""
        full = value
        for _ in range(_DEPTH):
            if name in variables_read(full):
                return full
            lets = {v: self.lets[v] for v in variables_read(full) if v in self.lets}
            if not lets:
                break
            full = b.substitute(full, lets)
        return value

    def step(self, value: Expr, name: str) -> tuple[Most | None, Most | None] | None:
        """What a new value of `name` is at most by itself, and what the old one grows by; None where neither holds."""
        if name not in variables_read(value):
            found = self.of(value)
            return None if found is None else (found, None)
        match value:
            case Var():
                return None, _constant(0.0)
            case Apply("remainder", (_, by), "index") if name not in variables_read(by):
                rest = self.of(by)
                return None if rest is None else (rest, None)
            case Apply("bitwise_and", (_, Const(bits)) | (Const(bits), _), "index") if bits.real >= 0:
                return _constant(float(bits.real)), None
            case Apply("add", (x, y), "index") if (name in variables_read(x)) != (name in variables_read(y)):
                old, new = (x, y) if name in variables_read(x) else (y, x)
            case Apply("subtract", (old, new), "index") if name not in variables_read(new):
                pass
            case Apply("where", (_, x, y), "index") | Apply("maximum" | "minimum", (x, y), "index"):
                one, two = self.step(x, name), self.step(y, name)
                if one is None or two is None:
                    return None
                return _larger_of(one[0], two[0]), _larger_of(one[1], two[1])
            case _:
                return None
        most, before = self.of(new), self.step(old, name)
        if most is None or before is None:
            return None
        itself, grows = before
        return itself and _sum(itself, most), most if grows is None else _sum(grows, most)

    def times(self, around: Iterable[n.Stmt]) -> Most | None:
        """How often a statement in these loops runs."""
        most = _constant(1.0)
        for s in around:
            if not isinstance(s, n.Loop):
                most = _product(most, _constant(float(STEPS)))
                continue
            start, stop = self.of(s.start), self.of(s.stop)
            if start is None or stop is None:
                return None
            lowest = self.known.of(s.start, {})
            upwards = lowest is not None and lowest[0] >= 0 and (b.constant(s.step) or 0) > 0
            most = _product(most, stop if upwards else _sum(start, stop))
        return most


_WIDE = ("index", "int64")
"""The types of integers whose sums are no larger than the terms say also where they wrap: others are cast before."""


def _numbers(e: Apply) -> tuple[Expr, ...]:
    """The operands of an operation whose sizes count."""
    return e.args[1:] if e.op == "where" else e.args


def _constant(value: float) -> Most:
    return Most(value, Const(value, "float64"))


def _sum(x: Most, y: Most) -> Most:
    return _made("add", x.ever + y.ever, x, y, zero=(y, x))


def _product(x: Most, y: Most) -> Most:
    if 1.0 in (x.ever, y.ever) and (x if x.ever == 1.0 else y).value == Const(1.0, "float64"):
        return y if x.ever == 1.0 else x
    return _made("multiply", x.ever * y.ever, x, y)


def _larger(x: Most, y: Most) -> Most:
    return x if x == y else _made("maximum", max(x.ever, y.ever), x, y, zero=(y, x))


def _larger_of(x: Most | None, y: Most | None) -> Most | None:
    return _larger(x, y) if x is not None and y is not None else x or y


def _made(op: str, ever: float, x: Most, y: Most, zero: tuple[Most, Most] | None = None) -> Most:
    if isinstance(x.value, Const) and isinstance(y.value, Const):
        return _constant(ever)
    for one, other in zip((x, y), zero or (), strict=False):
        if one.value == Const(0.0, "float64"):
            return other
    return Most(ever, Apply(op, (x.value, y.value), "float64"))


_RULES: dict[str, Callable[..., Most]] = {
    "add": _sum, "subtract": _sum, "multiply": _product, "square": lambda x: _product(x, x),
    "maximum": _larger, "minimum": _larger, "where": _larger, "gcd": _larger,
    "negative": lambda x: x, "positive": lambda x: x, "absolute": lambda x: x,
    "right_shift": lambda x, _: _sum(x, _constant(1.0)), "floor_divide": lambda x, _: _sum(x, _constant(1.0)),
    "remainder": lambda _, y: y, "invert": lambda x: _sum(x, _constant(1.0)),
    "bitwise_and": lambda x, y: _bits(x, y), "bitwise_or": lambda x, y: _bits(x, y),
    "bitwise_xor": lambda x, y: _bits(x, y),
}  # fmt: skip
"""The magnitudes of operations, of the magnitudes of their operands."""


def _bits(x: Most, y: Most) -> Most:
    return _sum(_product(_constant(2.0), _larger(x, y)), _constant(2.0))
