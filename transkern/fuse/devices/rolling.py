"""Tables of which a loop keeps the last row alone have all their rows, so that diagonals of points go side by side:

    for i in 0 .. n:                                  table[0, :] = prev
        cur[:] = first(i)                             parallel i in 0 .. n: table[i + 1, :] = first(i)
        for j in 0 .. m:                      to      for i in 0 .. n:
            cur[j + 1] = f(cur[j], prev[j + 1])           for j in 0 .. m:
        prev[:] = cur                                         table[i + 1, j + 1] = f(table[i + 1, j], table[i, j + 1])
                                                      prev[:] = table[n, :]

- *Property.* An iteration makes a row, fills it by parts that look at no other row, goes through it in order once, and
  leaves it, whole, to the next iteration.
- *Legality.* Rows that no iteration shares are the same values; what the two loops then do in waves, `order_by_waves`
  asks for the table. What begins a row meets nothing of others'.
  Two rows that change places (`prev, cur = cur, prev`) are such rows where an iteration makes all of one.
- *Schedule.* In order, one thread went through all points, each of which waits for the one before. The rows are memory
  for the sake of threads: where they would be more than 2²⁶ elements, or few and short, the loop stays as it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

from transkern.analysis.verdicts import reads_of
from transkern.fuse.devices.swapped import is_whole, swapped
from transkern.fuse.lowering.copies import with_names, with_own_names
from transkern.fuse.waves.wavefront import LEAST, Waves, by_waves
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.traverse import (
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

_MOST = 1 << 26
"""Elements that all rows may have."""


def order_by_waves(program: n.Program) -> n.Program:
    """The program with loops over tables as diagonals of single points, all of which a device computes at once."""
    return by_waves(program, _Rolling)


@dataclass(frozen=True, slots=True)
class _Rows:
    """A loop's row and the one before it, what begins a row, and the loop that goes through it in order."""

    row: str
    last: str
    begin: tuple[n.Stmt, ...]
    along: n.Loop
    lets: tuple[n.Let, ...]


