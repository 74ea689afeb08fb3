"""Arrays that are copies of others, and that nobody changes, are these:

    for k in 0 .. n: left[k] = order[k]       to      (order[p] where left[p] was)
    while: … left[p] …

Where a loop took elements away from the copy, and a mask says now who is left, the array it was copied from is as good:
it takes no memory and no launch of its own, and what is known of it (that no element repeats) is known here.
"""

from __future__ import annotations

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.traverse import (
    buffers_used,
    buffers_written,
    map_block,
    result_buffers,
    touched,
    walk,
    with_bodies,
)
from transkern.records import replace


def forward_copies(program: n.Program) -> n.Program:
    """The program without such arrays."""
    for position, s in enumerate(program.body):
        if not isinstance(s, n.Loop) or s.kind != "parallel":
            continue
        for store in s.body:
            if isinstance(store, n.Store) and _is_copy(program, position, s, store):
                assert isinstance(store.value, Load)
                return forward_copies(_without(program, store, store.value.buffer))
    return program


def _is_copy(program: n.Program, position: int, loop: n.Loop, store: n.Store) -> bool:
    """Whether a store in a loop of the program's own block makes a copy that stays what it is, as does the other."""
    copy, buffers = store.buffer, program.buffers
    match store.value:
        case Load(other, index) if index == store.index == (Var(loop.axis, "index"),) and other != copy:
            pass
        case _:
            return False
    if (buffers[copy].role, buffers[other].role) != ("temporary", "temporary"):
        return False
    if buffers[copy].dtype != buffers[other].dtype or buffers[other].element or buffers[copy].element:
        return False
    dims = (*buffers[copy].dims, *buffers[other].dims)
    if (loop.start, loop.step) != (b.ZERO, b.ONE) or any(b.difference(d, loop.stop) != 0 for d in dims):
        return False
    if sum(copy in buffers_written(s) and not isinstance(s, _AROUND) for s in walk(program.body)) != 1:
        return False
    if any(copy in touched(s) for s in walk(program.body) if isinstance(s, (n.Library, n.Return, n.Compact))):
        return False
    if any(other in result_buffers(s.result) for s in walk(program.body) if isinstance(s, n.Return)):
        return False
    before, behind = program.body[:position], program.body[position:]
    return not any(copy in buffers_used(s) for s in before) and not any(other in buffers_written(s) for s in behind)


_AROUND = (n.Loop, n.While, n.If)


def _without(program: n.Program, store: n.Store, other: str) -> n.Program:
    copy = store.buffer

    def change(e: Expr) -> Expr | None:
        if isinstance(e, Load) and e.buffer == copy:
            return Load(other, tuple(b.map_expr(i, change) for i in e.index), e.dtype)
        return None

    def block(body: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        left = (
            with_bodies(s, block) for s in body
            if s is not store and not (isinstance(s, n.Alloc) and s.buffer == copy)
        )  # fmt: skip
        return tuple(s for s in left if not (isinstance(s, n.Loop) and s.kind == "parallel" and not s.body))

    buffers = {name: x for name, x in program.buffers.items() if name != copy}
    return replace(program, body=map_block(block(program.body), change), buffers=buffers)
