"""Points whose reductions are long have several threads: a block has `width` points, and `parts` threads for each.

    for (j = thread; j < m; j += threads) {        for (base = blockIdx.x * width; base < m; base += … * width) {
        sum = 0;                                       j = base + threadIdx.x % width;
        for (r = 0; r < n; ++r) sum += x[r, j];        sum = 0;
        y[j] = sum;                           to       for (r = part; r < n; r += parts) sum += x[r, j];
    }                                                  sum = reduce(sum);
                                                       if (part == 0) y[j] = sum;
                                                   }

Neighbours are neighbouring points, as before: the loads of a column's elements, each with those beside it. The
launcher chooses `parts` (1 where there are as many points as a device has threads).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Var
from transkern.ir.traverse import walk
from transkern.targets.clike import ident
from transkern.targets.cuda.body import extent_of, points_of
from transkern.targets.cuda.nests import is_long, own, search, shared

if TYPE_CHECKING:
    from transkern.targets.cuda.group import GroupBody


def shares_points(inner: Sequence[n.Stmt]) -> bool:
    """Whether the iterations of a nest are reductions that several threads may share: long, and nothing beside them
    that one thread would do in order."""
    loops = [*shared(inner)]
    if not loops or any(not isinstance(s, n.Loop) or not any(s is x for x in inner) for s in loops):
        return False
    plain = all(isinstance(x, (n.Let, n.Accumulator, n.Accumulate, n.Loop, n.Store, n.If)) for x in walk(inner))
    if not plain or any(isinstance(x, n.Loop) and x.kind == "sequential" for x in own(inner)):
        return False
    stores = [x for x in walk(inner) if isinstance(x, n.Store)]
    return (
        all(_only_reduces(s) for s in loops) and any(map(is_long, loops)) and not any(x.atomic for x in stores)
    )


def _only_reduces(s: n.Stmt) -> bool:
    assert isinstance(s, n.Loop)
    return search(s) is None and not any(isinstance(x, n.Store) for x in walk(s.body))


def open_points(of: GroupBody, axes: Sequence[n.Loop], parts: str, sharing: str) -> Expr:
    """Opens the loop over a block's points, with the variables of `axes`, and what is called `sharing`, the threads
    that have one of them; the number of a point."""
    unit, c = of.unit, of.c
    width, base, total, turn = (unit.local(name) for name in ("width", "base", "points", "turn"))
    of.line(f"const int {width} = blockDim.x / {parts};")
    of.line(f"const long long {total} = {c.expr(b.product(tuple(extent_of(a) for a in axes)))};")
    of.line(f"unsigned {turn} = 0;")
    head = f"for (long long {base} = blockIdx.x * (long long){width}; {base} < {total};"
    of.lines.append("#pragma unroll 1")
    of.open(f"{head} {base} += gridDim.x * (long long){width})")
    at = Var("_".join(ident(a.axis) for a in axes) + "_at", "index")
    of.line(f"const long long {at.name}_wanted = {base} + threadIdx.x % {width};")
    of.line(f"Parts {sharing}({parts}, {at.name}_wanted < {total}, {turn});")
    of.line(f"const long long {at.name} = {sharing}.is_there ? {at.name}_wanted : {total} - 1;")
    for text in points_of(of.unit, axes, at.name):
        of.line(text)
    return at
