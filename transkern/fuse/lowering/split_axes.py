"""A loop whose place is taken apart becomes loops over what it is taken apart into:

    parallel i in 0 .. n * m:                     parallel j in 0 .. n:
        y[i] = x[i % m, i // m]         to            parallel k in 0 .. m:
                                                          y[j * m + k] = x[k, j]

A copy that NumPy makes for `reshape` counts in one shape and takes apart in the other. The loop then divides for each
element, and nobody sees that neighbours are read one after the other. The points and their order stay.
"""

from __future__ import annotations

from collections.abc import Callable

from transkern.fuse.checks.guards import facts_in_front
from transkern.fuse.scalars.places import is_division, simplified
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Var
from transkern.ir.facts import implied
from transkern.ir.names import Names
from transkern.ir.polynomials import exact_quotient
from transkern.ir.traverse import exprs, map_block, with_bodies
from transkern.records import replace


def split_axes(program: n.Program) -> n.Program:
    """The program whose loops do not divide by what their axes are made of."""
    if not any(map(is_division, exprs(program.body))):
        return program
    names = Names.of(program)
    facts = facts_in_front(program)

    def is_size(e: Expr) -> bool:
        return b.is_nonnegative(e) or implied(b.compare("greater_equal", e, b.ZERO), facts)

    def block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        return tuple(changed(s) for s in statements)

    def changed(s: n.Stmt) -> n.Stmt:
        if isinstance(s, n.Loop) and (parts := _parts(s, is_size)) is not None:
            return changed(simplified(_apart(s, *parts, names), program.variables))
        return with_bodies(s, block)

    return replace(program, body=block(program.body))


def _parts(s: n.Loop, is_size: Callable[[Expr], bool]) -> tuple[Expr, Expr] | None:
    """What a loop may be split into: how often, and by what, as large as can be; None where it does not pay."""
    if s.kind != "parallel" or s.start != b.ZERO or s.step != b.ONE or s.spare is not None:
        return None
    divided = list(filter(is_division, dict.fromkeys(exprs(s.body))))
    if len(divided) < 2 and all(b.constant(x.args[1]) is not None for x in divided):
        return None  # one division by a constant is a product, which vectors have
    axis = Var(s.axis)
    by = dict.fromkeys(x.args[1] for x in divided if x.args[0] == axis)
    for few in sorted(by, key=lambda e: (-_factors(e), repr(e))):
        many = exact_quotient(s.stop, few)
        if many is not None and b.ONE not in (many, few) and is_size(few):
            return many, few
    return None


def _factors(e: Expr) -> int:
    return sum(map(_factors, e.args)) if isinstance(e, Apply) and e.op == "multiply" else 1


def _apart(s: n.Loop, many: Expr, few: Expr, names: Names) -> n.Loop:
    outer, inner = names.fresh(s.axis), names.fresh(s.axis)
    place = b.add(b.mul(Var(outer), few), Var(inner))
    body = map_block(s.body, lambda e: place if e == Var(s.axis) else None)
    return replace(s, axis=outer, stop=many, body=(replace(s, axis=inner, stop=few, body=body),))
