"""Sums over a window go a tap at a time:

    parallel i: parallel r in 0 .. k: total sum= x[i + r] * w[r]      to      parallel i: for r in 0 .. k: total sum= …

Of both loops at once an array would be made that has all windows; of one it is a slice a tap. A window that says where
it begins (``parallel r in i .. i + k: total sum= x[r]``: `sliding_window_view`) is the same, if its length is the same
for all; under a mask each would go through all of the array.
"""

from __future__ import annotations

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Load, Var
from transkern.ir.traverse import buffers_read, exprs, map_block, variables_read, walk, with_bodies
from transkern.records import replace

_ANY_ORDER = ("sum", "count", "prod", "max", "min", "any", "all")


def sum_by_taps(program: n.Program) -> n.Program:
    """The program with such sums in order."""

    def block(statements: tuple[n.Stmt, ...], axes: frozenset[str]) -> tuple[n.Stmt, ...]:
        return tuple(one(s, axes) for s in statements)

    def one(s: n.Stmt, axes: frozenset[str]) -> n.Stmt:
        inner = axes
        if isinstance(s, n.Loop) and s.kind == "parallel":
            if axes and _moves(s, axes):
                at = b.add(s.start, Var(s.axis, "index"))
                body = map_block(s.body, lambda e: at if e == Var(s.axis, "index") else None)
                return replace(s, start=b.ZERO, stop=b.sub(s.stop, s.start), kind="sequential", body=body)
            if axes and _slides(s, axes):
                return replace(s, kind="sequential")
            inner = axes | {s.axis}
        return with_bodies(s, lambda body: block(body, inner))

    return replace(program, body=block(program.body, frozenset()))


def _moves(s: n.Loop, axes: frozenset[str]) -> bool:
    """Whether a loop only reduces, over a range that begins where an outer axis is, and has one length."""
    if s.step != b.ONE or not all(isinstance(x, (n.Let, n.Accumulate)) for x in walk(s.body)):
        return False
    if any(x.op not in _ANY_ORDER or x.position is not None for x in walk(s.body) if isinstance(x, n.Accumulate)):
        return False
    terms, _ = b.affine(s.start)
    moved = [a for a in axes if a in variables_read(s.start)]
    length = b.sub(s.stop, s.start)
    return (
        len(moved) == 1 and terms.get(Var(moved[0], "index")) == 1 and not variables_read(length) & axes
        and not buffers_read(length) and not any(moved[0] in variables_read(t) for t in terms if not isinstance(t, Var))
    )  # fmt: skip


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
