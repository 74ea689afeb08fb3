"""Loops over a few iterations, written out where they keep loops over many apart:

    parallel k in 0 .. 3:                        accumulator total, total_1, total_2 by sum
        accumulator total by sum                 parallel j in 0 .. n: total sum= f[j] * d[j, 0]
        parallel j in 0 .. n:              to    parallel j in 0 .. n: total_1 sum= f[j] * d[j, 1]
            total sum= f[j] * d[j, k]            parallel j in 0 .. n: total_2 sum= f[j] * d[j, 2]
        a[k] = total                             a[0] = total; a[1] = total_1; a[2] = total_2

Coordinates, colours and corners are axes of two, three or four. A loop over them around a loop over many goes through
memory as often (where that one is in order, the few go inside it); one beside other statements keeps its iteration from
being a single row of statements, which fuses with its neighbours, and whose arrays are numbers. A loop over a few that
is all there is in a loop stays: both are one loop over the elements (`flatten_loops`). It is unrolling, of loops whose
extent is a number.

A window of a few elements around each point of a parallel loop (a nest in order, of sums, extremes or truths) is written
out as well: what it adds up stays in a register then, and what it asks of places is decided between the borders.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from transkern.fuse.lowering.copies import with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.storage import SHORT_ROW
from transkern.ir.traverse import exprs, map_block, variables_read, walk
from transkern.records import replace

_STATEMENTS = 48
"""Statements that it becomes, at most."""
_WINDOW = 16
"""Iterations of a nest that is written out around each point, at most: more hold more elements than there are registers."""
_LANES = 4
"""Neighbours that fill a vector of doubles; fewer, or what is left of a row of 6, are numbers."""
_PLAIN = (n.Alloc, n.Let, n.Assign, n.Store, n.Accumulator, n.Accumulate, n.Loop, n.If, n.Guard)
"""What may stand in it: nothing that goes on with the next iteration."""


def unroll_short(program: n.Program) -> n.Program:
    """The program with such loops written out."""
    state = _Unrolling(program)
    body = state.block(program.body, inside=False)
    return replace(program, body=body, variables=state.variables, buffers=state.buffers)


class _Unrolling:
    def __init__(self, program: n.Program) -> None:
        self.names = Names.of(program)
        self.buffers, self.variables = dict(program.buffers), dict(program.variables)

    def block(self, statements: Iterable[n.Stmt], inside: bool, in_order: bool = False) -> tuple[n.Stmt, ...]:
        """A block; `inside` a loop, the next one around it `in_order`."""
        statements = tuple(statements)
        own = {s.buffer for s in statements if isinstance(s, n.Alloc)}
        alone = not inside or sum(not isinstance(s, n.Alloc) for s in statements) == 1
        out: list[n.Stmt] = []
        for s in statements:
            if in_order and isinstance(s, n.Loop) and _is_a_vector(s, own):
                out.append(s)
            elif isinstance(s, n.Loop) and _is_short(s) and (not alone or _goes_over_many(s)):
                out += self.block(self.written_out(s), inside=True)
            elif isinstance(s, n.Loop) and inside and _is_a_row_in_order(s):
                out += self.repeated(s, {x.name for x in walk(s.body) if isinstance(x, n.Let)})
            elif isinstance(s, n.Loop) and inside and not in_order and _is_a_window(s):
                out += self.window(s)
            else:
                out.append(self.inner(s, inside))
        return tuple(out)

    def inner(self, s: n.Stmt, inside: bool) -> n.Stmt:
        match s:
            case n.Loop(body=body) | n.Compact(body=body):
                in_order = isinstance(s, n.Loop) and s.kind == "sequential"
                return replace(s, body=self.block(body, inside=True, in_order=in_order))
            case n.If(then=then, orelse=orelse):
                return replace(s, then=self.block(then, inside), orelse=self.block(orelse, inside))
            case n.While(body=body):
                return replace(s, body=self.block(body, inside=True))
            case _:
                return s

    def written_out(self, s: n.Loop) -> list[n.Stmt]:
        match s.body:
            case (n.Loop(kind="sequential") as inner,) if s.axis not in variables_read(inner.start) | variables_read(
                inner.stop
            ):  # whose iterations are apart: each goes through the loop in order
                inside = replace(s, body=inner.body)
                few = (inside,) if _is_a_vector(inside, set()) else self.written_out(inside)
                return [replace(inner, body=tuple(few))]
            case _:
                pass
        return self.repeated(s, {x.name for x in walk(s.body) if isinstance(x, n.Let | n.Assign)})

    def window(self, s: n.Loop) -> list[n.Stmt]:
        """A nest in order, as the statements of all its iterations."""
        out: list[n.Stmt] = []
        for x in self.repeated(s, {x.name for x in walk(s.body) if isinstance(x, n.Let)}):
            out += self.window(x) if isinstance(x, n.Loop) else _decided(x)
        return out

    def repeated(self, s: n.Loop, own: set[str]) -> list[n.Stmt]:
        """The iterations, with names of their own for what is an iteration's `own`."""
        first, extent = b.constant(s.start), _extent(s)
        assert first is not None and extent is not None
        out: list[n.Stmt] = []
        for k in range(first, first + extent):
            one = s if k == first else with_own_names(s, self.names, self.variables, self.buffers, own)
            out += map_block(one.body, lambda e, axis=one.axis, k=k: _at(e, axis, k))  # type: ignore[misc]
        return out


