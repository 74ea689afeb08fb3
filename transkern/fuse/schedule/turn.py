"""An array that an inner loop reads along its rows, for each of many lanes another row, is read from a turned copy:

    for i in 0 .. n:                                      parallel j, k: b_turned[k, j] = b[j, k]
        parallel j in 0 .. m:                             for i in 0 .. n:
            s := 0                               to           parallel j in 0 .. m:
            for k in 0 .. p: s := s + a[i, k] * b[j, k]           s := 0
            c[i, j] = s                                           for k in 0 .. p: s := s + a[i, k] * b_turned[k, j]
                                                                  c[i, j] = s

so that what the lanes read stands side by side. It pays where a loop around reads the same elements again and again:
the copy costs as much as one of its iterations. What the loop stores into the array goes into the copy too. Sizes
decide when the program runs; otherwise the loop stays as it was.

So are the arrays of sums of rows (``w @ h`` of each step), where rows are short enough that a vector along each is soon
through, and its lanes have to be added up (`turn_reductions`): lanes over the rows add nothing up (`order_columns`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from transkern.analysis.verdicts import own_variables, reads_of
from transkern.fuse.checks.choices import choose, may_choose
from transkern.fuse.lanes.memory import contiguous
from transkern.fuse.lowering.copies import with_own_names
from transkern.fuse.schedule.columns import Ordering
from transkern.fuse.schedule.push import pushed_loops
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    buffers_allocated,
    buffers_read,
    buffers_written,
    exprs,
    map_block,
    scalars_set,
    variables_read,
    walk,
    with_bodies,
)  # fmt: skip
from transkern.records import replace

GAIN = 16
"""How often an element must be read for its place in a copy to pay."""

TERMS = 128
"""Terms of a reduction up to which lanes over many of them are faster than lanes along each."""

_LINE = 8
"""Columns that are copied together: elements of a line of the cache."""


def turn_arrays(program: n.Program) -> n.Program:
    """The program with turned copies of the arrays that lanes read row by row."""
    if not any(isinstance(s, n.Loop) and s.kind == "sequential" for s in walk(program.body)):
        return program
    state = _Turning(program)
    body = state.block(program.body)
    return replace(program, body=body, variables=state.variables, buffers=state.buffers)


def turn_reductions(program: n.Program) -> n.Program:
    """The program with turned copies of the arrays that short reductions go through row by row, again and again."""
    if not any(isinstance(s, n.Loop) and any(isinstance(x, n.Accumulate) for x in s.body) for s in walk(program.body)):
        return program
    state = TurningReductions(program)
    body = state.block(program.body)
    return replace(program, body=body, variables=state.variables, buffers=state.buffers)


class _Turning:
    def __init__(self, program: n.Program) -> None:
        self.program, self.names = program, Names.of(program)
        self.variables, self.buffers = dict(program.variables), dict(program.buffers)
        self.reads = reads_of(program.body)
        self.pushed: set[int] | None = None

    def block(self, statements: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
        out: list[n.Stmt] = []
        rest = list(statements)
        while rest:
            s = rest.pop(0)
            if isinstance(s, n.Loop) and abs(b.constant(s.step) or 0) == 1:
                arrays, enough = self.candidates(s)
                if arrays and may_choose(out, s, rest):
                    rest = choose(out, (enough,), self.versions(s, arrays), rest, self.names, self.variables)
                    continue
            out.append(with_bodies(s, self.block))
        return tuple(out)

    # --- which arrays

    def candidates(self, outer: n.Loop) -> tuple[list[str], Expr]:
        """The arrays of which the loop wants turned copies, and the condition on sizes under which that pays."""
        found: dict[str, Expr] = {}
        depths: dict[str, int] = {}
        for chain in chains_in((outer,)):
            if len(chain) < 3 or not self.has_lanes(chain):
                continue
            arrays = {e.buffer for e in exprs(chain[-1].body) if isinstance(e, Load) and self.across(e, chain)}
            work = work_of(outer, chain)
            if not arrays or work is None or not self.gains(chain, arrays):
                continue
            for name in sorted(arrays):  # the same text in every process
                cost = b.mul(b.index(GAIN), b.product(self.buffers[name].dims))
                enough = b.compare("greater_equal", work, cost)
                found[name] = b.either(found[name], enough) if name in found else enough
                depths[name] = max(len(chain), depths.get(name, 0))
        kept = [name for name in found if self.mirrored(outer, name, depths[name])]
        condition: Expr = b.TRUE
        for name in kept:
            condition = b.both(condition, found[name])
        return kept, condition

    def has_lanes(self, chain: list[n.Loop]) -> bool:
        """Whether the loop around the innermost one will be lanes, and no loop around has better ones."""
        lanes, inner = chain[-2:]
        if inner.kind != "sequential" or b.constant(lanes.step) != 1:
            return False
        able = [x for x in chain[:-1] if x.kind == "parallel" or x is lanes]
        if any(contiguous(x.axis, (inner,), self.buffers) > 0 for x in able):
            return False
        if lanes.kind == "parallel":
            return True
        if self.pushed is None:
            self.pushed = pushed_loops(self.program)
        return id(lanes) in self.pushed

    def across(self, e: Load, chain: list[n.Loop]) -> bool:
        """Whether the innermost loop runs along a row, of each lane another one, whatever the outermost loop does."""
        info = self.buffers.get(e.buffer)
        if info is None or len(info.dims) != 2 or len(e.index) != 2:
            return False
        outer, lanes, inner = chain[0].axis, Var(chain[-2].axis), Var(chain[-1].axis)
        row, column = e.index
        return (
            b.affine(row)[0].get(lanes) == 1
            and b.affine(column)[0].get(inner) == 1
            and not {outer, inner.name} & variables_read(row)
            and not {outer, lanes.name} & variables_read(column)
        )

    def gains(self, chain: list[n.Loop], arrays: set[str]) -> bool:
        """Whether with the copies most of what the lanes touch stands side by side."""
        made = {name: replace(self.buffers[name], dims=self.buffers[name].dims[::-1], layout="C") for name in arrays}
        inner = replace(chain[-1], body=self.read(chain[-1].body, chain, {name: name for name in arrays}))
        return contiguous(chain[-2].axis, (inner,), {**self.buffers, **made}) > 0

    def read(self, block: tuple[n.Stmt, ...], chain: list[n.Loop], names: dict[str, str]) -> tuple[n.Stmt, ...]:
        """The body of an innermost loop, which reads from the copies."""

        def change(e: Expr) -> Expr | None:
            if isinstance(e, Load) and e.buffer in names and self.across(e, chain):
                return Load(names[e.buffer], e.index[::-1], e.dtype)
            return None

        return map_block(block, change)

    def mirrored(self, outer: n.Loop, name: str, depth: int) -> bool:
        """Whether the copy can follow what the loop stores, in loops less deep than the reads."""
        for s in walk((outer,)):
            match s:
                case n.Alloc(buffer) if buffer == name:
                    return False
                case n.Compact() | n.Scanning() | n.Library() | n.Kernel() if name in buffers_written(s):
                    return False
                case _:
                    pass
        return all(
            len(store.index) == 2 and len(chain) < depth
            for chain, store in _stores((outer,)) if store.buffer == name
        )  # fmt: skip

    # --- what is made of them

    def versions(self, outer: n.Loop, arrays: list[str]) -> tuple[tuple[n.Stmt, ...], tuple[n.Stmt, ...]]:
        """The loop with turned copies, and as it was."""
        names: dict[str, str] = {}
        made: list[n.Stmt] = []
        for name in arrays:
            info = self.buffers[name]
            copy = names[name] = self.names.fresh(f"{name.partition('.')[0]}_turned")
            self.buffers[copy] = n.Buffer(copy, info.dtype, info.dims[::-1], line=outer.span.line)
            made += [n.Alloc(copy, span=outer.span), self.copied(name, copy, outer)]
        private = own_variables(outer, self.variables, self.reads)
        plain = with_own_names(outer, self.names, self.variables, self.buffers, private)
        return (*made, *self.with_copies((outer,), [], names)), (plain,)

    def with_copies(
        self, block: Iterable[n.Stmt], around: list[n.Loop], names: dict[str, str]
    ) -> tuple[n.Stmt, ...]:
        """The statements with reads from the copies where lanes read, and stores into both."""
        out: list[n.Stmt] = []
        for s in block:
            chain = [*around, s] if isinstance(s, n.Loop) else around
            if isinstance(s, n.Loop) and len(chain) > 2 and list(chains_in((s,))) == [[s]] and self.has_lanes(chain):
                body = self.read(s.body, chain, names)
                s = s if body == s.body else self.limited(replace(s, body=body))
            out.append(with_bodies(s, lambda inner: self.with_copies(inner, chain, names)))  # noqa: B023
            if isinstance(s, n.Store) and s.buffer in names:
                value = Load(s.buffer, s.index, self.buffers[s.buffer].dtype)
                out.append(n.Store(names[s.buffer], s.index[::-1], value, span=s.span))
        return tuple(out)

    def limited(self, inner: n.Loop) -> n.Loop:
        """An innermost loop that reads from copies, with what is known of it where there are such."""
        return inner

    def copied(self, name: str, copy: str, outer: n.Loop) -> n.Loop:
        """The loop that fills a copy, a line's worth of columns at a time."""
        rows, columns = self.buffers[name].dims
        block, row, column = (Var(self.names.fresh(x)) for x in ("column_block", "row", "column"))
        store = n.Store(copy, (column, row), Load(name, (row, column), self.buffers[name].dtype), span=outer.span)
        last = b.minimum(b.add(block, b.index(_LINE)), columns)
        inside = n.Loop(column.name, block, last, b.ONE, "parallel", (store,), span=outer.span)
        along = n.Loop(row.name, b.ZERO, rows, b.ONE, "parallel", (inside,), span=outer.span)
        return n.Loop(block.name, b.ZERO, columns, b.index(_LINE), "parallel", (along,), span=outer.span)


