"""Loops: counted ones, `while`, those that are translated iteration by iteration, and `try`."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from transkern import refusals
from transkern.errors import CompileError
from transkern.frontend.anew import Becomes, MustGrow, NotKnown, Shared, Terminated
from transkern.frontend.loops import counting, grids, iterating, over_changes, rolling, steps
from transkern.frontend.loops.carried.state import LoopState
from transkern.frontend.loops.leaving import trips_left, where_left
from transkern.frontend.loops.over_changes import instead, over_values, over_what_changes
from transkern.frontend.loops.running import run_loop
from transkern.frontend.loops.trips import condition_of, stable_parts, trip_bound, trip_count
from transkern.frontend.loops.trying import tried
from transkern.frontend.loops.turns import OtherTurns, Turns, at_first, leaving_unless
from transkern.frontend.loops.unrolling import ITEM_NAME, steps_of, unrolled, unrolled_while
from transkern.frontend.sources.source import span_of
from transkern.frontend.state.control import UNROLL
from transkern.frontend.syntax.desugar import CATCHES, FOR_ALL, WHOLE, has_jumps, placed
from transkern.frontend.syntax.liveness import ORIGIN, live_names
from transkern.frontend.syntax.syntax import assigned_names
from transkern.frontend.translate.branching import Branches
from transkern.frontend.translate.comprehensions import UNROLLED
from transkern.frontend.values.set_order import ORDERLESS, comparable
from transkern.frontend.values.values import (
    Array,
    GrowingList,
    Hashed,
    Range,
    Scalar,
    Seq,
    Static,
    Trips,
    Value,
)
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Const, Expr, Var
from transkern.ir.traverse import variables_read
from transkern.parsing import all_nodes

_FEW = 16  # iterations that are translated one by one, where something must be known in them
_PATIENCE = 50_000  # steps of translation for a loop's iterations one by one
_FEW_PATIENCE = 5_000  # the same, where a list that grows would do
_PEELS = 3  # iterations of a loop that may stand before it
_PEELED = "_transkern_peeled"  # on a loop: how many do
_LISTS = "_transkern_lists"  # on what a loop goes over: the same with an empty list for an empty tuple
_MORE = "another trip"  # likewise: whether there is one behind this
_FAR = 2**62  # a position that no count comes to


class _RangeChanges(Exception):
    """An iteration changes the length of what the loop goes over."""


class _ValuesChange(Exception):
    """An iteration changes the values of a dict that views show, or what is in known lists and dicts (`tokens`)."""

    def __init__(self, tokens: Sequence[int] = ()) -> None:
        self.tokens = tokens


class _HeadHasEffects(Exception):
    """The condition of a loop changes what is in an object, or binds a name: also where it does not hold."""


def _tested_inside(node: ast.While, test: ast.expr, body: Sequence[ast.stmt]) -> ast.While:
    """``while test: body`` as ``while True: if not test: break; body``."""
    made = getattr(node, _TESTED, None)
    if made is None:
        made = ast.copy_location(ast.While(ast.Constant(True), [leaving_unless(test, test), *body], []), node)
        placed(made, test)
        setattr(made, ORIGIN, getattr(node, ORIGIN, node))
        setattr(node, _TESTED, made)  # the same loop twice must be the same tree twice
    return made


_TESTED = "_transkern_tested_inside"


class Loops(Branches):
    """`for`, `while`, and `try`, which is a loop that runs once."""

    def while_loop(self, node: ast.While, test: ast.expr, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt]) -> None:
        assert not orelse, "`else` of a loop is a flag"
        ctx = self.ctx
        if (count := counting.counted(node)) is not None and (trips := self.trips_of(count)) is not None:
            self.env[counting.TRIPS] = trips
            self.statement(count.loop)
            return
        forever = isinstance(test, ast.Constant) and bool(test.value)

        def trip(state: LoopState) -> n.Stmt:
            held = dict(ctx.heap.contents)
            with ctx.emitter.block() as head:
                ctx.session.span = span_of(test, self.scope.file)
                ctx.control.in_head += 1
                try:
                    condition = condition_of(self.test(test))
                except Terminated:  # it raises
                    return n.While(tuple(head), b.FALSE, ())
                finally:
                    ctx.control.in_head -= 1
            binds = any(isinstance(x, ast.NamedExpr) for x in all_nodes(test))
            if binds or any(ctx.heap.contents[token] is not contents for token, contents in held.items()):
                raise _HeadHasEffects
            ctx.control.trips.append(None)  # the condition is asked inside the loop: lists in it may have grown there
            try:
                ctx.control.trips[-1] = trip_bound(ctx, condition, state, body)
                with ctx.emitter.block() as inner, ctx.facts.knowing(stable_parts(ctx, condition)):
                    for k in range(state.copies):
                        if k and self.block([leaving_unless(test, node)]):
                            break
                        self.env.update(self.told(test, True))
                        if self.block(body):
                            break
                        state.turned(self, k + 1)
                    else:
                        state.back(self)
            finally:
                ctx.control.trips.pop()
            return n.While(tuple(head), condition, tuple(inner))

        def begin(turns: Turns | None) -> None:
            run_loop(self, node, body, trip, (), b.TRUE if forever else None, turns)

        reset = self.resetting()
        turns = None
        try:
            turns = self.carried(body, set(), begin, reset)
        except _HeadHasEffects:
            reset()
            self.statement(_tested_inside(node, test, body))
        except (NotKnown, Shared) as error:
            whole = hasattr(node, WHOLE)
            if isinstance(error, NotKnown) and (
                (error.begins_anew and not error.finds("lengthened")) or (whole and not error.settles)
            ):  # fmt: skip
                raise
            reset()
            if isinstance(error, NotKnown) and not whole:
                try:
                    unrolled_while(self, test, body, error)
                    return
                except NotKnown:
                    if not error.settles:
                        raise
                    reset()
            ctx.session.span = span_of(test, self.scope.file)
            once = Trips((b.ZERO, b.ONE, b.ONE, lambda _: Static(0)))
            rest = ast.copy_location(ast.While(test, list(body), []), node)
            if whole:
                setattr(rest, WHOLE, True)
            item = ast.Name(ITEM_NAME, ast.Store())
            self.first_by_itself(error, node, condition_of(self.test(test)), item, once, rest)
        if turns is not None:
            where_left(self, node, turns)

    def trips_of(self, count: counting.Count) -> Range | None:
        """The range that a name counts over, where it and its bound are whole numbers of Python's."""
        first = _position(self.env.get(count.name))
        sizes = [self.env.get(name) for name in counting.sizes_of(count.bound)]
        numbers = [self.name(name, count.bound) for name in counting.numbers_of(count.bound)]
        if first is None or None in map(_position, numbers) or not all(isinstance(x, Array) and x.ndim for x in sizes):
            return None
        reset = self.resetting()
        bound = _position(self.expr(count.bound))
        if bound is None:  # it is further away
            reset()
            return None
        one = b.index(1 if count.step > 0 else -1)
        stop = b.add(bound, b.sub(one if count.reached else b.ZERO, b.index(count.beside)))
        if count.once:
            stop = (b.maximum if count.step > 0 else b.minimum)(stop, b.add(first, one))
        return Range(first, stop, b.index(count.step))

    def resetting(self) -> Callable[[], None]:
        """What goes back to here."""
        ctx = self.ctx
        saved, env, heap = ctx.snapshot(), dict(self.env), dict(ctx.heap.contents)
        trips, path = list(ctx.control.trips), ctx.control.loop_path

        def reset() -> None:
            ctx.restore(saved)
            ctx.heap.contents, ctx.control.trips, ctx.control.loop_path = dict(heap), list(trips), path
            self.env.clear()
            self.env.update(env)

        return reset

    def first_by_itself(
        self, error: CompileError, node: ast.While | ast.For, runs: Expr, target: ast.expr, once: Trips,
        rest: ast.While | ast.For,
    ) -> None:  # fmt: skip
        """A loop with its first iteration before it: the names have then what an iteration leaves (where two of them
        change places, what two iterations leave)."""
        peeled = getattr(node, _PEELED, 0)
        if peeled == _PEELS:
            if isinstance(error, NotKnown):
                error.settles = False  # nor where a loop around has its first iteration before it
            raise error
        setattr(rest, _PEELED, peeled + 1)
        self.jumps += 1
        broken, skipped, item = (f"{what} {self.jumps}" for what in ("broken", "skipped", "first trip"))
        setattr(rest, ORIGIN, getattr(node, ORIGIN, node))
        first = ast.For(target, ast.Name(item, ast.Load()), [*node.body, rest], [])
        setattr(first, UNROLLED, (broken, skipped))
        statements: list[ast.stmt] = [first]
        if has_jumps(node.body, ast.Continue):  # then the others do not only run where the first one's body ends
            first.body = node.body
            statements.append(ast.If(ast.UnaryOp(ast.Not(), ast.Name(broken, ast.Load())), [rest], []))
        for s in statements:
            placed(s, node)
        self.env[item] = once
        if runs == b.TRUE:
            if self.block(statements):
                raise Terminated
        elif self.fork(runs, statements, [], live_names(self.node, node)[1]):
            raise Terminated

    def for_loop(
        self, node: ast.For, target: ast.expr, iterable: ast.expr, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt]
    ) -> None:
        ctx = self.ctx
        assert not orelse, "`else` of a loop is a flag"
        catches = getattr(node, CATCHES, None)
        source = Range(b.ZERO, b.ONE, b.ONE) if catches else self.expr(self._with_lists(iterable))
        if getattr(node, ORDERLESS, False):
            source = comparable(ctx.deref(source))
        if grids.as_nest(self, node, target, source, body):
            return
        counted, over = iterating.iteration(ctx, source), steps.over(ctx, source)
        if isinstance(counted, list) or b.constant(trip_count(*counted[:3])) is not None:
            self.note_decided(iterable)
        begun, heap, ends = len(ctx.emitter.out), dict(ctx.heap.contents), False
        try:
            self._loop_over(node, target, source, counted, over, body)
        except Terminated:
            ends = True
        over.check_made(ctx, ctx.emitter.out[begun:], heap, node)
        if ends:
            raise Terminated

    def _with_lists(self, iterable: ast.expr) -> ast.expr:
        """``d.get(key, ())`` of a dict of lists, which a loop goes over, as ``d.get(key, [])``."""
        match iterable:
            case ast.Call(ast.Attribute(ast.Name() as owner, "get"), [key, ast.Tuple(elts=[]) as nothing], []):
                held = self.ctx.deref(self.expr(owner))
                if not isinstance(held, Hashed) or held.values is None or held.values.rows is None:
                    return iterable
            case _:
                return iterable
        made: ast.expr | None = getattr(iterable, _LISTS, None)
        if made is None:
            empty = ast.copy_location(ast.List([], ast.Load()), nothing)
            made = ast.copy_location(ast.Call(iterable.func, [key, empty], []), iterable)
            setattr(iterable, _LISTS, made)  # the same loop twice must be the same tree twice
        return made

    def _loop_over(
        self, node: ast.For, target: ast.expr, source: Value, counted: Any, over: steps.Over, body: Sequence[ast.stmt]
    ) -> None:
        """A loop over `source`; `counted` is what `iterating.iteration` says of it."""
        ctx, catches = self.ctx, getattr(node, CATCHES, None)
        if isinstance(counted, list):
            if len(counted) > UNROLL and not all(isinstance(i, Static) for i in counted):
                problem = f"a loop over {len(counted)} values, each with code of its own"
                ctx.fail(refusals.STATEMENT, problem, "put them into an array, np.array(…), and loop over that", node)
            rolling.over_items(self, node, target, counted, body, steps_of(self, source, over, counted, node))
            return
        start, stop, step, element = counted
        counts = set() if hasattr(node, over_changes.WATCHED) else over.counts
        axis = ctx.names.fresh(counting.shown(target.id) if isinstance(target, ast.Name) else "trip")
        low, high = (start, stop) if (b.constant(step) or 1) > 0 else (b.add(stop, b.ONE), b.add(start, b.ONE))
        ctx.facts.ranges[axis] = (low, high)
        trips = trip_count(start, stop, step)

        around = ctx.session.turns

        def trip(state: LoopState) -> n.Stmt:
            ctx.control.trips.append(trips)
            state.known -= {axis}
            try:
                with ctx.emitter.block() as inner:
                    ctx.facts.ranges[axis] = (low, high)
                    for k in range(state.copies):
                        at = b.add(start if b.constant(trips) == 1 else Var(axis), b.mul(step, b.index(k)))
                        if k and leaves:
                            self.env[_MORE] = Scalar(b.compare("less" if forwards else "greater", at, stop))
                            if self.block([leaving_unless(ast.Name(_MORE, ast.Load()), node)]):
                                break
                        if state.copies > 1:
                            ctx.session.turns = (*around, (node.lineno, k, b.constant(step) or 1))
                        try:
                            self.assign(target, element(at))
                        except Terminated:  # what is unpacked has more items than names, or fewer: an iteration raises
                            break
                        if tried(self, body, *catches) if catches else self.block(body):
                            break
                        state.turned(self, k + 1)
                    else:
                        state.back(self)
            finally:
                ctx.session.turns = around
                ctx.control.trips.pop()
            given = steps.changed_by(inner)
            if given & (variables_read(start) | variables_read(stop) | counts):
                raise _RangeChanges
            if given & over.shown or over.changed(ctx):
                raise _ValuesChange(over.changed(ctx))
            end = stop if leaves or state.copies == 1 else b.add(start, b.mul(step, whole(state.copies)))
            return n.Loop(axis, start, end, b.mul(step, b.index(state.copies)), "sequential", tuple(inner))

        forwards, leaves = (b.constant(step) or 1) > 0, has_jumps(body, ast.Break)

        def whole(period: int) -> Expr:
            """The trips that go together `period` at a time."""
            return b.sub(trips, b.mod(trips, b.index(period)))

        self.last_trips = None, None
        targets = {x.id for x in all_nodes(target) if isinstance(x, ast.Name)}
        count = b.constant(trips)

        def one_by_one(check: Callable[[], None] = lambda: None) -> None:
            """The iterations one by one."""
            assert count is not None
            of = iterating.iteration(ctx, steps.live(ctx, source))[3] if over.shown else element
            items = [_constant(of(b.add(start, b.mul(step, b.index(k))))) for k in range(count)]
            names = getattr(node, UNROLLED, None)
            now = steps.stepper(ctx, source) if over.held else None
            unrolled(self, target, items, body, check, names if isinstance(names, tuple) else None, now)

        if count is not None and count <= _FEW and hasattr(node, UNROLLED):
            one_by_one()
            return
        few = 0 if hasattr(node, FOR_ALL) else _FEW
        reset = self.resetting()

        def again(check: Callable[[], None] = lambda: None) -> None:
            """Begin anew, with the iterations one by one."""
            reset()
            one_by_one(check)

        def begin(turns: Turns | None) -> None:
            least = b.ONE if leaves or turns is None else b.index(turns.period)
            run_loop(self, node, body, trip, targets, b.compare("greater_equal", trips, least), turns)

        def begin_by_itself(error: CompileError, runs: Expr) -> None:
            second = b.add(start, step)
            rest, others = copy.copy(node), f"other trips {self.jumps}"
            rest.iter = ast.copy_location(ast.Name(others, ast.Load()), node)
            self.env[others] = Trips((second, stop, step, element))
            once = Trips((start, second, step, element))
            self.first_by_itself(error, node, runs, target, once, rest)

        turns = None
        try:
            turns = self.carried(body, targets, begin, reset, not catches and b.constant(step) is not None)
            self.last_trips = (node, trips) if not hasattr(node, _PEELED) else (None, None)
        except Shared as error:
            if catches:
                raise
            reset()
            begin_by_itself(error, b.compare("greater", trips, b.ZERO))
        except _ValuesChange as error:
            reset()
            if error.tokens and count is not None and count <= _FEW:
                one_by_one()
            else:
                over_values(self, source, over, error.tokens, node, target, body)
            return
        except _RangeChanges:
            reset()
            if over.alone is not None and counts:
                self.jumps += 1
                made, given = over_changes.over_keys(source, *over.alone, node, target, body, self.jumps)
                self.env.update(given)
                instead(self, node, made)
            else:
                over_what_changes(self, source, counted, node, target, body)
            return
        except MustGrow as must:
            if count is None or count > few or catches:
                raise
            grows, started = must, ctx.session.budget.steps

            def check_few() -> None:  # a list that grows is less code than all iterations of long ones
                given_up = ctx.learned.given_up
                if given_up is not None and ctx.session.budget.steps - started > _FEW_PATIENCE:
                    given_up.add(grows.site)
                    raise grows

            again(check_few)
        except NotKnown as error:
            if catches or (few == 0 and count is not None):
                raise
            # what must be known in the body is known where each iteration is translated by itself
            many = count is None or (count > few and error.finds("pooled", "wanted"))
            if many and error.begins_anew and not error.finds("lengthened"):
                raise
            if error.finds("lengthened") and ctx.session.reserves and (count is None or count > few):
                raise  # one body for all iterations, and code for any number of them
            if count is None and isinstance(error, Becomes):
                reset()  # what is read behind the loop is the number, where there has been no iteration
                begin_by_itself(
                    error, b.TRUE if ctx.facts.assume_at_least(trips, 1) else b.compare("greater", trips, b.ZERO)
                )
                return
            if count is None and not isinstance(ctx.deref(source), GrowingList):
                try:
                    ctx.must_be_known(Scalar(trips, True), error.problem, error.help, error.kind)
                except NotKnown:
                    if not error.settles:
                        raise error from None
            if count is None or count > UNROLL:
                if not error.settles:
                    raise
                reset()
                begin_by_itself(error, b.compare("greater", trips, b.ZERO))
                return
            begun, first = ctx.session.budget.steps, error

            def check() -> None:  # loops in loops, each iteration by itself, are not worth it
                if ctx.session.budget.steps - begun > _PATIENCE:
                    raise first

            again(check)
        if turns is not None and leaves:
            where_left(self, node, turns)
        elif turns is not None:
            at = b.add(start, b.mul(step, whole(turns.period)))
            left: list[Trips] = []
            for _ in range(turns.period - 1):
                left.append(Trips((at, b.add(at, step), step, element)))
                at = b.add(at, step)
            trips_left(self, node, target, body, b.mod(trips, b.index(turns.period)), left, turns)

    def carried(
        self, body: Sequence[ast.stmt], targets: set[str], begin: Callable[[Turns | None], None],
        reset: Callable[[], None], may_turn: bool = True,
    ) -> Turns | None:  # fmt: skip
        """Translates a loop with `begin`: the names that its body binds become slots, but where arrays change places.
        How they do, then."""
        names = assigned_names(body) - targets
        if not may_turn or has_jumps(body, ast.Continue) or not at_first(names, self.env, self.ctx.heap.contents):
            begin(None)
            return None
        shared: Shared | None = None
        try:
            begin(Turns(({},)))
            return None
        except OtherTurns:
            reset()
            turns = at_first(names, self.env, {})
        except Shared as error:
            reset()
            turns = at_first(names, self.env, self.ctx.heap.contents)
            shared = error
        while turns is not None:
            if turns.period > 1:
                turns = replace(turns, turn=self.ctx.names.variable("turn", "index"))
            try:
                begin(turns)
                return turns if turns.period > 1 else None
            except OtherTurns as found:
                turns = found.turns
            except Shared:
                turns = None
            reset()
        if shared is not None:
            raise shared
        begin(None)
        return None

def _position(value: Value | None) -> Expr | None:
    """A whole number of Python's that 64 bits hold."""
    match value:
        case Static(int() as number) if not isinstance(number, bool) and abs(number) < _FAR:
            return b.index(number)
        case Scalar(expr, True, None, None) if expr.dtype == "index":
            return expr
        case _:
            return None


def _constant(value: Value) -> Value:
    """A Python number that has come out as a constant, and tuples of them."""
    match value:
        case Scalar(Const(number, "index"), True):
            return Static(int(number))  # type: ignore[arg-type]
        case Seq(items, kind):
            return Seq(tuple(_constant(i) for i in items), kind)
        case _:
            return value
