"""Short reductions in order, so that lanes go over what there are many of: distances, nearest centres, small products;
norms of points, the best of a few classes, quadratic forms.

    parallel i in 0 .. m:                               if (p <= 16):
        parallel j in 0 .. n:                               parallel i in 0 .. m:
            accumulator total by sum             to             parallel j in 0 .. n:
            parallel k in 0 .. p:                                   total := 0
                total sum= (x[i, k] - y[j, k]) ** 2                 for k in 0 .. p: total := total + …
            d[i, j] = total                                         d[i, j] = total
                                                            else: as it was

A vector along a short axis is mostly empty, and its lanes have to be added up for each pair. What each `j` goes over
is the same for every `i`: a turned copy of it serves them all (`turn_arrays`), so that lanes of neighbours load it
side by side. Where nothing serves others, a row that is gone over more than once is copied first, and a row that is
written more than once is copied at the end: copies of neighbours stand side by side (`block_lanes`). Where the pairs
of a row are few, too, and reduced in turn (the nearest of some centres), lanes go over the rows. In order, few terms
are as exact as NumPy's sum of them; more are left as they were.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass

from transkern.fuse.checks.choices import choose, may_choose
from transkern.fuse.lanes.blocks import suits
from transkern.fuse.lanes.memory import contiguous, lies_apart
from transkern.fuse.lowering.copies import with_own_names
from transkern.fuse.schedule.columns import WIDE, Ordering, is_float_sum
from transkern.fuse.schedule.turn import TurningReductions
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.traverse import (
    always_read,
    bodies,
    buffers_read,
    buffers_used,
    buffers_written,
    exprs,
    map_own,
    own_exprs,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)
from transkern.records import replace

_STAGED = 64
"""Elements of a row that is copied because it is gone over again and again."""
_ROWS, _ROWS_AGAIN = 32, 8
"""As many rows there are, at least, and as many in a loop: what lanes read is turned once for all its iterations."""
_PAIRS, _POSITIONS = 128, 512
"""Pairs of a row up to which lanes over the rows take less than lanes over its pairs, whose best has to be found."""
_NEAR, _NEAR_SEARCHED = 1024, 128
"""Terms up to which lanes over rows take less than lanes along them, what they come to put together for each row, where
neighbours share each term's other operand: a cache holds all of these. (A search along a row may end early.)"""
SHORT = 16
"""Terms up to which a sum in order is as exact as one in pairs."""


def order_pairs(program: n.Program) -> n.Program:
    """The program with such reductions in order where they are short."""
    state = _Pairs(program)
    body = state.block(program.body)
    return replace(program, body=body, variables=state.variables, buffers=state.buffers)