class TurningReductions(_Turning):
    """Copies for reductions: of arrays that the outermost loop does not change, where all that a loop reduces gets
    lanes over that loop by them."""

    def __init__(self, program: n.Program) -> None:
        super().__init__(program)
        self.ordering = Ordering(program)

    def candidates(self, outer: n.Loop) -> tuple[list[str], Expr]:
        nests: dict[int, list[list[n.Loop]]] = {}
        for chain in chains_in((outer,)):
            if len(chain) > 2:
                nests.setdefault(id(chain[-2]), []).append(chain)
        arrays: dict[str, Expr] = {}
        for chains in nests.values():
            found = self.of_nest(outer, chains)
            arrays |= found or {}
        condition: Expr = b.TRUE
        for pays in dict.fromkeys(arrays.values()):
            condition = b.both(condition, pays)
        return list(arrays), condition

    def of_nest(self, outer: n.Loop, chains: list[list[n.Loop]]) -> dict[str, Expr] | None:
        """The arrays of a loop over reductions, and when their copies pay."""
        lanes, changed = chains[0][-2], {*buffers_written(outer), *buffers_allocated(outer)}
        if not all(self.has_lanes(chain) for chain in chains) or not self.ordering.columns(lanes):
            return None
        pays: dict[str, Expr] = {}
        for chain in chains:
            arrays = {e.buffer for e in exprs(chain[-1].body) if isinstance(e, Load) and self.across(e, chain)}
            work = work_of(outer, chain)
            if arrays & changed or work is None or not self.gains(chain, arrays):
                return None
            few = b.compare("less_equal", b.sub(chain[-1].stop, chain[-1].start), b.index(TERMS))
            many = b.compare("greater_equal", b.sub(lanes.stop, lanes.start), b.index(_LINE))
            if (variables_read(few) | variables_read(many)) & {*scalars_set(outer), *(x.axis for x in chain)}:
                return None
            for name in sorted(arrays):
                cost = b.mul(b.index(GAIN), b.product(self.buffers[name].dims))
                pays[name] = b.both(b.both(few, many), b.compare("greater_equal", work, cost))
        return pays

    def limited(self, inner: n.Loop) -> n.Loop:
        return replace(inner, stop=b.minimum(inner.stop, b.add(inner.start, b.index(TERMS))))

    def has_lanes(self, chain: list[n.Loop]) -> bool:
        lanes, inner = chain[-2:]
        return (
            inner.kind == lanes.kind == "parallel" and b.constant(lanes.step) == b.constant(inner.step) == 1
            and any(isinstance(s, n.Accumulate) for s in inner.body)
        )  # fmt: skip


