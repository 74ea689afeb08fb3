"""Loops: counted ones, `while`, those that are translated iteration by iteration, and `try`."""

from __future__ import annotations

import ast
import copy
import functools
import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from transkern import refusals
from transkern.errors import CompileError
from transkern.frontend.anew import Becomes, MustGrow, NotKnown, Shared, Terminated
from transkern.frontend.containers import pools
from transkern.frontend.loops import counting, iterating, over_changes, rolling, steps
from transkern.frontend.loops.carried import sharing as carried_sharing
from transkern.frontend.loops.carried.state import LoopState
from transkern.frontend.loops.trips import condition_of, stable_parts, trip_bound, trip_count
from transkern.frontend.loops.turns import OtherTurns, Turns, at_first, leaving_unless, rebinding
from transkern.frontend.sources.source import span_of
from transkern.frontend.state import evaluating, memory, stores
from transkern.frontend.state.control import Catch, Crossed
from transkern.frontend.syntax.desugar import CATCHES, WHOLE, has_jumps, placed, without_jumps
from transkern.frontend.syntax.liveness import ORIGIN, live_names
from transkern.frontend.syntax.sharing import may_show, stored_before_made
from transkern.frontend.syntax.syntax import assigned_names, rebound_names, stored_in
from transkern.frontend.translate.branching import Branches
from transkern.frontend.translate.comprehensions import UNROLLED
from transkern.frontend.values import classes
from transkern.frontend.values.describing import describe
from transkern.frontend.values.set_order import ORDERLESS, comparable
from transkern.frontend.values.values import (
    ITEM,
    Array,
    GrowingList,
    Known,
    Method,
    Range,
    Scalar,
    Seq,
    Static,
    Trips,
    Value,
    lies,
)
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Const, Expr, Var
from transkern.ir.traverse import buffers_read, variables_read
from transkern.parsing import all_nodes

