"""What an index expression never exceeds in the loops around it."""

from __future__ import annotations

from collections.abc import Sequence

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Var
from transkern.ir.traverse import variables_read


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
        case _:
            return None
    most = highest(b.sub(x, y), around)
    return None if most is None else b.compare(op, most, b.ZERO)


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
