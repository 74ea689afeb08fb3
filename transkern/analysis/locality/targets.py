"""What a statement stores into, and what that becomes by what it reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from transkern.analysis.locality.held import HIGH, LOW, Context, Extent, Held
from transkern.analysis.locality.places import Linear, Places

if TYPE_CHECKING:
    from transkern.analysis.locality.reading import Reading

class Target:
    """What a statement stores into, and what that becomes by what it reads."""

    def __init__(self, reading: Reading, name: str, extents: tuple[Extent, ...], context: Context) -> None:
        self.reading, self.name, self.extents, self.context = reading, name, list(extents), context
        self.runs: dict[str, tuple[int, int, int]] = {}  # by size: the dim, how far behind its axis, the gap at the end
        self.at: dict[str, str] = dict(context)  # ends of axes that it is at
        self.ends: set[tuple[str, str]] = set()

    def aim(self, index: Sequence[Linear | None]) -> None:
        """Says which elements are stored."""
        r = self.reading
        if len(index) != len(self.extents):
            for e in self.extents:
                r.whole(e.size, "its elements are stored in one line")
            for name in {name for form in index if form is not None for name in form.names if name in r.places.axes}:
                r.whole(r.places.axes[name].size, "its elements go to places by number")
            return
        for k, form in enumerate(index):
            e = self.extents[k]
            names = form.names if form is not None else {}
            axes = [name for name in names if name in r.places.axes]
            if not e.size:
                for name in axes:
                    r.whole(r.places.axes[name].size, "its elements go to places by number")
                continue
            if r.is_whole(e.size):
                for name in axes:
                    if r.found.axis(r.places.axes[name].size) != e.size:
                        r.whole(r.places.axes[name].size, "its elements go along another axis")
                continue
            end = None if form is None else end_of(form, e.size, r.places)
            if form is not None and len(axes) == 1 and form.terms == ((axes[0], 1),):
                along = r.places.axes[axes[0]]
                r.unite(along.size, e.size)
                if e.size in self.runs:
                    r.whole(e.size, "two axes run along it")
                low, gap = form.offset, e.more - form.offset - along.more
                self.runs[e.size] = k, low, gap
                self.extents[k] = replace(e, low=max(e.low, low, along.low + low if along.low else 0),
                                          high=max(e.high, gap, along.high + gap if along.high else 0))  # fmt: skip
                self.at.pop(e.size, None)
            elif end is not None:
                side, reach = end
                self.at[e.size] = side
                low, high = (reach, 0) if side == LOW else (0, reach + e.more)
                self.extents[k] = replace(e, low=max(e.low, low), high=max(e.high, high))
            else:
                r.whole(e.size, "its elements are stored in places by number")
                for name in axes:
                    r.whole(r.places.axes[name].size, "its elements go to places by number")

    def reads(self, buffer: str, index: Sequence[Linear | None], context: Context) -> None:
        """Elements of a buffer go into the value."""
        r = self.reading
        held = r.held.get(buffer, Held())
        self.takes(held.ends, context)
        if len(index) != len(held.extents):  # its memory as one line
            for e in held.extents:
                r.whole(e.size, "its elements are read in one line")
            for name in {name for form in index if form is not None for name in form.names if name in r.places.axes}:
                r.whole(r.places.axes[name].size, "its elements are looked up by number")
            return
        for e, form in zip(held.extents, index, strict=True):
            names = form.names if form is not None else {}
            axes = [name for name in names if name in r.places.axes]
            if not e.size or r.is_whole(e.size):
                for name in axes:
                    size = r.found.axis(r.places.axes[name].size)
                    if size != r.found.axis(e.size) and size not in context:
                        r.whole(size, "its elements are looked up by number")
                continue
            if form is None:
                r.whole(e.size, "its elements are looked up by number")
                continue
            at = {**self.at, **context}
            end = end_of(form, e.size, r.places)
            counters = [name for name in names if name in r.places.counters]
            if len(axes) == 1 and names[axes[0]] == 1 and set(names) == {axes[0], *counters}:
                along = r.places.axes[axes[0]]
                r.unite(along.size, e.size)
                self.near(e, form, r.found.axis(e.size), counters)
            elif end is not None:
                side = end[0]
                r.places.least[e.size] = max(r.places.least.get(e.size, 0), end[1])
                if (e.size in self.runs and at.get(e.size) is None) or at.get(e.size, side) != side:
                    r.whole(e.size, "one element of it goes into others")
                elif at.get(e.size) is None:
                    self.ends.add((e.size, side))
            else:
                r.whole(e.size, "its elements are looked up by number")
                for name in axes:
                    r.whole(r.places.axes[name].size, "its elements are looked up by number")

    def near(self, e: Extent, form: Linear, size: str, counters: Sequence[str]) -> None:
        """Elements around the one that is stored go into it."""
        r = self.reading
        if size not in self.runs:
            if self.name and size not in self.at:
                r.whole(size, "elements along it go into one number")
            return
        k, behind, _ = self.runs[size]
        reach = [form.names[name] * (r.places.counters[name] - 1) for name in counters]
        first, last = (form.offset + sum(f(x, 0) for x in reach) - behind for f in (min, max))
        own = self.extents[k]
        low, high = max(own.low, e.low - first), max(own.high, e.high - e.more + own.more + last)
        self.extents[k] = replace(own, low=low, high=high)

    def takes(self, ends: Iterable[tuple[str, str]], context: Context | None = None) -> None:
        """Something of the ends of axes goes into the value."""
        at = {**self.at, **(context or {})}
        for size, side in ends:
            if self.reading.is_whole(size):
                continue
            if (size in self.runs and at.get(size) is None) or at.get(size, side) != side:
                self.reading.whole(size, "something of its end goes into others")
            elif at.get(size) is None:
                self.ends.add((size, side))

    def landed(self) -> tuple[Extent, ...]:
        """The axes behind the statement; what conditions on places say is known by now."""
        r = self.reading
        for size, (k, behind, gap) in self.runs.items():
            for along in r.places.axes.values():
                if r.found.axis(along.size) == size:
                    e = self.extents[k]
                    low = along.low + behind if along.low else 0
                    high = along.high + gap if along.high else 0
                    self.extents[k] = replace(e, low=max(e.low, low), high=max(e.high, high))
        return tuple(self.extents)


def end_of(form: Linear, size: str, places: Places) -> tuple[str, int] | None:
    """The end of an axis that a subscript is at, and how many places from there it reaches."""
    names = form.names
    if any(name != size and name not in places.counters for name in names):
        return None
    reach = [by * (places.counters[name] - 1) for name, by in names.items() if name in places.counters]
    first, last = (form.offset + sum(f(x, 0) for x in reach) for f in (min, max))
    if size not in names:
        return (LOW, last + 1) if first >= 0 else None
    return (HIGH, -first) if names[size] == 1 and last < 0 else None
