"""Orders of which the first or last few places are read, without a sort (nearest neighbours, the best of scores):

    order = library argsort(x) {axis: 1}              parallel i < n:
    … order[i, j] for j < k                   to        sequential j < m:
                                                          if x[i, j] < best[k - 1]: put it in its place among the k best
                                                      if any row has a doubt: order = library argsort(x)

Nearly all elements are compared with the last of the best and left alone. Of equal elements the library's sort decides
which comes first, so that it is asked where two of the best are equal, or one that is left out equals the last of them;
so it is where fewer than `k` are numbers less than the greatest of the type, with which the places begin, and, for
the last places, where an element is NaN, which comes last of all. Otherwise there is one order. Whether `k` is small is
asked when it is known: more than `_MOST` places, or more than a sixteenth of the elements, are found by
the sort.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from transkern.fuse.sorts.names import given, set_once
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.extremes import highest, lowest
from transkern.ir.names import Names
from transkern.ir.results import ArrayResult, ListResult, Result, TupleResult, ViewResult
from transkern.ir.traverse import (
    bodies,
    buffers_read,
    own_parts,
    resolved,
    touched,
    variables_read,
    walk,
    with_bodies,
)  # fmt: skip
from transkern.records import replace

_MOST = 16
"""Places that are found so, at most."""

_OF = 16
"""A row has as many elements for each of them, at least: a sort of short rows takes no longer."""

_TRIED = 4
"""Rows that are looked at before the others: of values that repeat, they have a doubt already."""

_KEYS = ("float64", "float32", "int64", "int32", "uint64", "uint32", "int16", "uint16", "int8", "uint8")


def select_first(program: n.Program) -> n.Program:
    """The program in which such places are found so."""
    if not any(isinstance(s, n.Library) and s.name == "argsort" for s in walk(program.body)):
        return program
    state = _Selecting(program)
    body = state.block(program.body)
    return replace(program, body=body, buffers=state.buffers)


class _Selecting:
    def __init__(self, program: n.Program) -> None:
        self.names, self.buffers = Names.of(program), dict(program.buffers)
        statements = list(walk(program.body))
        self.lets, self.given = set_once(program), given(program)
        others = (s for s in statements if not isinstance(s, (n.Alloc, n.Return)))
        self.uses = Counter(name for s in others for name in touched(s))
        orders = [s.outs[0] for s in statements if isinstance(s, n.Library) and s.name == "argsort"]
        self.reads: dict[str, list[tuple[Expr, Expr] | None]] = {name: [] for name in orders}
        self.find(program.body, {})

    def find(self, block: Iterable[n.Stmt], around: Mapping[str, n.Loop]) -> None:
        """The first and last place along the last axis that each access of an order reads, or None."""
        for s in block:
            inside = {**around, s.axis: s} if isinstance(s, n.Loop) else around
            for result in _results(s.result) if isinstance(s, n.Return) else ():
                if isinstance(result, (ArrayResult, ViewResult, ListResult)) and result.buffer in self.reads:
                    self.reads[result.buffer].append(self.returned(result))
            for e in own_parts(s):
                if isinstance(e, Load) and e.buffer in self.reads:
                    self.reads[e.buffer].append(self.ends(e, around))
            for body in bodies(s):
                self.find(body, inside)

    def ends(self, load: Load, around: Mapping[str, n.Loop]) -> tuple[Expr, Expr] | None:
        if len(load.index) != len(self.buffers[load.buffer].dims):
            return None
        place = resolved(load.index[-1], self.lets)
        low = high = place
        for name in variables_read(place) & around.keys():
            loop = around[name]
            ends = b.substitute(place, {name: loop.start}), b.substitute(place, {name: b.sub(loop.stop, b.ONE)})
            step = b.difference(b.substitute(place, {name: b.add(loop.start, b.ONE)}), ends[0])
            if low is not place or step not in (1, -1) or loop.step != b.ONE:
                return None
            low, high = ends if step == 1 else ends[::-1]
        return self.known(load.buffer, low, high)

    def returned(self, result: Result) -> tuple[Expr, Expr] | None:
        """The places of an order that is returned, cut at its end."""
        if not isinstance(result, ArrayResult) or result.dims[:-1] != self.buffers[result.buffer].dims[:-1]:
            return None
        return self.known(result.buffer, b.ZERO, b.sub(result.dims[-1], b.ONE))

    def known(self, order: str, low: Expr, high: Expr) -> tuple[Expr, Expr] | None:
        """The places, if they are known where the order is made."""
        low, high = (resolved(e, self.lets) for e in (low, high))
        there = self.given | {v for d in self.buffers[order].dims for v in variables_read(d)}
        if (variables_read(low) | variables_read(high)) - there or buffers_read(low) or buffers_read(high):
            return None
        return low, high

    def block(self, statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in statements:
            if isinstance(s, n.Library) and s.name == "argsort" and (ends := self.wanted(s)):
                out += self.selection(s, ends)
            else:
                out.append(with_bodies(s, self.block))
        return tuple(out)

    def wanted(self, s: n.Library) -> list[tuple[Expr, bool]]:
        """How many places are read of an order at each end, and whether that is the far one; none if more is read."""
        (order,), (keys,) = s.outs, s.ins
        made, axis = self.buffers[order], dict(s.attributes)["axis"]
        reads = self.reads[order]
        if made.role == "argument" or made.element or self.uses[order] != 1 or not reads or any(s.views):
            return []
        if axis != len(made.dims) - 1 or self.buffers[keys].dtype not in _KEYS or self.buffers[keys].element:
            return []
        extent = made.dims[axis]
        few: dict[bool, Expr] = {}
        for ends in reads:
            if ends is None:
                return []
            counts = {True: b.sub(extent, ends[0]), False: b.add(ends[1], b.ONE)}
            # Places from 0 on are no last ones, and those to the end no first.
            here = [backwards for backwards, count in counts.items() if b.difference(count, extent) is None]
            if not here:
                return []
            few[here[0]] = b.maximum(few.get(here[0], b.ZERO), counts[here[0]])
        return [(few[backwards], backwards) for backwards in sorted(few)]

    def selection(self, s: n.Library, ends: list[tuple[Expr, bool]]) -> list[n.Stmt]:
        """What finds the places at each end of an order, and the order where one of these has a doubt."""
        dims = self.buffers[s.outs[0]].dims
        is_few = Var(self.names.fresh("is_few"), "bool")
        is_worth: Expr = b.TRUE
        all_counts: Expr = b.ZERO
        out: list[n.Stmt] = []
        counts: list[Expr] = []
        for few, _ in ends:
            name = self.names.fresh("few")
            counts.append(Var(name, "index"))
            out.append(n.Let(name, few, span=s.span))
            all_counts = b.add(all_counts, counts[-1])
            for holds in (
                b.compare("greater", counts[-1], b.ZERO),
                b.compare("less_equal", counts[-1], b.index(_MOST)),
            ):
                is_worth = b.both(is_worth, holds)
        is_worth = b.both(is_worth, b.compare("less_equal", b.mul(b.index(_OF), all_counts), dims[-1]))
        out.append(n.Let(is_few.name, is_worth, span=s.span))
        goes_on: Expr = is_few
        rows = dims[0] if len(dims) > 1 else b.ONE
        tried = b.minimum(rows, b.index(_TRIED)) if len(dims) > 1 else rows
        # Where values repeat, the first rows tell.
        for start, stop in ((b.ZERO, tried), (tried, rows))[: len(dims)]:
            for count, (_, backwards) in zip(counts, ends, strict=True):
                doubt = Var(self.names.fresh("doubt"), "bool")
                out.append(n.Accumulator(doubt.name, "any", "bool", span=s.span))
                end = b.where(goes_on, stop, start)
                out.append(replace(self.rows(s, count, doubt.name, backwards, start, end), span=s.span))
                goes_on = b.both(goes_on, b.logical_not(doubt))
        return [*out, n.If(b.logical_not(goes_on), (s,), span=s.span)]

    def rows(self, s: n.Library, count: Expr, doubt: str, backwards: bool, start: Expr, stop: Expr) -> n.Loop:
        """The loop that finds the places of the rows from `start` on, and doubts where there may be another order."""
        (order,), (keys,) = s.outs, s.ins
        dims, dtype = self.buffers[order].dims, self.buffers[keys].dtype
        extent, last = dims[-1], b.sub(count, b.ONE)
        outermost = (lowest if backwards else highest)(dtype)
        held, equals = self.names.fresh("best"), self.names.fresh("equals")
        self.buffers[held] = n.Buffer(held, dtype, (b.index(_MOST),), "temporary")
        at = tuple(Var(self.names.fresh("ii"), "index") for _ in dims[:-1])
        j, q, place, k = (Var(self.names.fresh(x), "index") for x in ("jj", "qq", "place", "kk"))
        value, before = (Var(self.names.fresh(x), dtype) for x in ("value", "before"))

        def best(where: Expr) -> Load:
            return Load(held, (where,), dtype)

        def ordered(where: Expr) -> tuple[Expr, ...]:
            return (*at, b.sub(b.sub(extent, b.ONE), where) if backwards else where)

        def comes_before(x: Expr, y: Expr) -> Expr:
            return Apply("greater" if backwards else "less", (x, y), "bool")

        def put(x: Expr, position: Expr) -> tuple[n.Stmt, ...]:
            return n.Store(held, (place,), x), n.Store(order, ordered(place), position)

        moves = b.both(b.compare("greater", place, b.ZERO), comes_before(value, before))
        goes_here = n.If(comes_before(value, best(place)), put(value, b.cast(j, "int64")))
        insertion = _loop(
            q, b.ZERO, count,
            n.Let(place.name, b.sub(last, q)),
            n.Let(before.name, best(b.maximum(b.sub(place, b.ONE), b.ZERO))),
            n.If(moves, put(before, Load(order, ordered(b.sub(place, b.ONE)), "int64")), (goes_here,)),
        )  # fmt: skip
        element = Load(keys, (*at, k), dtype)
        same = b.cast(Apply("equal", (element, best(last)), "bool"), "int64")
        if backwards and dtype.startswith("float"):  # it would come last
            same = b.where(Apply("isnan", (element,), "bool"), Const(2, "int64"), same)
        another = Apply("not_equal", (Var(equals, "int64"), Const(1, "int64")), "bool")
        neighbours = Apply("equal", (best(b.sub(q, b.ONE)), best(q)), "bool")
        body: tuple[n.Stmt, ...] = (
            n.Alloc(held),
            _loop(q, b.ZERO, b.index(_MOST), n.Store(held, (q,), outermost)),
            _loop(
                j, b.ZERO, extent,
                n.Let(value.name, Load(keys, (*at, j), dtype)),
                n.If(comes_before(value, best(last)), (insertion,)),
            ),
            n.Accumulator(equals, "sum", "int64"),
            replace(_loop(k, b.ZERO, extent, n.Accumulate(equals, "sum", same)), kind="parallel"),
            n.Accumulate(doubt, "any", another),
            n.Accumulate(doubt, "any", b.logical_not(comes_before(best(last), outermost))),
            _loop(q, b.ONE, count, n.Accumulate(doubt, "any", neighbours)),
        )  # fmt: skip
        for axis, size in zip(reversed(at[1:]), reversed(dims[1:-1]), strict=True):
            body = (replace(_loop(axis, b.ZERO, size, *body), kind="parallel"),)
        outer = at[0] if at else Var(self.names.fresh("ii"), "index")
        return replace(_loop(outer, start, stop, *body), kind="parallel")


def _results(result: Result) -> Iterator[Result]:
    yield result
    for item in result.items if isinstance(result, TupleResult) else ():
        yield from _results(item)


def _loop(axis: Var, start: Expr, stop: Expr, *body: n.Stmt) -> n.Loop:
    return n.Loop(axis.name, start, stop, b.ONE, "sequential", body)
