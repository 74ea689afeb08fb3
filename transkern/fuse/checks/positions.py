"""Where the greatest of stored elements stands, or the first bad one, is looked for behind the loop that stores them:

    accumulator at by argmax                     parallel j in 0 .. m: y[i, j] = f(x[i, j])
    parallel j in 0 .. m:                        accumulator at by argmax
        y[i, j] = f(x[i, j])             to      parallel j in 0 .. m:
        at argmax= y[i, j] at j                      at argmax= y[i, j] at j

A loop that remembers positions has no vectors (`targets/cpu/printing/searches.py` looks for them in others ways,
if nothing else is done); the elements are still in the cache. The first for which a condition holds is looked for
behind whatever is stored beside it: a subscript that must be within an array, where subscripts are made.
"""

from __future__ import annotations

from collections.abc import Iterable

from transkern.fuse.filters.left import BEST
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Reduce, Var
from transkern.ir.traverse import (
    buffers_read,
    buffers_written,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)
from transkern.records import replace


def split_positions(program: n.Program) -> n.Program:
    """The program with such searches in loops of their own."""
    if not any(isinstance(s, n.Accumulate) and s.op in (*BEST, "first") for s in walk(program.body)):
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
        best = tuple(x for x in found if x.op in BEST)
        searches = [best] if best else []
        searches += [(x,) for x in found if x.op not in BEST]  # each ends where it has found something
        at = len(out)  # what is declared for the search stands before it, and what else there is before the stores
        while at and isinstance(out[at - 1], n.Accumulator):
            at -= 1
        declared = [x for x in out[at:] if isinstance(x, n.Accumulator) and x.name in names]
        out[at:] = [x for x in out[at:] if not any(x is y for y in declared)]
        out += [stores, *declared, *(replace(s, body=body, spare=None) for body in searches)]
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
            case n.Accumulate(op="first", value=value, position=position) if position == axis:
                if _is_alike_behind(value, s, k, own):
                    found.append(x)
            case _:
                pass
    return found if len(found) == len(outer) else []


def _is_alike_behind(value: Expr, s: n.Loop, k: int, own: set[str]) -> bool:
    """Whether a value in the `k`-th statement of a loop that stores is the same behind the loop, for each iteration."""
    stores = [x for x in walk(s.body) if isinstance(x, n.Store)]
    if not stores or variables_read(value) & own or any(isinstance(e, Reduce) for e in walk_expr(value)):
        return False
    for e in walk_expr(value):
        if isinstance(e, Load):
            writers = [x for x in stores if x.buffer == e.buffer]
            here = [x for x in writers if x.index == e.index and any(x is y for y in s.body[:k])]
            if writers and (len(writers) > 1 or not here or Var(s.axis, "index") not in e.index):
                return False
    others = {name for x in s.body if not isinstance(x, n.Store) for name in buffers_written(x)}
    return not others & buffers_read(value)
