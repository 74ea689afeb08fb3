"""Passes over the same arrays again and again run several at a time over a part that the cache holds:

    for t in 0 .. n:                             for wave in …:
        parallel i in 1 .. m: b[i] = f(a)   to       parallel block in …:  (of steps; the part is wave - block)
        parallel i in 1 .. m: a[i] = f(b)                for t in steps of the block:
                                                             parallel i in part, less 2 t: b[i] = f(a)
                                                             parallel i in part, less 2 t + 1: a[i] = f(b)

Each pass of a part stands some rows before the one that it reads from, so that everything it needs is there: what the
part before computed, or an earlier pass of this one. How many rows, the subscripts say: all that passes touch of what
one of them writes is at a constant distance from the row. Blocks of steps on one wave are independent. Inside, nothing
changes: the same operations on the same values, in an order that no iteration can tell from the old one.

A state that goes through two arrays, two iterations at a time (`states/doubling.py`), is such a loop, counted by ones.

Where rows are planes, one part after the other is for all threads, and each has its share of a plane's own rows: what a
thread computes it needs again, and it stays in its cache.

    for block in …:
        for part in …:
            for t in steps of the block:
                parallel j in 1 .. n: for i in part, less 2 t: b[i, j] = f(a)
                parallel j in 1 .. n: for i in part, less 2 t + 1: a[i, j] = f(b)
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from transkern.analysis.verdicts import reads_of
from transkern.fuse.lowering.copies import with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.storage import itemsize
from transkern.ir.traverse import (
    buffers_read,
    buffers_written,
    exprs,
    map_block,
    scalars_set,
    variables_read,
    walk,
    with_bodies,
)  # fmt: skip
from transkern.records import replace

_BYTES = 1 << 19
"""What a part is made to hold: a good part of a core's cache, as it goes through it once a pass."""

_BYTES_OF_ELEMENTS = 1 << 15
"""The same where a row is one element: then the innermost cache pays."""

_BYTES_OF_PLANES = 1 << 19
"""The same where several threads share a part, and a core's cache may hold half a megabyte only."""

_SHARED = 16
"""Rows of a plane at least, for threads to share."""

_ROWS = 4
"""Rows of a part at least: a pass moves by one or two."""

_BLOCKS = 4
"""Blocks of steps at least, for threads to share."""

_STEEPEST = 8
"""Rows by which a step may stand before the one before it. (Where it need not, rows are lanes.)"""

_POINTS = 200_000
"""Points of all passes below which waves are not worth waking threads for."""


def tile_time(program: n.Program) -> n.Program:
    """The program with loops over passes at constant distances as waves of parts."""
    if not any(isinstance(s, n.Loop) and s.kind == "sequential" for s in walk(program.body)):
        return program
    state = _Tiling(program)
    body = state.block(program.body)
    return replace(program, body=body, variables=state.variables, buffers=state.buffers)


@dataclass(frozen=True, slots=True)
class _Pass:
    """A parallel loop over rows; or over the elements of one row, as a loop over that row alone."""

    rows: n.Loop
    touched: tuple[tuple[str, bool, int], ...]  # arrays that the loop over time changes: written?, distance to the row


