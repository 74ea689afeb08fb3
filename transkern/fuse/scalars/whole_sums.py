"""Sums of integers that were made floats are added up as integers:

    accumulator total: float64 by sum               accumulator whole: int64 by sum
    parallel k in 0 .. m:                    to     parallel k in 0 .. m:
        total sum= float64(x[k])                        whole sum= int64(x[k])
    mean = total / m                                mean = float64(whole) / m

What sums of floats round, these do not: of float64, where a sum stays below 2^53 whatever may be in memory, nothing is
rounded either way. Integers are added up in any order, in vectors of as many as are narrow (`parts`, `columns`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from transkern.fuse.scalars.narrow import Narrowing, Whole
from transkern.fuse.schedule.columns import is_float_sum
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Var
from transkern.ir.names import Names
from transkern.ir.traverse import map_own, walk, with_bodies
from transkern.records import replace

_TERMS = 2**16
"""What a term is less than: as many as an axis may have (2^47, `intervals.MEMORY`) have a sum of 64 bits."""


def sum_integers(program: n.Program) -> n.Program:
    """The program with such sums of integers."""
    declared = {s.name for s in walk(program.body) if isinstance(s, n.Accumulator) and is_float_sum(s)}
    if not declared:
        return program
    names = Names.of(program)
    state = Narrowing(names)
    terms: dict[str, list[Expr]] = {}
    for s in walk(program.body):
        if isinstance(s, n.Accumulate) and s.name in declared:
            terms.setdefault(s.name, []).append(s.value)
    whole = {
        name: Var(names.fresh(f"{name}_whole"), "int64") for name, values in terms.items()
        if all(_is_small(state.of(e)) for e in values)
    }  # fmt: skip
    return replace(program, body=_changed(program.body, whole, state)) if whole else program


def _is_small(x: Whole | None) -> bool:
    return x is not None and x.dtype is not None and x.leaves > 0 and max(-x.low, x.high) < _TERMS


def _changed(statements: Iterable[n.Stmt], whole: Mapping[str, Var], state: Narrowing) -> tuple[n.Stmt, ...]:
    """The statements with integers in place of the sums that `whole` has names for."""
    def read(e: Expr) -> Expr | None:
        return b.cast(whole[e.name], e.dtype) if isinstance(e, Var) and e.name in whole else None

    def one(s: n.Stmt) -> n.Stmt:
        match s:
            case n.Accumulator(name) if name in whole:
                return replace(s, name=whole[name].name, dtype="int64")
            case n.Accumulate(name, _, value) if name in whole:
                found = state.of(value)
                assert found is not None and found.dtype is not None
                return replace(s, name=whole[name].name, value=b.cast(state.made(value, found.dtype), "int64"))
            case _:
                return with_bodies(map_own(s, read), lambda block: _changed(block, whole, state))

    return tuple(map(one, statements))
