"""Fuse loops over the same range:

    parallel i in 0 .. n: t[i] = f(x[i])          parallel i in 0 .. n:
    parallel i in 0 .. n: y[i] = g(t[i])    to        t[i] = f(x[i])
                                                      y[i] = g(t[i])

Legal where every array that one loop writes and the other touches is touched, in both, at one and the same position of
the fused axis, or where dependence analysis proves that no value crosses iterations. A loop moves up past statements
it has nothing to do with, and takes the numbers along that are made for it in between. What the fused body holds is
fused in turn (the rows of a softmax, then the passes over a row).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from transkern.analysis.dependence import Carried
from transkern.analysis.verdicts import Walk
from transkern.fuse.states.reading import depends_on, is_cheap, may_trap
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.traverse import (
    buffers_used,
    buffers_written,
    dearest,
    map_statement,
    own_exprs,
    scalars_set,
    scalars_used,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)  # fmt: skip
from transkern.records import replace

_BARRIERS = (n.Guard, n.Return, n.Break, n.Continue)
_QUIET = (n.Accumulate, n.Accumulator, n.If, n.Let, n.Loop, n.Store)  # raise nothing, and end nothing
_SEARCHES = ("first", "any", "all")  # end where they find something: alone they look at many elements together
_SLOW = 20  # what functions cost (`ir.ops`), which vectors compute to other bits than single numbers
_STREAMS, _FEW, _NEAR = 8, 16, 40  # loops in order that run as one (all has registers), of statements; how far apart


def fuse_loops(program: n.Program) -> n.Program:
    """The program with adjacent parallel loops over one range made one, at every depth."""
    return replace(program, body=_Fusing(program, True).block(program.body))


def fuse_for_devices(program: n.Program) -> n.Program:
    """The same, where each loop is a kernel, or a pass of one: those with nothing of each other's are one, with any
    axes. What has stayed apart passes checks, with memory and searches; what reads it behind one is one with it."""
    first = replace(program, body=_Fusing(program, False).block(program.body))
    return replace(first, body=_Fusing(first, False, True).block(first.body))


class _Fusing(Walk):
    loops_only = True

    def __init__(self, program: n.Program, apart: bool, passing: bool = False) -> None:
        super().__init__(program)
        self.buffers, self.apart, self.passing, self.within_lanes = program.buffers, apart, passing, False

    def block(self, statements: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
        if self.passes_by(statements):
            return super().block(statements)
        out: list[_Piece] = []
        with self.scope():
            for s in statements:
                piece = _Piece(s, self.buffers)
                if isinstance(s, (n.Loop, n.Compact)) and _is_parallel(s):
                    merged = self._merge(out, piece)
                else:
                    merged = self.apart and _is_short_recurrence(s) and self._interleave(out, piece)
                if not merged:
                    out.append(piece)
                self.learn(s)
        return super().block([piece.statement() for piece in out])

    def inside(self, s: n.Stmt) -> n.Stmt:
        around, self.within_lanes = self.within_lanes, self.within_lanes or _is_parallel(s)
        made = super().inside(s) if isinstance(s, (n.Loop, n.If, n.While)) else with_bodies(s, self.block)
        self.within_lanes = around
        return made

    def _interleave(self, out: list[_Piece], piece: _Piece) -> bool:
        """Fuse a loop in order into an earlier one that reads what it reads, too: they wait for what they have just
        computed, and so do it at the same time. Lanes do not wait for each other: there, one that makes what it reads.
        What it needs moves up with it."""
        needed: list[int] = []
        assert isinstance(piece.head, n.Loop)
        for position in range(len(out) - 1, max(-1, len(out) - 1 - _NEAR), -1):
            earlier = out[position]
            if earlier.barrier:
                return False
            free = not any(_conflict(earlier, out[k]) for k in needed)
            meets = self._hands_arrays(earlier, piece) if self.within_lanes else bool(earlier.used & piece.used)
            if free and meets and earlier.streams < _STREAMS and _is_short_recurrence(earlier.head):
                assert isinstance(earlier.head, n.Loop)
                two = _renamed(piece, earlier.head.axis)
                if _same_range(earlier.head, piece.head) and self._fusible(earlier, piece, two):
                    between = [s for k, s in enumerate(out[position + 1 :], position + 1) if k not in needed]
                    earlier.take(two)
                    out[position:] = [*(out[k] for k in sorted(needed)), earlier, *between]
                    return True
            if not free or _conflict(earlier, piece):
                needed.append(position)
        return False

    def _merge(self, out: list[_Piece], piece: _Piece) -> bool:
        """Fuse a loop into an earlier one of `out`; declarations it needs move up with it."""
        needed: list[int] = []  # positions of declarations that only this loop needs
        loop = piece.head
        assert isinstance(loop, (n.Loop, n.Compact))
        renamed: dict[str, _Piece] = {}  # the loop, by the name of its axis
        stays = isinstance(loop, n.Compact)  # an earlier loop comes down to it
        for position in range(len(out) - 1, -1, -1):
            earlier, head = out[position], out[position].head
            if isinstance(head, n.Guard):
                moved = [piece, *(out[k] for k in needed)]
                if stays or not all(self._may_precede(one, earlier) for one in moved):
                    return False
                continue
            if isinstance(head, _BARRIERS):
                return False
            down = stays and isinstance(loop, n.Loop)
            if down and not (isinstance(head, n.Loop) and self._hands_arrays(earlier, piece)):
                continue
            alike = isinstance(head, n.Loop) and _same_range(head, loop)
            if isinstance(head, n.Loop) and alike and self._gains(earlier, piece):
                if head.axis not in renamed:
                    renamed[head.axis] = _renamed(piece, head.axis)
                two = renamed[head.axis]
                numbers = (out[k] for k in needed if isinstance(out[k].head, n.Let))
                if not any(_conflict(earlier, one) for one in numbers) and self._fusible(earlier, piece, two):
                    moved = [out[k] for k in sorted(needed)]
                    between = [s for k, s in enumerate(out[position + 1 :], position + 1) if k not in needed]
                    if stays:
                        if any(_conflict(earlier, s) for s in between):
                            return False
                        earlier.take(two)
                        out[position:] = [*between, *moved, earlier]
                        return True
                    earlier.take(two)
                    out[position:] = [*moved, earlier, *between]
                    return True
            if down:
                continue
            if isinstance(head, (n.Accumulator, n.Alloc, n.Let)):
                if _declares_for(head, piece) or any(_declares_for(head, out[k]) for k in needed):
                    needed.append(position)
                elif _conflict(earlier, piece):
                    return False
                continue
            if _conflict(earlier, piece) or any(_conflict(earlier, out[k]) for k in needed):
                if stays:
                    return False
                stays, needed = True, []
        return False

    def _may_precede(self, one: _Piece, guard: _Piece) -> bool:
        """Whether nobody can tell that a statement ran before a check that fails: it changes only what lives in this
        call, and reads what is there whatever the check says."""
        if one.barrier or not (one.written.isdisjoint(guard.used) and one.set.isdisjoint(guard.read)):
            return False
        if any(x not in self.buffers or self.buffers[x].role == "argument" for x in one.written):
            return False
        if isinstance(one.head, n.Accumulator):
            return one.head.op not in _SEARCHES or self.passing
        if isinstance(one.head, n.Alloc) and self.passing and isinstance(guard.head, n.Guard):  # saves a kernel
            return self.buffers[one.head.buffer].role == "temporary" and not depends_on(guard.head.condition, one.read)
        if not isinstance(one.head, n.Loop) or not all(isinstance(s, _QUIET) for s in walk((one.head,))):
            return False
        if any(may_trap(e) for s in walk((one.head,)) for own in own_exprs(s) for e in walk_expr(own)):
            return False
        stops = {s.axis: s.stop for s in walk((one.head,)) if isinstance(s, n.Loop) and s.start == b.ZERO}
        return all(
            tuple(b.ONE if i == b.ZERO else stops.get(i.name) if isinstance(i, Var) else None for i in index) == dims
            for dims, accesses in ((self.buffers[name].dims, x) for name, x in one.inner.accesses.items())
            for index in accesses
        )

    def _hands_arrays(self, one: _Piece, two: _Piece) -> bool:
        """Whether a temporary array goes from one loop to the other."""
        return any(x in self.buffers and self.buffers[x].role == "temporary" for x in two.used & one.written)

    def _gains(self, one: _Piece, two: _Piece) -> bool:
        """Whether two loops are better one. Behind a loop in order, one that does a few operations with what that
        makes is: they cost less than the array between them, though they are done in no lanes then. Within lanes, so is
        any that does not mind the order."""
        if _is_parallel(one.head):
            return not self._is_beside(one, two) and not self._is_slow_filter(one, two)
        suits = _is_orderless if self.within_lanes else _is_simple
        few = isinstance(two.head, n.Loop) and len(two.head.body) <= _FEW and all(map(suits, two.head.body))
        return self.apart and few and self._hands_arrays(one, two)

    def _is_beside(self, one: _Piece, two: _Piece) -> bool:
        """Whether two loops have nothing of each other's, and one goes through more than the other: what either could
        hand to loops of its own kind counts for more."""
        if not self.apart or one.written & two.used or two.written & (one.used | one.written) or one.set & two.read:
            return False
        return _depth(one.head) != _depth(two.head)

    def _is_slow_filter(self, one: _Piece, two: _Piece) -> bool:
        """Whether a filter would compute in order what has loops of its own, or functions, in vectors and threads: an
        array between them costs less."""
        if not self.apart or self.within_lanes or not isinstance(two.head, n.Compact):
            return False
        _, *inside = walk((one.statement(),))
        return any(isinstance(s, n.Loop | n.While) or dearest(e) >= _SLOW for s in inside for e in own_exprs(s))

    def _fusible(self, one: _Piece, loop: _Piece, two: _Piece) -> bool:
        """Whether `one` may go on with `two`: the `loop` that it is with the axis of the other."""
        if one.barrier or two.barrier:
            return False
        assert isinstance(loop.head, (n.Loop, n.Compact)) and isinstance(one.head, n.Loop)
        made = loop.inner.made & self.buffers.keys()
        if any(loop.head.axis in variables_read(d) for name in made for d in self.buffers[name].dims):
            return False  # the arrays made inside have sizes in its terms
        if isinstance(loop.head, n.Compact) and any(map(one.hands_on, one.inner.accumulated)):
            return False  # a compaction combines nothing but its count
        if any(map(one.hands_on, loop.read | loop.set)):
            return False
        if any(loop.hands_on(name) and (name in one.read or name in one.set) for name in loop.set):
            return False
        axis = one.head.axis
        shared = {x for x in loop.used if x in one.written}
        shared |= {x for x in loop.written if x in one.used or x in one.written}
        for buffer in shared:
            accesses = [*one.inner.accesses.get(buffer, ()), *two.inner.accesses.get(buffer, ())]
            if isinstance(loop.head, n.Compact) and buffer in loop.head.outputs:
                if not _ahead(axis, accesses) or buffer in one.written:
                    return False
                continue
            if not _aligned(axis, accesses, one, two):
                if isinstance(loop.head, n.Loop) and loop.head.kind == "sequential":
                    if not _disjoint(buffer, one, two):
                        return False
                    continue
                return isinstance(loop.head, n.Loop) and self._apart(one.joined(two))
        return True

    def _apart(self, joined: n.Stmt) -> bool:
        """Whether it is proven that the iterations of the two loops in one are independent of each other."""
        assert isinstance(joined, n.Loop)
        return Carried(self.buffers, joined, self.surroundings()).independent()


@dataclass(slots=True)
class _Inner:
    """What stands in a loop."""

    accesses: dict[str, dict[tuple[Expr, ...], None]]  # the subscripts of each array, each once
    local: set[str]  # scalars that live no longer than an iteration
    bound: set[str]  # axes and names that the body binds
    made: set[str]  # arrays
    accumulated: set[str]


class _Piece:
    """A statement with what it touches, or a loop with all that has been fused into it: it knows that of them, too, and
    becomes one statement at last (`statement`)."""

    def __init__(self, s: n.Stmt, buffers: Mapping[str, n.Buffer]) -> None:
        self.head = s  # of a loop, what is not its body
        self.buffers = buffers
        self.used: Set[str] = buffers_used(s)
        self.written: Set[str] = frozenset((s.buffer,)) if isinstance(s, n.Alloc) else buffers_written(s)
        self.set: Set[str] = scalars_set(s)
        inside = tuple(walk((s,)))
        sizes = (d for x in inside if isinstance(x, n.Alloc) and x.buffer in buffers for d in buffers[x.buffer].dims)
        self.read: Set[str] = frozenset((*scalars_used(s), *(v for d in sizes for v in variables_read(d))))
        self.barrier = any(isinstance(x, _BARRIERS) for x in inside)
        self._more: list[tuple[n.Stmt, ...]] = []  # the bodies that its own goes behind

    @functools.cached_property
    def inner(self) -> _Inner:
        s = self.head
        assert isinstance(s, (n.Loop, n.Compact)) and not self._more
        return _inner(s)

    def hands_on(self, name: str) -> bool:
        """Whether it changes a scalar that lives longer than an iteration."""
        return name in self.set and name not in self.inner.local

    def binds(self, name: str) -> bool:
        """Whether a name stands for another value in another place, or iteration, of the loop."""
        return name in self.inner.bound or self.hands_on(name)

    def take(self, two: _Piece) -> None:
        """Goes on with another loop over the same axis."""
        mine, its = self.inner, two.inner
        for buffer, accesses in its.accesses.items():
            mine.accesses.setdefault(buffer, {}).update(accesses)
        mine.local |= its.local
        mine.bound |= its.bound
        mine.made |= its.made
        mine.accumulated |= its.accumulated
        self.used, self.written = _grown(self.used, two.used), _grown(self.written, two.written)
        self.set, self.read = _grown(self.set, two.set), _grown(self.read, two.read)
        one = self.head
        assert isinstance(one, n.Loop)
        self._more.append(one.body)
        self.head = replace(_behind(one, two.head), kind=one.kind) if isinstance(two.head, n.Loop) else two.head

    @property
    def streams(self) -> int:
        """How many loops it has been."""
        return len(self._more) + 1

    def statement(self) -> n.Stmt:
        if not self._more:
            return self.head
        assert isinstance(self.head, (n.Loop, n.Compact))
        return replace(self.head, body=sum((*self._more, self.head.body), ()))

    def joined(self, two: _Piece) -> n.Stmt:
        """What it would be with another loop over the same axis."""
        one = self.statement()
        assert isinstance(one, n.Loop) and isinstance(two.head, (n.Loop, n.Compact))
        return replace(_behind(one, two.head), body=one.body + two.head.body)


def _behind(one: n.Loop, two: n.Loop | n.Compact) -> n.Loop | n.Compact:
    """What goes on behind a loop: more iterations do no harm only where they do none in either."""
    return replace(two, spare=None) if isinstance(two, n.Loop) and two.spare != one.spare else two


def _depth(s: n.Stmt) -> int:
    """How many parallel loops stand in each other."""
    inner = max((_depth(x) for x in s.body), default=0) if isinstance(s, (n.Loop, n.Compact)) else 0
    return inner + (isinstance(s, n.Loop) and s.kind == "parallel")


def _grown(one: Set[str], two: Set[str]) -> Set[str]:
    """Both together, in the memory of the first where that is nobody else's."""
    if isinstance(one, set):
        one |= two
        return one
    return {*one, *two}


