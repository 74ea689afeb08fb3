"""Loops in order whose range moves from lane to lane: triangles, windows that an end cuts, bands.

    each lane:                                 for k in 0 .. n - 15: each lane: s += x[k] * x[k + lane]
        for k in 0 .. n - lane:          to    for k in n - 15 .. n:
            s += x[k] * x[k + lane]                each lane: if k < n - lane: s += x[k] * x[k + lane]

All lanes go together through what their ranges have in common; before and behind that an iteration is for some lanes
only. Each lane has its iterations in their order. Ranges that are equally long for all (`range(i - r, i + r)`) begin
together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from transkern.fuse.lanes.uniform import Uniform
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Var
from transkern.ir.traverse import (
    buffers_read,
    buffers_written,
    map_block,
    scalars_set,
    variables_read,
    walk,
    with_bodies,
)  # fmt: skip
from transkern.records import replace

_STEEPEST = 4
"""Iterations by which an end of a range may move from one lane to the next."""


def has_moving_ranges(axis: str, body: Sequence[n.Stmt]) -> bool:
    """Whether the loops in `body` have the same bounds for every value of `axis`, or ones that move with it."""
    uniform = Uniform(axis, body)
    return all(range_of(s, axis, body, uniform) is not None for s in walk(body) if isinstance(s, n.Loop))


def begun_together(axes: Iterable[str], body: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
    """Statements whose loops in order count from zero where all of the range moves with `axes`: what is equally long
    for all lanes begins together."""
    names = frozenset(axes)

    def change(s: n.Stmt) -> n.Stmt:
        s = with_bodies(s, lambda inner: tuple(map(change, inner)))
        if not isinstance(s, n.Loop) or s.kind != "sequential" or s.step != b.ONE:
            return s
        length = b.sub(s.stop, s.start)
        if not variables_read(s.start) & names or variables_read(length) & names:
            return s
        changed = {name for x in s.body for name in (*scalars_set(x), *buffers_written(x))}
        if (variables_read(s.start) | buffers_read(s.start)) & changed:
            return s
        place = {s.axis: b.add(s.start, Var(s.axis))}
        moved = map_block(s.body, lambda e: place.get(e.name) if isinstance(e, Var) else None)
        return replace(s, start=b.ZERO, stop=length, body=moved, spare=None)

    return tuple(map(change, body))


@dataclass(frozen=True, slots=True)
class Range:
    """A loop's range, of names that all lanes share and of the axis; `moves` where it is not the same for all."""

    start: Expr
    stop: Expr
    moves: bool


def range_of(s: n.Loop, axis: str, body: Sequence[n.Stmt], uniform: Uniform) -> Range | None:
    """The range of a loop in `body`, which each value of `axis` has for itself; nothing where it is not known how it
    moves, or it moves far."""
    if uniform.holds(s.start) and uniform.holds(s.stop):
        return Range(s.start, s.stop, moves=False)
    if s.kind != "sequential" or s.step != b.ONE or any(isinstance(x, n.Loop) for x in walk(s.body)):
        return None
    lets: dict[str, Expr] = {}
    for x in body:
        if isinstance(x, n.Let):
            lets[x.name] = b.substitute(x.value, lets)
    start, stop = (b.substitute(e, lets) for e in (s.start, s.stop))
    if not all(_moves(e, axis, uniform) for e in (start, stop)):
        return None
    if axis in variables_read(start) and axis in variables_read(stop):
        return None  # windows, of which lanes have little in common
    return Range(start, stop, moves=True)


def _moves(e: Expr, axis: str, uniform: Uniform) -> bool:
    """Whether a bound goes on with `axis` by constants, or is the greater or less of such ones."""
    if uniform.holds(e):
        return True
    if isinstance(e, Apply) and e.op in ("minimum", "maximum"):
        return all(_moves(x, axis, uniform) for x in e.args)
    return _slope(e, axis, uniform) is not None


def _slope(e: Expr, axis: str, uniform: Uniform) -> int | None:
    """By how much a bound goes on from one value of `axis` to the next."""
    if e.dtype != "index":
        return None
    terms, _ = b.affine(e)
    slope = terms.pop(Var(axis, "index"), 0)
    return slope if all(map(uniform.holds, terms)) and abs(slope) <= _STEEPEST else None


def _between(e: Expr, axis: str, uniform: Uniform, first: Expr, last: Expr) -> tuple[Expr, Expr]:
    """Bounds of a bound where `axis` is at least `first` and at most `last`."""
    if axis not in variables_read(e):
        return e, e
    if isinstance(e, Apply) and e.op in ("minimum", "maximum"):
        make = b.minimum if e.op == "minimum" else b.maximum
        (low, high), (other_low, other_high) = (_between(x, axis, uniform, first, last) for x in e.args)
        return make(low, other_low), make(high, other_high)
    slope = _slope(e, axis, uniform)
    assert slope is not None
    ends = b.substitute(e, {axis: first}), b.substitute(e, {axis: last})
    return ends if slope >= 0 else ends[::-1]


def parts_of(s: n.Loop, found: Range, axis: str, uniform: Uniform, first: Expr, last: Expr) -> Iterator[n.Loop]:
    """A loop whose range moves, as loops that all lanes from `first` to `last` go through together."""
    here = Var(s.axis)
    begin, begun_by_all = _between(found.start, axis, uniform, first, last)
    left_by_one, end = _between(found.stop, axis, uniform, first, last)
    if axis in variables_read(found.start):
        inside = b.compare("less_equal", found.start, here)
        # ranges that have nothing in common are gone through as a whole before
        together = b.where(b.compare("less_equal", begun_by_all, left_by_one), begun_by_all, b.maximum(begin, end))
        yield replace(s, start=begin, stop=together, body=(n.If(inside, s.body, span=s.span),), spare=None)
    else:
        together = begin
    alone = b.maximum(together, left_by_one)
    yield replace(s, start=together, stop=alone, spare=None)
    if axis in variables_read(found.stop):
        condition = b.compare("less", here, found.stop)
        yield replace(s, start=alone, stop=end, body=(n.If(condition, s.body, span=s.span),), spare=None)
