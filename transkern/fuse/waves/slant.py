"""Rows whose elements need the one before them go eight at a time, each row some columns behind the one above:

    for i in 1 .. n:                          for i_block in 1 .. n by 8:
        for j in 1 .. m:              to          for column in 15 .. m:
            a[i, j] = f(a[i, j - 1],                  for lane in 0 .. 8:
                        a[i - 1, j + 1], …)               a[i_block + lane, column - 2 * lane] = f(…)

(and the triangles at both ends, row after row). In this order no iteration can tell that the rows above are not yet
finished, and the eight lanes do not wait for each other: a processor computes them side by side, where one row alone
waits for each of its elements in turn.
"""

from __future__ import annotations

from collections.abc import Iterable

from transkern.analysis.bands import Distance
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Var
from transkern.ir.names import Names
from transkern.ir.traverse import map_block, variables_read
from transkern.records import replace

LANES = 8

_STEEPEST = 4
"""Columns by which a row may be behind the one above."""


def slant_of(distances: Iterable[Distance]) -> int | None:
    """By how many columns each row must be behind the one above; None where that does not pay or is too much.

    A row does not wait for itself where no dependence stays in it: then its elements are lanes.
    """
    found = list(distances)
    if not any(rows == 0 for rows, _ in found):
        return None
    slant = max((-(columns - 1) // rows for rows, columns in found if 0 < rows < LANES), default=0)
    return slant if 0 <= slant <= _STEEPEST else None


def slanted(outer: n.Loop, inner: n.Loop, slant: int, names: Names) -> list[n.Stmt]:
    """The two loops, `inner` being all of the body of `outer`, in blocks of rows; empty where the columns of a row
    begin or end in a way that does not show which row of a block is the first to begin or to end."""
    axis, lanes = outer.axis, b.index(LANES)
    if not _bent(inner.start, axis, "maximum") or not _bent(inner.stop, axis, "minimum"):
        return []
    extent = b.maximum(b.sub(outer.stop, outer.start), b.ZERO)
    whole, block = Var(names.fresh(f"{axis}_whole")), Var(names.fresh(f"{axis}_block"))
    lane, column = Var(names.fresh("lane")), Var(names.fresh(f"{inner.axis}_slanted"))
    first, last = Var(names.fresh(f"{inner.axis}_first")), Var(names.fresh(f"{inner.axis}_last"))
    behind, row = b.mul(b.index(slant), lane), {axis: b.add(block, lane)}

    def at(e: Expr, k: int) -> Expr:
        return b.add(b.substitute(e, {axis: b.add(block, b.index(k))}), b.index(k * slant))

    ends = (0, LANES - 1)
    start = b.maximum(*(at(inner.start, k) for k in ends))
    stop = b.minimum(*(at(inner.stop, k) for k in ends))

    def rows(low: Expr, high: Expr) -> n.Loop:
        body = map_block(inner.body, lambda e: row.get(e.name) if isinstance(e, Var) else None)
        each = replace(inner, start=low, stop=high, body=body)
        return n.Loop(lane.name, b.ZERO, lanes, b.ONE, "sequential", (each,), span=outer.span)

    own_start, own_stop = b.substitute(inner.start, row), b.substitute(inner.stop, row)
    values = {**row, inner.axis: b.sub(column, behind)}
    together = map_block(inner.body, lambda e: values.get(e.name) if isinstance(e, Var) else None)
    side = n.Loop(lane.name, b.ZERO, lanes, b.ONE, "sequential", together, span=inner.span)
    body = (
        n.Let(first.name, start, span=outer.span),
        n.Let(last.name, b.maximum(first, stop), span=outer.span),
        rows(own_start, b.minimum(b.sub(first, behind), own_stop)),
        n.Loop(column.name, first, last, b.ONE, "sequential", (side,), span=inner.span),
        rows(b.maximum(own_start, b.sub(last, behind)), own_stop),
    )
    return [
        n.Let(whole.name, b.add(outer.start, b.mul(lanes, b.floordiv(extent, lanes))), span=outer.span),
        replace(outer, axis=block.name, stop=whole, step=lanes, body=body),
        replace(outer, start=whole, body=(inner,)),
    ]


def _bent(e: Expr, axis: str, op: str) -> bool:
    """Whether `e` is linear in the axis, or the `op` (maximum or minimum) of such: then with any slant added, the same
    of all rows of a block is that of its first and its last."""
    terms, _ = b.affine(e)
    for term, factor in terms.items():
        if axis not in variables_read(term) or term == Var(axis):
            continue
        match term:
            case Apply(name, (x, y), "index") if name == op and factor > 0 and len(terms) == 1:
                if not (_bent(x, axis, op) and _bent(y, axis, op)):
                    return False
            case _:
                return False
    return True
