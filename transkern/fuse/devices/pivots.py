"""A loop in order whose iterations act on those behind them goes in blocks:

    for i in 0 .. n:                                  for first in 0 .. n by 512:
        if gone[i]: continue                              for i in first .. first + 512:
        kept[count] = i; count := count + 1                   if gone[i]: continue
        parallel j in i + 1 .. n:                             kept[count] = i; count := count + 1
            if near(i, j): gone[j] = True        to           acts[…] = i
                                                              parallel j in i + 1 .. first + 512:
                                                                  if near(i, j): gone[j] = True
                                                          parallel j in first + 512 .. n:
                                                              for i in acts:
                                                                  if near(i, j): gone[j] = True

One after the other, each iteration that acts (a pivot) has all threads of a device wait twice. In blocks, the threads
of one block wait for each other while they settle which iterations of theirs act, and all threads some times for 512
iterations. It needs no more memory than a number for each iteration of a block.

The property: what an iteration does to another one, it does to the other's own elements (`gone[j]`, at the same place
of arrays that the loop changes), and computes from nothing that changes but those, and its own. So an iteration's
elements are complete when those before it have acted, in whatever order they act on others. Legal where

- in the parallel loop, each array that it changes is accessed at ``[j]``, or at ``[i]`` where it acts on what is behind
  alone (``j > i``: nobody changes what is the iteration's own any more);
- outside of it, these arrays are accessed at ``[i]``, and it reads nothing else that the loop changes: then what it
  computes is the same at the end of the block.

Each element is changed by the same iterations in the same order, with the same bits: nothing is asked of what they do
(flags, decaying scores, sums). Where an element can only become one constant (a flag), it is left alone from then on.
Reading an element's own place through an order (``gone[order[j]]``) holds where no position repeats; where a loop
changes all elements, and iterations read theirs through such an order, it goes through that order, too. A `while` loop
that searches what is left for its first or last element (`alive.py`) is such a loop over all of them, in that order.
A check that fails ends the block, and is made again, by all threads, when what came before it has been done.
"""

from __future__ import annotations

from collections.abc import Sequence

from transkern.fuse.devices.acting import Finder, Pivots, others_than, own, replaced
from transkern.fuse.devices.sorting import folds_of
from transkern.fuse.lowering.copies import with_own_names
from transkern.fuse.scalars.promote import promote_elements
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    buffers_used,
    buffers_written,
    is_in_order,
    own_exprs,
    variables_read,
    walk,
    with_bodies,
)
from transkern.records import replace

BLOCK = 512
"""Iterations of a block, at most as many as a block has threads. The more, the fewer times all threads meet (some 6 µs
a block); the fewer, the cheaper is a pivot (0.8 µs with 1024, which all search and are acted on). Where one of twenty
acts, 400 are best for 100 000."""
_Block = tuple[n.Stmt, ...]


def block_pivots(program: n.Program) -> n.Program:
    """The program with such loops in blocks."""
    state = _Blocking(program)
    body = state.block(program.body)
    if body == program.body:
        return program
    made = replace(program, body=body, buffers=state.buffers, variables=state.variables)
    return promote_elements(made)  # what several act on, one after the other


