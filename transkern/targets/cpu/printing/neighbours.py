"""Kernels that GCC 12 vectorises wrongly, or with branches, and what is written before them.

*Loads of neighbours under a condition, and stores of neighbours.*

    y[2 * i] = c ? x[2 * i + 3] : 0;
    y[2 * i + 1] = c ? x[2 * i + 2] : 0;

In a loop under ``omp simd`` that GCC makes free of branches, it packs the two loads in the order of memory, whichever
way round they are used. Such a kernel keeps its branches: they cost vectors, and nothing else was found to help.

*Neighbours in rows of three, five, six and more float64, with vectors of 64 bytes.*

    y[3 * i] = x[3 * i] * x[3 * i + 1];
    y[3 * i + 1] = x[3 * i + 1] * x[3 * i + 1];
    y[3 * i + 2] = x[3 * i + 1] * x[3 * i + 2];

The second factors are a vector of eight elements in another order: 1, 1, 1, 4, 4, 4, 7, 7; the first ones are these in
their own order, or some of both. GCC takes ``vpermilpd`` for such orders, which moves elements within pairs, wherever
the first, third and fourth pair allow it, and does not ask what the second one needs (`avx_vpermilp_parallel`, where
the case of eight elements falls through to that of four). Rows of two and four never have such orders. Vectors of 32
bytes are right.

*Choices by one truth.*

    taken = total < best[lane];
    label[lane] = taken ? c : label[lane];
    best[lane] = taken ? total : best[lane];

GCC goes on from the first choice to the second without asking again ("jump threading"), finds that an element that is
not taken is stored as it was, and leaves that out: a store under a mask, with a branch around it for vectors of which
none is taken. Such branches depend on data, and the elements are read again before they are there: three times as slow.
So a module with such loops is compiled without, but where such a branch goes around a root or a division.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Reduce, Var
from transkern.ir.traverse import bodies, dearest, own_exprs, walk, walk_expr

BRANCHES_STAY = (
    '__attribute__((optimize("no-tree-loop-if-convert")))  // GCC 12 mixes up neighbours loaded under a condition'
)

HALF_VECTORS = """\
#if defined(__AVX512F__) && defined(__GNUC__) && !defined(__clang__)
__attribute__((target("prefer-vector-width=256")))  // GCC 12 mixes up rows of three in vectors of 64 bytes
#endif"""

NO_BRANCHES = """\
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-thread-jumps")  // which makes branches of choices by one truth, in vectors
#endif
"""
"""Behind the headers: functions that are compiled in different ways do not go into each other."""

_DEAR = 4
"""What an operation costs around which a branch is worth it: a division, a root."""

_WRITTEN_OUT = 16
"""Iterations of a loop, at most, that GCC may write out before it looks at the loop around."""

_FLOATS = {"float64": 1, "complex128": 2}
"""How many float64 an element is."""

_EIGHT = 8
"""As many places of an array that are known are a vector of 64 bytes, outside of loops, too."""

Offset = Callable[[str, tuple[Expr, ...]], Expr]


def packed_under_conditions(body: tuple[n.Stmt, ...], offset: Offset) -> bool:
    """Whether the kernel has such loads, and several stores or sums for which they could be packed."""
    sums = sum(isinstance(s, n.Accumulate) for s in walk(body))
    if sums < 2 and not _neighbours(_stored(body, offset)):
        return False
    loads: dict[str, list[Expr]] = {}
    for load in _conditional(body, False):
        loads.setdefault(load.buffer, []).append(offset(load.buffer, load.index))
    return any(_neighbours(places) for places in loads.values())