class _Pairs(Ordering):
    part = SHORT
    narrow = False  # its sums are short, and those around them ask for single loops
    rows = _ROWS

    def __init__(self, program: n.Program) -> None:
        super().__init__(program)
        self.turning = TurningReductions(program)
        self.turned: frozenset[str] = frozenset()  # arrays of which reductions will read turned copies

    def block(self, statements: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
        """The statements, nests with themselves in order for where their reductions are short."""
        out: list[n.Stmt] = []
        rest = list(statements)
        while rest:
            s = rest.pop(0)
            if not isinstance(s, n.Loop) or s.kind != "parallel":
                before = self.rows, self.turned
                if isinstance(s, (n.Loop, n.While)):
                    self.rows = _ROWS_AGAIN
                if isinstance(s, n.Loop):
                    self.turned = self.turned.union(self.turning.candidates(s)[0])
                out.append(with_bodies(s, self.block))
                self.rows, self.turned = before
                continue
            conditions, versions = self.versions(s)
            if not versions or (conditions and not may_choose(out, s, rest)):
                out.append(s)
            elif conditions:
                rest = choose(out, conditions, versions, rest, self.names, self.variables)
            else:
                out += versions[0]
        return tuple(out)

    def versions(self, s: n.Loop) -> tuple[list[Expr], list[tuple[n.Stmt, ...]]]:
        """The nest with short reductions in order, the conditions for each way to do that, and, behind those that have
        one, the nest as it was."""
        conditions: list[Expr] = []
        versions: list[tuple[n.Stmt, ...]] = []
        for way in (self.pairs_together, self.ordered):
            before = dict(self.buffers)
            where: list[Expr] = []
            made = way(self.again(s) if versions else s, (), where)
            condition = _all(where, s, made)
            if not where or condition == b.FALSE:
                self.buffers = before
                continue
            versions.append((made,))
            if condition == b.TRUE:
                return conditions, versions
            conditions.append(condition)
        return conditions, [*versions, (self.again(s),)] if versions else []

    def again(self, s: n.Loop) -> n.Loop:
        return with_own_names(s, self.names, self.variables, self.buffers)

    def pairs_together(self, s: n.Loop, around: tuple[n.Loop, ...], where: list[Expr]) -> n.Loop:
        """The nest with lanes over what a few short reductions each are reduced for: labels by the nearest of a few."""
        body: list[n.Stmt] = []
        sizes: list[Expr] = []
        for x in s.body:
            if isinstance(x, n.Loop) and any(isinstance(y, n.Loop) for y in x.body):
                inner = self.columns(_without(x, n.Accumulate)) if x.kind == "parallel" and x.step == b.ONE else []
                if not inner:
                    return s
                sizes += [_at_most(b.sub(y.stop, y.start), SHORT) for y in inner]
                self.exact = False
                x = replace(x, body=self.in_order(x.body, x.axis))
            body.append(x)
        made = self.rows_together(replace(s, body=tuple(body)), where) if sizes else None
        if made is None:
            where.clear()
            return s
        where += sizes
        return made

    def is_inner(self, s: n.Stmt) -> bool:
        """What `pairs_together` has put in order."""
        match s:
            case n.Assign():
                return True
            case n.Loop(kind="sequential", body=body):
                return all(isinstance(x, n.Let | n.Assign) for x in body)
            case _:
                return False

    def ordered(self, s: n.Loop, around: tuple[n.Loop, ...], where: list[Expr]) -> n.Loop:
        """The nest with its short reductions in order; what has to hold for that goes into `where`."""
        if not self.turned.isdisjoint(buffers_used(s)):
            return s
        pairs = self.of_pairs(s, around)
        if not (pairs and around) and all(len(x.body) == 1 for x in around):
            made = self.rows_together(s, where)
            if made is not None:
                return made
        if pairs:
            where += [_at_most(b.sub(x.stop, x.start), SHORT) for x in pairs]
            self.exact = False
            return replace(s, body=self.in_order(s.body, s.axis))
        inner = (
            self.ordered(x, (*around, s), where) if isinstance(x, n.Loop) and x.kind == "parallel" else x
            for x in s.body
        )
        return replace(s, body=tuple(inner))

    def rows_together(self, s: n.Loop, where: list[Expr]) -> n.Loop | None:
        """A loop whose iterations go over a row each, in order, and over a copy where that pays; None for others."""
        near = self.is_as_near(s)
        if contiguous(s.axis, s.body, self.buffers) >= 0 and not near:
            return None
        many = b.compare("greater_equal", b.sub(s.stop, s.start), b.index(self.rows))
        if s.step == b.ONE and self.columns(_without(s, n.Accumulate, n.Alloc)):
            s = with_own_names(s, self.names, self.variables, self.buffers)
            nests = [x for x in s.body if isinstance(x, n.Loop)]
            loops = [x for nest in nests for x in walk((nest,)) if isinstance(x, n.Loop)]
            reduced = [x for x in s.body if isinstance(x, n.Accumulator)]
            most = _most(reduced, len(loops) > len(nests))
            if near and not any(isinstance(x, n.Alloc) for x in s.body) and not any(map(is_float_sum, reduced)):
                most = _NEAR_SEARCHED if any(x.op in ("any", "all") for x in reduced) else _NEAR
            where += [many, *(_at_most(b.sub(x.stop, x.start), most) for x in loops)]
            for x in s.body:
                if isinstance(x, n.Alloc):
                    self.shorten(x.buffer, {b.sub(y.stop, y.start) for y in loops}, most)
            s = _Staging(self, s, most).made()
            self.exact = most > SHORT
            return replace(s, body=self.in_order(s.body, s.axis))
        if not suits(s.body) or any(x.kind == "parallel" for x in walk(s.body) if isinstance(x, n.Loop)):
            return None
        staging = _Staging(self, s, _STAGED)
        made = staging.made()
        if staging.sizes:
            where += [many, *(_at_most(size, _STAGED) for size in staging.sizes)]
        return made

    def is_as_near(self, s: n.Loop) -> bool:
        """Whether what reductions read lies side by side for neighbours as well as along the reductions themselves: for
        a few edges, how many are below each of many numbers."""
        found = self.columns(_without(s, n.Accumulate)) if s.step == b.ONE else []
        if any(lies_apart(s.axis, x, self.buffers) for x in found):
            return False
        return bool(found) and all(
            0 < contiguous(s.axis, (x,), self.buffers) == contiguous(x.axis, (x,), self.buffers) for x in found
        )

    def shorten(self, row: str, sizes: Set[Expr], most: int) -> None:
        """Gives an array that is one row as much memory as a row may take, which is known before it is asked for."""
        info = self.buffers[row]
        if len(info.dims) == 1 and info.dims[0] in sizes:
            self.buffers[row] = replace(info, dims=(b.index(most),))

    def of_pairs(self, s: n.Loop, around: tuple[n.Loop, ...]) -> list[n.Loop]:
        """The reductions for each iteration of `s`, if all that they read is that iteration's for all around it."""
        # but for what the pairs' own are reduced to
        found = self.columns(_without(s, n.Accumulate)) if s.step == b.ONE else []
        return found if all(self.is_of_pairs(s, x, {loop.axis for loop in around}) for x in found) else []

    def is_of_pairs(self, s: n.Loop, x: n.Loop, outside: set[str]) -> bool:
        if any(isinstance(y, n.Store) for y in x.body) or (variables_read(x.start) | variables_read(x.stop)) & outside:
            return False
        loads = [e for e in exprs(x.body) if isinstance(e, Load)]
        own = [e for e in loads if any(s.axis in variables_read(i) for i in e.index)]
        shared = all(not any(variables_read(i) & outside for i in e.index) for e in own)
        return bool(own) and shared and len(own) < len(loads) and contiguous(s.axis, (x,), self.buffers) <= 0


def _most(made: list[n.Accumulator], of_pairs: bool) -> int:
    """How many elements of a row lanes over the rows take less time for than lanes along it, by what rows come to."""
    sums = [x for x in made if is_float_sum(x)]
    if of_pairs and made and not sums:
        return _POSITIONS if all(x.op in ("argmax", "argmin") for x in made) else _PAIRS
    if len(sums) == 1 and not of_pairs:  # a few vectors are soon added up, once
        return SHORT if sums[0].dtype == WIDE else 3 * SHORT // 2
    return 2 * SHORT


def _without(s: n.Loop, *kinds: type[n.Stmt]) -> n.Loop:
    """The loop without statements of these kinds outside the loops in it."""
    return replace(s, body=tuple(x for x in s.body if not isinstance(x, kinds)))


def _all(where: list[Expr], *nests: n.Loop) -> Expr:
    """That all of it holds; false if that is known only once a nest runs (the nest, or it under names of its own)."""
    condition: Expr = b.TRUE
    for x in dict.fromkeys(where):
        condition = b.both(condition, x)
    inside = {x.axis for x in walk(nests) if isinstance(x, n.Loop)}
    inside.update(name for nest in nests for name in scalars_set(nest))
    return b.FALSE if variables_read(condition) & inside or buffers_read(condition) else condition


def _at_most(size: Expr, most: int) -> Expr:
    return b.compare("less_equal", size, b.index(most))


class _Staging:
    """Copies of the rows that the loops in a parallel loop `s` go over, of `most` elements at most."""

    def __init__(self, state: Ordering, s: n.Loop, most: int) -> None:
        self.state, self.loop, self.most = state, s, most
        self.sizes: list[Expr] = []
        self.names = {name for x in s.body for name in scalars_set(x)}
        self.written = {name for x in s.body for name in buffers_written(x)}

    def made(self) -> n.Loop:
        """The loop, with such copies."""
        body = self.loop.body
        for buffer in sorted(buffers_used(self.loop)):
            body = self.staged(buffer, body)
        return replace(self.loop, body=body)

    def staged(self, buffer: str, body: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        touched = [(k, x) for k, s in enumerate(body) for x in _touches(s, buffer, ())]
        rows = {x.index[:-1] for _, x in touched}
        sizes = {x.size for _, x in touched}
        if len(rows) != 1 or len(sizes) != 1:
            return body
        (row,), (size,) = rows, sizes
        info = self.state.buffers[buffer]
        if size is None or not any(self.loop.axis in variables_read(i) for i in row):
            return body
        if any(variables_read(e) & self.names or buffers_read(e) & self.written for e in (*row, size)):
            return body  # known only once something else has been done
        there = b.at_least(info.dims[-1], size) if len(row) + 1 == len(info.dims) else False
        if not there and not any(x.always and len(x.axes) == 1 for _, x in touched):
            return body  # there may be fewer elements, and nobody who asks for them
        again = len({k for k, _ in touched}) > 1 or any(len(x.axes) > 1 for _, x in touched)
        if not again or any(x.stored and len(x.axes) > 1 for _, x in touched):
            return body
        self.sizes.append(size)
        names, span = self.state.names, self.loop.span
        mine = names.fresh(f"{buffer}_row")
        self.state.buffers[mine] = n.Buffer(mine, info.dtype, (b.index(self.most),), line=span.line)

        def copied(to: str, target: tuple[Expr, ...], origin: str, source: tuple[Expr, ...]) -> n.Loop:
            at = Var(names.fresh("at"))
            value = Load(origin, (*source, at), info.dtype)
            body = (n.Store(to, (*target, at), value, span=span),)
            return n.Loop(at.name, b.ZERO, size, b.ONE, "sequential", body, span=span)

        def own(e: Expr) -> Expr | None:
            return Load(mine, e.index[-1:], e.dtype) if isinstance(e, Load) and e.buffer == buffer else None

        def changed(s: n.Stmt) -> n.Stmt:
            if isinstance(s, n.Store) and s.buffer == buffer:
                s = replace(s, buffer=mine, index=s.index[-1:])
            s = map_own(s, own)
            return with_bodies(s, lambda block: tuple(changed(x) for x in block))

        out: list[n.Stmt] = [n.Alloc(mine, span=span)]
        if not (touched[0][1].stored and touched[0][1].always):
            out.append(copied(mine, (), buffer, row))
        for k, s in enumerate(body):
            out.append(changed(s))
            if k == touched[-1][0] and any(x.stored for _, x in touched):
                out.append(copied(buffer, row, mine, ()))
        return tuple(out)


@dataclass(frozen=True, slots=True)
class _Touch:
    """An element that is loaded or stored in loops over `axes`: of a whole row of `size`, if that is not None, and
    `always`, if no condition decides about it."""

    index: tuple[Expr, ...]
    stored: bool
    axes: tuple[str, ...]
    size: Expr | None
    always: bool


def _touches(s: n.Stmt, buffer: str, around: tuple[n.Loop, ...], always: bool = True) -> Iterator[_Touch]:
    """What a statement loads and stores of a buffer, what it loads first."""

    def touch(index: tuple[Expr, ...], stored: bool) -> _Touch:
        loop = next((x for x in around if index and index[-1] == Var(x.axis)), None)
        axes = {x.axis for x in around}
        whole = loop is not None and loop.start == b.ZERO and loop.step == b.ONE
        free = not any(variables_read(i) & axes for i in index[:-1])
        size = loop.stop if loop and whole and free else None
        return _Touch(index, stored, tuple(x.axis for x in around), size, always)

    for own in own_exprs(s):
        sure = set(always_read(own))
        for e in walk_expr(own):
            if isinstance(e, Load) and e.buffer == buffer:
                yield replace(touch(e.index, False), always=always and e in sure)
    if isinstance(s, n.Store) and s.buffer == buffer:
        yield touch(s.index, True)
    for block in bodies(s):
        for x in block:
            if isinstance(s, n.Loop):
                yield from _touches(x, buffer, (*around, s), always)
            else:
                yield from _touches(x, buffer, around, False)
