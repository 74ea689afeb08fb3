"""Steps of libraries: which axes of theirs go through them line by line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from transkern.ir import build as b
from transkern.ir import nodes as n

if TYPE_CHECKING:
    from transkern.analysis.locality.reading import Reading


def library(reading: Reading, s: n.Library) -> None:
    free = free_axes(s, {name: len(reading.held[name].extents) for name in (*s.ins, *s.outs)})
    cut: set[tuple[str, int]] = set()
    own = {reading.private.get(name, 0) for name in s.outs}
    if len(own) == 1:  # what iterations have for themselves
        cut |= {(name, k) for name in s.outs for k in range(max(own))}
        cut |= {(name, k) for name in s.ins for k in range(reading.private.get(name, 0))}
        for name, view in s.operands:
            if view is not None and max(own):
                cut |= line(reading, name, view)
    for out, k, operand, d in free:
        one, two = reading.held[out].extents[k], reading.held[operand].extents[d]
        if one.size and one.size == two.size and one.more == two.more:
            extents = list(reading.held[out].extents)
            extents[k] = replace(two)
            reading.held[out] = replace(reading.held[out], extents=tuple(extents))
            cut |= {(out, k), (operand, d)}
    for name in (*s.ins, *s.outs):
        for k, e in enumerate(reading.held[name].extents):
            if (name, k) not in cut:
                reading.whole(e.size, f"`{s.name}` takes all of it")
        if reading.held[name].ends:
            for size, _ in reading.held[name].ends:
                reading.whole(size, f"`{s.name}` takes something of its end")


def line(reading: Reading, name: str, view: n.View) -> set[tuple[str, int]]:
    """The dims of an operand along which it is the iteration's own line alone."""
    found = set()
    for k, (first, steps) in enumerate(zip(view.offset, view.steps, strict=True)):
        form = reading.places.linear(first)
        e = reading.held[name].extents[k]
        if form in reading.iteration() and all(step == b.ZERO for step in steps) and not (e.low or e.high):
            if reading.places.axes[form.terms[0][0]].size == e.size:  # type: ignore[union-attr]
                found.add((name, k))
    return found


def free_axes(s: n.Library, ranks: Mapping[str, int]) -> list[tuple[str, int, str, int]]:
    """Dims of a library step's results that go along a dim of an operand, each place by itself."""
    attributes = dict(s.attributes)
    if any(view is not None for view in s.views) or len(s.outs) != 1:
        return []
    out = s.outs[0]
    if s.name == "matmul" and len(s.ins) == 2 and all(ranks[name] == 2 for name in (*s.ins, out)):
        return [(out, 0, s.ins[0], 0), (out, 1, s.ins[1], 1)]
    if s.name == "matmul" and len(s.ins) == 2 and (ranks[s.ins[0]], ranks[s.ins[1]], ranks[out]) == (2, 1, 1):
        return [(out, 0, s.ins[0], 0)]
    axis = attributes.get("axis")
    if s.name in _ALONG and isinstance(axis, int) and len(s.ins) == 1 and ranks[s.ins[0]] == ranks[out]:
        return [(out, k, s.ins[0], k) for k in range(ranks[out]) if k != axis % ranks[out]]
    return []


_ALONG = {"sort", "argsort", "cumsum", "cumprod", "median", "fft", "ifft"}
"""Steps that treat each line along their ``axis`` by itself, and whose result has the operand's axes."""
