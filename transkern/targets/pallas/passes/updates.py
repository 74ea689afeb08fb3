"""Loops that add to elements which data choose: all their iterations are one scatter, not a loop of XLA ops.

    for i in 0 .. n: counts[x[i]] := counts[x[i]] + 1      to      parallel i in 0 .. n: counts[x[i]] +:= 1

XLA takes the updates of an element in their order on a CPU; on a TPU in one that is the same each time.
"""

from __future__ import annotations

from transkern.fuse.lowering.updates import update_at_once
from transkern.ir import nodes as n


def scatter_updates(program: n.Program) -> n.Program:
    """The program with such loops parallel."""
    return update_at_once(program, _is_scattered)


def _is_scattered(op: str, dtype: str) -> bool:
    """Whether XLA has a scatter that combines as the operation does, down to zeros and what is no number."""
    if op in ("add", "subtract"):
        return dtype.startswith(("int", "uint")) or dtype in ("float32", "float64")
    return op in ("maximum", "minimum") and dtype.startswith(("int", "uint"))
