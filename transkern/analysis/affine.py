"""Questions about integers: index expressions become linear constraints over symbolic sizes.

What is not linear becomes a symbol of its own: one and the same everywhere where nothing in the loop can change it, a
different one at each place where something may.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from transkern.analysis import integers
from transkern.analysis.accesses import Level
from transkern.analysis.integers import NEVER, UNPROVEN, Condition, Either, Form, Unproven
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.facts import conjuncts
from transkern.ir.ops import OPPOSITE
from transkern.ir.traverse import buffers_read, variables_read

__all__ = ["UNPROVEN", "Question", "Unproven"]

SEARCH = 200_000
"""Operations that isl may spend on an example."""

TERMS = 8
"""How many products a product of sums may become."""

FACTORS = 4
"""Of how many names a product may be."""

NAMES = 64
"""How many names may stand for each other in a row, as where a loop is written out whose steps depend on each other."""

FACT_CASES = 2
"""How many alternatives one known fact may bring into a question."""


@dataclass(slots=True)
class Question:
    """A conjunction of constraints over named integers, under construction.

    `changing` are the scalars, `written` the buffers that the analysed loop may change; `lets` what a name stands for.
    """

    buffers: Mapping[str, n.Buffer]
    changing: set[str]
    written: set[str]
    lets: Mapping[str, Expr]
    parameters: dict[Expr, str] = field(default_factory=dict)
    unknowns: int = 0
    constraints: list[Condition] = field(default_factory=list)
    gathered: list[tuple[Load, Form, Form]] = field(default_factory=list)  # loads of index arrays: load, place, value
    opaque: dict[tuple[str, Expr], Form] = field(default_factory=dict)
    defined: dict[tuple[str, Expr], Form] = field(default_factory=dict)
    invariants: dict[Expr, bool] = field(default_factory=dict)  # what is known already, also to copies
    changes: dict[str, frozenset[str]] = field(default_factory=dict)  # (`changing_in`)
    products: bool = False  # of names, in the constraints
    loose: bool = False  # a number that is computed stands for any number: an example need not be true
    supposed: bool = False  # it may be that what is looked at never runs: elements that it reads may not be there
    multiples: frozenset[str] = frozenset()  # sizes that are known to be multiples of numbers
    depth: int = 0  # names whose meaning is being looked up

    def copy(self) -> Question:
        return Question(
            self.buffers, self.changing, self.written, self.lets, dict(self.parameters), self.unknowns,
            list(self.constraints), list(self.gathered), dict(self.opaque), dict(self.defined),
            self.invariants, self.changes, self.products, self.loose, self.supposed, self.multiples,
        )  # fmt: skip

    def unknown(self) -> Form:
        self.unknowns += 1
        return {f"x{self.unknowns - 1}": 1}

    # --- expressions

    def linear(self, e: Expr, names: Mapping[str, Form], instance: str) -> Form:
        """`e` as a linear form. `names` are the loop variables of this `instance` of a statement."""
        e = _as_index(e)
        if isinstance(e, Var):
            return self.atom(e, names, instance)
        terms, total = b.affine(e)
        made: Form = {"": total} if total else {}
        for atom, factor in terms.items():
            made = integers.combined(made, self.atom(atom, names, instance), factor)
        return made

    def atom(self, e: Expr, names: Mapping[str, Form], instance: str) -> Form:
        match e:
            case Var(name) if name in names:
                return names[name]
            case Var(name) if name in self.lets and self.depth < NAMES and not self.is_written(self.lets[name]):
                if (instance, e) not in self.defined:
                    self.depth += 1
                    made = self.linear(self.lets[name], names, instance)
                    self.depth -= 1
                    if not self.stable(e, names):
                        return made
                    self.defined[instance, e] = made
                return self.defined[instance, e]
            case Const(value) if isinstance(value, (bool, int)):
                return {"": int(value)} if value else {}
            case Apply("floor_divide" | "remainder" | "minimum" | "maximum" | "where", _, dtype) if (
                dtype == "index" or _is_exact(e)
            ):
                if self.invariant(e) and not (names and variables_read(e) & names.keys()):
                    instance = ""  # the same in all of them
                key = (instance, e)
                if key not in self.defined:
                    made = self.chosen(e, names, instance)
                    if not self.stable(e, names):
                        return made  # it may have another value at each place
                    self.defined[key] = made
                return self.defined[key]
            case Apply("cast", (Apply("remainder", (_, Apply("cast", (size,), "int64")), "int64"),), "index") if (
                size.dtype == "index"
            ):
                return self.wrapped(e, size, names, instance)
            case Apply("cast", (x,), "index") if x.dtype == "index" or _small(x):
                return self.linear(_as_index(x), names, instance)
            case Apply("cast", (Var(name),), "index") if (
                (kept := _position_in(self.lets.get(name))) is not None and not self.is_written(kept)
            ):
                return self.linear(kept, names, instance)
            case Apply("multiply", (x, y), "index"):
                made = integers.product(self.linear(x, names, instance), self.linear(y, names, instance))
                if len(made) > TERMS or any(name.count("*") >= FACTORS for name in made):
                    return self.symbol(e, names, instance)
                self.products = self.products or any("*" in name for name in made)
                return made
            case _:
                return self.symbol(e, names, instance)

    def chosen(self, e: Apply, names: Mapping[str, Form], instance: str) -> Form:
        """A quotient, a remainder, or one of two values: a number of its own, and what makes it that."""
        match e:
            case Apply("remainder", (x, y), _) if b.constant(y) is None and self.goes_round(x, y):
                return self.round(self.linear(x, names, instance), self.linear(y, names, instance))
            case Apply("remainder", (x, y), _) if b.constant(y) is None or int(y.value) > 0:  # type: ignore[union-attr,arg-type]
                quotient = self.atom(Apply("floor_divide", (x, y), "index"), names, instance)
                parts = integers.product(self.linear(y, names, instance), quotient)
                return integers.combined(self.linear(x, names, instance), parts, -1)
            case Apply("floor_divide", (x, Const(k)), _) if int(k) > 0:  # type: ignore[arg-type]
                quotient = self.unknown()
                inner = self.linear(x, names, instance)
                self.between(integers.combined(inner, quotient, -int(k)), {}, {"": int(k)})  # type: ignore[arg-type]
                return quotient
            case Apply("floor_divide", (x, y), _) if b.constant(y) is None:
                inner, by, quotient = self.linear(x, names, instance), self.linear(y, names, instance), self.unknown()
                rest = integers.combined(inner, integers.product(by, quotient), -1)
                inside = (integers.at_least(rest, {}), integers.less(rest, by), integers.less({}, by))
                self.require(Either((inside, (integers.at_least({}, by),))))
                self.products = True
                return quotient
            case Apply("minimum" | "maximum" as op, (x, y), _):
                one, two = self.linear(x, names, instance), self.linear(y, names, instance)
                made = self.unknown()
                least = integers.at_least(two, one) if op == "minimum" else integers.at_least(one, two)
                other = integers.at_least(one, two) if op == "minimum" else integers.at_least(two, one)
                self.require(Either(((integers.equal(made, one), least), (integers.equal(made, two), other))))
                return made
            case Apply("where", (condition, x, y), _):
                holds = self.condition(condition, names, instance)
                fails = self.condition(b.logical_not(condition), names, instance)
                one, two = self.linear(x, names, instance), self.linear(y, names, instance)
                made = self.unknown()
                self.require(Either(((integers.equal(made, one), *holds), (integers.equal(made, two), *fails))))
                return made
            case _:
                return self.symbol(e, names, instance)

    def goes_round(self, x: Expr, y: Expr) -> bool:
        """Whether `x % y` is an axis moved by a constant, as neighbours are that go round, and `y` is even, say."""
        terms, _ = b.affine(x)
        plain = len(terms) == 1 and isinstance(next(iter(terms)), Var) and [*terms.values()] == [1]
        return plain and isinstance(y, Var) and y.name in self.multiples

    def round(self, x: Form, y: Form) -> Form:
        """``x % y`` as what it is where `x` is once around away at most: so that it can be seen whether it is even."""
        made = self.unknown()
        inside = (integers.at_least(made, {}), integers.less(made, y))
        once = [(integers.equal(made, integers.combined(x, y, k)), *inside) for k in (0, -1, 1)]
        beyond = (integers.at_least(x, integers.combined(y, y, 1)), *inside)
        before = (integers.less(integers.combined(x, y, 1), {}), *inside)
        self.require(Either((*once, beyond, before, (integers.at_least({}, y),))))
        return made

    def wrapped(self, e: Expr, size: Expr, names: Mapping[str, Form], instance: str) -> Form:
        """What data leave when divided by a size (``(i + offset[k]) % n``): a number from 0 on, and less than that."""
        if (instance, e) in self.defined:
            return self.defined[instance, e]
        made, by = self.symbol(e, names, instance), self.linear(size, names, instance)
        inside = (integers.at_least(made, {}), integers.less(made, by))
        self.require(Either((inside, (integers.at_least({}, by),))))
        if self.stable(e, names):
            self.defined[instance, e] = made
        return made

    def is_written(self, e: Expr) -> bool:
        """Whether `e` reads a buffer that the loop may change."""
        return bool(self.written) and not self.written.isdisjoint(buffers_read(e))

    def invariant(self, e: Expr) -> bool:
        """Whether nothing in the loop can change `e`."""
        if not (self.changing or self.written):
            return True
        known = self.invariants.get(e)
        if known is None:
            known = self.invariants[e] = not self.is_written(e) and all(
                v not in self.changing and (v not in self.lets or self.invariant(self.lets[v]))
                for v in variables_read(e)
            )
        return known

    def stable(self, e: Expr, names: Mapping[str, Form]) -> bool:
        """Whether `e` has one value in an execution of a statement, wherever it stands."""
        if self.is_written(e):
            return False
        return not self.changing or all(self.changing_in(v) <= names.keys() for v in variables_read(e))

    def changing_in(self, name: str) -> frozenset[str]:
        """The variables that a variable's value changes with; a let keeps what it was given of written buffers."""
        found = self.changes.get(name)
        if found is None:
            let = self.lets.get(name)
            if let is None:
                found = frozenset((name,)) if name in self.changing else frozenset()
            elif self.is_written(let):
                found = frozenset()
            else:
                found = frozenset().union(*(self.changing_in(v) for v in variables_read(let)))
            self.changes[name] = found
        return found

    def symbol(self, e: Expr, names: Mapping[str, Form], instance: str) -> Form:
        """A name for what is not linear."""
        if e in self.parameters:
            return {self.parameters[e]: 1}
        if self.invariant(e) and not (names and variables_read(e) & names.keys()):
            parameter = {f"p{len(self.parameters)}": 1}
            (self.parameters[e],) = parameter
            load = _load_of(self._resolved(e))
            self.loose |= load is None and not isinstance(e, Var)
            if load is not None and load.buffer in self.buffers:
                self._within(self.buffers[load.buffer], parameter, names, instance)
            return parameter
        load = _load_of(self._resolved(e))
        self.loose |= load is None
        if not self.stable(e, names):
            return self.unknown()  # it may have another value at each place
        key = (instance, e)
        if key not in self.opaque:
            made = self.opaque[key] = self.unknown()
            if load is not None:
                self._gather(load, made, names, instance)
        return self.opaque[key]

    def _resolved(self, e: Expr) -> Expr:
        while isinstance(e, Var) and e.name in self.lets:
            e = self.lets[e.name]
        if isinstance(e, Apply) and e.op == "cast":
            return Apply("cast", (self._resolved(e.args[0]),), e.dtype)
        return e

    def _gather(self, load: Load, made: Form, names: Mapping[str, Form], instance: str) -> None:
        """What is known of an element of an index array that the loop does not change."""
        info = self.buffers.get(load.buffer)
        if info is None or load.buffer in self.written or len(load.index) != 1 or self.supposed:
            return
        self._within(info, made, names, instance)
        where = self.linear(load.index[0], names, instance)
        for other, place, value in self.gathered:
            if other.buffer != load.buffer or value == made:
                continue
            same, elsewhere = integers.equal(made, value), integers.unequal(where, place)
            if info.permutation:
                both = (same, integers.equal(where, place))
                self.constraints.append(Either((both, (integers.unequal(made, value), elsewhere))))
            else:
                self.constraints.append(Either(((same,), (elsewhere,))))
        self.gathered.append((load, where, made))

    def _within(self, info: n.Buffer, made: Form, names: Mapping[str, Form], instance: str) -> None:
        """What is known of every element of a buffer: of one that is there."""
        if info.low is not None and info.high is not None and not self.supposed:
            self.between(made, self.linear(info.low, names, instance), self.linear(info.high, names, instance))

    # --- conditions

    def condition(self, e: Expr, names: Mapping[str, Form], instance: str) -> list[Condition]:
        """The linear part of a condition; empty where there is none."""
        return [
            c for part in conjuncts(self._resolved(e) if isinstance(e, Var) else e)
            for c in self._comparison(part, names, instance)
        ]  # fmt: skip

    def _comparison(self, e: Expr, names: Mapping[str, Form], instance: str) -> list[Condition]:
        match e:
            case Apply("equal", (Apply("remainder", (Var(size), Const())), Const(0)), _) if self.invariant(e):
                self.multiples |= {size}
        match e:
            case Apply(op, (x, y), "bool") if op in _COMPARISONS and _integral(x) and _integral(y):
                one = self.linear(_as_index(x), names, instance)
                return [_COMPARISONS[op](one, self.linear(_as_index(y), names, instance))]
            case Apply("logical_not", (Apply("or_else", (x, y), _),), _):
                return [c for z in (x, y) for c in self.condition(b.logical_not(z), names, instance)]
            case Apply("logical_not", (Apply("and_then", (x, y), _),), _):
                first = self.condition(b.logical_not(x), names, instance)
                second = self.condition(b.logical_not(y), names, instance)
                return [Either((tuple(first), tuple(second)))] if first and second else []
            case Apply("logical_not", (Apply(op, (x, y), "bool"),), _) if op in _COMPARISONS:
                return self._comparison(Apply(OPPOSITE[op], (x, y), "bool"), names, instance)
            case Apply("or_else", (x, y), _):
                first = self.condition(x, names, instance)
                second = self.condition(y, names, instance)
                return [Either((tuple(first), tuple(second)))] if first and second else []
            case Const(False):
                return [NEVER]
            case _:
                return []

    def nonnegative_sizes(self) -> None:
        """Sizes are never negative."""
        for e, p in self.parameters.items():
            if b.is_nonnegative(e):
                self.constraints.append(integers.at_least({p: 1}, {}))

    def inside(self, level: Level, names: Mapping[str, Form], instance: str) -> None:
        """The variable of a counted loop is one of its values."""
        v = names[level.axis]
        around = {k: name for k, name in names.items() if k != level.axis}
        start = self.linear(level.start, around, instance)
        stop = self.linear(level.stop, around, instance)
        if level.step > 0:
            self.between(v, start, stop)
        else:
            self.require(integers.less(stop, v), integers.at_least(start, v))
        if abs(level.step) != 1:
            count = integers.combined(v, start, -1)
            self.require(integers.equal(count, integers.combined({}, self.unknown(), abs(level.step))))

    def suppose(self, fact: Expr) -> None:
        """A fact about what the loop does not change, unless it costs a proof more than it helps. What it has brought
        goes then: a copy of all that is known for each of many facts takes long."""
        begun, gathered = len(self.constraints), len(self.gathered)
        named: tuple[dict[Any, Any], ...] = self.parameters, self.opaque, self.defined
        lengths, others = tuple(map(len, named)), (self.unknowns, self.products, self.loose)
        self.require(*self.condition(fact, {}, "0"))
        if integers.branches(self.constraints[begun:]) <= FACT_CASES:
            return
        del self.constraints[begun:], self.gathered[gathered:]
        for held, length in zip(named, lengths, strict=True):
            while len(held) > length:
                held.popitem()  # the last one that was put in
        self.unknowns, self.products, self.loose = others

    def require(self, *conditions: Condition) -> None:
        self.constraints += conditions

    def between(self, value: Form, low: Form, high: Form) -> None:
        """``low <= value < high``."""
        self.constraints += [integers.at_least(value, low), integers.less(value, high)]

    # --- answers

    def sample(self, *extra: Condition) -> dict[str, int] | Unproven | None:
        """Values for all names that satisfy the constraints; None where there are none."""
        conditions = [*self.constraints, *extra]
        whole = integers.solution(conditions, integers.EFFORT, self.products)
        if not isinstance(whole, dict):
            return whole
        if self.products:  # their numbers are known where all sizes are
            for size in (2, 3, 5):
                sizes = [integers.equal({p: 1}, {"": size}) for p in self.parameters.values()]
                small = integers.solution([*conditions, *sizes], SEARCH, True)
                if isinstance(small, dict) and self.true(small):
                    return small
        for limit in (4, 8, 16, 64):  # small sizes are easier to follow
            if all(0 <= whole.get(p, 0) <= limit for p in self.parameters.values()):
                return whole
            bounds = [
                c for p in self.parameters.values()
                for c in (integers.at_least({p: 1}, {}), integers.at_least({"": limit}, {p: 1}))
            ]  # fmt: skip
            small = integers.solution([*conditions, *bounds], SEARCH, self.products)
            if isinstance(small, dict):
                return small
        return whole

    def true(self, values: Mapping[str, int]) -> bool:
        """Whether an example is one: what is computed has the value that it has."""
        return not self.loose and (not self.products or integers.products_agree(self.constraints, values))

    def possible(self, *extra: Condition) -> bool:
        """Whether the constraints can hold together; true where that is not found out within the effort."""
        return integers.solution([*self.constraints, *extra], integers.EFFORT, self.products) is not None


