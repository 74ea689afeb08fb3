"""Sizes of arguments that are worth code of their own where they are small (`Program.few`).

What is done to a few elements takes no time, but what surrounds it does: a call of a library for a product, and in a
loop in order the beginnings and ends of loops over elements whose number only a run knows. With sizes that are known,
the elements are variables, and a product, or a step of a simulation of five bodies, is straight-line code. So the sizes
are asked for that products of matrices have, and those of array statements in loops in order.

Not the latter where much code is in loops in order, and next to none of it is array statements: of searches, trees and
assignments over sets and lists, a second translation takes seconds, and little of a call.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Reduce, Var
from transkern.ir.storage import FEW
from transkern.ir.traverse import exprs, variables_read, walk

_MUCH = 1000
_SHARE = 16
"""Of more statements than `_MUCH` in loops in order, one of `_SHARE` at least must be an array statement."""


def small_sizes(program: n.Program) -> tuple[tuple[str, int, int], ...]:
    """Such sizes: how one asks for them to be constants, of which of the arrays, along which axis."""
    sizes: set[str] = set()
    for extent in _extents(program):
        sizes |= variables_read(extent)
    arrays = [x for x in program.params if isinstance(x, n.ArrayParam)]
    return tuple(
        (f"{x.name}.{axis}{FEW}", k, axis)
        for k, x in enumerate(arrays)
        for axis, d in enumerate(x.dims) if isinstance(d, Var) and d.name in sizes
    )  # fmt: skip


def _extents(program: n.Program) -> Iterator[Expr]:
    for s in walk(program.body):
        if isinstance(s, n.Library) and s.name in ("matmul", "dot"):
            for name, view in s.operands:
                yield from program.buffers[name].dims if view is None else view.dims
    inside = list(_in_loops(program.body, False))
    over = [extents for extents in map(_computed, inside) if any(variables_read(e) for e in extents)]
    if len(inside) <= _MUCH or len(over) * _SHARE >= len(inside):
        for extents in over:
            yield from extents


def _in_loops(block: Iterable[n.Stmt], inside: bool) -> Iterator[n.Stmt]:
    """The statements in loops in order."""
    for s in block:
        if inside:
            yield s
        match s:
            case n.Loop() | n.While():
                yield from _in_loops((*s.head, *s.body) if isinstance(s, n.While) else s.body, True)
            case n.If():
                yield from _in_loops((*s.then, *s.orelse), inside)
            case _:
                pass


def _computed(s: n.Stmt) -> list[Expr]:
    """How many elements a statement itself computes, where it is an array statement."""
    if isinstance(s, (n.Loop, n.While, n.If)):
        return []
    reduced = [axis for e in exprs((s,)) if isinstance(e, Reduce) for axis in e.axes]
    return [axis.extent for axis in (*getattr(s, "axes", ()), *reduced)]
