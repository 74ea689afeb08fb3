"""Sizes of arguments that are worth code of their own where they are small (`Program.few`).

What is done to a few elements takes no time, but what surrounds it does: a call of a library for a product, and in a
loop in order the beginnings and ends of loops over elements whose number only a run knows. With sizes that are known,
the elements are variables, and a product, or a step of a simulation of five bodies, is straight-line code. So the sizes
are asked for that products of matrices have, and those of array statements and of loops in loops in order. Where sizes
say how often such a loop is run as well, there must be large ones among them: a table of nine edges for many numbers.

None of loops where much code is in loops in order, and next to none of it is array statements: of searches, trees and
assignments over sets and lists, a second translation takes seconds, and little of a call.

Where arrays lie along the lanes of vectors (TPUs), rows of a few elements fill few of these. A loop in order that goes
along such rows names their columns by numbers where their number is known, and holds each as an array of its own
(`targets/pallas/passes/columns.py`): so the number of columns is asked for there (`few_columns`), of many rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Reduce, Var
from transkern.ir.storage import FEW, FEW_COLUMNS, FEW_OF_MANY, SMALL_SIZE
from transkern.ir.traverse import bodies, exprs, variables_read, walk

_MUCH = 250
_SHARE = 16
"""Of more statements than `_MUCH` in loops in order, one of `_SHARE` at least must be an array statement."""


def small_sizes(program: n.Program) -> tuple[tuple[str, int, int], ...]:
    """Such sizes: how one asks for them to be constants, of which of the arrays, along which axis."""
    arrays = [x for x in program.params if isinstance(x, n.ArrayParam)]
    sizes = frozenset(d.name for x in arrays for d in x.dims if isinstance(d, Var))
    asked: dict[str, str] = {}
    for extent in _in_products(program):
        asked |= dict.fromkeys(variables_read(extent) & sizes, FEW)
    for extent, mark in () if _is_long_code(program) else _in_loops(program.body, sizes, None):
        asked |= {name: mark for name in variables_read(extent) & sizes if asked.get(name) != FEW}
    return tuple(
        (f"{x.name}.{axis}{asked[d.name]}", k, axis)
        for k, x in enumerate(arrays)
        for axis, d in enumerate(x.dims) if isinstance(d, Var) and d.name in asked
    )  # fmt: skip


def few_columns(program: n.Program) -> tuple[tuple[str, int, int], ...]:
    """The numbers of columns that loops in order go along, or of which they name some, as `small_sizes` has them."""
    arrays = [x for x in program.params if isinstance(x, n.ArrayParam)]
    sizes = frozenset(x.dims[-1].name for x in arrays if len(x.dims) > 1 and isinstance(x.dims[-1], Var))
    if not sizes or _is_long_code(program):
        return ()
    asked = {name for extent, _ in _in_loops(program.body, sizes, None) for name in variables_read(extent)}
    loops = [s for s in walk(program.body) if isinstance(s, (n.Loop, n.While))]
    loads = [e for s in loops for block in bodies(s) for e in exprs(block) if isinstance(e, Load)]
    named = {e.buffer for e in loads if len(e.index) > 1 and b.constant(e.index[-1]) is not None}
    return tuple(
        (f"{x.name}.{len(x.dims) - 1}{FEW_COLUMNS}", k, len(x.dims) - 1)
        for k, x in enumerate(arrays)
        if len(x.dims) > 1 and isinstance(x.dims[-1], Var) and (x.dims[-1].name in asked or x.name in named)
    )


def _in_products(program: n.Program) -> Iterator[Expr]:
    for s in walk(program.body):
        if isinstance(s, n.Library) and s.name in ("matmul", "dot"):
            for name, view in s.operands:
                yield from program.buffers[name].dims if view is None else view.dims


def _in_loops(block: Iterable[n.Stmt], sizes: frozenset[str], around: str | None) -> Iterator[tuple[Expr, str]]:
    """How many elements array statements in loops in order compute, and how often loops inside them run, each with what
    one asks for it with. `around`: that of loops in the loops that the block is in, if any."""
    for s in block:
        match s:
            case n.While():
                yield from _in_loops((*s.head, *s.body), sizes, FEW)
            case n.Loop():
                if around is not None:
                    yield from ((x, around) for x in (s.start, s.stop))
                yield from _in_loops(s.body, sizes, FEW if around == FEW or _is_long(s, sizes) else FEW_OF_MANY)
            case n.If():
                yield from _in_loops((*s.then, *s.orelse), sizes, around)
            case _ if around is not None:
                yield from ((axis.extent, FEW) for axis in getattr(s, "axes", ()))
                yield from ((axis.extent, FEW) for e in exprs((s,)) if isinstance(e, Reduce) for axis in e.axes)


def _is_long(s: n.Loop, sizes: frozenset[str]) -> bool:
    """Whether a loop may run often though all sizes are small."""
    trips = b.constant(b.sub(s.stop, s.start))
    if trips is not None:
        return abs(trips) > SMALL_SIZE
    return not variables_read(b.sub(s.stop, s.start)) <= sizes


def _is_long_code(program: n.Program) -> bool:
    """Whether much code is in loops in order, and next to none of it computes arrays."""
    inside = [x for s in walk(program.body) if isinstance(s, (n.Loop, n.While)) for x in bodies(s)]
    parts = [x for block in inside for x in walk(block) if not isinstance(x, (n.Loop, n.While, n.If))]
    statements = list({id(x): x for x in parts}.values())
    return len(statements) > _MUCH and sum(map(_computes_arrays, statements)) * _SHARE < len(statements)


def _computes_arrays(s: n.Stmt) -> bool:
    reduced = [axis for e in exprs((s,)) if isinstance(e, Reduce) for axis in e.axes]
    return any(variables_read(axis.extent) for axis in (*getattr(s, "axes", ()), *reduced))
