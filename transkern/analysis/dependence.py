"""Does an iteration of a loop touch what another one writes? Exact answers over linear subscripts, by isl.

A loop is analysed as it stands in its program: sizes and the variables of the loops around it are symbols with what is
known of them. For two accesses of its body to one buffer, the question is whether there are two iterations, the one
before the other, in which they meet at one element. The answer is "no" for all sizes, or an example.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from transkern.analysis import integers
from transkern.analysis.accesses import Access, Body, Level, accesses_of
from transkern.analysis.affine import Question
from transkern.analysis.integers import Form, Unproven
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Var
from transkern.ir.traverse import buffers_read, variables_read


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What holds where a loop stands: `levels` around it, `facts` that are true, `lets` by name."""

    levels: tuple[Level, ...] = ()
    facts: tuple[Expr, ...] = ()
    lets: Mapping[str, Expr] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Meeting:
    """`first`, in an iteration, and `second`, in a later one, touch one element.

    `values` is an example: the variables of loops and sizes by name; `ran` and `later` are the analysed loop's variable
    in the two iterations, `element` is where they meet. Without an example it is only not proven that they never meet.
    `distance` is how many iterations lie between them where that is always the same number. `runs`: in the example, the
    iterations and the first one raise no error, as far as is known.
    """

    first: Access
    second: Access
    values: Mapping[str, int] | None = None
    ran: int = 0
    later: int = 0
    element: tuple[int, ...] | None = None
    distance: int | None = None
    runs: bool = False

    @property
    def kind(self) -> str:
        return kind_of(self.first, self.second)


def kind_of(first: Access, second: Access) -> str:
    """The kind of dependence of an access on an earlier one."""
    if first.write:
        return "output" if second.write else "flow"
    return "anti"


