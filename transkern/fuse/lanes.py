"""Vector lanes around a recurrence: a loop in order inside a parallel loop goes over a block of lanes at a time.

    parallel j in 0 .. p:                 parallel j_block in 0 .. p by 64:
        s := 0                                parallel j in j_block .. j_block + 64: s[j - j_block] = 0
        for k in 0 .. m:             to       for k in 0 .. m:
            s := s + a[i, k] * b[k, j]            parallel j in …: s[j - j_block] = s[j - j_block] + a[i, k] * b[k, j]
        c[i, j] = s                           parallel j in …: c[i, j] = s[j - j_block]

Iterations of a parallel loop may go in lock-step; each lane still does its own additions in its own order, so that the
result has the same bits. Which of the parallel loops around becomes the lanes is decided by the subscripts: the one
along which most of what the inner loops touch is contiguous.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Const, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    buffers_read,
    buffers_written,
    exprs,
    map_own,
    own_exprs,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)  # fmt: skip

_BYTES = 512
"""Lanes of one block: eight vectors of 64 bytes, enough to hide the latency of an addition."""


def block_lanes(program: n.Program) -> n.Program:
    """The program with blocks of lanes around the loops in order that stand inside parallel loops."""
    state = _Blocking(program)
    body = state.block(program.body)
    return replace(program, body=body, buffers=state.buffers)


class _Blocking:
    def __init__(self, program: n.Program) -> None:
        self.program, self.names = program, Names.of(program)
        self.buffers = dict(program.buffers)

    def block(self, statements: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
        return tuple(x for s in statements for x in self.statement(s))

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if isinstance(s, n.Loop) and s.kind == "parallel":
            nest = _nest(s)
            if _suits(nest[-1]):
                chosen = self.chosen(nest)
                if chosen is not None:
                    return self.nested(chosen)
        return [with_bodies(s, self.block)]

    def chosen(self, nest: Sequence[n.Loop]) -> list[n.Loop] | None:
        """The nest with the best loop for lanes innermost; None where none is contiguous."""
        inner = nest[-1].body
        scores = [_contiguous(loop.axis, inner, self.buffers) for loop in nest]
        best = max(range(len(nest)), key=lambda k: (scores[k], k))
        if scores[best] <= 0:
            return None
        loop = nest[best]
        if b.constant(loop.step) != 1 or not _uniform(loop.axis, inner):
            return None
        if best == len(nest) - 1:
            return list(nest)
        others = [*nest[:best], *nest[best + 1 :]]
        if any(loop.axis in variables_read(x.start) | variables_read(x.stop) for x in others):
            return None  # triangular: the loops cannot change places as they are
        return [*others, loop]

    def nested(self, nest: Sequence[n.Loop]) -> list[n.Stmt]:
        """The loops of `nest`, the last one in blocks of lanes; all have the body of the innermost one."""
        body = next(x.body for x in reversed(nest) if not _is_nest(x.body))
        made = self.lanes(nest[-1], body)
        for loop in reversed(nest[:-1]):
            made = [replace(loop, body=tuple(made))]
        return made

    def lanes(self, loop: n.Loop, body: tuple[n.Stmt, ...]) -> list[n.Stmt]:
        size = b.index(_BYTES // _width(body, self.buffers))
        block = Var(self.names.fresh(f"{loop.axis}_block"))
        rest = b.maximum(b.sub(loop.stop, loop.start), b.ZERO)
        full = b.add(loop.start, b.mul(size, b.floordiv(rest, size)))
        whole = replace(loop, axis=block.name, stop=full, step=size, body=self.split(loop, body, block, size, size))
        known = b.constant(rest)
        out: list[n.Stmt] = []
        if known is None or known >= (b.constant(size) or 1):
            out.append(whole)
        if known is None or known % (b.constant(size) or 1):
            start: Expr = full
            left = b.sub(loop.stop, full)
            tail = self.split(loop, body, start, left, size)
            out.append(n.If(b.compare("less", full, loop.stop), tail, span=loop.span))
        return out

    def split(
        self, loop: n.Loop, body: tuple[n.Stmt, ...], start: Expr, count: Expr, size: Expr
    ) -> tuple[n.Stmt, ...]:
        """`body` for `count` lanes from `start`: runs of plain statements over the lanes, loops in order outside."""
        runs = list(_runs(body))
        where: dict[str, set[int]] = {}
        for k, run in enumerate(runs):
            for name in _scalars(run):
                where.setdefault(name, set()).add(k)
        bound = {s.name: s.value.dtype for s in walk(body) if isinstance(s, n.Let)}
        bound |= {s.name: self.program.variables[s.name] for s in walk(body) if isinstance(s, n.Assign)}
        uniform = _uniform_lets(loop.axis, body)
        spread: dict[str, str] = {}
        out: list[n.Stmt] = []
        for name, dtype in bound.items():
            if name not in uniform and len(where.get(name, ())) > 1:
                buffer = self.names.fresh(f"{name}_lanes")
                self.buffers[buffer] = n.Buffer(buffer, dtype, (size,), line=loop.span.line)
                spread[name] = buffer
                out.append(n.Alloc(buffer, span=loop.span))
        lane = b.sub(Var(loop.axis), start)
        stop = b.add(start, count)

        def over(run: Sequence[n.Stmt]) -> n.Stmt:
            inner = tuple(_spread(s, spread, lane) for s in run)
            return n.Loop(loop.axis, start, stop, b.ONE, "parallel", inner, span=run[0].span)

        out += _divided(body, over, uniform)
        return tuple(out)


def _is_nest(body: tuple[n.Stmt, ...]) -> bool:
    return len(body) == 1 and isinstance(body[0], n.Loop) and body[0].kind == "parallel"


def _nest(s: n.Loop) -> list[n.Loop]:
    """Parallel loops, each the only statement of the one around it."""
    found = [s]
    while _is_nest(found[-1].body):
        inner = found[-1].body[0]
        assert isinstance(inner, n.Loop)
        found.append(inner)
    return found


def _suits(loop: n.Loop) -> bool:
    """Whether the body of the innermost parallel loop is plain statements and loops in order."""
    inner = list(walk(loop.body))
    if not any(isinstance(s, n.Loop) for s in inner):
        return False
    for s in inner:
        match s:
            case n.Loop(kind="sequential") | n.Let() | n.Assign() | n.Store():
                pass
            case n.If():
                if any(isinstance(x, n.Loop) for x in walk((*s.then, *s.orelse))):
                    return False
            case _:
                return False
    return True


def _uniform(axis: str, body: Sequence[n.Stmt]) -> bool:
    """Whether the loops in `body` have the same bounds for every value of `axis`."""
    fixed = _uniform_lets(axis, body)
    changing = {name for s in body for name in scalars_set(s)} - fixed
    written = {name for s in body for name in buffers_written(s)}
    loops = [s for s in walk(body) if isinstance(s, n.Loop)]
    return all(
        not variables_read(e) & (changing | {axis}) and not buffers_read(e) & written
        for s in loops for e in (s.start, s.stop)
    )  # fmt: skip


def _uniform_lets(axis: str, body: Sequence[n.Stmt]) -> set[str]:
    """The lets that have one value for all lanes: they stay scalars."""
    written = {name for s in body for name in buffers_written(s)}
    assigned = {s.name for s in walk(body) if isinstance(s, n.Assign)}
    found: set[str] = set()
    moving = {axis} | assigned
    for s in walk(body):
        if isinstance(s, n.Let):
            if not variables_read(s.value) & moving and not buffers_read(s.value) & written and s.name not in assigned:
                found.add(s.name)
            else:
                moving.add(s.name)
    branches = [x for s in walk(body) if isinstance(s, n.If) for x in walk((*s.then, *s.orelse))]
    return found - {x.name for x in branches if isinstance(x, n.Let)}


def _runs(body: Iterable[n.Stmt]) -> Iterator[list[n.Stmt]]:
    """Maximal runs of statements without loops, at every depth."""
    run: list[n.Stmt] = []
    for s in body:
        if isinstance(s, n.Loop):
            if run:
                yield run
            run = []
            yield from _runs(s.body)
        else:
            run.append(s)
    if run:
        yield run


def _scalars(run: Iterable[n.Stmt]) -> set[str]:
    return {e.name for e in exprs(run) if isinstance(e, Var)} | {name for s in run for name in scalars_set(s)}


def _divided(body: Iterable[n.Stmt], over: object, uniform: set[str]) -> list[n.Stmt]:
    out: list[n.Stmt] = []
    run: list[n.Stmt] = []

    def flush() -> None:
        if run:
            out.append(over(tuple(run)))  # type: ignore[operator]
            run.clear()

    for s in body:
        if isinstance(s, n.Loop):
            flush()
            out.append(replace(s, body=tuple(_divided(s.body, over, uniform))))
        elif isinstance(s, n.Let) and s.name in uniform:
            flush()
            out.append(s)
        else:
            run.append(s)
    flush()
    return out


def _spread(s: n.Stmt, spread: dict[str, str], lane: Expr) -> n.Stmt:
    """The statement with scalars that live longer than one run in their lanes."""

    def change(e: Expr) -> Expr | None:
        return Load(spread[e.name], (lane,), e.dtype) if isinstance(e, Var) and e.name in spread else None

    s = map_own(s, change)
    if isinstance(s, (n.Let, n.Assign)) and s.name in spread:
        return n.Store(spread[s.name], (lane,), s.value, span=s.span)
    return with_bodies(s, lambda inner: tuple(_spread(x, spread, lane) for x in inner))


def _contiguous(axis: str, body: Sequence[n.Stmt], buffers: dict[str, n.Buffer]) -> int:
    """How many accesses inside the loops of `body` are contiguous along `axis`, less those that are far apart."""
    score = 0
    for loop in (s for s in walk(body) if isinstance(s, n.Loop)):
        for s in loop.body:
            if isinstance(s, n.Loop):
                continue
            for index, info in _accesses(s, buffers):
                used = [k for k, i in enumerate(index) if axis in variables_read(i)]
                if not used:
                    continue
                terms, _ = b.affine(index[-1])
                unit = used == [len(index) - 1] and len(index) == len(info.dims) and terms.get(Var(axis)) in (1, -1)
                score += 1 if unit and info.layout == "C" else -1
    return score


def _accesses(s: n.Stmt, buffers: dict[str, n.Buffer]) -> Iterator[tuple[tuple[Expr, ...], n.Buffer]]:
    for x in walk((s,)):
        for own in own_exprs(x):
            for e in walk_expr(own):
                if isinstance(e, Load) and e.index and e.buffer in buffers:
                    yield e.index, buffers[e.buffer]
        if isinstance(x, n.Store) and x.index and x.buffer in buffers:
            yield x.index, buffers[x.buffer]


def _width(body: Iterable[n.Stmt], buffers: dict[str, n.Buffer]) -> int:
    """Bytes of the widest number that the body computes with."""
    widths = [
        np.dtype(e.dtype).itemsize for e in exprs(body)
        if not isinstance(e, Const) and e.dtype not in ("index", "bool")
    ]  # fmt: skip
    widths += [np.dtype(buffers[name].dtype).itemsize for s in body for name in buffers_written(s) if name in buffers]
    return max(widths, default=8)
