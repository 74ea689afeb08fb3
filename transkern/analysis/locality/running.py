"""Axes of a statement, while it is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from transkern.analysis.locality.places import Along
from transkern.ir.expr import Axis

if TYPE_CHECKING:
    from transkern.analysis.locality.reading import Reading


class Running:
    """Axes of a statement, while it is read: along a size, or over a number of places."""

    def __init__(self, reading: Reading, axes: Sequence[Axis]) -> None:
        self.reading, self.axes = reading, axes

    def __enter__(self) -> None:
        r = self.reading
        for axis in self.axes:
            name, dim = axis.name, axis.extent
            e, form = r.extent(dim), r.places.linear(dim)
            if e.size:
                r.places.axes[name] = Along(e.size, e.more)
            elif form is not None and not form.terms:
                r.places.counters[name] = max(form.offset, 1)

    def __exit__(self, *_: object) -> None:
        for axis in self.axes:
            self.reading.places.axes.pop(axis.name, None)
            self.reading.places.counters.pop(axis.name, None)


