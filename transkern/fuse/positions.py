"""Where the greatest of stored elements stands is looked for behind the loop that stores them:

    accumulator at by argmax                     parallel j in 0 .. m: y[i, j] = f(x[i, j])
    parallel j in 0 .. m:                        accumulator at by argmax
        y[i, j] = f(x[i, j])             to      parallel j in 0 .. m:
        at argmax= y[i, j] at j                      at argmax= y[i, j] at j

A loop that remembers positions has no vectors (`targets/cpu/searches.py` looks for them in others ways, if nothing else
is done); the elements are still in the cache.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from transkern.fuse.left import BEST
from transkern.ir import nodes as n
from transkern.ir.expr import Load, Var
from transkern.ir.traverse import buffers_read, scalars_set, variables_read, walk, with_bodies


def split_positions(program: n.Program) -> n.Program:
    """The program with such searches in loops of their own."""
    if not any(isinstance(s, n.Accumulate) and s.op in BEST for s in walk(program.body)):
        return program
    return replace(program, body=_block(program.body))


def _block(statements: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
    out: list[n.Stmt] = []
    for s in statements:
        s = with_bodies(s, _block)
        found = _found(s) if isinstance(s, n.Loop) else []
        if not isinstance(s, n.Loop) or not found:
            out.append(s)
            continue
        names = {x.name for x in found}
        stores = replace(s, body=tuple(x for x in s.body if not any(x is y for y in found)))
        search = replace(s, body=tuple(found), spare=None)
        at = len(out)  # what is declared for the search stands before it, and what else there is before the stores
        while at and isinstance(out[at - 1], n.Accumulator):
            at -= 1
        declared = [x for x in out[at:] if isinstance(x, n.Accumulator) and x.name in names]
        out[at:] = [x for x in out[at:] if not any(x is y for y in declared)]
        out += [stores, *declared, search]
    return tuple(out)


def _found(s: n.Loop) -> list[n.Accumulate]:
    """The searches in a loop among elements that it has stored, if it does not look for others too."""
    if s.kind != "parallel":
        return []
    inside = {x.name for x in walk(s.body) if isinstance(x, n.Accumulator)}
    outer = [x for x in walk(s.body) if isinstance(x, n.Accumulate) and x.position is not None and x.name not in inside]
    own = {name for x in s.body for name in scalars_set(x)}
    axis = Var(s.axis, "index")
    found: list[n.Accumulate] = []
    for k, x in enumerate(s.body):
        match x:
            case n.Accumulate(op="argmax" | "argmin", value=Load(buffer, index), position=position) if position == axis:
                stores = [y for y in walk(s.body) if isinstance(y, n.Store) and y.buffer == buffer]
                here = len(stores) == 1 and any(y is stores[0] for y in s.body[:k]) and stores[0].index == index
                fixed = not any(variables_read(i) & own or buffers_read(i) for i in index)
                if here and fixed and axis in index:
                    found.append(x)
    return found if len(found) == len(outer) else []
