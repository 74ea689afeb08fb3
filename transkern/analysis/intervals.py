"""Within which bounds a program's integers are, as far as intervals tell."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.ops import OPPOSITE
from transkern.ir.traverse import walk, walk_expr

STEPS = 2**50
"""How often a statement may run: Python, whose answer is wanted, takes a year for that."""

MEMORY = 2**47
"""How many elements an array may have, and how long an axis may be."""

NARROW = 2**31
"""How long the axes of arguments may be where that spares checks inside; it is checked at the call."""

GIVEN = 2**60
"""What an argument has to be at most: so that ``4 * k + 1`` needs no check of its own, in a loop maybe."""

Interval: TypeAlias = tuple[int, int]
Facts: TypeAlias = Mapping[Expr, Interval]
LOWEST, HIGHEST = -(2**63), 2**63 - 1
ANY: Interval = (LOWEST, HIGHEST)
POSITION, SIZE = (-1, MEMORY), (0, MEMORY)
_ROUNDS = 6
_MORE_ROUNDS = 64  # where growth gets less and less: the two ends of a bisection
_NUMBERS = 2**15
MAY_OVERFLOW = ("add", "subtract", "multiply", "square", "left_shift")
_OF_THE_LOWEST = ("negative", "absolute", "floor_divide")
"""What leaves 64 bits for one number alone, -2^63."""
_COMPARED = {"less": (LOWEST, -1), "less_equal": (LOWEST, 0), "greater": (1, HIGHEST), "greater_equal": (0, HIGHEST)}


def numbers_of(s: n.Stmt, needed: set[str]) -> Iterator[Expr]:
    """What a statement computes that is more than a place in an array."""
    match s:
        case n.Let(name, value) | n.Assign(name, value):
            if value.dtype != "index" or name in needed:
                yield value
        case n.Store(value=value):
            yield value
        case n.While(condition=condition) | n.If(condition=condition):
            yield condition
        case n.Guard(condition, error):
            if error != "IndexError":
                yield condition
        case n.Loop(kind="sequential"):
            yield s.start
            yield s.stop
        case n.Return():
            yield from _returned(s.result)
        case _:
            pass


def _returned(result: n.Result) -> Iterator[Expr]:
    match result:
        case n.ScalarResult(value):
            yield value
        case n.TupleResult(items=items):
            for item in items:
                yield from _returned(item)
        case _:
            pass


def _rounds_down(e: Apply) -> bool:
    """Whether `e` is ``x - x % k`` of an `x` that is not negative: nearer to zero than `x`, whatever `x` is."""
    match e:
        case Apply("subtract", (Apply("maximum", args) as x, Apply("remainder", (y, Const(value=int(by)))))) if x == y:
            return by > 0 and any(isinstance(a, Const) and a.value == 0 for a in args)
    return False


def data_of(e: Expr) -> Iterator[Expr]:
    """The parts of an expression that are not subscripts."""
    yield e
    if isinstance(e, Apply):
        for x in e.args:
            yield from data_of(x)


@dataclass
class Intervals:
    """Within which bounds the integers of a program are, where no axis of an argument is longer than `longest`."""

    program: n.Program
    longest: int = MEMORY
    axes: dict[str, n.Loop] = field(default_factory=dict)
    values: dict[str, list[Expr | Interval]] = field(default_factory=dict)  # of names and of buffers of integers
    needed: set[str] = field(default_factory=set)
    bounds: dict[str, Interval] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.collect()
        self.needed = self.numbers()
        if any(self.applied((*MAY_OVERFLOW, *_OF_THE_LOWEST))):
            self.solve()

    def collect(self) -> None:
        for s in walk(self.program.body):
            match s:
                case n.Loop(axis=axis):
                    self.axes[axis] = s
                case n.Let(name, value) | n.Assign(name, value) | n.Store(name, _, value):
                    self.note(name, value)
                case n.Accumulate(name, op, value, position):
                    counts = position is not None or op in ("count", "first", "last", "any", "all")
                    self.note(name, POSITION if counts else ANY if op in ("sum", "prod") else value)
                case n.Compact(outputs=outputs, count=count, axis=axis, inner=inner, values=values):
                    for name in (count, axis, *(a.name for a in inner)):
                        self.note(name, SIZE)
                    for name, value in zip(outputs, values, strict=True):
                        self.note(name, value)
                case n.Scanning(buffer=name, axis=axis):
                    self.note(axis, SIZE)
                    self.note(name, ANY)
                case n.Library(outs=outs):
                    for name in outs:
                        self.note(name, ANY)
                case _:
                    pass

    def note(self, name: str, value: Expr | Interval) -> None:
        if isinstance(value, tuple) or value.dtype == "index":
            self.values.setdefault(name, []).append(value)

    def numbers(self) -> set[str]:
        """The names whose values are more than places in arrays, as far as these make others."""
        needed: set[str] = set()
        while True:
            read = {
                e.name for s in walk(self.program.body) for x in numbers_of(s, needed) for e in data_of(x)
                if isinstance(e, Var) and e.dtype == "index"
            }  # fmt: skip
            if read <= needed:
                return needed
            needed |= read

    def roots(self) -> Iterator[Expr]:
        return (e for s in walk(self.program.body) for x in numbers_of(s, self.needed) for e in data_of(x))

    def applied(self, ops: Sequence[str]) -> Iterator[Apply]:
        """Where Python's integers are computed with in one of these ways."""
        return (
            e for e in self.roots() if isinstance(e, Apply) and e.dtype == "index" and e.op in ops
            and not (e.op == "floor_divide" and isinstance(e.args[1], Const) and e.args[1].value != -1)
            and not _rounds_down(e)
        )  # fmt: skip

    def computed_with(self) -> list[str]:
        """The arguments that go into sums and products, also by way of other names."""
        return self.given_to(MAY_OVERFLOW)

    def negated(self) -> list[str]:
        """The arguments that go into what has no result of 64 bits for the lowest number."""
        return self.given_to(_OF_THE_LOWEST)

    def given_to(self, ops: Sequence[str]) -> list[str]:
        """The arguments that go into operations, also by way of other names."""
        used: set[str] = set()
        new: list[Expr] = [x for e in self.applied(ops) for x in data_of(e)]
        while new:
            x = new.pop()
            name = x.name if isinstance(x, Var) else x.buffer if isinstance(x, Load) else ""
            if not name or name in used or x.dtype != "index":
                continue
            used.add(name)
            values = [self.axes[name].start] if name in self.axes else self.values.get(name, [])
            new += [y for v in values if not isinstance(v, tuple) for y in data_of(v)]
        return [p.name for p in self.program.params if isinstance(p, n.ScalarParam) and p.name in used]

    # --- intervals

    def solve(self) -> None:
        """The intervals of all names: round after round until nothing grows, or it is seen how fast it does."""
        for name, given in self.program.buffers.items():
            if given.dtype == "index" and given.role == "argument":
                self.bounds[name] = ANY
        steps = self.rounds(self.values)
        growing = {name: step for name, step in steps[-1].items() if step != (0, 0)}
        for name, (below, above) in growing.items():
            before = steps[-2].get(name, (0, 0))
            low, high = self.bounds[name]
            low = low - below * STEPS if below <= before[0] else LOWEST
            high = high + above * STEPS if above <= before[1] else HIGHEST
            self.bounds[name] = max(low, LOWEST), min(high, HIGHEST)
        others = {name: values for name, values in self.values.items() if name not in growing}
        for name, step in self.rounds(others)[-1].items():
            if step != (0, 0):
                self.bounds[name] = ANY
        while wrong := [name for name in self.values if not self.holds(name, growing.get(name, (0, 0)))]:
            self.bounds |= dict.fromkeys(wrong, ANY)

    def holds(self, name: str, step: Interval) -> bool:
        """Whether no value of `name` is further outside its interval than a step; one step each was taken for sure."""
        low, high = self.bounds.get(name, ANY)
        found = [v if isinstance(v, tuple) else self.of(v, {}) for v in self.values[name]]
        return all(low - step[0] <= i[0] and i[1] <= high + step[1] for i in found if i is not None)

    def rounds(self, values: Mapping[str, Iterable[Expr | Interval]]) -> list[dict[str, Interval]]:
        steps: list[dict[str, Interval]] = []
        while len(steps) < _ROUNDS or (len(steps) < _MORE_ROUNDS and _slowing(steps[-3], steps[-1])):
            steps.append(self.round(values))
        return steps

    def round(self, values: Mapping[str, Iterable[Expr | Interval]]) -> dict[str, Interval]:
        """Takes each value into account as its names are now; by how much each name's interval grew."""
        grown: dict[str, Interval] = {}
        for name, those in values.items():
            found = [v if isinstance(v, tuple) else self.of(v, {}) for v in those]
            known = [i for i in found if i is not None]
            if not known:
                continue
            before = self.bounds.get(name)
            known += [before] if before is not None else []
            self.bounds[name] = low, high = min(i[0] for i in known), max(i[1] for i in known)
            grown[name] = (0, 0) if before is None else (before[0] - low, high - before[1])
            if before is None:
                grown[name] = (1, 1)
        return grown

    def of(self, e: Expr, facts: Facts) -> Interval | None:
        """The interval of an expression of integers; None where nothing has given it a value yet."""
        if e in facts:
            found, (low, high) = self.of(e, {}), facts[e]
            return found and (max(found[0], low), min(found[1], high))
        if isinstance(e, Apply) and e.dtype == "index":
            found = self.raw(e, facts)
            return found and (max(found[0], LOWEST), min(found[1], HIGHEST))
        match e:
            case Const(value):
                return int(value.real), int(value.real)
            case Var(name, "index"):
                return self.variable(name)
            case Load(buffer, _, "index"):
                return self.element(buffer)
            case Apply("cast", (x,), "int64") if x.dtype == "index":
                return self.of(x, facts)
            case Apply("where" | "maximum" | "minimum", _, "int64"):
                return self.raw(e, facts)
            case Load(buffer, _, "int64"):
                info = self.program.buffers[buffer]
                places = info.low is not None and info.high is not None
                return self.positions(info.low, info.high) if places else ANY  # type: ignore[arg-type]
            case _:
                return _of_dtype(e.dtype)

    def variable(self, name: str) -> Interval | None:
        if name in self.axes:
            loop = self.axes[name]
            start, stop, step = (self.of(x, {}) or ANY for x in (loop.start, loop.stop, loop.step))
            if step[0] < 0:
                return stop[0], max(start[1], stop[0])
            return start[0], max(start[0], min(stop[1], start[1] + STEPS * step[1]))
        if name in self.values:
            return self.bounds.get(name)
        if name in self.program.bounds:
            most = self.of(self.program.bounds[name], {})
            return 0, min(MEMORY, max(most[1], 0)) if most is not None else MEMORY
        if b.is_size_name(name):
            return 0, self.longest
        given = any(isinstance(p, n.ScalarParam) and p.name == name for p in self.program.params)
        return (-GIVEN, GIVEN) if given else ANY

    def element(self, buffer: str) -> Interval | None:
        info = self.program.buffers[buffer]
        if info.low is not None and info.high is not None:
            return self.positions(info.low, info.high)
        return self.bounds.get(buffer) if buffer in self.values and info.role != "argument" else ANY

    def positions(self, low: Expr, high: Expr) -> Interval:
        """The interval of elements that are places in an array."""
        lowest, highest = self.of(low, {}) or ANY, self.of(high, {}) or ANY
        return max(lowest[0], -MEMORY), min(highest[1], MEMORY)

    def is_size(self, e: Expr) -> bool:
        """Whether an expression is the product of the lengths of several axes of one array, and of a small number."""
        factors = [x for x in walk_expr(e) if not isinstance(x, Apply)]
        multiplied = all(x.op == "multiply" for x in walk_expr(e) if isinstance(x, Apply))
        sizes = Counter(x for x in factors if isinstance(x, Var) and b.is_size_name(x.name))
        numbers = [int(x.value.real) for x in factors if isinstance(x, Const)]
        if not multiplied or sizes.total() + len(numbers) != len(factors) or not 0 <= math.prod(numbers) <= _NUMBERS:
            return False
        return any(sizes <= Counter(p.dims) for p in self.program.params if isinstance(p, n.ArrayParam))

    def raw(self, e: Apply, facts: Facts) -> Interval | None:
        """The interval of an operation before it is cut to 64 bits."""
        if e.op == "cast":
            return self.of(e.args[0], facts) if e.args[0].dtype in ("index", "int64") else _of_dtype(e.args[0].dtype)
        if e.op == "where":
            said = [{**facts, **_said(e.args[0], holds)} for holds in (True, False)]
            yes, no = (self.of(x, more) for x, more in zip(e.args[1:], said, strict=True))
            return _join(yes, no)
        if e.op == "multiply" and self.is_size(e):
            return 0, MEMORY * _NUMBERS
        found = [self.of(x, facts) for x in e.args]
        if any(i is None for i in found):
            return None
        known = [i for i in found if i is not None]
        return _RULES[e.op](*known) if e.op in _RULES else ANY

    # --- what must be checked

    def overflowing(
        self, e: Expr, path: tuple[Expr, ...] = (), facts: Facts = MappingProxyType({})
    ) -> Iterator[tuple[Apply, tuple[Expr, ...]]]:
        """The operations in an expression whose results may need more than 64 bits, operands first, each with the
        conditions under which it is computed."""
        if not isinstance(e, Apply):
            return
        if e.op in ("where", "and_then", "or_else"):
            asked, *rest = e.args
            yield from self.overflowing(asked, path, facts)
            for x, holds in zip(rest, (e.op != "or_else", False), strict=False):
                said = asked if holds else b.logical_not(asked)
                yield from self.overflowing(x, (*path, said), {**facts, **_said(asked, holds)})
            return
        for x in e.args:
            yield from self.overflowing(x, path, facts)
        if e.dtype != "index" or e.op not in (*MAY_OVERFLOW, *_OF_THE_LOWEST):
            return
        found = self.raw(e, facts)
        if found is not None and (found[0] < LOWEST or found[1] > HIGHEST):
            divisor = self.of(e.args[1], facts) if e.op == "floor_divide" else None
            if divisor is None or divisor[0] <= -1 <= divisor[1]:
                yield e, path


