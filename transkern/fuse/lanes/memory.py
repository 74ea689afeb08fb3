"""What the lanes of a body touch: in one line of memory or far apart, and how wide its numbers are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.storage import itemsize
from transkern.ir.traverse import (
    buffers_read,
    buffers_written,
    exprs,
    own_exprs,
    places_named,
    variables_read,
    walk,
    walk_expr,
)  # fmt: skip

VECTOR = 64
"""Bytes of a vector."""


def touched_in_loops(
    body: Sequence[n.Stmt], buffers: dict[str, n.Buffer]
) -> Iterator[tuple[tuple[Expr, ...], n.Buffer]]:
    """What the loops of `body` load and store: subscripts, with what names in them stand for, and arrays."""
    for loop in (s for s in walk(body) if isinstance(s, n.Loop)):
        known = places_named((*body, *loop.body))
        for s in loop.body:
            if not isinstance(s, n.Loop):
                for index, info in accesses(s, buffers):
                    yield tuple(b.substitute(i, known) for i in index) if known else index, info


def contiguous(axis: str, body: Sequence[n.Stmt], buffers: dict[str, n.Buffer]) -> int:
    """How many accesses inside the loops of `body` are contiguous along `axis`, less those that are far apart."""
    return _score(axis, touched_in_loops(body, buffers))


def _score(axis: str, touched: Iterable[tuple[tuple[Expr, ...], n.Buffer]]) -> int:
    score = 0
    for index, info in touched:
        used = [k for k, i in enumerate(index) if axis in variables_read(i)]
        if not used:
            continue
        terms, _ = b.affine(index[-1])
        unit = used == [len(index) - 1] and len(index) in (1, len(info.dims)) and terms.get(Var(axis)) in (1, -1)
        score += 1 if unit and info.layout == "C" else -1
    return score


def slides(axis: str, s: n.Loop, buffers: dict[str, n.Buffer]) -> bool:
    """Whether all that a loop reads along `axis` is contiguous, and some of it moves along with the loop itself. What
    is looked up at places that are read lies apart along any axis. Where subscripts decide about a term (`windows.py`:
    the borders), there is little of it."""
    asked = (e for e in exprs(s.body) if isinstance(e, Apply) and e.dtype == "bool" and e.args[0].dtype == "index")
    if any(axis in variables_read(e) for e in asked):
        return False
    every = touched_in_loops((s,), buffers)
    moving = [
        (index, info) for index, info in every
        if any(axis in variables_read(i) for i in index) and not any(map(buffers_read, index))
    ]  # fmt: skip
    if not moving or _score(axis, moving) != len(moving):
        return False
    return any({Var(axis, "index"), Var(s.axis, "index")} <= b.affine(index[-1])[0].keys() for index, _ in moving)


def lies_apart(axis: str, s: n.Loop, buffers: dict[str, n.Buffer]) -> bool:
    """Whether all that a loop reads along `axis` is contiguous, and some of it lies apart along the loop itself: an
    axis that only stretches the rest of it has that in a register."""
    every = list(touched_in_loops((s,), buffers))

    def along(of: str) -> list[tuple[tuple[Expr, ...], n.Buffer]]:
        return [(index, info) for index, info in every if any(of in variables_read(i) for i in index)]

    side_by_side, own = along(axis), along(s.axis)
    return 0 < _score(axis, side_by_side) == len(side_by_side) and _score(s.axis, own) < len(own)


def accesses(s: n.Stmt, buffers: dict[str, n.Buffer]) -> Iterator[tuple[tuple[Expr, ...], n.Buffer]]:
    for x in walk((s,)):
        for own in own_exprs(x):
            for e in walk_expr(own):
                if isinstance(e, Load) and e.index and e.buffer in buffers:
                    yield e.index, buffers[e.buffer]
        if isinstance(x, n.Store) and x.index and x.buffer in buffers:
            yield x.index, buffers[x.buffer]


def narrowest(axis: str, body: Iterable[n.Stmt]) -> int:
    """Bytes of the narrowest number that the body reads along an axis."""
    loads = (e for e in exprs(body) if isinstance(e, Load))
    return min((itemsize(e.dtype) for e in loads if any(axis in variables_read(i) for i in e.index)), default=8)


def widest(body: Iterable[n.Stmt], buffers: dict[str, n.Buffer]) -> int:
    """Bytes of the widest number that the body computes with: subscripts are none, positions that it holds are."""
    widths = [
        itemsize(e.dtype) for e in exprs(body)
        if not isinstance(e, Const) and e.dtype != "index"
    ]  # fmt: skip
    widths += [itemsize(s.value.dtype) for s in walk(body) if isinstance(s, n.Assign)]
    written = [buffers[name].dtype for s in body for name in buffers_written(s) if name in buffers]
    widths += [itemsize(dtype) for dtype in written]
    return max(widths, default=8)
