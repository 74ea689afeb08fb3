"""Positions in a filtered array, as a sort of it gives them, as positions in the array that was filtered:

    kept := x[i] if labels[i] == c                    order := all[k] if labels[all[k]] == c
    order := positions in kept                 to     … x[order[k]] …
    … kept[order[k]] …

What is stored of such positions, in arrays, lists and names, is followed through the loop's body: nothing but elements
of what the same mask has filtered may be looked for with them, and comparisons among them are the same for both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Axis, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    bodies,
    buffers_read,
    buffers_used,
    buffers_written,
    exprs,
    map_statement,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)
from transkern.records import replace

_COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")
_Block = tuple[n.Stmt, ...]


class Other(Exception):
    """It is not of this kind."""


@dataclass(frozen=True, slots=True)
class Sort:
    """A sort, the statement that makes its keys, and the filters by one mask, one of which is of what they are made of,
    if there is one: in the order in which they stand."""

    step: n.Library
    keys: n.Define
    kept: tuple[n.Filter, ...]

    @property
    def order(self) -> str:
        return self.step.outs[0]

    def rest(self, loop: n.Loop) -> _Block:
        """A loop's body without the sort, and without its keys if nobody else looks at them."""
        left = without(loop.body, (self.step,))
        return left if self.keys.buffer in {x for s in left for x in buffers_used(s)} else without(left, (self.keys,))


