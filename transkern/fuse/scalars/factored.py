"""What no loop changes is computed before all of them, once; what some of them change, before those that do not:

                                                       let part = exp(-dt / tau)
    for t in 0 .. steps:                               for t in 0 .. steps:
        parallel i in 0 .. n:             to               parallel i in 0 .. n:
            v[i] = v[i] * exp(-dt / tau)                       v[i] = v[i] * part

Spellings that name such a number, in the loop or before it, and those that write it out are one program then. It is a
float, and of arguments and of numbers computed before: no check belongs to it, and to compute it where no loop runs
does no harm. Nests of parallel loops stay nests: nothing goes between two of them that stand in each other alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Var
from transkern.ir.names import Names
from transkern.ir.traverse import map_own, scalars_set, variables_read, walk, walk_expr, with_bodies
from transkern.records import replace

_VALUES = (n.Let, n.Assign, n.Store, n.Accumulate, n.If, n.While, n.Compact, n.Scanning)
_LOOPS = (n.Loop, n.While, n.Compact, n.Scanning)


def factor_out(program: n.Program) -> n.Program:
    """The program with the numbers that its loops do not change before them."""
    if program.warns:  # NumPy warns of what it computes, and only of that
        return program
    return replace(program, body=_Factoring(Names.of(program)).block(program.body, ()))


@dataclass
class _Loops:
    """A loop, and those in it: what they change, and what is computed before them."""

    changed: set[str]
    before: list[n.Stmt] = field(default_factory=list)
    known: dict[Expr, str] = field(default_factory=dict)


class _Factoring:
    def __init__(self, names: Names) -> None:
        self.names = names
        self.computed: dict[Expr, Expr] = {}  # what a name in a loop stands for, if that is computed before it

    def block(self, statements: Sequence[n.Stmt], around: tuple[_Loops, ...], nest: bool = False) -> tuple[n.Stmt, ...]:
        """The statements; `around` are the loops around them, from outside; `nest`: they stand in a parallel loop."""
        out: list[n.Stmt] = []
        for s in statements:
            loops = around
            if isinstance(s, _LOOPS) and not (nest and len(statements) == 1):
                inside = list(walk((s,)))
                axes = {x.axis for x in inside if isinstance(x, (n.Loop, n.Compact, n.Scanning))}
                axes |= {a.name for x in inside if isinstance(x, n.Compact) for a in x.inner}
                loops = (*around, _Loops({*scalars_set(s), *axes}))
            is_parallel = isinstance(s, n.Loop) and s.kind == "parallel"
            made = with_bodies(s, partial(self.block, around=loops, nest=is_parallel))
            if loops and self.computed:
                made = map_own(made, self.computed.get)
            if loops and isinstance(s, _VALUES):
                made = map_own(made, partial(self.factored, around=loops, s=s))
            if isinstance(made, n.Let) and made != s and _is_before(made.value, loops):
                self.computed[Var(made.name, made.value.dtype)] = made.value
            if loops is not around:
                out += loops[-1].before
            out.append(made)
        return tuple(out)

    def factored(self, e: Expr, around: tuple[_Loops, ...], s: n.Stmt) -> Expr | None:
        if not isinstance(e, Apply) or e.op == "cast" or not _is_of_floats(e):
            return None
        read = variables_read(e)
        loops = next((x for x in around if not read & x.changed), None)
        if not read or loops is None:
            return None
        if e not in loops.known:
            name = loops.known[e] = self.names.fresh("part")
            loops.before.append(n.Let(name, e, span=s.span))
            for x in itertools.takewhile(lambda x: x is not loops, around):  # the loops in which it stands change it
                x.changed.add(name)
        return Var(loops.known[e], e.dtype)


def _is_before(e: Expr, loops: Sequence[_Loops]) -> bool:
    return isinstance(e, Var) and any(e.name in x.known.values() for x in loops)


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
