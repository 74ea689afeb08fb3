"""For `boundscheck=False`: the checks of subscripts are left out.

An access outside an array is then undefined, as in C; a negative subscript still counts from the end.
"""

from __future__ import annotations

from transkern.ir import nodes as n
from transkern.ir.traverse import with_bodies
from transkern.records import replace


def drop_bounds_checks(program: n.Program) -> n.Program:
    """The program without guards that raise IndexError."""

    def deep(block: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        kept = (s for s in block if not (isinstance(s, n.Guard) and s.error == "IndexError"))
        return tuple(with_bodies(s, deep) for s in kept)

    return replace(program, body=deep(program.body))
