"""Does an iteration of a loop touch what another one writes? Exact answers over linear subscripts, by isl.

A loop is analysed as it stands in its program: sizes and the variables of the loops around it are symbols with what is
known of them. For two accesses of its body to one buffer, the question is whether there are two iterations, the one
before the other, in which they meet at one element. The answer is "no" for all sizes, or an example.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from transkern.analysis.accesses import Access, Body, Level, accesses_of
from transkern.analysis.affine import Question, Unproven
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
    `distance` is how many iterations lie between them where that is always the same number.
    """

    first: Access
    second: Access
    values: Mapping[str, int] | None = None
    ran: int = 0
    later: int = 0
    element: tuple[int, ...] | None = None
    distance: int | None = None

    @property
    def kind(self) -> str:
        if self.first.write:
            return "output" if self.second.write else "flow"
        return "anti"


class Carried:
    """What one loop's iterations hand to each other through memory, and through the `scalars` asked for.

    Buffers in `private` count as each iteration's own.
    """

    def __init__(
        self, buffers: Mapping[str, n.Buffer], loop: n.Loop, around: Surroundings,
        private: frozenset[str] = frozenset(), scalars: frozenset[str] = frozenset(),
    ) -> None:  # fmt: skip
        self.buffers, self.loop, self.around = buffers, loop, around
        self.level = Level(loop.axis, loop.start, loop.stop, b.constant(loop.step) or 1)
        self.body: Body = accesses_of(loop.body, scalars)
        self.body.accesses = [a for a in self.body.accesses if a.buffer not in private]
        self.changing = self.body.varying | {loop.axis}
        self._answers: dict[tuple[int, int], Meeting | None] = {}
        self._base: Question | None = None
        self._size_known: set[str] = set()

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

    def meetings(self, explain: bool = False) -> Iterator[Meeting]:
        """All pairs that may meet across iterations; with `explain`, each with an example and its distance."""
        for first, second in self.pairs():
            found = self.meet(first, second, explain)
            if found is not None:
                yield found

    def independent(self) -> bool:
        """Whether no iteration touches what another one writes."""
        return next(self.meetings(), None) is None

    def meet(self, first: Access, second: Access, explain: bool = False) -> Meeting | None:
        key = (first.order, second.order)
        if not explain and key in self._answers:
            return self._answers[key]
        answer = self._meet(first, second, explain)
        self._answers[key] = answer
        return answer

    def _meet(self, first: Access, second: Access, explain: bool) -> Meeting | None:
        if self.apart(first, second):
            return None
        question, names1, names2, where = self.question(first, second)
        one, two = names1[self.loop.axis], names2[self.loop.axis]
        question.require(f"{one} < {two}" if self.level.step > 0 else f"{one} > {two}")
        if not explain:
            return Meeting(first, second) if question.possible() else None
        values = question.sample()
        if isinstance(values, dict):
            inside = self.in_bounds(question.copy(), (one, two)).sample()
            values = inside if isinstance(inside, dict) else values
        if values is None:
            return None
        if isinstance(values, Unproven):
            return Meeting(first, second)
        gap = values[two] - values[one]
        apart = question.possible([f"{two} - {one} != {gap}"])
        named = {e.name: values[p] for e, p in question.parameters.items() if isinstance(e, Var)}
        element = None
        if first.index is not None and where:
            element = tuple(values[w] for w in where)
        return Meeting(
            first, second, None if question.loose else named, values[one], values[two], element,
            None if apart else abs(gap) // abs(self.level.step),
        )  # fmt: skip

    def in_bounds(self, question: Question, iterations: tuple[str, ...]) -> Question:
        """With the subscripts that the analysed loop alone decides inside their arrays, in these iterations."""
        for k, access in enumerate(self.body.accesses):
            info = self.buffers.get(access.buffer)
            if access.index is None or info is None or len(info.dims) != len(access.index) or access.levels:
                continue
            if access.conditions or not all(self.plain(i) for i in access.index):
                continue
            for v in iterations:
                for i, d in zip(access.index, info.dims, strict=True):
                    at = question.linear(i, {self.loop.axis: v}, f"bounds{k}{v}")
                    question.require(f"0 <= {at} < {question.linear(d, {}, '0')}")
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
        if buffers_read(e) & self.body.written:
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
            q = Question(self.buffers, self.changing, self.body.written, lets)
            for level in self.around.levels:
                q.inside(level, {level.axis: q.linear(Var(level.axis), {}, "0")}, "0")
            for fact in self.around.facts:
                if q.invariant(fact):
                    q = q.with_fact(fact)
            self._base = q
        return self._base.copy()

    def question(
        self, first: Access, second: Access
    ) -> tuple[Question, dict[str, str], dict[str, str], list[str]]:
        """Both accesses, each in an iteration of its own, at one element; which iterations, the caller says."""
        q = self.base()
        names1, names2 = self.instance(q, first, "1"), self.instance(q, second, "2")
        where: list[str] = []
        info = self.buffers.get(first.buffer)
        if first.index is not None and second.index is not None and len(first.index) == len(second.index):
            for k, (x, y) in enumerate(zip(first.index, second.index, strict=True)):
                one, two = q.linear(x, names1, "1"), q.linear(y, names2, "2")
                at = q.unknown()
                where.append(at)
                q.require(f"{at} = {one}")
                q.require(f"{at} = {two}")
                q.require(f"{at} >= 0")
                if info is not None and len(info.dims) == len(first.index):
                    q.require(f"{at} < {q.linear(info.dims[k], {}, '0')}")
        q.nonnegative_sizes()
        return q, names1, names2, where

    def instance(self, q: Question, access: Access, instance: str) -> dict[str, str]:
        """The loop variables of one execution of an access, with their ranges and conditions."""
        names: dict[str, str] = {}
        for level in (self.level, *access.levels):
            names[level.axis] = q.unknown()
            q.inside(level, names, instance)
        for condition in access.conditions:
            if not buffers_read(condition) & self.body.written:
                q.require(q.condition(condition, names, instance))
        return names


def _distinct(accesses: Sequence[Access]) -> list[Access]:
    """One of each kind: accesses that differ in their place only ask the same questions."""
    found: dict[object, Access] = {}
    for a in accesses:
        found.setdefault((a.write, a.index, a.levels, a.conditions), a)
    return list(found.values())
