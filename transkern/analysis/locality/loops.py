"""Loops whose iterations know nothing of each other: what they set, and what is theirs alone."""

from __future__ import annotations

from collections.abc import Iterable

from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load
from transkern.ir.traverse import alone, buffers_used, own_exprs, result_buffers, scalars_used, walk, walk_expr


def breaks(body: Iterable[n.Stmt]) -> bool:
    """Whether a loop may be left by its own body."""
    for s in body:
        if isinstance(s, n.Break):
            return True
        if isinstance(s, n.If) and (breaks(s.then) or breaks(s.orelse)):
            return True
    return False


def places(inside: Iterable[n.Stmt], name: str) -> Iterable[tuple[Expr, ...]]:
    """The subscripts with which a buffer is read or stored into."""
    for s in inside:
        if isinstance(s, (n.Store, n.Write)) and s.buffer == name:
            yield s.index
        for e in own_exprs(s):
            for x in walk_expr(e):
                if isinstance(x, Load) and x.buffer == name:
                    yield x.index


def holds(outer: n.Stmt, inner: n.Stmt) -> bool:
    return any(x is inner for x in walk((outer,)))


def returned(program: n.Program) -> set[str]:
    return {name for s in walk(program.body) if isinstance(s, n.Return) for name in result_buffers(s.result)}


def only_checked(program: n.Program) -> set[str]:
    """Names that nothing but checks uses."""
    checks: set[str] = set()
    others: set[str] = set()
    for s in walk(program.body):
        (checks if isinstance(s, n.Guard) else others).update(scalars_used(alone(s)))
    return checks - others


def made_inside(program: n.Program, s: n.Loop) -> set[str]:
    """Buffers that each iteration makes anew before it uses them, and nobody else uses."""
    made: set[str] = set()
    used: set[str] = set()
    for x in s.body:
        new = {x.buffer} if isinstance(x, (n.Define, n.Alloc)) else set()
        new |= set(x.outs) if isinstance(x, n.Library) else set(x.outputs) if isinstance(x, n.Filter) else set()
        made |= new - used
        used |= set(buffers_used(x))
    others = [x for x in walk(program.body) if x is not s and not holds(x, s) and not holds(s, x)]
    return made - {name for x in others for name in buffers_used(x)} - returned(program)


def used_elsewhere(program: n.Program, s: n.Loop) -> set[str]:
    inside = {id(x) for x in walk((s,))}
    return {name for x in walk(program.body) if id(x) not in inside and not holds(x, s)
            for name in scalars_used(x)}  # fmt: skip