def chains_in(block: Iterable[n.Stmt], around: tuple[n.Loop, ...] = ()) -> Iterator[list[n.Loop]]:
    """The loops from the outermost to each innermost one."""
    for s in block:
        if isinstance(s, n.Loop):
            inner = list(chains_in(s.body, (*around, s)))
            yield from inner or [[*around, s]]
        elif isinstance(s, n.If):
            yield from chains_in((*s.then, *s.orelse), around)


def _stores(block: Iterable[n.Stmt], around: tuple[n.Loop, ...] = ()) -> Iterator[tuple[tuple[n.Loop, ...], n.Store]]:
    """Each store, with the loops around it."""
    for s in block:
        match s:
            case n.Store():
                yield around, s
            case n.Loop():
                yield from _stores(s.body, (*around, s))
            case n.If():
                yield from _stores((*s.then, *s.orelse), around)
            case n.While():
                yield from _stores((*s.head, *s.body), (*around, *around))  # as deep as it may be
            case _:
                pass


def work_of(outer: n.Loop, chain: list[n.Loop]) -> Expr | None:
    """How often the innermost loop runs, with the ranges of the loops around it taken at their largest end."""
    changed, written = scalars_set(outer), buffers_written(outer)
    first: dict[str, Expr] = {}
    last: dict[str, Expr] = {}
    total: Expr = b.ONE
    for start, stop, loop in _ranges(chain):
        bounds = (start, stop)
        if any(variables_read(e) & changed or buffers_read(e) & written for e in bounds):
            return None
        extents = [b.sub(b.substitute(stop, known), b.substitute(start, known)) for known in (first, last)]
        step = b.constant(loop.step)
        if not step or step < -1:
            return None
        extents = [b.floordiv(e, b.index(step)) if step > 0 else b.neg(e) for e in extents]
        total = b.mul(total, b.maximum(b.maximum(*extents), b.ZERO))
        ends = [b.substitute(start, first), b.sub(b.substitute(stop, last), b.index(step))]
        first[loop.axis], last[loop.axis] = ends
    return total


def _ranges(chain: list[n.Loop]) -> Iterator[tuple[Expr, Expr, n.Loop]]:
    """The loops with their ranges, where two that go through one range block by block are one loop over it."""
    blocks: dict[str, n.Loop] = {}
    strips: dict[int, n.Loop] = {}
    for loop in chain:
        outer = blocks.get(loop.start.name) if isinstance(loop.start, Var) else None
        readers = [x for x in chain if outer and outer.axis in variables_read(x.start) | variables_read(x.stop)]
        if outer is not None and b.constant(loop.step) == 1 and loop.stop in _ends(outer) and readers == [loop]:
            strips[id(loop)] = outer
        if (b.constant(loop.step) or 0) > 1:
            blocks[loop.axis] = loop
    whole = {id(outer) for outer in strips.values()}
    for loop in chain:
        range_of = strips.get(id(loop), loop)
        if id(loop) not in whole:
            yield range_of.start, range_of.stop, loop


def _ends(outer: n.Loop) -> tuple[Expr, ...]:
    """Where a block of the loop ends: behind its last iteration, which is cut at the end of the range."""
    end = b.add(Var(outer.axis), outer.step)
    return b.minimum(end, outer.stop), b.minimum(outer.stop, end)
