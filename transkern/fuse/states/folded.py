"""The next values of an array's own rows wait in two blocks of rows, not in an array, until they are stored:

    parallel i in 0 .. n:                     parallel part in …:
        new[i] = f(a[i], a[i + 1])                for block in the part's rows:
    parallel i in 0 .. n:             to              parallel i in block: held[block % 2, i] = f(a[i], a[i + 1])
        a[i] = new[i]                                 parallel i in block before: a[i] = held[(block + 1) % 2, i]

(loops shifted against each other, then fused, and the storage between them folded), so that a pass over memory does
what took two, one of which also wrote memory that nobody had touched yet: `a[:-1] = np.minimum(a[:-1], a[1:])`,
`m = m[1:] + m[:-1]`, a stencil in place.

- *Property.* A parallel loop stores an array that nothing but the loop behind it reads, each iteration its own row;
  that loop stores rows of one array. The rows of this array that both touch are at constant distances from their own.
- *Legality.* A block is stored when the one behind it has been computed: rows that it reads ahead are still what they
  were, and so are those behind it, which are of no more than one block. Parts belong to threads: the rows on both
  sides of a border between two of them, as many as reach over it, are computed before all others, and stored last.
- *Schedule.* Blocks are a few kilobytes. Small arrays stay as they are, for they are in the innermost cache anyway; so
  do those of few long rows, whose threads share the rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeGuard

from transkern.fuse.lowering.copies import with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    bodies,
    buffers_allocated,
    buffers_used,
    buffers_written,
    exprs,
    map_block,
    places_named,
    walk,
    with_bodies,
)  # fmt: skip
from transkern.records import replace

_BLOCK = 512
"""Elements of a block, of which two are held."""

_PART = 16
"""Blocks of a part: the rows at its borders go to memory."""

_LEAST = 2048
"""Elements up to which the array is as near as the blocks are."""

_ALONE = 1 << 16
"""Elements up to which nobody misses threads: above, there are parts for as many."""

_PARTS = 8

_FARTHEST = 16
"""Rows by which an element may be read away from the one that is stored."""

_PLAIN = (n.Loop, n.Let, n.Store, n.If, n.Alloc, n.Accumulator, n.Accumulate)


def fold_next_states(program: n.Program) -> n.Program:
    """The program with blocks of rows for what is computed aside, for an array's own rows, and stored."""
    return _Folding(program).made()


@dataclass(frozen=True, slots=True)
class _Pair:
    """A loop that computes rows of `new`, and the one that stores them; how far it reads back and ahead."""

    new: str
    compute: n.Loop
    store: n.Loop
    back: int
    ahead: int


