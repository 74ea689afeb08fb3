"""What an index expression never exceeds in the loops around it."""

from __future__ import annotations

from collections.abc import Sequence

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Var
from transkern.ir.traverse import variables_read, walk_expr

_OPPOSITE = {"less": "greater_equal", "greater_equal": "less", "greater": "less_equal", "less_equal": "greater"}

_CHOSEN = frozenset({"where", "maximum", "minimum"})

_CHOICES = 8
"""How many of them a comparison of sizes has at most."""


def highest(e: Expr, around: Sequence[n.Loop]) -> Expr | None:
    """What `e` never exceeds in the loops `around`, outer first, without their variables; None where that is open."""
    found: Expr | None = e
    for loop in reversed(around):
        step = b.constant(loop.step)
        if found is None or step is None:
            return None
        low, high = (loop.start, b.sub(loop.stop, b.ONE)) if step > 0 else (b.add(loop.stop, b.ONE), loop.start)
        found = _bound(found, loop.axis, low, high, upper=True)
    return found


def at_worst(condition: Expr, around: Sequence[n.Loop]) -> Expr | None:
    """A comparison of positions for the iteration of the loops in which it holds least."""
    if not variables_read(condition) & {loop.axis for loop in around}:
        return condition
    match condition:
        case Apply("logical_or" | "or_else", (x, y), _):
            one, two = at_worst(x, around), at_worst(y, around)
            return b.either(one, two) if one is not None and two is not None else one if two is None else two
        case Apply("less" | "less_equal" as op, (x, y), _) if x.dtype == y.dtype == "index":
            pass
        case Apply("greater" | "greater_equal" as op, (y, x), _) if x.dtype == y.dtype == "index":
            op = "less" if op == "greater" else "less_equal"
        case Apply("logical_not", (Apply("less" | "less_equal" | "greater" | "greater_equal" as op, (x, y), _),), _):
            return at_worst(b.compare(_OPPOSITE[op], x, y), around) if x.dtype == y.dtype == "index" else None
        case Apply("equal", (x, y), _) if x.dtype == y.dtype == "index":
            return _surely_equal(b.sub(x, y), around, b.TRUE, _CHOICES)
        case _:
            return None
    most = highest(b.sub(x, y), around)
    return None if most is None else b.compare(op, most, b.ZERO)


def _surely_equal(e: Expr, around: Sequence[n.Loop], so_far: Expr, left: int) -> Expr | None:
    """Under what `e`, of sizes that stop at ends, is 0 in all iterations: the length of ``x[k : n - w + k]`` is that of
    ``x[:n - w]`` where ``n - w`` is no place counted from the end."""
    if so_far == b.FALSE or left < 0:
        return None
    choice = next((x for x in walk_expr(e) if isinstance(x, Apply) and x.op in _CHOSEN), None)
    if choice is None:
        return so_far if b.constant(e) == 0 else None
    ways: tuple[tuple[Expr, Expr], ...]
    match choice:
        case Apply("where", (condition, x, y), _):
            ways = (b.logical_not(condition), y), (condition, x)
        case Apply(op, (x, y), _):
            more = b.compare("less_equal", y, x), b.compare("less_equal", x, y)
            ways = (more[op == "minimum"], x), (more[op == "maximum"], y)
    for condition, value in ways:
        holds = at_worst(condition, around)
        if holds is not None:
            chosen: dict[Expr, Expr] = {choice: value}
            rest = b.map_expr(e, chosen.get)
            found = _surely_equal(rest, around, b.both(so_far, holds), left - 1)
            if found is not None:
                return found
    return None


def _bound(e: Expr, axis: str, low: Expr, high: Expr, upper: bool) -> Expr | None:
    """The largest (smallest) value of `e` for `axis` from `low` to `high`."""
    terms, total = b.affine(e)
    for atom, factor in terms.items():  # what else moves with the axis goes into what is chosen: the two may cancel
        match atom:
            case Apply("maximum" | "minimum" | "where" as op, (*_, x, y), _) if axis in variables_read(atom):
                by = b.index(factor)
                rest = b.sub(e, b.mul(by, atom))
                if axis not in variables_read(rest):
                    continue
                one, two = (_bound(b.add(rest, b.mul(by, v)), axis, low, high, upper) for v in (x, y))
                larger = upper if op == "where" else (op == "maximum") == (factor > 0)
                return None if one is None or two is None else (b.maximum if larger else b.minimum)(one, two)
            case _:
                pass
    result: Expr = b.index(total)
    for atom, factor in terms.items():
        up = upper == (factor > 0)
        value: Expr | None = atom
        if atom == Var(axis, "index"):
            value = high if up else low
        elif axis in variables_read(atom):
            value = None
            match atom:
                case Apply("maximum" | "minimum" | "where" as op, (*_, x, y), _):
                    one, two = _bound(x, axis, low, high, up), _bound(y, axis, low, high, up)
                    if one is not None and two is not None:
                        larger = up if op == "where" else op == "maximum"
                        value = (b.maximum if larger else b.minimum)(one, two)
                case Apply("floor_divide", (x, Const(divisor)), _) if int(divisor) > 0:  # type: ignore[arg-type]
                    one = _bound(x, axis, low, high, up)
                    value = None if one is None else b.floordiv(one, atom.args[1])
                case _:
                    pass
        if value is None:
            return None
        result = b.add(result, b.mul(b.index(factor), value))
    return result
