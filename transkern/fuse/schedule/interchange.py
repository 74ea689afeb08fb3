"""Independent lanes run through time each for itself: the loops over the lanes go outside.

    for t in 1 .. n:                              parallel l in 0 .. m:
        parallel l in 0 .. m:              to         for t in 1 .. n:
            y[t, l] = a * y[t - 1, l] + x[t, l]           y[t, l] = a * y[t - 1, l] + x[t, l]

Legal where nothing that one lane does, at any time, meets what another lane does. One launch then does all of it, a
thread a lane, without a barrier. What an iteration has names for before its lanes (`a = c[t]`) each lane computes,
where that takes a few operations.

Which lanes there are may change with the loop: a lane then runs through the iterations in which it is one of them.

    for t in -r .. r + 1:                                       parallel l in 0 .. n:
        parallel l in max(-t, 0) .. min(n - t, n):      to          for t in max(-r, -l) .. min(r + 1, n - l):
            s[l] = s[l] + x[l + t]                                      s[l] = s[l] + x[l + t]

What a range ends at is taken apart into what moves by one lane an iteration, and what does not move. Where lanes are
counted from another place each time (``s[low + l]``), a lane is the element that is stored.

A few lanes of known number (the three coordinates of ``s = 0.9 * s + x[i]``) stay inside, to be written out: a loop in
order for each would wait for its additions alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from math import prod

from transkern.analysis.accesses import Level
from transkern.analysis.lanes import lanes_apart
from transkern.analysis.verdicts import Walk
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Var
from transkern.ir.ops import OPS
from transkern.ir.storage import SHORT_ROW
from transkern.ir.traverse import (
    buffers_read,
    buffers_written,
    map_block,
    resolved,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
)  # fmt: skip
from transkern.records import replace

_FEW = 4
"""Additions, or what takes as long, that each lane may do again."""


_POINTS = SHORT_ROW**2
"""So many points, side by side in one loop, hide each other's additions; in a loop each, all wait for theirs."""


def lanes_outside(program: n.Program) -> n.Program:
    """The program with recurrences of independent lanes inside the loops over the lanes."""
    return _interchanged(program, moving=True)


def lanes_outside_for_devices(program: n.Program) -> n.Program:
    """`lanes_outside` where all iterations have the same lanes: a block's threads have no lengths of their own."""
    return _interchanged(program, moving=False)


def _interchanged(program: n.Program, moving: bool) -> n.Program:
    if not any(isinstance(s, n.Loop) and s.kind == "sequential" for s in walk(program.body)):
        return program
    return replace(program, body=_Interchanging(program, moving).block(program.body))


class _Interchanging(Walk):
    loops_only = True

    def __init__(self, program: n.Program, moving: bool) -> None:
        super().__init__(program)
        self.moving = moving
        self.apart = False  # whether the present place is in a parallel loop, whose iterations are lanes as well

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if isinstance(s, n.Loop) and s.kind == "sequential":
            if (made := inside_lanes(self, s, self.moving)) is not None:
                if self.moving and not self.apart and are_few(made) and not _stores_along(s):
                    return [s]
                return [self.if_any(s, made)]
            within = self.inside(s)  # of loops around each other the inner one may have to go first
            made = inside_lanes(self, within, True) if self.moving and isinstance(within, n.Loop) else None
            return [within if made is None else self.if_any(s, made)]
        before = self.apart
        self.apart = before or (isinstance(s, n.Loop) and s.kind == "parallel")
        inside = self.inside(s)
        self.apart = before
        return [inside]

    def if_any(self, s: n.Loop, lanes: n.Loop) -> n.Stmt:
        """The lanes behind the question whether they have any iteration to run through, where there may be more lanes
        than elements without one: what holds an element for all iterations needs to know that it is there."""
        if not self.moving or s.step != b.ONE:
            return lanes
        nest = nest_of(lanes)
        self.levels += [Level(x.axis, x.start, x.stop) for x in nest]
        own = {x.axis for x in walk(nest[-1].body) if isinstance(x, n.Loop)} | {
            name for x in nest[-1].body for name in scalars_set(x)
        }
        stored = {
            (e, dim) for x in walk(nest[-1].body) if isinstance(x, n.Store)
            for e, dim in zip(x.index, self.program.buffers[x.buffer].dims, strict=False)
            if not variables_read(e) & own and not buffers_read(e)
        }  # fmt: skip
        there = all(self.holds(b.compare("less", e, dim)) for e, dim in stored)
        del self.levels[len(self.levels) - len(nest) :]
        return lanes if there else n.If(b.compare("less", s.start, s.stop), (lanes,), span=s.span)


def inside_lanes(place: Walk, s: n.Loop, moving: bool = False) -> n.Loop | None:
    """A loop in order inside all the parallel loops that it is around, where none of them keeps it out; `moving`: also
    where each iteration has lanes of its own."""
    match s.body:
        case (*before, n.Loop(kind="parallel") as lane) if _plain(lane):
            pass
        case _:
            return None
    verdict = place.judged(s)
    if not verdict.by_memory_alone:
        return None
    if _soon_computed(before, lane) and lanes_apart(place.program, verdict):
        inner = replace(s, body=(*before, *lane.body))
    else:
        made = moved_lanes(place, s, before, lane) if moving else None
        if made is None:
            return None
        lane, inner = made
    if not _is_nest(lane):
        return replace(lane, body=(inner,))
    place.levels.append(Level(lane.axis, lane.start, lane.stop, b.constant(lane.step) or 1))
    inside = inside_lanes(place, inner, moving)
    place.levels.pop()
    return replace(lane, body=(inside,)) if inside is not None else None


