"""Which slot of a block each axis has."""

from __future__ import annotations

from collections.abc import Iterable

from transkern.ir import nodes as n
from transkern.ir.traverse import bodies


def slots_of(statements: Iterable[n.Stmt], depth: int = 0) -> tuple[int, dict[str, int]]:
    """The slot of each axis by how deep its loop stands, and how many there are."""
    rank, slots = depth, {}
    for s in statements:
        inner = depth
        match s:
            case n.Loop(axis=axis, kind="parallel") | n.Scanning(axis=axis):
                slots[axis] = depth
                inner = depth + 1
            case n.Compact(axis=axis, inner=axes):
                slots[axis] = depth
                slots |= {a.name: depth + 1 + k for k, a in enumerate(axes)}
                inner = depth + 1
                rank = max(rank, depth + 1 + len(axes))
            case _:
                pass
        rank = max(rank, inner)
        for body in bodies(s):
            found, more = slots_of(body, inner)
            rank, slots = max(rank, found), slots | more
    return rank, slots