class Relabelling:
    """Positions in a filtered array as positions in what was filtered, in the loop that reads elements at them."""

    def __init__(
        self, program: n.Program, names: Names, buffers: dict[str, n.Buffer], loop: n.Loop, sort: Sort,
        sorted_at: Callable[[Expr], Expr], extent: Expr,
    ) -> None:  # fmt: skip
        self.program, self.names, self.buffers = program, names, buffers
        self.loop, self.sort, self.kept, self.extent = loop, sort, sort.kept, extent
        self.sorted_at = sorted_at
        self.before: list[n.Stmt] = []
        self.values = {of: (s, value) for s in sort.kept for of, value in zip(s.outputs, s.values, strict=True)}
        self.ranks = {sort.order}  # arrays that hold such positions
        self.numbers: set[str] = set()  # and names
        self.body_now: _Block = sort.rest(loop)

    def body(self) -> _Block:
        while self.find():
            pass
        own = {s.buffer for s in walk((self.loop,)) if isinstance(s, (n.Alloc, n.Define))}
        if not self.ranks <= own or any(self.buffers[of].role != "temporary" for of in self.ranks):
            raise Other  # the next iteration's mask is another one
        behind = outside(self.program.body, self.loop)
        if (self.ranks | self.numbers) & behind:
            raise Other
        made = tuple(map(self.statement, self.body_now))
        for of in self.ranks:
            buffer = self.buffers[of]
            self.buffers[of] = replace(buffer, low=b.ZERO, high=self.extent)
        order = self.buffers[self.sort.order]
        self.buffers[self.sort.order] = replace(order, dims=(self.extent,))
        return self.filtered(made)

    def find(self) -> bool:
        """Adds what is given such positions; whether there was anything new."""
        before = len(self.ranks) + len(self.numbers)
        for s in walk(self.body_now):
            match s:
                case n.Define(of, _, value) | n.Write(of, _, _, value) | n.Store(of, _, value) if self.is_rank(value):
                    self.ranks.add(of)
                case n.Let(of, value) | n.Assign(of, value) if self.is_rank(value):
                    self.numbers.add(of)
                case n.Filter(outputs, values=values):
                    self.ranks |= {of for of, value in zip(outputs, values, strict=True) if self.is_rank(value)}
                case _:
                    pass
        return len(self.ranks) + len(self.numbers) > before

    def is_rank(self, e: Expr) -> bool:
        match e:
            case Load(of):
                return of in self.ranks
            case Var(of):
                return of in self.numbers
            case Apply("cast", (x,), dtype):
                return dtype in ("index", "int64") and self.is_rank(x)
            case Apply("where", (_, x, y)):
                return self.is_rank(x) and self.is_rank(y)
            case _:
                return False

    def change(self, e: Expr) -> Expr | None:
        """An expression with elements read where they stood before the filter; raises where a position is more than
        that."""
        match e:
            case Load(of, (at, *more)) if of in self.values and self.is_rank(at):
                kept, value = self.values[of]
                if buffers_read(value) & set(buffers_written(self.loop)) or len(more) != len(kept.inner):
                    raise Other
                places = (b.cast(b.map_expr(at, self.inside), "index"), *(b.map_expr(i, self.change) for i in more))
                axes = (*kept.axes, *kept.inner)
                return b.substitute(value, {a.name: place for a, place in zip(axes, places, strict=True)})
            case Apply(op, (x, y), dtype) if op in _COMPARISONS and self.is_rank(x) and self.is_rank(y):
                return Apply(op, (b.map_expr(x, self.inside), b.map_expr(y, self.inside)), dtype)
            case Load(of) if of in self.ranks:
                raise Other
            case Var(of) if of in self.numbers:
                raise Other
            case _:
                return None

    def inside(self, e: Expr) -> Expr | None:
        """A position as such: what says where it stands is as other expressions."""
        match e:
            case Load(of, index, dtype) if of in self.ranks:
                return Load(of, tuple(b.map_expr(i, self.change) for i in index), dtype)
            case Var(of) if of in self.numbers:
                return e
            case Apply("where", (c, x, y), dtype) if self.is_rank(e):
                one, two = (b.map_expr(z, self.inside) for z in (x, y))
                return Apply("where", (b.map_expr(c, self.change), one, two), dtype)
            case _:
                return None

    def value(self, e: Expr) -> Expr:
        return b.map_expr(e, self.inside if self.is_rank(e) else self.change)

    def statement(self, s: n.Stmt) -> n.Stmt:
        other = self.change
        for of in {x for x in buffers_written(s) if not any(bodies(s))} & self.ranks:
            given = s.values[s.outputs.index(of)] if isinstance(s, n.Filter) else getattr(s, "value", None)
            if given is None or not self.is_rank(given):
                raise Other
        match s:
            case n.Filter():
                if any(s is x for x in self.kept):
                    return s
                values = tuple(map(self.value, s.values))
                return replace(s, values=values, mask=b.map_expr(s.mask, other), axes=_axes(s.axes, other))
            case n.Define():
                return replace(s, value=self.value(s.value), axes=_axes(s.axes, other))
            case n.Write():
                index = tuple(b.map_expr(i, other) for i in s.index)
                mask = None if s.mask is None else b.map_expr(s.mask, other)
                return replace(s, value=self.value(s.value), axes=_axes(s.axes, other), index=index, mask=mask)
            case n.Store():
                index = tuple(b.map_expr(i, other) for i in s.index)
                return replace(s, value=self.value(s.value), index=index)
            case n.Let() | n.Assign():
                if s.name in self.numbers and not self.is_rank(s.value):
                    raise Other
                return replace(s, value=self.value(s.value))
            case n.Loop() | n.While() | n.If():
                own = map_statement(with_bodies(s, lambda body: ()), other)
                made = iter([tuple(map(self.statement, body)) for body in bodies(s)])
                return with_bodies(_with_bodies_of(own, s), lambda body: next(made))
            case n.Library() | n.Return():
                raise Other
            case _:
                return map_statement(s, other)

    # --- the filter

    def filtered(self, body: _Block) -> _Block:
        """The loop's body with the sorted positions filtered, where its filter was."""
        first = self.kept[0]
        k = Axis(self.names.fresh(first.axes[0].name), self.extent)
        here = self.sorted_at(k.var)
        mask = b.substitute(first.mask, {first.axes[0].name: b.cast(here, "index")})
        new = n.Filter((self.sort.order,), first.count, (k,), mask, (here,), span=self.sort.step.span)
        used = {x for s in walk(without(body, self.kept)) for x in buffers_used(s)}
        while (into := self.copied(body, new)) is not None:
            new, body = into
        new = self.turned(new)
        (out,) = new.outputs
        body = without_memory(body, {out})
        counts = {s.count for s in self.kept} - {first.count}
        told = tuple(n.Assign(c, Var(first.count, "index"), span=first.span) for c in sorted(counts))
        made: _Block = (n.Alloc(out, span=new.span), new, *told)
        for s in self.kept:
            stays: _Block = (s,) if set(s.outputs) & used else ()  # it counts the same
            body = _instead(body, s, (*stays, *(made if s is first else ())))
        return body

    def turned(self, new: n.Filter) -> n.Filter:
        """The filter of an order that was turned round before the loop, if it goes through all of it backwards."""
        (k,) = new.axes
        here = self.sorted_at(b.sub(b.sub(k.extent, k.var), b.ONE))
        assert isinstance(here, Load)
        if len(here.index) > 1 or here not in list(walk_expr(new.values[0])):
            return new
        base = self.names.fresh(self.sort.order)
        self.buffers[base] = replace(self.buffers[here.buffer], name=base)
        at = Axis(self.names.fresh(k.name), k.extent)
        self.before.append(n.Define(base, (at,), b.substitute(here, {k.name: at.var}), span=new.span))
        there = Load(base, (k.var,), here.dtype)
        values = (b.map_expr(new.values[0], lambda e: there if e == here else None),)
        return replace(new, values=values, mask=b.map_expr(new.mask, lambda e: there if e == here else None))

    def copied(self, body: _Block, new: n.Filter) -> tuple[n.Filter, _Block] | None:
        """The filter as what is made of its elements one by one, in their order or backwards, and nothing else is."""
        (out,) = new.outputs
        readers = [s for s in walk(body) if out in buffers_used(s) and not any(bodies(s))]
        if len(readers) != 1:
            return None
        (s,) = readers
        if not isinstance(s, (n.Define, n.Write)) or len(s.axes) != 1 or s.axes[0].extent != Var(new.count, "index"):
            return None
        if any(isinstance(around, n.Loop | n.While) and s in walk((around,)) for around in body):
            return None
        (axis,), (k,) = s.axes, new.axes
        if isinstance(s, n.Write) and (s.index != (axis.var,) or s.mask is not None):
            return None
        backwards = b.sub(b.sub(Var(new.count, "index"), axis.var), b.ONE)
        places = {e.index for e in walk_expr(s.value) if isinstance(e, Load) and e.buffer == out}
        (value,) = new.values
        if places == {(axis.var,)}:
            turned: Expr = k.var
        elif len(places) == 1 and b.difference(next(iter(places))[0], backwards) == 0:
            turned = b.sub(b.sub(k.extent, k.var), b.ONE)
        else:
            return None
        renamed = {k.name: turned}
        element = b.substitute(value, renamed)
        made = b.map_expr(s.value, lambda e: element if isinstance(e, Load) and e.buffer == out else None)
        made = b.map_expr(made, _as_it_is)
        if axis.name in variables_read(made):
            return None
        target = self.buffers[s.buffer]
        if target.role != "temporary" or len(target.dims) != 1 or made.dtype != target.dtype:
            return None
        touching = (x for x in walk(body) if s.buffer in (*buffers_used(x), *buffers_written(x)) and not any(bodies(x)))
        if next(touching) is not s:
            return None
        self.buffers[s.buffer] = replace(target, dims=(self.extent,))
        filtered = replace(new, outputs=(s.buffer,), values=(made,), mask=b.substitute(new.mask, renamed))
        return filtered, without(body, (s,))