def moved_lanes(
    place: Walk, s: n.Loop, before: Sequence[n.Stmt], lane: n.Loop
) -> tuple[n.Loop, n.Loop] | None:
    """A loop over all lanes that any iteration of `s` has, and `s` as the lane of that runs through it."""
    if not s.step == lane.step == b.ONE or (by := _stored_by(lane)) is None:
        return None
    lets = {x.name: x.value for x in before if isinstance(x, n.Let)}
    ends = resolved(b.add(lane.start, by), lets), resolved(b.add(lane.stop, by), lets)
    changed = buffers_written(lane) | scalars_set(lane)
    if any(buffers_read(e) or variables_read(e) & (changed - {lane.axis}) for e in (*ends, s.start, s.stop)):
        return None
    spans = _spans(s, Var(lane.axis), *ends)
    if spans is None:
        return None
    start = {lane.axis: b.sub(Var(lane.axis), by)}
    body = map_block(lane.body, lambda e: start.get(e.name) if isinstance(e, Var) else None)
    shifted = replace(lane, start=ends[0], stop=ends[1], body=body, spare=None)
    around = replace(s, body=(*before, shifted))
    if not _soon_computed(before, shifted) or not lanes_apart(place.program, place.judged(around), moving=True):
        return None
    lows, highs, first, last = spans
    with place.scope():
        place.facts.append(b.compare("less", s.start, s.stop))  # else no lane does anything
        lows = _needed(lows, lambda x, y: place.holds(b.compare("less_equal", x, y)))
        highs = _needed(highs, lambda x, y: place.holds(b.compare("less_equal", y, x)))
    inner = replace(
        s, start=reduce(b.maximum, first, s.start), stop=reduce(b.minimum, last, s.stop), body=(*before, *body),
        spare=None,
    )  # fmt: skip
    return replace(shifted, start=reduce(b.maximum, lows), stop=reduce(b.minimum, highs)), inner


def _stored_by(lane: n.Loop) -> Expr | None:
    """By how many elements what a lane stores stands behind the element of the lane's own number: the same in all
    stores, and not decided by loops inside."""
    own = {x.axis for x in walk((lane,)) if isinstance(x, n.Loop)} | {x.name for x in walk(lane.body)
                                                                      if isinstance(x, (n.Let, n.Assign))}  # fmt: skip
    found: set[Expr] = set()
    for x in walk(lane.body):
        if isinstance(x, n.Store):
            places = [b.sub(i, Var(lane.axis)) for i in x.index if lane.axis in variables_read(i)]
            if len(places) != 1 or variables_read(places[0]) & own or buffers_read(places[0]):
                return None
            found.add(places[0])
    return found.pop() if len(found) == 1 else None


def _spans(
    s: n.Loop, lane: Var, start: Expr, stop: Expr
) -> tuple[list[Expr], list[Expr], list[Expr], list[Expr]] | None:
    """What the lanes of any iteration are at least, and below; and what the iterations of a lane are at least, and
    below: from a range of lanes that moves by one an iteration, or not at all."""
    lows: list[Expr] = []
    highs: list[Expr] = []
    first: list[Expr] = []
    last: list[Expr] = []
    axis, final = Var(s.axis), b.sub(s.stop, b.ONE)
    for parts, bounds, is_start in ((_parts(start, "maximum"), lows, True), (_parts(stop, "minimum"), highs, False)):
        for e in parts:
            factor = b.affine(e)[0].get(axis, 0)
            rest = b.sub(e, b.mul(b.index(factor), axis))
            if abs(factor) > 1 or s.axis in variables_read(rest):
                return None
            # the iteration in which most lanes are on this side
            widest = s.start if (factor > 0) == is_start else final
            bounds.append(b.add(rest, b.mul(b.index(factor), widest)))
            if factor == 1 and is_start:  # axis + rest <= lane
                last.append(b.add(b.sub(lane, rest), b.ONE))
            elif factor == 1:  # lane < axis + rest
                first.append(b.add(b.sub(lane, rest), b.ONE))
            elif factor == -1 and is_start:  # rest - axis <= lane
                first.append(b.sub(rest, lane))
            elif factor == -1:  # lane < rest - axis
                last.append(b.sub(rest, lane))
    return lows, highs, first, last


def _parts(e: Expr, op: str) -> list[Expr]:
    """The expressions of which `e` is the greatest (``maximum``), or the least."""
    for atom, factor in b.affine(e)[0].items():
        match atom:
            case Apply("maximum" | "minimum" as found, (x, y), _) if abs(factor) == 1 and (found == op) == (factor > 0):
                rest = b.sub(e, b.mul(b.index(factor), atom))
                return [p for v in (x, y) for p in _parts(b.add(rest, b.mul(b.index(factor), v)), op)]
            case _:
                pass
    return [e]


def _needed(bounds: Sequence[Expr], is_implied: Callable[[Expr, Expr], bool]) -> list[Expr]:
    """Bounds without those that others imply."""
    kept = list(dict.fromkeys(bounds))
    for e in tuple(kept):
        if any(other != e and is_implied(e, other) for other in kept):
            kept.remove(e)
    return kept


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


def are_few(nest: n.Loop) -> bool:
    """Whether a nest of parallel loops has so few points that they are statements rather (`unroll_short`)."""
    extents = [b.constant(b.sub(x.stop, x.start)) for x in nest_of(nest)]
    return all(e is not None and e <= SHORT_ROW for e in extents) and prod(e or 0 for e in extents) <= _POINTS


def _stores_along(s: n.Loop) -> bool:
    """Whether iterations leave elements of their own: those take what the last one has left from memory."""
    return any(s.axis in variables_read(e) for x in walk(s.body) if isinstance(x, n.Store) for e in x.index)


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
