"""Loops over windows that reach beyond an array at its ends, without the question where they do not:

    for i in 0 .. n:                                        low, high = … of the ends of the window
        for j in 0 .. m:                                    for i in 0 .. low: … with the condition
            if 0 <= i + j - h < n: s += x[i + j - h] * w[j] to for i in low .. high: for j: s += x[i + j - h] * w[j]
                                                            for i in high .. n: … with the condition

A comparison that is linear in the outer axis, and in axes of loops inside whose ranges stay the same, holds for all of
the inner iterations from (or up to) a certain outer one: index set splitting again (`borders.py`), where how long the
borders are is known at run time only. So does one that asks for the outer axis alone, where a loop inside ends:

    for i in 0 .. n:                                        for i in 0 .. -w: … as it was
        for p in i .. (i + w + m if i + w < 0 else i + w):  for i in -w .. n: for p in i .. i + w: …
"""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Iterable
from itertools import chain

from transkern.fuse.loops.borders import Splitting, in_order, places_inside
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Var
from transkern.ir.ops import OPPOSITE
from transkern.ir.traverse import (
    buffers_read,
    map_own,
    own_exprs,
    resolved,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)  # fmt: skip
from transkern.records import replace

_STATEMENTS = 24
"""A loop with more of them is not written three times."""

_SHORT = 16
"""Iterations of a border that are too few for threads."""

_PLAIN = (n.Let, n.Store, n.If, n.Loop, n.Accumulator, n.Accumulate, n.Assign)


def split_windows(program: n.Program) -> n.Program:
    """The program with loops over windows split where all of a window is within its array."""
    return _Windows(program).run()


class _Windows(Splitting):
    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if isinstance(s, n.Loop) and s.kind == "parallel" and b.constant(s.step) == 1:
            inside = list(walk(s.body))
            declared = {x.name for x in inside if isinstance(x, n.Accumulator)}
            # What is reduced is made by one loop.
            own = all(x.name in declared for x in inside if isinstance(x, n.Accumulate))
            if own and len(inside) <= _STATEMENTS and all(isinstance(x, _PLAIN) for x in inside):
                found = _Window(s)
                if found.within:
                    return self.split(s, found)
        return [with_bodies(s, self.block)]

    def split(self, s: n.Loop, found: _Window) -> list[n.Stmt]:
        out: list[n.Stmt] = []
        low, high = self.bound(out, s, found)
        middle = replace(s, start=low, stop=high, body=found.without(s.body), spare=None)
        middle = self.copy(middle)
        last = self.copy(s)
        if found.lows:
            out.append(self.border(replace(s, stop=low, spare=None)))
        out.append(replace(middle, body=self.block(middle.body)))
        if found.highs:
            out.append(self.border(replace(last, start=high, spare=None)))
        return out

    def border(self, s: n.Loop) -> n.Loop:
        few = b.difference(s.stop, s.start)
        return in_order(s) if few is not None and few <= _SHORT else s

    def bound(self, out: list[n.Stmt], s: n.Loop, found: _Window) -> tuple[Expr, Expr]:
        """Where all windows are within the arrays: named, where that is not just the loop's end."""
        low, high = s.start, s.stop
        if found.lows:
            low = b.minimum(functools.reduce(b.maximum, found.lows, s.start), s.stop)
            low = self.named(out, s, "low", low)
        if found.highs:
            high = b.maximum(functools.reduce(b.minimum, found.highs, s.stop), low)
            high = self.named(out, s, "high", high)
        return low, high

    def named(self, out: list[n.Stmt], s: n.Loop, what: str, value: Expr) -> Expr:
        if isinstance(value, (Const, Var)):
            return value
        made = n.Let(self.names.fresh(f"{s.axis}_{what}"), value, span=s.span)
        out.append(made)
        return Var(made.name, "index")


