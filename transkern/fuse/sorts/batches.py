"""A loop of independent iterations with a sort in each of them: one sort of all rows, between loops over all of them.

    for i in 0 .. n:                                  for first in 0 .. n by rows that fit in memory:
        keys[j] := -scores[i, j]                          for i in first .. end: keys[i - first, j] := -scores[i, j]
        order := argsort(keys)               to           order := argsort(keys) along its rows
        … order[j] …                                      for i in first .. end: … order[i - first, j] …

On the host, the loop would launch its kernels and a sort for each iteration: with many short rows all of the time goes
to launches, and few rows leave most of a device idle.

- *Property.* A loop whose body calls a library's sort of a row of its own: an array that the iteration makes, as long
  in each of them.
- *Legality.* The iterations are independent: the question that loops in order are asked (`parallelise`), where a sort
  is a loop that reads all of its operand and fills all of its result. What an iteration hands over a sort is an array
  that it has made, which has a row for each iteration then, or a name that can be made again behind it. An array that
  gets shorter is not handed over.
- *Schedule.* As many iterations at a time as have 2²⁴ elements of these arrays. An iteration with a loop in order has
  one block then (suppression in each image of a batch); a few of long rows have the whole device, one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass

from transkern.analysis.verdicts import own_variables, reads_of
from transkern.fuse.loops.parallel import parallelise
from transkern.fuse.lowering.copies import with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    buffers_read,
    buffers_used,
    buffers_written,
    is_in_order,
    map_block,
    own_exprs,
    scalars_set,
    scalars_used,
    variables_read,
    walk,
    with_bodies,
)
from transkern.records import replace

ELEMENTS = 1 << 24
"""Elements of all arrays that have a row for each iteration: 64 to 128 MB each."""
_FEW, _LONG = 32, 8192
"""Fewer iterations than these, of more elements, keep the device busy by themselves."""
_SORTS = ("argsort", "sort")
_STAYING = (n.Library, n.Return, n.Guard, n.Scanning)
_Block = tuple[n.Stmt, ...]


def batch_sorts(program: n.Program) -> n.Program:
    """The program with such loops taken apart."""
    if not any(isinstance(s, n.Library) and s.name in _SORTS for s in walk(program.body)):
        return program
    return _Batching(program).made()


@dataclass(frozen=True, slots=True)
class _Parts:
    """What a loop's body is before, between and behind its `sorts`, and the arrays that are handed over these."""

    pieces: tuple[_Block, ...]
    sorts: tuple[n.Library, ...]
    handed: tuple[str, ...]


