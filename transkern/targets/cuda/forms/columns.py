"""Points of tables: a thread goes down some rows of a column.

    for (at = thread; at < n * m; at += threads) {      to      for (at = thread; at < chunks * m; at += threads) {
        i = at / m, j = at % m;                                     chunk = at / m, j = at % m;
        …                                                           for (i = chunk * down; i < …; ++i) { … }
    }                                                           }

Neighbouring threads have neighbouring columns, as before. What a column has for all rows (`b[j]` at `a[i]`) a thread
loads once, what rows share (the lines of a stencil) stays in registers where the loop is unrolled, several rows' loads
are under way at a time, and one division says where `down` points are. How many that is, the launcher says: one
where columns are few, as neighbours in a warp would be in other rows, and where a device has more threads than points.
Where rows have nothing in common, each point stays a thread's: several under way would take the registers of others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.ops import OPS
from transkern.ir.traverse import own_exprs, variables_read, walk, walk_expr
from transkern.targets.clike import ident
from transkern.targets.cuda.body import extent_of, places_of, variable_at
from transkern.targets.cuda.launches import COLUMNS
from transkern.targets.cuda.nests import goes_on

if TYPE_CHECKING:
    from transkern.targets.cuda.group import GroupBody

_UNROLLED = ((60, 4), (150, 2))
"""Of how many instructions at most, or so, an iteration is that stands there so often."""
_LONG = 20
"""Instructions, or so, of a division or an elementary function."""


def has_columns(axes: Sequence[n.Loop], inner: Sequence[n.Stmt]) -> bool:
    """Whether the points of a nest may be done so: rows and columns, and nothing that takes long or waits."""
    if len(axes) < 2 or any(a.step != b.ONE for a in axes[-2:]) or goes_on(inner):
        return False
    columns = b.constant(extent_of(axes[-1]))
    if columns is not None and columns < COLUMNS:
        return False
    if any(isinstance(s, (n.Alloc, n.Compact)) or (isinstance(s, n.Store) and s.atomic) for s in walk(inner)):
        return False
    return _rows_share(Var(axes[-2].axis, "index"), Var(axes[-1].axis, "index"), inner)


def _rows_share(row: Var, column: Var, inner: Sequence[n.Stmt]) -> bool:
    """Whether the rows of a column read what is one for all of them, or what others of them read: without, a thread
    had better have one point, and few registers."""
    loads = {e for s in walk(inner) for own in own_exprs(s) for e in walk_expr(own) if isinstance(e, Load)}
    lines: dict[object, Expr] = {}
    for e in loads:
        along = [k for k, x in enumerate(e.index) if row.name in variables_read(x)]
        if not along and any(column.name in variables_read(x) for x in e.index):
            return True
        if len(along) == 1 and b.affine(e.index[along[0]])[0].get(row) == 1:
            line = e.index[along[0]]
            other = lines.setdefault((e.buffer, along[0]), line)
            if b.difference(line, other) not in (0, None):
                return True
    return False


def print_columns(
    group: GroupBody, axes: Sequence[n.Loop], inner: Sequence[n.Stmt], first: str, size: str
) -> str:  # fmt: skip
    """Prints the nest; the parameter that says how many rows a thread goes down."""
    unit, c = group.unit, group.unit.c
    down, chunks, begin, end = map(unit.local, ("down", "chunks", "begin", "end"))
    *outer, rows, columns = axes
    *counts, lines, width = [extent_of(a) for a in axes]
    extents = [*counts, b.size(chunks), width]
    group.line(f"const long long {chunks} = ({c.operand(lines)} + {down} - 1) / {down};  // of rows")
    at, row = "_".join(ident(a.axis) for a in axes) + "_at", ident(rows.axis)
    group.lines.append("#pragma unroll 1")
    group.open(f"for (long long {at} = {first}; {at} < {c.operand(b.product(tuple(extents)))}; {at} += {size})")
    texts, places = places_of(unit, extents, at)
    *places_outside, chunk, column = places
    texts += [variable_at(unit, a, e) for a, e in zip((*outer, columns), (*places_outside, column), strict=True)]
    for text in texts:
        group.line(text)
    before = "" if rows.start == b.ZERO else f"{c.operand(rows.start)} + "
    group.line(f"const long long {begin} = {before}{c.factor(chunk)} * {down};")
    stop = c.operand(rows.stop)
    group.line(f"const long long {end} = {begin} + {down} < {stop} ? {begin} + {down} : {stop};")
    group.lines.append(f"#pragma unroll {_times(inner)}")
    group.open(f"for (long long {row} = {begin}; {row} < {end}; ++{row})")
    thread = group.thread_body()
    thread.loops = 1
    thread.nested(inner)
    group.take(thread)
    group.close()
    group.close()
    return down


def _times(inner: Sequence[n.Stmt]) -> int:
    """How often an iteration stands in the loop."""
    if any(isinstance(s, (n.Loop, n.While)) for s in walk(inner)):
        return 1
    parts = [x for s in walk(inner) for e in own_exprs(s) for x in walk_expr(e) if isinstance(x, (Apply, Load))]
    dear = [x for x in parts if isinstance(x, Apply) and x.op in OPS and OPS[x.op].cost > 1]
    instructions = len(parts) + _LONG * len(dear)
    return next((times for most, times in _UNROLLED if instructions <= most), 1)
