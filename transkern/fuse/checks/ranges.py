"""Checks that a number is one, and lies in a range, are one question where all of them hold:

    guard not isnan(x)                             if not absolute(x) < 2.0 ** 63:
    guard not isinf(x)                        to       guard not isnan(x)
    guard x >= -2.0 ** 63 and x < 2.0 ** 63            guard not isinf(x)
                                                       guard x >= -2.0 ** 63 and x < 2.0 ** 63

Python's conversions ask so, each for an error of its own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Var
from transkern.ir.facts import conjuncts
from transkern.ir.traverse import walk, with_bodies
from transkern.records import replace


def ask_range_first(program: n.Program) -> n.Program:
    """The program with one question for checks of one number, side by side in loops; as it was where flags of floats
    are read."""
    if program.warns or not any(isinstance(s, n.Loop | n.While) for s in walk(program.body)):
        return program
    return replace(program, body=_block(program.body, False))


def _block(statements: Sequence[n.Stmt], inside: bool) -> tuple[n.Stmt, ...]:
    out: list[n.Stmt] = []
    together: list[n.Guard] = []
    number: Expr | None = None
    for s in statements:
        asked = _number(s.condition) if inside and isinstance(s, n.Guard) else None
        if together and asked != number:
            out += _asked_once(together, number)
            together = []
        number = asked
        if isinstance(s, n.Guard) and asked is not None:
            together.append(s)
        else:
            deeper = inside or isinstance(s, n.Loop | n.While)
            out.append(with_bodies(s, lambda inner, deeper=deeper: _block(inner, deeper)))  # type: ignore[misc]
    return (*out, *_asked_once(together, number))


def _asked_once(guards: Sequence[n.Guard], number: Expr | None) -> list[n.Stmt]:
    """Checks of a number, behind the question under which none of them fails."""
    if len(guards) < 2 or number is None:
        return list(guards)
    least = min(_within(c) or 0.0 for s in guards for c in conjuncts(s.condition))
    if not least > 0.0:
        return list(guards)
    size = Apply("absolute", (number,), number.dtype)
    fine = Apply("less", (size, Const(least, number.dtype)), "bool")
    return [n.If(b.logical_not(fine), tuple(guards), span=guards[0].span)]


def _number(condition: Expr) -> Expr | None:
    """The float that all of a condition asks about; None where it asks about others."""
    found = {_asked(c) for c in conjuncts(condition)}
    return found.pop() if len(found) == 1 else None


def _asked(condition: Expr) -> Expr | None:
    match condition:
        case Apply("logical_not", (Apply("isnan" | "isinf", (Var() as x,), _),), _):
            return x
        case Apply("less" | "less_equal" | "greater" | "greater_equal", (Var() as x, Const()), _):
            return x if x.dtype in ("float32", "float64") else None
        case _:
            return None


def _within(condition: Expr) -> float | None:
    """A bound on the magnitude below which a condition holds; None where there is none."""
    match condition:
        case Apply("logical_not"):
            return math.inf
        case Apply("greater" | "greater_equal" | "less" | "less_equal" as op, (_, Const(value)), _):
            assert not isinstance(value, complex)
            bound = float(-value if op.startswith("greater") else value)
            return bound if bound > 0.0 else None
        case _:
            return None