class _Batching:
    def __init__(self, program: n.Program) -> None:
        self.program, self.names = program, Names.of(program)
        self.buffers, self.variables = dict(program.buffers), dict(program.variables)

    def made(self) -> n.Program:
        body = self.block(self.program.body)
        made = {s.buffer for s in walk(body) if isinstance(s, n.Alloc)}
        gone = {s.buffer for s in walk(self.program.body) if isinstance(s, n.Alloc)} - made
        buffers = {name: x for name, x in self.buffers.items() if name not in gone}
        return replace(self.program, body=body, buffers=buffers, variables=self.variables)

    def block(self, statements: Sequence[n.Stmt]) -> _Block:
        out: list[n.Stmt] = []
        for s in statements:
            if isinstance(s, n.Loop) and s.kind == "sequential" and s.step == b.ONE and not s.fails:
                parts = self.parts(s)
                if parts is not None and self.is_independent(s):
                    out += self.batched(s, parts)
                    continue
            out.append(with_bodies(s, self.block))
        return tuple(out)

    # --- which loops

    def parts(self, loop: n.Loop) -> _Parts | None:
        """The loop's body around its sorts; None where it does not go apart there."""
        own = {s.buffer for s in loop.body if isinstance(s, n.Alloc)}
        sorts = [s for s in loop.body if isinstance(s, n.Library)]
        inside = scalars_set(loop)
        if not sorts or not all(self.is_row(s, own, inside) for s in sorts):
            return None
        if self.keeps_together(loop, sorts):
            return None
        pieces: list[list[n.Stmt]] = [[]]
        for s in loop.body:
            if isinstance(s, n.Library):
                pieces.append([])
            else:
                pieces[-1].append(s)
        touched = [_touched(p) for p in pieces]
        by_sorts = {name for s in sorts for name in (*s.ins, *s.outs)}
        handed = tuple(
            sorted(name for name in own if name in by_sorts or sum(name in names for names in touched) > 1)
        )
        if any(variables_read(d) & inside for name in handed for d in self.buffers[name].dims):
            return None
        shortened = {out for s in walk(loop.body) if isinstance(s, n.Compact) for out in s.outputs}
        if not shortened <= own - set(handed):  # an iteration's own array, which only what is behind a sort has
            return None
        if any(self.buffers[name].role != "temporary" or self.buffers[name].layout != "C" for name in handed):
            return None
        made = _with_names_again([tuple(p) for p in pieces], loop, self.names)
        return None if made is None else _Parts(made, tuple(sorts), handed)

    def keeps_together(self, loop: n.Loop, sorts: Sequence[n.Library]) -> bool:
        """Whether something beside the sorts needs an iteration as it is."""
        rest = [s for s in loop.body if s not in sorts]
        return any(isinstance(x, _STAYING) for x in walk(rest)) or any(map(_leaves, rest))

    def is_row(self, s: n.Library, own: set[str], inside: Set[str]) -> bool:
        """Whether a sort is of a row that the iteration makes."""
        names = (*s.ins, *s.outs)
        return (
            s.name in _SORTS
            and len(s.ins) == len(s.outs) == 1
            and not any(s.views)
            and set(names) <= own
            and all(len(self.buffers[x].dims) == 1 and not self.buffers[x].element for x in names)
            and not any(variables_read(d) & inside for x in names for d in self.buffers[x].dims)
        )

    def is_independent(self, loop: n.Loop) -> bool:
        """Whether the iterations have nothing to do with each other, as `parallelise` finds."""
        names = Names.of(self.program)

        def in_place(s: n.Stmt) -> n.Stmt:
            if not isinstance(s, n.Library):
                return s
            (read,), (filled,) = s.ins, s.outs
            axis = Var(names.fresh("q"), "index")
            value: Expr = Load(read, (axis,), self.buffers[read].dtype)
            if self.buffers[filled].dtype != value.dtype:
                value = b.cast(Apply("where", (b.compare("less", axis, b.ZERO), b.ZERO, axis), "index"), "int64")
            store = n.Store(filled, (axis,), value)
            return n.Loop(axis.name, b.ZERO, self.buffers[filled].dims[0], b.ONE, "parallel", (store,), span=s.span)

        trial = replace(loop, body=tuple(map(in_place, loop.body)))

        def put(block: _Block) -> _Block:
            return tuple(trial if s is loop else with_bodies(s, put) for s in block)

        asked = parallelise(replace(self.program, body=put(self.program.body), buffers=self.buffers))
        return any(isinstance(s, n.Loop) and s.axis == loop.axis and s.kind == "parallel" for s in walk(asked.body))

    # --- what becomes of them

    def batched(self, loop: n.Loop, parts: _Parts) -> _Block:
        span, names = loop.span, self.names
        first, end, size = (Var(names.fresh(of), "index") for of in ("first", "end", "rows"))
        each: Expr = b.ZERO
        for name in parts.handed:
            each = b.add(each, b.product(self.buffers[name].dims))
        rows = {name: names.fresh(name) for name in parts.handed}
        count = b.maximum(b.sub(end, first), b.ZERO)
        for name, row in rows.items():
            old = self.buffers[name]
            self.buffers[row] = replace(old, name=row, dims=(count, *old.dims))
        body: list[n.Stmt] = [n.Let(end.name, b.minimum(b.add(first, size), loop.stop), span=span)]
        body += [n.Alloc(row, span=span) for row in rows.values()]
        for k, piece in enumerate(parts.pieces):
            if k:
                step = parts.sorts[k - 1]
                attributes = tuple((key, 1 if key == "axis" else value) for key, value in step.attributes)
                ins, outs = (tuple(rows[x] for x in given) for given in (step.ins, step.outs))
                body.append(replace(step, ins=ins, outs=outs, attributes=attributes))
            inside = tuple(s for s in piece if not (isinstance(s, n.Alloc) and s.buffer in rows))
            if all(isinstance(s, (n.Let, n.Alloc)) for s in inside):
                continue
            at = Var(loop.axis if k == 0 else names.fresh(loop.axis), "index")
            again: dict[Expr, Expr] = {Var(loop.axis, "index"): at}
            inside = map_block(_in_rows(inside, rows, b.sub(Var(loop.axis, "index"), first)), again.get)
            body.append(replace(loop, axis=at.name, start=first, stop=end, body=inside))
        fit = b.maximum(Apply("floor_divide", (Const(ELEMENTS, "index"), b.maximum(each, b.ONE)), "index"), b.ONE)
        chunks = n.Loop(first.name, loop.start, loop.stop, size, "sequential", tuple(body), span=span)
        made: _Block = (n.Let(size.name, fit, span=span), chunks)
        if not any(is_in_order(x) for piece in parts.pieces for x in walk(piece)):
            return made
        private = own_variables(loop, self.variables, reads_of(self.program.body))
        one_by_one = with_own_names(loop, names, self.variables, self.buffers, private)
        few = b.compare("less", b.sub(loop.stop, loop.start), b.index(_FEW))
        longs = b.compare("greater", each, b.index(_LONG))
        return (n.If(b.both(few, longs), (one_by_one,), made, span=span),)


