"""Whether what a value is made of still is what it was, further on in a block."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

from transkern.ir import nodes as n
from transkern.ir.traverse import buffers_written, scalars_set


def stays(
    between: Iterable[n.Stmt], arrays: Set[str], numbers: Set[str], buffers: Mapping[str, n.Buffer]
) -> bool:  # fmt: skip
    """Whether no statement writes the arrays or sets the numbers; arguments may share memory with each other."""
    given = any(buffers[name].role == "argument" for name in arrays)
    for s in between:
        written = buffers_written(s)
        if written & arrays or scalars_set(s) & numbers:
            return False
        if given and any(buffers[name].role == "argument" for name in written):
            return False
    return True