class _Blocking:
    def __init__(self, program: n.Program) -> None:
        self.program, self.names = program, Names.of(program)
        self.buffers, self.variables = dict(program.buffers), dict(program.variables)
        self.finder = Finder(program, self.buffers, self.variables)

    def block(self, statements: Sequence[n.Stmt]) -> _Block:
        out: list[n.Stmt] = []
        for s in statements:
            is_update = isinstance(s, n.Loop) and bool(folds_of(s, self.buffers))  # no iteration acts on others
            if is_update or (not isinstance(s, n.If) and not is_in_order(s)):
                out.append(s)
            elif isinstance(s, n.If) or (found := self.finder.find(s)) is None or self.is_short(found):
                out.append(with_bodies(s, self.block))
            else:
                out += self.blocked(s, found)
        return tuple(out)

    def is_short(self, pivots: Pivots) -> bool:
        extent = b.constant(pivots.count)
        return extent is not None and extent <= BLOCK

    def blocked(self, s: n.Stmt, pivots: Pivots) -> list[n.Stmt]:
        """The loop `s`, which is `pivots`, in blocks."""
        span, size, names, others = pivots.span, b.index(BLOCK), self.names, pivots.others
        acts, acting = names.fresh("acts"), Var(names.fresh("acting"), "index")
        self.buffers[acts] = n.Buffer(acts, "int64", (size,))
        self.variables[acting.name] = "index"
        first, step, end = (Var(names.fresh(of), "index") for of in ("first", "step", "end"))
        low, high = pivots.place(first), pivots.place(end)
        if not pivots.up:
            low, high = b.add(high, b.ONE), b.add(low, b.ONE)
        checks = [x for x in own(pivots.body) if isinstance(x, n.Guard)]
        left = stopped = None
        if checks or any(isinstance(x, n.Break) for x in own(pivots.body)):
            left, stopped = Var(names.fresh("left"), "index"), Var(names.fresh("stopped"), "index")
            self.variables |= {left.name: "index"} | ({stopped.name: "index"} if checks else {})

        here = Var(pivots.axis, "index")
        inside = replaced(pivots.body, others, (
            n.Store(acts, (acting,), b.cast(here, "int64"), span=others.span),
            n.Assign(acting.name, b.add(acting, b.ONE), span=others.span),
            self.nearby(pivots, low, high),
        ))  # fmt: skip
        if left is not None and stopped is not None:
            inside = _with_exits(inside, left, n.Assign(stopped.name, step, span=span), checks)
        settled = self.settled_in(pivots, inside, first, end, step)

        is_seen = self.is_seen_behind(s, buffers_written(others))
        far = [self.acted_on(pivots, acts, acting, *((high, None) if pivots.up else (None, low)))]
        if not pivots.behind and is_seen:
            far.append(self.acted_on(pivots, acts, acting, *((None, low) if pivots.up else (high, None))))
        leave: list[n.Stmt] = []
        if left is not None:
            for k, check in enumerate(checks):
                leave.append(self.checked(pivots, check, b.compare("equal", left, b.index(k + 2)), stopped))
            leave.append(n.If(b.compare("greater", left, b.ZERO), (n.Break(span=span),), span=span))
        body = [
            n.Let(end.name, b.minimum(b.add(first, size), pivots.count), span=span),
            n.Assign(acting.name, b.ZERO, span=span),
            *([n.Assign(left.name, b.ZERO, span=span)] if left is not None else []),
            *settled,
            *([*far, *leave] if is_seen else [*leave, *far]),
        ]
        whole = n.Loop(first.name, b.ZERO, pivots.count, size, "sequential", tuple(body), span=span)
        return [n.Alloc(acts, span=span), whole]

    def settled_in(self, pivots: Pivots, body: _Block, first: Var, end: Var, step: Var) -> list[n.Stmt]:
        """The iterations of a block in order; where they ask first whether there is anything to do, all threads search
        at once for the next one that has."""
        span = pivots.span
        here = n.Let(pivots.axis, pivots.place(step), span=span)
        if pivots.alive is None:
            return [n.Loop(step.name, first, end, b.ONE, "sequential", (here, *body), span=span)]
        begin, found, q = (Var(self.names.fresh(of), "index") for of in ("begin", "found", "q"))
        self.variables[begin.name] = "index"
        at = b.add(first, q)
        there = b.both(b.compare("greater_equal", q, begin), b.compare("less", at, end))
        asked = b.both(there, b.substitute(pivots.alive, {pivots.axis: pivots.place(at)}))
        search = n.Loop(q.name, b.ZERO, b.index(BLOCK), b.ONE, "parallel", (
            n.Accumulate(found.name, "first", asked, q, span=span),
        ), span=span)  # fmt: skip
        return [n.Assign(begin.name, b.ZERO, span=span), n.While(
            (n.Accumulator(found.name, "first", "index", span=span), search),
            b.compare("greater_equal", found, b.ZERO),
            (
                n.Let(step.name, b.add(first, found), span=span), n.Assign(begin.name, b.add(found, b.ONE), span=span),
                here, *body,
            ), span=span,
        )]  # fmt: skip

    def nearby(self, pivots: Pivots, low: Expr, high: Expr) -> n.Loop:
        """The loop over others, those of the block alone, as long as a block may be."""
        others, q = pivots.others, Var(self.names.fresh("q"), "index")
        at = Var(others.axis, "index")
        within = b.both(b.compare("less", at, high), b.compare("less", at, others.stop))
        if others.start != b.ZERO:
            within = b.both(within, b.compare("greater_equal", at, others.start))
        return replace(others, axis=q.name, start=b.ZERO, stop=b.index(BLOCK), spare=None, large=False, body=(
            n.Let(at.name, b.add(low, q), span=others.span), n.If(within, others.body, span=others.span),
        ))  # fmt: skip

    def checked(self, pivots: Pivots, check: n.Guard, failed: Expr, stopped: Var | None) -> n.Stmt:
        """A check that has failed in the block, made by all threads: what it looks at is as it was."""
        assert stopped is not None
        span, names = check.span, {v for e in own_exprs(check) for v in variables_read(e)}
        lets = self.finder.needed(pivots, names & {x.name for x in walk(pivots.body) if isinstance(x, n.Let)}, set())
        assert lets is not None
        here = n.Let(pivots.axis, pivots.place(stopped), span=span)
        once = n.Loop(self.names.fresh("once"), b.ZERO, b.ONE, b.ONE, "sequential", (here, *lets, check))
        own_names = with_own_names(once, self.names, self.variables, self.buffers)
        return n.If(failed, own_names.body, span=span)

    def acted_on(
        self, pivots: Pivots, acts: str, total: Var, above: Expr | None, below: Expr | None
    ) -> n.Loop:  # fmt: skip
        """The parallel loop over what lies above or below the block, on which those of the block that act do so, in
        their order."""
        others, lets, here = pivots.others, pivots.lets, Var(pivots.axis, "index")
        span, at = others.span, Var(others.axis, "index")
        k = Var(self.names.fresh("k"), "index")
        low, high = b.difference(others.start, here), b.difference(others.stop, here)
        moving = {pivots.axis, *(x.name for x in lets)}
        start: Expr = b.ZERO if above is None else above
        stop: Expr | None = below
        asked: Expr = b.TRUE
        if not variables_read(others.start) & moving:
            start = b.maximum(start, others.start) if above is not None else others.start
        elif not (pivots.up and low == 1 and above is not None):
            asked = b.both(asked, b.compare("greater_equal", at, others.start))
        if not variables_read(others.stop) & moving:
            stop = others.stop if stop is None else b.minimum(stop, others.stop)
        elif pivots.up or high != 0 or stop is None:
            asked = b.both(asked, b.compare("less", at, others.stop))
            for there in self.along(others):  # no pivot goes further
                stop = there if stop is None else b.minimum(stop, there)
        assert stop is not None
        body = others.body if asked == b.TRUE else (n.If(asked, others.body, span=span),)
        done = self.settled(others)
        one = n.Loop(k.name, b.ZERO, total, b.ONE, "sequential", (
            *([n.If(done, (n.Break(span=span),), span=span)] if done is not None else []),
            n.Let(here.name, b.cast(Load(acts, (k,), "int64"), "index"), span=span), *lets, *body,
        ), span=span)  # fmt: skip
        loop = n.Loop(at.name, start, stop, b.ONE, "parallel", (one,), span=span)
        private = {x.name for x in walk((loop,)) if isinstance(x, n.Assign)}
        return with_own_names(loop, self.names, self.variables, self.buffers, private)

    def along(self, others: n.Loop) -> list[Expr]:
        """How long the arrays are that the loop changes, or the orders that it goes through, along its axis."""
        found: list[Expr] = []
        for x in walk((others,)):
            if isinstance(x, n.Store):
                for k, order in self.finder.owners(x.index, others.axis, frozenset()):
                    extent = self.buffers[order].dims[0] if order else self.buffers[x.buffer].dims[k]
                    found += [extent] if extent not in found else []
        return found

    def settled(self, others: n.Loop) -> Expr | None:
        """When nothing changes any more: the one element that is stored becomes one constant, or stays as it is, and is
        that constant."""
        stores = [x for x in walk(others.body) if isinstance(x, n.Store)]
        if len(stores) != 1:
            return None
        (s,) = stores
        own = Load(s.buffer, s.index, self.buffers[s.buffer].dtype)
        match s.value:
            case Apply("logical_or", args) if own in args:
                return own
            case Apply("logical_and", args) if own in args:
                return b.logical_not(own)
            case Apply("where", (_, Const() as to, kept)) if kept == own:
                return _equal(own, to)
            case Const() as to:
                return _equal(own, to)
            case _:
                return None

    def is_seen_behind(self, s: n.Stmt, arrays: frozenset[str]) -> bool:
        """Whether anything but the loop looks at the arrays, itself in another turn of one around it included."""
        given = {p.name for p in self.program.params if isinstance(p, n.ArrayParam)}
        used = {of for x in others_than(self.program.body, s) for of in buffers_used(x)}
        return bool(arrays & (given | used))


def _with_exits(block: _Block, left: Var, stop: n.Stmt, checks: Sequence[n.Guard]) -> _Block:
    """The statements of an iteration with a number in `left` where the loop is left: for a check that fails, one that
    tells which."""
    out: list[n.Stmt] = []
    for s in block:
        if isinstance(s, n.Break):
            out += [n.Assign(left.name, b.ONE, span=s.span), s]
        elif isinstance(s, n.Guard):
            (number,) = (k + 2 for k, x in enumerate(checks) if x is s)
            ends = (n.Assign(left.name, b.index(number), span=s.span), stop, n.Break(span=s.span))
            out.append(n.If(b.logical_not(s.condition), ends, span=s.span))
        elif isinstance(s, n.If):
            out.append(with_bodies(s, lambda inner: _with_exits(inner, left, stop, checks)))
        else:
            out.append(s)
    return tuple(out)


def _equal(e: Expr, to: Const) -> Expr | None:
    if to.dtype == "bool":
        return e if to == b.TRUE else b.logical_not(e)
    return None if to.value != to.value else b.compare("equal", e, to)


