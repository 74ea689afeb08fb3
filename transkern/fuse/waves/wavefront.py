"""Two loops that carry dependences by constant distances run in tiles along diagonals:

    for i in 1 .. n:                          for wave in 0 .. tiles_i + tiles_j - 1:
        for j in 1 .. m:              to          parallel tile in …:
            d[i, j] = min(d[i - 1, j],                for i in rows of the tile:
                          d[i, j - 1], …)                 for j in columns of the tile: …

Where a value comes from the right (``d[i - 1, j + 1]``), the columns are skewed first: in ``j + i`` it comes from the
left. Then every dependence goes down or to the right, tiles on one diagonal are independent, and inside a tile nothing
changes: the same operations, in an order that no iteration can tell from the old one.
"""

from __future__ import annotations

from collections.abc import Callable

from transkern.analysis.accesses import Level
from transkern.analysis.bands import Distance, constant_distances
from transkern.analysis.verdicts import Walk
from transkern.fuse.lowering.copies import with_own_names
from transkern.fuse.waves.slant import slant_of, slanted
from transkern.fuse.waves.sweeps import at_once, is_repeated
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Var
from transkern.ir.names import Names
from transkern.ir.traverse import buffers_read, buffers_written, map_block, scalars_set, upward, variables_read, walk
from transkern.records import replace

_ROWS, _COLUMNS = 64, 256
"""A tile: long enough for its barrier to cost little, small enough for two cores to get many on a diagonal."""

_POINTS = 200_000
"""Points below which waves are not worth waking threads for: the loops stay as they are."""


def tile_wavefronts(program: n.Program) -> n.Program:
    """The program with pairs of loops that only constant distances order as waves of tiles."""
    return by_waves(program, _Tiling)


def by_waves(program: n.Program, kind: type[_Tiling]) -> n.Program:
    """The program with such loops as a `kind` of waves."""
    if not any(isinstance(s, n.Loop) and s.kind == "sequential" for s in walk(program.body)):
        return program
    state = kind(program)
    body = state.block(program.body)
    return replace(program, body=body, variables=state.variables, buffers=state.buffers)