class _Rolling(Waves):
    def __init__(self, program: n.Program) -> None:
        super().__init__(program)
        self.outermost = {id(s) for s in _outermost(program.body)}

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if id(s) in self.outermost and isinstance(s, n.Loop) and s.kind == "sequential" and not s.fails:
            rows = self.rows(s)
            made = None if rows is None else self.whole(s, rows)
            if made is not None:
                return made
        return super().statement(s)

    def through(self, statements: Sequence[n.Stmt]) -> list[n.Stmt]:
        out: list[n.Stmt] = []
        left = list(statements)
        while left:
            s = left.pop(0)
            made = self.swapped(s, left[0]) if left and id(s) in self.outermost else None
            out += self.statement(s) if made is None else made
            self.learn(s)
            if made is not None:
                self.learn(left.pop(0))
        return out

    def swapped(self, s: n.Stmt, follow: n.Stmt) -> list[n.Stmt] | None:
        """A loop whose two rows change places, with what follows it, as `whole` makes it: the last rows go back to
        where they would be."""
        found = swapped(s, follow)
        if found is None or not self.is_own(found.row, found.last):
            return None
        (row, last), body = (self.buffers[name] for name in (found.row, found.last)), found.loop.body
        *before, along = body
        lets = tuple(x for x in before if isinstance(x, n.Let))
        begin = tuple(x for x in before if not isinstance(x, n.Let))
        assert isinstance(along, n.Loop)
        if (row.dims, row.dtype) != (last.dims, last.dtype) or not is_whole((*begin, along), row.name, row.dims[0]):
            return None
        if not all(_begins(x, {row.name, last.name}) for x in begin):
            return None
        if any(set(buffers_used(x)) & {row.name, last.name} for x in lets):
            return None
        made = self.whole(found.loop, _Rows(row.name, last.name, begin, along, lets))
        match made:
            case [n.If(enough, (n.Alloc(table), *steps, _))]:
                pass
            case _:
                return None
        odd = b.mod(found.count, b.index(2))
        ends = {row.name: b.sub(b.add(found.count, odd), b.ONE), last.name: b.sub(found.count, odd)}
        for name, at in ends.items():
            k = Var(self.names.fresh("k"), "index")
            store = n.Store(name, (k,), Load(table, (at, k), row.dtype))
            steps.append(_line(k, row.dims[0], store, found.loop))
        assert isinstance(follow, n.If)
        plain = n.If(follow.condition, found.ahead, (), span=follow.span)
        again = {x.name: self.names.fresh(x.name) for x in found.ahead if isinstance(x, n.Let)}
        rest = [replace(follow, then=with_names(found.rest, again))] if found.rest else []
        return [n.If(enough, (n.Alloc(table, span=s.span), *steps), (s, plain), span=s.span), *rest]

    def rows(self, s: n.Loop) -> _Rows | None:
        """What a loop does with rows; None where it does anything else."""
        allocs = [x for x in s.body if isinstance(x, n.Alloc)]
        orders = [x for x in s.body if isinstance(x, n.Loop) and x.kind == "sequential"]
        if b.constant(s.step) != 1 or len(allocs) != 1 or len(orders) != 1:
            return None
        row, (along,), *rest, copy = allocs[0].buffer, orders, *s.body
        last = _copied(copy, row)
        if last is None or self.buffers[last].dims != self.buffers[row].dims or not self.is_own(row, last):
            return None
        if self.buffers[last].dtype != self.buffers[row].dtype or last in buffers_written(along):
            return None
        lets = [x for x in rest if isinstance(x, n.Let)]
        begin = [x for x in rest if not isinstance(x, n.Alloc | n.Let) and x is not along]
        at = next(k for k, x in enumerate(s.body) if x is along)
        written = {name for x in s.body for name in buffers_written(x)}
        for x in begin:
            if not any(x is y for y in s.body[:at]) or {*buffers_written(x)} != {row} or not _begins(x, written):
                return None
        if any(set(buffers_used(x)) & written for x in lets) or not set(buffers_written(along)) >= {row}:
            return None
        return _Rows(row, last, tuple(begin), along, tuple(lets))

    def is_own(self, row: str, last: str) -> bool:
        """Whether both rows are lines of memory of the function's own, of a length that the host knows."""
        infos = [self.buffers[name] for name in (row, last)]
        changing = {x.name for x in walk(self.program.body) if isinstance(x, (n.Assign, n.Accumulator))}
        return all(
            x.role != "argument" and x.layout == "C" and len(x.dims) == 1 and not x.element and not x.is_reserved
            and not variables_read(x.dims[0]) & changing
            for x in infos
        )  # fmt: skip

    def whole(self, s: n.Loop, rows: _Rows) -> list[n.Stmt] | None:
        """The loop with all rows of its table, where its points then go by waves."""
        bounds = (s.start, s.stop, rows.along.start, rows.along.stop)
        changing = {x.name for x in walk(self.program.body) if isinstance(x, (n.Assign, n.Accumulator))}
        changing |= scalars_set(s) | {s.axis}
        if any(variables_read(e) & changing or buffers_read(e) for e in bounds):
            return None
        inside, everywhere = reads_of(s.body), self.reads
        if any(everywhere[name] > inside[name] for name in scalars_set(s)):
            return None
        span, (width,) = s.span, self.buffers[rows.row].dims
        count = b.maximum(b.sub(s.stop, s.start), b.ZERO)
        table = self.names.fresh(f"{rows.row}_rows")
        info = self.buffers[rows.row]
        known = dict(self.buffers)
        self.buffers[table] = replace(info, name=table, dims=(b.add(count, b.ONE), width))
        here = b.add(b.sub(Var(s.axis, "index"), s.start), b.ONE)
        before = b.sub(here, b.ONE)

        def moved(block: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
            def read(e: Expr) -> Expr | None:
                if not isinstance(e, Load) or e.buffer not in (rows.row, rows.last):
                    return None
                at = here if e.buffer == rows.row else before
                return Load(table, (at, b.map_expr(e.index[0], read)), e.dtype)

            def stored(x: n.Stmt) -> n.Stmt:
                if isinstance(x, n.Store) and x.buffer == rows.row:
                    return replace(x, buffer=table, index=(here, *x.index))
                return with_bodies(x, lambda inner: tuple(map(stored, inner)))

            return tuple(map(stored, map_block(tuple(block), read)))

        (along,) = moved([rows.along])
        assert isinstance(along, n.Loop)
        nest = replace(s, body=(*rows.lets, along))
        found = self.distances(nest, along)
        made = None if found is None else self.ordered(nest, along, *found)
        match made:
            case [n.If(enough, waves)]:
                pass
            case _:
                self.buffers.clear()
                self.buffers.update(known)
                return None
        first, end = Var(self.names.fresh("k"), "index"), Var(self.names.fresh("k"), "index")
        needed = tuple(x for x in rows.lets if any(x.name in scalars_used(y) for y in rows.begin))
        begin = replace(s, kind="parallel", body=(*needed, *moved(rows.begin)))
        begin = with_own_names(begin, self.names, self.variables, self.buffers)
        steps: list[n.Stmt] = [
            n.Alloc(table, span=span),
            _line(first, width, n.Store(table, (b.ZERO, first), Load(rows.last, (first,), info.dtype)), s),
            *([begin] if rows.begin else []),
            *waves,
            _line(end, width, n.Store(rows.last, (end,), Load(table, (count, end), info.dtype)), s),
        ]
        room = b.compare("less_equal", b.mul(count, width), b.index(_MOST))
        few = b.compare("greater_equal", width, b.index(LEAST))
        return [n.If(b.both(b.both(enough, few), room), tuple(steps), (s,), span=span)]


def _begins(s: n.Stmt, written: Set[str]) -> bool:
    """Whether a statement stores elements that look at no row."""
    plain = isinstance(s, n.Store) or (isinstance(s, n.Loop) and s.kind == "parallel")
    return plain and not {*buffers_used(s)} & written and not any(
        isinstance(x, (n.Guard, n.Alloc, n.Assign, n.Accumulate)) for x in walk((s,))
    )  # fmt: skip


def _outermost(block: Sequence[n.Stmt]) -> Iterator[n.Loop]:
    """The loops around which there is none: the host may give them memory."""
    for s in block:
        if isinstance(s, n.Loop):
            yield s
        elif isinstance(s, n.If):
            yield from _outermost((*s.then, *s.orelse))


def _copied(s: n.Stmt, row: str) -> str | None:
    """The array that a loop copies a whole row into."""
    match s:
        case n.Loop(axis, start, _, step, "parallel", (n.Store(last, (Var(to),), Load(source, (Var(of),))),)) if (
            source == row and to == of == axis and start == b.ZERO and step == b.ONE
        ):
            return last
        case _:
            return None


def _line(axis: Var, width: Expr, store: n.Store, s: n.Loop) -> n.Loop:
    return n.Loop(axis.name, b.ZERO, width, b.ONE, "parallel", (store,), span=s.span)
