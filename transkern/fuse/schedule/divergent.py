"""Vectors of points whose loops end at different times: a block of lanes goes on until few of them do.

    parallel j in 0 .. m:              parallel j_block in 0 .. m // 32 * 32 by 32:
        z := 0                             parallel lane in 0 .. 32: z[lane] = 0; live[lane] = 1
        while z < limit[j]:      to        while going > 4:
            z := z * z + c[j]                  accumulator going: int64 by sum
        n[j] = z                               parallel lane in 0 .. 32:
                                                   live[lane] = live[lane] if z[lane] < limit[…] else 0
                                                   z[lane] = z[lane] * z[lane] + c[…] if live[lane] … else z[lane]
                                                   going sum= live[lane]
                                           for lane in 0 .. 32: (those that go on, one after the other)
                                           parallel lane in 0 .. 32: n[j_block + lane] = z[lane]

Each lane does what its own loop does, in its own order: the same bits. What a lane computes when it has left is thrown
away, so that what it loads must be there. When an eighth of the lanes is left, they go on one at a time: however
different the points are, no vector is nearly empty. The loops are for arithmetic, of which a processor does a vector as
fast as a number; a loop that mostly gathers stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from transkern.analysis.accesses import Level
from transkern.analysis.verdicts import Walk
from transkern.fuse.lanes.memory import VECTOR, widest
from transkern.fuse.lanes.together import Copy, always, is_arithmetic, lanes_own
from transkern.fuse.lowering.copies import with_names
from transkern.fuse.scalars.load_once import is_beside, is_within, stays
from transkern.fuse.schedule.leave import settled_at_end
from transkern.fuse.schedule.machine import VECTOR_FUNCTIONS, vector_functions
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.names import Names
from transkern.ir.traverse import (
    buffers_read,
    buffers_written,
    exprs,
    map_own,
    own_exprs,
    scalars_set,
    scalars_used,
    variables_read,
    walk,
    walk_expr,
    with_bodies,
)  # fmt: skip
from transkern.records import replace

_VECTORS = 4
"""Vectors of a block: enough to hide how long an operation takes."""

_FEW = 8
"""A part of the lanes with which it is no longer worth it to go on together."""

_SOON = 16
"""How many iterations before its end a loop goes on together as long as any lane does: as fast as those one by one."""

_COUNTED = 4
"""Bytes of numbers from which on lanes are counted that go on. Narrower ones do not hold the count of their lanes, and
there are so many of them in a vector that one goes on as fast as many."""

_COMPUTED = frozenset({
    "add", "subtract", "multiply", "plain_multiply", "divide", "python_divide", "negative", "positive", "absolute",
    "square", "sqrt", "reciprocal", "maximum", "minimum", "number_maximum", "number_minimum", "maximum_number",
    "minimum_number", "fmax", "fmin", "less", "less_equal", "greater", "greater_equal", "equal", "not_equal",
    "logical_and", "logical_or", "logical_xor", "logical_not", "isnan", "isinf", "isfinite", "bitwise_and",
    "bitwise_or", "bitwise_xor", "invert", "where", "and_then", "or_else", "cast", "multiply_add", "floor", "ceil",
    "trunc", "rint",
})  # fmt: skip
"""What a processor does to a vector of numbers as to one, with the same bits."""

_OF_FLOATS = frozenset({"divide", "python_divide", "reciprocal", "sqrt"})

_PER_GATHER = 3
"""Operations for each load that no two lanes have beside each other: with fewer, loading takes the time."""


def vectorise_divergent(program: n.Program) -> n.Program:
    """The program with points in lanes whose loops end when their data say so."""
    if program.warns or not any(isinstance(s, n.While | n.Break) for s in walk(program.body)):
        return program  # lanes that have left would raise flags
    state = _Vectorising(program)
    body = state.block(program.body)
    return replace(program, body=body, buffers=state.buffers, variables=state.variables)


@dataclass(frozen=True, slots=True)
class _Block:
    """Lanes beside each other, from `start` on: `copy` is what each of them has for itself."""

    start: Expr
    lane: Var
    copy: Copy
    live: str  # the array that says which go on
    going: str = ""  # how many


class _Vectorising(Walk):
    loops_only = True

    def __init__(self, program: n.Program) -> None:
        super().__init__(program)
        self.names, self.buffers, self.variables = Names.of(program), dict(program.buffers), dict(program.variables)
        self.there: dict[Load, bool] = {}
        self.shared: dict[Load, Var] = {}  # what all lanes load: GCC makes no vectors of such a load under a condition
        self.counts = True  # whether lanes are counted that go on: else only whether any does
        self.truth = ""  # the type that lanes keep truths in: as wide as their numbers, so that vectors have one length

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if isinstance(s, n.Loop) and s.kind == "parallel" and _suits(s, self.buffers):
            return self.lanes(s)
        return [self.inside(s)]

    def lanes(self, s: n.Loop) -> list[n.Stmt]:
        """The loop over blocks of lanes, and over the points behind the last whole block."""
        self.levels.append(Level(s.axis, s.start, s.stop, 1))
        self.find_loads(s)
        self.levels.pop()
        width = widest([x for x in s.body if isinstance(x, (n.Loop, n.While))], self.buffers)
        self.truth = f"int{8 * width}"
        self.counts = width >= _COUNTED
        count = b.index((_VECTORS if self.counts else 2 * _VECTORS) * VECTOR // width)
        start = Var(self.names.fresh(f"{s.axis}_block"))
        extent = b.sub(s.stop, s.start)
        extent = extent if b.is_nonnegative(extent) else b.maximum(extent, b.ZERO)
        full = b.add(s.start, b.mul(count, b.floordiv(extent, count)))
        body = _with_wide_truths(tuple(self.together(s, start, count)), self.buffers, self.truth)
        return [
            replace(s, axis=start.name, stop=full, step=count, body=body),
            replace(s, start=full),
        ]

    def find_loads(self, s: n.Loop) -> None:
        """Which loads are of elements that are there for every lane, also for one that has left or never entered."""
        finding = _Finding(self.program)
        finding.levels, finding.facts, finding.lets = list(self.levels), list(self.facts), dict(self.lets)
        finding.block(s.body)
        self.there = finding.there

    def together(self, s: n.Loop, start: Var, count: Expr) -> Iterator[n.Stmt]:
        lane = Var(self.names.fresh("lane"))
        copy = Copy({s.axis: b.add(start, lane)})
        for name, dtype in _kept(s.body, self.variables).items():
            copy.spread[name] = self.array(f"{name}_lanes", dtype, count, s)
        live = self.array("live", "bool", count, s)
        yield from (n.Alloc(x, span=s.span) for x in (*copy.spread.values(), live))
        block = _Block(start, lane, copy, live)
        run: list[n.Stmt] = []
        for x in s.body:
            if not isinstance(x, (n.Loop, n.While)):
                run.append(lanes_own(x, copy, lane))
                continue
            run.append(n.Store(live, (lane,), b.TRUE, span=x.span))
            yield n.Loop(lane.name, b.ZERO, count, b.ONE, "parallel", tuple(run), span=run[0].span)
            run = []
            yield from self.leaving(x, replace(block, going=self.names.fresh("going")), count)
        if run:
            yield n.Loop(lane.name, b.ZERO, count, b.ONE, "parallel", tuple(run), span=run[0].span)

    def array(self, base: str, dtype: str, count: Expr, s: n.Loop) -> str:
        name = self.names.fresh(base)
        self.buffers[name] = n.Buffer(name, dtype, (count,), line=s.span.line)
        return name

    def leaving(self, s: n.Loop | n.While, block: _Block, count: Expr) -> Iterator[n.Stmt]:
        """A loop that lanes leave: together, and then those that are left."""
        lane, live = block.lane, block.live
        self.shared = {}
        few = Const((b.constant(count) or 0) // _FEW, self.truth)
        on = Var(self.names.fresh("on"), "bool")
        inner: list[n.Stmt] = [n.Let(on.name, Load(live, (lane,), "bool"))]
        rest: n.Stmt
        if isinstance(s, n.While):
            still = self.masked(s.head, on, block, inner)
            goes = Var(self.names.fresh("goes"), "bool")
            inner.append(n.Let(goes.name, _both(still, self.own(s.condition, still, block)), span=s.span))
            inner.append(n.Store(live, (lane,), goes, span=s.span))
            self.masked(s.body, goes, block, inner)
        elif (gone := settled_at_end(s)) is not None and self.all_there(s):
            inner = [lanes_own(x, block.copy, lane) for x in s.body[:-1]]
            inner.append(n.Store(live, (lane,), b.logical_not(self.own(gone, b.TRUE, block)), span=s.span))
        else:
            self.masked(s.body, on, block, inner)
        goes_on = Load(live, (lane,), "bool")
        if self.counts:
            inner.append(n.Accumulate(block.going, "sum", b.cast(goes_on, self.truth), span=s.span))
            count_them = n.Accumulator(block.going, "sum", self.truth, span=s.span)
            enough: Expr = Apply("greater", (Var(block.going, self.truth), few), "bool")
        else:
            inner.append(n.Accumulate(block.going, "any", goes_on, span=s.span))
            count_them = n.Accumulator(block.going, "any", "bool", span=s.span)
            enough = Var(block.going, "bool")
        together = n.Loop(lane.name, b.ZERO, count, b.ONE, "parallel", tuple(inner), span=s.span)
        steps = {s.axis} if isinstance(s, n.Loop) else set()
        loaded = [n.Let(v.name, e, span=s.span) for e, v in self.shared.items() if variables_read(e) & steps]
        yield from (n.Let(v.name, e, span=s.span) for e, v in self.shared.items() if not variables_read(e) & steps)
        if isinstance(s, n.While):
            yield n.While((count_them, together), enough, (), span=s.span)
            rest = s
        else:
            next_ = self.names.fresh(f"{s.axis}_next")
            self.variables[next_] = "index"
            yield n.Assign(next_, s.start, span=s.span)
            if self.counts and s.step == b.ONE:
                soon = b.compare("less", b.sub(s.stop, Var(s.axis)), b.index(_SOON))
                some = Apply("not_equal", (Var(block.going, self.truth), Const(0, self.truth)), "bool")
                enough = b.either(enough, b.both(some, soon))
            leave = n.If(b.logical_not(enough), (n.Break(span=s.span),), span=s.span)
            go_on = n.Assign(next_, b.add(Var(s.axis), s.step), span=s.span)
            yield replace(s, body=(*loaded, count_them, together, go_on, leave))
            axis = self.names.fresh(s.axis)
            rest = replace(s, axis=axis, start=Var(next_), body=with_names(s.body, {s.axis: axis}))
        if self.counts:
            left: n.Stmt = self.one_by_one(rest, block, count)
            if isinstance(rest, n.Loop) and rest.step == b.ONE:
                left = n.If(b.compare("less", rest.start, rest.stop), (left,), span=s.span)
            yield left

    def all_there(self, s: n.Loop) -> bool:
        return all(self.there.get(e, False) for e in exprs(s.body) if isinstance(e, Load))

    def one_by_one(self, s: n.Stmt, block: _Block, count: Expr) -> n.Stmt:
        """The lanes that are left, each in the loop as it was written, with its variables in names again."""
        lane = Var(self.names.fresh(block.lane.name))
        position = {name: b.add(block.start, lane) for name in block.copy.values}
        used = scalars_used(s) | scalars_set(s)
        mine = {name: array for name, array in block.copy.spread.items() if name in used}
        changed = {x.name for x in walk((s,)) if isinstance(x, n.Assign)}
        lets = {name: array for name, array in mine.items() if name not in changed}
        body = lanes_own(s, Copy(dict(position), spread=lets), lane)
        dtypes = {name: self.buffers[array].dtype for name, array in mine.items()}
        loaded = [n.Assign(x, Load(mine[x], (lane,), dtypes[x]), span=s.span) for x in mine if x in changed]
        stored = [n.Store(mine[x], (lane,), Var(x, dtypes[x]), span=s.span) for x in mine if x in changed]
        left = n.If(Load(block.live, (lane,), "bool"), (*loaded, body, *stored), span=s.span)
        return n.Loop(lane.name, b.ZERO, count, b.ONE, "sequential", (left,), span=s.span)

    # --- statements of lanes, some of which have left

    def masked(self, body: Sequence[n.Stmt], on: Expr, block: _Block, out: list[n.Stmt]) -> Expr:
        """The statements for the lanes where `on` holds, put into `out`; where it still holds behind them."""
        lane, spread = block.lane, block.copy.spread
        for s in body:
            if on == b.FALSE:
                break  # nobody comes here
            match s:
                case n.Let(name, value):
                    out.append(replace(s, value=self.own(value, on, block)))
                case n.Assign(name, value):
                    place = Load(spread[name], (lane,), value.dtype)
                    changed = b.where(on, self.own(value, on, block), place)
                    out.append(n.Store(spread[name], (lane,), changed, span=s.span))
                case n.Store():
                    out.append(n.If(on, (lanes_own(s, block.copy, lane),), span=s.span))
                case n.If(condition, then, orelse):
                    taken = self.let("taken", _both(on, self.own(condition, on, block)), out, s)
                    still = self.masked(then, taken, block, out)
                    other: Expr = b.FALSE
                    if orelse or still != taken:
                        other = self.let("other", b.both(on, b.logical_not(taken)), out, s)
                        other = self.masked(orelse, other, block, out)
                        on = b.either(still, other)
                case n.Break():
                    gone = b.where(on, b.FALSE, Load(block.live, (lane,), "bool"))
                    out.append(n.Store(block.live, (lane,), gone, span=s.span))
                    return b.FALSE
                case _:
                    assert isinstance(s, n.Continue)
                    return b.FALSE
        return on

    def let(self, base: str, value: Expr, out: list[n.Stmt], s: n.Stmt) -> Expr:
        name = self.names.fresh(base)
        out.append(n.Let(name, value, span=s.span))
        return Var(name, "bool")

    def own(self, e: Expr, on: Expr, block: _Block) -> Expr:
        """An expression of a lane, which loads what may not be there only where it is `on`."""

        def change(x: Expr) -> Expr | None:
            if not isinstance(x, Load):
                return None
            if self.there.get(x, not x.index):
                if not x.index or variables_read(x) & (block.copy.values.keys() | block.copy.spread.keys()):
                    return None
                return self.shared.setdefault(x, Var(self.names.fresh("shared"), x.dtype))
            index = tuple(b.map_expr(i, change) for i in x.index)
            return b.where(on, replace(x, index=index), b.cast(Const(0, "int64"), x.dtype))

        own = lanes_own(n.Let("", b.map_expr(e, change)), block.copy, block.lane)
        assert isinstance(own, n.Let)
        return own.value


def _both(on: Expr, own: Expr) -> Expr:
    """Whether both hold, without a branch in between: what is the lane's own loads nothing that is not there."""
    found = b.both(on, own)
    if isinstance(found, Apply) and found.args == (on, own) and is_arithmetic(own):
        return Apply("logical_and", (on, own), "bool")
    return found


