"""A kernel that GCC 12 vectorises wrongly: loads of neighbours under a condition, and stores of neighbours.

    y[2 * i] = c ? x[2 * i + 3] : 0;
    y[2 * i + 1] = c ? x[2 * i + 2] : 0;

In a loop under ``omp simd`` that GCC makes free of branches, it packs the two loads in the order of memory, whichever
way round they are used. Such a kernel keeps its branches: they cost vectors, and nothing else was found to help.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Reduce, Var
from transkern.ir.traverse import bodies, own_exprs, walk

BRANCHES_STAY = (
    '__attribute__((optimize("no-tree-loop-if-convert")))  // GCC 12 mixes up neighbours loaded under a condition'
)

_WRITTEN_OUT = 16
"""Iterations of a loop, at most, that GCC may write out before it looks at the loop around."""

Offset = Callable[[str, tuple[Expr, ...]], Expr]


def packed_under_conditions(body: tuple[n.Stmt, ...], offset: Offset) -> bool:
    """Whether the kernel has such loads, and several stores or sums for which they could be packed."""
    stores = [offset(s.buffer, s.index) for s in walk(body) if isinstance(s, n.Store) and s.index]
    sums = sum(isinstance(s, n.Accumulate) for s in walk(body))
    if sums < 2 and not _neighbours(stores):
        return False
    loads: dict[str, list[Expr]] = {}
    for load in _conditional(body, False):
        loads.setdefault(load.buffer, []).append(offset(load.buffer, load.index))
    return any(_neighbours(places) for places in loads.values())


def _neighbours(places: Iterable[Expr]) -> bool:
    """Whether two places differ by a constant, in steps of more than one element."""
    seen: dict[frozenset[tuple[Expr, int]], int] = {}
    for place in places:
        terms, total = b.affine(place)
        if not any(isinstance(t, Var) and abs(c) > 1 for t, c in terms.items()):
            continue
        if seen.setdefault(frozenset(terms.items()), total) != total:
            return True
    return False


def _conditional(block: Iterable[n.Stmt], under: bool) -> Iterator[Load]:
    """The loads that a condition decides about."""
    for s in block:
        for e in own_exprs(s):
            yield from _in(e, under)
        inside = under and not (isinstance(s, n.Loop) and _stays_a_loop(s))  # what is around a loop has its branches
        for body in bodies(s):
            yield from _conditional(body, inside or isinstance(s, n.If))


def _stays_a_loop(s: n.Loop) -> bool:
    extent = b.constant(b.sub(s.stop, s.start))
    return extent is None or extent > _WRITTEN_OUT


def _in(e: Expr, under: bool) -> Iterator[Load]:
    match e:
        case Load(_, index, _):
            if under and index:
                yield e
            for i in index:
                yield from _in(i, under)
        case Apply("where" | "and_then" | "or_else", (first, *rest), _):
            yield from _in(first, under)
            for x in rest:
                yield from _in(x, True)
        case Apply(_, args, _):
            for x in args:
                yield from _in(x, under)
        case Const() | Var() | Reduce():
            pass