def _inner(loop: n.Loop | n.Compact) -> _Inner:
    found = _Inner({}, set(), set(), set(), set())
    for s in walk((loop,)):
        for own in own_exprs(s):
            for e in walk_expr(own):
                if isinstance(e, Load):
                    found.accesses.setdefault(e.buffer, {})[e.index] = None
        match s:
            case n.Store(buffer=name, index=index):
                found.accesses.setdefault(name, {})[index] = None
            case n.Scanning(buffer=name, index=index):
                found.accesses.setdefault(name, {})[index] = None
                found.bound.add(s.axis)
            case n.Library(outs=outs, ins=ins):
                for name in (*outs, *ins):
                    found.accesses.setdefault(name, {})[()] = None
            case n.Let(name=name):
                found.bound.add(name)
                found.local.add(name)
            case n.Accumulator(name=name):
                found.local.add(name)
            case n.Accumulate(name=name):
                found.accumulated.add(name)
            case n.Alloc(buffer=name):
                found.made.add(name)
            case n.Loop(axis=name) if s is not loop:
                found.bound.add(name)
            case n.Compact(axis=name, inner=inner):
                found.bound.update(a.name for a in inner)
                if s is not loop:
                    found.bound.add(name)
            case _:
                pass
    if isinstance(loop, n.Compact):
        found.local.add(loop.count)  # set when the loop has ended: inside, it is still what it was
    return found