def _at(e: Expr, axis: str, k: int) -> Expr | None:
    return b.index(k) if isinstance(e, Var) and e.name == axis else None


def _decided(s: n.Stmt) -> list[n.Stmt]:
    """A statement, or what is left of a branch of which it is known whether it is taken."""
    if isinstance(s, n.If) and isinstance(s.condition, Const):
        return [made for x in (s.then if s.condition.value else s.orelse) for made in _decided(x)]
    return [s]


def _extent(s: n.Loop) -> int | None:
    return b.constant(b.sub(s.stop, s.start)) if b.constant(s.start) is not None and s.step == b.ONE else None


def _is_short(s: n.Loop) -> bool:
    extent = _extent(s)
    if s.kind != "parallel" or extent is None or not 0 < extent <= SHORT_ROW:
        return False
    if not all(isinstance(x, _PLAIN) for x in walk(s.body)):
        return False
    declared = {x.name for x in walk(s.body) if isinstance(x, n.Accumulator)}
    if any(isinstance(x, n.Accumulate) and x.name not in declared for x in walk(s.body)):
        return False  # it is one term of a reduction around it
    return sum(1 for _ in walk(s.body)) * extent <= _STATEMENTS


def _is_a_row_in_order(s: n.Loop) -> bool:
    """Whether a loop in order goes over a short row, with nothing but numbers and elements in it."""
    extent = _extent(s)
    plain = all(isinstance(x, n.Let | n.Assign | n.Store | n.Guard) for x in s.body)
    short = extent is not None and 0 < extent <= SHORT_ROW and len(s.body) * extent <= _STATEMENTS
    return s.kind == "sequential" and plain and short


def _is_a_window(s: n.Loop) -> bool:
    """Whether a nest in order goes over a few neighbours, with nothing but numbers in it."""
    inside = list(walk((s,)))
    loops = [x for x in inside if isinstance(x, n.Loop)]
    extents = [_extent(x) or 0 for x in loops]
    if not all(isinstance(x, n.Loop | n.Let | n.Assign | n.If) for x in inside):
        return False
    if any(x.kind != "sequential" for x in loops) or not 1 < math.prod(extents) <= _WINDOW:
        return False
    return sum(1 for x in inside if not isinstance(x, n.Loop)) * math.prod(extents) <= _STATEMENTS


def _is_a_vector(s: n.Loop, own: AbstractSet[str]) -> bool:
    """Whether a loop does the same to neighbours in memory, which fill vectors; not in arrays of an iteration's `own`,
    whose elements are numbers when it is written out."""
    extent = _extent(s)
    plain = all(isinstance(x, n.Store | n.Let) for x in s.body)
    if s.kind != "parallel" or extent is None or extent % _LANES or not plain:
        return False
    places = [(x.buffer, x.index) for x in s.body if isinstance(x, n.Store)]
    places += [(e.buffer, e.index) for e in exprs(s.body) if isinstance(e, Load)]
    return all(
        buffer not in own and bool(index) and _is_next(index[-1], s.axis)
        and not any(s.axis in variables_read(e) for e in index[:-1])
        for buffer, index in places if any(s.axis in variables_read(e) for e in index)
    )  # fmt: skip


def _is_next(e: Expr, axis: str) -> bool:
    """Whether the next element along the axis is the next in memory."""
    terms, _ = b.affine(e)
    at = Var(axis, "index")
    return terms.get(at) == 1 and not any(axis in variables_read(x) for x in terms if x != at)


def _goes_over_many(s: n.Loop) -> bool:
    return any(isinstance(x, n.Loop) and not _is_short(x) for x in walk(s.body))