def _with_wide_truths(
    body: tuple[n.Stmt, ...], buffers: dict[str, n.Buffer], dtype: str
) -> tuple[n.Stmt, ...]:
    """The statements with integers in the arrays of truths that lanes have."""
    truths = {x.buffer for x in walk(body) if isinstance(x, n.Alloc) and buffers[x.buffer].dtype == "bool"}
    for name in truths:
        buffers[name] = replace(buffers[name], dtype=dtype)

    def read(e: Expr) -> Expr | None:
        match e:
            case Apply("cast", (Load(buffer, index, "bool"),), to) if buffer in truths and to == dtype:
                return Load(buffer, index, dtype)
            case Load(buffer, index, "bool") if buffer in truths:
                return Apply("not_equal", (Load(buffer, index, dtype), Const(0, dtype)), "bool")
            case _:
                return None

    def whole(e: Expr) -> Expr:
        """A truth as an integer."""
        match e:
            case Apply("where", (condition, then, orelse)):
                return b.where(condition, whole(then), whole(orelse))
            case Apply("not_equal", (Load(buffer) as kept, Const(0)), _) if buffer in truths:
                return kept
            case Const(value):
                return Const(int(bool(value)), dtype)
            case _:
                return b.where(e, Const(1, dtype), Const(0, dtype))

    def change(block: tuple[n.Stmt, ...]) -> tuple[n.Stmt, ...]:
        out = []
        for s in block:
            s = with_bodies(map_own(s, read), change)
            if isinstance(s, n.Store) and s.buffer in truths:
                s = replace(s, value=whole(s.value))
            out.append(s)
        return tuple(out)

    return change(body)


