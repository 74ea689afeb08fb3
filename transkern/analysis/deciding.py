"""What decides at run time whether a loop's iterations are independent: a distance that is not known before.

    for i in range(n):
        a[i] = a[i + k] * 2     independent where k == 0, k >= n or k <= -n

Or a size whose parity is not known, where neighbours go round:

    for i in range(n):
        if i % 2 == colour:
            a[i] = a[(i + 1) % n]     independent where n % 2 == 0
"""

from __future__ import annotations

from collections.abc import Mapping

from transkern.analysis.dependence import Meeting
from transkern.analysis.splitting import before_loop
from transkern.analysis.verdicts import Verdict
from transkern.ir import build as b
from transkern.ir.expr import Apply, Expr, Var
from transkern.ir.traverse import buffers_read, walk_expr

_MEETINGS = 16
"""Pairs of accesses that may meet: more than that is another kind of loop."""


def deciding_facts(verdict: Verdict) -> tuple[Expr, ...]:
    """Conditions over what is known before the loop that may make its iterations independent; none where nothing of
    that kind is found. That they do is to be proven."""
    if not verdict.by_memory_alone or verdict.meeting is None:
        return ()
    facts: dict[Expr, None] = {}
    for count, meeting in enumerate(verdict.carried.meetings()):
        found = _facts(verdict, meeting)
        if not found or count >= _MEETINGS:
            return ()
        facts.update(dict.fromkeys(found))
    return tuple(facts)


def _facts(verdict: Verdict, meeting: Meeting) -> list[Expr]:
    """When two accesses stay apart: their subscripts differ by more than the loop's range, or not at all."""
    loop, carried = verdict.loop, verdict.carried
    axis = Var(loop.axis)
    up = carried.level.step > 0
    extent = b.sub(loop.stop, loop.start) if up else b.sub(loop.start, loop.stop)
    for x, y in zip(meeting.first.index or (), meeting.second.index or (), strict=False):
        facts: list[Expr] = []
        places: list[Expr] = []
        for e in (x, y):
            place = before_loop(e, carried.body.lets)
            counted = None if place is None else _from_the_front(place)
            if place is None or counted is None:
                break
            if counted is not place:
                factor = b.affine(counted)[0].get(axis, 0)
                first, last = (loop.start, b.sub(loop.stop, b.ONE)) if up else (b.add(loop.stop, b.ONE), loop.start)
                least = b.substitute(counted, {loop.axis: first if factor > 0 else last})
                facts.append(b.compare("greater_equal", least, b.ZERO))
            places.append(counted)
        if len(places) < 2:
            continue
        one, two = (b.affine(e)[0].get(axis, 0) for e in places)
        gap = b.sub(places[1], places[0])
        if not one or one != two or not carried.fixed(gap) or buffers_read(gap):
            continue
        if b.constant(gap) not in (None, 0):
            continue  # known before
        gap = min(gap, b.neg(gap), key=lambda e: (len(repr(e)), repr(e)))  # the same for both orders of the two
        if gap != b.ZERO:
            reach = b.mul(b.index(abs(one)), extent)
            far = b.compare("greater_equal", gap, reach)
            if not b.is_nonnegative(gap) and b.compare("greater_equal", gap, b.ZERO) not in facts:
                far = b.either(far, b.compare("less_equal", gap, b.neg(reach)))
            facts.append(b.either(b.compare("equal", gap, b.ZERO), far))
        if all(carried.fixed(f) and not buffers_read(f) for f in facts):
            return [f for f in facts if f != b.TRUE]
    return _parities(verdict, meeting)


def _parities(verdict: Verdict, meeting: Meeting) -> list[Expr]:
    """That sizes around which subscripts go are multiples of what conditions count by."""
    accesses = (meeting.first, meeting.second)
    asked = [e for a in accesses for condition in a.conditions for e in walk_expr(condition)]
    counts = {b.constant(e.args[1]) for e in asked if isinstance(e, Apply) and e.op == "remainder"} - {None, 0}
    if len(counts) != 1 or (count := counts.pop()) is None:
        return []
    sizes: dict[Expr, None] = {}
    for a in accesses:
        for index in a.index or ():
            for e in walk_expr(_resolved(index, verdict.carried.body.lets)):
                if isinstance(e, Apply) and e.op == "remainder" and b.constant(e.args[1]) is None:
                    sizes[e.args[1]] = None
    if not sizes or not all(verdict.carried.fixed(e) and not buffers_read(e) for e in sizes):
        return []
    return [b.compare("equal", b.mod(e, b.index(count)), b.ZERO) for e in sizes]


def _resolved(e: Expr, lets: Mapping[str, Expr]) -> Expr:
    return before_loop(e, lets) or e


def _from_the_front(e: Expr) -> Expr:
    """A subscript that counts from the end where it is negative as what it is elsewhere."""
    match e:
        case Apply("where", (Apply("less", (x, y), _), _, z), "index") if x == z and b.constant(y) == 0:
            return x
        case _:
            return e
