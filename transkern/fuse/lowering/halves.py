"""float16 as NumPy computes with it, in float32 and rounded after each operation:

    y[i] = ((x[i] * x[i]) + c)      to      y[i] = float16((float32(float16((float32(x[i]) * float32(x[i]))))
                                                            + float32(c)))

Behind this pass a float16 is stored, chosen and cast, and nothing else but `nextafter` computes with one. Sums,
products and extrema are taken in float32 and rounded at the end, as NumPy's are; running ones are rounded at each step.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from transkern.fuse.lowering.running import STEPS, written_out
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Var
from transkern.ir.names import Names
from transkern.ir.traverse import exprs, map_own, walk, with_bodies
from transkern.records import replace

HALF, WIDE = "float16", "float32"
_ON_HALVES = ("where", "positive", "nextafter")


def round_halves(program: n.Program) -> n.Program:
    """The program without arithmetic on float16."""
    held = {s.name for s in walk(program.body) if isinstance(s, n.Accumulator) and s.dtype == HALF}
    if not held and not any(e.dtype == HALF for e in exprs(program.body)):
        return program
    return _Rounding(program, held).program()


class _Rounding:
    def __init__(self, program: n.Program, held: set[str]) -> None:
        self.old, self.names, self.held = program, Names.of(program), held
        self.variables = dict(program.variables)

    def program(self) -> n.Program:
        body = self.block(self.old.body)
        return replace(self.old, body=body, variables=self.variables)

    def block(self, statements: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
        return tuple(x for s in statements for x in self.statement(s))

    def statement(self, s: n.Stmt) -> Sequence[n.Stmt]:
        s = with_bodies(map_own(s, self.rounded), self.block)
        match s:
            case n.Accumulator(dtype="float16"):
                return (replace(s, dtype=WIDE),)
            case n.Accumulate(value=value) if value.dtype == HALF:
                return (replace(s, value=_wide(value)),)
            case n.Scanning() if self.old.buffers[s.buffer].dtype == HALF:
                return self.running(s)
            case _:
                return (s,)

    def running(self, s: n.Scanning) -> Sequence[n.Stmt]:
        """The loop in order that a running operation is."""

        def step(total: Expr) -> Expr:
            operands = (_wide(total), _wide(s.value))
            if s.op in ("max", "min"):  # of two zeros the first, as of two operands
                operands = operands[::-1]
            return _narrow(Apply(STEPS[s.op], operands, WIDE))

        return written_out(s, HALF, self.names, self.variables, step)

    def rounded(self, e: Expr) -> Expr | None:
        """`e` with what it computes in float16 computed in float32."""
        match e:
            case Var(name, "float16") if name in self.held:
                return _narrow(Var(name, WIDE))
            case Apply("cast", (x,), dtype) if HALF in (x.dtype, dtype):
                return _cast(self.of(x), dtype)
            case Apply(op, args, dtype) if op not in _ON_HALVES and any(a.dtype == HALF for a in args):
                operands = tuple(_wide(self.of(a)) for a in args)
                if op in ("maximum", "minimum"):  # of two zeros the first: NumPy has no vectors for these
                    operands = operands[::-1]
                made = Apply(op, operands, WIDE if dtype == HALF else dtype)
                return _narrow(made) if dtype == HALF else made
            case _:
                return None

    def of(self, e: Expr) -> Expr:
        return b.map_expr(e, self.rounded)


def _wide(e: Expr) -> Expr:
    """A float16 as a float32; other operands, as the exponent of `ldexp` is one, stay."""
    if e.dtype != HALF:
        return e
    if isinstance(e, Const):
        return Const(float(np.float16(e.value)), WIDE)  # type: ignore[arg-type]
    return Apply("cast", (e,), WIDE)


def _narrow(e: Expr) -> Expr:
    return Apply("cast", (e,), HALF)


def _cast(x: Expr, dtype: str) -> Expr:
    """A cast from or to float16: integers go by float32, which holds all that a float16 does."""
    if x.dtype == dtype:
        return x
    if x.dtype == HALF:
        x = _wide(x)
        return x if dtype == WIDE else Apply("cast", (x,), dtype)
    if x.dtype not in (WIDE, "float64"):
        x = Apply("cast", (x,), WIDE)
    return _narrow(x)
