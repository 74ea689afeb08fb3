"""Vector lanes around a recurrence: a loop in order inside a parallel loop goes over a block of lanes at a time.

    parallel j in 0 .. p:                 parallel j_block in 0 .. p by 64:
        s := 0                                parallel lane in 0 .. 64: s[lane] = 0
        for k in 0 .. m:             to       for k in 0 .. m:
            s := s + a[i, k] * b[k, j]            parallel lane in 0 .. 64:
        c[i, j] = s                                   s[lane] = s[lane] + a[i, k] * b[k, j_block + lane]
                                              parallel lane in 0 .. 64: c[i, j_block + lane] = s[lane]

Iterations of a parallel loop may go in lock-step; each lane still does its own additions in its own order, so that the
result has the same bits. Which of the parallel loops around becomes the lanes is decided by the subscripts: the one
along which most of what the inner loops touch is contiguous. Where nothing is, a few lanes still hide how long one
addition takes. Where another parallel loop is around whose iterations load the same elements (rows of `a` above), four
of its iterations go together: what is loaded once then serves four times, and all sums stay in registers.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass

from transkern.fuse.lanes.memory import VECTOR, accesses, contiguous, narrowest, touched_in_loops, widest
from transkern.fuse.lanes.ranges import begun_together, has_moving_ranges, parts_of, range_of
from transkern.fuse.lanes.together import (
    Copy,
    always,
    independent,
    lanes_own,
    loaded_where,
    may_go_again,
    only_lanes,
    renamed,
    repeatable,
)
from transkern.fuse.lanes.uniform import Uniform, has_uniform_loops, runs, scalars_in, set_innermost, uniform_lets
from transkern.fuse.lowering.copies import with_own_names
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    buffers_read,
    buffers_written,
    map_block,
    own_exprs,
    scalars_set,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)  # fmt: skip
from transkern.records import replace

_BYTES = 8 * VECTOR
"""Lanes of one block at most: enough to hide how long an addition takes."""

_HELD = 16
"""Vectors that a block may hold through a loop, if iterations of another loop go together: sums and what they share
stay in registers. A block alone may hold twice as many: fewer lanes wait longer than what spills costs."""

_STREAMED = 4 * _BYTES
"""Lanes where nothing is held: what each step passes over is long enough for the memory to be read ahead."""

ROWS = 4
"""Iterations of a loop around that go together."""

_MOVING = 2 * VECTOR
"""Lanes whose loops do not have the same ranges."""

_SHORT = 4
"""Iterations of a loop inside that are no lanes: the columns of a point."""

_BUSY = 4 * VECTOR
"""What lanes must have for one addition to begin while the last ones are under way."""

_CHAINS = 16
"""Lanes where what they touch is not contiguous."""


def block_lanes(program: n.Program) -> n.Program:
    """The program with blocks of lanes around the loops in order that stand inside parallel loops."""
    state = _Blocking(program)
    body = state.block(program.body)
    return replace(program, body=body, buffers=state.buffers)


@dataclass(frozen=True, slots=True)
class _Plan:
    """`lanes` is the loop that becomes lanes, `around` the parallel loops outside it; all have the body `body`."""

    around: tuple[n.Loop, ...]
    lanes: n.Loop
    body: tuple[n.Stmt, ...]
    contiguous: bool


class _Blocking:
    def __init__(self, program: n.Program) -> None:
        self.program, self.names = program, Names.of(program)
        self.buffers = dict(program.buffers)

    def block(self, statements: Iterable[n.Stmt]) -> tuple[n.Stmt, ...]:
        return tuple(x for s in statements for x in self.statement(s))

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if isinstance(s, n.Loop) and s.kind == "parallel":
            parts = self.apart(s)
            if len(parts) > 1:
                return [x for part in parts for x in self.statement(part)]
            plan = self.plan(s)
            if plan is not None:
                return self.carry_out(plan)
            together = self.several(s)
            if together:
                return together
        return [with_bodies(s, self.block)]

    # --- which loop

    def apart(self, s: n.Loop) -> list[n.Loop]:
        """The loop, or two: one with the nests that are contiguous along its lanes and one with those that are not,
        which take few lanes and would have the others go over memory in short pieces."""
        *around, last = _nest(s)
        near: list[n.Stmt] = []
        far: list[n.Stmt] = []
        for group in independent(last.body):
            is_far = _has_loops(group) and contiguous(last.axis, group, self.buffers) <= 0
            (far if is_far else near).extend(group)
        if not _has_loops(near) or not _has_loops(far):
            return [s]
        made = []
        for body in (near, far):
            loop = replace(last, body=tuple(body))
            for x in reversed(around):
                loop = replace(x, body=(loop,))
            made.append(loop)
        return [made[0], with_own_names(made[1], self.names, {}, self.buffers)]

    def plan(self, s: n.Loop) -> _Plan | None:
        nest = _nest(s)
        body = nest[-1].body
        if not suits(body):
            return None
        body = begun_together((x.axis for x in nest), body)
        scores = [contiguous(loop.axis, body, self.buffers) for loop in nest]
        best = max(range(len(nest)), key=lambda k: (scores[k], k))
        if scores[best] <= 0:
            if any(isinstance(x, n.Loop) and x.kind == "parallel" and not _is_short(x) for x in walk(body)):
                return None  # there are lanes inside
            best = len(nest) - 1
        if any(isinstance(x, n.Accumulate) and x.position is not None for x in body):
            best = len(nest) - 1  # of equal ones it is the first: the order of iterations stays
        lanes, around = nest[best], (*nest[:best], *nest[best + 1 :])
        if b.constant(_extent(lanes)) == 1:
            return None
        alike = has_moving_ranges if scores[best] > 0 else has_uniform_loops
        if b.constant(lanes.step) != 1 or not alike(lanes.axis, body):
            return None
        made = [self.buffers[x.buffer] for x in body if isinstance(x, n.Alloc)]
        sizes = {v for x in made for d in x.dims for v in variables_read(d)}
        if sizes & ({x.axis for x in nest} | {name for x in body for name in scalars_set(x)}):
            return None
        if any(lanes.axis in _bounds(x) for x in around):
            return None  # triangular: the loops cannot change places as they are
        # what no loop in order touches comes in lines in any case
        long = [x for x in body if not _is_short(x)]
        places = (i for index, _ in touched_in_loops(long, self.buffers) for i in index)
        alone = not any(lanes.axis in variables_read(i) for i in places)
        staged = any(all(b.constant(d) is not None for d in x.dims) for x in made)  # rows of neighbours side by side
        return _Plan(around, lanes, body, scores[best] > 0 or alone or staged)

    def several(self, s: n.Loop) -> list[n.Stmt]:
        """A parallel loop over several nests, four of its iterations at a time: one nest after the other for all four.
        Empty where no nest gains by that."""
        plans: list[_Plan | None] = []
        own = {s.axis} | {x.name for x in s.body if isinstance(x, n.Let)}  # what each row has for itself
        for x in s.body:
            plan = self.plan(x) if isinstance(x, n.Loop) and x.kind == "parallel" else None
            if plan is not None and (plan.around or any(own & _bounds(y) for y in walk((x,)) if isinstance(y, n.Loop))):
                plan = None
            plans.append(replace(plan, around=(s,)) if plan is not None else None)
        shared = [plan is not None and self.rows(plan, self.held(plan)) is s for plan in plans]
        if not any(shared) or not repeatable(s.body):
            return []
        block, full = self.blocks_of_rows(s)
        copies: list[Copy] = []
        for k in range(ROWS):
            copy = Copy({s.axis: b.add(block, b.index(k))})
            for x in s.body if k else ():
                if isinstance(x, n.Let):
                    copy.names[x.name] = self.names.fresh(x.name)
                if isinstance(x, n.Alloc):
                    made = copy.arrays[x.buffer] = self.names.fresh(x.buffer)
                    self.buffers[made] = replace(self.buffers[x.buffer], name=made)
            copies.append(copy)
        body: list[n.Stmt] = []
        for x, plan, together in zip(s.body, plans, shared, strict=True):
            if plan is not None and together:
                body += self.lanes(plan, self.held(plan), copies)
            else:
                body += [y for copy in copies for y in self.block([renamed(x, copy)])]
        made_rows: list[n.Stmt] = []
        if _at_least(_extent(s), ROWS):
            made_rows.append(replace(s, axis=block.name, stop=full, step=b.index(ROWS), body=tuple(body)))
        if (b.constant(_extent(s)) or 1) % ROWS:
            made_rows.append(replace(s, start=full, body=self.block(s.body)))
        return made_rows

    def blocks_of_rows(self, s: n.Loop) -> tuple[Var, Expr]:
        """The variable of a loop that takes rows of `s` together, and where those end."""
        block = Var(self.names.fresh(f"{s.axis}_block"))
        return block, b.add(s.start, b.mul(b.index(ROWS), b.floordiv(_extent(s), b.index(ROWS))))

    def rows(self, plan: _Plan, held: set[str]) -> n.Loop | None:
        """The loop around whose iterations go together: what the lanes load is the same for all of them."""
        if not plan.contiguous or not held or any(isinstance(x, n.Accumulate) for x in plan.body):
            return None
        for loop in reversed(plan.around):
            others = [x for x in (*plan.around, plan.lanes) if x is not loop]
            if b.constant(loop.step) != 1 or any(loop.axis in _bounds(x) for x in others):
                continue
            loads = [
                {v for i in index for v in variables_read(i)}
                for x in walk(plan.body) if isinstance(x, n.Loop)
                for y in x.body if not isinstance(y, n.Loop) for index, _ in accesses(y, self.buffers)
            ]  # fmt: skip
            shared = any(plan.lanes.axis in names and loop.axis not in names for names in loads)
            if shared and has_uniform_loops(loop.axis, plan.body):
                return loop
        return None

    # --- what is made of it

    def carry_out(self, plan: _Plan) -> list[n.Stmt]:
        held = self.held(plan)
        rows = self.rows(plan, held)
        around = [x for x in plan.around if x is not rows]
        if rows is None:
            made = self.lanes(plan, held, [Copy({})])
        else:
            block, full = self.blocks_of_rows(rows)
            made = []
            if _at_least(_extent(rows), ROWS):
                inner = self.lanes(plan, held, [Copy({rows.axis: b.add(block, b.index(k))}) for k in range(ROWS)])
                made.append(replace(rows, axis=block.name, stop=full, step=b.index(ROWS), body=tuple(inner)))
            if (b.constant(_extent(rows)) or 1) % ROWS:
                made.append(replace(rows, start=full, body=tuple(self.lanes(plan, held, [Copy({})]))))
        for loop in reversed(around):
            made = [replace(loop, body=tuple(made))]
        return made

    def lanes(self, plan: _Plan, held: set[str], values: list[Copy]) -> list[n.Stmt]:
        """The loop over the blocks of lanes, the last of which may have fewer. (Not under a condition on each lane:
        GCC's masked loads leave anything in the others, and a processor may take hundreds of cycles to multiply it.)"""
        loop, extent = plan.lanes, _extent(plan.lanes)
        width = widest(plan.body, self.buffers)
        count = _CHAINS
        if plan.contiguous:
            room = _HELD // len(values) if len(values) > 1 else 2 * _HELD
            vectors = room // max(1, set_innermost(plan.body, held))
            count = max(VECTOR, min(_BYTES, VECTOR << max(0, vectors.bit_length() - 1))) // width
            count = max(count, VECTOR // narrowest(loop.axis, plan.body))  # of fewer GCC makes no vectors
            if not held and not any(isinstance(x, n.Alloc) for x in plan.body):
                count = _STREAMED // width
        if not has_uniform_loops(loop.axis, plan.body):
            count = min(count, _MOVING // width)  # of more, many have ended where some have not
        count = min(count, at_most(loop) or count)
        size, block = b.index(count), Var(self.names.fresh(f"{loop.axis}_block"))
        known, behind = b.constant(extent), b.add(block, size)
        whole = self.together(plan, held, values, block, size, size)
        if known is not None and known % count == 0:
            body = whole
        else:
            rest = self.rest(plan, held, values, block, count, max(count // 4, VECTOR // width))
            body = (n.If(b.compare("less_equal", behind, loop.stop), whole, rest, span=loop.span),)
            if known is not None and known < count:
                body = rest
        return [replace(loop, axis=block.name, step=size, body=body)]

    def rest(
        self, plan: _Plan, held: set[str], values: list[Copy], start: Expr, count: int, few: int
    ) -> tuple[n.Stmt, ...]:
        """The last block, of fewer lanes than `count`: a `few` at a time where it has as many, so that what lanes hold
        stays in registers, and half a block before these where few would wait for each other's additions. The last few
        take along lanes of this block that have run, where they may run again: fewer go one by one."""
        loop, width = plan.lanes, widest(plan.body, self.buffers)
        if not held or few >= count or b.constant(_extent(loop)) is not None:
            return self.together(plan, held, values, start, b.index(count), b.sub(loop.stop, start))
        block, size = Var(self.names.fresh(f"{loop.axis}_few")), b.index(few)
        rest = self.together(plan, held, values, block, size, b.sub(loop.stop, block))
        at, named = block, list[n.Stmt]()
        if plan.contiguous and may_go_again(plan.body):
            at = Var(self.names.fresh(f"{loop.axis}_at"))
            named.append(n.Let(at.name, b.minimum(block, b.sub(loop.stop, size)), span=loop.span))
        whole = (*named, *self.together(plan, held, values, at, size, size))
        behind = b.add(start if named else block, size)
        body = n.If(b.compare("less_equal", behind, loop.stop), whole, rest, span=loop.span)
        first: list[n.Stmt] = []
        if 2 * few < count and few * len(values) * width < _BUSY:
            half = b.index(count // 2)
            behind = b.add(start, half)
            enough = b.compare("less_equal", behind, loop.stop)
            first.append(n.If(enough, self.together(plan, held, values, start, half, half), span=loop.span))
            start = b.where(enough, behind, start)
        return (*first, n.Loop(block.name, start, loop.stop, size, "sequential", (body,), span=loop.span))

    def held(self, plan: _Plan) -> set[str]:
        """The scalars that live longer than one run of statements without loops: each lane has its own."""
        where: dict[str, set[int]] = {}
        for k, run in enumerate(runs(plan.body, Uniform(plan.lanes.axis, plan.body))):
            for name in scalars_in(run):
                where.setdefault(name, set()).add(k)
        bound = {s.name for s in walk(plan.body) if isinstance(s, (n.Let, n.Assign))}
        return {name for name in bound - uniform_lets(plan.lanes.axis, plan.body) if len(where.get(name, ())) > 1}

    def together(
        self, plan: _Plan, held: set[str], values: list[Copy], start: Expr, size: Expr, count: Expr
    ) -> tuple[n.Stmt, ...]:
        """The body for `count` lanes from `start`, `size` at most: runs of plain statements over the lanes, loops in
        order outside; an iteration of the loop around for each of `values`."""
        lane = Var(self.names.fresh("lane"))
        position = b.add(start, lane)
        dtypes = {s.name: s.value.dtype for s in walk(plan.body) if isinstance(s, n.Let)}
        dtypes |= {s.name: self.program.variables[s.name] for s in walk(plan.body) if isinstance(s, n.Assign)}
        lets = [s.name for s in walk(plan.body) if isinstance(s, n.Let)]
        out: list[n.Stmt] = []
        copies: list[Copy] = []
        for k, own in enumerate(values):
            copy = Copy({plan.lanes.axis: position, **own.values}, own.arrays, dict(own.names))
            if k:
                copy.names |= {name: self.names.fresh(name) for name in lets}
            for name in sorted(held):
                buffer = copy.spread[name] = self.names.fresh(f"{name}_lanes")
                self.buffers[buffer] = n.Buffer(buffer, dtypes[name], (size,), line=plan.lanes.span.line)
                out.append(n.Alloc(buffer, span=plan.lanes.span))
            copies.append(copy)
            for x in plan.body:
                if isinstance(x, n.Alloc):
                    old = self.buffers[x.buffer]
                    buffer = copy.columns[x.buffer] = self.names.fresh(f"{x.buffer}_lanes")
                    self.buffers[buffer] = replace(old, name=buffer, dims=(*old.dims, count))
                    out.append(replace(x, buffer=buffer))
        uniform = Uniform(plan.lanes.axis, plan.body)
        stores = (lanes_own(s, copy, lane) for copy in copies for s in plan.body if isinstance(s, n.Store))
        certain = {Load(s.buffer, s.index, s.value.dtype) for s in stores if isinstance(s, n.Store)}

        def over(run: Sequence[n.Stmt]) -> list[n.Stmt]:
            shared, own = self.shared_loads([lanes_own(s, copy, lane) for copy in copies for s in run], lane)
            inner = tuple(self.selected(own, lane, certain))
            return [*shared, n.Loop(lane.name, b.ZERO, count, b.ONE, "parallel", inner, span=run[0].span)]

        def divided(statements: Iterable[n.Stmt]) -> Iterator[n.Stmt]:
            run: list[n.Stmt] = []
            for s in statements:
                if isinstance(s, n.Loop):
                    if run:
                        yield from over(run)
                        run = []
                    for part in self.parts(s, plan, uniform, start, count):
                        changed = lanes_own(replace(part, body=()), copies[0], lane)
                        assert isinstance(changed, n.Loop)
                        yield replace(changed, kind="sequential", body=tuple(divided(part.body)))
                elif isinstance(s, n.Let) and s.name in uniform.lets:  # the same before all that the lanes do
                    yield from (lanes_own(s, copy, lane) for copy in copies)
                elif isinstance(s, n.If) and len(copies) == 1 and uniform.holds(s.condition):  # all, or none
                    if run:
                        yield from over(run)
                        run = []
                    changed = lanes_own(replace(s, then=(), orelse=()), copies[0], lane)
                    assert isinstance(changed, n.If)
                    yield replace(changed, then=tuple(divided(s.then)), orelse=tuple(divided(s.orelse)))
                elif not isinstance(s, n.Alloc):
                    run.append(s)
            if run:
                yield from over(run)

        out += divided(plan.body)
        return tuple(out)

    def parts(self, s: n.Loop, plan: _Plan, uniform: Uniform, start: Expr, count: Expr) -> Iterator[n.Loop]:
        """A loop as `count` lanes from `start` go through it together."""
        axis = plan.lanes.axis
        found = range_of(s, axis, plan.body, uniform)
        if found is None or not found.moves:
            yield s
        else:
            yield from parts_of(s, found, axis, uniform, start, b.sub(b.add(start, count), b.ONE))

    def selected(
        self, run: Iterable[n.Stmt], lane: Var, certain: Container[Load], holds: Expr = b.TRUE
    ) -> Iterator[n.Stmt]:
        """The statements, done where `holds`: what lives in lanes is stored in any case, as it was where a branch is
        not taken, so that it can stay in registers; and so are elements `certain` to be the lane's own, which it would
        wait for where only some of a vector are stored."""
        for s in run:
            match s:
                case n.Let(value=value) if holds != b.TRUE:  # computed in any case; what it loads may not be there
                    yield replace(s, value=loaded_where(holds, value, lane))
                case n.Store(buffer, index, value):
                    yield replace(s, value=b.where(holds, value, Load(buffer, index, value.dtype)))
                case n.If(condition, then, orelse) if only_lanes((*then, *orelse), lane, certain):
                    asked = b.where(holds, condition, b.FALSE)
                    taken = asked if isinstance(asked, Var) else Var(self.names.fresh("taken"), "bool")
                    if taken is not asked:
                        yield n.Let(taken.name, asked, span=s.span)
                    yield from self.selected(then, lane, certain, taken)
                    if orelse:
                        other = Var(self.names.fresh("taken"), "bool")
                        yield n.Let(other.name, b.where(holds, b.logical_not(taken), b.FALSE), span=s.span)
                        yield from self.selected(orelse, lane, certain, other)
                case _:
                    yield s

    def shared_loads(self, run: Sequence[n.Stmt], lane: Var) -> tuple[list[n.Stmt], tuple[n.Stmt, ...]]:
        """What every lane loads, loaded once before the lanes: GCC cannot tell that what they store is another element.
        Each lane would come to these loads, as they stand under no condition."""
        changing = {lane.name} | {name for s in run for name in scalars_set(s)}
        written = {name for s in run for name in buffers_written(s)}
        loaded: dict[Load, Var] = {}
        for s in run:
            for e in (x for own in own_exprs(s) for x in always(own) if isinstance(x, Load)):
                if e.buffer not in written and not variables_read(e) & changing and not buffers_read(e) & written:
                    loaded.setdefault(e, Var(self.names.fresh("shared"), e.dtype))
        if not loaded:
            return [], tuple(run)
        change = {e: v for e, v in loaded.items() if not any(e in walk_expr(o) for o in loaded if o is not e)}
        made = map_block(tuple(run), lambda e: change.get(e) if isinstance(e, Load) else None)
        return [n.Let(v.name, e, span=run[0].span) for e, v in change.items()], made


def at_most(loop: n.Loop) -> int | None:
    """How many iterations a loop over a part of a range has at most: ``i in block .. min(block + 16, n)``."""
    match loop.stop:
        case Apply("minimum", (x, y), _):
            found = [d for d in (b.difference(x, loop.start), b.difference(y, loop.start)) if d is not None and d > 0]
            return min(found, default=None)
        case _:
            return None


def _extent(loop: n.Loop) -> Expr:
    """How many iterations the loop makes."""
    extent = b.sub(loop.stop, loop.start)
    return extent if b.is_nonnegative(extent) else b.maximum(extent, b.ZERO)


def _is_short(s: n.Stmt) -> bool:
    """A loop over the few columns of a point, of which nobody makes lanes."""
    if not isinstance(s, n.Loop) or s.kind != "parallel":
        return False
    known = b.constant(_extent(s))
    return known is not None and known <= _SHORT


def _at_least(extent: Expr, count: int) -> bool:
    known = b.constant(extent)
    return known is None or known >= count


def _bounds(loop: n.Loop) -> frozenset[str]:
    return variables_read(loop.start) | variables_read(loop.stop)


def _has_loops(body: Iterable[n.Stmt]) -> bool:
    return any(isinstance(s, n.Loop) for s in walk(body))


def _is_nest(body: tuple[n.Stmt, ...]) -> bool:
    return len(body) == 1 and isinstance(body[0], n.Loop) and body[0].kind == "parallel"


def _nest(s: n.Loop) -> list[n.Loop]:
    """Parallel loops, each the only statement of the one around it."""
    found = [s]
    while _is_nest(found[-1].body):
        inner = found[-1].body[0]
        assert isinstance(inner, n.Loop)
        found.append(inner)
    return found


def suits(body: tuple[n.Stmt, ...]) -> bool:
    """Whether the body of the innermost parallel loop is plain statements and loops, one of them in order."""
    inner = list(walk(body))
    if not any(isinstance(s, n.Loop) and s.kind == "sequential" for s in inner):
        return False
    for s in inner:
        match s:
            case n.Loop() | n.Let() | n.Assign() | n.Store():
                pass
            case n.Accumulate() if s in body:  # behind the loops, over the lanes
                pass
            case n.Alloc() if s in body:  # each lane has an array of its own: they lie side by side
                pass
            case n.If():
                if any(isinstance(x, n.Loop) for x in walk((*s.then, *s.orelse))):
                    return False
            case _:
                return False
    return True
