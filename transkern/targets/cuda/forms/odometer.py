"""Points of a nest over several axes that a thread takes in turn: it divides where it begins, and then counts on.

From point to point the place on the last axis goes on by what the number of threads leaves there, and carries into the
axis before it, as an odometer does. A thread's number has 32 bits, and so have the divisions. Where a loop in order
comes back to a nest of the same extents, the first places are found once, before all loops.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.traverse import buffers_read, exprs, variables_read, walk
from transkern.targets.clike import ident
from transkern.targets.cuda.body import Unit, extent_of, variable_at

if TYPE_CHECKING:
    from transkern.targets.cuda.group import GroupBody

_MOST_KEPT = 3
"""Nests of different extents whose first places threads keep in registers."""


_NAMES = "count", "first", "by"


@dataclass(frozen=True, slots=True)
class Odometer:
    """Names for the extent of each axis but the first, for a thread's first place there, and for how far it goes on."""

    counts: tuple[str, ...]
    first: tuple[str, ...]
    by: tuple[str, ...]

    def go_on(self, places: Sequence[str]) -> str:
        """The expression that takes a thread's `places` to its next point."""
        added = [f"{place} += {by}" for place, by in zip(places, self.by, strict=True)]
        carried = [f"carry({places[k]}, {self.counts[k]}, {places[k - 1]})" for k in range(len(places) - 1, 0, -1)]
        return ", ".join(added + carried)


def open_points(of: GroupBody, axes: Sequence[n.Loop], first: str, size: str, inner: Sequence[n.Stmt]) -> Expr:
    """Opens one loop over all points of `axes`, from `first` by `size`, perhaps in a block with what it begins with
    (`close_to`); its variable."""
    if len(axes) == 1:
        return of.open_nest(axes, first, size)
    q = "_".join(ident(a.axis) for a in axes) + "_at"
    plain = [a.start == b.ZERO and a.step == b.ONE for a in axes]
    places = [ident(a.axis) if plain[k] else of.unit.local(f"place_{k}") for k, a in enumerate(axes)]
    before = len(of.lines)
    turns = begin(of, axes, first, size, comes_back(of, axes))
    if (declared := of.lines[before:]):  # names of this nest alone
        del of.lines[before:]
        of.open("")
        of.lines += [f"    {line}" for line in declared]
    total = of.c.operand(b.product(tuple(map(extent_of, axes))))
    begins = ", ".join(f"{x} = {y}" for x, y in zip((q, *places), (first, *turns.first), strict=True))
    keep_rolled(of, inner)
    of.open(f"for (long long {begins}; {q} < {total}; {q} += {size}, {turns.go_on(places)})")
    for a, place, is_plain in zip(axes, places, plain, strict=True):
        if not is_plain:
            of.line(variable_at(of.unit, a, Var(place, "index")))
    return Var(q, "index")


def close_to(of: GroupBody, depth: int) -> None:
    """Closes what has been opened at `depth`."""
    while of.depth > depth:
        of.close()


def comes_back(of: GroupBody, axes: Sequence[n.Loop]) -> bool:
    """Whether a loop in order comes back to a nest, and finds the same extents."""
    return of.is_outermost and bool(of.left) and ranges(of, axes) is not None


def ranges(of: GroupBody, axes: Sequence[n.Loop]) -> tuple[tuple[Expr, Expr, Expr], ...] | None:
    """The ranges of a nest, where the kernel does not change them: a thread then has the same points again."""
    found = tuple((a.start, a.stop, a.step) for a in axes)
    moves = any(variables_read(e) & of.moving or buffers_read(e) for r in found for e in r)
    return None if moves else found


def begin(of: GroupBody, axes: Sequence[n.Loop], first: str, size: str, again: bool = False) -> Odometer:
    """Declares what a thread begins a nest with, perhaps before all loops."""
    unit, inner = of.unit, [of.c.expr(b.maximum(extent_of(a), b.ONE)) for a in axes[1:]]
    if again and (first, size, *inner) in unit.begun:
        return Odometer(*unit.begun[first, size, *inner])
    again = again and len(unit.begun) < _MOST_KEPT
    number = f"{len(unit.begun)}_" if again else ""
    counts, start, by = (tuple(unit.local(f"{x}_{number}{k}") for k in range(len(axes))) for x in _NAMES)
    wide = of.tall  # a thread without a point has a number beyond all of them
    kind, whole = ("long long", "") if wide else ("int", "(int)")
    lines, pad = (unit.before_loops, "    ") if again else (of.lines, "    " * of.depth)
    unit.pieces |= {"odometer", *(["quotient"] if wide else [])}
    lines += [f"{pad}const long long {name} = {extent};" for name, extent in zip(counts[1:], inner, strict=True)]
    for places, rest in ((start, first), (by, size)):
        for k in range(len(axes) - 1, 0, -1):  # what is left goes from axis to axis
            left = places[0] if k == 1 else unit.local(f"{places[k]}_left")
            lines.append(f"{pad}const {kind} {left} = quotient({rest}, {counts[k]});")
            lines.append(f"{pad}const {kind} {places[k]} = {rest} - {left} * {whole}{counts[k]};")
            rest = left
    if again:
        unit.begun[first, size, *inner] = counts, start, by
    return Odometer(counts, start, by)


def take_begun(unit: Unit) -> list[str]:
    """The lines that stand before all loops of a kernel, which has been printed."""
    found = unit.before_loops
    unit.before_loops, unit.begun = [], {}
    return found


def keep_rolled(of: GroupBody, inner: Sequence[n.Stmt]) -> None:
    """Before a loop over points of a thread, of which there are few: copies of its body are worth their instructions
    only where the compiler may load for the next point before it stores what this one has. (How it orders the loads of
    loops in the body depends on it.)"""
    stores = any(isinstance(x, n.Store) for x in walk(inner))
    again = any(isinstance(e, Load) and e.buffer in of.written for e in exprs(inner))
    if stores and again and not any(isinstance(x, (n.Loop, n.While)) for x in inner):
        of.lines.append("#pragma unroll 1")
