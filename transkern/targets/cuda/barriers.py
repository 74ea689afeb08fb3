"""Where threads that work together must wait for each other.

A statement is described by its accesses to the arrays that the kernel writes: which array, whether it stores, and which
thread touches which element. Two accesses of one array conflict where one stores and an element may be touched by
different threads; then a barrier stands between them. Elements with the same owner need none: position p of a loop
belongs to thread ``p % size``, wherever the loop starts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import TypeAlias

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.traverse import own_exprs, variables_read, walk, walk_expr

Owner: TypeAlias = tuple[object, ...]

ALL: Owner = ("all",)  # every thread
FIRST: Owner = ("first",)  # thread 0
ANY: Owner = ("any",)  # nothing is known


@dataclass(frozen=True, slots=True)
class Access:
    """`at`: the element, where it is one of a vector; `low`: no element before it. Both hold until a scalar changes."""

    buffer: str
    stores: bool
    owner: Owner
    at: Expr | None = None
    low: Expr | None = None


def conflict(one: Access, two: Access) -> bool:
    """Whether different threads may touch one element, and not both only to read."""
    if one.buffer != two.buffer or not (one.stores or two.stores):
        return False
    if one.owner == two.owner and one.owner not in (ALL, ANY):
        return False
    return not (_before(one, two) or _before(two, one))


def _before(one: Access, two: Access) -> bool:
    """Whether all elements of `two` come after the one of `one`."""
    if one.at is None or two.low is None:
        return False
    gap = b.difference(two.low, one.at)
    return gap is not None and gap > 0


def anywhere(accesses: Iterable[Access], changed: AbstractSet[str] | None = None) -> set[Access]:
    """The accesses after the scalars `changed` (any, by default) got new values: subscripts of them say nothing."""

    def holds(e: Expr | None) -> bool:
        return e is not None and changed is not None and not variables_read(e) & changed

    return {replace(a, at=a.at if holds(a.at) else None, low=a.low if holds(a.low) else None) for a in accesses}


@dataclass(frozen=True, slots=True)
class Spread:
    """How the iterations of a loop nest are spread: `axes` with their ranges over `level` (``thread``, ``warp``)."""

    axes: tuple[str, ...]
    ranges: tuple[tuple[Expr, Expr, Expr], ...] | None = None  # where they are the same each time
    level: str = "thread"
    aligned: bool = True  # one axis, its position p is handled by p % size, for warps by (p - start) % size
    start: Expr | None = None  # where it begins
    moving: frozenset[str] = frozenset()  # what the kernel gives other values

    def owner(self, buffer: n.Buffer, index: tuple[Expr, ...]) -> Owner:
        """Who touches the element at `index`."""
        if len(self.axes) > 1:
            if index == tuple(Var(a, "index") for a in self.axes) and self.ranges is not None:
                return (self.level, "nest", self.ranges)
            return ANY
        if not self.aligned or (len(index) == 1 and len(buffer.dims) > 1):
            return ANY
        if any(variables_read(d) & self.moving for d in buffer.dims[1:]):
            return ANY  # an element is elsewhere in memory each time
        (axis,) = self.axes
        for dim, e in enumerate(index):
            terms, offset = b.affine(e)
            if terms == {Var(axis, "index"): 1}:
                return (self.level, dim, offset, None if self.level == "thread" else self.start)
        return ANY


def reads(exprs: Iterable[Expr], written: AbstractSet[str], owner: Owner) -> set[Access]:
    """The accesses of expressions that `owner` evaluates."""
    loads = (e for top in exprs for e in walk_expr(top) if isinstance(e, Load) and e.buffer in written)
    return {
        Access(e.buffer, False, owner, at=e.index[0] if len(e.index) == 1 and owner == ALL else None) for e in loads
    }


def within(
    statements: Sequence[n.Stmt], buffers: dict[str, n.Buffer], written: AbstractSet[str], spread: Spread
) -> set[Access]:
    """The accesses of the iterations of a nest."""
    found: set[Access] = set()
    for s in walk(statements):
        for top in own_exprs(s):
            for e in walk_expr(top):
                if isinstance(e, Load) and e.buffer in written:
                    found.add(Access(e.buffer, False, spread.owner(buffers[e.buffer], e.index)))
        match s:
            case n.Store(buffer=buffer, index=index) | n.Scanning(buffer=buffer, index=index):
                owner = spread.owner(buffers[buffer], index)
                low = None
                if spread.start is not None and len(index) == len(spread.axes) == 1 and owner not in (ANY, FIRST, ALL):
                    low = b.add(index[0], b.sub(spread.start, Var(spread.axes[0], "index")))
                found.add(Access(buffer, True, owner, low=low))
            case n.Compact(outputs=outputs):
                found |= {Access(out, True, ANY) for out in outputs}
            case _:
                pass
    return found