class _Finding(Walk):
    """Finds the loads in loops that lanes leave of elements that are there for each lane, whatever it has computed."""

    def __init__(self, program: n.Program) -> None:
        super().__init__(program)
        self.there: dict[Load, bool] = {}

    def statement(self, s: n.Stmt) -> list[n.Stmt]:
        if isinstance(s, (n.Loop, n.While)):
            own = scalars_set(s)
            if isinstance(s, n.Loop):
                self.levels.append(Level(s.axis, s.start, s.stop, b.constant(s.step) or 1))
            for e in exprs((s,)):
                if isinstance(e, Load):
                    self.there[e] = self.there.get(e, True) and stays(e, own) and is_within(self, e)
            if isinstance(s, n.Loop):
                self.levels.pop()
        return [s]


def _suits(points: n.Loop, buffers: dict[str, n.Buffer]) -> bool:
    """Whether points are plain statements and loops of arithmetic, at least one of which they leave."""
    extent = b.constant(b.sub(points.stop, points.start))
    if b.constant(points.step) != 1 or (extent is not None and extent < VECTOR):
        return False
    loops = [s for s in points.body if isinstance(s, (n.Loop, n.While))]
    plain = [s for s in points.body if not isinstance(s, (n.Loop, n.While))]
    if not loops or not all(isinstance(x, (n.Let, n.Assign, n.Store, n.If)) for x in walk(plain)):
        return False
    return all(_is_left(s, points, buffers) for s in loops)


