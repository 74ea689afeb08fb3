"""Products of matrices take operands that stand the other way round in memory:

    right[r, j] = k[j, r]                       out = matmul(q, k.T)
    out = matmul(q, right)             to

- *Property.* A library multiplies by a matrix as it lies, or by its transpose, in the same time.
- *Legality.* The copy is read by products alone, and what it is a copy of is in C's order, of the same type, and does
  not change before the last of them.
- *Schedule.* No kernel for the copy, and no memory: a third of the bytes of ``q @ k.T`` where that is a long matrix.
"""

from __future__ import annotations

from collections.abc import Sequence

from transkern.fuse.lowering.unchanged import stays
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Load
from transkern.ir.traverse import buffers_read, buffers_used, exprs, touched, walk, with_bodies
from transkern.records import replace

_DTYPES = ("float32", "float64")


def turn_operands(program: n.Program) -> n.Program:
    """The program in which products read such matrices where they are."""
    if not any(isinstance(s, n.Library) and s.name == "matmul" for s in walk(program.body)):
        return program
    sizes = (d for x in program.buffers.values() for d in x.dims)
    asked = set[str]().union(*(buffers_read(e) for e in (*exprs(program.body), *sizes)))  # single elements
    gone = set[str]()

    def block(statements: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
        out = [with_bodies(s, block) for s in statements]
        for k, s in enumerate(out):
            if not isinstance(s, n.Define) or s.buffer in asked or (view := _turned(s, program)) is None:
                continue
            users = [x for x in walk(program.body) if s.buffer in buffers_used(x) | touched(x)]
            behind = [x for x in out[k + 1 :] if s.buffer in buffers_used(x) | touched(x)]
            last = out.index(behind[-1]) if behind else k
            if len(users) != len(behind) + 1 or not all(_multiplies(x, s.buffer) for x in behind):
                continue
            assert isinstance(s.value, Load)
            if stays(out[k + 1 : last + 1], {s.value.buffer}, set(), program.buffers):
                gone.add(s.buffer)
                out[k + 1 :] = [_instead(x, s.buffer, s.value.buffer, view) for x in out[k + 1 :]]
        return tuple(s for s in out if not (isinstance(s, n.Define) and s.buffer in gone))

    body = block(program.body)
    return replace(program, body=body, buffers={k: x for k, x in program.buffers.items() if k not in gone})


def _turned(s: n.Define, program: n.Program) -> n.View | None:
    """A temporary that is a matrix the other way round, as a view of this one."""
    made = program.buffers[s.buffer]
    if made.role != "temporary" or made.dtype not in _DTYPES or made.element or len(s.axes) != 2:
        return None
    if not isinstance(s.value, Load) or s.value.index != tuple(a.var for a in reversed(s.axes)):
        return None
    of = program.buffers[s.value.buffer]
    if of.layout != "C" or of.element or of.dtype != made.dtype or len(of.dims) != 2:
        return None
    extents = [a.extent for a in reversed(s.axes)]
    if any(b.difference(x, y) != 0 for x, y in zip(of.dims, extents, strict=True)):
        return None
    steps = ((b.ZERO, b.ONE), (b.ONE, b.ZERO))
    return n.View(tuple(a.extent for a in s.axes), (b.ZERO, b.ZERO), steps)


def _multiplies(s: n.Stmt, buffer: str) -> bool:
    plain = isinstance(s, n.Library) and s.name == "matmul" and not s.attributes and buffer not in s.outs
    return plain and all(view is None for name, view in s.operands if name == buffer)  # type: ignore[union-attr]


def _instead(s: n.Stmt, buffer: str, of: str, view: n.View) -> n.Stmt:
    if not isinstance(s, n.Library) or buffer not in s.ins:
        return s
    operands = [(of, view) if name == buffer else (name, seen) for name, seen in s.operands]
    return replace(s, ins=tuple(name for name, _ in operands), views=tuple(seen for _, seen in operands))