class _Tiling:
    def __init__(self, program: n.Program) -> None:
        self.program, self.names = program, Names.of(program)
        self.variables, self.buffers = dict(program.variables), dict(program.buffers)
        self.reads = reads_of(program.body)

    def block(self, statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        return tuple(x for s in statements for x in self.statement(s))

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if isinstance(s, n.Loop) and s.kind == "parallel":
            return [s]
        if isinstance(s, n.Loop) and (b.constant(s.step) or 0) > 0:
            loop = _of_passes(s)
            passes = self.passes(loop)
            if passes:
                return self.tiled(loop, passes, s)
        return [with_bodies(s, self.block)]

    # --- which loops

    def passes(self, loop: n.Loop) -> list[_Pass]:
        """The passes that make up a loop over time; empty where there is something else in it."""
        written = buffers_written(loop)
        changed = {name for s in loop.body for name in scalars_set(s)} | {loop.axis}
        found: list[_Pass] = []
        for s in loop.body:
            if not isinstance(s, n.Loop) or s.kind != "parallel" or b.constant(s.step) != 1:
                return []
            if not all(isinstance(x, (n.Loop, n.Let, n.Assign, n.Store, n.If)) for x in walk((s,))):
                return []
            if any(variables_read(e) & changed or buffers_read(e) & written for e in (s.start, s.stop)):
                return []
            assigned = {x.name for x in walk((s,)) if isinstance(x, n.Assign)}
            if any(self.reads[name] > reads_of((s,))[name] for name in assigned):
                return []
            rows = self.over_rows(s, written)
            touched = None if rows is None else _touched(rows, written, self.buffers)
            if rows is None or touched is None:
                return []
            found.append(_Pass(rows, touched))
        return found if sum(len(p.touched) for p in found) > len(found) else []

    def over_rows(self, loop: n.Loop, written: AbstractSet[str]) -> n.Loop | None:
        """The loop, if it is over rows of what is written; if it stays in one row, a loop over that row around it."""
        first = {index[0] for name, _, index in _accesses(loop) if name in written and index}
        if any(variables_read(e) == {loop.axis} for e in first):
            return loop
        constants = {b.constant(e) for e in first}
        if len(constants) != 1 or None in constants:
            return None
        (row,) = first
        axis = self.names.fresh("row")
        return n.Loop(axis, row, b.add(row, b.ONE), b.ONE, "parallel", (loop,), span=loop.span)

    # --- what is made of them

    def tiled(self, loop: n.Loop, passes: list[_Pass], written: n.Loop) -> list[n.Stmt]:
        """The loop in tiles where they pay, and as it was `written`."""
        found = _shifts(passes)
        if found is None:
            return [written]
        shifts, slope = found
        arrays = {name: self.buffers[name] for p in passes for name, _, _ in p.touched}
        row_bytes = _sum(
            b.mul(b.index(itemsize(x.dtype)), b.product(x.dims[1:])) for x in arrays.values()
        )  # fmt: skip
        elements = all(len(x.dims) == 1 for x in arrays.values())
        planes = [inner for p in passes if (inner := _of_plane(p.rows)) is not None]
        shared = len(planes) == len(passes)
        size = _BYTES_OF_ELEMENTS if elements else _BYTES_OF_PLANES if shared else _BYTES

        def let(name: str, value: Expr) -> tuple[n.Let, Var]:
            made = Var(self.names.fresh(name))
            return n.Let(made.name, value, span=loop.span), made

        low, high = passes[0].rows.start, passes[0].rows.stop
        for p in passes[1:]:
            low, high = b.minimum(low, p.rows.start), b.maximum(high, p.rows.stop)
        steps = b.maximum(b.sub(loop.stop, loop.start), b.ZERO)
        set_rows, rows = let("rows", b.maximum(b.floordiv(b.index(size), b.maximum(row_bytes, b.ONE)), b.index(_ROWS)))
        height_of_all = b.sub(high, low)
        if shared:  # few parts that stand outside the array altogether
            most, share = b.floordiv(height_of_all, b.index(2 * max(1, slope))), steps
        else:
            most = b.floordiv(rows, b.index(max(1, slope)))
            share = b.floordiv(b.add(steps, b.index(_BLOCKS - 1)), b.index(_BLOCKS))
        set_height, height = let("height", b.minimum(b.maximum(most, b.ONE), b.maximum(share, b.ONE)))
        block = Var(self.names.fresh("block"))
        begin = b.add(loop.start, b.mul(block, height))
        since = b.sub(Var(loop.axis), begin if shared else loop.start)
        width = b.add(height_of_all, b.add(b.mul(b.index(slope), height if shared else steps), b.index(max(shifts))))
        set_across, across = let("across", _parts(b.maximum(width, b.ZERO), rows))
        set_down, down = let("down", _parts(steps, height))
        wave = Var(self.names.fresh("part" if shared else "wave"))
        part = wave if shared else b.sub(wave, block)
        left = b.sub(b.add(low, b.mul(rows, part)), b.mul(b.index(slope), since))
        body = []
        for p, shift in zip(passes, shifts, strict=True):
            start = b.sub(left, b.index(shift))
            stop = b.minimum(b.add(start, rows), p.rows.stop)
            made = replace(p.rows, start=b.maximum(start, p.rows.start), stop=stop)
            inner = _of_plane(made) if shared else None
            body.append(made if inner is None else replace(inner, body=(replace(made, body=inner.body),)))
        inside = replace(loop, start=begin, stop=b.minimum(b.add(begin, height), loop.stop), body=tuple(body))
        if shared:
            parts = n.Loop(wave.name, b.ZERO, across, b.ONE, "sequential", (inside,), large=True, span=loop.span)
            whole = n.Loop(block.name, b.ZERO, down, b.ONE, "sequential", (parts,), large=True, span=loop.span)
        else:
            first = b.maximum(b.add(b.sub(wave, across), b.ONE), b.ZERO)
            last = b.minimum(b.add(wave, b.ONE), down)
            blocks = n.Loop(block.name, first, last, b.ONE, "parallel", (inside,), span=loop.span)
            count = b.sub(b.add(down, across), b.ONE)
            whole = n.Loop(wave.name, b.ZERO, count, b.ONE, "sequential", (blocks,), large=True, span=loop.span)
        enough = b.both(
            b.compare("greater_equal", b.mul(height_of_all, row_bytes), b.index(4 * size if elements else 2 * size)),
            b.both(
                b.compare("less_equal", b.mul(row_bytes, b.index(_ROWS)), b.index(size)),
                b.compare("greater_equal", b.mul(b.mul(height_of_all, row_bytes), steps), b.index(8 * _POINTS)),
            ),
        )
        for extent in dict.fromkeys(b.sub(x.stop, x.start) for x in planes if shared):
            enough = b.both(enough, b.compare("greater_equal", extent, b.index(_SHARED)))
        private = scalars_set(written) & self.variables.keys()
        plain = with_own_names(written, self.names, self.variables, self.buffers, private)
        tiles: tuple[n.Stmt, ...] = (set_rows, set_height, set_across, set_down, whole)
        return [n.If(enough, tiles, (plain,), span=loop.span)]


def _of_passes(s: n.Loop) -> n.Loop:
    """A loop counted by ones, if it goes up by more, as that of a state and its copy does; what an iteration names of
    numbers alone (`0.1 * t`) stands where passes need it."""
    body, known = list[n.Stmt](), dict[str, Expr]()
    assigned = {x.name for x in walk(s.body) if isinstance(x, n.Assign)}
    for x in s.body:
        (x,) = map_block((x,), lambda e: known.get(e.name) if isinstance(e, Var) else None)
        if isinstance(x, n.Let) and not buffers_read(x.value) and not variables_read(x.value) & assigned:
            known[x.name] = x.value
        else:
            body.append(x)
    if b.constant(s.step) == 1:
        return replace(s, body=tuple(body)) if known else s
    at = b.add(s.start, b.mul(s.step, Var(s.axis)))
    counted = map_block(tuple(body), lambda e: at if isinstance(e, Var) and e.name == s.axis else None)
    steps = _parts(b.maximum(b.sub(s.stop, s.start), b.ZERO), s.step)
    return replace(s, start=b.ZERO, stop=steps, step=b.ONE, body=counted)


def _of_plane(rows: n.Loop) -> n.Loop | None:
    """The loop over the rows of each plane, where `rows` is over planes, and the two may change places."""
    inner = rows.body[0]
    if len(rows.body) != 1 or not isinstance(inner, n.Loop) or inner.kind != "parallel" or inner.step != b.ONE:
        return None
    if rows.axis in variables_read(inner.start) | variables_read(inner.stop):
        return None
    return inner if any(isinstance(x, n.Loop) for x in inner.body) else None


def _sum(parts: Iterator[Expr]) -> Expr:
    total: Expr = b.ZERO
    for e in parts:
        total = b.add(total, e)
    return total


def _parts(extent: Expr, size: Expr) -> Expr:
    return b.floordiv(b.add(extent, b.sub(size, b.ONE)), size)


def _accesses(loop: n.Loop) -> Iterator[tuple[str, bool, tuple[Expr, ...]]]:
    """The array of each access in a loop, whether it is written, and the subscripts."""
    for e in exprs((loop,)):
        if isinstance(e, Load):
            yield e.buffer, False, e.index
    for s in walk((loop,)):
        if isinstance(s, n.Store):
            yield s.buffer, True, s.index


def _touched(
    rows: n.Loop, written: AbstractSet[str], buffers: dict[str, n.Buffer]
) -> tuple[tuple[str, bool, int], ...] | None:
    """At which distances from its row a pass touches the arrays that change; None where they are not constant."""
    found: dict[tuple[str, bool, int], None] = {}
    for name, write, index in _accesses(rows):
        if name not in written:
            continue
        if not index or len(index) != len(buffers[name].dims):
            return None
        only_row = rows.start if b.constant(b.sub(rows.stop, rows.start)) == 1 else Var(rows.axis)
        for row in (Var(rows.axis), only_row):
            terms, distance = b.affine(b.sub(index[0], row))
            if not terms:
                found[name, write, distance] = None
                break
        else:
            return None
    return tuple(found)


def _shifts(passes: list[_Pass]) -> tuple[list[int], int] | None:
    """By how many rows each pass stands before the first one, and each step before the one before it.

    Where pass `p` touches row ``i + c`` of an array and a later one, `q`, touches ``j + d``, one of them writing, they
    meet where ``i - j = d - c``: the part of `q` must end that many rows before the part of `p`, or more.
    """
    def apart(one: _Pass, two: _Pass) -> int | None:
        gaps = [d - c for x, w1, c in one.touched for y, w2, d in two.touched if x == y and (w1 or w2)]
        return max(gaps, default=None)

    shifts: list[int] = []
    for k, later in enumerate(passes):
        gaps = [shifts[m] + gap for m in range(k) if (gap := apart(passes[m], later)) is not None]
        shifts.append(max([0, *gaps]))
    slopes = [
        gap + shifts[m] - shifts[k]
        for m, one in enumerate(passes) for k, two in enumerate(passes) if (gap := apart(one, two)) is not None
    ]  # fmt: skip
    slope = max([0, *slopes])
    return (shifts, slope) if 0 < slope <= _STEEPEST else None
