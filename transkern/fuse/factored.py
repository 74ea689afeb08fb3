"""What no loop changes is computed before all of them, once:

                                                       let part = exp(-dt / tau)
    for t in 0 .. steps:                               for t in 0 .. steps:
        parallel i in 0 .. n:             to               parallel i in 0 .. n:
            v[i] = v[i] * exp(-dt / tau)                       v[i] = v[i] * part

Spellings that name such a number and those that write it out are one program then. It is a float, and of arguments and
of numbers computed before: no check belongs to it, and to compute it where no loop runs does no harm. What some of the
loops change stays where it stands: compilers move it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Var
from transkern.ir.names import Names
from transkern.ir.traverse import map_own, scalars_set, variables_read, walk, walk_expr, with_bodies

_VALUES = (n.Let, n.Assign, n.Store, n.Accumulate, n.If, n.While, n.Compact, n.Scanning)
_LOOPS = (n.Loop, n.While, n.Compact, n.Scanning)


def factor_out(program: n.Program) -> n.Program:
    """The program with the numbers that its loops do not change before them."""
    if program.warns:  # NumPy warns of what it computes, and only of that
        return program
    return replace(program, body=_Factoring(Names.of(program)).block(program.body, None))


@dataclass
class _Loops:
    """Loops in each other: what they change, and what is computed before them."""

    changed: frozenset[str]
    before: list[n.Stmt] = field(default_factory=list)
    known: dict[Expr, str] = field(default_factory=dict)


class _Factoring:
    def __init__(self, names: Names) -> None:
        self.names = names

    def block(self, statements: Sequence[n.Stmt], around: _Loops | None) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in statements:
            loops = around
            if around is None and isinstance(s, _LOOPS):
                axes = {x.axis for x in walk((s,)) if isinstance(x, (n.Loop, n.Compact, n.Scanning))}
                loops = _Loops(scalars_set(s) | axes)
            made = with_bodies(s, lambda inner, loops=loops: self.block(inner, loops))  # type: ignore[misc]
            if loops is not None and isinstance(s, _VALUES):
                made = map_own(made, lambda e, loops=loops, s=s: self.factored(e, loops, s))  # type: ignore[misc]
            if loops is not around and loops is not None:
                out += loops.before
            out.append(made)
        return tuple(out)

    def factored(self, e: Expr, loops: _Loops, s: n.Stmt) -> Expr | None:
        if not isinstance(e, Apply) or e.op == "cast" or not _is_of_floats(e):
            return None
        read = variables_read(e)
        if not read or read & loops.changed:
            return None
        if e not in loops.known:
            loops.known[e] = self.names.fresh("part")
            loops.before.append(n.Let(loops.known[e], e, span=s.span))
        return Var(loops.known[e], e.dtype)


def _is_of_floats(e: Apply) -> bool:
    """Whether an expression is a number, and all that it computes are floats or what comparisons of them say."""
    if e.dtype not in ("float64", "float32"):
        return False
    for x in walk_expr(e):
        match x:
            case Apply("cast", (Var() | Const(),), _) | Var() | Const():
                pass
            case Apply(_, args, dtype):
                if dtype not in ("float64", "float32", "bool") or any(a.dtype == "float16" for a in args):
                    return False
            case _:
                return False
    return True
