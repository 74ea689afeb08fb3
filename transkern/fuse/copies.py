"""Copies of loops with names of their own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Var
from transkern.ir.names import Names
from transkern.ir.traverse import map_own, walk, with_bodies


def with_own_names(
    loop: n.Loop, names: Names, variables: dict[str, str], private: Iterable[str] = ()
) -> n.Loop:
    """A copy of `loop` whose axes, lets, accumulators and `private` variables bear new names (noted in `variables`)."""
    renamed: dict[str, str] = {}
    for s in walk((loop,)):
        if isinstance(s, (n.Let, n.Accumulator)):
            renamed[s.name] = names.fresh(s.name)
        elif isinstance(s, (n.Loop, n.Scanning, n.Compact)):
            renamed[s.axis] = names.fresh(s.axis)
    for name in sorted(set(private) & set(variables)):
        renamed[name] = names.fresh(name)
        variables[renamed[name]] = variables[name]
    made = with_names((loop,), renamed)[0]
    assert isinstance(made, n.Loop)
    return made


def with_names(block: Iterable[n.Stmt], names: Mapping[str, str]) -> tuple[n.Stmt, ...]:
    """The statements with scalars renamed, where they are read, set and bound."""

    def change(e: Expr) -> Expr | None:
        return Var(names[e.name], e.dtype) if isinstance(e, Var) and e.name in names else None

    out: list[n.Stmt] = []
    for s in block:
        s = map_own(s, change)
        if isinstance(s, (n.Assign, n.Let, n.Accumulator, n.Accumulate)) and s.name in names:
            s = replace(s, name=names[s.name])
        if isinstance(s, (n.Loop, n.Scanning, n.Compact)) and s.axis in names:
            s = replace(s, axis=names[s.axis])
        out.append(with_bodies(s, lambda inner: with_names(inner, names)))
    return tuple(out)