def _slowing(before: Mapping[str, Interval], after: Mapping[str, Interval]) -> bool:
    """Whether a name grew less in a round than in one before, but did."""
    pairs = [(x, y) for name in after.keys() & before.keys() for x, y in zip(before[name], after[name], strict=True)]
    return any(0 < y < x for x, y in pairs)


def _said(condition: Expr, holds: bool) -> dict[Expr, Interval]:
    """What a comparison with 0 says of a number."""
    match condition:
        case Apply("logical_not", (x,)):
            return _said(x, not holds)
        case Apply(op, (x, Const(0)), _) if op in _COMPARED and x.dtype == "index":
            return {x: _COMPARED[op if holds else OPPOSITE[op]]}
        case _:
            return {}


def _of_dtype(dtype: str) -> Interval:
    if dtype == "bool":
        return 0, 1
    if dtype.startswith(("int", "uint")) and dtype != "uint64":
        info = np.iinfo(dtype)
        return int(info.min), int(info.max)
    return ANY


def _join(one: Interval | None, two: Interval | None) -> Interval | None:
    if one is None or two is None:
        return one or two
    return min(one[0], two[0]), max(one[1], two[1])


def _corners(op: Callable[[int, int], int]) -> Callable[..., Interval]:
    def of(x: Interval, y: Interval) -> Interval:
        found = [op(i, j) for i in x for j in y]
        return min(found), max(found)

    return of