_COMPARISONS = {
    "less": integers.less, "less_equal": lambda x, y: integers.at_least(y, x),
    "greater": lambda x, y: integers.less(y, x), "greater_equal": integers.at_least,
    "equal": integers.equal, "not_equal": integers.unequal,
}  # fmt: skip


def _integral(e: Expr) -> bool:
    return e.dtype == "index" or _small(e)


def _position_in(e: Expr | None) -> Expr | None:
    """The position that an integer as wide as positions was made of."""
    match e:
        case Apply("cast", (x,), "int64") if x.dtype == "index":
            return x
        case _:
            return None


def _small(e: Expr) -> bool:
    """An integer of a NumPy dtype that a position may be: what is computed in it stands for itself, as it may wrap."""
    return e.dtype in AS_POSITIONS and not (
        isinstance(e, Apply) and e.op == "cast" and e.args[0].dtype == "index" and e.dtype != "int64"
    )


AS_POSITIONS = frozenset(("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32"))
"""Types of integers whose elements are positions as they are."""


def _is_exact(e: Expr) -> bool:
    """One of two numbers, or what a division by a number leaves, of a NumPy dtype: nothing that wraps."""
    match e:
        case Apply("minimum" | "maximum" | "where", (*_, x, y), dtype):
            return dtype in AS_POSITIONS and x.dtype == y.dtype == dtype
        case Apply("floor_divide" | "remainder", (_, Const(k)), dtype):
            return dtype in AS_POSITIONS and isinstance(k, int) and k > 0
        case _:
            return False


def _as_index(e: Expr) -> Expr:
    match e:
        case Const(value) if isinstance(value, (bool, int)):
            return b.index(int(value))
        case Apply("cast", (x,), "int64") if x.dtype == "index":
            return x
        case _:
            return e


def _load_of(e: Expr) -> Load | None:
    """The element that a position is, in types that hold all positions."""
    while isinstance(e, Apply) and e.op == "cast":
        if e.dtype not in _HOLDING and e.args[0].dtype not in _HELD.get(e.dtype, ()):
            return None
        e = e.args[0]
    return e if isinstance(e, Load) else None


_HOLDING = ("index", "int64", "int32")
_HELD = {"int16": ("int8", "uint8", "int16"), "uint32": ("uint8", "uint16", "uint32"), "uint16": ("uint8", "uint16")}
"""Types that hold what others do, of those that do not hold all positions."""
