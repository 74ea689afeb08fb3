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

And so do the greater and the less of two bounds, where a loop inside is equally long for all iterations in between:

    for i in 0 .. n:                                        for i in 0 .. r: … as it was
        for p in max(i - r, 0) .. min(i + r, n):            for i in r .. n - r: for p in i - r .. i + r: …
                                                            for i in n - r .. n: … as it was

(or begins and ends at the same places for all of them: ``for p in max(-r, -i) .. min(r + 1, n - i)``). Of several such
parts the one is taken that is as long as the loop, but for what its range does not know.
"""

from __future__ import annotations

import functools
import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
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

_CLIPPED = 4
"""Bounds that an end cuts, of one loop."""

_SHORT = 16
"""Iterations of a border that are too few for threads."""

_PLAIN = (n.Let, n.Store, n.If, n.Loop, n.Accumulator, n.Accumulate, n.Assign)


def split_windows(program: n.Program) -> n.Program:
    """The program with loops over windows split where all of a window is within its array."""
    return _Windows(program).run()


class _Windows(Splitting):
    asked: frozenset[str] = frozenset()  # what the loops in an iteration of the one around are asked together

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if isinstance(s, n.Loop) and s.kind == "parallel" and b.constant(s.step) == 1:
            inside = list(walk(s.body))
            declared = {x.name for x in inside if isinstance(x, n.Accumulator)}
            # What is reduced is made by one loop, but for what is asked of all iterations of an inner one.
            declared |= self.asked
            own = all(x.name in declared for x in inside if isinstance(x, n.Accumulate))
            if own and len(inside) <= _STATEMENTS and all(isinstance(x, _PLAIN) for x in inside):
                found = _Window(s)
                if found.within:
                    return self.split(s, found)
        before = self.asked
        if isinstance(s, n.Loop):
            self.asked = frozenset(x.name for x in s.body if isinstance(x, n.Accumulator) and x.op in ("all", "any"))
        made = with_bodies(s, self.block)
        self.asked = before
        return [made]

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


def _taken(e: Apply, value: Expr) -> Apply:
    """Whether the less, or the greater, is this one."""
    other = e.args[1] if e.args[0] == value else e.args[0]
    return Apply("less_equal" if e.op == "minimum" else "greater_equal", (value, other), "bool")


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

        for s in walk(loop.body):
            if isinstance(s, n.Loop):
                self.ask_clipped(s)

    def ask_clipped(self, s: n.Loop) -> None:
        """Notes from where on a loop inside moves as a whole, instead of ending where an array does."""
        axis = self.axis.name
        clipped: dict[Expr, tuple[Apply, list[Apply]]] = {}  # as they are, and as they are written
        chosen: dict[Expr, tuple[Apply, Expr]] = {}
        for e in self.written((s.start, s.stop)):
            whole = resolved(e, self.lets)
            if not isinstance(e, Apply) or not isinstance(whole, Apply) or axis not in variables_read(whole):
                continue
            if e.op in ("minimum", "maximum") and e.dtype == "index":
                clipped.setdefault(whole, (whole, []))[1].append(e)
            elif e.op == "where" and axis in variables_read(whole.args[0]):
                chosen[whole] = whole, e.args[0]
        inner = [e for e, _ in clipped.values() if not any(x in clipped for a in e.args for x in walk_expr(a))]
        start, stop = (resolved(e, self.lets) for e in (s.start, s.stop))
        if not 1 <= len(inner) <= _CLIPPED or axis not in variables_read(b.sub(stop, start)):
            return
        pieces = [sorted(e.args, key=lambda x: axis not in variables_read(x)) for e in inner]
        for mostly, taken in itertools.product((True, False), itertools.product(*pieces)):
            values: dict[Expr, Expr] = dict(zip(inner, taken, strict=True))
            known: dict[Expr, Expr] = {**values}
            asked: list[tuple[Expr, bool]] = [(_taken(clipped[e][0], values[e]), True) for e in inner]
            decided: dict[Expr, Expr] = {}
            for where, written in chosen.values():
                condition, one, other = (b.map_expr(x, values.get) for x in where.args)
                if axis not in variables_read(condition):
                    known[where] = b.where(condition, one, other)
                    continue
                holds = len(list(walk_expr(one))) <= len(list(walk_expr(other)))
                known[where] = one if holds else other
                asked.append((condition, holds))
                decided[written] = b.TRUE if holds else b.FALSE
            first, last = (b.map_expr(e, known.get) for e in (start, stop))
            if axis in variables_read(b.sub(last, first)) or not (mostly or axis in variables_read(first)):
                continue
            before = list(self.lows), list(self.highs), dict(self.within)
            if all(isinstance(e, Apply) and self.ask(e, holds, alone=True) for e, holds in asked) and (
                not mostly or self.is_most(*before[:2])
            ):
                self.within |= {e: values[whole] for whole in inner for e in clipped[whole][1]}
                self.within |= decided
                return
            self.lows, self.highs, self.within = before

    def is_most(self, lows: Sequence[Expr], highs: Sequence[Expr]) -> bool:
        """Whether what is between the bounds that have come behind `lows` and `highs` grows as the loop does."""
        extent, _ = b.affine(b.sub(self.loop.stop, self.loop.start))
        for low in self.lows[len(lows) :] or [self.loop.start]:
            for high in self.highs[len(highs) :] or [self.loop.stop]:
                between, _ = b.affine(b.sub(high, low))
                if not all(between.get(atom, 0) * factor > 0 for atom, factor in extent.items()):
                    return False
        return True

    def written(self, found: Iterable[Expr]) -> Iterator[Expr]:
        """All parts of expressions, and of what names in them stand for."""
        for e in found:
            for x in walk_expr(e):
                yield x
                if isinstance(x, Var) and x.name in self.lets:
                    yield from self.written((self.lets[x.name],))

    def ask(self, e: Apply, holds: bool = True, alone: bool = False) -> bool:
        """Notes from where on a comparison holds, or does not, and tells whether that is known; `alone`, if it asks for
        no axis inside, too."""
        match e:
            case Apply("less" | "less_equal" | "greater" | "greater_equal" as op, (x, y), "bool"):
                if not x.dtype == y.dtype == "index":
                    return False
            case _:
                return False
        asked: str = op if holds else OPPOSITE[op]
        form = resolved(b.sub(y, x) if asked.startswith("less") else b.sub(x, y), self.lets)
        terms, _ = b.affine(form)
        factor = terms.get(self.axis, 0)
        axes = [a for a in terms if isinstance(a, Var) and a in self.inner]
        if abs(factor) != 1 or not (axes or alone):
            return False
        least = self.inner  # where an axis makes the form the smallest
        rest = b.sub(form, b.mul(b.index(factor), self.axis))
        for a in axes:
            first, last = least[a]
            rest = b.sub(rest, b.mul(b.index(terms[a]), b.sub(a, first if terms[a] > 0 else last)))
        if variables_read(rest) & self.moving or buffers_read(rest):
            return False
        at_least = b.index(1 if asked in ("less", "greater") else 0)
        few = b.index(_SHORT)
        if factor == 1:  # axis + rest >= at_least
            bound, bounds = b.sub(at_least, rest), self.lows
            hardly = b.at_least(bound, b.sub(self.loop.stop, few))
        else:  # rest - axis >= at_least
            bound, bounds = b.add(b.sub(rest, at_least), b.ONE), self.highs
            hardly = b.at_least(b.add(self.loop.start, few), bound)
        if hardly:  # as in a triangle (`j <= i`): for no more than a few iterations
            return False
        if bound not in bounds:
            bounds.append(bound)
        self.within[e] = b.TRUE if holds else b.FALSE
        return True

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
