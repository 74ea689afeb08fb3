"""Sums over a window go a tap at a time:

    parallel i: parallel r in 0 .. k: total sum= x[i + r] * w[r]      to      parallel i: for r in 0 .. k: total sum= …

Of both loops at once an array would be made that has all windows; of one it is a slice a tap.
"""

from __future__ import annotations

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Load, Var
from transkern.ir.traverse import exprs, variables_read, walk, with_bodies
from transkern.records import replace


def sum_by_taps(program: n.Program) -> n.Program:
    """The program with such sums in order."""

    def block(statements: tuple[n.Stmt, ...], axes: frozenset[str]) -> tuple[n.Stmt, ...]:
        return tuple(one(s, axes) for s in statements)

    def one(s: n.Stmt, axes: frozenset[str]) -> n.Stmt:
        inner = axes
        if isinstance(s, n.Loop) and s.kind == "parallel":
            if axes and _slides(s, axes):
                return replace(s, kind="sequential")
            inner = axes | {s.axis}
        return with_bodies(s, lambda body: block(body, inner))

    return replace(program, body=block(program.body, frozenset()))


def _slides(s: n.Loop, axes: frozenset[str]) -> bool:
    """Whether a loop adds up floats only, and its axis moves what an outer one walks by one place a step."""
    if s.step != b.ONE or not all(isinstance(x, (n.Let, n.Accumulate)) for x in walk(s.body)):
        return False
    sums = [x for x in walk(s.body) if isinstance(x, n.Accumulate)]
    if not sums or any(x.op != "sum" for x in sums):
        return False
    for e in exprs(s.body):
        for i in e.index if isinstance(e, Load) else ():
            terms, _ = b.affine(i)
            if terms.get(Var(s.axis, "index")) == 1 and any(terms.get(Var(a, "index")) == 1 for a in axes):
                return not any(variables_read(t) & (axes | {s.axis}) for t in terms if not isinstance(t, Var))
    return False
