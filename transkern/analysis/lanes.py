"""Lanes: whether what an inner loop does at one position never meets what it does at another, whatever the time."""

from __future__ import annotations

from transkern.analysis import integers
from transkern.analysis.verdicts import Verdict
from transkern.ir import nodes as n
from transkern.ir.traverse import scalars_set, variables_read


def lane_loops(verdict: Verdict) -> tuple[n.Loop, ...] | None:
    """The loops over the lanes that make up the body of a loop, all over one range that the loop does not change."""
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
    changed = {verdict.loop.axis} | {name for s in verdict.loop.body for name in scalars_set(s)}
    if (variables_read(first.start) | variables_read(first.stop)) & changed:
        return None
    if not all(verdict.carried.fixed(e) for e in (first.start, first.stop)):
        return None
    return tuple(found)


def lanes_apart(program: n.Program, verdict: Verdict) -> bool:
    """Whether the loop carries nothing from one lane to another: then each lane may run through all of it alone."""
    loops = lane_loops(verdict)
    if loops is None:
        return False
    axes = {s.axis for s in loops}
    carried = verdict.carried
    shared = [a for a in carried.body.accesses if a.buffer in carried.body.written]
    if any(not a.levels or a.levels[0].axis not in axes for a in shared):
        return False
    for first, second in carried.pairs():
        question, names1, names2, _ = carried.question(first, second)
        time1, time2 = names1[carried.loop.axis], names2[carried.loop.axis]
        lane1, lane2 = names1[first.levels[0].axis], names2[second.levels[0].axis]
        order = integers.at_least(*((time2, time1) if carried.level.step > 0 else (time1, time2)))
        if question.possible(order, integers.unequal(lane1, lane2)):
            return False
    return bool(carried.body.written)


