"""Lists that a kernel joins to others, element by element in scalar memory:

    parallel k in 0 .. part.size:                   sequential k in 0 .. part.size:
        all[all.size + k] := part[k]        to          all[all.size + k] := part[k]

A pass takes rows of 128 elements from one place to the same place. What stands elsewhere in a list is no pass, while a
list that nothing walks has its elements in SMEM, where any of them is a scalar away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.traverse import exprs, variables_read, walk, with_bodies

_Access = tuple[str, tuple[Expr, ...]]


def join_in_order(kernel: n.Kernel, is_static: Callable[[Expr], bool]) -> n.Kernel:
    """The kernel with such loops in order: those over as many elements as data say (`is_static` does not hold), whose
    arrays nothing else walks."""
    passes = [s for s in walk(kernel.body) if isinstance(s, n.Loop) and s.kind == "parallel"]
    joins = [s for s in passes if not is_static(_in_part(s).stop) and _moves(_in_part(s))]
    while joins:
        others = {of for s in passes if s not in joins for of, _ in _walked(s)}
        left = [s for s in joins if not others & {of for of, _ in _walked(s)}]
        if len(left) == len(joins):
            break
        joins = left

    def block(body: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        return tuple(
            replace(_in_part(s), kind="sequential") if isinstance(s, n.Loop) and s in joins else with_bodies(s, block)
            for s in body
        )

    return replace(kernel, body=block(kernel.body)) if joins else kernel


def _in_part(loop: n.Loop) -> n.Loop:
    """A loop over an array of which a condition (`mask_windows`) says how many elements count, as a loop over these."""
    match loop.body:
        case (n.If(Apply("less", (Var(of), stop), _), body, ()),) if of == loop.axis:
            return replace(loop, stop=stop, body=body)
        case _:
            return loop


def _walked(loop: n.Loop) -> list[_Access]:
    """The accesses of a loop that move with it."""
    stores: list[_Access] = [(s.buffer, s.index) for s in walk(loop.body) if isinstance(s, n.Store)]
    loads: list[_Access] = [(e.buffer, e.index) for e in exprs(loop.body) if isinstance(e, Load)]
    own = {loop.axis} | {s.name for s in walk(loop.body) if isinstance(s, n.Let)}
    return [(of, index) for of, index in (*stores, *loads) if any(variables_read(i) & own for i in index)]


def _moves(loop: n.Loop) -> bool:
    """Whether a loop takes elements to other places, and does nothing else."""
    if not all(isinstance(s, (n.Let, n.Store)) for s in loop.body):
        return False
    return any(index != (Var(loop.axis, "index"),) for _, index in _walked(loop))
