"""Linear constraints over integers: whether they can hold together, and numbers for which they do.

Most questions of loops are settled here without isl: equations are solved for a name with the factor 1 or -1, what
is left is as a rule ``x - y >= c``, and the longest paths of the graph of these are the least solution, or a cycle that
shows there is none [Cormen et al., Introduction to Algorithms, "Difference constraints and shortest paths"]. Everything
else goes to isl. Both are exact. Of alternatives (``or``, ``!=``) those come first that a solution of the rest does not
satisfy.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import gcd, prod
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from transkern.analysis.differences import edge_of, least_solution

if TYPE_CHECKING:
    import islpy as isl

EFFORT = 50_000
"""Operations that isl may spend on one question; beyond that the answer is "not proven"."""

NODES = 400
"""Combinations of alternatives that are looked at for one question."""

_LEFT = ((10_000, NODES), (20_000, 12))
"""As many for one question while all about the program have had fewer than that, and one behind: what is not proven is
checked at run time."""

_SPENT = [0]

_ANSWERS: dict[object, tuple[dict[str, int] | Unproven | None, int]] = {}
"""What the questions about this program were answered, and what that took: passes, and checks of one place, ask many of
them again. It counts as if it were found out again: no answer depends on what is remembered."""

Form: TypeAlias = dict[str, int]
"""A linear form: factors by name, and the constant under the empty name. Never changed once it is made."""


class Constraint(NamedTuple):
    """``form op 0``; `op` is ``>=``, ``=`` or ``!=``."""

    form: Form
    op: str


class Either(NamedTuple):
    """One of the cases holds, each a conjunction."""

    cases: tuple[tuple[Condition, ...], ...]


Condition: TypeAlias = Constraint | Either


class Unproven:
    """The effort was not enough."""


UNPROVEN = Unproven()

_CONTEXT: list[isl.Context] = []


def context() -> isl.Context:
    """The one isl context of this process; isl is loaded when the first question needs it."""
    if not _CONTEXT:
        import islpy

        _CONTEXT.append(islpy.Context())
    return _CONTEXT[0]


# --- forms and constraints


def combined(one: Form, two: Form, factor: int = 1) -> Form:
    """``one + factor * two``."""
    made = dict(one)
    for name, c in two.items():
        value = made.get(name, 0) + factor * c
        if value:
            made[name] = value
        else:
            made.pop(name, None)
    return made


def shifted(form: Form, constant: int) -> Form:
    """``form + constant``."""
    return combined(form, {"": constant}) if constant else form


def at_least(one: Form, two: Form) -> Constraint:
    return Constraint(combined(one, two, -1), ">=")


def less(one: Form, two: Form) -> Constraint:
    return Constraint(shifted(combined(two, one, -1), -1), ">=")


def equal(one: Form, two: Form) -> Constraint:
    return Constraint(combined(one, two, -1), "=")


def unequal(one: Form, two: Form) -> Constraint:
    return Constraint(combined(one, two, -1), "!=")


NEVER = Constraint({"": -1}, ">=")

# --- products: a name like ``a*b`` is the product of two names

PRODUCTS = 64
"""Inequalities between products that one question may get."""


def product(one: Form, two: Form) -> Form:
    """``one * two``."""
    made: Form = {}
    for x, c in one.items():
        for y, d in two.items():
            factors = sorted(f for name in (x, y) if name for f in name.split("*"))
            made = combined(made, {"*".join(factors): c * d})
    return made


class _Products:
    """What follows for products that occur: ``x >= y`` and ``z >= 0`` make ``x*z >= y*z`` [Sherali, Adams: A
    Reformulation-Linearization Technique].

    With it ``i * m + j`` is seen to lie in row ``i`` where ``0 <= j < m``.
    """

    def __init__(self, conditions: Sequence[Condition]) -> None:
        self.beside: dict[str, set[str]] = {}  # by factor: what it is multiplied with
        for name in _named(conditions):
            factors = name.split("*")
            for k in range(len(factors) if len(factors) > 1 else 0):
                self.beside.setdefault(factors[k], set()).add("*".join(factors[:k] + factors[k + 1 :]))
        self.positive = {
            name for c in conditions if isinstance(c, Constraint) and c.op == ">=" and c.form.get("", 0) <= 0
            for name, factor in c.form.items() if name and factor > 0 and len(c.form) - ("" in c.form) == 1
        }  # fmt: skip

    def of(self, plain: Iterable[Constraint]) -> list[Constraint]:
        """What follows of these."""
        more: dict[tuple[frozenset[tuple[str, int]], str], Constraint] = {}
        for form, op in plain:
            if any("*" in name for name in form):
                continue
            for other in sorted({r for name in form for r in self.beside.get(name, ())}):
                if op == "=" or self.positive.issuperset(other.split("*")):
                    made = Constraint(product(form, {other: 1}), op)
                    more[frozenset(made.form.items()), op] = made
        return list(more.values())[:PRODUCTS]


def products_agree(conditions: Iterable[Condition], values: Mapping[str, int]) -> bool:
    """Whether the number of each product in the conditions is the product of the numbers."""
    return all(
        prod(values.get(f, 0) for f in name.split("*")) == values.get(name, 0)
        for name in _named(conditions) if "*" in name
    )  # fmt: skip


def _named(conditions: Iterable[Condition]) -> set[str]:
    found: set[str] = set()
    for c in conditions:
        if isinstance(c, Either):
            for case in c.cases:
                found |= _named(case)
        else:
            found.update(c.form)
    return found


def branches(conditions: Iterable[Condition]) -> int:
    """How many alternatives the conditions add by ``or``."""
    return sum(
        len(c.cases) - 1 + sum(branches(case) for case in c.cases) for c in conditions if isinstance(c, Either)
    )


# --- answers


def begin() -> None:
    """Another program: its questions may be looked at at large again."""
    _SPENT[0] = 0
    _ANSWERS.clear()


def solution(
    conditions: Sequence[Condition], effort: int = EFFORT, products: bool = False
) -> dict[str, int] | Unproven | None:
    """Numbers for which all conditions hold (0 for names that are left out); None where there are none.

    With `products` some of the names are products: what that means is used to find out that there are none, but the
    numbers need not agree with it.
    """
    most = next((few for most, few in _LEFT if _SPENT[0] < most), 1)
    asked = tuple(map(_key, conditions)), effort, products, most
    known = _ANSWERS.get(asked)
    if known is None:
        before = _SPENT[0]
        found = _solution(conditions, _Search(effort, _Products(conditions) if products else None, most))
        _ANSWERS[asked] = found, _SPENT[0] - before
    else:
        found, spent = known
        _SPENT[0] += spent
    return dict(found) if isinstance(found, dict) else found


def _key(c: Condition) -> object:
    if isinstance(c, Either):
        return tuple(tuple(map(_key, case)) for case in c.cases)
    return tuple(c.form.items()), c.op


def _solution(conditions: Sequence[Condition], search: _Search) -> dict[str, int] | Unproven | None:
    plain: list[Constraint] = []
    open_: list[Condition] = []
    for c in conditions:
        if isinstance(c, Constraint) and c.op != "!=":
            plain.append(c)
        else:
            open_.append(c)
    system = search.narrowed(_System(), plain)
    if system is None:
        return None
    try:
        return search.solve(system, open_)
    finally:
        search.close()


class _Search:
    def __init__(self, effort: int, products: _Products | None, most: int) -> None:
        self.effort, self.asked, self.products = effort, False, products
        self.most = self.nodes = most

    def narrowed(self, system: _System, plain: Sequence[Constraint]) -> _System | None:
        """The system with further constraints; None where they plainly cannot hold."""
        return system.with_constraints([*plain, *self.products.of(plain)] if self.products else plain)

    def solve(self, system: _System, open_: Sequence[Condition]) -> dict[str, int] | Unproven | None:
        self.nodes -= 1
        if self.nodes < 0:
            return UNPROVEN
        _SPENT[0] += 1
        first = self.nodes == self.most - 1
        values, certain = system.near()
        if values is None:
            return None
        violated = None if first else next((c for c in open_ if not _holds(c, values)), None)
        if violated is None and not certain:  # isl is asked at the beginning and at the end only
            asked = system.by_isl(self)
            if not isinstance(asked, dict):
                return asked
            values = asked
        violated = violated or next((c for c in open_ if not _holds(c, values)), None)
        if violated is None:
            return values
        rest = [c for c in open_ if c is not violated]
        answer: Unproven | None = None
        for case in _cases(violated):
            plain = [c for c in case if isinstance(c, Constraint) and c.op != "!="]
            narrowed = self.narrowed(system, plain)
            if narrowed is None:
                continue
            found = self.solve(narrowed, [*rest, *(c for c in case if isinstance(c, Either) or c.op == "!=")])
            if isinstance(found, dict):
                return found
            if found is not None:
                answer = found
        return answer

    def ask(self) -> None:
        """Before each question to isl: its effort is counted over the whole search."""
        if not self.asked:
            self.asked = True
            ctx = context()
            ctx.set_max_operations(self.effort)
            ctx.reset_operations()

    def close(self) -> None:
        if self.asked:
            context().set_max_operations(0)


def _cases(c: Condition) -> Iterable[tuple[Condition, ...]]:
    if isinstance(c, Either):
        return c.cases
    below = {name: -k for name, k in c.form.items()}
    return (Constraint(shifted(c.form, -1), ">="),), (Constraint(shifted(below, -1), ">="),)


def value(form: Form, values: Mapping[str, int]) -> int:
    """What the form is for these numbers (0 for names that are left out)."""
    total = form.get("", 0)
    for name, c in form.items():
        if name:
            total += c * values.get(name, 0)
    return total


def _holds(c: Condition, values: dict[str, int]) -> bool:
    if isinstance(c, Either):
        return any(all(_holds(x, values) for x in case) for case in c.cases)
    found = value(c.form, values)
    return found >= 0 if c.op == ">=" else (found == 0) == (c.op == "=")


class _System:
    """A conjunction of equations and inequalities, solved for as many names as can be."""

    __slots__ = ("edges", "equations", "others", "rows", "solved")

    def __init__(self) -> None:
        self.solved: dict[str, Form] = {}  # in terms of those that are not
        self.equations: list[Form] = []  # all factors beside 1 and -1
        self.rows: list[Form] = []  # >= 0
        self.edges: dict[tuple[str, str], int] = {}  # of the rows: the differences of two names, the greatest of each
        self.others: list[Form] = []

    def with_constraints(self, more: Iterable[Constraint]) -> _System | None:
        """The system with further constraints; None where they plainly cannot hold."""
        made = _System()
        made.solved, made.equations = dict(self.solved), list(self.equations)
        rows = list(self.rows)
        simple = set(map(id, rows))  # by id, which stays while they are here: they are as they should be
        equations: list[Form] = []
        for form, op in more:
            (equations if op == "=" else rows).append(self._reduced(form))
        if not equations:  # most often: what is known of the rows so far stays
            made.rows, made.edges, made.others = list(self.rows), dict(self.edges), list(self.others)
            del rows[: len(self.rows)]
        while equations:
            form = equations.pop()
            name = next((name for name, c in form.items() if name and c in (1, -1)), None)
            if name is None:
                divisor = gcd(*(c for v, c in form.items() if v))
                constant = form.get("", 0)
                if not divisor:
                    if constant:
                        return None
                    continue
                if constant % divisor:
                    return None
                if divisor == 1:
                    made.equations.append(form)
                else:
                    equations.append({v: c // divisor for v, c in form.items()})
                continue
            sign = -form[name]
            meant = {v: sign * c for v, c in form.items() if v != name}
            equations = [_replaced(f, name, meant) for f in equations]
            equations += [_replaced(f, name, meant) for f in made.equations if name in f]
            made.equations = [f for f in made.equations if name not in f]
            rows = [_replaced(f, name, meant) for f in rows]
            made.solved = {v: _replaced(f, name, meant) for v, f in made.solved.items()}
            made.solved[name] = meant
        for form in rows:
            if id(form) in simple or any(c in (1, -1) for v, c in form.items() if v):
                made.add(form)
                continue
            divisor = gcd(*(c for v, c in form.items() if v))
            if not divisor:
                if form.get("", 0) < 0:
                    return None
                continue
            if divisor > 1:
                form = {v: c // divisor for v, c in form.items()}
            made.add(form)
        return made

    def add(self, row: Form) -> None:
        self.rows.append(row)
        edge = edge_of(row)
        if edge is None:
            self.others.append(row)
            return
        low, high, weight = edge
        if self.edges.get((low, high), weight) <= weight:
            self.edges[low, high] = weight

    def _reduced(self, form: Form) -> Form:
        if not self.solved:
            return form
        for name in [name for name in form if name in self.solved]:
            form = _replaced(form, name, self.solved[name])
        return form

    def near(self) -> tuple[dict[str, int] | None, bool]:
        """The least solution and True, or numbers for which at least the inequalities of two names hold and False; None
        where there is no solution."""
        least = least_solution(self.edges)
        if least is None:
            return None, True
        found, free = least
        certain = not any(value(f, found) for f in self.equations) and all(value(f, found) >= 0 for f in self.others)
        if not certain and not free:
            raised = _raised(found, self.rows)
            if raised is None:
                return None, True
            if isinstance(raised, dict):
                found = raised
                certain = not any(value(f, found) for f in self.equations)
        return self._whole(found), certain

    def _whole(self, found: dict[str, int]) -> dict[str, int]:
        """With the numbers of the names that are solved for."""
        for name, form in self.solved.items():
            found[name] = value(form, found)
        return found

    def by_isl(self, search: _Search) -> dict[str, int] | Unproven | None:
        """A solution that isl finds."""
        import islpy

        search.ask()
        ctx = context()
        names: dict[str, int] = {}
        for form in (*self.equations, *self.rows):
            for name in form:
                if name:
                    names.setdefault(name, len(names))
        try:
            space = islpy.Space.set_alloc(ctx, 0, len(names))
            local = islpy.LocalSpace.from_space(space)
            made = islpy.BasicSet.universe(space)
            kind = islpy.dim_type.set
            for forms, alloc in (
                (self.equations, islpy.Constraint.alloc_equality), (self.rows, islpy.Constraint.alloc_inequality),
            ):  # fmt: skip
                for form in forms:
                    c = alloc(local)
                    for name, factor in form.items():
                        number = islpy.Val.read_from_str(ctx, str(factor))
                        if name:
                            c = c.set_coefficient_val(kind, names[name], number)
                        else:
                            c = c.set_constant_val(number)
                    made = made.add_constraint(c)
            point = made.sample_point()
            if point.is_void():
                return None
            found = {v: point.get_coordinate_val(kind, k).to_str() for v, k in names.items()}
            if None in found.values():  # isl gave up behind the point
                return UNPROVEN
            return self._whole({v: int(text) for v, text in found.items()})
        except islpy.Error:
            return UNPROVEN


def _replaced(form: Form, name: str, meant: Form) -> Form:
    factor = form.get(name)
    if factor is None:
        return form
    made = dict(form)
    del made[name]
    for v, c in meant.items():
        total = made.get(v, 0) + factor * c
        if total:
            made[v] = total
        else:
            made.pop(v, None)
    return made


def _raised(found: Mapping[str, int], rows: Sequence[Form]) -> dict[str, int] | Unproven | None:
    """The least solution of inequalities from numbers that are none too large: where an inequality fails and has one
    name with a positive factor, that is too small. None where there is no solution."""
    raised = dict(found)
    for _ in range(len(raised) + 8):
        changed = False
        for form in rows:
            missing = value(form, raised)
            if missing >= 0:
                continue
            positive = [(name, c) for name, c in form.items() if name and c > 0]
            if len(positive) > 1 or any(name and name not in raised for name in form):
                return UNPROVEN
            if not positive:
                return None
            name, factor = positive[0]
            raised[name] -= missing // factor
            changed = True
        if not changed:
            return raised
    return UNPROVEN