def _is_left(s: n.Loop | n.While, points: n.Loop, buffers: dict[str, n.Buffer]) -> bool:
    """Whether a loop is one of plain arithmetic that each point leaves by itself."""
    inside = list(walk((*s.head, *s.body) if isinstance(s, n.While) else s.body))
    if not all(isinstance(x, (n.Let, n.Assign, n.Store, n.If, n.Break, n.Continue)) for x in inside):
        return False
    if isinstance(s, n.Loop):
        if s.kind != "sequential" or not any(isinstance(x, n.Break) for x in inside):
            return False
        bounds = variables_read(s.start) | variables_read(s.stop) | buffers_read(s.start) | buffers_read(s.stop)
        changing = {points.axis} | {name for x in points.body for name in scalars_set(x) | buffers_written(x)}
        if bounds & changing:
            return False
    own, operations, gathers = scalars_set(s), 0, 0
    functions = vector_functions() if _always_calls(inside) else frozenset()
    for e in exprs((s,)):
        match e:
            case Load():
                gathers += not stays(e, own)
            case Apply(op, _, dtype):
                if dtype == "index" and op in ("add", "subtract", "multiply"):
                    continue
                if op in functions and dtype in ("float32", "float64"):
                    operations += _PER_GATHER
                    continue
                if op not in _COMPUTED or dtype.startswith(("complex", "float16")):
                    return False
                if op in _OF_FLOATS and not dtype.startswith("float"):
                    return False
                operations += 1
            case Var() | Const():
                pass
            case _:
                return False
    stores = [x for x in inside if isinstance(x, n.Store)]
    places = [Load(x.buffer, x.index, x.value.dtype) for x in stores]
    if not all(stays(e, own) and is_beside(e, points.axis, buffers) for e in places):
        return False
    return operations >= max(1, _PER_GATHER * gathers)


def _always_calls(statements: Sequence[n.Stmt]) -> bool:
    """Whether no function is called under a condition within an expression: there are no vectors of such calls."""
    for s in statements:
        for own in own_exprs(s):
            surely = {id(e) for e in always(own)}
            calls = (e for e in walk_expr(own) if isinstance(e, Apply) and e.op in VECTOR_FUNCTIONS)
            if any(id(e) not in surely for e in calls):
                return False
    return True


def _kept(body: Sequence[n.Stmt], variables: dict[str, str]) -> dict[str, str]:
    """The scalars that lanes keep from one run of statements to the next, or from one iteration to the next."""
    kept = {x.name: variables[x.name] for x in walk(body) if isinstance(x, n.Assign)}
    where: dict[str, tuple[int, str]] = {}
    segments: list[set[str]] = [set()]
    for s in body:
        if isinstance(s, (n.Loop, n.While)):
            segments += [set(scalars_used(s)), set()]
            continue
        segments[-1] |= scalars_used(s)
        if isinstance(s, n.Let):
            where[s.name] = len(segments) - 1, s.value.dtype
    for name, (segment, dtype) in where.items():
        if any(name in used for k, used in enumerate(segments) if k != segment):
            kept.setdefault(name, dtype)
    return kept
