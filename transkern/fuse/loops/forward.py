"""What an iteration has just stored is not loaded again:

    out[i, j] = exp(x)                           e = exp(x)
    s := s + out[i, j]                   to      out[i, j] = e
                                                 s := s + e

So what takes the element does not wait for memory, and passes see that it is a value of the iteration's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from transkern.ir import nodes as n
from transkern.ir.expr import Const, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    bodies,
    buffers_allocated,
    buffers_read,
    buffers_written,
    exprs,
    map_own,
    scalars_set,
    variables_read,
)
from transkern.records import replace


def with_stored_values(block: Iterable[n.Stmt], names: Names) -> tuple[n.Stmt, ...]:
    """The statements of a block with the values that they store in place of loads of them, as names."""
    block = tuple(block)
    out: list[n.Stmt] = []
    known: dict[Expr, Expr] = {}
    for k, s in enumerate(block):
        if known and not any(bodies(s)):
            s = map_own(s, known.get)
        written, changed = buffers_written(s) | buffers_allocated(s), scalars_set(s)
        known = {
            load: value for load, value in known.items()
            if not written & buffers_read(load) and not changed & (variables_read(load) | variables_read(value))
        }  # fmt: skip
        if isinstance(s, n.Store) and not s.atomic and not any(s.buffer in buffers_read(i) for i in s.index):
            load = Load(s.buffer, s.index, s.value.dtype)
            if any(load == e for e in exprs(block[k + 1 :])):
                if not isinstance(s.value, (Var, Const)):
                    named = Var(names.fresh("stored"), s.value.dtype)
                    out.append(n.Let(named.name, s.value, span=s.span))
                    s = replace(s, value=named)
                known[load] = s.value
        out.append(s)
    return tuple(out)


def with_values_stored(block: Iterable[n.Stmt], reads: Mapping[str, int]) -> tuple[n.Stmt, ...]:
    """The statements of a block with values that are named for nothing but the store behind them in that store: an
    element that is changed (``new = y[k] - x; y[k] = new``) is seen to be. `reads`: how often each name is read."""
    out: list[n.Stmt] = []
    for s in block:
        if isinstance(s, n.Store) and isinstance(s.value, Var) and out and reads.get(s.value.name) == 1:
            last = out[-1]
            if isinstance(last, n.Let) and last.name == s.value.name:
                out[-1] = replace(s, value=last.value)
                continue
        out.append(s)
    return tuple(out)
