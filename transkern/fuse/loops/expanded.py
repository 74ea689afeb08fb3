"""Scalar expansion: what a loop along a row hands from element to element, for all rows at once:

    for j in 0 .. m:                              for j in 0 .. m:
        row := row + x[i, j]              to          row := row + x[i, j];  rows[i, j] = row
        s[i + 1, j + 1] = s[i, j + 1] + row       for j in 0 .. m: s[i + 1, j + 1] = s[i, j + 1] + rows[i, j]

The first loop is the row's own, and the second one hands nothing along the row: the first goes over all rows side by
side then, and the second over all columns. Legal where nothing that the variables are made of reads what is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Span, Var
from transkern.ir.traverse import buffers_read, map_statement, scalars_used, variables_read

_MOST = 4
"""Arrays that it may take."""


@dataclass(frozen=True, slots=True)
class Expanded:
    """The loop over a row without stores, and the one of the stores."""

    sums: n.Loop
    stores: n.Loop


def expanded(loop: n.Loop, row: Expr, make: Callable[[str, str], str]) -> Expanded | None:
    """A loop along a row apart, the arrays' first subscript being `row`; `make` an array for a name and a dtype. None
    where its variables need what it stores."""
    written = {x.buffer for x in loop.body if isinstance(x, n.Store)}
    assigned = {x.name for x in loop.body if isinstance(x, n.Assign)}
    dtypes = {x.name: x.value.dtype for x in loop.body if isinstance(x, (n.Let, n.Assign))}
    carried, late = {*assigned}, dict[str, Expr]()  # what follows from variables; names of what reads what is stored
    for x in loop.body:
        if isinstance(x, n.Assign) and (buffers_read(x.value) & written or scalars_used(x) & late.keys()):
            return None
        if isinstance(x, n.Let):
            if buffers_read(x.value) & written or variables_read(x.value) & late.keys():
                late[x.name] = x.value
            elif variables_read(x.value) & carried:
                carried.add(x.name)
    if not written or not assigned or _change_behind(loop.body, late, assigned):
        return None
    at = (row, b.sub(Var(loop.axis, "index"), loop.start))
    sums: list[n.Stmt] = []
    stores: list[n.Stmt] = []
    arrays: list[str] = []
    for x in loop.body:
        if isinstance(x, n.Store):
            kept: dict[str, Load] = {}

            def read(e: Expr, kept: dict[str, Load] = kept, span: Span = x.span) -> Expr | None:
                if isinstance(e, Var) and e.name in late:
                    return b.map_expr(late[e.name], read)
                if not isinstance(e, Var) or e.name not in carried:
                    return None
                if e.name not in kept:
                    arrays.append(make(e.name, dtypes[e.name]))
                    kept[e.name] = Load(arrays[-1], at, dtypes[e.name])
                    sums.append(n.Store(arrays[-1], at, Var(e.name, dtypes[e.name]), span=span))
                return kept[e.name]

            stores.append(map_statement(x, read))
        elif isinstance(x, n.Let) and x.name in late:
            continue
        else:
            sums.append(x)
            if isinstance(x, n.Let) and x.name not in carried:
                stores.append(x)
    if not arrays or len(arrays) > _MOST:
        return None
    needed: list[n.Stmt] = []
    for x in reversed(stores):
        if isinstance(x, n.Store) or any(isinstance(x, n.Let) and x.name in scalars_used(y) for y in needed):
            needed.insert(0, x)
    return Expanded(_with(loop, sums), _with(loop, needed))


def _change_behind(body: Sequence[n.Stmt], late: dict[str, Expr], assigned: set[str]) -> bool:
    """Whether a variable changes behind a name that is computed of it only where the name is read."""
    seen: set[str] = set()
    for x in body:
        if isinstance(x, n.Let) and x.name in late:
            seen |= variables_read(x.value)
        elif isinstance(x, n.Assign) and x.name in seen:
            return True
    return False


def _with(loop: n.Loop, body: Sequence[n.Stmt]) -> n.Loop:
    return n.Loop(loop.axis, loop.start, loop.stop, loop.step, loop.kind, tuple(body), span=loop.span)