def _axes(axes: tuple[Axis, ...], change: Callable[[Expr], Expr | None]) -> tuple[Axis, ...]:
    return tuple(replace(a, extent=b.map_expr(a.extent, change)) for a in axes)


def _with_bodies_of(own: n.Stmt, s: n.Stmt) -> n.Stmt:
    inner = iter(tuple(bodies(s)))
    return with_bodies(own, lambda _: next(inner))


def _instead(block: _Block, old: n.Stmt, new: _Block) -> _Block:
    out: list[n.Stmt] = []
    for s in block:
        out += new if s is old else (with_bodies(s, lambda body: _instead(body, old, new)),)
    return tuple(out)


def outside(block: _Block, loop: n.Stmt) -> set[str]:
    """The names of what statements outside of a loop use, which stands in one of them."""
    found: set[str] = set()
    for s in block:
        if s is loop:
            continue
        if not any(x is loop for x in walk((s,))):
            found |= {*buffers_used(s), *(v for e in exprs((s,)) for v in variables_read(e))}
            continue
        for body in bodies(s):
            found |= outside(body, loop)
    return found


def _as_it_is(e: Expr) -> Expr | None:
    """A position that was made an index, and that again an element, as the element."""
    match e:
        case Apply("cast", (Apply("cast", (x,), "index"),), dtype) if x.dtype == dtype == "int64":
            return b.map_expr(x, _as_it_is)
        case _:
            return None


def without(block: _Block, gone: Sequence[n.Stmt]) -> _Block:
    return tuple(
        with_bodies(s, lambda body: without(body, gone)) if any(x in walk((s,)) for x in gone) else s
        for s in block if not any(s is x for x in gone)
    )  # fmt: skip


def without_memory(block: _Block, gone: set[str]) -> _Block:
    """The statements without the memory of arrays, and without what fills those alone."""
    return tuple(
        with_bodies(s, lambda body: without_memory(body, gone))
        for s in block if not (isinstance(s, n.Alloc) and s.buffer in gone)
    )  # fmt: skip
