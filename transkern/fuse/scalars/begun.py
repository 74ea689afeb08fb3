"""What a loop in order goes on with is begun in it:

    parallel i in 0 .. n:                            if 0 < n:
        parallel j in 0 .. m:                            parallel j in 0 .. m:
            y[i, j] = b * x[i, j]                            y[0, j] = b * x[0, j]
    for t in 1 .. n:                          to     for t in 1 .. n:
        parallel j in 0 .. m:                            parallel j in 0 .. m:
            y[t, j] = y[t, j] + a * y[t - 1, j]              y[t, j] = b * x[t, j] + a * y[t - 1, j]

An iteration that stores into a row of an array, and reads of it what stood there and rows before it alone, reads each
element as it was made once: it makes it. So an array that is made and then changed in place is the recurrence that it
is, and does not go through memory twice (N8 in `docs/schedule.md`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Reduce, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    buffers_read,
    buffers_used,
    buffers_written,
    map_block,
    scalars_set,
    touched,
    variables_read,
    walk_expr,
    with_bodies,
)
from transkern.records import replace

_FIRST = 4
"""Rows that stay what they were made, at most: what is left of the loop that makes them is short."""


class _Nest(NamedTuple):
    """Loops around one store, which has one of their axes as each of its subscripts."""

    loops: tuple[n.Loop, ...]
    store: n.Store

    def along(self, dim: int) -> n.Loop:
        at = self.store.index[dim]
        return next(loop for loop in self.loops if Var(loop.axis, "index") == at)


def begin_in_order(program: n.Program) -> n.Program:
    """The program with elements made in the loops in order that go on with them."""
    names = Names.of(program)

    def block(statements: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
        out = [with_bodies(s, block) for s in statements]
        out = [with_bodies(s, _conditions) if isinstance(s, n.Loop) and s.kind == "parallel" else s for s in out]
        for k in range(len(out) - 1, -1, -1):
            made = _nest(out[k], "parallel")
            if made is None or program.buffers[made.store.buffer].role == "argument":
                continue
            user = _user(out[k + 1 :], made)
            changed = _begun(made, out[k + 1 + user], names) if user is not None else None
            if user is not None and changed is not None:
                out[k + 1 + user] = changed[1]
                out[k : k + 1] = changed[0]
        return tuple(out)

    return replace(program, body=block(program.body))


def _conditions(block: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
    """The statements of an iteration with conditions for loops of one iteration or none: a first column."""
    return tuple(_once(s, s.body) if isinstance(s, n.Loop) and _is_once(s) else s for s in block)


def _is_once(s: n.Loop) -> bool:
    match s.stop:
        case Apply("minimum", (x, y), "index"):
            return s.step == b.ONE and 1 in (b.difference(x, s.start), b.difference(y, s.start))
        case _:
            return False


def _once(s: n.Loop, body: tuple[n.Stmt, ...]) -> n.Stmt:
    """The first iteration of a loop, if it has one."""
    first = map_block(body, lambda e: s.start if e == Var(s.axis, "index") else None)
    return n.If(b.compare("less", s.start, s.stop), first, (), span=s.span)


def _nest(s: n.Stmt, outermost: str) -> _Nest | None:
    """A statement as loops of single iterations over all axes of one store, the loops inside parallel."""
    loops: list[n.Loop] = []
    while isinstance(s, n.Loop) and len(s.body) == 1 and s.step == b.ONE:
        if s.kind != ("parallel" if loops else outermost):
            return None
        loops.append(s)
        s = s.body[0]
    if not loops or not isinstance(s, n.Store) or len(s.index) != len(loops):
        return None
    axes = {loop.axis for loop in loops}
    bounds = set[str]().union(*(variables_read(x) for loop in loops for x in (loop.start, loop.stop)))
    if bounds & axes or {i.name for i in s.index if isinstance(i, Var)} != axes:
        return None
    return _Nest(tuple(loops), s)


def _user(behind: Sequence[n.Stmt], made: _Nest) -> int | None:
    """The first statement that touches what is made, before which nothing changes that it is made of."""
    read, names = buffers_read(made.store.value), variables_read(made.store.value)
    for k, s in enumerate(behind):
        if made.store.buffer in buffers_used(s) | touched(s):
            return k
        if read & buffers_written(s) or names & scalars_set(s):
            return None
    return None


def _begun(made: _Nest, s: n.Stmt, names: Names) -> tuple[list[n.Stmt], n.Stmt] | None:
    """What is left of the loop that makes the first rows, and the loop in order that makes the others, if it may."""
    used = _nest(s, "sequential")
    buffer = made.store.buffer
    if used is None or used.store.buffer != buffer or any(isinstance(e, Reduce) for e in walk_expr(made.store.value)):
        return None
    if buffer in buffers_read(made.store.value) or made.store.value.dtype != used.store.value.dtype:
        return None
    dims = range(len(made.loops))
    (row,) = (d for d in dims if used.along(d) is used.loops[0])
    if any(used.along(d).stop != made.along(d).stop for d in dims):
        return None
    if any(used.along(d).start != made.along(d).start for d in dims if d != row):
        return None
    first = b.difference(used.loops[0].start, made.along(row).start)
    if first is None or not 0 <= first <= _FIRST or not _reads_behind(used, row):
        return None
    value = b.substitute(made.store.value, {made.along(d).axis: Var(used.along(d).axis, "index") for d in dims})
    own = Load(buffer, used.store.index, used.store.value.dtype)
    named: list[n.Stmt] = []
    if sum(e == own for e in walk_expr(used.store.value)) > 1:
        name = names.fresh(buffer)
        named, value = [n.Let(name, value, span=used.store.span)], Var(name, value.dtype)
    store = replace(used.store, value=b.map_expr(used.store.value, lambda e: value if e == own else None))
    left = [] if first == 0 else [_around(made.loops, (made.store,), made.along(row), used.loops[0].start)]
    return left, _around(used.loops, (*named, store))


def _reads_behind(used: _Nest, row: int) -> bool:
    """Whether a loop in order reads of an array what it stores into, and else rows before it."""
    loads = [e for e in walk_expr(used.store.value) if isinstance(e, Load) and e.buffer == used.store.buffer]
    here = [e for e in loads if e.index == used.store.index]
    back = (b.difference(used.store.index[row], e.index[row]) for e in loads if e.index != used.store.index)
    inner = any(buffers_read(i) for e in loads for i in e.index)
    return bool(here) and not inner and all(distance is not None and distance > 0 for distance in back)


def _around(
    loops: Sequence[n.Loop], body: tuple[n.Stmt, ...], cut: n.Loop | None = None, stop: Expr = b.ZERO
) -> n.Stmt:
    """The loops around statements, one of them no further than to `stop`, of a single iteration a condition."""
    for loop in reversed(loops):
        if loop is not cut:
            body = (replace(loop, body=body),)
        elif b.difference(stop, loop.start) == 1:
            body = (_once(loop, body),)
        else:
            body = (replace(loop, body=body, stop=b.minimum(stop, loop.stop)),)
    return body[0]