def mixed_up(body: tuple[n.Stmt, ...], offset: Offset, dtype_of: Callable[[str], str]) -> bool:
    """Whether the kernel has float64 neighbours in rows that are not of one, two, or four of them, or takes eight that
    stand at known places for several results that may become a vector: one result after the other takes each by itself,
    for all lanes."""
    short = {s.axis for s in walk(body) if isinstance(s, n.Loop) and not _stays_a_loop(s)}
    loads = ((e.buffer, e.index) for s in walk(body) for own in own_exprs(s) for e in walk_expr(own)
             if isinstance(e, Load))  # fmt: skip
    stores = ((s.buffer, s.index) for s in walk(body) if isinstance(s, n.Store))
    places: dict[str, list[Expr]] = {}
    for buffer, index in (*loads, *stores):
        if index and dtype_of(buffer) in _FLOATS:
            places.setdefault(buffer, []).append(offset(buffer, index))
    for buffer, those in places.items():
        even = tuple(count // _FLOATS[dtype_of(buffer)] for count in (1, 2, 4))
        known = {total for terms, total in map(b.affine, those) if not terms}
        if _neighbours(those, even, short) or (len(known) >= _EIGHT and _has_neighbours(body, offset)):
            return True
    return False


def _stored(body: tuple[n.Stmt, ...], offset: Offset) -> list[Expr]:
    return [offset(s.buffer, s.index) for s in walk(body) if isinstance(s, n.Store) and s.index]


def _has_neighbours(body: tuple[n.Stmt, ...], offset: Offset) -> bool:
    """Whether results stand beside each other: in memory, or as scalars that iterations hand on."""
    stored = _stored(body, offset)
    known = {total for terms, total in map(b.affine, stored) if not terms}
    scalars = {s.name for s in walk(body) if isinstance(s, (n.Accumulate, n.Assign))}
    return len(known) > 1 or len(scalars) > 1 or _neighbours(stored, ())


def _neighbours(places: Iterable[Expr], even: Collection[int] = (0, 1), written_out: Collection[str] = ()) -> bool:
    """Whether two places differ by a constant, in rows of other than so many elements; loops that are `written_out`
    make several places of one."""
    seen: dict[frozenset[tuple[Expr, int]], int] = {}
    for place in places:
        terms, total = b.affine(place)
        if not any(isinstance(t, Var) and abs(c) not in even for t, c in terms.items()):
            continue
        if any(isinstance(t, Var) and t.name in written_out and abs(c) == 1 for t, c in terms.items()):
            return True
        if seen.setdefault(frozenset(terms.items()), total) != total:
            return True
    return False


def _conditional(block: Iterable[n.Stmt], under: bool) -> Iterator[Load]:
    """The loads that a condition decides about."""
    for s in block:
        for e in own_exprs(s):
            yield from _in(e, under)
        inside = under and not (isinstance(s, n.Loop) and _stays_a_loop(s))  # what is around a loop has its branches
        if isinstance(s, n.If):
            inside |= not any(isinstance(x, n.Loop) and _stays_a_loop(x) for x in walk((s,)))
        for body in bodies(s):
            yield from _conditional(body, inside)


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


def choose_twice(body: Iterable[n.Stmt]) -> bool:
    """Whether a loop for vectors chooses twice by one truth what it stores, with nothing dear under a condition."""
    loops = (s for s in walk(tuple(body)) if isinstance(s, n.Loop) and s.kind == "parallel")
    return any(_chooses_twice(s.body) and not _goes_around(s.body) for s in loops)


def _goes_around(body: Iterable[n.Stmt]) -> bool:
    choices = (e for s in body for own in own_exprs(s) for e in walk_expr(own) if isinstance(e, Apply))
    return any(e.op == "where" and max(map(dearest, e.args[1:])) >= _DEAR for e in choices)


def _chooses_twice(body: Iterable[n.Stmt]) -> bool:
    truths = {s.name for s in body if isinstance(s, n.Let) and s.value.dtype == "bool"}
    seen: set[str] = set()
    for s in body:
        match s:
            case n.Store(value=Apply("where", (Var(name), *_))) if name in truths:
                if name in seen:
                    return True
                seen.add(name)
            case _:
                pass
    return False
