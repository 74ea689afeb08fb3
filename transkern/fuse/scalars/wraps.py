"""Loops over what goes round, without a division for each element:

    for j in 0 .. m:                          shift = c % m
        out[j] = x[(j + c) % m]       to      for j in 0 .. m - shift: out[j] = x[j + shift]
                                              for j in m - shift .. m: out[j] = x[j + shift - m]

That is `np.roll` by a number of the caller's. Where several shifts meet in a loop, it is split for the first of them,
and the others compare, as all do in a loop that reduces: a subscript within the range needs no more than one
subtraction. `borders.py` does the same for shifts that are small numbers.
"""

from __future__ import annotations

from itertools import chain

from transkern.fuse.loops.borders import Splitting, places_inside
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Var
from transkern.ir.traverse import (
    buffers_read,
    map_block,
    own_exprs,
    resolved,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)  # fmt: skip
from transkern.records import replace

_STATEMENTS = 12
"""A loop with more of them is not written twice."""

_BORDER = 17
"""Shifts that are smaller make borders (`borders.py`)."""


def split_wraps(program: n.Program) -> n.Program:
    """The program with innermost loops split where a subscript goes round."""
    return _Wraps(program).run()


class _Wraps(Splitting):
    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if isinstance(s, n.Loop) and s.step == b.ONE and b.at_least(s.start, b.ZERO):
            inside = list(walk(s.body))
            if all(isinstance(x, (n.Let, n.Store, n.If, n.Assign, n.Accumulate)) for x in inside):
                reduces = any(isinstance(x, n.Accumulate) for x in inside)  # which it does in one loop
                return self.split(s, len(inside) <= _STATEMENTS and not reduces)
        return [with_bodies(s, self.block)]

    def split(self, s: n.Loop, short: bool) -> list[n.Stmt]:
        shifts: dict[tuple[Expr, Expr], Expr] = {}  # by what is added, and where it goes round
        wraps = _wraps(s)
        if not wraps:
            return [s]
        out: list[n.Stmt] = []
        for key in wraps.values():
            if key not in shifts:
                rest, size = key
                shift = n.Let(self.names.fresh("shift"), b.mod(rest, b.maximum(size, b.ONE)), span=s.span)
                out.append(shift)
                shifts[key] = Var(shift.name, "index")
        first = next(iter(shifts)) if short else None
        axis = Var(s.axis, "index")

        def made(behind: bool | None) -> n.Loop:
            """The loop before or behind the place where the first shift goes round; of None, all of it."""

            def place(e: Expr) -> Expr | None:
                if e not in wraps:
                    return None
                key = wraps[e]
                at = b.add(axis, shifts[key])
                round_ = b.sub(at, key[1])
                if key == first and behind is not None:
                    return round_ if behind else at
                return b.where(b.compare("less", at, key[1]), at, round_)

            return replace(s, body=map_block(s.body, place))

        if first is None:
            return [*out, made(None)]
        turn = n.Let(self.names.fresh(f"{s.axis}_round"), b.sub(first[1], shifts[first]), span=s.span)
        begin = b.minimum(b.maximum(Var(turn.name, "index"), s.start), s.stop)
        second = self.copy(made(True))
        return [*out, turn, replace(made(False), stop=begin, spare=None), replace(second, start=begin, spare=None)]


def _wraps(s: n.Loop) -> dict[Expr, tuple[Expr, Expr]]:
    """The remainders of a loop's axis and something that it does not change, by a size that the axis stays below."""
    axis = Var(s.axis, "index")
    inside = scalars_set(s) | {s.axis}
    lets = places_inside(s.body)
    found: dict[Expr, tuple[Expr, Expr]] = {}
    for x in walk(s.body):
        for e in chain.from_iterable(map(walk_expr, own_exprs(x))):
            match e:
                case Apply("remainder", (form, size), "index") if e not in found:
                    whole = b.sub(resolved(form, lets), axis)
                    still = not (variables_read(whole) | variables_read(size)) & inside
                    still = still and not buffers_read(whole) | buffers_read(size)
                    small = (known := b.constant(whole)) is not None and abs(known) < _BORDER
                    if still and not small and b.at_least(b.sub(size, s.stop), b.ZERO):
                        found[e] = whole, size
    return found
