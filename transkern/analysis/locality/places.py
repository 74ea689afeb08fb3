"""Subscripts and conditions on them, for sizes that are large:   minimum(maximum(i - 1, 0), n - 1)   to   i - 1

Away from both ends of an axis most of what programs say about their ends is decided: `maximum(i - 1, 0)` is `i - 1`,
``i < 2`` is false. `Places` computes that, and notes for each axis in how many places at its ends it is otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from transkern.ir.expr import Apply, Const, Expr, Var

_LOOKED_AT = 64  # places at an end whose subscripts are looked at one by one


@dataclass(frozen=True)
class Linear:
    """``sum(coefficient * name) + offset``: of axes, counters and sizes."""

    terms: tuple[tuple[str, int], ...] = ()
    offset: int = 0

    @property
    def names(self) -> dict[str, int]:
        return dict(self.terms)

    def plus(self, other: Linear, by: int = 1) -> Linear:
        found = dict(self.terms)
        for name, count in other.terms:
            found[name] = found.get(name, 0) + by * count
        return Linear(tuple(sorted((k, v) for k, v in found.items() if v)), self.offset + by * other.offset)

    def times(self, by: int) -> Linear:
        return Linear(tuple((k, v * by) for k, v in self.terms) if by else (), self.offset * by)


@dataclass
class Along:
    """An axis that runs over all of a size: over ``size + more`` places. `low` and `high`: places at its ends where
    something is otherwise than in the middle."""

    size: str
    more: int
    low: int = 0
    high: int = 0


@dataclass
class Places:
    """`sizes`: names of sizes that are large; `axes`: those that run along one of them, `counters` from 0 to a known
    number of places; `known`: what other names stand for."""

    canonical: Callable[[str], str]
    sizes: set[str]
    known: Mapping[str, int | Linear]
    axes: dict[str, Along] = field(default_factory=dict)
    counters: dict[str, int] = field(default_factory=dict)
    least: dict[str, int] = field(default_factory=dict)  # how large sizes have to be for what was decided

    def linear(self, e: Expr) -> Linear | None:
        """An index as a linear expression, where it is one in the middle of all axes."""
        match e:
            case Const(value=bool()):
                return None
            case Const(value=int() as value):
                return Linear(offset=value)
            case Var(name):
                return self._named(name)
            case Apply("cast", (inner,), "index" | "int64"):
                return self.linear(inner) if inner.dtype in ("index", "int64") else None
            case Apply("negative", (inner,)):
                found = self.linear(inner)
                return found and found.times(-1)
            case Apply("add" | "subtract" as op, (one, two)):
                left, right = self.linear(one), self.linear(two)
                if left is None or right is None:
                    return None
                return left.plus(right, 1 if op == "add" else -1)
            case Apply("multiply", (one, two)):
                left, right = self.linear(one), self.linear(two)
                if left is None or right is None or (left.terms and right.terms):
                    return None
                return left.times(right.offset) if not right.terms else right.times(left.offset)
            case Apply("floor_divide", (one, two)):
                left, right = self.linear(one), self.linear(two)
                if left is None or right is None or left.terms or right.terms or not right.offset:
                    return None
                return Linear(offset=left.offset // right.offset)
            case Apply("remainder", (one, two)):
                left, right = self.linear(one), self.linear(two)
                if left is None or right is None or self.sign(right, -1) != 1:
                    return None
                for turned in (left, left.plus(right)):
                    if self.sign(turned, 1) == 1 and self.sign(right.plus(turned, -1), -1) == 1:
                        return turned
                return None
            case Apply("maximum" | "minimum" as op, (one, two)):
                left, right = self.linear(one), self.linear(two)
                if left is None or right is None:
                    return None
                sign = self.sign(left.plus(right, -1), 0)
                if sign is None:
                    return None
                return left if (sign >= 0) == (op == "maximum") else right
            case Apply("where", (condition, one, two)):
                truth = self.truth(condition)
                return None if truth is None else self.linear(one if truth else two)
            case _:
                return None

    def subscript(self, e: Expr) -> Linear | None:
        """`linear` for a subscript that at the ends of axes, where it is otherwise, stays at those ends: what a chunk
        at the end of an array has not would else be looked up there."""
        before = {name: (a.low, a.high) for name, a in self.axes.items()}
        for a in self.axes.values():
            a.low = a.high = 0
        form = self.linear(e)
        ends = {name: (a.low, a.high) for name, a in self.axes.items()}
        stays = form is None or all(self._stays(e, name, *reach) for name, reach in ends.items())
        for name, a in self.axes.items():
            a.low, a.high = (max(x, y) for x, y in zip(before[name], ends[name], strict=True))
        return form if stays else None

    def _stays(self, e: Expr, name: str, low: int, high: int) -> bool:
        along = self.axes[name]
        if max(low, high) > _LOOKED_AT:
            return False
        there = {Linear(offset=k): False for k in range(low)}
        there |= {Linear(((along.size, 1),), along.more - 1 - k): True for k in range(high)}
        for place, has_size in there.items():
            others = {other: a for other, a in self.axes.items() if other != name}
            form = replace(self, axes=others, known={**self.known, name: place}).linear(e)
            if form is None or (along.size in form.names) != has_size or any(x in others for x in form.names):
                return False
        return True

    def _named(self, name: str) -> Linear | None:
        if name in self.axes or name in self.counters:
            return Linear(((name, 1),))
        if name in self.sizes:
            return Linear(((self.canonical(name), 1),))
        found = self.known.get(name)
        return Linear(offset=found) if isinstance(found, int) else found

    def sign(self, e: Linear, zero: int) -> int | None:
        """The sign of an expression in the middle of all axes, None where that cannot be said. `zero`: the side, 1 or
        -1, that 0 belongs to where that is asked; places at the ends count that are on the other side."""
        lowest = highest = e.offset
        sizes: dict[str, int] = {}
        axis: tuple[str, int] | None = None
        for name, count in e.terms:
            if name in self.counters:
                reach = count * (self.counters[name] - 1)
                lowest, highest = lowest + min(reach, 0), highest + max(reach, 0)
            elif name in self.axes:
                if axis is not None:
                    return None
                axis = (name, count)
            else:
                sizes[name] = count
        if axis is not None:
            return self._sign_along(axis, sizes, lowest, highest, zero)
        if sizes:
            if len({count > 0 for count in sizes.values()}) > 1:
                return None
            for name in sizes:
                self.least[name] = max(self.least.get(name, 0), max(abs(lowest), abs(highest)) + 1)
            return 1 if next(iter(sizes.values())) > 0 else -1
        if lowest > 0 or (lowest == 0 and zero >= 0):
            return 1
        return -1 if highest < 0 or (highest == 0 and zero <= 0) else None

    def _sign_along(
        self, axis: tuple[str, int], sizes: Mapping[str, int], lowest: int, highest: int, zero: int
    ) -> int | None:
        name, count = axis
        along = self.axes[name]
        if abs(count) != 1:
            return None
        if count < 0:
            flipped = self._sign_along((name, 1), {k: -v for k, v in sizes.items()}, -highest, -lowest, -zero)
            return None if flipped is None else -flipped
        if not sizes:  # the place itself, and a few: positive but for the first
            along.low = max(along.low, -lowest + (zero < 0))
            return 1
        if sizes == {along.size: -1}:  # how far from the end: negative but for the last
            along.high = max(along.high, along.more + highest - (zero <= 0))
            return -1
        if set(sizes) == {along.size}:  # several lengths away: never where the other sign is
            more = max(abs(lowest), abs(highest)) + abs(along.more) + 1
            self.least[along.size] = max(self.least.get(along.size, 0), more)
            return 1 if sizes[along.size] > 0 else -1
        return None

    def truth(self, e: Expr) -> bool | None:
        """A condition on places in the middle of all axes, None where that cannot be said."""
        match e:
            case Const(value=bool() as value):
                return value
            case Apply("less" | "less_equal" | "greater" | "greater_equal" as op, (one, two)):
                left, right = self._difference(one, two)
                if left is None or right is None:
                    return None
                below, strict = op.startswith("less"), not op.endswith("equal")
                found = self.sign(left.plus(right, -1), 1 if below == strict else -1)
                return None if found is None else (found < 0) == below
            case Apply("equal" | "not_equal" as op, (one, two)):
                left, right = self._difference(one, two)
                if left is None or right is None:
                    return None
                apart = left.plus(right, -1)
                if not apart.terms:
                    return (apart.offset == 0) == (op == "equal")
                if self.sign(apart, 1) is None or self.sign(apart, -1) is None:
                    return None
                return op == "not_equal"
            case Apply("logical_not", (inner,)):
                found_ = self.truth(inner)
                return None if found_ is None else not found_
            case Apply("logical_and" | "and_then" | "logical_or" | "or_else" as op, (one, two)):
                both = self.truth(one), self.truth(two)
                decides = op in ("logical_or", "or_else")
                if decides in both:
                    return decides
                return None if None in both else not decides
            case Apply("cast", (inner,), "bool"):
                return self.truth(inner)
            case _:
                return None

    def _difference(self, one: Expr, two: Expr) -> tuple[Linear | None, Linear | None]:
        kinds = {one.dtype, two.dtype}
        if not kinds <= {"index", "int64"}:
            return None, None
        return self.linear(one), self.linear(two)
