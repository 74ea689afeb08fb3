"""Loops in order whose iterations act on others: finding them, and whether they may go in blocks (`pivots.py`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from transkern.fuse.loops.unroll import extent_of
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Span, Var
from transkern.ir.facts import conjuncts
from transkern.ir.traverse import (
    bodies,
    buffers_read,
    buffers_written,
    exprs,
    map_block,
    own_exprs,
    resolved,
    scalars_set,
    scalars_used,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)
from transkern.records import replace

_SHORT = 32
"""Iterations of a loop that is a thread's own, at most."""
_PLAIN = (n.Let, n.Assign, n.Store, n.If, n.Continue, n.Loop, n.Accumulator, n.Accumulate)
"""What may stand in what an iteration does to others: nothing that ends in the middle, or checks."""
_Block = tuple[n.Stmt, ...]


@dataclass(frozen=True, slots=True)
class Pivots:
    """Iterations `axis` in 0 .. `count`, upwards from `first` or downwards from the one below it."""

    axis: str
    first: Expr
    count: Expr
    up: bool
    body: _Block
    span: Span
    others: n.Loop
    """The loop over those that an iteration acts on."""
    alive: Expr | None
    """What an iteration asks before all else: where it is false, there is nothing to do."""
    behind: bool
    """Whether an iteration acts on those behind it alone."""
    lets: tuple[n.Let, ...] = ()
    """What it computes for that."""

    def place(self, step: Expr) -> Expr:
        """Which iteration is the `step`-th."""
        return b.add(self.first, step) if self.up else b.sub(self.first, b.add(step, b.ONE))


