"""Conditions: `and`, `or`, conditional expressions, and what a test says about names that may be None."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from transkern.frontend.anew import Terminated
from transkern.frontend.context import Context
from transkern.frontend.loops.trips import condition_of, zero
from transkern.frontend.python.truth import truth
from transkern.frontend.sources.source import span_of
from transkern.frontend.state import choices
from transkern.frontend.translate.comparing import Comparisons
from transkern.frontend.values import doubts
from transkern.frontend.values.describing import describe, difference
from transkern.frontend.values.numbers import is_number
from transkern.frontend.values.scalars import scalar_expr
from transkern.frontend.values.types_of_scalars import scalar_kind
from transkern.frontend.values.values import (
    CHOSEN,
    Array,
    Dict,
    Function,
    Known,
    Maybe,
    Object,
    OrNone,
    Record,
    Scalar,
    Seq,
    Static,
    Unbound,
    Value,
    children,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Const, Expr
from transkern.ir.traverse import buffers_read, buffers_written, scalars_set, variables_read
from transkern.parsing import all_nodes

_T = TypeVar("_T")


def told(ctx: Context, value: Value, around: tuple[int, ...] = ()) -> Any:
    """What the translation of a function may decide by a value, which stands in the objects `around`: what is known."""
    if isinstance(value, Object):
        if value.token in around:
            return len(around) - around.index(value.token)
        around = (*around, value.token)
    held = ctx.deref(value)
    match held:
        case Static() | Function() | Known():
            return held
        case Array():
            return tuple(a.extent for a in held.axes if isinstance(a.extent, Const))
        case Seq(items) | Record(items=items) | Dict(items=items):
            return tuple(told(ctx, i, around) for i in items)
        case _:
            return type(held).__name__


class Conditions(Comparisons):
    """The translation of what is evaluated on one path only."""

    def told(self, test: ast.expr | None, holds: bool) -> dict[str, Value]:
        """What the outcome of a test says about names that may be None."""
        match test:
            case ast.Compare(ast.Name(name), [ast.Is() | ast.IsNot() as op], [ast.Constant(None)]):
                value = self.env.get(name)
                if isinstance(value, OrNone):
                    return {name: Static(None) if isinstance(op, ast.Is) is holds else value.value}
            case ast.Name(name) if holds and isinstance(value := self.env.get(name), OrNone):
                return {name: value.value}
            case ast.UnaryOp(ast.Not(), inner):
                return self.told(inner, not holds)
            case ast.BoolOp(op, values) if isinstance(op, ast.And) is holds:
                found: dict[str, Value] = {}
                for part in values:  # in their order: a later one may give a name another value
                    bound = {x.target.id for x in all_nodes(part) if isinstance(x, ast.NamedExpr)}
                    found = {k: v for k, v in found.items() if k not in bound} | self.told(part, holds)
                return found
            case _:
                pass
        return {}

    @contextmanager
    def knowing_none(self, test: ast.expr, holds: bool) -> Iterator[None]:
        """Inside an expression, what the outcome of a test says about names that may be None."""
        known = self.told(test, holds)
        before = {k: self.env[k] for k in known}
        self.env.update(known)
        try:
            yield
        finally:
            self.env.update({k: before[k] for k, v in known.items() if self.env.get(k) is v})

    def test(self, node: ast.expr) -> Value:
        """``bool(node)``, as conditions need it."""
        if isinstance(node, ast.BoolOp):
            return truth(self.ctx, self.boolean(isinstance(node.op, ast.And), node.values))
        found = truth(self.ctx, self.expr(node))
        if isinstance(found, Static):
            self.note_decided(node)
        return found

    def note_decided(self, node: ast.expr) -> None:
        """What is known of the values of names has decided something, and may end a recursion; a test of which the same
        was known further up cannot."""
        names = sorted({x.id for x in all_nodes(node) if isinstance(x, ast.Name) and x.id in self.env})
        session = self.ctx.session
        if not names:
            return
        if session.told:
            test = (node, *(told(self.ctx, self.env[name]) for name in names))
            try:
                if any(test in tests for _, _, tests in session.told):
                    return
                session.told[-1][2].add(test)
            except TypeError:  # not to be told apart from others
                pass
        session.decided += 1
        session.decided_by_user += not session.pinned

    def chosen(self, is_and: bool, values: Sequence[ast.expr]) -> Value:
        """``a and b``, ``a or b`` as values: one of the operands."""
        ctx = self.ctx
        one = self.expr(values[0])
        if len(values) == 1:
            return one
        decided = truth(ctx, one)
        if isinstance(decided, Static):
            self.note_decided(values[0])
            return one if bool(decided.value) is not is_and else self.chosen(is_and, values[1:])
        assert isinstance(decided, Scalar)
        one = self.settle(one, CHOSEN)
        condition = condition_of(truth(ctx, one))
        before, other = self._held(), list[n.Stmt]()
        with ctx.emitter.block() as out, ctx.facts.knowing(condition if is_and else b.logical_not(condition)):
            try:
                two = self.chosen(is_and, values[1:])
                self._meet(self._held(), before, out, other)
            except Terminated:
                two = one
                self._take(before)
        if isinstance(one, Scalar) and (isinstance(two, Scalar) or is_number(two)) and not out:
            kinds = {*doubts.kinds_of(one), *doubts.kinds_of(two)}
            if len(kinds) == 1 and one.dtype == "bool":
                joined = (b.both if is_and else b.either)(condition, scalar_expr(ctx, two))
                return Scalar(joined, one.python)
        return self.either(condition if is_and else b.logical_not(condition), two, one, out, other)

    # --- expressions that are evaluated on one path only: what they leave in objects, and under names (``:=``)

    def _held(self) -> tuple[dict[int, Value], dict[str, Value]]:
        return dict(self.ctx.heap.contents), dict(self.env)

    def _take(self, held: tuple[dict[int, Value], dict[str, Value]]) -> None:
        self.ctx.heap.contents = dict(held[0])
        self.env.clear()
        self.env.update(held[1])

    def _meet(
        self, one: tuple[dict[int, Value], dict[str, Value]], two: tuple[dict[int, Value], dict[str, Value]],
        out1: list[n.Stmt], out2: list[n.Stmt],
    ) -> None:  # fmt: skip
        """What is left where two paths meet, with what it takes at the ends of them."""
        self._take(one)
        if any(one[0].get(token) is not contents for token, contents in two[0].items()):
            self.joining = (one[1], two[1], None)
            self.merge_heaps(one[0], two[0], out1, out2)
        if one[1].keys() != two[1].keys() or any(one[1][name] is not value for name, value in two[1].items()):
            self.merge(one[1], two[1], out1, out2, None)

    def boolean(self, is_and: bool, values: Sequence[ast.expr]) -> Value:
        """``and``/``or``: the value where it decides at specialisation, else a condition."""
        ctx = self.ctx
        conditions: list[Expr] = []
        last: Value = Static(is_and)
        for position, node in enumerate(values):
            ends = False
            left = ast.BoolOp(ast.And() if is_and else ast.Or(), list(values[:position]))
            before, other = self._held(), list[n.Stmt]()
            with ctx.emitter.block() as extra, self.knowing_none(left, is_and):
                try:
                    value = self.test(node)
                except Terminated:  # it raises, where it is evaluated
                    if not conditions:
                        ends = True
                    value = Static(not is_and)
            if ends:
                ctx.emitter.out.extend(extra)
                raise Terminated
            if conditions:
                self._meet(self._held(), before, extra, other)
                value = self._set_before(value, extra)
            if conditions and any(isinstance(s, (n.Define, n.Alloc)) for s in extra):
                conditions = [self._decided_first(is_and, conditions, extra, other, value)]
                continue
            if extra and conditions:
                # what the operand needs runs only where the left side does not decide
                conditions = self._decided_by_now(is_and, conditions, (*extra, *other))
                ctx.emit(self._short_circuit(conditions[0] if is_and else b.logical_not(conditions[0]), extra, other))
            else:
                ctx.emitter.out.extend(extra)
            last = value
            if isinstance(value, Static):
                if value.value is not is_and:
                    if not conditions:
                        return value
                    conditions.append(b.TRUE if value.value else b.FALSE)
                    break
                continue
            conditions.append(condition_of(value))
        if not conditions:
            return last
        joined = conditions[0]
        for c in conditions[1:]:
            joined = b.both(joined, c) if is_and else b.either(joined, c)
        return Static(joined == b.TRUE) if isinstance(joined, Const) else Scalar(joined, True)

    def _set_before(self, value: Value, extra: list[n.Stmt]) -> Value:
        """The value of an operand under a name that `_short_circuit` sets before the branch.

        A variable that statements inside `extra` set has no value where they do not run, and targets may read it there:
        CUDA's host hands it to the kernel whose condition it is.
        """
        inside = set[str]().union(*(scalars_set(s) for s in extra if not isinstance(s, n.Let)))
        if isinstance(value, Scalar) and variables_read(value.expr) & inside:
            with self.ctx.emitter.block() as more:
                value = Scalar(self.ctx.let(value.expr, "decided"), True)
            extra += more
        return value

    def _decided_by_now(self, is_and: bool, conditions: list[Expr], behind: Iterable[n.Stmt]) -> list[Expr]:
        """What the operands so far have decided, as one condition: under a name where what the next operand does
        changes what they read, as in ``not s or s.pop() > 0``."""
        before = functools.reduce(b.both if is_and else b.either, conditions)
        read = variables_read(before) | buffers_read(before)
        if any(read & (scalars_set(s) | buffers_written(s)) for s in behind):
            before = self.ctx.let(before, "decided")
        return [before]

    def _short_circuit(self, needed: Expr, extra: list[n.Stmt], other: list[n.Stmt]) -> n.Stmt:
        for position, s in enumerate(extra):
            if isinstance(s, n.Let):  # used behind the branch: a variable that is set in it
                self.ctx.names.variables[s.name] = s.value.dtype
                self.ctx.emit(n.Assign(s.name, zero(s.value.dtype)))
                extra[position] = n.Assign(s.name, s.value, span=s.span)
        return n.If(needed, tuple(extra), tuple(other))

    def _decided_first(
        self, is_and: bool, conditions: list[Expr], extra: list[n.Stmt], other: list[n.Stmt], value: Value
    ) -> Expr:
        """``a and b`` where b computes arrays: a flag, which b changes where a does not decide."""
        ctx = self.ctx
        before = functools.reduce(b.both if is_and else b.either, conditions)
        flag = ctx.names.variable("decided", "bool")
        ctx.emit(n.Assign(flag.name, before))
        last = n.Assign(flag.name, condition_of(value), span=ctx.session.span)
        branches = (*extra, last), tuple(other)
        ctx.emit(n.If(flag, *branches) if is_and else n.If(b.logical_not(flag), *branches))
        return flag

    def conditional(self, test: ast.expr, body: ast.expr, orelse: ast.expr) -> Value:
        ctx = self.ctx
        condition = self.test(test)
        if isinstance(condition, Static):
            return self.expr(body if condition.value else orelse)
        assert isinstance(condition, Scalar)
        holds = ctx.let(condition.expr, "condition") if buffers_read(condition.expr) else condition.expr
        sides: list[tuple[Value | None, list[n.Stmt]]] = []
        before, left_by = self._held(), []
        for node, known in ((body, holds), (orelse, b.logical_not(holds))):
            self._take(before)
            with ctx.emitter.block() as out, ctx.facts.knowing(known), self.knowing_none(test, node is body):
                try:
                    sides.append((self.expr(node), out))
                except Terminated:  # this side raises
                    sides.append((None, out))
            left_by.append(self._held())
        (one, out1), (two, out2) = sides
        if one is not None and two is not None:
            self._meet(left_by[0], left_by[1], out1, out2)
            return self.either(holds, one, two, out1, out2, body)
        if one is None and two is None:
            ctx.emit(n.If(holds, tuple(out1), tuple(out2)))
            raise Terminated
        self._take(left_by[one is None])
        raised, when, kept = (out1, holds, out2) if one is None else (out2, b.logical_not(holds), out1)
        ctx.emit(n.If(when, tuple(raised)))
        ctx.emitter.out.extend(kept)
        left = two if one is None else one
        assert left is not None
        return left

    def either(
        self, condition: Expr, one: Value, two: Value, out1: list[n.Stmt], out2: list[n.Stmt],
        node: ast.AST | None = None,
    ) -> Value:  # fmt: skip
        """`one` after `out1` where the condition holds, else `two` after `out2`."""
        ctx = self.ctx
        if one == two and not out1 and not out2:
            return one
        one, two = self.number_in(one, out1), self.number_in(two, out2)
        kind = scalar_kind(one, two)
        if kind is not None and not out1 and not out2:
            if len({*doubts.kinds_of(one), *doubts.kinds_of(two)}) > 2:
                of_three = self._joined(condition, one, two)
                if of_three is not None:
                    return of_three
            chosen = b.where(condition, *(b.cast(scalar_expr(ctx, v), kind[0]) for v in (one, two)))
            if isinstance(one, Array) and isinstance(two, Array):
                return Array((), chosen)
            doubt = doubts.of_both(one, two, condition, doubts.chosen(condition, one, two))
            return doubts.shown(Scalar(chosen, kind[1], doubt=doubt))
        one, two = self.settled_in(one, out1), self.settled_in(two, out2)
        joined = self._paths_joined(condition, one, two, out1, out2)
        ctx.emit(n.If(condition, tuple(out1), tuple(out2)))
        if isinstance(joined, (Unbound, Maybe)):
            if node is not None:
                ctx.session.span = span_of(node, self.scope.file)
            what = "the value of this `and` (`or`)" if node is None else "this conditional"
            sides = ctx.deref(one), ctx.deref(two)
            differs, help = difference(*sides, "side")
            problem = f"{what} is {differs}"
            if isinstance(joined, Unbound) and children(sides[0]) and describe(sides[0]) == describe(sides[1]):
                problem = f"{what}: {joined.why.replace('`chosen` is', 'something in it is')}"
            unbound = Unbound(problem, condition, help, place=self.choosing)
            choices.must_be_known(ctx, unbound)
        return joined

    def _joined(self, condition: Expr, one: Value, two: Value) -> Value | None:
        """One of two numbers that have three types between them, by paths, which say which it is; None where they
        cannot."""
        out1: list[n.Stmt] = []
        out2: list[n.Stmt] = []
        joined = self._paths_joined(condition, one, two, out1, out2)
        if isinstance(joined, (Unbound, Maybe)):
            return None
        self.ctx.emit(n.If(condition, tuple(out1), tuple(out2)))
        return joined

    def _paths_joined(
        self, condition: Expr, one: Value, two: Value, out1: list[n.Stmt], out2: list[n.Stmt]
    ) -> Value:
        """What stands for `one` at the end of `out1`, and for `two` at the end of `out2`."""
        self.decides = condition
        scopes = self.ctx.scopes
        live = None if scopes.live_here is None else scopes.live_here | scopes.read_here
        self.joining = (self.env, self.env, live)
        return self.join(CHOSEN, one, two, out1, out2)

    def settled_in(self, value: Value, out: list[n.Stmt]) -> Value:
        """Containers as objects, at the end of `out`."""
        if not isinstance(value, (Seq, Dict, Record)):
            return value
        return self.at_end(out, lambda: self.settle(value, CHOSEN))

    def number_in(self, value: Value, out: list[n.Stmt]) -> Value:
        """A number, at the end of `out`, that joins another."""
        return self.at_end(out, lambda: doubts.settled(self.ctx, value))

    def at_end(self, out: list[n.Stmt], compute: Callable[[], _T]) -> _T:
        """What is computed, at the end of `out`."""
        with self.ctx.emitter.block(out) as more:
            made = compute()
        out.extend(more)
        return made