class Carried:
    """What one loop's iterations hand to each other through memory, and through the `scalars` asked for."""

    def __init__(
        self, buffers: Mapping[str, n.Buffer], loop: n.Loop, around: Surroundings,
        scalars: frozenset[str] = frozenset(),
    ) -> None:  # fmt: skip
        self.buffers, self.loop, self.around = buffers, loop, around
        self.level = Level(loop.axis, loop.start, loop.stop, b.constant(loop.step) or 1)
        self.body: Body = accesses_of(loop.body, scalars)
        self.changing = self.body.varying | {loop.axis}
        self._answers: dict[tuple[int, int], Meeting | None] = {}
        self._base: Question | None = None
        self._first: dict[int, tuple[Question, dict[str, Form], list[Form]]] = {}
        self._questions: dict[tuple[int, int], tuple[Question, dict[str, Form], dict[str, Form], list[Form]]] = {}

    # --- the meetings

    def pairs(self) -> Iterator[tuple[Access, Access]]:
        """Pairs of accesses to one buffer, at least one a write; each pair stands for (earlier, later) iterations."""
        by_buffer: dict[str, list[Access]] = {}
        for a in self.body.accesses:
            by_buffer.setdefault(a.buffer, []).append(a)
        for accesses in by_buffer.values():
            if not any(a.write for a in accesses):
                continue
            distinct = _distinct(accesses)
            for first in distinct:
                for second in distinct:
                    if first.write or second.write:
                        yield first, second

    def meetings(self) -> Iterator[Meeting]:
        """All pairs that may meet across iterations."""
        for first, second in self.pairs():
            found = self.meet(first, second)
            if found is not None:
                yield found

    def independent(self) -> bool:
        """Whether no iteration touches what another one writes."""
        return next(self.meetings(), None) is None

    def meet(self, first: Access, second: Access) -> Meeting | None:
        """Whether `first`, in an iteration, may meet `second` in a later one."""
        key = (first.order, second.order)
        if key not in self._answers:
            apart = self.apart(first, second) or not self.across(first, second)[0].possible()
            self._answers[key] = None if apart else Meeting(first, second)
        return self._answers[key]

    def example(self, first: Access, second: Access, next_: bool = False) -> Meeting | None:
        """The meeting of two accesses with an example, where one is found; None where they are found to be apart. With
        `next_` the two iterations follow each other."""
        question, one, two, where = self.across(first, second)
        if next_:
            question.require(integers.equal(two, integers.shifted(one, self.level.step)))
        values = question.sample()
        runs = False
        if isinstance(values, dict):
            inside = self.in_bounds(question.copy(), (one, two)).sample()
            runs = isinstance(inside, dict)
            values = inside if isinstance(inside, dict) else values
        if values is None:
            return None
        if isinstance(values, Unproven):
            return Meeting(first, second)
        ran, later = integers.value(one, values), integers.value(two, values)
        named = {e.name: values.get(p, 0) for e, p in question.parameters.items() if isinstance(e, Var)}
        element = tuple(integers.value(w, values) for w in where) if where else None
        info = self.buffers.get(first.buffer)
        if element and info is not None and len(info.dims) > len(element):  # a place in the memory of an array
            dims = [integers.value(question.linear(d, {}, "0"), values) for d in info.dims]
            element = tuple(element[0] // prod(dims[k + 1 :]) % dims[k] for k in range(len(dims)) if dims[k] > 0)
        return Meeting(
            first, second, named if question.true(values) else None, ran, later, element,
            None if next_ else self._distance(question, integers.combined(two, one, -1), later - ran), runs,
        )  # fmt: skip

    def distance(self, first: Access, second: Access) -> int | None:
        """How many iterations lie between two accesses that meet, where that is always the same number."""
        question, one, two, _ = self.across(first, second)
        values = question.sample()
        gap = integers.combined(two, one, -1)
        return self._distance(question, gap, integers.value(gap, values)) if isinstance(values, dict) else None

    def _distance(self, question: Question, gap: Form, found: int) -> int | None:
        return None if question.possible(integers.unequal(gap, {"": found})) else abs(found) // abs(self.level.step)

    def in_bounds(self, question: Question, iterations: tuple[Form, Form]) -> Question:
        """With the subscripts that the analysed loop alone decides inside their arrays, and what the loop checks as it
        should be, in these iterations and the first."""
        known: set[tuple[Expr, Expr]] = set()
        for access in self.body.accesses:
            info = self.buffers.get(access.buffer)
            if access.index is None or info is None or len(info.dims) != len(access.index) or access.levels:
                continue
            if access.conditions or not all(self.plain(i) for i in access.index):
                continue
            known.update(zip(access.index, info.dims, strict=True))
        checks = [s.condition for s in self.loop.body if isinstance(s, n.Guard)]
        places = {"1": iterations[0], "2": iterations[1], "first": question.linear(self.loop.start, {}, "0")}
        for instance, v in places.items():
            names = {self.loop.axis: v}
            for i, d in sorted(known, key=repr):
                question.between(question.linear(i, names, instance), {}, question.linear(d, {}, "0"))
            for check in checks:
                if not buffers_read(check) & self.body.changed:
                    question.require(*question.condition(check, names, instance))
        question.nonnegative_sizes()
        return question

    def plain(self, e: Expr) -> bool:
        """Whether `e` is linear in the loop's variable, sizes and scalars that stay."""
        terms, _ = b.affine(e)
        return all(t == Var(self.loop.axis) or (isinstance(t, Var) and self.fixed(t)) for t in terms)

    def apart(self, first: Access, second: Access) -> bool:
        """Whether some subscript is one and the same one-to-one function of the loop's variable: no question then."""
        if first.index is None or second.index is None or len(first.index) != len(second.index):
            return False
        for x, y in zip(first.index, second.index, strict=True):
            if x != y and b.sub(x, y) != b.ZERO:
                continue
            terms, _ = b.affine(x)
            if not terms.get(Var(self.loop.axis)):
                continue
            rest = [t for t in terms if t != Var(self.loop.axis)]
            if all(self.fixed(t) for t in rest):
                return True
        return False

    def fixed(self, e: Expr) -> bool:
        """Whether nothing in the loop changes `e`."""
        if buffers_read(e) & self.body.changed:
            return False
        for v in variables_read(e):
            if v in self.changing or (v in self.body.lets and not self.fixed(self.body.lets[v])):
                return False
        return True

    # --- questions

    def base(self) -> Question:
        """What holds around the loop, over its sizes."""
        if self._base is None:
            lets = {**self.around.lets, **self.body.lets}
            q = Question(self.buffers, self.changing, self.body.changed, lets)
            for level in self.around.levels:
                q.inside(level, {level.axis: q.linear(Var(level.axis), {}, "0")}, "0")
            for fact in self.around.facts:
                if q.invariant(fact):
                    q.suppose(fact)
            self._base = q
        return self._base.copy()

    def question(
        self, first: Access, second: Access
    ) -> tuple[Question, dict[str, Form], dict[str, Form], list[Form]]:
        """Both accesses, each in an iteration of its own, at one element; which iterations, the caller says.

        With the names of the loop variables in both, and the element.
        """
        key = (first.order, second.order)
        if key not in self._questions:
            self._questions[key] = self._question(first, second)
        q, names1, names2, where = self._questions[key]
        return q.copy(), names1, names2, where

    def across(self, first: Access, second: Access) -> tuple[Question, Form, Form, list[Form]]:
        """The question for the first access in an iteration before that of the second; both iterations, the element."""
        question, names1, names2, where = self.question(first, second)
        one, two = names1[self.loop.axis], names2[self.loop.axis]
        question.require(integers.less(one, two) if self.level.step > 0 else integers.less(two, one))
        return question, one, two, where

    def _question(
        self, first: Access, second: Access
    ) -> tuple[Question, dict[str, Form], dict[str, Form], list[Form]]:
        known = self._first.get(first.order)
        if known is None:
            q = self.base()
            names1 = self.instance(q, first, "1")
            where: list[Form] = []
            info = self.buffers.get(first.buffer)
            for k, i in enumerate(first.index or ()):
                where.append(q.linear(i, names1, "1"))
                q.require(integers.at_least(where[k], {}))
                if info is not None and len(info.dims) == len(first.index or ()):
                    q.require(integers.less(where[k], q.linear(info.dims[k], {}, "0")))
            known = self._first[first.order] = q, names1, where
        q, names1, where = known
        q = q.copy()
        names2 = self.instance(q, second, "2")
        if second.index is None or len(where) != len(second.index):
            where = []
        for one, i in zip(where, second.index or (), strict=False):
            q.require(integers.equal(one, q.linear(i, names2, "2")))
        q.nonnegative_sizes()
        return q, names1, names2, where

    def instance(self, q: Question, access: Access, instance: str) -> dict[str, Form]:
        """The loop variables of one execution of an access, with their ranges and conditions."""
        names: dict[str, Form] = {}
        for level in (self.level, *access.levels):
            names[level.axis] = q.unknown()
            q.inside(level, names, instance)
        for condition in access.conditions:
            if not buffers_read(condition) & self.body.changed:
                q.require(*q.condition(condition, names, instance))
        return names


def _distinct(accesses: Sequence[Access]) -> list[Access]:
    """One of each kind: accesses that differ in their place only ask the same questions."""
    found: dict[object, Access] = {}
    for a in accesses:
        found.setdefault((a.write, a.index, a.levels, a.conditions), a)
    return list(found.values())
