"""Bands: two loops, one in the other, whose dependences are constant distances."""

from __future__ import annotations

from transkern.analysis.affine import Unproven
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
        outer = f"({names2[carried.loop.axis]} - {names1[carried.loop.axis]})"
        within = f"({names2[inner.axis]} - {names1[inner.axis]})"
        if step1 < 0:
            outer = f"(-{outer})"
        if step2 < 0:
            within = f"(-{within})"
        later = f"({outer} > 0 or ({outer} = 0 and {within} > 0))"
        excluded: list[str] = []
        for _ in range(4):  # a pair of accesses has one distance as a rule; a few with modulo subscripts
            values = question.sample([later, *excluded])
            if values is None:
                break
            if isinstance(values, Unproven):
                return None
            d1 = (values[names2[carried.loop.axis]] - values[names1[carried.loop.axis]]) * (1 if step1 > 0 else -1)
            d2 = (values[names2[inner.axis]] - values[names1[inner.axis]]) * (1 if step2 > 0 else -1)
            found.add((d1 // abs(step1), d2 // abs(step2)))
            excluded.append(f"({outer} != {d1} or {within} != {d2})")
        else:
            return None
    return frozenset(found) if found else None