_UNROLL, _FEW = 64, 16
_SETTLING = 20  # translations of a loop until the types of what it carries hold
_PATIENCE = 50_000  # steps of translation for a loop's iterations one by one
_PEELS = 3  # iterations of a loop that may stand before it
_PEELED = "_transkern_peeled"  # on a loop: how many do
_APART, _SHORT = 3, 500  # loops behind which the function's rest is translated more than once; its nodes
_MORE = "another trip"  # likewise: whether there is one behind this
_ITEM = "loop item"  # no identifier: the value that an unrolled iteration binds
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
            self.loop(node, body, trip, (), b.TRUE if forever else None, turns)

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
                (error.begins_anew and error.grows is None) or (whole and not error.settles)
            ):  # fmt: skip
                raise
            reset()
            if isinstance(error, NotKnown) and not whole:
                try:
                    self.unrolled_while(test, body, error)
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
            self.first_by_itself(error, node, condition_of(self.test(test)), ast.Name(_ITEM, ast.Store()), once, rest)
        if turns is not None:
            self.where_left(node, turns)

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

    def unrolled_while(self, test: ast.expr, body: Sequence[ast.stmt], error: NotKnown) -> None:
        """A `while` whose iterations are translated one by one, as each time it is known whether there is another."""
        ctx = self.ctx
        with ctx.emitter.block():
            try:
                first = self.test(test)
            except Terminated:
                raise error from None
        if isinstance(first, Scalar):
            if error.grows is not None and not _is_of_sizes(first.expr):
                raise error
            try:
                ctx.must_be_known(first, error.problem, error.help, error.kind)
            except NotKnown:  # of the sizes of arrays that the function has made
                if error.grows is not None:
                    raise error from None
                raise

        def run(position: int) -> bool:
            """The iterations from `position` on; True where the end is not reached."""
            for at in range(position, _UNROLL):
                with ctx.emitter.block(ctx.emitter.out) as extra:
                    holds = self.test(test)
                if not isinstance(holds, Static) or has_jumps(body):
                    raise error
                ctx.emitter.out.extend(extra)
                if not holds.value:
                    return False
                self.pending.append(lambda at=at: run(at + 1))  # type: ignore[misc]
                try:
                    if self.block(body):
                        return True
                finally:
                    self.pending.pop()
            raise error

        if run(0):
            raise Terminated

    def for_loop(
        self, node: ast.For, target: ast.expr, iterable: ast.expr, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt]
    ) -> None:
        ctx = self.ctx
        assert not orelse, "`else` of a loop is a flag"
        catches = getattr(node, CATCHES, None)
        source = Range(b.ZERO, b.ONE, b.ONE) if catches else self.expr(iterable)
        if getattr(node, ORDERLESS, False):
            source = comparable(ctx.deref(source))
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

    def _loop_over(
        self, node: ast.For, target: ast.expr, source: Value, counted: Any, over: steps.Over, body: Sequence[ast.stmt]
    ) -> None:
        """A loop over `source`; `counted` is what `iterating.iteration` says of it."""
        ctx, catches = self.ctx, getattr(node, CATCHES, None)
        if isinstance(counted, list):
            if len(counted) > _UNROLL and not all(isinstance(i, Static) for i in counted):
                problem = f"a loop over {len(counted)} values, each with code of its own"
                ctx.fail(refusals.STATEMENT, problem, "put them into an array, np.array(…), and loop over that", node)
            rolling.over_items(self, node, target, counted, body, self._steps(source, over, counted, node))
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
                        if self.tried(body, *catches) if catches else self.block(body):
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

        self.last_trips = None
        targets = {x.id for x in all_nodes(target) if isinstance(x, ast.Name)}
        count = b.constant(trips)

        def one_by_one(check: Callable[[], None] = lambda: None) -> None:
            """The iterations one by one."""
            assert count is not None
            of = iterating.iteration(ctx, steps.live(ctx, source))[3] if over.shown else element
            items = [_constant(of(b.add(start, b.mul(step, b.index(k))))) for k in range(count)]
            names = getattr(node, UNROLLED, None)
            now = steps.stepper(ctx, source) if over.held else None
            self.unrolled(target, items, body, check, names if isinstance(names, tuple) else None, now)

        if count is not None and count <= _FEW and hasattr(node, UNROLLED):
            one_by_one()
            return
        reset = self.resetting()

        def again(check: Callable[[], None] = lambda: None) -> None:
            """Begin anew, with the iterations one by one."""
            reset()
            one_by_one(check)

        def begin(turns: Turns | None) -> None:
            least = b.ONE if leaves or turns is None else b.index(turns.period)
            self.loop(node, body, trip, targets, b.compare("greater_equal", trips, least), turns)

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
            self.last_trips = trips
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
                self._over_values(source, over, error.tokens, node, target, body)
            return
        except _RangeChanges:
            reset()
            if over.alone is not None and counts:
                self.jumps += 1
                made, given = over_changes.over_keys(source, *over.alone, node, target, body, self.jumps)
                self.env.update(given)
                self.instead(node, made)
            else:
                self._over_what_changes(source, counted, node, target, body)
            return
        except MustGrow:
            if count is None or count > _FEW or catches:
                raise
            again()
        except NotKnown as error:
            if catches:
                raise
            # what must be known in the body is known where each iteration is translated by itself
            many = count is None or (count > _FEW and error.pooled is not None)
            if many and error.begins_anew and error.grows is None:
                raise
            if error.grows is not None and ctx.session.reserves and (count is None or count > _FEW):
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
            if count is None or count > _UNROLL:
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
            self.where_left(node, turns)
        elif turns is not None:
            at = b.add(start, b.mul(step, whole(turns.period)))
            left: list[Trips] = []
            for _ in range(turns.period - 1):
                left.append(Trips((at, b.add(at, step), step, element)))
                at = b.add(at, step)
            self.trips_left(node, target, body, b.mod(trips, b.index(turns.period)), left, turns)

    def tried(
        self, body: Sequence[ast.stmt], name: str, types: Sequence[ast.expr | None], told: Sequence[str | None],
        lets_pass: Sequence[bool],
    ) -> bool:  # fmt: skip
        """The body of a `try`, which exceptions of the handlers' `types` leave, but those that a handler `lets_pass`;
        `name` tells the handler's number, and the names in `told` the message, where a handler looks at it."""
        ctx = self.ctx
        kinds = tuple((Exception,) if t is None else self.exception_classes(t) for t in types)

        def leave(number: int, error: str, message: str, args: Sequence[Expr]) -> None:
            before = dict(self.env)
            self.env[name] = Static(number)
            shown = told[number - 1]
            if shown is not None:
                if args:
                    problem = "the message of an exception that is caught, of run-time numbers or made by its class,"
                    help = "do not read it, or test for what would raise it"
                    ctx.fail(refusals.TEXT, f"{problem} is read: {message!r}", help)
                text = message.format()
                self.env[shown] = Static(repr(text) if error == "KeyError" else text)
            self.loops[-1].leave(self, True)
            self.env.clear()
            self.env.update(before)

        self.env.update({shown: Static("") for shown in told if shown is not None})  # nothing may be raised at all
        ctx.control.catching.append(Catch(kinds, tuple(lets_pass), ctx.session.depth, leave))
        try:
            return self.block(body)
        finally:
            ctx.control.catching.pop()

    def exception_classes(self, node: ast.expr) -> tuple[type[BaseException], ...]:
        """The classes that an `except` names."""
        if isinstance(node, ast.Tuple):
            return tuple(c for e in node.elts for c in self.exception_classes(e))
        return (self.exception_class(self.expr(node), node, True),)

    def exception_class(self, kind: Value, node: ast.expr, is_caught: bool = False) -> type[BaseException]:
        """The class that `kind` is, which is raised or caught."""
        if isinstance(kind, Known) and isinstance(found := classes.named_object(kind.path), type):
            kind = Static(found)
        if not (isinstance(kind, Static) and isinstance(kind.value, type) and issubclass(kind.value, BaseException)):
            what = describe(self.ctx.deref(kind))
            if is_caught:
                problem = f"`except` of {what}, where a class of exceptions must be named"
                self.ctx.fail(refusals.CAUGHT, problem, "name it there, or several: (IndexError, ValueError)", node)
            self.ctx.fail(refusals.MESSAGE, f"`raise` of {what}", "raise a class of exceptions: ValueError(…)", node)
        found_class: type[BaseException] = kind.value
        return found_class

    def _over_what_changes(
        self, source: Value, counted: Any, node: ast.For, target: ast.expr, body: Sequence[ast.stmt]
    ) -> None:
        """A loop whose body changes the length that it was about to go by. A range keeps what it was made with."""
        ctx = self.ctx
        over = ctx.deref(source)
        self.jumps += 1
        if isinstance(over, (Range, Trips)):
            held = f"gone over {self.jumps}"
            start, stop, step, element = counted
            self.env[held] = Trips((ctx.let(start, "start"), ctx.let(stop, "stop"), step, element))
            again = copy.copy(node)
            again.target, again.iter, again.body = target, ast.Name(held, ast.Load()), list(body)
            self.instead(node, [again])
            return
        first, backwards = None, False
        if isinstance(over, Method) and over.name == "enumerate" and isinstance(over.receiver, Seq):
            source, first = over.receiver.items
        if isinstance(source, Method) and source.name == "reversed":
            source, backwards = source.receiver, True
        owner = ctx.deref(source)
        if not isinstance(owner, GrowingList) or owner.is_queue:
            problem = "a loop over what its body makes longer or shorter"
            ctx.fail(refusals.STATEMENT, problem, "loop over a copy, list(…), or write a `while` loop", node)
        made, given = over_changes.over_list(source, first, backwards, target, body, self.jumps)
        self.env.update(given)
        self.instead(node, made)

    def _over_values(
        self, source: Value, over: steps.Over, tokens: Sequence[int], node: ast.For, target: ast.expr,
        body: Sequence[ast.stmt],
    ) -> None:  # fmt: skip
        """A loop whose body changes the values that it goes over, where what was there has been looked at before."""
        ctx = self.ctx
        if tokens:
            problem = "a loop over a list that its body changes, beside something of run-time length"
            contents = over.held[tokens[0]]
            if isinstance(contents, Seq) and contents.kind == "list":
                ctx.must_grow(tokens[0], problem)
            ctx.fail(refusals.STATEMENT, problem, "loop over positions, or over a copy: list(…)", node)
        self.jumps += 1
        held, again = f"gone over {self.jumps}", copy.copy(node)
        self.env[held] = steps.live(ctx, source)
        again.target, again.iter, again.body = target, ast.Name(held, ast.Load()), list(body)
        setattr(again, over_changes.WATCHED, True)
        self.instead(node, [again])

    def instead(self, node: ast.For, made: list[ast.stmt]) -> None:
        """`made` in the place of a loop."""
        for statement in made:
            setattr(statement, ORIGIN, getattr(node, ORIGIN, node))
            placed(statement, node)
        if self.block(made):
            raise Terminated

    def _steps(
        self, source: Value, over: steps.Over, items: Sequence[Value], node: ast.For
    ) -> Callable[[int], Value | None] | None:
        """What a loop over values that are known one by one takes at a step, if an iteration may change that: what a
        list, or a dict, holds by then."""
        if not over.held:
            return None
        ctx, step = self.ctx, steps.stepper(self.ctx, source)

        def now(at: int) -> Value | None:
            if not over.changed(ctx):
                return items[at] if at < len(items) else None
            if at > _UNROLL:
                problem = "a loop over a list that gets longer and longer in it"
                ctx.fail(refusals.STATEMENT, problem, "loop over a copy, list(…), or write a `while` loop", node)
            return step(at)

        return now

    def unrolled(
        self, target: ast.expr, items: Sequence[Value], body: Sequence[ast.stmt],
        check: Callable[[], None] = lambda: None, names: tuple[str, str] | None = None,
        now: Callable[[int], Value | None] | None = None, at_length: bool = True,
    ) -> None:  # fmt: skip
        """A loop over values that are known one by one: its body once for each. `names` are those of its flags; `now`
        tells the value at a step, if an iteration may change them. Raises TooLong unless it may be long."""
        self.jumps += 1
        broken, skipped = names or (f"broken {self.jumps}", f"skipped {self.jumps}")
        jumps = has_jumps(body)
        if jumps:
            body = without_jumps(body, broken, skipped)
            flag = ast.copy_location(ast.Name(broken, ast.Load()), target)
            first = ast.Assign([target], ast.Name(_ITEM, ast.Load()))
            around = ast.If(ast.UnaryOp(ast.Not(), flag), [first, *body], [])
            placed(around, target)
            self.env[broken] = Static(False)

        def run(position: int) -> bool:
            """The iterations from `position` on; True where the end is not reached."""
            for at in itertools.count(position):
                left = condition_of(self.env[broken]) if jumps else b.FALSE
                if left == b.TRUE:
                    break
                try:
                    given = now(at) if now is not None else items[at] if at < len(items) else None
                except steps.Resized as error:
                    self.ctx.guard(left, "RuntimeError", str(error))
                    break
                if given is None:
                    break
                check()
                self.pending.append(lambda at=at: run(at + 1))  # type: ignore[misc]
                try:
                    if jumps:
                        self.env[skipped] = Static(False)
                    if left != b.FALSE:
                        self.env[_ITEM] = given
                        done = self.block([around])
                    else:
                        self.assign(target, given)
                        done = self.block(body)
                    if done:
                        return True
                    if not at and not at_length:
                        rolling.check_length(self.ctx, begun, len(items))
                finally:
                    self.pending.pop()
            return False

        begun = len(self.ctx.emitter.out)
        if run(0):
            raise Terminated

    def loop(
        self, node: ast.While | ast.For, body: Sequence[ast.stmt], trip: Any, targets: Any, runs: Expr | None,
        turns: Turns | None = None,
    ) -> None:  # fmt: skip
        """A run-time loop. One in a function that is called inside a `try` may be left by an exception: so is then the
        loop around it, which is another one of the function, or the body of the `try`."""
        ctx, before = self.ctx, len(self.ctx.control.crossed)
        if not any(c.depth < ctx.session.depth for c in ctx.control.catching):
            self._loop(node, body, trip, targets, runs, turns)
            return
        crossed = Crossed(ctx.session.depth, ctx.names.variable("left", "bool"), set())
        ctx.control.crossed.append(crossed)
        start, out = len(ctx.emitter.out), ctx.emitter.out
        try:
            self._loop(node, body, trip, targets, runs, turns)
        finally:
            del ctx.control.crossed[before:]
        if crossed.used:
            out.insert(start, n.Assign(crossed.left.name, b.FALSE, span=ctx.session.place()))
            ctx.emit(n.If(crossed.left, (n.Break(span=ctx.session.place()),)))

    def _loop(
        self, node: ast.While | ast.For, body: Sequence[ast.stmt], trip: Any, targets: Any, runs: Expr | None,
        turns: Turns | None = None,
    ) -> None:  # fmt: skip
        """A run-time loop: names that its body assigns become slots; their types are widened until they hold. `runs`
        says, where it is known, whether there is a first iteration; the names of `turns` need no slots."""
        ctx = self.ctx
        span = span_of(node, self.scope.file)
        assigned = assigned_names(body) | set(targets)
        live = live_names(self.node, node)
        assigned -= self._changed_in_place(body, assigned)
        assigned -= turns.names if turns is not None else set()
        before, heap = dict(self.env), dict(ctx.heap.contents)
        self._check_sharing(body, {name for name in assigned if name in live[0] or " " in name}, before)
        place = (span, () if ctx.session.pinned else tuple(f.node for f in ctx.session.called))
        state = LoopState(
            self, assigned - set(targets), before, live, assigned, stored_in(body), runs, turns, place,
            hasattr(node, WHOLE),
        )  # fmt: skip
        ctx.control.loop_path, outer_path = (*ctx.control.loop_path, ctx.control.loop_number()), ctx.control.loop_path
        begun, untyped = len(ctx.aliasing.writes), len(ctx.lists.untyped)
        for _ in range(_SETTLING):
            # an iteration must not read again what one before it has changed
            for frame in (*ctx.scopes.frames[:-1], before):
                written = set(ctx.aliasing.writes[begun:])
                for name in stores.outdated(frame, written):
                    evaluating.evaluate_name(ctx, frame, name, functools.partial(stores.is_filter_of, buffers=written))
            saved = ctx.snapshot()
            del ctx.lists.untyped[untyped:]
            self.env.clear()
            self.env.update(before)
            ctx.heap.contents = dict(heap)
            with ctx.emitter.block() as setup:
                ctx.session.span = span
                state.enter(self)
                self.loops.append(state)
                stored = len(ctx.aliasing.stored) + len(ctx.lists.grown)
                try:
                    ctx.session.span = span
                    statement = trip(state)
                finally:
                    self.loops.pop()
                changed = set(ctx.aliasing.writes[begun:])
                if any(stores.outdated(frame, changed) for frame in (*ctx.scopes.frames[:-1], before)):
                    state.widened = True
                # those of an iteration's own are read in the order in which they are filled
                filled = [owner for owner in ctx.lists.untyped[untyped:] if owner.dtype or owner.columns]
                if any(owner.around.depth <= len(ctx.control.trips) or owner.options for owner in filled):
                    state.widened = True
                # what the iteration took for known before its store, or of a list's length, may not be so
                if len(ctx.aliasing.stored) + len(ctx.lists.grown) > stored:
                    state.widened = True
            if not state.widened:
                state.settle(self)
            if not state.widened:
                self._check_stored(state, changed)
                state.remember(ctx)
                break
            state.widened = False
            ctx.restore(saved)
            ctx.control.deferred = None
        else:
            touched = state.contents.touched.values()
            inner = (k for kind in touched for k in (kind[2] if kind[0] == "items" else (kind,)))
            kinds = (*inner, *state.kinds.values())
            pools.wanted_among(ctx, kinds, "objects that a loop hands on from iteration to iteration")
            problem = "the types of this loop's variables do not settle, as where a tuple holds the one before it"
            help = "keep what is collected in a list, with .append, and give each name one type before the loop"
            ctx.fail(refusals.TYPE_DIFFERS, problem, help, node)
        ctx.control.loop_path = outer_path
        if ctx.control.deferred is not None and not ctx.control.trips:
            raise ctx.control.deferred
        ctx.emitter.out.extend(setup)
        ctx.session.span = span
        # the loop may bind what it reads
        if state.runs is not None and not variables_read(state.runs) <= ctx.facts.entry:
            state.runs = ctx.let_tentative(state.runs, "runs")
        ctx.emit(statement)
        self.env.clear()
        self.env.update(state.after(self))
        ctx.heap.contents = {**ctx.heap.contents, **heap, **state.held_after()}

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

    def where_left(self, node: ast.While | ast.For, turns: Turns) -> None:
        """After a loop that may be left where its names have changed places."""
        ways = []
        for k in range(1, turns.period):
            statements, given = rebinding(turns, k, f"turn {k}")
            self.env.update(given)
            ways.append((b.compare("equal", turns.turn, b.index(k)), statements))  # type: ignore[arg-type]
        self.one_of(ways, node, turns)

    def trips_left(
        self, node: ast.For, target: ast.expr, body: Sequence[ast.stmt], left: Expr, items: Sequence[Trips],
        turns: Turns,
    ) -> None:  # fmt: skip
        """The iterations behind those that go several at a time; `left` says how many there are."""
        ways, rest = [], list[ast.stmt]()
        for k, item in enumerate(items):
            self.env[f"trip left {k}"] = item
            once = ast.For(target, ast.Name(f"trip left {k}", ast.Load()), list(body), [])
            setattr(once, UNROLLED, True)
            setattr(once, ORIGIN, getattr(node, ORIGIN, node))
            rest.append(once)
            ways.append((b.compare("equal", left, b.index(k + 1)), list(rest)))
        self.one_of(ways, node, turns)

    def one_of(self, ways: Sequence[tuple[Expr, list[ast.stmt]]], node: ast.While | ast.For, turns: Turns) -> None:
        """What is done behind a loop, at most one of several things, after which names stand for other arrays: the
        rest of the function is then translated for each by itself, where it is short; else what they stand for is a
        copy."""
        for _, statements in ways:
            for x in statements:
                placed(x, node)
        live = live_names(self.node, node)[1]
        size = sum(1 for x in all_nodes(self.node) if getattr(x, "lineno", 0) > (node.end_lineno or node.lineno))
        apart = not self.inlined and not self.loops and self.apart < _APART and size < _SHORT
        if (live & turns.names or turns.items) and apart:
            self.each_way(ways)
            raise Terminated
        if turns.items:
            problem = "the loop exchanges arrays that others see, and what comes after it depends on how often"
            help = "put copies of the arrays there before the loop, with .copy(), and exchange those"
            self.ctx.fail(refusals.LOOP_ALIAS, problem, help, node)
        chosen: list[ast.stmt] = []
        for k, (condition, statements) in reversed(list(enumerate(ways))):
            self.env[f"way {k}"] = Scalar(condition)
            chosen = [placed(ast.If(ast.Name(f"way {k}", ast.Load()), statements, chosen), node)]
        condition, statements = ways[0]
        then = chosen[0]
        assert isinstance(then, ast.If)
        if self.fork(condition, statements, then.orelse, live):
            raise Terminated

    def each_way(self, ways: Sequence[tuple[Expr, list[ast.stmt]]]) -> None:
        """Each way to the function's end, and last the one on which nothing is done."""
        ctx = self.ctx
        before, heap, held = dict(self.env), dict(ctx.heap.contents), list(self.pending)
        none = functools.reduce(b.both, (b.logical_not(condition) for condition, _ in ways))
        self.apart += 1
        try:
            for condition, statements in [*ways, (None, [])]:
                self.env.clear()
                self.env.update(before)
                ctx.heap.contents = dict(heap)
                with ctx.emitter.block() as out, ctx.facts.knowing(
                    stable_parts(ctx, none if condition is None else condition)
                ):
                    done = self.block(statements)
                    while self.pending and not done:
                        done = self.pending.pop()()
                    if not done:
                        ctx.emit(n.Return(self.returned(Static(None))))
                self.pending[:] = held
                if condition is None:
                    ctx.emitter.out.extend(out)
                else:
                    ctx.emit(n.If(condition, tuple(out)))
        finally:  # also where the translation begins anew
            self.pending[:] = held
            self.apart -= 1

    def _changed_in_place(self, body: Sequence[ast.stmt], assigned: set[str]) -> set[str]:
        """Names of arrays that the body only changes by ``x += …``: that is a store, not an assignment."""
        rebound = rebound_names(body)
        found: set[str] = set()
        for name in sorted(assigned - rebound):  # copies are made in one order, whatever the names' hashes are
            value = self.env.get(name)
            if isinstance(value, Array):
                if not lies(value):
                    self.own(name, value)
                found.add(name)
        return found

    def _check_sharing(self, body: Sequence[ast.stmt], assigned: set[str], before: dict[str, Value]) -> None:
        """Names that the loop rebinds get memory of their own. That cannot be told from Python's sharing unless the
        loop also stores into them while somebody else sees the array."""
        stored = {s for s in stored_before_made(body) & assigned if not isinstance(before.get(s), (Static, Scalar))}
        if not stored:
            return
        for name in sorted(assigned):
            value = before.get(name)
            if not isinstance(value, Array) or not value.view:
                continue
            shown = {value.base, *self.ctx.aliasing.doubtful.get(value.base, ())[:1]}
            others = [k for k, v in before.items() if k != name and isinstance(v, Array) and v.view and v.base in shown]
            touched = stored & may_show(name, body, [(name, k) for k in others])
            outside = memory.is_of_argument(self.ctx, value.base)
            held = (*self.ctx.aliasing.chosen, *self.ctx.aliasing.begun)
            if touched and (outside or others or value.base in held):
                whose = f"also `{others[0]}`" if others else "an argument" if outside else "one of several arrays"
                raise self._shared(name, touched, whose)

    def _check_stored(self, state: LoopState, changed: set[str]) -> None:
        """The same for what is only seen when the body has been translated: a function that is called stores."""
        if name := carried_sharing.changed_from_before(state, self):
            raise self._shared(name, {name}, "seen elsewhere")
        for slot, name in state.outside.from_outside.items():
            if slot in changed and name not in state.outside.never:
                if name is ITEM:  # in an object, a list or a dict
                    problem = "the loop puts another array where one stands that others see, and stores into both"
                    help = "put a copy there before the loop, or swap names of its own and put them back behind it"
                    raise Shared(refusals.LOOP_ALIAS, problem, help, self.ctx.session.span, self.ctx.session.lines)
                raise self._shared(name, {name}, "seen elsewhere")

    def _shared(self, name: str, stored: set[str], whose: str) -> Shared:
        into = ", ".join(f"`{s}`" for s in sorted(stored))
        problem = f"the loop assigns `{name}` anew and stores into {into}, and `{name}` is {whose} at first"
        help = f"start the loop with a copy: {name} = {name}.copy()"
        if others := sorted(stored - {name}):
            copies = ", ".join(f"{s}.copy()" for s in [name, *others])
            help = f"start the loop with a copy of each, and in it assign copies, too: {copies}"
        return Shared(refusals.LOOP_ALIAS, problem, help, self.ctx.session.span, self.ctx.session.lines)


def _position(value: Value | None) -> Expr | None:
    """A whole number of Python's that 64 bits hold."""
    match value:
        case Static(int() as number) if not isinstance(number, bool) and abs(number) < _FAR:
            return b.index(number)
        case Scalar(expr, True, None, None) if expr.dtype == "index":
            return expr
        case _:
            return None


def _is_of_sizes(e: Expr) -> bool:
    """Whether the sizes of arguments alone say what an expression is."""
    return all(map(b.is_size_name, variables_read(e))) and not buffers_read(e)


def _constant(value: Value) -> Value:
    """A Python number that has come out as a constant, and tuples of them."""
    match value:
        case Scalar(Const(number, "index"), True):
            return Static(int(number))  # type: ignore[arg-type]
        case Seq(items, kind):
            return Seq(tuple(_constant(i) for i in items), kind)
        case _:
            return value
