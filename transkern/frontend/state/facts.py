"""What is known of numbers: ranges, sizes made of the arguments, what conditions on the way say, what is assumed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from transkern.frontend.state.aliasing import Aliasing
from transkern.frontend.state.names import Names
from transkern.frontend.values.values import Array
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Axis, Const, Expr, Load, Reduce, Var
from transkern.ir.facts import Fact, conjuncts, facts_of, implied
from transkern.ir.traverse import buffers_read, is_longer, variables_read, walk_expr

_PARTS = 64  # of a condition that is kept

_NOTHING: Fact = (frozenset(), 0)  # which says that 0 is at least 0

_SHORT = ("int8", "int16", "uint8", "uint16")  # whose least and largest value is worth knowing


class Counted(NamedTuple):
    """The count that a filter has set: the block with the statement, and the loops around it."""

    size: Expr
    block: list[n.Stmt]
    made: n.Stmt
    loops: tuple[int, ...]


class Saved(NamedTuple):
    """What there was at a place that a translation may go back to: the next translation gives its names anew."""

    ranges: dict[str, tuple[Expr, Expr]]
    named: dict[str, Expr]
    bounds: dict[str, float]
    makers: dict[str, Expr]
    counted: dict[tuple[Expr, Expr], Counted]
    conditions: list[Fact]


class Facts:
    """What is known of the numbers of a program, where its statements stand now."""

    def __init__(self, names: Names, aliasing: Aliasing) -> None:
        self._names, self._aliasing = names, aliasing
        self.ranges: dict[str, tuple[Expr, Expr]] = {}  # scalar name -> [low, high)
        self.entry: set[str] = set()  # sizes and scalars that are known when a call begins
        self.extents: dict[Expr, Var] = {}  # sizes made of the arguments: value -> name
        self.extent_values: dict[str, Expr] = {}  # the same by name
        self.named: dict[str, Expr] = {}  # integers under a name: what they were made of
        self.bounds: dict[str, float] = {}  # names that loops bind anew, which begin as an infinity
        self.makers: dict[str, Expr] = {}  # arrays that an expression was put into: it
        self.counted: dict[tuple[Expr, Expr], Counted] = {}  # by a filter's extent and mask, over the axis `at`
        self.conditions: list[Fact] = []  # what conditions on the way here say about sizes
        self.assumptions: list[Expr] = []

    def save(self) -> Saved:
        return Saved(
            dict(self.ranges), dict(self.named), dict(self.bounds), dict(self.makers), dict(self.counted),
            list(self.conditions),
        )  # fmt: skip

    def restore(self, saved: Saved) -> None:
        self.ranges, self.named, self.bounds = dict(saved.ranges), dict(saved.named), dict(saved.bounds)
        self.makers, self.counted = dict(saved.makers), dict(saved.counted)
        self.conditions = list(saved.conditions)

    # --- conditions

    def is_of_arguments(self, value: Expr) -> bool:
        """Whether a number is one of the arguments' sizes and scalars, for which a function may be compiled anew."""
        return variables_read(value) <= self.entry and not buffers_read(value)

    @contextmanager
    def knowing(self, condition: Expr) -> Iterator[None]:
        """Inside, `condition` holds."""
        count = len(self.conditions)
        self.conditions += facts_of(condition)
        try:
            yield
        finally:
            del self.conditions[count:]

    def hold(self, condition: Expr) -> None:
        """From here to the end of the function, `condition` holds: who comes here has passed a check of it. Known are
        its parts on sizes and scalars of the arguments, which keep their values, as far as they are short: polynomials
        of polynomials have terms without end."""
        if is_longer(condition, _PARTS):
            return
        for part in conjuncts(condition):
            if variables_read(part) <= self.entry and not buffers_read(part):
                self.conditions += facts_of(part)

    def forget(self, changes: Callable[[Fact], bool]) -> None:
        """What conditions have said of what changes now is no longer known, also where they are still around."""
        for k, fact in enumerate(self.conditions):
            if changes(fact):
                self.conditions[k] = _NOTHING  # others keep their places: blocks end at them

    def not_negative(self, expr: Expr) -> bool:
        """Whether an integer is certainly not negative here."""
        return b.is_nonnegative(expr) or implied(b.compare("greater_equal", expr, b.ZERO), self.conditions)

    def assume(self, condition: Expr) -> None:
        """Hold `condition`, over sizes and parameters, for true: a call that breaks it gets other code."""
        while not variables_read(condition).isdisjoint(self.extent_values):
            condition = b.substitute(condition, self.extent_values)
        for e in walk_expr(condition):  # it is asked before anything is checked: by nothing nothing is divided
            if isinstance(e, Apply) and e.op in ("floor_divide", "remainder") and not isinstance(e.args[1], Const):
                condition = b.either(b.compare("equal", e.args[1], b.ZERO), condition)
        if condition != b.TRUE and condition not in self.assumptions:
            self.assumptions.append(condition)

    def assume_at_least(self, size: Expr, least: int) -> bool:
        """Hold a size for `least` or more, where a call can tell: ``x[n - 3]`` is one from the end else, if n is 2."""
        if not variables_read(size) <= self.entry or buffers_read(size):
            return False
        self.assume(b.compare("greater_equal", size, b.index(least)))
        return True

    def assume_equal(self, one: Expr, two: Expr) -> bool:
        """Hold two sizes for equal, where a call can tell: ``x[:k]`` before a loop and k elements made in it.

        What has been counted is taken for its bound: if it is less, the assumption says nothing about it.
        """
        difference = b.difference(one, two)
        if difference == 0:
            return True
        if difference is not None or not variables_read(one) | variables_read(two) <= self.entry:
            return False
        self.assume(b.compare("equal", one, two))
        return True

    # --- numbers

    def unnamed(self, expr: Expr) -> Expr:
        """An integer expression with what its names stand for."""
        while names := variables_read(expr) & self.named.keys():
            expr = b.substitute(expr, {name: self.named[name] for name in names})
        return expr

    def assigned_in(self, statements: Sequence[n.Stmt], name: str) -> Expr | None:
        """What a variable has behind some statements; None where these do not say it."""
        for k in reversed(range(len(statements))):
            match statements[k]:
                case n.Assign(assigned, value) | n.Let(assigned, value) if assigned == name:
                    made = self.unnamed(value)
                    before = self.assigned_in(statements[:k], name) if name in variables_read(made) else None
                    return made if before is None else b.substitute(made, {name: before})
                case n.If(condition, then, orelse):
                    one, two = (self.assigned_in(branch, name) for branch in (then, orelse))
                    if one is two is None:
                        continue
                    before = self.assigned_in(statements[:k], name)
                    one, two = (before if branch is None else branch for branch in (one, two))
                    return None if one is None or two is None else b.where(self.unnamed(condition), one, two)
                case _:
                    pass
        return None

    @contextmanager
    def axis_ranges(self, axes: Sequence[Axis]) -> Iterator[None]:
        """Inside, each axis is known to run over its extent."""
        saved = dict(self.ranges)
        self.ranges.update({a.name: (b.ZERO, b.inhabited(a.extent)) for a in axes})
        try:
            yield
        finally:
            self.ranges = saved

    def array_range(self, value: Array) -> tuple[Expr, Expr] | None:
        """``[low, high)`` of all elements of an integer array, over what is known outside it."""
        with self.axis_ranges(value.axes):
            found = self.range_of(value.body)
        if found is None:
            return None
        extents = [b.inhabited(a.extent) for a in value.axes]

        def with_elements(e: Expr) -> Expr | None:  # an axis with elements has one at least
            match e:
                case Apply("maximum" | "minimum" as op, (x, Const(int() as k) as bound), "index"):
                    gaps = [gap for extent in extents if (gap := b.difference(x, extent)) is not None]
                    if any(gap + 1 >= k for gap in gaps):
                        return x if op == "maximum" else bound
            return None

        return b.map_expr(found[0], with_elements), b.map_expr(found[1], with_elements)

    def running_range(self, op: str, value: Array, axis: int) -> tuple[Expr, Expr] | None:
        """``[low, high)`` of all elements of a running reduction along an axis: an extreme is one of them, a sum of
        what is not negative at least the first of them, and at most all of them."""
        found = self.array_range(value)
        if op in ("max", "min") or found is None:
            return found
        low, high = b.constant(found[0]), b.constant(found[1])
        if op == "sum" and low is not None and high is not None and low >= 0:
            return found[0], b.add(b.mul(b.index(high - 1), value.axes[axis].extent), b.ONE)
        return None

    def range_of(self, expr: Expr) -> tuple[Expr, Expr] | None:
        """``[low, high)`` of an integer expression, where it is known."""
        match expr:
            case Const(value, dtype) if dtype == "index" or dtype.startswith(("int", "uint")):
                return b.index(int(value)), b.index(int(value) + 1)  # type: ignore[arg-type]
            case Var(name):
                if name in self.ranges:
                    return self.ranges[name]
                return None
            case Load(buffer):
                found = self._names.buffers[buffer]
                if buffer not in self._aliasing.stored and found.low is not None and found.high is not None:
                    self._aliasing.asked.add(buffer)
                    lowest, highest = self._aliasing.reached.get(buffer, (found.low, found.high))
                    return b.minimum(found.low, lowest), b.maximum(found.high, highest)
            case Apply("cast", (a,), dtype) if dtype in ("index", "int64", "int32") and a.dtype == "bool":
                return b.ZERO, b.index(2)
            case Apply("cast", (a,), dtype) if dtype in ("index", "int64", "int32") and a.dtype != "float64":
                return self.range_of(a) if a.dtype == "index" or a.dtype.startswith(("int", "uint")) else None
            case Apply("add" | "subtract" as op, (a, c), dtype) if dtype in ("index", "int64"):
                return self._linear_range(op, a, c)
            case Apply("where", (_, a, c), _):
                left, right = self.range_of(a), self.range_of(c)
                if left is not None or right is not None:  # (a size alone is no range: names would have too many)
                    left, right = left or _itself(a), right or _itself(c)
                if left and right and a.dtype == c.dtype:
                    return b.minimum(left[0], right[0]), b.maximum(left[1], right[1])
            case Apply("remainder", (_, c), "index"):
                size = b.constant(c)
                if size and size > 0:
                    return b.ZERO, b.index(size)
            case Apply("maximum" | "minimum", _, "index" | "int64"):
                low, high = self._ends(expr)
                if low is not None and high is not None:
                    return low, high
            case _:
                pass
        return None

    def _ends(self, expr: Expr) -> tuple[Expr | None, Expr | None]:
        """The lowest value of an integer expression, and what it is less than, each where it is known."""
        match expr:
            case Apply("maximum" | "minimum" as op, (x, y), "index" | "int64"):
                (low, high), (other_low, other_high) = self._ends(x), self._ends(y)
                if op == "maximum":  # one of the two is enough below
                    return _either(b.maximum, low, other_low), _both(b.maximum, high, other_high)
                return _both(b.minimum, low, other_low), _either(b.minimum, high, other_high)
            case Apply("cast", (x,), "index" | "int64") if x.dtype in (*_SHORT, "index"):
                return self._ends(x)
            case Apply("cast", (x,), "int32") if x.dtype in _SHORT:
                return self._ends(x)
            case _:
                known = self.range_of(expr)
                if known is None and expr.dtype in _SHORT:
                    limits = np.iinfo(expr.dtype)
                    return b.index(int(limits.min)), b.index(int(limits.max) + 1)
                return known or (None, None)

    def _linear_range(self, op: str, a: Expr, c: Expr) -> tuple[Expr, Expr] | None:
        left, right = self.range_of(a), self.range_of(c)
        if left is None or right is None:
            if left is not None and _is_invariant(c):
                return (b.add(left[0], c), b.add(left[1], c)) if op == "add" else (b.sub(left[0], c), b.sub(left[1], c))
            if right is not None and _is_invariant(a):
                if op == "add":
                    return b.add(a, right[0]), b.add(a, right[1])
                return b.add(b.sub(a, right[1]), b.ONE), b.add(b.sub(a, right[0]), b.ONE)
            return None
        if op == "add":
            return b.add(left[0], right[0]), b.sub(b.add(left[1], right[1]), b.ONE)
        return b.add(b.sub(left[0], right[1]), b.ONE), b.sub(left[1], right[0])

    def within(self, expr: Expr, extent: Expr) -> tuple[bool, bool]:
        """Whether ``expr >= 0`` and ``expr < extent`` are certain."""
        low, high = self._ends(expr)
        if high is None:
            below = self.not_negative(b.sub(b.sub(extent, expr), b.ONE))
        else:
            below = b.at_least(extent, high) or self.not_negative(b.sub(extent, high))
        return (low is not None and self.not_negative(low)) or self.not_negative(expr), below


def _itself(expr: Expr) -> tuple[Expr, Expr] | None:
    """The range of what sizes alone say, also as another type."""
    while isinstance(expr, Apply) and expr.op == "cast" and expr.dtype in ("index", "int64"):
        (expr,) = expr.args
    return (expr, b.add(expr, b.ONE)) if expr.dtype == "index" and _is_invariant(expr) else None


def _is_invariant(expr: Expr) -> bool:
    match expr:
        case Const():
            return True
        case Var(name):
            return b.is_size_name(name)
        case Apply(_, args):
            return all(_is_invariant(a) for a in args)
        case Load() | Reduce():
            return False


def _both(choose: Callable[[Expr, Expr], Expr], x: Expr | None, y: Expr | None) -> Expr | None:
    return None if x is None or y is None else choose(x, y)


def _either(choose: Callable[[Expr, Expr], Expr], x: Expr | None, y: Expr | None) -> Expr | None:
    return _both(choose, x, y) if x is not None and y is not None else x if y is None else y
