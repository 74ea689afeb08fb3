"""Which constants stand among computed values: masked scores, logarithms that a condition keeps from 0.

    s[k] = where(k > j, -1e9, q[k])        s: {-1e9}
    e = exp(s[k] - top)                    its operand may be -1e9, for which there is nothing to compute
    h = where(p > 0, p * log(p), 0)        where it is not asked for, the operand of the logarithm is 0

An estimate: it decides how code is spelled, not what it computes. Constants are followed through names, arrays and
arithmetic as if nothing was done with them, since -1e9 remains large and infinity infinite.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.traverse import exprs, walk, walk_expr

_ROUNDS, _MOST = 4, 8
"""How far constants are followed, and how many are remembered of one name."""

_BOUNDS = {"float32": 87.0, "float64": 708.0}
"""Up to here exponentials are neither infinite nor subnormal."""

OF_SPECIAL = ("exp", "log", "log2", "log10")
"""Functions whose special values are looked for."""


@dataclass(frozen=True, slots=True)
class Special:
    """By names of scalars and buffers: the constants that are put in the place of some of their values, and what
    conditions that have a name compare."""

    constants: Mapping[str, frozenset[float]]
    conditions: Mapping[str, frozenset[Expr]]

    def likely(self, function: str, operand: Expr) -> bool:
        """Whether an exponential or a logarithm is likely to be taken of special values."""
        constants = _of(operand, self.constants)
        if function == "exp":
            return any(not abs(c) < _BOUNDS.get(operand.dtype, math.inf) for c in constants)
        return any(not 0 < c < math.inf for c in constants)

    def compared(self, condition: Expr) -> frozenset[Expr]:
        """The floating-point names and elements that a condition compares."""
        found = _compared(condition)
        for e in walk_expr(condition):
            if isinstance(e, Var):
                found |= self.conditions.get(e.name, frozenset())
        return found


def find_special(program: n.Program) -> Special:
    """The constants of all names, in an estimate."""
    if not any(isinstance(x, Apply) and x.op in OF_SPECIAL for e in exprs(program.body) for x in walk_expr(e)):
        return Special({}, {})
    values = [x for s in walk(program.body) if (x := _set(s))]
    found: dict[str, frozenset[float]] = {}
    for _ in range(_ROUNDS):
        before = dict(found)
        for name, value in values:
            known = found.get(name, frozenset())
            here = frozenset([_number(value)]) if isinstance(value, Const) else frozenset(_of(value, found))
            found[name] = known | frozenset(sorted(here - known, key=str)[: _MOST - len(known)])
        if found == before:
            break
    lets = [s for s in walk(program.body) if isinstance(s, n.Let) and s.value.dtype == "bool"]
    return Special(found, {s.name: _compared(s.value) for s in lets})


def _set(s: n.Stmt) -> tuple[str, Expr] | None:
    match s:
        case n.Let(name, value) | n.Assign(name, value) | n.Store(name, _, value) if value.dtype in _BOUNDS:
            return name, value
        case _:
            return None


def _number(e: Const) -> float:
    assert not isinstance(e.value, complex)
    return float(e.value)


def _of(e: Expr, known: Mapping[str, frozenset[float]]) -> Iterator[float]:
    """The constants that may be among the values of `e`."""
    match e:
        case Var(name) | Load(name):
            yield from known.get(name, ())
        case Apply("where" | "maximum" | "minimum" | "fmaximum" | "fminimum" as op, args):
            for x in args[1:] if op == "where" else args:
                if isinstance(x, Const):
                    yield _number(x)
                else:
                    yield from _of(x, known)
        case Apply(op, args, dtype) if dtype in _BOUNDS:
            for x in args:
                yield from _of(x, known)
        case _:
            return


def _compared(condition: Expr) -> frozenset[Expr]:
    return frozenset(e for e in walk_expr(condition) if isinstance(e, (Var, Load)) and e.dtype in _BOUNDS)
