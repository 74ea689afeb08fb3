"""Sizes that are made of one size by sums, bounds and constants, as the piecewise linear functions that they are.

    max(min(max(m - 2, 0) + 1, m) - 1, 0)   is   max(m - 2, 0)   for all m >= 0

No rule about one bound within another finds that: ``min(max(m - 2, 0) + 1, m)`` alone has three pieces.
A slice of a slice's length (``n = x[1:-1].shape[0]; x[k : k + n]``) has such a size, and one more bound for each that
follows from it, until shapes that are equal cannot be told to be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import NamedTuple

from transkern.ir.expr import Apply, Const, Expr, Var


class Line(NamedTuple):
    """``slope * n + offset``."""

    slope: int
    offset: int

    def at(self, n: int) -> int:
        return self.slope * n + self.offset


Pieces = dict[int, Line]  # by where they begin, in order; the first begins at 0


class Extreme(NamedTuple):
    """A line over a size, or the greatest or least of two."""

    variable: Expr
    operation: str
    lines: tuple[Line, ...]


def as_extreme(expr: Expr, is_size: Callable[[str], bool]) -> Extreme | None:
    """What bounds within bounds come to for all values of their one variable, a size, where that is one bound."""
    match expr:
        case Apply("maximum" | "minimum", args, "index") if any(_has_bound(a) for a in args):
            pass
        case _:
            return None
    variables: set[Var] = set()
    pieces = _pieces(expr, variables, is_size)
    if pieces is None or len(variables) != 1:
        return None
    (variable,) = variables
    last = next(reversed(pieces.values()))
    if _equal(pieces, {0: last}):
        return Extreme(variable, "maximum", (last,))
    for first in (pieces[0], Line(0, pieces[0].offset)):  # of a piece of one point the value is all that counts
        for operation in ("maximum", "minimum"):
            if _equal(pieces, _extreme(operation, {0: last}, {0: first})):
                return Extreme(variable, operation, (last, first) if last.slope else (first, last))
    return None


def _has_bound(e: Expr) -> bool:
    match e:
        case Apply("maximum" | "minimum", _, "index"):
            return True
        case Apply("add" | "subtract" | "negative" | "multiply", args, "index"):
            return any(_has_bound(a) for a in args)
        case _:
            return False


def _pieces(e: Expr, variables: set[Var], is_size: Callable[[str], bool]) -> Pieces | None:
    """An expression as a function of the variable that is added to `variables`; None where it is none of one size."""
    match e:
        case Const(value, "index"):
            return {0: Line(0, int(value))}  # type: ignore[arg-type]
        case Var(name, "index") if is_size(name):
            variables.add(e)
            return {0: Line(1, 0)} if len(variables) == 1 else None
        case Apply("negative", (x,), "index"):
            f = _pieces(x, variables, is_size)
            return None if f is None else _scaled(f, -1)
        case Apply("multiply", (Const(k), x) | (x, Const(k)), "index"):
            f = _pieces(x, variables, is_size)
            return None if f is None else _scaled(f, int(k))  # type: ignore[arg-type]
        case Apply("add" | "subtract" | "maximum" | "minimum" as op, (x, y), "index"):
            f = _pieces(x, variables, is_size)
            g = None if f is None else _pieces(y, variables, is_size)
            if f is None or g is None:
                return None
            if op in ("maximum", "minimum"):
                return _extreme(op, f, g)
            g = _scaled(g, -1) if op == "subtract" else g
            return {at: Line(u.slope + v.slope, u.offset + v.offset) for at, _, u, v in _together(f, g)}
        case _:
            return None


def _scaled(f: Pieces, k: int) -> Pieces:
    return {at: Line(k * line.slope, k * line.offset) for at, line in f.items()}


def _together(f: Pieces, g: Pieces) -> Iterator[tuple[int, int | None, Line, Line]]:
    """Where both functions have one piece: from where, before what, and the pieces."""
    starts = [*sorted({*f, *g}), None]
    u, v = f[0], g[0]
    for at, end in pairwise(starts):
        assert at is not None
        u, v = f.get(at, u), g.get(at, v)
        yield at, end, u, v


def _extreme(operation: str, f: Pieces, g: Pieces) -> Pieces:
    """The greatest or least of two functions."""
    choose = max if operation == "maximum" else min
    found: Pieces = {}
    for at, end, u, v in _together(f, g):
        chosen = choose(u, v, key=lambda line: (line.at(at), line.slope))
        found[at] = chosen
        other = v if chosen is u else u
        if chosen.slope == other.slope:
            continue
        # The lines cross if the other one comes nearer: the first integer where it is beyond the chosen one.
        if (other.slope > chosen.slope) == (operation == "maximum"):
            gap, pace = abs(chosen.at(at) - other.at(at)), abs(other.slope - chosen.slope)
            crossing = at + gap // pace + 1
            if end is None or crossing < end:
                found[crossing] = other
    return found


def _equal(f: Pieces, g: Pieces) -> bool:
    """Whether two functions have the same value at each integer from 0 on."""
    return all(
        u.at(at) == v.at(at) and (u.slope == v.slope if end is None else u.at(end - 1) == v.at(end - 1))
        for at, end, u, v in _together(f, g)
    )