class Finder:
    """Finds such loops in a program whose arrays are `buffers`."""

    def __init__(self, program: n.Program, buffers: Mapping[str, n.Buffer], variables: Mapping[str, str]) -> None:
        self.program, self.buffers, self.variables = program, buffers, variables

    def find(self, s: n.Stmt) -> Pivots | None:
        """A statement as such a loop, if it may go in blocks."""
        found = self.pivots(s)
        if found is None:
            return None
        found = self.of_threads(found)
        if not _is_plain(found):
            return None
        lets = self.lets(found)
        if lets is None:
            return None
        found = replace(found, lets=tuple(lets))
        return found if self.keeps_dependences(found) else None

    def pivots(self, s: n.Stmt) -> Pivots | None:
        match s:
            case n.Loop(axis, start, stop, step, "sequential", body):
                if step == b.ONE:
                    return _of(axis, start, b.sub(stop, start), True, body, s)
                if b.constant(step) == -1:
                    return _of(axis, b.add(start, b.ONE), b.sub(start, stop), False, body, s)
            case n.While():
                return self.of_search(s)
            case _:
                pass
        return None

    def of_search(self, s: n.While) -> Pivots | None:
        """A loop that looks for the first or last of what is left behind the one before, as one over all of them."""
        match s.head:
            case (
                n.Accumulator(found, "first" | "last" as op),
                n.Loop(axis, start, stop, step, "parallel", (n.Accumulate() as term,)),
            ) if step == b.ONE and term.name == found and term.position == Var(axis, "index") and term.op == op:
                pass
            case _:
                return None
        here, up = Var(found, "index"), op == "first"
        moved, goes = (start, b.add(here, b.ONE)) if up else (stop, here)
        parts = conjuncts(s.condition)
        there = b.compare("greater_equal", here, b.ZERO)
        if not isinstance(moved, Var) or there not in parts:
            return None
        ends = [x for x in s.body if isinstance(x, n.Assign) and x.name == moved.name]
        if len(ends) != 1 or ends[0].value != goes or moved.name in variables_read(stop if up else start):
            return None
        body = tuple(x for x in s.body if x is not ends[0])
        sets = Counter(x.name for x in walk(s.body) if isinstance(x, n.Assign))
        if sets[moved.name] != 1 or moved.name in _scalars_used_in(body):
            return None
        if {found, moved.name} & _read_outside(self.program.body, (s,)):
            return None
        around = scalars_set(s)
        other = stop if up else start
        if variables_read(other) & around or buffers_read(other):
            return None
        rest: Expr = b.TRUE
        for part in parts:
            if part != there:
                rest = b.both(rest, part)
        alive = b.substitute(term.value, {axis: here})
        if rest != b.TRUE:
            body = (n.If(b.logical_not(rest), (n.Break(span=s.span),), span=s.span), *body)
        return _of(found, moved, b.sub(stop, start), up, body, s, alive)

    def of_threads(self, pivots: Pivots) -> Pivots:
        """With what is left of each of the others to one thread in order. Where the iterations go through an order, and
        the loop over others over all there are, it goes through that order as well."""
        others = pivots.others
        made = replace(others, body=_in_order(others.body))
        changed, acted = written(pivots.body), buffers_written(others)
        asked = _loads(pivots.alive) if pivots.alive is not None else []
        places = [index for of, index in [*_outside(pivots.body, others), *asked] if of in acted]
        orders = {order for at in places for _, order in self.owners(at, pivots.axis, changed)} - {""}
        stores = [x.index for x in walk((made,)) if isinstance(x, n.Store)]
        plain = any(order == "" for at in stores for _, order in self.owners(at, made.axis, changed))
        if len(orders) == 1 and plain:
            (order,) = orders
            info, at = self.buffers[order], Var(made.axis, "index")
            if made.start == b.ZERO and info.dims == (made.stop,) and info.low == b.ZERO and info.high == made.stop:
                through = b.cast(Load(order, (at,), info.dtype), "index")
                made = replace(made, spare=None, body=map_block(made.body, lambda e: through if e == at else None))
        return replace(pivots, others=made, body=replaced(pivots.body, others, (made,)))

    def keeps_dependences(self, pivots: Pivots) -> bool:
        """Whether each array that is acted on is accessed at the place of one of the two iterations alone."""
        others, changed, acted = pivots.others, written(pivots.body), buffers_written(pivots.others)
        if any(self.buffers[of].is_reserved for of in acted):
            return False
        places: dict[str, set[tuple[int, str]]] = {}
        for buffer, index in _accesses((others,)):
            if buffer in changed and buffer not in acted:
                return False
            if buffer in acted:
                own_place = self.owners(index, others.axis, changed)
                if pivots.behind and not own_place:
                    own_place = self.owners(index, pivots.axis, changed)
                places[buffer] = places.get(buffer, own_place) & own_place
        for x in walk((others,)):
            if isinstance(x, n.Store):
                places[x.buffer] &= self.owners(x.index, others.axis, changed)
        for let in pivots.lets:
            for buffer, index in _loads(let.value):
                if buffer in acted:
                    places[buffer] &= self.owners(index, pivots.axis, changed)
        asked = _loads(pivots.alive) if pivots.alive is not None else []
        for buffer, index in [*_outside(pivots.body, others), *asked]:
            if buffer in acted:
                places[buffer] &= self.owners(index, pivots.axis, changed)
        return all(places.values())

    def owners(self, index: Sequence[Expr], axis: str, changed: frozenset[str]) -> set[tuple[int, str]]:
        """The dimensions along which a subscript is the iteration `axis`, or its place in an order without repetition,
        whose name stands beside it."""
        found = set()
        for k, e in enumerate(index):
            match e:
                case Var(name) if name == axis:
                    found.add((k, ""))
                case Apply("cast", (Load(order, (Var(name),)),)) if name == axis and order not in changed:
                    if self.buffers[order].permutation:
                        found.add((k, order))
                case _:
                    pass
        return found

    def lets(self, pivots: Pivots) -> list[n.Let] | None:
        """What an iteration computes for what it does to others, in order; None where that is not the same later: it
        comes from what changes, which is not the iteration's own any more."""
        others, changed, acted = pivots.others, written(pivots.body), buffers_written(pivots.others)
        bound = {x.name for x in walk(others.body) if isinstance(x, n.Let | n.Accumulator)}
        bound |= {x.axis for x in walk((others,)) if isinstance(x, n.Loop)}
        private = {x.name for x in walk(others.body) if isinstance(x, n.Assign)}
        outside = _read_outside(self.program.body, pivots.body) | _scalars_used_in(replaced(pivots.body, others, ()))
        if private & outside or buffers_read(others.start) | buffers_read(others.stop) or not acted:
            return None
        names = set(scalars_used(others)) | variables_read(others.start) | variables_read(others.stop)
        unsettled = changed - acted if pivots.behind else changed
        return self.needed(pivots, names - bound - private, unsettled)

    def needed(self, pivots: Pivots, names: Set[str], unsettled: Set[str]) -> list[n.Let] | None:
        """The names of an iteration that such `names` are made of, in order; None where a variable of the loop, or an
        array that is `unsettled`, is among that."""
        made = {x.name: x for x in walk(pivots.body) if isinstance(x, n.Let)}
        sets = _scalars_set_in(pivots.body) | {x.axis for x in walk(pivots.body) if isinstance(x, n.Loop)}
        found: dict[str, n.Let] = {}

        def need(names: Set[str]) -> bool:
            for name in sorted(names - found.keys() - {pivots.axis}):
                let = made.get(name)
                if name not in sets:
                    continue
                if let is None or name in self.variables or buffers_read(let.value) & unsettled:
                    return False
                if not need(variables_read(let.value)):
                    return False
                found[name] = let
            return True

        return list(found.values()) if need(names) else None


def _of(
    axis: str, first: Expr, count: Expr, up: bool, body: _Block, s: n.Stmt, alive: Expr | None = None
) -> Pivots | None:
    if alive is None:
        alive, body = _asked_first(body)
    others = acting(body)
    if others is None:
        return None
    here = Var(axis, "index")
    apart = b.difference(others.start, here) if up else b.difference(here, others.stop)
    behind = apart is not None and apart >= (1 if up else 0)
    return Pivots(axis, first, count, up, body, s.span, others, alive, behind)


