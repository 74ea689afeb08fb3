"""Independent lanes run through time each for itself: the loops over the lanes go outside.

    for t in 1 .. n:                              parallel l in 0 .. m:
        parallel l in 0 .. m:              to         for t in 1 .. n:
            y[t, l] = a * y[t - 1, l] + x[t, l]           y[t, l] = a * y[t - 1, l] + x[t, l]

Legal where nothing that one lane does, at any time, meets what another lane does. One launch then does all of it, a
thread a lane, without a barrier. What an iteration has names for before its lanes (`a = c[t]`) each lane computes,
where that takes a few operations.
"""

from __future__ import annotations

from collections.abc import Sequence

from transkern.analysis.accesses import Level
from transkern.analysis.lanes import lanes_apart
from transkern.analysis.verdicts import Walk
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply
from transkern.ir.ops import OPS
from transkern.ir.traverse import buffers_read, buffers_written, scalars_set, variables_read, walk, walk_expr
from transkern.records import replace

_FEW = 4
"""Additions, or what takes as long, that each lane may do again."""


def lanes_outside(program: n.Program) -> n.Program:
    """The program with recurrences of independent lanes inside the loops over the lanes."""
    if not any(isinstance(s, n.Loop) and s.kind == "sequential" for s in walk(program.body)):
        return program
    return replace(program, body=_Interchanging(program).block(program.body))


class _Interchanging(Walk):
    loops_only = True

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if isinstance(s, n.Loop) and s.kind == "sequential" and (made := inside_lanes(self, s)) is not None:
            return [made]
        return [self.inside(s)]


def inside_lanes(place: Walk, s: n.Loop) -> n.Loop | None:
    """A loop in order inside all the parallel loops that it is around, where none of them keeps it out."""
    match s.body:
        case (*before, n.Loop(kind="parallel") as lane) if _plain(lane) and _soon_computed(before, lane):
            pass
        case _:
            return None
    verdict = place.judged(s)
    if not verdict.by_memory_alone or not lanes_apart(place.program, verdict):
        return None
    inner = replace(s, body=(*before, *lane.body))
    if not _is_nest(lane):
        return replace(lane, body=(inner,))
    place.levels.append(Level(lane.axis, lane.start, lane.stop, b.constant(lane.step) or 1))
    made = inside_lanes(place, inner)
    place.levels.pop()
    return replace(lane, body=(made,)) if made is not None else None


def _soon_computed(before: Sequence[n.Stmt], lane: n.Loop) -> bool:
    """Whether all that stands before the lanes is names for what they may as well compute: it takes a few operations on
    what they do not change."""
    changed = buffers_written(lane) | scalars_set(lane)
    ends = variables_read(lane.start) | variables_read(lane.stop)
    return all(
        isinstance(s, n.Let) and s.name not in ends and not (buffers_read(s.value) | variables_read(s.value)) & changed
        and sum(OPS[e.op].cost if e.op in OPS else 1 for e in walk_expr(s.value) if isinstance(e, Apply)) <= _FEW
        for s in before
    )  # fmt: skip


def nest_of(nest: n.Loop) -> tuple[n.Loop, ...]:
    """A parallel loop, and those in it that are all that the one around them does."""
    found = [nest]
    while _is_nest(found[-1]):
        found.append(found[-1].body[0])  # type: ignore[arg-type]
    return tuple(found)


def _is_nest(lane: n.Loop) -> bool:
    """Whether all that a parallel loop does is another one."""
    return len(lane.body) == 1 and isinstance(lane.body[0], n.Loop) and lane.body[0].kind == "parallel"


def _plain(nest: n.Loop) -> bool:
    """Whether the loops over the lanes are all there is in parallel: loops inside them keep their threads otherwise."""
    return not any(
        isinstance(s, (n.Accumulate, n.Guard, n.Alloc, n.Compact, n.Scanning, n.While, n.Break, n.Continue))
        or (isinstance(s, n.Loop) and s.kind == "parallel")
        for s in walk(nest_of(nest)[-1].body)
    )
