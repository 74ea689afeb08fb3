"""What names stand for where a sort is made: those that are set once, and those that a call begins with."""

from __future__ import annotations

from collections import Counter

from transkern.ir import nodes as n
from transkern.ir.expr import Expr
from transkern.ir.traverse import scalars_set, variables_read, walk


def set_once(program: n.Program) -> dict[str, Expr]:
    """The values of names that one statement sets."""
    statements = list(walk(program.body))
    bound = Counter(s.name for s in statements if isinstance(s, (n.Let, n.Assign)))
    return {s.name: s.value for s in statements if isinstance(s, n.Let) and bound[s.name] == 1}


def given(program: n.Program) -> set[str]:
    """Sizes and numbers of the arguments that are the same all the time."""
    arrays = [x for x in program.params if isinstance(x, n.ArrayParam)]
    found = {x.name for x in program.params if isinstance(x, n.ScalarParam)}
    found |= {v for x in arrays for d in x.dims for v in variables_read(d)}
    return found - {name for s in program.body for name in scalars_set(s)}