def _quotient(x: Interval, y: Interval) -> Interval:
    if y[0] < 1:
        size = max(-x[0], x[1])
        return -size, size
    return _corners(lambda i, j: i // j)(x, y)


def _rest(x: Interval, y: Interval) -> Interval:
    return min(y[0] + 1, 0), max(y[1] - 1, 0)


def _shifted(x: Interval, y: Interval) -> Interval:
    return _corners(lambda i, j: i << j)(x, (max(min(y[0], 64), 0), max(min(y[1], 64), 0)))


def _and(x: Interval, y: Interval) -> Interval:
    positive = [i[1] for i in (x, y) if i[0] >= 0]
    return (0, min(positive)) if positive else _bits(x, y)


def _bits(x: Interval, y: Interval) -> Interval:
    bits = max((v if v >= 0 else ~v).bit_length() for v in (*x, *y))
    return (0 if x[0] >= 0 and y[0] >= 0 else -(2**bits)), 2**bits - 1


_RULES: dict[str, Callable[..., Interval]] = {
    "add": lambda x, y: (x[0] + y[0], x[1] + y[1]),
    "subtract": lambda x, y: (x[0] - y[1], x[1] - y[0]),
    "multiply": _corners(lambda i, j: i * j),
    "square": lambda x: _corners(lambda i, j: i * j)(x, x),
    "left_shift": _shifted,
    "right_shift": lambda x, y: (min(x[0], 0), max(x[1], 0)),
    "floor_divide": _quotient,
    "remainder": _rest,
    "negative": lambda x: (-x[1], -x[0]),
    "positive": lambda x: x,
    "absolute": lambda x: (0, max(-x[0], x[1])),
    "sign": lambda x: (-1, 1),
    "invert": lambda x: (~x[1], ~x[0]),
    "maximum": lambda x, y: (max(x[0], y[0]), max(x[1], y[1])),
    "minimum": lambda x, y: (min(x[0], y[0]), min(x[1], y[1])),
    "gcd": lambda x, y: (0, max(*(abs(v) for v in (*x, *y)))),
    "bitwise_and": _and,
    "bitwise_or": _bits,
    "bitwise_xor": _bits,
    "bitwise_count": lambda x: (0, 64),
}
"""The intervals of operations, of the intervals of their operands."""
