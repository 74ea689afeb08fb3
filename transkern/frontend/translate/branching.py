"""Branches on run-time conditions, and what names stand for where their paths meet."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from transkern import refusals
from transkern.frontend.bodies import RETURN, Behind
from transkern.frontend.loops.trips import stable_parts
from transkern.frontend.sources.source import span_of
from transkern.frontend.syntax.liveness import live_after, live_behind
from transkern.frontend.syntax.syntax import returns
from transkern.frontend.translate.assigning import Assignments
from transkern.frontend.translate.joining.dicts import may_get_keys
from transkern.frontend.translate.joining.halves import half
from transkern.frontend.translate.joining.joining import has_texts_of_numbers, join
from transkern.frontend.values.describing import describe
from transkern.frontend.values.values import (
    ITEM,
    Dict,
    Record,
    Scalar,
    Seq,
    Static,
    Unbound,
    Value,
    are_of_other_lengths,
    children,
    same_structure,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Const, Expr


class Branches(Assignments):
    """`if`, and the joining of two paths' names."""

    def branch(self, node: ast.If) -> bool:
        """An `if`; True where nothing after it is reached. In an inlined function whose branch returns, what comes
        after it moves into the other branch."""
        self.ctx.session.span = span_of(node.test, self.scope.file)
        condition = self.test(node.test)
        if isinstance(condition, Static):
            return self.block(node.body if condition.value else node.orelse)
        assert isinstance(condition, Scalar)
        return self.fork(condition.expr, node.body, node.orelse, live_after(self.node, node), node.test)

    def fork(
        self, condition: Expr, then: Sequence[ast.stmt], orelse: Sequence[ast.stmt], live: frozenset[str] | None,
        test: ast.expr | None = None,
    ) -> bool:  # fmt: skip
        """Both branches of a run-time condition; of the names that they bind, those in `live` are joined."""
        ctx = self.ctx
        span = ctx.session.span
        move = self.inlined and any(returns(s) for s in [*then, *orelse])
        before, heap, managed = dict(self.env), dict(ctx.heap.contents), ctx.scopes.globals_now
        heaps: list[dict[int, Value]] = []
        outcomes: list[tuple[list[n.Stmt], dict[str, Value], bool, bool]] = []
        told: list[dict[str, Value]] = []
        given, ends = (ctx.heap.handed, ctx.aliasing.appended), list[tuple[set[int], set[str]]]()
        standing, stands = ctx.lists.twins.rows.standing, set[tuple[str, str]]()
        for statements in (then, orelse):
            ctx.heap.handed, ctx.aliasing.appended = set(given[0]), set(given[1])
            ctx.lists.twins.rows.standing = set(standing)
            self.env.clear()
            self.env.update(before)
            told.append(self.told(test, statements is then))
            self.env.update(told[-1])
            ctx.heap.contents, ctx.scopes.globals_now = dict(heap), managed
            self.ended = False
            holds = condition if statements is then else b.logical_not(condition)
            with ctx.emitter.block() as out, ctx.facts.knowing(stable_parts(ctx, holds)):
                ctx.control.in_branch += 1
                try:
                    done = self.block(statements)
                    if move and not done:
                        done = self.finish()
                finally:
                    ctx.control.in_branch -= 1
                outcomes.append((out, dict(self.env), done, self.ended))
                heaps.append(ctx.heap.contents)
                ends.append((ctx.heap.handed, ctx.aliasing.appended))
                stands |= ctx.lists.twins.rows.standing
        (out1, env1, done1, ended1), (out2, env2, done2, ended2) = outcomes
        ctx.heap.handed, ctx.aliasing.appended = ends[0][0] | ends[1][0], ends[0][1] | ends[1][1]
        ctx.lists.twins.rows.standing = stands
        self.behind = behind = Behind()
        ctx.scopes.globals_now = managed
        self.decides = condition
        if move and (ended1 or ended2):
            if ended1 and ended2:
                self.merge_heaps(heaps[0], heaps[1], out1, out2)
                self.merge(env1, env2, out1, out2, frozenset([RETURN]))
            else:
                self.env.clear()
                self.env.update(env1 if ended1 else env2)
                ctx.heap.contents = heaps[0] if ended1 else heaps[1]
        elif done1 and done2:
            pass
        elif done1 or done2:
            self.env.clear()
            self.env.update(env2 if done1 else env1)
            ctx.heap.contents = heaps[1] if done1 else heaps[0]
        else:
            for env, known in zip((env1, env2), told, strict=True):
                env.update({k: before[k] for k, v in known.items() if env.get(k) is v})
            outer, self.given = self.given, (ends[0], ends[1])
            self.merge_heaps(heaps[0], heaps[1], out1, out2)
            self.merge(env1, env2, out1, out2, live)
            self.given = outer
        self.behind = None
        ctx.session.span = span
        # one path leaves: of an inlined function that has returned on the other path, it can only raise
        first, second = (ended2, ended1) if move and (ended1 or ended2) else (done1, done2)
        leaves, stays, when = (out1, out2, condition) if first else (out2, out1, b.logical_not(condition))
        if leaves and first != second:
            match leaves:
                case [n.Guard(Const(False)) as raised]:  # a raise on a condition is a check
                    ctx.emitter.out.append(replace(raised, condition=b.logical_not(when)))  # at its own place
                case _:
                    ctx.emit(n.If(when, tuple(leaves)))
            if ctx.emitter.out is ctx.emitter.root and not ctx.control.catching:
                ctx.facts.hold(b.logical_not(when))
            ctx.emitter.out.extend(stays)  # not in a branch: what it binds holds from here on
        elif out1 or out2:
            again = ctx.let(condition, "chosen") if behind.memory else condition
            ctx.emit(n.If(condition, tuple(out1), tuple(out2)))
            if behind.memory:
                ctx.emitter.out.extend(behind.memory)
                ctx.emit(n.If(again, tuple(behind.then), tuple(behind.orelse)))
        self.ended = move and (ended1 or ended2)
        return done1 and done2

    def join(self, name: str, one: Value, two: Value, out1: list[n.Stmt], out2: list[n.Stmt]) -> Value:
        """One value that is `one` after `out1` and `two` after `out2`."""
        return join(self, name, one, two, out1, out2)

    def merge_heaps(
        self, heap1: dict[int, Value], heap2: dict[int, Value], out1: list[n.Stmt], out2: list[n.Stmt]
    ) -> None:
        """What is in the lists, dicts and objects after one of two paths."""
        outer = self.unmerged
        self.forked = heap1.keys() & heap2.keys()
        self.ctx.heap.contents = {**heap1, **heap2}
        self.unmerged = {
            token: (heap1[token], two, out1, out2) for token, two in heap2.items()
            if token in heap1 and heap1[token] is not two and heap1[token] != two
        }  # fmt: skip
        for token in list(self.unmerged):
            self.merge_contents(token)
        self.unmerged = outer

    def merge_contents(self, token: int) -> None:
        """What is in one of them, if it has not been merged yet: others that hold it have to be later."""
        ctx = self.ctx
        if token in self.unmerged:
            one, two, out1, out2 = self.unmerged.pop(token)
            if has_texts_of_numbers(one, two) and one != two and ctx.grows_at(token) is not None:
                ctx.must_grow(token, "a list that has another text on each of two paths")
            if same_structure(one, two):
                joined = join(self, ITEM, one, two, out1, out2)
                for item in children(joined) or ():
                    if isinstance(item, Unbound):
                        ctx.fail(refusals.TYPE_DIFFERS, item.why, "give it one type on both paths")
                ctx.heap.contents[token] = joined
            elif isinstance(one, Seq) and isinstance(two, Seq):
                others = [t for t, (a, b, *_) in self.unmerged.items() if are_of_other_lengths(a, b)]
                ctx.must_grow(token, "a list that has another length on each of two paths", others=others)
            else:
                if isinstance(one, Dict) and isinstance(two, Dict):
                    keyed = may_get_keys(ctx, one) and may_get_keys(ctx, two)
                    if keyed and ctx.grows_at(token) is not None:
                        ctx.must_grow(token, "a dict that gets a key on one of two paths", refusals.RUN_TIME_KEYS)
                    problem = "a dict with texts as keys and arrays as values that gets a key on one of two paths only"
                    ctx.fail(refusals.RUN_TIME_KEYS, problem, "give it the same keys on both, or set them before")
                problem = f"{describe(one)} on one path and {describe(two)} on the other"
                help = "give it one type on both"
                if isinstance(one, Record) and isinstance(two, Record) and one.kind is two.kind:
                    problem = f"{describe(one)} that gets an attribute on one of two paths only"
                    help = "set it on both, or in `__init__`"
                ctx.fail(refusals.TYPE_DIFFERS, problem, help)

    def merge(
        self, env1: dict[str, Value], env2: dict[str, Value], out1: list[n.Stmt], out2: list[n.Stmt],
        live: frozenset[str] | None,
    ) -> None:  # fmt: skip
        merged: dict[str, Value] = {}
        self.joining = (env1, env2, live)
        for name in [*env1, *[k for k in env2 if k not in env1]]:
            one, two = env1.get(name), env2.get(name)
            if one is not None and two is not None and (one is two or one == two):
                merged[name] = one
            elif live is not None and name not in live:
                merged[name] = Unbound(f"`{name}` has different values on two paths")
            elif one is None or two is None:
                merged[name] = half(self, name, two or one, out1, out2, two is None)  # type: ignore[arg-type]
            else:
                merged[name] = join(self, name, one, two, out1, out2)
            made = merged[name]
            if isinstance(made, Unbound) and made.place is None and name is not RETURN:
                merged[name] = replace(made, place=self.choosing)
        self.env.clear()
        self.env.update(merged)

    def go_apart(self, node: ast.If, rest: Sequence[ast.stmt], last: ast.stmt) -> bool:
        """An `if`, and what is behind it in its block on each of its paths by itself; True where nothing after the
        block is reached, whose `last` statement is given."""
        self.ctx.session.span = span_of(node.test, self.scope.file)
        condition = self.test(node.test)
        if isinstance(condition, Static):
            return self.block([*(node.body if condition.value else node.orelse), *rest])
        assert isinstance(condition, Scalar)
        live = live_after(self.node, last) if isinstance(last, ast.If) else live_behind(self.node, last)
        return self.fork(condition.expr, [*node.body, *rest], [*node.orelse, *rest], live, node.test)
