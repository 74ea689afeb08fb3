"""What a loop in order reads row by row is computed there:

    w[t, j] = 0.3 * z[t, j] + 0.7 * y[t, j]          for t in 0 .. n:
    for t in 0 .. n:                          to         v[j] = v[j] + (0.3 * z[t, j] + 0.7 * y[t, j])
        v[j] = v[j] + w[t, j]

The array goes to memory and back between the statements otherwise, where each of its elements takes a few operations
and is read once. Legal where nothing that it is made of changes before the loop ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from transkern.fuse.states.reading import computed, places_read, touched
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Axis, Expr, Reduce
from transkern.ir.ops import OPS
from transkern.ir.traverse import (
    buffers_allocated,
    buffers_read,
    buffers_written,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)  # fmt: skip
from transkern.records import replace

_COST = 16
"""Additions, or what takes as long, that an element may take: beyond, all of them had better go side by side."""


def compute_by_steps(program: n.Program) -> n.Program:
    """The program without arrays whose elements a loop in order reads once each, and which are soon computed."""
    if not any(isinstance(s, n.Define) for s in walk(program.body)):
        return program
    uses = Counter(name for s in walk(program.body) for name in touched(s))

    def block(statements: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
        out = list(statements)
        for made in statements:
            if isinstance(made, n.Define) and _suits(made, program) and uses[made.buffer] == 2:
                _move(out, out.index(made), made)
        return tuple(with_bodies(s, block) for s in out)

    return replace(program, body=block(program.body))


def _suits(made: n.Define, program: n.Program) -> bool:
    """Whether a statement makes a temporary of elements that are soon computed."""
    parts = list(walk_expr(made.value))
    cost = sum(OPS[x.op].cost if x.op in OPS else 1 for x in parts if isinstance(x, Apply) and _varies(x))
    reduces = any(isinstance(x, Reduce) for x in parts)
    return program.buffers[made.buffer].role == "temporary" and cost <= _COST and not reduces


def _varies(x: Expr) -> bool:
    return bool(variables_read(x) or buffers_read(x))


def _move(block: list[n.Stmt], first: int, made: n.Define) -> None:
    """Has the loop behind the statement that alone reads the array compute it, if there is one."""
    at = next((k for k, s in enumerate(block) if k > first and _reads(s, made.buffer)), None)
    loop = None if at is None else block[at]
    if at is None or not isinstance(loop, n.Loop) or loop.step != b.ONE:
        return
    where = next((k for k, s in enumerate(loop.body) if made.buffer in touched(s)), None)
    reader = None if where is None else loop.body[where]
    if where is None or not isinstance(reader, (n.Define, n.Write)) or not reader.axes:
        return
    over = Axis(loop.axis, b.sub(loop.stop, loop.start))  # an iteration reads what no other one does
    if places_read(replace(reader, axes=(over, *reader.axes)), made) != 1:
        return
    reads, scalars = buffers_read(made.value), variables_read(made.value)
    for x in walk(block[first + 1 : at + 1]):
        if (buffers_written(x) | buffers_allocated(x)) & (reads | {made.buffer}) or scalars_set(x) & scalars:
            return

    changed = replace(reader, value=b.map_expr(reader.value, computed(made)))
    block[at] = replace(loop, body=(*loop.body[:where], changed, *loop.body[where + 1 :]))
    del block[first]


def _reads(s: n.Stmt, buffer: str) -> bool:
    return any(buffer in touched(x) for x in walk((s,)))
