"""The one iteration that keeps the others from being independent."""

from __future__ import annotations

from collections.abc import Mapping

from transkern.analysis import integers
from transkern.analysis.dependence import Meeting
from transkern.analysis.verdicts import Verdict
from transkern.ir import build as b
from transkern.ir.expr import Apply, Expr, Var
from transkern.ir.traverse import buffers_read, variables_read, walk_expr

_MEETINGS = 8
"""Pairs of accesses that may meet in one iteration: more than that is another kind of loop."""


def splitting_point(verdict: Verdict) -> Expr | None:
    """The iteration without which the loop's iterations are independent; None where there is none."""
    if not verdict.by_memory_alone or verdict.meeting is None:
        return None
    meetings: list[Meeting] = []
    for meeting in verdict.carried.meetings():
        meetings.append(meeting)
        if len(meetings) > _MEETINGS:
            return None
    for point in _candidates(verdict, meetings[0]):
        if all(_only_there(verdict, m, point) for m in meetings):
            return point
    return None


def _candidates(verdict: Verdict, meeting: Meeting) -> list[Expr]:
    """Iterations that the subscripts of a meeting single out: where ``i + c`` meets ``e``, it is ``e - c``."""
    axis = Var(verdict.loop.axis)
    found: list[Expr] = []
    one, two = meeting.first.index or (), meeting.second.index or ()
    for x, y in [*zip(one, two, strict=False), *zip(two, one, strict=False)]:
        terms, _ = b.affine(x)
        if terms.get(axis) != 1 or not verdict.carried.fixed(y):
            continue
        point = before_loop(b.sub(y, b.sub(x, axis)), verdict.carried.body.lets)
        if point is not None and verdict.carried.fixed(point) and point not in found:
            found.append(point)
    return found


def before_loop(e: Expr, lets: Mapping[str, Expr]) -> Expr | None:
    """`e` without the names that the loop's body binds; None where it cannot be worked out if no iteration runs."""
    while variables_read(e) & lets.keys():
        e = b.map_expr(e, lambda x: lets.get(x.name) if isinstance(x, Var) else None)
        divides = (x for x in walk_expr(e) if isinstance(x, Apply) and x.op in ("floor_divide", "remainder"))
        if buffers_read(e) or not all(b.constant(x.args[1]) for x in divides):
            return None
    return e


def _only_there(verdict: Verdict, meeting: Meeting, point: Expr) -> bool:
    carried = verdict.carried
    question, names1, names2, _ = carried.question(meeting.first, meeting.second)
    one, two = names1[carried.loop.axis], names2[carried.loop.axis]
    at = question.linear(point, {}, "0")
    order = integers.less(one, two) if carried.level.step > 0 else integers.less(two, one)
    return not question.possible(order, integers.unequal(one, at), integers.unequal(two, at))