def _asked_first(body: _Block) -> tuple[Expr | None, _Block]:
    """The condition under which the statements do anything, where they ask it first, and what is left of them."""
    lets: dict[str, Expr] = {}
    for k, s in enumerate(body):
        match s:
            case n.Let(name, value):
                lets[name] = value
            case n.If(condition, (n.Continue(),), ()):
                return b.logical_not(resolved(condition, lets)), (*body[:k], *body[k + 1 :])
            case n.If(condition, then, ()) if k == len(body) - 1:
                return resolved(condition, lets), (*body[:k], *then)
            case _:
                break
    return None, body


def _is_plain(pivots: Pivots) -> bool:
    """Whether the loop has nothing that ends it but breaks and checks of its own, and no memory of its own."""
    inner, own_ones = pivots.others, {id(x) for x in own(pivots.body)}
    for x in walk(pivots.body):
        if isinstance(x, n.Return | n.Library | n.Alloc | n.Scanning | n.Compact | n.While | n.Kernel):
            return False
        if isinstance(x, n.Guard) and id(x) not in own_ones:
            return False
    if not all(isinstance(x, _PLAIN) for x in walk(inner.body)) or inner.step != b.ONE:
        return False
    declared = {x.name for x in walk(inner.body) if isinstance(x, n.Accumulator)}
    return not any(
        (isinstance(x, n.Accumulate) and x.name not in declared) or (isinstance(x, n.Loop) and x.kind == "parallel")
        for x in walk(inner.body)
    )


def acting(body: _Block) -> n.Loop | None:
    """The one parallel loop among the statements, in no other loop."""
    found = [x for x in walk(body) if isinstance(x, n.Loop) and x.kind == "parallel"]
    first = [x for x in own(body) if isinstance(x, n.Loop) and x.kind == "parallel"]
    return first[0] if len(first) == 1 and {id(x) for x in found} <= {id(x) for x in walk((first[0],))} else None


def own(block: Sequence[n.Stmt]) -> Iterator[n.Stmt]:
    """The statements of a block and of the branches in it, not those of the loops in it."""
    for s in block:
        yield s
        if isinstance(s, n.If):
            yield from own((*s.then, *s.orelse))


def replaced(block: _Block, old: n.Stmt, new: _Block) -> _Block:
    """The block with `new` for `old`, which is in no loop."""
    out: list[n.Stmt] = []
    for s in block:
        if s is old:
            out += new
        else:
            out.append(with_bodies(s, lambda inner: replaced(inner, old, new)) if isinstance(s, n.If) else s)
    return tuple(out)


def written(block: _Block) -> frozenset[str]:
    return frozenset().union(*map(buffers_written, block))


def _in_order(block: _Block) -> _Block:
    """The block with its short parallel loops as a thread's own."""
    return tuple(
        replace(with_bodies(s, _in_order), kind="sequential", spare=None, large=False)
        if isinstance(s, n.Loop) and s.kind == "parallel" and (extent_of(s) or _SHORT + 1) <= _SHORT
        else with_bodies(s, _in_order)
        for s in block
    )


def _loads(e: Expr) -> list[tuple[str, tuple[Expr, ...]]]:
    return [(x.buffer, x.index) for x in walk_expr(e) if isinstance(x, Load)]


def _accesses(block: _Block) -> Iterator[tuple[str, tuple[Expr, ...]]]:
    for s in walk(block):
        if isinstance(s, n.Store):
            yield s.buffer, s.index
        for e in own_exprs(s):
            yield from _loads(e)


def _outside(block: _Block, others: n.Stmt) -> Iterator[tuple[str, tuple[Expr, ...]]]:
    return _accesses(replaced(block, others, ()))


def _scalars_used_in(block: _Block) -> set[str]:
    return {name for s in block for name in scalars_used(s)}


def _scalars_set_in(block: _Block) -> set[str]:
    return {name for s in block for name in scalars_set(s)}


def others_than(block: Sequence[n.Stmt], s: n.Stmt) -> Iterator[n.Stmt]:
    """The statements that are neither `s` nor in it; what is around it without its blocks; `s`, if that is a loop."""
    for x in block:
        if x is s:
            continue
        if any(y is s for y in walk((x,))):
            yield with_bodies(x, lambda _: ())
            for body in bodies(x):
                yield from others_than(body, s)
            if isinstance(x, n.Loop | n.While):  # its next turn looks at what this one has left
                yield s
        else:
            yield x


def _read_outside(block: Sequence[n.Stmt], inside: Sequence[n.Stmt]) -> set[str]:
    """The scalars that others than the statements `inside` read."""
    uses = Counter(e.name for e in exprs(tuple(block)) if isinstance(e, Var))
    uses.subtract(e.name for e in exprs(tuple(inside)) if isinstance(e, Var))
    return {name for name, count in uses.items() if count > 0}
