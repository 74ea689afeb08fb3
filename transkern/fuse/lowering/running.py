"""Running sums, products and extrema written out:

    scanning sum j < m: c[i, j] of x[i, j]      to      total := -0.0
                                                         sequential j in 0 .. m.:
                                                           let total_1 = total + x[i, j]
                                                           c[i, j] = total_1
                                                           total := total_1

On a CPU they are recurrences like all others, and go in lanes over the rows, inside the loops over columns, and with
what reads them. A sum begins with -0.0, which is what adds nothing to each number, -0.0 as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Var
from transkern.ir.names import Names
from transkern.ir.traverse import walk, with_bodies
from transkern.records import replace

STEPS = {"sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum"}
"""What a scan does with what there is so far and a value."""


def write_out_scans(program: n.Program) -> n.Program:
    """The program without `Scanning`."""
    if not any(isinstance(s, n.Scanning) for s in walk(program.body)):
        return program
    return _Writing(program).program()


class _Writing:
    def __init__(self, program: n.Program) -> None:
        self.old, self.names, self.variables = program, Names.of(program), dict(program.variables)

    def program(self) -> n.Program:
        return replace(self.old, body=self.block(self.old.body), variables=self.variables)

    def block(self, statements: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
        return tuple(x for s in statements for x in self.statement(with_bodies(s, self.block)))

    def statement(self, s: n.Stmt) -> tuple[n.Stmt, ...]:
        if not isinstance(s, n.Scanning):
            return (s,)
        dtype = self.old.buffers[s.buffer].dtype
        return written_out(
            s, dtype, self.names, self.variables, lambda total: Apply(STEPS[s.op], (total, s.value), dtype)
        )


def written_out(
    s: n.Scanning, dtype: str, names: Names, variables: dict[str, str], step: Callable[[Expr], Expr]
) -> tuple[n.Stmt, ...]:
    """The loop in order that a scan is, of a `dtype`: `step` makes of what there is so far what comes next. The
    variable that holds it joins `variables`."""
    total, so_far = (Var(names.fresh(s.buffer), dtype) for _ in range(2))
    variables[total.name] = dtype
    body = (
        *s.body,
        n.Let(so_far.name, step(total), span=s.span),
        n.Store(s.buffer, s.index, so_far, span=s.span),
        n.Assign(total.name, so_far, span=s.span),
    )
    loop = n.Loop(s.axis, b.ZERO, s.stop, b.ONE, "sequential", body, span=s.span)
    return n.Assign(total.name, _neutral(s.op, dtype), span=s.span), loop


def _neutral(op: str, dtype: str) -> Expr:
    """What leaves each value as it is."""
    is_float = np.dtype(dtype).kind == "f"
    match op:
        case "sum":
            return Const(-0.0 if is_float else 0, dtype)
        case "prod":
            return Const(1.0 if is_float else 1, dtype)
    if is_float:
        return Const(-np.inf if op == "max" else np.inf, dtype)
    limits = np.iinfo(dtype)
    return Const(int(limits.min if op == "max" else limits.max), dtype)
