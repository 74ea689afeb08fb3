"""Conditions that ask for intervals of one are equalities of integers.

`(x >= i) & (x < i + 1)` holds where `floor(x) == i`, so that all that has one key can be found in one pass. Of a number
in none of the loop's intervals (NaN, infinities, numbers beyond the axis) this is asked before it becomes an integer.
Of floats it is true as long as the bounds are integers that the type holds exactly, which is `assumed`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Var, variables_read

_EXACT = {"float64": 1 << 53, "float32": 1 << 24, "float16": 1 << 11}
"""Up to here all integers are numbers of a type."""


@dataclass(frozen=True, slots=True)
class Interval:
    """The interval of one iteration of the loop over `axis`: `within` holds of what is in that of any iteration, and
    `key` says then of which."""

    axis: str
    within: Expr
    key: Expr
    assumed: Expr


def with_intervals(asked: Iterable[Expr], axes: Mapping[str, n.Loop]) -> list[Expr | Interval]:
    """Conditions in their order, with intervals for the pairs that ask for one, each where the first of its pair is:
    what is asked behind that may be there only where it holds."""
    out: list[Expr | Interval] = []
    sides: dict[tuple[Expr, bool], tuple[Expr, int]] = {}
    for e in asked:
        out.append(e)
        if (side := _side(e, axes)) is None:
            continue
        value, below, place = side
        if (value, not below) in sides:
            other, at = sides[value, not below]
            made = _interval(value, place if below else other, other if below else place, axes)
            if made is not None:
                out[at] = made
                out.pop()
                del sides[value, not below]
                continue
        sides[value, below] = place, len(out) - 1
    return out


def _side(e: Expr, axes: Mapping[str, n.Loop]) -> tuple[Expr, bool, Expr] | None:
    """A number, whether an axis is below it or above it, and with what is added to the axis: `place <= value`, or
    `value < place`."""
    if not isinstance(e, Apply) or e.op not in ("less", "less_equal", "greater", "greater_equal"):
        return None
    low, high = e.args if e.op.startswith("less") else e.args[::-1]
    for value, other, below in ((high, low, True), (low, high, False)):
        place = _place(other)
        if place is None or not variables_read(place) & axes.keys() or variables_read(value) & axes.keys():
            continue
        if below == e.op.endswith("equal"):
            return value, below, place
        if is_integer(value.dtype):  # `place < value`, `value <= place`
            return value, below, b.add(place, b.ONE)
    return None


def _place(e: Expr) -> Expr | None:
    """The integer that is compared: a float of it, or itself."""
    if isinstance(e, Apply) and e.op == "cast" and (e.dtype in _EXACT or e.dtype == "int64"):
        (e,) = e.args
    return e if e.dtype == b.INDEX else None


def _interval(value: Expr, start: Expr, stop: Expr, axes: Mapping[str, n.Loop]) -> Interval | None:
    terms, _ = b.affine(start)
    found = [name for name in axes if terms.get(Var(name, b.INDEX)) == 1]
    if len(found) != 1 or b.difference(stop, start) != 1:
        return None
    (axis,) = found
    loop, rest = axes[axis], b.sub(start, Var(axis, b.INDEX))
    if variables_read(rest) & axes.keys():
        return None
    if is_integer(value.dtype):
        return Interval(axis, b.TRUE, b.sub(b.cast(value, b.INDEX), rest), b.TRUE)
    if value.dtype not in _EXACT:
        return None
    low, high, most = b.add(loop.start, rest), b.add(loop.stop, rest), b.index(_EXACT[value.dtype])
    within = b.both(
        Apply("greater_equal", (value, b.cast(low, value.dtype)), "bool"),
        Apply("less", (value, b.cast(high, value.dtype)), "bool"),
    )
    exact = b.both(b.compare("less_equal", b.neg(most), low), b.compare("less_equal", high, most))
    return Interval(axis, within, b.sub(b.cast(Apply("floor", (value,), value.dtype), b.INDEX), rest), exact)


def is_integer(dtype: str) -> bool:
    """Whether all numbers of a type are places."""
    return dtype == b.INDEX or (dtype.startswith(("int", "uint")) and dtype != "uint64")
