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


def _bound(e: Expr, axis: str, low: Expr, high: Expr, upper: bool) -> Expr | None:
    """The largest (smallest) value of `e` for `axis` from `low` to `high`."""
    terms, total = b.affine(e)
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