def _is_parallel(s: n.Stmt) -> bool:
    return isinstance(s, n.Compact) or (isinstance(s, n.Loop) and s.kind == "parallel")


def _is_short_recurrence(s: n.Stmt) -> bool:
    """Whether a loop in order is a few statements, one after the other."""
    straight = (n.Let, n.Assign, n.Store)
    return isinstance(s, n.Loop) and s.kind == "sequential" and len(s.body) <= _FEW and all(
        isinstance(x, straight) for x in s.body
    )  # fmt: skip


def _disjoint(buffer: str, one: _Piece, two: _Piece) -> bool:
    """Whether two loops surely touch other elements of an array: along some dim they are at other places, which do not
    change as the loops run."""
    for first in one.inner.accesses.get(buffer, ()):
        for second in two.inner.accesses.get(buffer, ()):
            if len(first) != len(second) or not any(
                (b.difference(x, y) or 0) != 0 and not any(
                    piece.binds(name) for piece in (one, two) for name in variables_read(x) | variables_read(y)
                ) for x, y in zip(first, second, strict=True)
            ):  # fmt: skip
                return False
    return True


def _is_simple(s: n.Stmt) -> bool:
    return isinstance(s, (n.Let, n.Store)) and all(is_cheap(e) for e in own_exprs(s))