class _Window:
    """The comparisons in a loop that hold from one of its iterations on, or up to one, whatever loops inside do."""

    def __init__(self, loop: n.Loop) -> None:
        self.loop, self.axis = loop, Var(loop.axis, "index")
        self.set = scalars_set(loop) | {loop.axis}
        self.lets = places_inside(loop.body)
        moving = self.set | {x.axis for x in walk(loop.body) if isinstance(x, n.Loop)}
        ranges: dict[str, set[tuple[Expr, Expr, Expr]]] = defaultdict(set)  # loops beside each other share names
        for x in walk(loop.body):
            if isinstance(x, n.Loop):
                ranges[x.axis].add((x.start, x.stop, x.step))
        self.inner = {
            Var(axis, "index"): (start, b.sub(stop, b.ONE))
            for axis, ((start, stop, step), *others) in ranges.items()
            if not others and step == b.ONE and not (variables_read(start) | variables_read(stop)) & moving
            and not buffers_read(start) | buffers_read(stop)
        }  # fmt: skip
        self.moving = moving
        self.lows: list[Expr] = []
        self.highs: list[Expr] = []
        self.within: dict[Expr, Expr] = {}  # what comparisons come to where they all do
        for s in walk(loop.body) if self.inner else ():
            for e in chain.from_iterable(map(walk_expr, own_exprs(s))):
                if isinstance(e, Apply) and e not in self.within:
                    self.ask(e)
        for s in walk(loop.body):
            for e in chain(walk_expr(s.start), walk_expr(s.stop)) if isinstance(s, n.Loop) else ():
                match e:
                    case Apply("where", (Apply() as asked, one, other), _) if asked not in self.within:
                        self.ask(asked, holds=len(list(walk_expr(one))) <= len(list(walk_expr(other))), alone=True)

    def ask(self, e: Apply, holds: bool = True, alone: bool = False) -> None:
        """Notes from where on a comparison holds, or does not; `alone`, if it asks for no axis inside, too."""
        match e:
            case Apply("less" | "less_equal" | "greater" | "greater_equal" as op, (x, y), "bool"):
                if not x.dtype == y.dtype == "index":
                    return
            case _:
                return
        asked: str = op if holds else OPPOSITE[op]
        form = resolved(b.sub(y, x) if asked.startswith("less") else b.sub(x, y), self.lets)
        terms, _ = b.affine(form)
        factor = terms.get(self.axis, 0)
        axes = [a for a in terms if isinstance(a, Var) and a in self.inner]
        if abs(factor) != 1 or not (axes or alone):
            return
        least = self.inner  # where an axis makes the form the smallest
        rest = b.sub(form, b.mul(b.index(factor), self.axis))
        for a in axes:
            first, last = least[a]
            rest = b.sub(rest, b.mul(b.index(terms[a]), b.sub(a, first if terms[a] > 0 else last)))
        if variables_read(rest) & self.moving or buffers_read(rest):
            return
        at_least = b.index(1 if asked in ("less", "greater") else 0)
        few = b.index(_SHORT)
        if factor == 1:  # axis + rest >= at_least
            bound, bounds = b.sub(at_least, rest), self.lows
            hardly = b.at_least(bound, b.sub(self.loop.stop, few))
        else:  # rest - axis >= at_least
            bound, bounds = b.add(b.sub(rest, at_least), b.ONE), self.highs
            hardly = b.at_least(b.add(self.loop.start, few), bound)
        if hardly:  # as in a triangle (`j <= i`): for no more than a few iterations
            return
        if bound not in bounds:
            bounds.append(bound)
        self.within[e] = b.TRUE if holds else b.FALSE

    def without(self, block: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
        """The statements where all those comparisons are decided."""
        out: list[n.Stmt] = []
        for s in block:
            s = map_own(s, self.within.get)
            if isinstance(s, n.Let) and s.value == b.TRUE:
                self.within[Var(s.name, "bool")] = b.TRUE
                continue
            if isinstance(s, n.If) and isinstance(s.condition, Const):
                out += self.without(s.then if s.condition.value else s.orelse)
                continue
            out.append(with_bodies(s, self.without))
        return tuple(out)
