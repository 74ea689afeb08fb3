"""Bands: two loops, one in the other, whose dependences are constant distances."""

from __future__ import annotations

from collections.abc import Mapping

from transkern.analysis import integers
from transkern.analysis.integers import Condition, Either, Form, Unproven
from transkern.analysis.verdicts import Verdict
from transkern.ir import nodes as n

Distance = tuple[int, int]


def constant_distances(verdict: Verdict, inner: n.Loop) -> frozenset[Distance] | None:
    """How far apart the iterations of the loop of `verdict` and of `inner`, directly inside it, are that touch one
    element, one of them writing; None where that is not a finite set of constant vectors.

    Each vector is counted in iterations and positive in the order of the program.
    """
    carried = verdict.carried
    step1 = carried.level.step
    found: set[Distance] = set()
    for first, second in carried.pairs():
        for access in (first, second):
            if not access.levels or access.levels[0].axis != inner.axis:
                return None
        question, names1, names2, _ = carried.question(first, second)
        step2 = first.levels[0].step
        outer = integers.combined({}, _difference(names1, names2, carried.loop.axis), 1 if step1 > 0 else -1)
        within = integers.combined({}, _difference(names1, names2, inner.axis), 1 if step2 > 0 else -1)
        later = Either(((integers.less({}, outer),), (integers.equal(outer, {}), integers.less({}, within))))
        excluded: list[Condition] = []
        for _ in range(4):  # a pair of accesses has one distance as a rule; a few with modulo subscripts
            values = question.sample(later, *excluded)
            if values is None:
                break
            if isinstance(values, Unproven):
                return None
            d1, d2 = integers.value(outer, values), integers.value(within, values)
            found.add((d1 // abs(step1), d2 // abs(step2)))
            excluded.append(
                Either(((integers.unequal(outer, {"": d1}),), (integers.unequal(within, {"": d2}),)))
            )
        else:
            return None
    return frozenset(found) if found else None


def _difference(one: Mapping[str, Form], two: Mapping[str, Form], axis: str) -> Form:
    return integers.combined(two[axis], one[axis], -1)
