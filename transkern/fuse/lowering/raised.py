"""Loops that do to each element, or each row, what an array statement does to all of them become that statement:

    sequential i in 1 .. n - 1:
        sequential j in 0 .. m:                to     write out[i + 1, j] = x[i + 1, j] * 2  for i < n - 2, j < m
            out[i, j] = x[i, j] * 2

An iteration must not touch what another one writes: of the elements of an array that is written, those that two
statements touch differ along one dim as the loop's variable does, or by a number other than zero along one where no
variable runs. Iterations can then run in any order, statement by statement, which is what array statements say. Whether
a function was written in loops or in array statements is not seen behind this pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from transkern.fuse.states.reading import computed, is_cheap, places_read, touched
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Axis, Expr, Load, Reduce, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    buffers_read,
    buffers_written,
    exprs,
    map_block,
    map_statement,
    own_exprs,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)  # fmt: skip
from transkern.records import replace

_PLACES = 4
"""In how many places at most a value that is as soon computed as loaded is computed again."""


def raise_loops(program: n.Program) -> n.Program:
    """The program with array statements for loops whose iterations have nothing to do with each other."""
    if not any(isinstance(s, n.Loop) for s in walk(program.body)):
        return program
    return replace(program, body=_Raising(program).block(program.body))


@dataclass(frozen=True, slots=True)
class _Access:
    """What a statement touches of an array that is written, and the variables that run while it does."""

    statement: int
    buffer: str
    index: tuple[Expr, ...]
    write: bool
    running: frozenset[str]


class _Raising:
    def __init__(self, program: n.Program) -> None:
        self.program = program
        self.names = Names.of(program)
        self.touched: dict[str, int] = {}  # how many statements read or write an array
        for s in walk(program.body):
            for name in touched(s):
                self.touched[name] = self.touched.get(name, 0) + 1
        self.read: dict[str, int] = {}  # in how many places a number is read
        for x in exprs(program.body):
            if isinstance(x, Var):
                self.read[x.name] = self.read.get(x.name, 0) + 1

    def block(self, statements: Sequence[n.Stmt]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        for s in statements:
            s = with_bodies(s, self.block)
            raised = self._raised(s) if isinstance(s, n.Loop) else None
            out += [s] if raised is None else raised
        return tuple(out)

    def _raised(self, loop: n.Loop) -> list[n.Stmt] | None:
        step = b.constant(loop.step)
        if loop.kind != "sequential" or loop.fails or not step:
            return None
        checks = self._leading_checks(loop)
        numbers, rest = self._unchanged(loop, loop.body[len(checks) :])
        body, last = self._parts(rest)
        if not all(_is_of_number(s, loop) for s in last) or body is None or not _independent(body, loop.axis):
            return None
        extent = b.sub(loop.stop, loop.start) if step > 0 else b.sub(loop.start, loop.stop)
        by = b.index(abs(step))
        if by != b.ONE:
            extent = b.floordiv(b.add(extent, b.sub(by, b.ONE)), by)
        if not b.is_nonnegative(extent):
            extent = b.maximum(extent, b.ZERO)
        trips_before = b.mul(loop.step, b.sub(extent, b.ONE))
        final = b.sub(loop.stop, loop.step) if by == b.ONE else b.add(loop.start, trips_before)  # of the last iteration
        axis, at = Axis(loop.axis, extent), dict[str, Expr]()
        if step != 1 or b.constant(loop.start) != 0:  # what counts from zero is not what the user calls by this name
            axis = Axis(self.names.fresh("ii"), extent)
            first = loop.start if step > 0 else final  # in any order, so upwards
            at = {loop.axis: b.add(first, b.mul(by, axis.var))}
        none = b.compare("equal", extent, b.ZERO)
        before = [replace(g, condition=b.either(none, g.condition)) for g in checks]
        made: list[n.Stmt] = [*before, *numbers, *(_over(s, axis, at) for s in body)]
        if last:
            values = tuple(replace(s, value=b.substitute(s.value, {loop.axis: final})) for s in last)
            some = b.compare("less" if step > 0 else "greater", loop.start, loop.stop)
            made.append(n.If(some, values, span=loop.span))
        return made

    def _leading_checks(self, loop: n.Loop) -> list[n.Guard]:
        """The checks before all that an iteration does, where they are the same in all of them: that of the first one
        fails, or none."""
        found: list[n.Guard] = []
        written = buffers_written(loop)
        for s in loop.body:
            if not isinstance(s, n.Guard):
                break
            if any(loop.axis in variables_read(e) or buffers_read(e) & written for e in own_exprs(s)):
                break
            found.append(s)
        return found

    def _parts(self, body: Sequence[n.Stmt]) -> tuple[list[n.Write] | None, list[n.Assign]]:
        """The stores of an iteration, with what they store written out, and the variables that it sets; no stores where
        it does anything else."""
        rest, out, last = list(body), list[n.Write](), list[n.Assign]()
        while rest:
            s = rest.pop(0)
            match s:
                case n.Let():
                    written = self._written_out(s, rest)
                    if written is None:
                        return None, last
                    rest = written
                case n.Define():
                    written = self._read_where_made(s, rest)
                    if written is None:
                        return None, last
                    rest = written
                case n.Assign():
                    last.append(s)
                case _:
                    store = _store(s)
                    if store is None:
                        return None, last
                    out.append(store)
        return out, last

    def _written_out(self, let: n.Let, rest: Sequence[n.Stmt]) -> list[n.Stmt] | None:
        """The statements behind a number, with its value where it is read: in one place, and once an iteration, unless
        it is as soon computed as loaded."""
        if let.name in self.program.variables or b.is_size_name(let.name):
            return None
        reads = buffers_read(let.value)
        places = 0
        changed = False
        for s in walk(rest):
            here = sum(x == Var(let.name, let.value.dtype) for e in own_exprs(s) for x in walk_expr(e))
            if here and changed:
                return None
            places += here
            changed = changed or bool(buffers_written(s) & reads)
        again = any(isinstance(s, (n.Write, n.Define)) and s.axes for s in walk(rest))
        most = _PLACES if is_cheap(let.value) else not again
        if places != self.read.get(let.name, 0) or places > most:
            return None
        self._read_again(let.value, max(0, places - 1))
        named = Var(let.name, let.value.dtype)
        return list(map_block(tuple(rest), lambda e: let.value if e == named else None))

    def _unchanged(self, loop: n.Loop, body: Sequence[n.Stmt]) -> tuple[list[n.Let], list[n.Stmt]]:
        """The numbers that are the same in all iterations, and the rest. They may be computed where there is no
        iteration, and no check has been made for them: they read no elements, or reduce all that there are, and divide
        no integers."""
        written, changing = buffers_written(loop), {loop.axis, *scalars_set(loop)}
        numbers, rest = list[n.Let](), list[n.Stmt]()
        for s in body:
            if isinstance(s, n.Let) and not variables_read(s.value) & changing and not buffers_read(s.value) & written:
                if self._reads_whole_arrays(s.value) and not any(map(_divides, walk_expr(s.value))):
                    numbers.append(s)
                    changing.discard(s.name)
                    continue
            rest.append(s)
        return numbers, rest

    def _reads_whole_arrays(self, value: Expr) -> bool:
        parts = list(walk_expr(value))
        extents: dict[Expr, Expr] = {a.var: a.extent for x in parts if isinstance(x, Reduce) for a in x.axes}
        loads = [x for x in parts if isinstance(x, Load)]
        return all(tuple(extents.get(i) for i in x.index) == self.program.buffers[x.buffer].dims for x in loads)

    def _read_where_made(self, made: n.Define, rest: Sequence[n.Stmt]) -> list[n.Stmt] | None:
        """The statements behind an array of the iteration's own, with its value where it is read: each element once, or
        it is as soon computed as loaded."""
        if self.program.buffers[made.buffer].role != "temporary":
            return None
        reads, scalars = buffers_read(made.value), variables_read(made.value)
        statements = places = 0
        changed = False
        for s in walk(rest):
            if made.buffer in touched(s):
                found = places_read(s, made) if isinstance(s, (n.Define, n.Write)) else 0
                if not found or changed or made.buffer in buffers_written(s):
                    return None
                statements, places = statements + 1, places + found
            changed = changed or bool(buffers_written(s) & reads) or bool(scalars_set(s) & scalars)
        if statements != self.touched[made.buffer] - 1 or places > (_PLACES if is_cheap(made.value) else 1):
            return None
        for name in reads:
            self.touched[name] += max(0, statements - 1)
        self._read_again(made.value, max(0, places - 1))

        return list(map_block(tuple(rest), computed(made)))

    def _read_again(self, value: Expr, more: int) -> None:
        for x in walk_expr(value):
            if isinstance(x, Var):
                self.read[x.name] = self.read.get(x.name, 0) + more


def _divides(e: Expr) -> bool:
    return isinstance(e, Apply) and e.op in ("floor_divide", "remainder", "fmod") and not e.dtype.startswith("float")


def _store(s: n.Stmt) -> n.Write | None:
    """A statement that does nothing but to store, perhaps where a condition holds."""
    match s:
        case n.Store(buffer, index, value):
            return n.Write(buffer, (), index, value, span=s.span)
        case n.Write():
            return s
        case n.If(condition, (n.Store() | n.Write() as inner,), ()):
            store = _store(inner)
            if store is None or any(isinstance(x, Reduce) for e in own_exprs(store) for x in walk_expr(e)):
                return None  # it would be computed where the condition does not hold, too
            return replace(store, mask=condition if store.mask is None else b.both(condition, store.mask))
        case _:
            return None


def _is_of_number(s: n.Assign, loop: n.Loop) -> bool:
    """Whether iterations set a variable by their own number alone, and do not read it: the last one's value is left."""
    changing = scalars_set(loop)
    if buffers_read(s.value) or variables_read(s.value) & changing:
        return False
    alone = sum(isinstance(x, n.Assign) and x.name == s.name for x in walk(loop.body)) == 1
    return alone and not any(isinstance(e, Var) and e.name == s.name for e in exprs(loop.body))


