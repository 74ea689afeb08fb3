"""Loops that may begin near the last integer of 64 bits count their iterations instead:

    parallel i in c .. c + n.:                 parallel i in 0 .. n.:
        x[i - c] = f(i)              to            x[i] = f(c + i)

A thread begins with the iteration that has its number, and goes on by the number of threads: both would lie beyond the
last integer for a `c` of 2⁶³ - 1000, and what lies beyond it is negative, and less than any end. Where an iteration
accesses an array at its own number, or a few elements from it, the loop begins near enough to an array's begin.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    buffers_read,
    buffers_written,
    map_block,
    own_exprs,
    scalars_set,
    variables_read,
    walk,
    with_bodies,
)

_LAZY = ("where", "and_then", "or_else")
"""Operations that compute their first operand in any case."""


def count_iterations(program: n.Program) -> n.Program:
    """The program with such loops in kernels begun at 0."""
    far, names = _far(program), Names.of(program)

    def block(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in statements:
            s = with_bodies(s, block)
            out += _counted(s, names) if isinstance(s, n.Loop) and _begins_far(s, far) else (s,)
        return tuple(out)

    def kernels(statements: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        return tuple(
            replace(s, body=block(s.body)) if isinstance(s, n.Kernel) else with_bodies(s, kernels) for s in statements
        )

    return replace(program, body=kernels(program.body))


def _far(program: n.Program) -> AbstractSet[str]:
    """The names of integers of which nothing is known: the caller's, what arrays hold, and what is made of either."""
    found = {p.name for p in program.params if isinstance(p, n.ScalarParam)}
    while True:
        before = len(found)
        for s in walk(program.body):
            if isinstance(s, (n.Let, n.Assign, n.Accumulate)) and _is_far(s.value, found):
                found.add(s.name)
            elif isinstance(s, n.Loop) and _begins_far(s, found):
                found.add(s.axis)
        if len(found) == before:
            return found


def _is_far(e: Expr, far: AbstractSet[str]) -> bool:
    return bool(variables_read(e) & far or buffers_read(e))


def _begins_far(s: n.Loop, far: AbstractSet[str]) -> bool:
    if not _is_far(s.start, far) or b.constant(s.step) not in (1, -1):
        return False
    own, inner = Var(s.axis, "index"), far | {x.name for x in walk(s.body) if isinstance(x, n.Let)}
    for index in _accessed(s.body):
        for e in index:
            terms, _ = b.affine(e)
            if terms.get(own) == 1 and not any(_is_far(t, inner) for t in terms if t != own):
                return False
    return True


def _accessed(block: Iterable[n.Stmt]) -> Iterator[tuple[Expr, ...]]:
    """The subscripts that are accessed whatever data say."""

    def of(e: Expr) -> Iterator[tuple[Expr, ...]]:
        if isinstance(e, Load):
            yield e.index
        elif isinstance(e, Apply):
            for x in e.args[:1] if e.op in _LAZY else e.args:
                yield from of(x)

    for s in block:
        for e in own_exprs(s):
            yield from of(e)
        if isinstance(s, n.Store):
            yield s.index
        if isinstance(s, n.Loop):
            yield from _accessed(s.body)


def _counted(s: n.Loop, names: Names) -> tuple[n.Stmt, ...]:
    """The loop from 0 on. Its begin has a name where that takes a load, or the loop changes what it is made of."""
    before: tuple[n.Stmt, ...] = ()
    first, own = s.start, Var(s.axis, "index")
    changed = variables_read(first) & {name for x in s.body for name in scalars_set(x)}
    if changed or buffers_read(first) or buffers_written(s) & buffers_read(first):
        name = names.fresh(f"{s.axis}_first")
        before, first = (n.Let(name, first, span=s.span),), Var(name, "index")
    up = b.constant(s.step) == 1
    at = b.add(first, own) if up else b.sub(first, own)
    low, high = (first, s.stop) if up else (s.stop, first)
    count = b.where(b.compare("less", low, high), b.sub(high, low), b.ZERO)
    body = map_block(s.body, lambda e: at if e == own else None)
    return *before, replace(s, start=b.ZERO, stop=count, step=b.ONE, body=body)
