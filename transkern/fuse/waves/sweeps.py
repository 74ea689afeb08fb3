"""Sweeps over a table that follow each other run at once, each some diagonals behind the one before it:

    for t in 0 .. steps:                            for wave in …:
        for i in 0 .. n:                                parallel t in …:
            for j in 0 .. m:                 to             parallel i in …:
                a[i, j] = f(a[i - 1, j + 1],                    j = wave - 4 t - 2 i, if that is a column:
                            a[i, j], a[i + 1, j + 1], …)            a[i, j] = f(…)

- *Property.* A loop in order goes again and again through the same two loops, which constant distances order, over the
  same ranges; what they touch and ask does not depend on how often.
- *Legality.* In one sweep, `a * i + j` grows along each distance (`wavefront`). Points of two sweeps that touch one
  element are as far from each other as points of one are, either way, or the same: where a sweep is further behind the
  one before than any distance goes along the waves, whoever came first still does.
- *Schedule.* A sweep alone has as many points at a time as a diagonal; together they have as many more as there are
  sweeps under way, and threads meet as often as for one sweep, and a few times more for each.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from transkern.analysis.bands import Distance
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Var
from transkern.ir.names import Names
from transkern.ir.traverse import buffers_read, buffers_written, exprs, scalars_set, variables_read


def is_repeated(s: n.Loop, outer: n.Loop, inner: n.Loop) -> bool:
    """Whether a loop in order does nothing but to go through two loops, which do not know how often they have run."""
    if s.body != (outer,) or s.fails or any(isinstance(e, Var) and e.name == s.axis for e in exprs(s.body)):
        return False
    bounds = (s.start, s.stop, outer.start, outer.stop, inner.start, inner.stop)
    changed = scalars_set(outer) | {s.axis, outer.axis, inner.axis}
    return not any(variables_read(e) & changed or buffers_read(e) & buffers_written(outer) for e in bounds)


def at_once(
    loops: tuple[n.Loop, n.Loop, n.Loop], skew: int, distances: AbstractSet[Distance], names: Names
) -> n.Loop:  # fmt: skip
    """The waves: the point in column `j` of row `i` of sweep `t` is in wave ``j + down * i + behind * t``."""
    s, outer, inner = loops
    down = skew + 1
    behind = 1 + max(abs(down * i + j) for i, j in distances)
    sweeps, height, width = (b.sub(x.stop, x.start) for x in loops)
    wave, sweep, row = (Var(names.fresh(name), "index") for name in ("wave", "sweep", "row"))
    last = b.sub(width, b.ONE)
    reach = b.add(b.mul(b.index(down), b.sub(height, b.ONE)), last)  # of the waves of one sweep
    lets: list[n.Let] = []

    def named(name: str, value: Expr) -> Expr:
        lets.append(n.Let(names.fresh(name), value, span=outer.span))
        return Var(lets[-1].name, "index")

    first_sweep = named("first_sweep", b.maximum(_up(b.sub(wave, reach), behind), b.ZERO))
    sweeps_end = named("sweeps_end", b.minimum(b.add(b.floordiv(wave, b.index(behind)), b.ONE), sweeps))
    earliest = b.sub(wave, b.mul(b.index(behind), b.sub(sweeps_end, b.ONE)))  # where the last of these sweeps is
    latest = b.sub(wave, b.mul(b.index(behind), first_sweep))
    first_row = named("first_row", b.maximum(_up(b.sub(earliest, last), down), b.ZERO))
    rows_end = named("rows_end", b.minimum(b.add(b.floordiv(latest, b.index(down)), b.ONE), height))
    column = b.sub(b.sub(wave, b.mul(b.index(behind), sweep)), b.mul(b.index(down), row))
    is_there = b.both(b.compare("greater_equal", column, b.ZERO), b.compare("less", column, width))
    point = (
        n.Let(outer.axis, b.add(outer.start, row)), n.Let(inner.axis, b.add(inner.start, column)),
        *(x for x in outer.body if x is not inner), *inner.body,
    )  # fmt: skip
    asked = (n.If(is_there, point, (), span=inner.span),)
    rows = n.Loop(row.name, first_row, rows_end, b.ONE, "parallel", asked, span=outer.span)
    each = n.Loop(sweep.name, first_sweep, sweeps_end, b.ONE, "parallel", (rows,), span=outer.span)
    waves = b.add(b.add(b.mul(b.index(behind), b.sub(sweeps, b.ONE)), reach), b.ONE)
    return n.Loop(wave.name, b.ZERO, waves, b.ONE, "sequential", (*lets, each), span=s.span)


def _up(e: Expr, step: int) -> Expr:
    return b.floordiv(b.add(e, b.index(step - 1)), b.index(step))
