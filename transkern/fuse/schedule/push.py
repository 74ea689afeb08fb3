"""A loop whose elements each need a sum over all elements before it goes over a block of lanes at a time:

    for j in 0 .. n:                        for j_block in 0 .. n by 32:
        s := a[i, j]                            parallel lane in 0 .. 32: s[lane] = a[i, j_block + lane]
        for k in 0 .. j:                        for k in 0 .. j_block:
            s := s - x[i, k] * x[k, j]              parallel lane in 0 .. 32:
        x[i, j] = s / x[j, j]           to              s[lane] = s[lane] - x[i, k] * x[k, j_block + lane]
                                                for j in j_block .. j_block + 32:
                                                    x[i, j] = s[j - j_block] / x[j, j]
                                                    parallel lane in j - j_block + 1 .. 32:
                                                        s[lane] = s[lane] - x[i, j] * x[j, j_block + lane]

Step `k` of each sum comes as soon as element `k` is there, instead of all steps of one element after each other: the
sums of a block run side by side, each in its own order, with the same bits. Legal where isl shows that step ``(j, k)``
reads nothing that an iteration after `k` and before `j` writes, and that the inner loop ends where the outer one is.
A maximum, minimum or sum of integers, which any order gives, may start from nothing, so that what comes before the
inner loop stays where it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from transkern.analysis import integers
from transkern.analysis.accesses import Access, Level, accesses_of
from transkern.analysis.dependence import Carried
from transkern.analysis.verdicts import Walk
from transkern.fuse.lanes.memory import VECTOR, contiguous, widest
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.extremes import highest, lowest
from transkern.ir.names import Names
from transkern.ir.traverse import (
    exprs,
    map_own,
    scalars_set,
    scalars_used,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)  # fmt: skip
from transkern.records import replace

_VECTORS = 4
"""Vectors of a block where what the lanes touch is contiguous."""

_CHAINS = 8
"""Lanes where it is not."""

_COMBINES = {"max": "maximum", "min": "minimum", "sum": "add", "prod": "multiply"}


def push_recurrences(program: n.Program) -> n.Program:
    """The program with blocks of lanes in loops whose elements need sums over those before them."""
    if not any(isinstance(s, n.Loop) and s.kind == "sequential" for s in walk(program.body)):
        return program
    state = _Pushing(program)
    body = state.block(program.body)
    return replace(program, body=body, buffers=state.buffers)


def pushed_loops(program: n.Program) -> set[int]:
    """The loops (by their `id`) of which `push_recurrences` would make blocks of lanes."""
    state = _Finding(program)
    state.block(program.body)
    return state.found


@dataclass(frozen=True, slots=True)
class _Recurrence:
    """`loop` over elements; what it does in order is `before` and `after`, in between come the `steps` of the loop
    `inner` over the elements before, which run over the scalar `name` from `initial`. `lag` is how many elements back
    the last step is, less one."""

    loop: n.Loop
    inner: n.Loop
    before: tuple[n.Stmt, ...]
    after: tuple[n.Stmt, ...]
    steps: tuple[n.Stmt, ...]
    name: str
    dtype: str
    initial: Expr
    lag: Expr


class _Pushing(Walk):
    loops_only = True

    def __init__(self, program: n.Program) -> None:
        super().__init__(program)
        self.names, self.buffers = Names.of(program), dict(program.buffers)
        self.parallel = 0

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if isinstance(s, n.Loop) and s.kind == "parallel":
            self.parallel += 1
            made = self.inside(s)
            self.parallel -= 1
            return [made]
        if not self.parallel and isinstance(s, n.Loop) and b.constant(s.step) == 1:
            found = self.recurrence(s)
            if found is not None and self.legal(found):
                return self.pushed(found)
        return [self.inside(s)]

    # --- which loops

    def recurrence(self, loop: n.Loop) -> _Recurrence | None:
        inner = [s for s in loop.body if isinstance(s, n.Loop)]
        if len(inner) != 1 or b.constant(inner[0].step) != 1 or _refused(loop.body):
            return None
        (sums,) = inner
        at = loop.body.index(sums)
        before, after = loop.body[:at], loop.body[at + 1 :]
        lag = b.sub(Var(loop.axis), sums.stop)
        if b.constant(lag) is None or any(isinstance(s, n.Guard) for s in walk(before)):
            return None
        found = _in_order(loop, sums, before, after, lag, self.program.variables) if sums.kind == "sequential" else (
            _in_any_order(loop, sums, before, after, lag)
        )  # fmt: skip
        if found is None:
            return None
        own = {s.name for s in walk(found.steps) if isinstance(s, n.Let)}
        others = {name for s in (*before, *after) for name in scalars_set(s)} | {loop.axis, sums.axis}
        read = {name for s in found.steps for name in scalars_used(s)}
        if read & (others - own - {found.name, loop.axis, sums.axis}):
            return None
        if variables_read(found.initial) & (others | own | {found.name}) - {loop.axis}:
            return None
        return found

    def legal(self, r: _Recurrence) -> bool:
        """Whether the first values may be had at the beginning of a block, and each step when its element is there."""
        start = n.Let("", r.initial)
        inner = replace(r.inner, body=r.steps, kind="sequential")
        parts = [accesses_of(x).accesses for x in ((start,), (inner,), r.before, r.after)]
        carried = Carried(
            self.program.buffers, replace(r.loop, body=(start, inner, *r.before, *r.after)), self.surroundings()
        )
        if not all(carried.fixed(e) for e in (r.loop.start, r.loop.stop, r.inner.start)):
            return False
        found: list[list[Access]] = []
        rest = list(carried.body.accesses)
        for part in parts:
            found.append(rest[: len(part)])
            rest = rest[len(part) :]
        initial, steps, before, after = found
        for write in (a for a in (*before, *after) if a.write):
            for read in (a for a in (*initial, *steps) if a.buffer == write.buffer):
                q, names1, names2, _ = carried.question(write, read)
                one, two = names1[r.loop.axis], names2[r.loop.axis]
                between = [integers.less(one, two)]
                if read.levels:  # a step: also before what its own iteration does first
                    first = any(write is a for a in before)
                    step = integers.combined(names2[r.inner.axis], {"": b.constant(r.lag) or 0})
                    between = [integers.at_least(two, one) if first else integers.less(one, two)]
                    between.append(integers.less(step, one))
                if q.possible(*between):
                    return False
        return True

    # --- what is made of them

    def pushed(self, r: _Recurrence) -> list[n.Stmt]:
        """Whole blocks, then what is left, with a condition on each lane."""
        loop = r.loop
        nest = (replace(r.inner, body=r.steps),)
        count = _CHAINS
        if contiguous(loop.axis, nest, self.buffers) > 0:
            count = _VECTORS * VECTOR // widest((*nest, n.Let(r.name, Var("", r.dtype))), self.buffers)
        size = b.index(count)
        extent = b.sub(loop.stop, loop.start)
        if not self.holds(b.compare("greater_equal", extent, b.ZERO)):
            extent = b.maximum(extent, b.ZERO)
        block, whole = Var(self.names.fresh(f"{loop.axis}_block")), Var(self.names.fresh(f"{loop.axis}_whole"))
        stop = n.Let(whole.name, b.add(loop.start, b.mul(size, b.floordiv(extent, size))), span=loop.span)
        plain, end = self.all_there(r), b.add(block, size)
        body = self.block_of(r, block, block, end, count, "chosen" if plain else "masked")
        blocks = replace(loop, axis=block.name, stop=whole, step=size, body=body)
        rest = self.block_of(r, whole, whole, loop.stop, count, "few")
        if plain:  # lanes of elements that are done already do no harm: nobody looks at their sums
            last = self.block_of(r, b.sub(loop.stop, size), whole, loop.stop, count, "chosen")
            rest = (n.If(b.compare("less", loop.start, whole), last, rest, span=loop.span),)
        return [stop, blocks, n.If(b.compare("less", whole, loop.stop), rest, span=loop.span)]

    def block_of(
        self, r: _Recurrence, start: Expr, first: Expr, stop: Expr, count: int, lanes: str
    ) -> tuple[n.Stmt, ...]:
        """The elements from `first` to `stop` in `count` lanes from `start`.

        Of the lanes behind an element's, only the results count: what is stored under a mask cannot be loaded at once,
        and what is loaded under one may be anything elsewhere. So all lanes compute, where `lanes` are ``chosen``. They
        are ``masked`` where not all may load what the others do, and ``few`` where some are behind `stop` too.
        """
        loop, inner = r.loop, r.inner
        lane, size = Var(self.names.fresh("lane")), b.index(count)
        part = self.names.fresh(f"{r.name}_lanes")
        self.buffers[part] = n.Buffer(part, r.dtype, (size,), line=inner.span.line)
        position = b.add(start, lane)
        there = [b.compare("less", position, stop)] if lanes == "few" else []

        def over(body: tuple[n.Stmt, ...], *conditions: Expr) -> n.Loop:
            if conditions:  # one condition: GCC makes no vectors of branches in branches
                all_hold = reduce(lambda x, y: Apply("bitwise_and", (x, y), "bool"), conditions)
                body = self.chosen(body, part, all_hold) if lanes == "chosen" else (n.If(all_hold, body),)
            return n.Loop(lane.name, b.ZERO, size, b.ONE, "parallel", body, span=inner.span)

        def steps(values: dict[str, Expr]) -> tuple[n.Stmt, ...]:
            return tuple(_of_lane(s, r.name, part, lane, {loop.axis: position, **values}) for s in r.steps)

        initial = n.Store(part, (lane,), b.substitute(r.initial, {loop.axis: position}), span=inner.span)
        turn, step = b.sub(Var(loop.axis), start), b.sub(Var(loop.axis), r.lag)
        later: n.Stmt = over(steps({inner.axis: step}), b.compare("less", turn, lane), *there)
        if not b.at_least(b.sub(b.sub(loop.start, r.lag), inner.start), b.ZERO):
            later = n.If(b.compare("less_equal", inner.start, step), (later,), span=inner.span)
        sums: n.Stmt = n.Assign(r.name, Load(part, (turn,), r.dtype), span=inner.span)
        if inner.kind == "parallel":
            sums = n.Let(r.name, Load(part, (turn,), r.dtype), span=inner.span)
        in_order = replace(loop, start=first, stop=stop, body=(*r.before, sums, *r.after, later))
        known = over(steps({inner.axis: Var(inner.axis)}), *there)
        return (
            n.Alloc(part, span=inner.span),
            over((initial,), *there),
            replace(inner, stop=b.sub(first, r.lag), kind="sequential", body=(known,)),
            in_order,
        )

    def all_there(self, r: _Recurrence) -> bool:
        """Whether every lane may load what its steps and its first value would, whatever comes of it."""
        if not all(isinstance(s, (n.Let, n.Assign)) for s in r.steps):
            return False
        last = b.sub(r.loop.stop, r.lag)
        self.levels += [Level(r.loop.axis, r.loop.start, r.loop.stop), Level(r.inner.axis, r.inner.start, last)]
        loads = [e for e in (*exprs(r.steps), *walk_expr(r.initial)) if isinstance(e, Load)]
        found = all(
            len(e.index) == len(self.buffers[e.buffer].dims)
            and all(
                self.holds(b.compare("greater_equal", i, b.ZERO)) and self.holds(b.compare("less", i, dim))
                for i, dim in zip(e.index, self.buffers[e.buffer].dims, strict=True)
            )
            for e in loads
        )
        del self.levels[-2:]
        return found

    def chosen(self, steps: tuple[n.Stmt, ...], part: str, holds: Expr) -> tuple[n.Stmt, ...]:
        """The steps of all lanes, of which those count for which `holds`."""
        out: list[n.Stmt] = []
        for s in steps:
            if isinstance(s, n.Store):
                loaded: dict[Expr, Expr] = {}
                for e in walk_expr(s.value):
                    if isinstance(e, Load) and e.buffer != part and e not in loaded:
                        name = self.names.fresh("loaded")
                        loaded[e] = Var(name, e.dtype)
                        out.append(n.Let(name, e, span=s.span))
                value = b.map_expr(s.value, loaded.get)
                s = replace(s, value=b.where(holds, value, Load(part, s.index, value.dtype)))
            out.append(s)
        return tuple(out)


class _Finding(_Pushing):
    def __init__(self, program: n.Program) -> None:
        super().__init__(program)
        self.found: set[int] = set()

    def pushed(self, r: _Recurrence) -> list[n.Stmt]:
        self.found.add(id(r.loop))
        return [r.loop]


def _refused(body: Sequence[n.Stmt]) -> bool:
    """Whether there is something that a block does not hold."""
    return any(
        isinstance(s, (n.Alloc, n.While, n.Compact, n.Scanning, n.Library, n.Kernel, n.Return, n.Break, n.Continue))
        for s in walk(body)
    )


def _in_order(
    loop: n.Loop, inner: n.Loop, before: tuple[n.Stmt, ...], after: tuple[n.Stmt, ...], lag: Expr,
    variables: dict[str, str],
) -> _Recurrence | None:
    """A sum whose order counts: its first value is what the statements before the loop give the scalar."""
    assigned = {s.name for s in walk(inner.body) if isinstance(s, n.Assign)}
    if len(assigned) != 1 or not all(isinstance(s, (n.Let, n.Assign, n.If)) for s in walk(inner.body)):
        return None
    (name,) = assigned
    if name not in variables:
        return None
    initial = _value_behind(before, name)
    if initial is None:
        return None
    before = tuple(s for s in before if not (isinstance(s, n.Assign) and s.name == name))
    if any(name in scalars_used(s) or name in scalars_set(s) for s in before):
        return None
    return _Recurrence(loop, inner, before, after, inner.body, name, variables[name], initial, lag)


def _value_behind(statements: Sequence[n.Stmt], name: str) -> Expr | None:
    """What the variable is behind plain statements, in terms of what was before them; None where that is not clear."""
    lets: dict[str, Expr] = {}
    stored: dict[tuple[str, tuple[Expr, ...]], Expr] = {}
    unclear: set[str] = set()
    value: Expr | None = None

    def change(e: Expr) -> Expr | None:
        if isinstance(e, Var):
            return lets.get(e.name)
        if isinstance(e, Load) and (e.buffer, e.index) in stored:
            return stored[e.buffer, e.index]
        return None

    for s in statements:
        s = map_own(s, change)
        match s:
            case n.Let(bound, e):
                lets[bound] = e
            case n.Store(buffer, index, e):
                for other in [key for key in stored if key[0] == buffer and key[1] != index]:
                    del stored[other]
                stored[buffer, index] = e
                unclear.add(buffer)
            case n.Assign(bound, e) if bound == name:
                value = e
                if any(isinstance(x, Load) and x.buffer in unclear for x in walk_expr(e)):
                    return None
            case _:
                return None
    return value


def _in_any_order(
    loop: n.Loop, inner: n.Loop, before: tuple[n.Stmt, ...], after: tuple[n.Stmt, ...], lag: Expr
) -> _Recurrence | None:
    """A combination of integers, which starts from nothing."""
    combined = [s for s in walk(inner.body) if isinstance(s, n.Accumulate)]
    declared = [s for s in before if isinstance(s, n.Accumulator)]
    if len(combined) != 1 or len(declared) != 1 or combined[0].name != declared[0].name:
        return None
    if not all(isinstance(s, (n.Let, n.Accumulate, n.If)) for s in walk(inner.body)):
        return None
    (total,) = declared
    if total.op not in _COMBINES or not total.dtype.startswith(("int", "uint")):
        return None
    extreme = {"max": lowest, "min": highest}.get(total.op)
    nothing = extreme(total.dtype) if extreme is not None else Const(int(total.op == "prod"), total.dtype)
    steps = tuple(_combining(s, total.dtype) for s in inner.body)
    before = tuple(s for s in before if s is not total)
    return _Recurrence(loop, inner, before, after, steps, total.name, total.dtype, nothing, lag)


def _combining(s: n.Stmt, dtype: str) -> n.Stmt:
    """The step of a combination as an assignment."""
    if isinstance(s, n.Accumulate):
        return n.Assign(s.name, Apply(_COMBINES[s.op], (Var(s.name, dtype), s.value), dtype), span=s.span)
    return with_bodies(s, lambda inner: tuple(_combining(x, dtype) for x in inner))


def _of_lane(s: n.Stmt, name: str, part: str, lane: Expr, values: dict[str, Expr]) -> n.Stmt:
    """A step for one lane, whose sum is its element of `part`."""

    def change(e: Expr) -> Expr | None:
        if isinstance(e, Var):
            return Load(part, (lane,), e.dtype) if e.name == name else values.get(e.name)
        return None

    s = map_own(s, change)
    if isinstance(s, n.Assign):
        return n.Store(part, (lane,), s.value, span=s.span)
    return with_bodies(s, lambda inner: tuple(_of_lane(x, name, part, lane, values) for x in inner))
