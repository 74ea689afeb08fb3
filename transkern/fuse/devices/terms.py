"""What takes a processor long, and is the same for all elements of a row, is computed once before them:

    parallel i in 0 .. n:                              parallel i in 0 .. n:
        parallel j in 0 .. m: s sum= …                     parallel j in 0 .. m: s sum= …
        parallel j in 0 .. m:                   to         term = sqrt(s / m + 1e-5)
            y[i, j] = x[i, j] / sqrt(s / m + 1e-5)         parallel j in 0 .. m: y[i, j] = x[i, j] / term

- *Property.* A value of floats in a loop inside a kernel reads nothing that the loop sets, and no memory.
- *Legality.* Floats raise nothing: it does no harm where the loop does not run, or would not come by.
- *Schedule.* Roots, quotients and functions are tens of instructions each, with branches for special cases, out of
  which no compiler takes them where a loop is unrolled. A nest stays one: the value goes in front of all its loops, and
  only where other statements stand beside them anyway.
"""

from __future__ import annotations

from collections.abc import Sequence

from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.ops import OPS
from transkern.ir.traverse import map_own, own_exprs, scalars_set, variables_read, walk, walk_expr, with_bodies
from transkern.records import replace

_WORTH = 4
"""Additions that a value costs at least."""


def compute_terms_once(program: n.Program) -> n.Program:
    """The program whose kernels compute such values before the loops that need them."""
    state = _Terms(Names.of(program))
    body = tuple(map(state.kernels, program.body))
    return replace(program, body=body) if state.made else program


class _Terms:
    def __init__(self, names: Names) -> None:
        self.names, self.made = names, 0

    def kernels(self, s: n.Stmt) -> n.Stmt:
        if not isinstance(s, n.Kernel):
            return with_bodies(s, lambda body: tuple(map(self.kernels, body)))
        return with_bodies(s, lambda body: tuple(with_bodies(x, self.block) for x in body))

    def block(self, body: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in body:
            if isinstance(s, n.Loop) and len(body) > 1:
                terms, s = self.before(s)
                out += terms
            out.append(with_bodies(s, self.block))
        return tuple(out)

    def before(self, loop: n.Loop) -> tuple[list[n.Stmt], n.Stmt]:
        """What goes before the loop, and the loop that reads it."""
        moving = scalars_set(loop) | {s.axis for s in walk((loop,)) if isinstance(s, (n.Loop, n.Scanning))}
        moving |= {s.name for s in walk((loop,)) if isinstance(s, (n.Let, n.Accumulator))}
        found: dict[Expr, n.Let] = {}

        def named(e: Expr) -> Expr | None:
            if not _is_costly(e) or variables_read(e) & moving:
                return None
            if e not in found:
                found[e] = n.Let(self.names.fresh("term"), e, span=loop.span)
            return Var(found[e].name, e.dtype)

        def statement(s: n.Stmt) -> n.Stmt:
            s = with_bodies(s, lambda body: tuple(map(statement, body)))
            return map_own(s, named) if any(isinstance(e, Apply) for e in own_exprs(s)) else s

        after = with_bodies(loop, lambda body: tuple(map(statement, body)))
        self.made += len(found)
        return [*found.values()], after if found else loop


def _is_costly(e: Expr) -> bool:
    """Whether it is a value of floats that costs more than a few additions and can be computed anywhere."""
    if not isinstance(e, Apply) or not e.dtype.startswith("float") or not variables_read(e):
        return False
    parts = [*walk_expr(e)]
    if any(isinstance(x, Load) or (isinstance(x, Apply) and not _is_harmless(x)) for x in parts):
        return False
    return sum(OPS[x.op].cost for x in parts if isinstance(x, Apply)) >= _WORTH


def _is_harmless(e: Apply) -> bool:
    return e.op in OPS and (e.dtype.startswith("float") or e.op not in ("floor_divide", "remainder", "power"))