class _Tiling(Walk):
    loops_only = True

    def __init__(self, program: n.Program) -> None:
        self.buffers = dict(program.buffers)
        super().__init__(replace(program, buffers=self.buffers))
        self.names = Names.of(program)
        self.variables, self.buffers = dict(program.variables), dict(program.buffers)
        self.parallel = 0

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if isinstance(s, n.Loop) and s.kind == "parallel":
            own = not self.is_shared(s)
            self.parallel += own
            made = self.inside(s)
            self.parallel -= own
            return [made]
        if not self.parallel and isinstance(s, n.Loop) and b.constant(s.step) == 1:
            inner = _only_loop(s)
            if inner is not None and _plain(inner):
                found = self.distances(s, inner)
                if found is not None:
                    return self.ordered(s, inner, *found)
        return [self.inside(s)]

    def is_shared(self, s: n.Loop) -> bool:
        """Whether threads share an iteration of a parallel loop."""
        return False

    def distances(self, outer: n.Loop, inner: n.Loop) -> tuple[frozenset[Distance], frozenset[str]] | None:
        """The distances that order the two loops, and the private variables; None where there are others."""
        changed = scalars_set(outer) | {outer.axis}
        written = buffers_written(outer)
        for e in (inner.start, inner.stop):
            if variables_read(e) & changed or buffers_read(e) & written:
                return None
        verdict = self.judged(outer)
        if not verdict.by_memory_alone or verdict.raises or verdict.meeting is None:
            return None
        distances = constant_distances(verdict, inner)
        return None if distances is None else (distances, verdict.scalars.private)

    def ordered(
        self, outer: n.Loop, inner: n.Loop, distances: frozenset[Distance], private: frozenset[str]
    ) -> list[n.Stmt]:
        """The loops as waves of tiles where that pays, in slanted blocks of rows where one row alone would wait."""
        slant = slant_of(distances) if self.waits(inner) else None
        whole = replace(inner, body=(*(x for x in outer.body if x is not inner), *inner.body))

        def rows(own: n.Loop, part: n.Loop) -> tuple[n.Stmt, ...]:
            made = slanted(own, part, slant, self.names) if slant is not None else []
            return tuple(made) or (replace(own, body=(part,)),)

        if not any(down and not across for down, across in distances) and len(distances) < 2:
            return list(rows(outer, whole)) if slant is not None else [self.inside(outer)]
        skew = _skew(distances)
        plain = with_own_names(outer, self.names, self.variables, self.buffers, private)
        return self.tiled(outer, whole, skew, rows, plain)

    def waits(self, inner: n.Loop) -> bool:
        """Whether a row alone would wait for its elements: floating-point operations take several cycles each.

        (Where branches depend on data, rows side by side are harder to predict.)
        """
        return all(
            not isinstance(s, n.If) and (not isinstance(s, n.Store) or self.buffers[s.buffer].dtype.startswith("float"))
            for s in walk(inner.body)
        )

    def tiled(
        self, outer: n.Loop, inner: n.Loop, skew: int, rows_of: Callable[[n.Loop, n.Loop], tuple[n.Stmt, ...]],
        plain: n.Loop,
    ) -> list[n.Stmt]:  # fmt: skip
        """The waves. Columns are counted as ``j + skew * (i - first row)``."""
        rows, columns = b.index(_ROWS), b.index(_COLUMNS)
        height, width = b.sub(outer.stop, outer.start), b.sub(inner.stop, inner.start)
        skewed = b.add(width, b.mul(b.index(skew), b.maximum(b.sub(height, b.ONE), b.ZERO)))
        down, across = _tiles(height, rows), _tiles(skewed, columns)
        wave, tile = Var(self.names.fresh("wave")), Var(self.names.fresh("tile"))
        row = b.add(outer.start, b.mul(rows, tile))
        shift = b.mul(b.index(skew), b.sub(Var(outer.axis), outer.start))
        column = b.sub(b.add(inner.start, b.mul(columns, b.sub(wave, tile))), shift)
        part = replace(
            inner,
            start=b.maximum(column, inner.start) if skew else column,
            stop=b.minimum(b.add(column, columns), inner.stop),
        )
        tile_rows = rows_of(replace(outer, start=row, stop=b.minimum(b.add(row, rows), outer.stop)), part)
        first = b.maximum(b.add(b.sub(wave, across), b.ONE), b.ZERO)
        last = b.minimum(b.add(wave, b.ONE), down)
        tiles = n.Loop(tile.name, first, last, b.ONE, "parallel", tile_rows, span=outer.span)
        waves = b.sub(b.add(down, across), b.ONE)
        loop = n.Loop(wave.name, b.ZERO, waves, b.ONE, "sequential", (tiles,), large=True, span=outer.span)
        rows_enough = b.compare("greater_equal", height, b.index(2 * _ROWS))
        enough = b.both(rows_enough, b.compare("greater_equal", b.mul(height, width), b.index(_POINTS)))
        (own,) = (s for s in plain.body if isinstance(s, n.Loop))
        own = replace(own, body=(*(s for s in plain.body if s is not own), *own.body))
        return [n.If(enough, (loop,), rows_of(plain, own), span=outer.span)]


def _tiles(extent: Expr, size: Expr) -> Expr:
    return b.floordiv(b.add(extent, b.sub(size, b.ONE)), size)


def _only_loop(outer: n.Loop) -> n.Loop | None:
    """The one loop in the body of `outer`, beside lets that may move into it."""
    loops = [s for s in outer.body if isinstance(s, n.Loop)]
    if len(loops) != 1 or loops[0].kind != "sequential" or b.constant(loops[0].step) != 1:
        return None
    written = buffers_written(outer)
    for s in outer.body:
        if s is not loops[0] and not (isinstance(s, n.Let) and not buffers_read(s.value) & written):
            return None
    return loops[0] if outer.body[-1] is loops[0] else None


def _plain(inner: n.Loop) -> bool:
    """Whether the body of the inner loop is all statements of one point."""
    return all(isinstance(s, (n.Let, n.Assign, n.Store, n.If)) for s in walk(inner.body))


# ---- on a device, a point a thread -----------------------------------------------------------------------------------

LEAST = 16
"""Points along both loops from which a diagonal has something to gain."""


_TABLE = 250_000
"""Points up to which a TPU keeps a table in its scalar memory, where a kernel goes through it in order."""


def order_large_by_waves(program: n.Program) -> n.Program:
    """The program with such loops as diagonals of single points, all of which a TPU computes at once, where its scalar
    memory does not hold their table."""
    return by_waves(program, _LargeWaves)