def _over(s: n.Write, axis: Axis, at: dict[str, Expr]) -> n.Write:
    """The store for all points of one more axis."""
    made = map_statement(s, lambda e: at.get(e.name) if isinstance(e, Var) else None) if at else s
    assert isinstance(made, n.Write)
    return replace(made, axes=(axis, *made.axes))


def _independent(body: Sequence[n.Write], axis: str) -> bool:
    """Whether no iteration touches what another one writes, nor any statement elements of others that it stores."""
    written = {s.buffer for s in body}
    found = [x for k, s in enumerate(body) for x in _accesses(k, s, axis, written)]
    for s in body:
        extents = [a.extent for a in s.axes]
        extents += [a.extent for e in own_exprs(s) for x in walk_expr(e) if isinstance(x, Reduce) for a in x.axes]
        if any(axis in variables_read(e) or buffers_read(e) & written for e in extents):
            return False
    for one in found:
        for other in found:
            if not one.write or one.buffer != other.buffer:
                continue
            if one.statement == other.statement and not other.write and one.index != other.index:
                if not _apart(one, other):  # the values of all points would need a place of their own
                    return False
            elif not (_apart(one, other) or _along(one, other, axis)):
                return False
    return True


def _accesses(number: int, s: n.Write, axis: str, written: set[str]) -> Iterator[_Access]:
    running = frozenset({axis, *(a.name for a in s.axes)})
    yield _Access(number, s.buffer, s.index, True, running)
    for e in (s.value, *s.index, *([] if s.mask is None else [s.mask])):
        inner = {a.name for x in walk_expr(e) if isinstance(x, Reduce) for a in x.axes}
        for x in walk_expr(e):
            if isinstance(x, Load) and x.buffer in written:
                yield _Access(number, x.buffer, x.index, False, running | inner)


def _along(one: _Access, other: _Access, axis: str) -> bool:
    """Whether two accesses meet in the same iteration alone: along a dim, both go as the loop's variable does."""
    for x, y in _dims(one, other):
        terms, _ = b.affine(x)
        if b.difference(x, y) != 0 or not terms.get(Var(axis, "index")):
            continue
        others = [t for t in terms if t != Var(axis, "index")]
        if all(not buffers_read(t) and not variables_read(t) & (one.running | other.running) for t in others):
            return True
    return False


def _apart(one: _Access, other: _Access) -> bool:
    """Whether two accesses never meet: along a dim where nothing runs they differ by a number."""
    for x, y in _dims(one, other):
        gap = b.difference(x, y)
        if gap is not None and gap != 0 and not (variables_read(x) | variables_read(y)) & (one.running | other.running):
            return True
    return False


def _dims(one: _Access, other: _Access) -> Iterable[tuple[Expr, Expr]]:
    return zip(one.index, other.index, strict=True) if len(one.index) == len(other.index) else ()
