"""Lanes: whether what an inner loop does at one position never meets what it does at another, whatever the time."""

from __future__ import annotations

from transkern.analysis import integers
from transkern.analysis.accesses import Access
from transkern.analysis.dependence import Carried
from transkern.analysis.verdicts import Verdict
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Var
from transkern.ir.traverse import scalars_set, variables_read


def lane_loops(verdict: Verdict, moving: bool = False) -> tuple[n.Loop, ...] | None:
    """The loops over the lanes that make up the body of a loop, all over one range that the loop does not change; where
    it is `moving`, that may change with each iteration."""
    found: list[n.Loop] = []
    for s in verdict.loop.body:
        match s:
            case n.Loop():
                found.append(s)
            case n.Let():
                pass
            case _:
                return None
    if not found:
        return None
    first = found[0]
    if any((s.start, s.stop, s.step) != (first.start, first.stop, first.step) for s in found):
        return None
    if moving:
        return tuple(found)
    changed = {verdict.loop.axis} | {name for s in verdict.loop.body for name in scalars_set(s)}
    if (variables_read(first.start) | variables_read(first.stop)) & changed:
        return None
    if not all(verdict.carried.fixed(e) for e in (first.start, first.stop)):
        return None
    return tuple(found)


def lanes_apart(program: n.Program, verdict: Verdict, moving: bool = False) -> bool:
    """Whether the loop carries nothing from one lane to another: then each lane may run through all of it alone;
    `moving`: of which lanes there are, each iteration decides."""
    loops = lane_loops(verdict, moving)
    if loops is None:
        return False
    axes = {s.axis for s in loops}
    carried = verdict.carried
    shared = [a for a in carried.body.accesses if a.buffer in carried.body.written]
    if any(not a.levels or a.levels[0].axis not in axes for a in shared):
        return False
    for first, second in carried.pairs():
        if _in_one_lane(carried, first, second):
            continue
        question, names1, names2, _ = carried.question(first, second)
        time1, time2 = names1[carried.loop.axis], names2[carried.loop.axis]
        lane1, lane2 = names1[first.levels[0].axis], names2[second.levels[0].axis]
        order = integers.at_least(*((time2, time1) if carried.level.step > 0 else (time1, time2)))
        if question.possible(order, integers.unequal(lane1, lane2)):
            return False
    return bool(carried.body.written)


def _in_one_lane(carried: Carried, first: Access, second: Access) -> bool:
    """Whether a subscript tells the lane, so that what two lanes touch is apart: no question then."""
    if first.index is None or second.index is None:
        return False
    one, two = (Var(x.levels[0].axis) for x in (first, second))
    for x, y in zip(first.index, second.index, strict=False):
        (terms, total), (others, other) = b.affine(x), b.affine(y)
        factor = terms.pop(one, 0)
        if factor and factor == others.pop(two, 0) and (terms, total) == (others, other):
            if all(map(carried.fixed, terms)):
                return True
    return False