class Waves(_Tiling):
    from_points = 0

    def is_shared(self, s: n.Loop) -> bool:
        """A block has an iteration that holds parallel loops; else one of its threads would go through a table."""
        return any(isinstance(x, n.Loop) and x.kind == "parallel" for x in walk(s.body))

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        """A sweep back (from the last row, from the right) counts its rows and columns from where it begins."""
        swept = self.swept(s) if isinstance(s, n.Loop) and not self.parallel else None
        if swept is not None:
            return [swept]
        turned = _turned(s) if isinstance(s, n.Loop) and not self.parallel else s
        if turned is not s:
            made = super().statement(turned)
            if isinstance(made[0], n.If):
                return made
        return super().statement(s)

    def swept(self, s: n.Loop) -> n.Stmt | None:
        """Sweeps that follow each other as waves of all of them, or None where there are none."""
        outer = s.body[0] if len(s.body) == 1 else None
        if self.from_points or s.kind != "sequential" or b.constant(s.step) != 1 or not isinstance(outer, n.Loop):
            return None
        inner = _only_loop(outer) if outer.kind == "sequential" and b.constant(outer.step) == 1 else None
        if inner is None or not _plain(inner) or not is_repeated(s, outer, inner):
            return None
        whole = self.judged(s)
        if not whole.by_memory_alone or whole.raises:
            return None
        with self.scope():
            self.forget(s.body)
            self.levels.append(Level(s.axis, s.start, s.stop, 1))
            found = self.distances(outer, inner)
            self.levels.pop()
        if found is None or not all(down or across for down, across in found[0]):
            return None
        distances, private = found
        loop = at_once((s, outer, inner), _skew(distances), distances, self.names)
        plain = with_own_names(s, self.names, self.variables, self.buffers, private)
        return n.If(_enough(outer, inner), (loop,), (plain,), span=s.span)

    def ordered(
        self, outer: n.Loop, inner: n.Loop, distances: frozenset[Distance], private: frozenset[str]
    ) -> list[n.Stmt]:
        """The loops as waves: the point in column ``j`` of row ``i`` is in wave ``j + (skew + 1) * i``."""
        skew = _skew(distances)
        if not all(down or across for down, across in distances):
            return [self.inside(outer)]
        plain = with_own_names(outer, self.names, self.variables, self.buffers, private)
        height, width = b.sub(outer.stop, outer.start), b.sub(inner.stop, inner.start)
        wave, row = Var(self.names.fresh("wave")), Var(self.names.fresh("row"))
        behind = b.mul(b.index(skew + 1), row)
        column = b.sub(wave, behind)
        point = (
            n.Let(outer.axis, b.add(outer.start, row)), n.Let(inner.axis, b.add(inner.start, column)),
            *(s for s in outer.body if s is not inner), *inner.body,
        )  # fmt: skip
        if self.from_points:  # where bounds are known when JAX traces: those of arrays, whose subscripts name the axis
            known = {outer.axis: b.add(outer.start, row), inner.axis: b.add(inner.start, column)}
            point = map_block(point[2:], lambda e: known.get(e.name) if isinstance(e, Var) else None)
        last = b.minimum(b.add(b.floordiv(wave, b.index(skew + 1)), b.ONE), height)
        first = b.maximum(_tiles(b.add(b.sub(wave, width), b.ONE), b.index(skew + 1)), b.ZERO)
        rows = n.Loop(row.name, first, last, b.ONE, "parallel", point, span=outer.span)
        count = b.add(width, b.mul(b.index(skew + 1), b.sub(height, b.ONE)))
        loop = n.Loop(wave.name, b.ZERO, count, b.ONE, "sequential", (rows,), span=outer.span)
        enough = _enough(outer, inner)
        if self.from_points:
            points = b.compare("greater_equal", b.mul(height, width), b.index(self.from_points))
            enough = b.both(enough, points)
        return [n.If(enough, (loop,), (plain,), span=outer.span)]


def _skew(distances: frozenset[Distance]) -> int:
    """How far a row is behind the one above it, so that nothing comes from the right."""
    return max(0, *(-(across // down) for down, across in distances if down))


def _enough(outer: n.Loop, inner: n.Loop) -> Expr:
    """Whether diagonals have something to gain."""
    least = b.index(LEAST)
    extents = (b.sub(x.stop, x.start) for x in (outer, inner))
    return b.both(*(b.compare("greater_equal", e, least) for e in extents))


def _turned(s: n.Loop) -> n.Loop:
    """Two loops in order of which one goes down, or both do, as ones that go up; others as they are."""
    loops = [x for x in s.body if isinstance(x, n.Loop)]
    if s.kind != "sequential" or s.fails or len(loops) != 1 or loops[0].kind != "sequential":
        return s
    steps = [b.constant(x.step) for x in (s, loops[0])]
    if -1 not in steps or any(step not in (1, -1) for step in steps) or not _plain(loops[0]):
        return s
    inner = upward(loops[0])
    return upward(replace(s, body=tuple(inner if x is loops[0] else x for x in s.body)))


class _LargeWaves(Waves):
    from_points = _TABLE

    def is_shared(self, s: n.Loop) -> bool:
        return False