def _leaves(s: n.Stmt) -> bool:
    """Whether a statement leaves the loop around it, or goes on with it."""
    if isinstance(s, n.If):
        return any(map(_leaves, (*s.then, *s.orelse)))
    return isinstance(s, (n.Break, n.Continue))


def _touched(block: Sequence[n.Stmt]) -> set[str]:
    return {name for s in block for name in (*buffers_used(s), *buffers_written(s))}


def _with_names_again(pieces: list[_Block], loop: n.Loop, names: Names) -> tuple[_Block, ...] | None:
    """The pieces, which have the names of those before them that they need; None where one cannot be made again."""
    written = buffers_written(loop)
    made: dict[str, n.Let] = {}
    set_before: set[str] = set()
    out: list[_Block] = []
    for piece in pieces:
        used = {name for s in piece for name in scalars_used(s)}
        needed: list[n.Let] = []
        for name in reversed(made):
            if name in used:
                needed.insert(0, made[name])
                used |= {v for e in own_exprs(made[name]) for v in variables_read(e)}
        if used & (set_before - set(made)):
            return None
        again: dict[Expr, Expr] = {}
        whole: list[n.Stmt] = []
        for s in (*needed, *piece):
            (s,) = map_block((s,), again.get)
            if len(whole) < len(needed) and isinstance(s, n.Let):
                named = Var(names.fresh(s.name), s.value.dtype)
                again[Var(s.name, s.value.dtype)] = named
                s = replace(s, name=named.name)
            whole.append(s)
        out.append(tuple(whole))
        for s in piece:
            set_before |= scalars_set(s)
            if isinstance(s, n.Let) and not any(buffers_read(e) & written for e in own_exprs(s)):
                made[s.name] = s
    return tuple(out)


def _in_rows(block: _Block, rows: dict[str, str], at: Expr) -> _Block:
    """The statements with arrays of an iteration as the row `at` of those of all iterations."""

    def change(e: Expr) -> Expr | None:
        if isinstance(e, Load) and e.buffer in rows:
            return Load(rows[e.buffer], (at, *(b.map_expr(i, change) for i in e.index)), e.dtype)
        return None

    def one(s: n.Stmt) -> n.Stmt:
        if isinstance(s, n.Store) and s.buffer in rows:
            return replace(s, buffer=rows[s.buffer], index=(at, *s.index))
        return with_bodies(s, lambda body: tuple(map(one, body)))

    return tuple(map(one, map_block(block, change)))
