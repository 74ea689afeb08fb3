"""Loops over elements go through memory as it lies, and arrays of a function's own lie as loops go through them:

    parallel i < m:                                  parallel j < n:
        parallel j < n: e[i, j] = exp(x[j, i])           parallel i < m: e[j, i] = exp(x[j, i])
    parallel j < n:                           to     parallel j < n:
        parallel i < m: c[j, i] = e[i, j] / s[j]         parallel i < m: c[j, i] = e[j, i] / s[j]

which then fuse. An array statement says in which order its axes are numbered, not in which order its elements are
computed, nor how an array that nobody sees is held. Arguments and results are where the caller has them: a nest takes
the axis inside along which most of those lie side by side. An array of the function's own is turned if all nests go
along another axis of it than its last; reductions have no say, as their columns go in lanes (`order_columns`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load
from transkern.ir.traverse import (
    buffers_read,
    buffers_written,
    exprs,
    map_block,
    own_exprs,
    result_buffers,
    stride_along,
    variables_read,
    walk,
    with_bodies,
)
from transkern.records import replace

_STORED = 1.5
"""How much more a line costs that is written in part than one of which a part is read."""

_ELEMENTS = (n.Store, n.Let, n.Assign, n.If, n.Guard, n.Loop, n.While, n.Accumulate, n.Accumulator, n.Alloc)
"""What touches arrays by their elements, if at all; for others an array is memory."""

_Place = tuple[str, tuple[Expr, ...], bool]  # of which array, its subscripts, whether it is stored into


def lay_out(program: n.Program) -> n.Program:
    """The program with nests of parallel loops, and arrays of its own, turned to each other."""
    if not any(isinstance(s, n.Loop) and len(_nest(s)) > 1 for s in walk(program.body)):
        return program
    own = _own(program)
    body = _ordered(program.body, own)
    turned = _along(body, own)
    if not turned:
        return program if body == program.body else replace(program, body=body)
    buffers = dict(program.buffers)
    for name, axis in turned.items():
        buffers[name] = replace(buffers[name], dims=_moved(buffers[name].dims, axis))

    def loads(e: Expr) -> Expr | None:
        if not isinstance(e, Load) or e.buffer not in turned:
            return None
        return Load(e.buffer, _moved(tuple(b.map_expr(i, loads) for i in e.index), turned[e.buffer]), e.dtype)

    return replace(program, buffers=buffers, body=_stored(map_block(body, loads), turned))


def _own(program: n.Program) -> set[str]:
    """Arrays of the function's own that are touched by their elements alone, each by its place on all axes."""
    own = {
        name for name, buffer in program.buffers.items()
        if buffer.role == "temporary" and len(buffer.dims) > 1 and not buffer.element and buffer.layout == "C"
    }  # fmt: skip
    for s in walk(program.body):
        if not isinstance(s, _ELEMENTS):
            own -= {x for e in own_exprs(s) for x in buffers_read(e)} | set(buffers_written(s))
            own -= set(s.ins) if isinstance(s, n.Library) else set()
            own -= result_buffers(s.result) if isinstance(s, n.Return) else set()
    for name, index, _ in _places(program.body):
        if name in own and len(index) != len(program.buffers[name].dims):
            own.discard(name)  # read as one line of elements, in the order of its axes
    return own


def _nest(s: n.Loop) -> tuple[n.Loop, ...]:
    """Parallel loops over a box of elements, each all that there is in the one around it."""
    loops = [s]
    while len(loops[-1].body) == 1 and isinstance(inner := loops[-1].body[0], n.Loop):
        loops.append(inner)
    axes = {x.axis for x in loops}
    plain = all(isinstance(x, n.Store | n.Let | n.If) for x in walk(loops[-1].body))
    box = all(
        x.kind == "parallel" and x.step == b.ONE and not (variables_read(x.start) | variables_read(x.stop)) & axes
        for x in loops
    )
    return tuple(loops) if plain and box else ()


def _places(block: Sequence[n.Stmt]) -> Iterator[_Place]:
    for s in walk(block):
        if isinstance(s, n.Store):
            yield s.buffer, s.index, True
    for e in exprs(block):
        if isinstance(e, Load):
            yield e.buffer, e.index, False


def _ordered(block: tuple[n.Stmt, ...], own: set[str]) -> tuple[n.Stmt, ...]:
    """The statements with the loops of nests in the order in which most of what has its place lies."""
    out: list[n.Stmt] = []
    for s in block:
        loops = _nest(s) if isinstance(s, n.Loop) else ()
        if len(loops) < 2:
            out.append(with_bodies(s, lambda inner: _ordered(inner, own)))
            continue
        places = [p for p in _places(loops[-1].body) if p[0] not in own]
        inner = min(reversed(loops), key=lambda loop: _cost(places, loop.axis))  # the innermost of the best
        body = loops[-1].body
        for loop in reversed([*(x for x in loops if x is not inner), inner]):
            body = (replace(loop, body=body),)
        out += body if inner is not loops[-1] else [s]
    return tuple(out)


def _cost(places: Sequence[_Place], axis: str) -> float:
    """How many places are far from each other along an axis."""
    return sum(
        _STORED if is_stored else 1.0 for _, index, is_stored in places if stride_along(index, axis) not in (0, 1)
    )


def _along(block: tuple[n.Stmt, ...], own: Collection[str]) -> dict[str, int]:
    """The arrays that all go through along another dimension than their last, and this."""
    votes: dict[str, set[int]] = {}
    ranks: dict[str, int] = {}
    undecided: set[str] = set()
    for loop, places in _inner(block):
        for buffer, index, _ in places:
            if buffer not in own:
                continue
            ranks[buffer] = max(len(index), ranks.get(buffer, 0))
            # what is looked up along one axis, for each on another, says nothing of the first
            at = [d for d, e in enumerate(index) if loop.axis in variables_read(e) and not buffers_read(e)]
            if len(at) == 1:
                votes.setdefault(buffer, set()).add(at[0])
            elif at:
                undecided.add(buffer)
    decided = {name: axis for name, axes in votes.items() if len(axes) == 1 for axis in axes if name not in undecided}
    return {name: decided[name] for name in sorted(decided) if decided[name] != ranks[name] - 1}


def _inner(block: tuple[n.Stmt, ...]) -> Iterator[tuple[n.Loop, list[_Place]]]:
    """Innermost loops and what they touch; without reductions."""
    for s in walk(block):
        if isinstance(s, n.Loop) and not any(isinstance(x, n.Loop | n.While | n.Accumulate) for x in walk(s.body)):
            yield s, list(_places(s.body))


def _stored(block: tuple[n.Stmt, ...], turned: dict[str, int]) -> tuple[n.Stmt, ...]:
    return tuple(
        replace(s, index=_moved(s.index, turned[s.buffer])) if isinstance(s, n.Store) and s.buffer in turned
        else with_bodies(s, lambda inner: _stored(inner, turned))
        for s in block
    )  # fmt: skip


def _moved(of: tuple[Expr, ...], axis: int) -> tuple[Expr, ...]:
    return (*of[:axis], *of[axis + 1 :], of[axis])