class _Folding:
    def __init__(self, program: n.Program) -> None:
        self.program, self.names = program, Names.of(program)
        self.variables, self.buffers = dict(program.variables), dict(program.buffers)
        self.uses = _uses(program.body)

    def made(self) -> n.Program:
        body = self.block(self.program.body)
        return replace(self.program, body=body, variables=self.variables, buffers=self.buffers)

    def block(self, statements: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        rest = [s if isinstance(s, n.Loop) and s.kind == "parallel" else with_bodies(s, self.block) for s in statements]
        while rest:
            s = rest.pop(0)
            pair = self.pair(s, rest[0]) if rest else None
            taken = [k for k, x in enumerate(out) if pair and isinstance(x, n.Alloc) and x.buffer == pair.new]
            if pair is None or len(taken) != 1:
                out.append(s)
                continue
            rest.pop(0)
            out += self.folded(pair, out.pop(taken[0]))
        return tuple(out)

    # --- which loops

    def pair(self, compute: n.Stmt, store: n.Stmt) -> _Pair | None:
        """Two loops of which one computes rows aside and the other stores them, if they read at constant distances."""
        if not _over_rows(compute) or not _over_rows(store) or _range(compute) != _range(store):
            return None
        (new, *more), (state, *others) = _left(compute) or ("",), _left(store) or ("",)
        if more or others or not new or not state or new == state:
            return None
        if self.program.buffers[new].role != "temporary" or self.program.buffers[new].is_reserved:
            return None
        if _uses((compute, store))[new] != self.uses[new]:
            return None
        if len({len(i) for x in (compute, store) for i in _indices(x, new)}) != 1:
            return None  # by rows, and by elements
        own = {*_distances(compute, new), *_distances(store, new)}
        stored = set(_distances(store, state))
        if own != {0} or len(stored) != 1 or None in stored:
            return None
        (at,) = stored
        reads = [None if d is None or at is None else d - at for d in _distances(compute, state)]
        if not reads or None in reads:
            return None
        near = [d for d in reads if d is not None]
        back, ahead = max(0, -min(near)), max(0, *near)
        return _Pair(new, compute, store, back, ahead) if 0 < max(back, ahead) <= _FARTHEST else None

    # --- what becomes of them

    def folded(self, pair: _Pair, alloc: n.Stmt) -> list[n.Stmt]:
        info = self.buffers[pair.new]
        inner = info.dims[1 : len(_indices(pair.compute, pair.new)[0])]  # nothing where all elements go in one loop
        elements = b.product((b.maximum(b.sub(pair.compute.stop, pair.compute.start), b.ZERO), *inner))
        out, first = list[n.Stmt](), list[n.Stmt]()
        rows: Expr = b.index(max(_BLOCK, pair.back, pair.ahead))
        if inner:
            some = b.floordiv(b.index(_BLOCK), b.maximum(b.product(inner), b.ONE))
            rows = self.named("rows", b.maximum(some, b.index(max(1, pair.back, pair.ahead))), first)
        part = b.mul(b.index(_PART), rows)
        extent = b.maximum(b.sub(pair.compute.stop, pair.compute.start), b.ZERO)
        parts = self.named("parts", b.floordiv(b.sub(b.add(extent, part), b.ONE), part), out)
        held = self.buffer("held", pair.new, (b.index(2), rows, *inner))
        edges = self.buffer("edges", pair.new, (parts, b.index(pair.back + pair.ahead), *inner))
        out.append(n.Alloc(edges))
        out += [self.borders(pair, parts, part, edges, computes=True), self.parts(pair, parts, part, rows, held)]
        out.append(self.borders(pair, parts, part, edges, computes=False))
        threads = b.either(
            b.compare("less_equal", elements, b.index(_ALONE)),
            b.compare("less_equal", b.mul(b.index(_PARTS), part), extent),
        )
        pays = b.both(b.compare("greater", elements, b.index(_LEAST)), threads)
        return [*first, n.If(pays, tuple(out), (alloc, pair.compute, pair.store), span=pair.compute.span)]

    def borders(self, pair: _Pair, parts: Expr, part: Expr, edges: str, computes: bool) -> n.Loop:
        """The rows on both sides of all borders, computed or stored."""
        border = Var(self.names.fresh("border"))
        first = b.sub(b.add(pair.compute.start, b.mul(part, border)), b.index(pair.ahead))
        last = b.minimum(b.add(first, b.index(pair.back + pair.ahead)), pair.compute.stop)
        rows = self.rows(pair, computes, first, last, edges, lambda i: (border, b.sub(i, first)))
        return n.Loop(border.name, b.ONE, parts, b.ONE, "parallel", (rows,), span=pair.compute.span)

    def parts(self, pair: _Pair, parts: Expr, part: Expr, rows: Expr, held: str) -> n.Loop:
        """All other rows, part by part: a block is computed, and the one before it stored."""
        which, block = Var(self.names.fresh("part")), Var(self.names.fresh("block"))
        start, stop = pair.compute.start, pair.compute.stop
        begins = b.add(start, b.mul(part, which))
        ends = b.add(begins, part)
        out: list[n.Stmt] = []
        low = b.where(b.compare("equal", which, b.ZERO), start, b.add(begins, b.index(pair.back)))
        high = b.where(b.compare("less_equal", stop, ends), stop, b.sub(ends, b.index(pair.ahead)))
        low, high = self.named("low", low, out), self.named("high", high, out)
        blocks = b.floordiv(b.sub(b.add(b.maximum(b.sub(high, low), b.ZERO), rows), b.ONE), rows)
        here = b.add(low, b.mul(rows, block))
        before = b.sub(here, rows)
        two = b.index(2)
        now, last = b.mod(block, two), b.mod(b.add(block, b.ONE), two)
        computed = self.rows(
            pair, True, here, b.minimum(b.add(here, rows), high), held, lambda i: (now, b.sub(i, here))
        )
        stored = self.rows(
            pair, False, b.maximum(before, low), b.minimum(here, high), held, lambda i: (last, b.sub(i, before))
        )
        steps = n.Loop(
            block.name, b.ZERO, b.add(blocks, b.ONE), b.ONE, "sequential", (computed, stored), span=pair.compute.span
        )
        body = (*out, n.Alloc(held), steps)
        return n.Loop(which.name, b.ZERO, parts, b.ONE, "parallel", body, span=pair.compute.span)

    def rows(
        self, pair: _Pair, computes: bool, first: Expr, last: Expr, into: str, place: Callable[[Expr], tuple[Expr, ...]]
    ) -> n.Loop:
        """One of the two loops over some rows, with what is computed aside at a `place` of `into`."""
        loop = with_own_names(pair.compute if computes else pair.store, self.names, self.variables, self.buffers)
        axis = Var(loop.axis)

        def moved(e: Expr) -> Expr | None:
            if isinstance(e, Load) and e.buffer == pair.new:
                return Load(into, (*place(axis), *(b.map_expr(i, moved) for i in e.index[1:])), e.dtype)
            return None

        def stored(s: n.Stmt) -> n.Stmt:
            s = with_bodies(s, lambda body: tuple(map(stored, body)))
            if isinstance(s, n.Store) and s.buffer == pair.new:
                return replace(s, buffer=into, index=(*place(axis), *s.index[1:]))
            return s

        body = tuple(map(stored, map_block(loop.body, moved)))
        return replace(loop, start=first, stop=last, body=body, spare=None, large=False)

    def named(self, name: str, value: Expr, out: list[n.Stmt]) -> Expr:
        called = self.names.fresh(name)
        out.append(n.Let(called, value))
        return Var(called)

    def buffer(self, name: str, like: str, dims: tuple[Expr, ...]) -> str:
        called = self.names.fresh(f"{like}_{name}")
        self.buffers[called] = n.Buffer(called, self.buffers[like].dtype, dims, line=self.buffers[like].line)
        return called


def _over_rows(s: n.Stmt) -> TypeGuard[n.Loop]:
    """Whether a loop is parallel, and does nothing but to store what it computes."""
    if not isinstance(s, n.Loop) or s.kind != "parallel" or b.constant(s.step) != 1:
        return False
    inside = [*walk(s.body)]
    own = {x.name for x in inside if isinstance(x, n.Accumulator)}
    return all(isinstance(x, _PLAIN) and (not isinstance(x, n.Accumulate) or x.name in own) for x in inside)


def _range(s: n.Loop) -> tuple[Expr, Expr]:
    return s.start, s.stop


def _left(loop: n.Loop) -> list[str]:
    """The arrays that a loop stores into, but for those of an iteration."""
    return sorted({*buffers_written(loop)} - {*buffers_allocated(loop)})


def _uses(block: Iterable[n.Stmt]) -> Counter[str]:
    """How often arrays are stored into and read."""
    block = tuple(block)
    used = Counter(e.buffer for e in exprs(block) if isinstance(e, Load))
    for s in walk(block):
        if isinstance(s, (n.Library, n.Return)):
            used.update(buffers_used(s))
        if not any(bodies(s)):
            used.update(buffers_written(s))
    return used


def _distances(loop: n.Loop, buffer: str) -> list[int | None]:
    """How far the rows of an array that a loop touches are from its own; None for those that move otherwise."""
    known = places_named(walk(loop.body))
    indices = _indices(loop, buffer)
    return [b.difference(b.substitute(i[0], known), Var(loop.axis)) if i else None for i in indices]


def _indices(loop: n.Loop, buffer: str) -> list[tuple[Expr, ...]]:
    """The subscripts by which a loop touches an array."""
    indices = [e.index for e in exprs((loop,)) if isinstance(e, Load) and e.buffer == buffer]
    return indices + [s.index for s in walk(loop.body) if isinstance(s, n.Store) and s.buffer == buffer]
