"""Rows that come in short runs are asked for before they are needed:

    for i_block in rows of a tile by 4:              for i_block in rows of a tile by 4:
        for j in the 256 columns of the tile:  to        for ahead in these columns by 16: fetch d[i_block + 4, ahead]
            d[i_block, j] = …                            …
            d[i_block + 1, j] = …                        for j in the 256 columns of the tile: …

A processor fetches ahead by itself where addresses go on in a line, but not before it has seen several of them, and not
across pages: of a run of 256 elements, most would be waited for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Var
from transkern.ir.names import Names
from transkern.ir.storage import itemsize
from transkern.ir.traverse import stride_along, variables_read, walk, with_bodies
from transkern.records import replace

_LONGEST = 1024
"""Elements of a run, at most: in longer ones the processor's own prefetching has started."""

_AHEAD = 4
"""Rows ahead: a thousand elements, or so, are computed while they come."""

_SMALL = 1 << 16
"""Elements of an array that stays in the caches."""

_LINE = 64  # bytes


def fetch_rows(program: n.Program) -> n.Program:
    """The program with fetches before the short runs in which tiles update large arrays."""
    return replace(program, body=_Fetching(program).block(program.body))


class _Fetching:
    def __init__(self, program: n.Program) -> None:
        self.buffers = program.buffers
        self.names = Names.of(program)

    def block(self, statements: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        behind = False  # another loop over rows: what is left over after blocks of rows is not worth it
        for s in statements:
            if isinstance(s, n.Loop) and s.kind == "sequential":
                runs = [] if behind else _runs(s)
                behind = behind or bool(runs)
                s = replace(s, body=(*(f for run in runs for f in self.fetches(s, run)), *self.block(s.body)))
            else:
                s = with_bodies(s, self.block)
            out.append(s)
        return tuple(out)

    def fetches(self, rows: n.Loop, run: n.Loop) -> Iterator[n.Loop]:
        """The loops that fetch what a later iteration of `rows` stores in its `run`."""
        step = b.constant(rows.step) or 1
        later = {rows.axis: b.add(Var(rows.axis), b.index(-(-_AHEAD // step) * step))}
        elements: dict[int, list[n.Stmt]] = {}
        axis = self.names.fresh("ahead")
        for s in walk(run.body):
            if not isinstance(s, n.Store) or not _along(s.index, run.axis, rows.axis):
                continue
            info = self.buffers[s.buffer]
            size = b.constant(b.product(info.dims))
            if info.layout == "C" and (size is None or size > _SMALL):
                first = tuple(b.substitute(i, {**later, run.axis: Var(axis)}) for i in s.index)
                per_line = _LINE // itemsize(info.dtype)
                found = elements.setdefault(per_line, [])
                fetch = n.Fetch(s.buffer, first, span=s.span)
                if fetch not in found:
                    found.append(fetch)
        for per_line, body in elements.items():
            start, stop = (b.substitute(e, later) for e in (run.start, run.stop))
            yield n.Loop(axis, start, stop, b.index(per_line), "sequential", tuple(body), span=run.span)
            axis = self.names.fresh("ahead")


def _runs(rows: n.Loop) -> list[n.Loop]:
    """The one loop in a loop over rows, if it is a short run, and in the same kernel."""
    loops = [s for s in walk(rows.body) if isinstance(s, n.Loop)]
    if len(loops) != 1 or b.constant(loops[0].step) != 1 or (b.constant(rows.step) or 0) < 1:
        return []
    if any(isinstance(s, n.Kernel) for s in walk(rows.body)):
        return []
    return loops if _short(loops[0]) else []


def _short(run: n.Loop) -> bool:
    """Whether a loop goes through some columns of many: as far as the tile, or the array."""
    return any(
        (length := b.difference(stop, start)) is not None and 0 < length <= _LONGEST
        for stop in _parts(run.stop, "minimum")
        for start in _parts(run.start, "maximum")
        if isinstance(run.stop, Apply)
    )


def _parts(e: Expr, op: str) -> tuple[Expr, ...]:
    return e.args if isinstance(e, Apply) and e.op == op else (e,)


def _along(index: Sequence[Expr], column: str, row: str) -> bool:
    """Whether subscripts go through neighbours as the column does, in a place that the row decides."""
    return stride_along(index, column) == 1 and any(row in variables_read(i) for i in index[:-1])