def _is_orderless(s: n.Stmt) -> bool:
    """Whether a statement of a parallel loop comes to the same in order; a sum of floats has blocks."""
    if isinstance(s, n.Accumulate):
        return s.op in ("max", "min", "count") or (s.op == "sum" and not s.value.dtype.startswith("float"))
    return isinstance(s, (n.Let, n.Store))


def _same_range(one: n.Loop, two: n.Loop | n.Compact) -> bool:
    step = two.step if isinstance(two, n.Loop) else b.ONE
    return (one.start, one.stop, one.step) == (two.start, two.stop, step)


def _declares_for(s: n.Accumulator | n.Alloc | n.Let, loop: _Piece) -> bool:
    if isinstance(s, n.Let):
        return s.name in loop.read
    name = s.name if isinstance(s, n.Accumulator) else s.buffer
    return name in loop.set or name in loop.written or name in loop.used


def _conflict(one: _Piece, two: _Piece) -> bool:
    """Whether the two statements may not change places."""
    return (
        one.barrier or two.barrier
        or not (one.written.isdisjoint(two.used) and one.written.isdisjoint(two.written))
        or not (one.used.isdisjoint(two.written) and one.read.isdisjoint(two.set))
        or not (one.set.isdisjoint(two.read) and one.set.isdisjoint(two.set))
    )  # fmt: skip


