"""Points whose reductions are long have several threads: a block has `width` points, and `parts` threads for each.

    for (j = thread; j < m; j += threads) {        for (base = block * width; base < m; base += … * width) {
        sum = 0;                                       j = base + threadIdx.x % width;
        for (r = 0; r < n; ++r) sum += x[r, j];        sum = 0;
        y[j] = sum;                           to       for (r = part; r < n; r += parts) sum += x[r, j];
    }                                                  sum = reduce(sum);
                                                       if (part == 0) y[j] = sum;
                                                   }

Neighbours are neighbouring points, as before: the loads of a column's elements, each with those beside it. The
launcher chooses `parts` (1 where there are as many points as a device has threads), and how many blocks have the same
points: several, which meet at each reduction, where one a point would leave multiprocessors without work.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Var
from transkern.ir.traverse import buffers_read, variables_read, walk
from transkern.targets.clike import ident
from transkern.targets.cuda.body import extent_of, points_of
from transkern.targets.cuda.forms.scans import goes_in_order
from transkern.targets.cuda.nests import is_long, own, search, shared

if TYPE_CHECKING:
    from transkern.targets.cuda.group import GroupBody


_PLAIN = (n.Let, n.Accumulator, n.Accumulate, n.Loop, n.Store, n.If, n.Scanning)


def shares_points(inner: Sequence[n.Stmt], stores: bool = False) -> bool:
    """Whether the iterations of a nest are reductions that several threads may share: long, and nothing beside them
    that one thread would do in order. `stores`: or loops that store a point's own elements."""
    loops = [*shared(inner)]
    if not loops or any(not any(s is x for x in inner) for s in loops):
        return False
    plain = all(isinstance(x, _PLAIN) for x in walk(inner))
    if not plain or any(isinstance(x, n.Loop) and x.kind == "sequential" for x in own(inner)):
        return False
    if not stores and any(stores_elements(s) for s in loops):
        return False
    searches = any(search(s) is not None for s in loops if isinstance(s, n.Loop))
    atomic = any(isinstance(x, n.Store) and x.atomic for x in walk(inner))
    return any(map(is_long, loops)) and not searches and not atomic


def stores_elements(s: n.Stmt) -> bool:
    """Whether a loop of a point stores elements of its own."""
    return any(isinstance(x, (n.Store, n.Scanning)) for x in walk((s,)))


def shares_nest(axes: Sequence[n.Loop], inner: Sequence[n.Stmt]) -> bool:
    """Whether threads may share the points of a nest that reduce or store; what they take running totals of has to be
    as long in all points, as their threads meet chunk by chunk, and may be taken in parts."""
    if not shares_points(inner, stores=True):
        return False
    bound = {a.axis for a in axes} | {x.name for x in walk(inner) if isinstance(x, (n.Let, n.Accumulator))}
    scans = [x for x in walk(inner) if isinstance(x, n.Scanning)]
    return all(not (variables_read(s.stop) & bound or buffers_read(s.stop) or goes_in_order(s)) for s in scans)


def open_points(of: GroupBody, axes: Sequence[n.Loop], given: Sequence[str], sharing: str) -> Expr:
    """Opens the loop over a block's points, with the variables of `axes`, and what is called `sharing`, the threads
    that have one of them, which are `given`; the number of a point."""
    unit, c = of.unit, of.c
    base, total = unit.local("base"), unit.local("points")
    of.line(f"const long long {total} = {c.expr(b.product(tuple(extent_of(a) for a in axes)))};")
    of.line(f"Parts {sharing}({', '.join(given)});")
    of.lines.append("#pragma unroll 1")
    of.open(f"for (long long {base} = {sharing}.first(); {base} < {total}; {base} += {sharing}.step())")
    at = Var("_".join(ident(a.axis) for a in axes) + "_at", "index")
    of.line(f"const long long {at.name}_wanted = {base} + {sharing}.point;")
    of.line(f"{sharing}.is_there = {at.name}_wanted < {total};")
    of.line(f"const long long {at.name} = {sharing}.is_there ? {at.name}_wanted : {total} - 1;")
    for text in points_of(of.unit, axes, at.name):
        of.line(text)
    return at
