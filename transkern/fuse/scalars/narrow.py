"""Arithmetic on narrow integers is done in a type that is little wider, whatever type they were given before it:

    gx[i] = (float32(p[i]) + 2.0 * float32(p[i + 1])) - float32(p[i + 2])
    of bytes, to
    gx[i] = float32((int16(p[i]) + 2 * int16(p[i + 1])) - int16(p[i + 2]))

A vector holds two to four times as many of them, and one conversion is left of many. Sums, differences and products of
integers that a wide type holds one by one are exact in it, and in any other type that holds them: within 2^24 in
float32, within 2^53 in float64. What integers do not have is -0.0: a product of zero and a number below zero stays as
it was, unless it is added to something, compared, or becomes an integer (`Whole.sign`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Var
from transkern.ir.names import Names
from transkern.ir.storage import itemsize
from transkern.ir.traverse import exprs, map_own, with_bodies
from transkern.records import replace

_LEAVES = {
    "bool": (0, 1), "int8": (-(2**7), 2**7 - 1), "uint8": (0, 2**8 - 1), "int16": (-(2**15), 2**15 - 1),
    "uint16": (0, 2**16 - 1),
}  # fmt: skip
"""What numbers of a narrow type are at least and at most."""
_HOLDS = {
    "float32": (-(2**24), 2**24), "float64": (-(2**53), 2**53), "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1), "uint32": (0, 2**32 - 1), "uint64": (0, 2**64 - 1),
}  # fmt: skip
"""Between what bounds a wide type holds every integer."""
_WIDTHS = ("int16", "int32")
_NUMBERS = _HOLDS.keys() | _LEAVES.keys() - {"bool"}
_COMPARED = ("less", "less_equal", "greater", "greater_equal", "equal", "not_equal")
_EXTREMES = {
    "maximum": "maximum", "fmax": "maximum", "number_maximum": "maximum", "maximum_number": "maximum",
    "minimum": "minimum", "fmin": "minimum", "number_minimum": "minimum", "minimum_number": "minimum",
}  # fmt: skip


def narrow_arithmetic(program: n.Program) -> n.Program:
    """The program with such arithmetic in narrow types, in its loops."""
    if not any(isinstance(e, Apply) and e.op == "cast" and e.args[0].dtype in _LEAVES for e in exprs(program.body)):
        return program
    state = Narrowing(Names.of(program))
    return replace(program, body=state.without_unused(state.block(program.body, inside=False)))


@dataclass(frozen=True, slots=True)
class Whole:
    """An integer between `low` and `high`, computed of `leaves` narrow ones over numbers between `least` and `most`.

    `sign`: where it is zero, the float that it is may be -0.0.
    """

    low: int
    high: int
    least: int
    most: int
    leaves: int
    sign: bool = False
    operations: int = 0

    @property
    def dtype(self) -> str | None:
        """The narrowest type that holds all of it."""
        for dtype in _WIDTHS:
            half = 2 ** (8 * itemsize(dtype) - 1)
            if -half <= self.least and self.most < half:
                return dtype
        return None


class Narrowing:
    """What is known of numbers, and what they are in narrow types."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.twins: dict[str, tuple[Whole, Var]] = {}
        """Of names that stand for a wide number, what it is and the name of the narrow one."""
        self.wide: dict[str, n.Let] = {}
        """By the names of narrow ones, the statements that they make needless where nobody else reads them."""
        self.found: dict[Expr, Whole | None] = {}

    def block(self, statements: Iterable[n.Stmt], inside: bool) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in statements:
            deeper = inside or isinstance(s, n.Loop)
            made = map_own(s, self.changed) if inside else s
            out += self.named(s, made) if inside and isinstance(s, n.Let) and isinstance(made, n.Let) else (made,)
            out[-1] = with_bodies(out[-1], lambda block, deeper=deeper: self.block(block, deeper))  # type: ignore[misc]
        return tuple(out)

    def named(self, s: n.Let, made: n.Let) -> list[n.Stmt]:
        """A name for a wide number, and one in front of it for the narrow one that it is."""
        whole = self.of(s.value)
        if whole is None or whole.sign or not whole.leaves or whole.dtype is None:
            return [made]
        twin = Var(self.names.fresh(f"{s.name}_narrow"), whole.dtype)
        self.twins[s.name] = replace(whole, least=whole.low, most=whole.high, leaves=1, operations=0), twin
        self.wide[twin.name] = made
        value = self.made(s.value, whole.dtype)
        return [replace(s, name=twin.name, value=value), replace(s, value=b.cast(twin, s.value.dtype))]

    def without_unused(self, statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        """The statements without the narrow names that only the wide ones read."""
        read = Counter(e.name for e in exprs(statements) if isinstance(e, Var) and e.name in self.wide)
        needless = {name: made for name, made in self.wide.items() if read[name] < 2}
        wide = {made.name: made for made in needless.values()}

        def kept(block: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
            left = (s for s in block if not (isinstance(s, n.Let) and s.name in needless))
            return tuple(
                wide[s.name] if isinstance(s, n.Let) and s.name in wide else with_bodies(s, kept) for s in left
            )

        return kept(statements)

    # --- what is changed

    def changed(self, e: Expr) -> Expr | None:
        """A wide number that is computed of narrow ones, or a comparison of such numbers; None to look into it."""
        match e:
            case Apply(op, (x, y), "bool") if op in _COMPARED and x.dtype == y.dtype and x.dtype in _HOLDS:
                one, two = self.of(x), self.of(y)
                both = _joined(one, two, (0, 0))
                if both is None or both.dtype is None or both.leaves < 2:
                    return None
                return Apply(op, (self.made(x, both.dtype), self.made(y, both.dtype)), "bool")
            case Apply("cast", (x,), dtype) if x.dtype in _HOLDS and dtype in _NUMBERS:
                whole = self.of(x)
                integer = dtype.startswith(("int", "uint"))
                if whole is None or not _pays(whole, x.dtype) or not (integer or not whole.sign):
                    return None
                if dtype.startswith("uint") and whole.low < 0 and not x.dtype.startswith(("int", "uint")):
                    return None  # which C leaves open
                return b.cast(self.made(x, whole.dtype or "int32"), dtype)
            case Apply(_, _, dtype) if dtype in _HOLDS:
                whole = self.of(e)
                if whole is None or whole.sign or not _pays(whole, dtype):
                    return None
                return b.cast(self.made(e, whole.dtype or "int32"), dtype)
            case _:
                return None

    def made(self, e: Expr, dtype: str) -> Expr:
        """The integer `e` in a type that holds all of it."""
        def of(x: Expr) -> Expr:
            return self.made(x, dtype)

        match e:
            case Const(value):
                return Const(int(value.real), dtype)
            case Var(name) if name in self.twins:
                return b.cast(self.twins[name][1], dtype)
            case Apply("cast", (x,), _) if e.dtype in _HOLDS or self.held(e):
                return of(x)
            case Apply("where", (condition, x, y)) if e.dtype in _HOLDS:
                return b.where(b.map_expr(condition, self.changed), of(x), of(y))
            case Apply(op, args, wide) if wide in _HOLDS:
                return Apply(_EXTREMES.get(op, op), tuple(map(of, args)), dtype)
            case _:
                return b.cast(b.map_expr(e, self.changed), dtype)

    # --- what is known

    def held(self, e: Apply) -> bool:
        """Whether a conversion to a narrow type leaves the integer as it is."""
        whole = self.of(e.args[0]) if e.args[0].dtype in _HOLDS else None
        return whole is not None and _within(whole, _LEAVES.get(e.dtype, (1, 0)))

    def of(self, e: Expr) -> Whole | None:
        """What is known of a number if it is an integer that is computed of narrow ones."""
        if e not in self.found:
            self.found[e] = self.asked(e)
        return self.found[e]

    def asked(self, e: Expr) -> Whole | None:
        match e:
            case Const(value, dtype) if dtype in _HOLDS and not isinstance(value, complex):
                return _constant(value)
            case Var(name) if name in self.twins:
                return self.twins[name][0]
            case Apply("cast", (x,), dtype) if dtype in _HOLDS:
                found = self.of(x)
                if found is None or not _within(found, _HOLDS[dtype]):
                    return None
                floats = x.dtype.startswith("float") and dtype.startswith("float")
                return found if floats else replace(found, sign=False)
            case Apply("cast", (x,), dtype) if dtype in _LEAVES and dtype != "bool" and self.held(e):
                found = self.of(x)
                return None if found is None else replace(found, sign=False)
            case _ if e.dtype in _LEAVES:
                low, high = _LEAVES[e.dtype]
                return Whole(low, high, low, high, 1)
            case Apply("where", (_, x, y), dtype) if dtype in _HOLDS:
                one, two = self.of(x), self.of(y)
                if one is None or two is None:
                    return None
                return _joined(one, two, (min(one.low, two.low), max(one.high, two.high)), one.sign or two.sign)
            case Apply(op, (x,), dtype) if dtype in _HOLDS and op in ("negative", "absolute", "square", "positive"):
                return _fitting(self.of_one(op, self.of(x)), dtype)
            case Apply(op, (x, y), dtype) if dtype in _HOLDS:
                return _fitting(self.of_two(op, x, y), dtype)
            case _:
                return None

    @staticmethod
    def of_one(op: str, x: Whole | None) -> Whole | None:
        if x is None:
            return None
        corners = (0, *(abs(v) for v in (x.low, x.high))) if x.low <= 0 <= x.high else (abs(x.low), abs(x.high))
        match op:
            case "negative":
                return _joined(x, None, (-x.high, -x.low), True)
            case "absolute":
                return _joined(x, None, (min(corners), max(corners)))
            case "square":
                return _joined(x, None, (min(corners) ** 2, max(corners) ** 2))
            case _:
                return x

    def of_two(self, op: str, x: Expr, y: Expr) -> Whole | None:
        if op not in ("add", "subtract", "multiply") and op not in _EXTREMES:
            return None
        one, two = self.of(x), self.of(y)
        if one is None or two is None:
            return None
        if op == "add":
            return _joined(one, two, (one.low + two.low, one.high + two.high), one.sign and two.sign)
        if op == "subtract":
            return _joined(one, two, (one.low - two.high, one.high - two.low), one.sign)
        if op == "multiply":
            if x == y:
                return self.of_one("square", one)
            corners = [p * q for p in (one.low, one.high) for q in (two.low, two.high)]
            positive = one.low >= 0 <= two.low or one.low == one.high > 0 or two.low == two.high > 0
            return _joined(one, two, (min(corners), max(corners)), one.sign or two.sign or not positive)
        choose: Callable[..., int] = max if _EXTREMES[op] == "maximum" else min
        bounds = choose(one.low, two.low), choose(one.high, two.high)
        return _joined(one, two, bounds, one.sign or two.sign)


def _constant(value: float) -> Whole | None:
    if value != value or abs(value) > 2**31 or value != int(value):
        return None
    whole = int(value)
    return Whole(whole, whole, whole, whole, 0, str(value) == "-0.0")


def _joined(x: Whole | None, y: Whole | None, bounds: tuple[int, int], sign: bool = False) -> Whole | None:
    """What is computed of two numbers, or one, and lies within bounds."""
    if x is None:
        return None
    other = x if y is None else y
    return Whole(
        *bounds, min(x.least, other.least, bounds[0]), max(x.most, other.most, bounds[1]),
        x.leaves + (0 if y is None else y.leaves), sign, x.operations + (0 if y is None else y.operations) + 1,
    )  # fmt: skip


def _within(x: Whole, bounds: tuple[int, int]) -> bool:
    return bounds[0] <= x.low and x.high <= bounds[1]


def _fitting(x: Whole | None, dtype: str) -> Whole | None:
    """The number, if a wide type holds it as it is."""
    return x if x is not None and _within(x, _HOLDS[dtype]) else None


def _pays(x: Whole, dtype: str) -> bool:
    """Whether a number of a type is better computed in a narrower one, or in integers before one conversion."""
    narrow = x.dtype
    if narrow is None or x.operations == 0 or x.leaves < 2:
        return False
    return itemsize(narrow) < itemsize(dtype) or dtype.startswith("float")
