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
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from functools import partial

from transkern.fuse.lowering.copies import with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.storage import SHORT_ROW
from transkern.ir.traverse import exprs, map_block, variables_read, walk
from transkern.records import replace

_STATEMENTS = 48
"""Statements that it becomes, at most."""
_LANES = 4
"""Neighbours that fill a vector of doubles; fewer, or what is left of a row of 6, are numbers."""
_PLAIN = (n.Alloc, n.Let, n.Assign, n.Store, n.Accumulator, n.Accumulate, n.Loop, n.If, n.Guard)
"""What may stand in it: nothing that goes on with the next iteration."""


def unroll_short(program: n.Program) -> n.Program:
    """The program with such loops written out."""
    return _Unrolling(program).program()


def unroll_short_for_cuda(program: n.Program) -> n.Program:
    """The same, without sums of columns (``x.mean(axis=0)`` of points) that share no load: a grid has threads for all
    of them at once, and would have a launch for each, and one for each element that is stored behind."""
    return _Unrolling(program, apart=True).program()


class _Unrolling:
    def __init__(self, given: n.Program, apart: bool = False) -> None:
        program = self.given = given
        self.apart = apart
        self.names = Names.of(program)
        self.buffers, self.variables = dict(program.buffers), dict(program.variables)

    def program(self) -> n.Program:
        body = self.block(self.given.body, inside=False)
        return replace(self.given, body=body, variables=self.variables, buffers=self.buffers)

    def block(self, statements: Iterable[n.Stmt], inside: bool, in_order: bool = False) -> tuple[n.Stmt, ...]:
        """A block; `inside` a loop, the next one around it `in_order`."""
        statements = tuple(statements)
        own = {s.buffer for s in statements if isinstance(s, n.Alloc)}
        alone = not inside or sum(not isinstance(s, n.Alloc) for s in statements) == 1
        out: list[n.Stmt] = []
        for s in statements:
            apart = self.apart and not inside and isinstance(s, n.Loop) and _reduces_apart(s)
            if apart or (in_order and isinstance(s, n.Loop) and _is_a_vector(s, own)):
                out.append(s)
            elif isinstance(s, n.Loop) and _is_short(s) and (not alone or _goes_over_many(s)):
                out += self.block(self.written_out(s), inside=True)
            elif isinstance(s, n.Loop) and inside and _is_a_row_in_order(s):
                out += self.repeated(s, {x.name for x in walk(s.body) if isinstance(x, n.Let)})
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

    def repeated(self, s: n.Loop, own: set[str]) -> list[n.Stmt]:
        """The iterations, with names of their own for what is an iteration's `own`."""
        return [x for one in iterations(s, self.names, self.variables, self.buffers, own) for x in one]


def iterations(
    s: n.Loop, names: Names, variables: dict[str, str], buffers: dict[str, n.Buffer], own: Iterable[str]
) -> Iterator[tuple[n.Stmt, ...]]:
    """The iterations of a loop whose extent is a number, with names of their own for what is an iteration's `own`."""
    first, extent = b.constant(s.start), extent_of(s)
    assert first is not None and extent is not None
    for k in range(first, first + extent):
        one = s if k == first else with_own_names(s, names, variables, buffers, own)
        at = partial(_at, axis=one.axis, k=k)
        for made in {x.buffer for x in walk(one.body) if isinstance(x, n.Alloc) and x.buffer in buffers}:
            dims = tuple(b.map_expr(d, at) for d in buffers[made].dims)
            buffers[made] = replace(buffers[made], dims=dims)
        yield map_block(one.body, at)


def _at(e: Expr, axis: str, k: int) -> Expr | None:
    return b.index(k) if isinstance(e, Var) and e.name == axis else None


def extent_of(s: n.Loop) -> int | None:
    """How many iterations a loop has, where its bounds are numbers."""
    return b.constant(b.sub(s.stop, s.start)) if b.constant(s.start) is not None and s.step == b.ONE else None


def _is_short(s: n.Loop) -> bool:
    extent = extent_of(s)
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
    extent = extent_of(s)
    plain = all(isinstance(x, n.Let | n.Assign | n.Store | n.Guard) for x in s.body)
    short = extent is not None and 0 < extent <= SHORT_ROW and len(s.body) * extent <= _STATEMENTS
    return s.kind == "sequential" and plain and short


def _is_a_vector(s: n.Loop, own: AbstractSet[str]) -> bool:
    """Whether a loop does the same to neighbours in memory, which fill vectors; not in arrays of an iteration's `own`,
    whose elements are numbers when it is written out."""
    extent = extent_of(s)
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


def _reduces_apart(s: n.Loop) -> bool:
    """Whether all that the loops over many in a loop do is to reduce, each iteration what no other one loads."""
    many = [x for x in walk(s.body) if isinstance(x, n.Loop) and not _is_short(x)]
    loads = [e for e in exprs(many) if isinstance(e, Load)]
    return (
        bool(loads)
        and all(x.kind == "parallel" and not any(isinstance(y, n.Store) for y in walk(x.body)) for x in many)
        and all(any(s.axis in variables_read(i) for i in e.index) for e in loads)
    )


def _goes_over_many(s: n.Loop) -> bool:
    return any(isinstance(x, n.Loop) and not _is_short(x) for x in walk(s.body))
