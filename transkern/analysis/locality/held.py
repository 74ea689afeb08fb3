"""What is known of axes, buffers and scalars while a program is read, and what comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from transkern.ir.expr import NOWHERE, Span

LOW, HIGH = "low", "high"

Context = Mapping[str, str]
"""Axes at whose ends alone something is computed: ``low``, ``high``, or ``both``."""


@dataclass(frozen=True)
class Extent:
    """An axis of a buffer: of the size `size` and `more` (a size of its own where `size` is empty), and in how many
    places at its ends a chunk has other elements than the array."""

    size: str = ""
    more: int = 0
    low: int = 0
    high: int = 0


@dataclass(frozen=True)
class Held:
    """What is known of a buffer or a scalar: its axes, and of which axes' ends it holds something."""

    extents: tuple[Extent, ...] = ()
    ends: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True)
class Reason:
    """Why an axis has to be whole."""

    text: str
    span: Span = NOWHERE


@dataclass
class Locality:
    """What a program allows.

    `axes`: those that can be cut, by names of sizes, and how far chunks overlap at their two ends. `whole`: why the
    others cannot. `same`: sizes that are one axis. `least`: how long chunks have to be. `results`: for each array of
    the result, the axis of each of its dims, empty where it is none of the arguments'.
    """

    axes: dict[str, tuple[int, int]] = field(default_factory=dict)
    whole: dict[str, Reason] = field(default_factory=dict)
    same: dict[str, str] = field(default_factory=dict)
    least: dict[str, int] = field(default_factory=dict)
    results: list[tuple[str, ...]] = field(default_factory=list)

    def axis(self, size: str) -> str:
        """The axis that a size stands for."""
        while size in self.same:
            size = self.same[size]
        return size


class United(Exception):
    """Two sizes turned out to be one axis: what is known of the program is to be read again."""


def joined(one: Held, two: Held) -> Held:
    """What holds after either of two ways."""
    extents = tuple(
        replace(c, low=max(a.low, c.low), high=max(a.high, c.high))
        for a, c in zip(one.extents, two.extents, strict=True)
    )
    return Held(extents, one.ends | two.ends)


def growth(before: Mapping[str, Held], after: Mapping[str, Held]) -> dict[tuple[str, int, str], int]:
    found = {}
    for name, held in after.items():
        for k, e in enumerate(held.extents):
            old = before[name].extents[k] if name in before else Extent()
            if e.low > old.low:
                found[name, k, LOW] = e.low - old.low
            if e.high > old.high:
                found[name, k, HIGH] = e.high - old.high
    return found


