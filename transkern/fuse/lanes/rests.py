"""What is left of a row behind its whole vectors goes in vectors, too, where masks are far narrower than choices:

    parallel j in 0 .. n:                    parallel j in 0 .. n - n % 64: y[i, j] = f(x[i, j]) if m[i, j] else 0
        y[i, j] = f(x[i, j])            to   parallel k in 0 .. n % 64: narrow[k] = m[i, n - n % 64 + k]
            if m[i, j] else 0                parallel k in 0 .. 64: wide[k] = narrow[k]
                                             parallel j in n - n % 64 .. n: y[i, j] = … if wide[j % 64] else 0

A vector has as many lanes as numbers of the narrowest type fill it: a mask of bytes beside doubles makes 64, of which
eight vectors are computed at a time. Up to 63 elements of each row are left, or all of a short one, and a choice among
scalars is a branch that data mispredict. With masks as wide as what they choose, seven are left.

Legal as the iterations of a parallel loop may go in any order, and what is read ahead is not stored by them.
"""

from __future__ import annotations

from collections.abc import Sequence

from transkern.fuse.lanes.memory import VECTOR, accesses, widest
from transkern.fuse.lowering.copies import with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.storage import itemsize
from transkern.ir.traverse import exprs, map_block, places_named, stride_along, with_bodies
from transkern.records import replace

_FAR = 4
"""Times numbers are as wide as masks, from which on rests are worth loops of their own."""

_LANES = b.index(VECTOR)
"""Lanes of a vector of masks."""


def split_rests(program: n.Program) -> n.Program:
    """The program in which rests of rows go in vectors."""
    state = _Splitting(program)
    body = state.block(program.body, in_rows=False)
    return replace(program, body=body, buffers=state.buffers, variables=state.variables)


class _Splitting:
    def __init__(self, program: n.Program) -> None:
        self.names = Names.of(program)
        self.buffers, self.variables = dict(program.buffers), dict(program.variables)

    def block(self, statements: Sequence[n.Stmt], in_rows: bool) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in statements:
            if isinstance(s, n.Loop) and in_rows and (masks := self.masks(s)):
                out += self.split(s, masks)
                continue
            inside = in_rows or (isinstance(s, n.Loop) and s.kind == "parallel")
            out.append(with_bodies(s, lambda body, inside=inside: self.block(body, inside)))  # type: ignore[misc]
        return tuple(out)

    def masks(self, s: n.Loop) -> list[Load]:
        """What the elements of a row read of masks, where nothing else in them is narrow."""
        if s.kind != "parallel" or s.step != b.ONE or b.constant(b.sub(s.stop, s.start)) is not None:
            return []
        if not all(isinstance(x, (n.Let, n.Assign, n.Store)) for x in s.body):
            return []
        known, wide = places_named(s.body), widest(s.body, self.buffers)
        for x in s.body:
            dtype = self.buffers[x.buffer].dtype if isinstance(x, n.Store) else x.value.dtype  # type: ignore[union-attr]
            if dtype != "index" and _FAR * itemsize(dtype) <= wide:
                return []
            for index, info in accesses(x, self.buffers):
                along = stride_along([b.substitute(i, known) for i in index], s.axis)
                # what lies apart makes no vectors; memory of a known length is that of a few lanes
                if along not in (0, 1) or info.layout != "C" or b.constant(info.dims[-1]) is not None:
                    return []
        loads = [e for e in exprs(s.body) if isinstance(e, Load) and _FAR * itemsize(e.dtype) <= wide]
        made = {e.args[0] for e in exprs(s.body) if isinstance(e, Apply) and e.op == "cast"}  # numbers, not choices
        if any(e.dtype != "bool" or e in made or stride_along(e.index, s.axis) is None for e in loads):
            return []
        return list(dict.fromkeys(e for e in loads if stride_along(e.index, s.axis) == 1))

    def split(self, s: n.Loop, masks: list[Load]) -> list[n.Stmt]:
        """Whole vectors, and the rest, whose masks are made wide before it."""
        full, lane = Var(self.names.fresh("full")), Var(self.names.fresh("lane"))
        extent = b.maximum(b.sub(s.stop, s.start), b.ZERO)
        behind = b.add(s.start, b.mul(_LANES, b.floordiv(extent, _LANES)))
        out: list[n.Stmt] = [n.Let(full.name, behind, span=s.span), replace(s, stop=full, spare=None)]
        rest = with_own_names(replace(s, start=full, spare=None), self.names, self.variables, self.buffers)
        dtype, place = f"int{8 * widest(s.body, self.buffers)}", b.sub(Var(rest.axis), full)
        change: dict[Expr, Expr] = {}
        for e in masks:
            narrow = Load(self.names.fresh("narrow"), (lane,), "bool")
            wide = Load(self.names.fresh("wide"), (lane,), dtype)
            for held in (narrow, wide):
                self.buffers[held.buffer] = n.Buffer(held.buffer, held.dtype, (_LANES,), line=s.span.line)
                out.append(n.Alloc(held.buffer, span=s.span))
            there = b.substitute(e, {s.axis: b.add(full, lane)})
            out.append(self.over(_LANES, n.Store(narrow.buffer, narrow.index, b.FALSE, span=s.span), lane))
            out.append(self.over(b.sub(s.stop, full), n.Store(narrow.buffer, narrow.index, there, span=s.span), lane))
            out.append(self.over(_LANES, n.Store(wide.buffer, wide.index, b.cast(narrow, dtype), span=s.span), lane))
            holds = Apply("not_equal", (Load(wide.buffer, (place,), dtype), b.cast(b.ZERO, dtype)), "bool")
            change[b.substitute(e, {s.axis: Var(rest.axis)})] = holds
        return [*out, replace(rest, body=map_block(rest.body, change.get))]

    def over(self, count: Expr, store: n.Store, lane: Var) -> n.Loop:
        """A loop of one store over lanes."""
        loop = n.Loop(lane.name, b.ZERO, count, b.ONE, "parallel", (store,), span=store.span)
        return with_own_names(loop, self.names, self.variables, self.buffers)