def _aligned(axis: str, accesses: Sequence[tuple[Expr, ...]], one: _Piece, two: _Piece) -> bool:
    """Whether some dimension of all accesses is one and the same one-to-one function of the axis."""
    if not accesses or any(len(a) != len(accesses[0]) for a in accesses):
        return False
    for candidates in zip(*accesses, strict=True):
        first = candidates[0]
        if any(c != first for c in candidates[1:]):
            continue
        terms, _ = b.affine(first)
        if Var(axis, "index") not in terms:
            continue
        rest = [t for t in terms if t != Var(axis, "index")]
        if not any(isinstance(t, Load) for t in rest) and not any(
            v == axis or one.binds(v) or two.binds(v) for t in rest for v in variables_read(t)
        ):
            return True
    return False


def _ahead(axis: str, accesses: Iterable[tuple[Expr, ...]]) -> bool:
    for index in accesses:
        if not index:
            return False
        terms, total = b.affine(index[0])
        if terms != {Var(axis, "index"): 1} or total < 0:
            return False
    return True


def _renamed(piece: _Piece, axis: str) -> _Piece:
    """A loop with another name for its axis."""
    loop = piece.head
    assert isinstance(loop, (n.Loop, n.Compact))
    if loop.axis == axis:
        return piece
    old = loop.axis
    if piece.binds(axis):  # the other name is taken inside: the two change places
        names = {old: axis, axis: old}
        swapped = map_statement(
            loop, lambda e: Var(names[e.name], "index") if isinstance(e, Var) and e.name in names else None
        )
        changed = _with_axes(swapped, names)
    else:
        changed = map_statement(loop, lambda e: Var(axis, "index") if isinstance(e, Var) and e.name == old else None)
    assert isinstance(changed, (n.Loop, n.Compact))
    return _Piece(replace(changed, axis=axis), piece.buffers)


def _with_axes(s: n.Stmt, names: dict[str, str]) -> n.Stmt:
    """The statement with the axes that it and those inside it bind under other names."""
    s = with_bodies(s, lambda body: tuple(_with_axes(x, names) for x in body))
    match s:
        case n.Loop(axis=axis) | n.Scanning(axis=axis):
            return replace(s, axis=names.get(axis, axis))
        case n.Compact(axis=axis, inner=inner):
            inner = tuple(replace(a, name=names.get(a.name, a.name)) for a in inner)
            return replace(s, axis=names.get(axis, axis), inner=inner)
        case _:
            return s
