"""What a filter leaves goes straight where it is stored:

    compact gone over k < n: keep order[k] if near[k]           for k < n:
    for j < gone.size: there[gone[j]] = True             to         if near[k]: there[order[k]] = True

The array of what is left, and how many these are, are nobody else's business; the elements come in the same order.
"""

from __future__ import annotations

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.traverse import (
    alone,
    buffers_read,
    buffers_used,
    buffers_written,
    map_block,
    scalars_set,
    scalars_used,
    variables_read,
    walk,
    with_bodies,
)
from transkern.records import replace

_Block = tuple[n.Stmt, ...]


def store_filtered(program: n.Program) -> n.Program:
    """The program without arrays that hold what a filter leaves for one loop that stores it."""
    if not any(isinstance(s, n.Compact) for s in walk(program.body)):
        return program
    body = _block(program, program.body)
    return program if body == program.body else replace(program, body=body)


def _block(program: n.Program, block: _Block) -> _Block:
    block = tuple(with_bodies(s, lambda body: _block(program, body)) for s in block)
    for position, s in enumerate(block):
        if not isinstance(s, n.Compact) or s.append or s.inner or len(s.outputs) != 1:
            continue
        for behind in range(position + 1, len(block)):
            loop = block[behind]
            if s.outputs[0] not in buffers_used(loop):
                continue
            if isinstance(loop, n.Loop) and _takes_all(program, s, loop, block[position + 1 : behind]):
                memory = [x for x in block if isinstance(x, n.Alloc) and x.buffer == s.outputs[0]]
                left = tuple(x for x in (*block[:position], *block[position + 1 :]) if not any(x is y for y in memory))
                return _block(program, tuple(_stored(s, loop) if x is loop else x for x in left))
            break
    return block


def _takes_all(program: n.Program, s: n.Compact, loop: n.Loop, between: _Block) -> bool:
    """Whether a loop over all that a filter leaves stores it, and nobody else has anything of the filter."""
    (array,), length = s.outputs, Var(s.count, "index")
    if (loop.start, loop.stop, loop.step) != (b.ZERO, length, b.ONE) or program.buffers[array].role != "temporary":
        return False
    if not all(isinstance(x, (n.Store, n.Let)) for x in loop.body) or loop.fails:
        return False
    others = [x for x in walk(program.body) if x is not s and x is not loop and not any(x is y for y in loop.body)]
    if any(array in {*_buffers_here(x)} or s.count in scalars_used(alone(x)) for x in others):
        return False
    if any(s.count in variables_read(d) for x in program.buffers.values() for d in x.dims):
        return False
    here = (Var(loop.axis, "index"),)
    changed = map_block(loop.body, lambda e: b.ZERO if e == Load(array, here, program.buffers[array].dtype) else None)
    if any(array in buffers_used(x) or loop.axis in scalars_used(x) for x in changed):
        return False
    asked = (s.mask, *s.values, s.start, s.stop)
    read = {x for e in asked for x in buffers_read(e)}.union(*map(buffers_used, s.body))
    named = {x for e in asked for x in variables_read(e)}.union(*map(scalars_used, s.body))
    if read & {x for y in (*between, loop) for x in buffers_written(y)}:
        return False
    return not named & {x for y in between for x in scalars_set(y)} and _is_its_own(s.body)


def _is_its_own(body: _Block) -> bool:
    """Whether what is computed for a filter's mask goes into names and memory of an element's own."""
    own = {x.buffer for x in body if isinstance(x, n.Alloc)}
    return all(isinstance(x, (n.Let, n.Alloc)) or (isinstance(x, n.Store) and x.buffer in own) for x in body)


def _buffers_here(s: n.Stmt) -> set[str]:
    own = alone(s)
    return {*buffers_used(own), *buffers_written(own)}


def _stored(s: n.Compact, loop: n.Loop) -> n.Loop:
    (array,), (value,) = s.outputs, s.values

    def change(e: Expr) -> Expr | None:
        return value if isinstance(e, Load) and e.buffer == array else None

    inside = n.If(s.mask, map_block(loop.body, change), span=loop.span)
    return replace(loop, axis=s.axis, start=s.start, stop=s.stop, body=(*s.body, inside))
