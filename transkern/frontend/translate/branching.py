"""Branches on run-time conditions, and what names stand for where their paths meet."""

from __future__ import annotations

import ast
import functools
from collections.abc import Sequence
from dataclasses import replace

from transkern import refusals
from transkern.frontend.bodies import RETURN, Behind
from transkern.frontend.containers import growing, list_types, making
from transkern.frontend.context import Context
from transkern.frontend.loops.carried import dicts as carried_dicts
from transkern.frontend.loops.carried.sharing import is_shown
from transkern.frontend.loops.trips import bound_of, stable_parts
from transkern.frontend.numpy.arrays import as_array
from transkern.frontend.python import characters
from transkern.frontend.sources.source import span_of
from transkern.frontend.state import aliasing, choices, guards, handing
from transkern.frontend.state.choices import Choice, note_chosen
from transkern.frontend.subscripts.storing import is_constant_array
from transkern.frontend.syntax.liveness import live_after, live_behind
from transkern.frontend.syntax.syntax import returns
from transkern.frontend.translate.assigning import Assignments
from transkern.frontend.values import doubts, shaped
from transkern.frontend.values.describing import describe, difference
from transkern.frontend.values.numbers import is_of_numbers
from transkern.frontend.values.reach import shows as reaches
from transkern.frontend.values.reach import stands_in_list
from transkern.frontend.values.scalars import scalar_expr, select
from transkern.frontend.values.types_of_scalars import scalar_kind
from transkern.frontend.values.values import (
    ITEM,
    Array,
    Char,
    Dict,
    Function,
    GrowingList,
    Hashed,
    Instance,
    Known,
    Maybe,
    Object,
    OneOf,
    OrNone,
    Range,
    Record,
    Row,
    Scalar,
    Seq,
    Static,
    Text,
    Unbound,
    Value,
    are_of_other_lengths,
    as_outside,
    children,
    is_outside,
    same_structure,
    with_children,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Const, Expr, Var
from transkern.ir.traverse import buffers_read, variables_read, walk


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
            ctx.emitter.out.extend(stays)  # not in a branch: what it binds holds from here on
        elif out1 or out2:
            again = ctx.let(condition, "chosen") if behind.memory else condition
            ctx.emit(n.If(condition, tuple(out1), tuple(out2)))
            if behind.memory:
                ctx.emitter.out.extend(behind.memory)
                ctx.emit(n.If(again, tuple(behind.then), tuple(behind.orelse)))
        self.ended = move and (ended1 or ended2)
        return done1 and done2

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
            if same_structure(one, two):
                joined = self.join(ITEM, one, two, out1, out2)
                for item in children(joined) or ():
                    if isinstance(item, Unbound):
                        ctx.fail(refusals.TYPE_DIFFERS, item.why, "give it one type on both paths")
                ctx.heap.contents[token] = joined
            elif isinstance(one, Seq) and isinstance(two, Seq):
                others = [t for t, (a, b, *_) in self.unmerged.items() if are_of_other_lengths(a, b)]
                ctx.must_grow(token, "a list that has another length on each of two paths", others=others)
            else:
                if isinstance(one, Dict) and isinstance(two, Dict):
                    keyed = _may_get_keys(ctx, one) and _may_get_keys(ctx, two)
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
                merged[name] = self.half(name, two or one, out1, out2, two is None)  # type: ignore[arg-type]
            else:
                merged[name] = self.join(name, one, two, out1, out2)
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

    def _as_given(self, one: Value, two: Value, made: Value) -> None:
        """Where one of two values stands in a list, as a copy, what is made of them is not to be changed either."""
        ctx = self.ctx
        ends = self.given or ((ctx.heap.handed, ctx.aliasing.appended),) * 2
        if any(stands_in_list(v, *end) for v, end in zip((one, two), ends, strict=True)):
            if isinstance(made, Array):
                handing.must_keep(ctx, made)
            else:
                handing.only_read(ctx, made)

    def join(self, name: str, one: Value, two: Value, out1: list[n.Stmt], out2: list[n.Stmt]) -> Value:
        """One value that is `one` after `out1` and `two` after `out2`."""
        ctx = self.ctx
        if isinstance(one, Unbound) or isinstance(two, Unbound):
            return one if isinstance(one, Unbound) else two
        differs, help = difference(one, two)
        differ = Unbound(f"`{name}` is {differs}", self.decides, help)
        if isinstance(one, Maybe) or isinstance(two, Maybe):
            flag = ctx.names.variable(f"{name} is set", "bool")
            for value, out in ((one, out1), (two, out2)):
                bound = _bound(value)
                out.append(n.Assign(flag.name, bound or b.FALSE, span=ctx.session.span))
            unknown = next((v.unknown for v in (one, two) if isinstance(v, Maybe) and v.unknown), "")
            one, two = (v.value if isinstance(v, Maybe) else v for v in (one, two))
            joined = one if one == two else self.join(name, one, two, out1, out2)
            return joined if isinstance(joined, Unbound) else Maybe(joined, flag, unknown=unknown)
        if isinstance(one, Row) or isinstance(two, Row):
            return growing.joined_rows(ctx, name, one, two, out1, out2) or differ
        if isinstance(one, Instance) and isinstance(two, Instance):
            if one.pool is not two.pool:
                return differ
            number = ctx.names.variable(name, "index")
            for reference, out in ((one, out1), (two, out2)):
                out.append(n.Assign(number.name, reference.number, span=ctx.session.span))
            return Instance(one.pool, number)
        if isinstance(one, Object) and isinstance(two, Object):
            for token in (one.token, two.token):
                self.merge_contents(token)
        _must_be_hashed(self, name, one, two)
        keyed = [ctx.deref(v) if isinstance(v, Object) else v for v in (one, two)]
        if not (isinstance(one, Object) and isinstance(two, Object)) and all(isinstance(v, Hashed) for v in keyed):
            of_both = _dicts_joined(self, name, keyed[0], keyed[1], out1, out2)
            if of_both is not None and any(self._stays(name, v) for v in (one, two)):
                _note_choice(self, name, one, two, of_both)
            return of_both or differ
        if isinstance(one, Object) and isinstance(two, Object):
            seen = any(self._stays(name, v) for v in (one, two))
            for mine, other in ((one, two), (two, one)):
                if (
                    _of_other_lengths(ctx.deref(mine), ctx.deref(other))
                    and ctx.heap.sites[mine.token] not in ctx.learned.growing
                ):
                    ctx.must_grow(mine.token, differ.why)
            contents = self.join(name, ctx.heap.contents[one.token], ctx.heap.contents[two.token], out1, out2)
            if isinstance(contents, Unbound):
                return contents
            made = self.allocate(contents, name)
            if any(is_outside(ctx.deref(v)) for v in (one, two)) and isinstance(made, Object):
                ctx.heap.contents[made.token] = as_outside(ctx.heap.contents[made.token])
            if seen:  # it is a copy of what is seen elsewhere, too
                _note_choice(self, name, one, two, made)
            self._as_given(one, two, made)
            return made
        if isinstance(one, Hashed) and isinstance(two, Hashed):
            return _dicts_joined(self, name, one, two, out1, out2) or differ
        if same_structure(one, two):
            items = tuple(
                x if x == y else self.join(name, x, y, out1, out2)
                for x, y in zip(children(one) or (), children(two) or (), strict=True)
            )
            bad = [i for i in items if isinstance(i, (Unbound, Maybe))]
            made = with_children(one, items)
            return bad[0] if bad else as_outside(made) if is_outside(two) else made
        choices = [_choice(v) for v in (one, two)]
        if None not in choices and not (_is_char(one) and _is_char(two)):
            first, second = choices
            assert first is not None and second is not None
            options = tuple(dict.fromkeys((*first.options, *second.options)))
            variable = ctx.names.variable(name, "index")
            for choice, out in ((first, out1), (second, out2)):
                out.append(n.Assign(variable.name, _renumbered(choice, options), span=ctx.session.span))
            note_chosen(ctx, self.choosing, variable)
            return OneOf(variable, options)
        if any(isinstance(v, OrNone) or v == Static(None) for v in (one, two)):
            return self.join_none(name, one, two, out1, out2) or differ
        codes = [characters.code_of(v) for v in (one, two)]
        if codes[0] is not None and codes[1] is not None:
            variable = ctx.names.variable(name, "index")
            for code, out in ((codes[0], out1), (codes[1], out2)):
                out.append(n.Assign(variable.name, code, span=ctx.session.span))
            return Char(variable)
        lists = [ctx.deref(v) for v in (one, two)]
        known = not any(isinstance(v, GrowingList) for v in lists)
        if all(isinstance(v, (GrowingList, Seq)) for v in lists) and (not known or self._differ_at_run_time(lists)):
            return self.join_lists(name, lists[0], lists[1], out1, out2)
        x, y = self.number_in(one, out1), self.number_in(two, out2)
        kind = scalar_kind(x, y)
        if kind is not None:
            variable = ctx.names.variable(name, kind[0])
            for joining, out in ((x, out1), (y, out2)):
                place = ctx.scopes.places.get(name, ctx.session.span)
                out.append(n.Assign(variable.name, b.cast(scalar_expr(ctx, joining), kind[0]), span=place))
            if isinstance(x, Array) and isinstance(y, Array):
                return Array((), variable)
            tag = None
            if any(isinstance(v, Scalar) and v.tag is not None for v in (x, y)):
                tag = ctx.names.variable(f"{name} type", "uint8")
                for joining, out in ((x, out1), (y, out2)):
                    out.append(n.Assign(tag.name, list_types.tag_of(joining), span=ctx.session.span))
            split = doubts.joined_at(ctx, name, Scalar(variable, kind[1]), (x, y), (out1, out2))
            return doubts.shown(Scalar(variable, kind[1], tag, doubts.of_both(x, y, self.decides, split)))
        captured = [is_constant_array(v) for v in (one, two)]
        if any(captured) and all(c or isinstance(v, Array) for v, c in zip((one, two), captured, strict=True)):
            one, two = self.array_in(one, out1), self.array_in(two, out2)
        if isinstance(one, Array) and isinstance(two, Array) and one.ndim == two.ndim and one.dtype == two.dtype:
            joined = self.join_arrays(name, one, two, out1, out2)
            if any(captured) and isinstance(joined, Array):
                ctx.aliasing.chosen[joined.base] = name, self.decides
            return joined
        return differ

    def _differ_at_run_time(self, values: Sequence[Value]) -> bool:
        """Whether two tuples of numbers are of different lengths, and only the run knows which of them it is."""
        lengths = {len(v.items) for v in values if is_of_numbers(v)}
        by_arguments = self.decides is None or self.ctx.facts.is_of_arguments(self.decides)
        return len(lengths) == len(values) and not by_arguments and self.ctx.learned.has_tuples()

    def array_in(self, value: Value, out: list[n.Stmt]) -> Array:
        """An array, at the end of `out`."""
        return self.at_end(out, lambda: as_array(self.ctx, value))

    def _stays(self, name: str, value: Value) -> bool:
        """Whether a list, dict or object is seen under another name than the one that is being joined."""
        env1, env2, live = self.joining
        named = [k for env in (env1, env2) for k, v in env.items() if k != name and is_shown(v, value)]
        outer = any(
            is_shown(v, value) for frame in self.ctx.scopes.frames if frame is not self.env for v in frame.values()
        )
        held = any(is_shown(v, value) for v in self.ctx.heap.contents.values() if v is not value)
        path = isinstance(value, Object) and value.token in self.ctx.inputs.paths
        return outer or held or path or any(live is None or k in live for k in named)

    def join_none(self, name: str, one: Value, two: Value, out1: list[n.Stmt], out2: list[n.Stmt]) -> Value | None:
        """None or a value: a flag, and the value where there is one."""
        ctx = self.ctx
        nothing = [isinstance(v, Static) and v.value is None for v in (one, two)]
        inner = [v.value if isinstance(v, OrNone) else v for v in (one, two)]
        if any(_is_text(v) for v in inner):
            return None
        none = ctx.names.variable(f"{name} is None", "bool")
        for value, absent, out in zip((one, two), nothing, (out1, out2), strict=True):
            holds = value.none if isinstance(value, OrNone) else b.TRUE if absent else b.FALSE
            out.append(n.Assign(none.name, holds, span=ctx.session.span))
        joined: Value
        if any(nothing):
            joined = self.half(name, inner[nothing.index(False)], out1, out2, nothing[1])
        else:
            joined = inner[0] if inner[0] == inner[1] else self.join(name, inner[0], inner[1], out1, out2)
        if isinstance(joined, Unbound):
            return joined
        return OrNone(joined.value if isinstance(joined, Maybe) else joined, none)

    def join_lists(self, name: str, one: Value, two: Value, out1: list[n.Stmt], out2: list[n.Stmt]) -> Value:
        """A list that grows, with the elements of one of two."""
        ctx = self.ctx
        if any(isinstance(v, GrowingList) and v.is_queue for v in (one, two)):
            return Unbound(f"`{name}` is another deque on each of two paths", self.decides)
        kinds = {v.kind for v in (one, two) if isinstance(v, (Seq, GrowingList))}
        if len(kinds) > 1:
            return Unbound(f"`{name}` is a {' or a '.join(sorted(kinds))} on each of two paths", self.decides)
        joined = making.new(ctx, name, self.site(f"{name} of two"))
        known = joined.around.known - _named_in(out1) - _named_in(out2)  # its memory is made before the paths part
        joined.around = replace(joined.around, known=known)
        for value, out in ((one, out1), (two, out2)):
            with ctx.emitter.block(out) as more:
                growing.extend(ctx, joined, value)
            out.extend(more)
        if any(isinstance(v, GrowingList) and (v.prefix or self._stays(name, v)) for v in (one, two)):
            _note_choice(self, name, one, two, joined)  # it is a copy of what is seen elsewhere, too
        self._as_given(one, two, joined)
        joined.kind = kinds.pop()
        return joined

    def half(self, name: str, value: Value, out1: list[n.Stmt], out2: list[n.Stmt], first: bool) -> Value:
        """A name that has a value after `out1` only (`first`), or after `out2` only."""
        ctx = self.ctx
        if " " in name and not isinstance(value, (Scalar, Array, Seq)):
            return value  # only read where it was set
        if isinstance(value, (Unbound, Function, Known)):
            return Unbound(f"`{name}` has a value on one of two paths only")
        if isinstance(value, GrowingList):
            env1, env2, _ = self.joining
            if any(v is value for v in (env2 if first else env1).values()):  # it was there before the two paths
                return self._half_object(name, value, out1, out2, first)
            if value.row_of is not None or value.prefix or value.is_queue:
                return Unbound(f"`{name}` has a value on one of two paths only")
            none = Seq((), value.kind)
            held = self.join_lists(name, value if first else none, none if first else value, out1, out2)
            flag = ctx.names.variable(f"{name} is set", "bool")
            for out in (out1, out2):
                out.append(n.Assign(flag.name, b.TRUE if (out is out1) == first else b.FALSE, span=ctx.session.span))
            return Maybe(held, flag)
        if isinstance(value, Hashed):
            return Unbound(f"`{name}` has a value on one of two paths only", self.decides)
        if isinstance(value, Object) and value.token not in self.forked:
            return self._half_object(name, value, out1, out2, first)
        if children(value):
            parts = [self.half(name, i, out1, out2, first) for i in children(value) or ()]
            if not all(isinstance(p, Maybe) for p in parts):
                return Unbound(f"`{name}` has a value on one of two paths only")
            assert isinstance(parts[0], Maybe)
            inner = tuple(p.value for p in parts if isinstance(p, Maybe))
            return Maybe(with_children(value, inner), parts[0].bound)
        here, there = (out1, out2) if first else (out2, out1)
        if isinstance(value, OrNone):
            half = self.half(name, value.value, out1, out2, first)
            if not isinstance(half, Maybe):
                return half
            absent = self._half_index(f"{name} is None", value.none, here, there)
            return Maybe(OrNone(half.value, absent), half.bound)
        bound: Expr = b.TRUE
        if isinstance(value, Maybe):
            bound = value.bound or b.FALSE
            value = value.value
        flag = ctx.names.variable(f"{name} is set", "bool")
        here.append(n.Assign(flag.name, bound, span=ctx.session.span))
        there.append(n.Assign(flag.name, b.FALSE, span=ctx.session.span))
        if isinstance(value, Scalar):
            return Maybe(self._half_number(name, value, here, there), flag)
        told = self._half_told(name, value, here, there)
        if told is not None:
            return Maybe(told, flag)
        if isinstance(value, Array) and not value.identity:
            if value.mask is not None or any(variables_read(d) - ctx.facts.entry for d in value.dims):
                return self._half_counted(name, value, here, there, flag)
            buffer = ctx.buffer(name, value.dtype, value.dims)
            here.append(
                n.Write(buffer.name, value.axes, tuple(a.var for a in value.axes), value.body, span=ctx.session.span)
            )
            ctx.emitter.out.append(n.Alloc(buffer.name, span=ctx.session.span))
            held = ctx.names.whole(buffer)
            self._note_half(name, value, held)
            return Maybe(held, flag)
        return Maybe(value, flag)

    def _half_counted(
        self, name: str, value: Array, here: list[n.Stmt], there: list[n.Stmt], flag: Expr
    ) -> Value:  # fmt: skip
        """An array of one path whose length is known on that path only."""
        rest = value.domain[1:]
        if any(variables_read(d) - self.ctx.facts.entry for d in rest):
            if not self.ctx.session.reserves:
                return Unbound(f"`{name}` has a value on one of two paths only")
            held = shaped.made(self.ctx, name, value.dtype, value.ndim)
            self.at_end(here, lambda: shaped.fill(self.ctx, held, value))
        else:
            bound = bound_of(self.ctx, value.domain[0])
            if bound is None or variables_read(bound) & _let_in(here):
                bound = guards.room(self.ctx, rest)
            buffer, count = self._with_count(name, value.dtype, (bound, *rest))
            held = self.ctx.names.whole(buffer, (count, *rest))
            self.at_end(here, lambda: self.fill(buffer, count, value))
            there.append(n.Assign(count.name, b.ZERO, span=self.ctx.session.span))
        self._note_half(name, value, held)
        return Maybe(held, flag)

    def _note_half(self, name: str, value: Array, held: Array) -> None:
        """What is held of an array of one path is a copy of it, which others may see."""
        shown = self.shown_elsewhere(name, value)
        if shown:
            self.ctx.aliasing.chosen[held.base] = name, self.decides
            self.ctx.aliasing.note_copy(name, held.base, shown, self.decides)

    def _with_count(self, name: str, dtype: str, dims: tuple[Expr, ...]) -> tuple[n.Buffer, Var]:
        """Memory for an array of at most so many elements, made before the paths, and the variable that counts them."""
        ctx = self.ctx
        buffer = ctx.buffer(name, dtype, dims)
        if dims[0] == guards.room(ctx, dims[1:]):
            ctx.lists.rooms.add(buffer.name)
        count = ctx.names.count(buffer.name, dims[0])
        ctx.emitter.out.append(n.Alloc(buffer.name, span=ctx.session.span))
        return buffer, count

    def _half_object(self, name: str, value: Value, out1: list[n.Stmt], out2: list[n.Stmt], first: bool) -> Value:
        """A list, dict or object that one path has made: what is in it is there on that path only."""
        contents = self.ctx.deref(value)
        if isinstance(contents, Hashed):
            return Unbound(f"`{name}` has a value on one of two paths only", self.decides)
        flag: Expr | None = None
        if children(contents):
            held = self.half(name, contents, out1, out2, first)
            if not isinstance(held, Maybe):
                return held
            assert isinstance(value, Object)
            self.ctx.heap.contents[value.token], flag = held.value, held.bound
        if flag is None:
            flag = self.ctx.names.variable(f"{name} is set", "bool")
            for out in (out1, out2):
                out.append(
                    n.Assign(flag.name, b.TRUE if (out is out1) == first else b.FALSE, span=self.ctx.session.span)
                )
        return Maybe(value, flag)

    def _half_told(self, name: str, value: Value, here: list[n.Stmt], there: list[n.Stmt]) -> Value | None:
        """A value of one path that numbers tell: a text, a range, a list among rows, an object; None for others."""

        def half(expr: Expr) -> Expr:
            return expr if isinstance(expr, Const) else self._half_index(name, expr, here, there)

        match value:
            case OneOf(at):
                return replace(value, index=half(at))
            case Char(code):
                return Char(half(code))
            case Row(of, at):
                return Row(of, half(at))
            case Instance(pool, at):
                return Instance(pool, half(at))
            case Range(start, stop, step):
                return replace(value, start=half(start), stop=half(stop), step=half(step))
            case Text(template, args) if all(isinstance(a, (Scalar, Static)) for a in args):
                halves = (self._half_number(name, a, here, there) if isinstance(a, Scalar) else a for a in args)
                return Text(template, tuple(halves))
            case _:
                return None

    def _half_index(self, name: str, value: Expr, here: list[n.Stmt], there: list[n.Stmt]) -> Expr:
        """What a value of one path is told by, behind both."""
        variable = self.ctx.names.variable(name, value.dtype)
        here.append(n.Assign(variable.name, value, span=self.ctx.session.span))
        there.append(n.Assign(variable.name, Const(0, value.dtype), span=self.ctx.session.span))
        return variable

    def _half_number(self, name: str, value: Scalar, here: list[n.Stmt], there: list[n.Stmt]) -> Scalar:
        """A number of one path, with all that it may be: what it is read from may be there on that path alone."""
        ctx = self.ctx

        def half(expr: Expr, tentative: bool) -> Expr:
            if isinstance(expr, Const):
                return expr
            variable = ctx.names.tentative(name, expr.dtype) if tentative else ctx.names.variable(name, expr.dtype)
            here.append(n.Assign(variable.name, expr, span=ctx.session.span))
            there.append(n.Assign(variable.name, Const(0, expr.dtype), span=ctx.session.span))
            return variable

        held = replace(value, expr=half(value.expr, False), tag=None if value.tag is None else half(value.tag, True))
        if value.doubt is None or (split := value.doubt.split) is None:
            return held
        sides = [
            replace(v, expr=held.expr if v.expr == value.expr else half(v.expr, True)) if isinstance(v, Scalar) else v
            for v in (split.one, split.two)
        ]
        split = replace(split, tag=half(split.tag, True), one=sides[0], two=sides[1])
        return replace(held, doubt=replace(value.doubt, split=split))

    def shown_elsewhere(self, name: str, *values: Array) -> frozenset[str]:
        """The buffers of `values` that other names show, or the caller's: `name` is about to be a copy of one."""
        ctx = self.ctx
        env1, env2, live = self.joining
        found = set()
        for value in values:
            if not value.view:
                continue
            frames = [f for f in ctx.scopes.frames if f is not self.env]
            inner = ((k, v) for env in (env1, env2) for k, v in env.items() if live is None or k in live)
            outer = (item for f in frames for item in f.items())
            held = ((" ", v) for contents in ctx.heap.contents.values() for v in children(contents) or ())
            others = (v for k, v in (*inner, *outer, *held) if k != name)
            if value.base in ctx.aliasing.doubtful:
                found |= {value.base, ctx.aliasing.doubtful[value.base][0]}
            if ctx.names.buffers[value.base].role == "argument" or any(
                reaches(ctx.heap.contents, v, lambda a, base=value.base: a.view and a.base == base)  # type: ignore[misc]
                for v in others
            ):
                found.add(value.base)
        return frozenset(found)

    def join_arrays(self, name: str, one: Array, two: Array, out1: list[n.Stmt], out2: list[n.Stmt]) -> Value:
        of_one, of_two = one.empty, two.empty
        same = of_one is not None and of_two is not None and of_one.some == of_two.some and (
            (of_one.value.shape, of_one.value.dtype) == (of_two.value.shape, of_two.value.dtype)
        )  # fmt: skip
        if not same:
            one = self.at_end(out1, lambda: doubts.settled_array(self.ctx, one))
            two = self.at_end(out2, lambda: doubts.settled_array(self.ctx, two))
        joined = self.joined_arrays(name, one, two, out1, out2)
        if same and isinstance(joined, Array):
            joined = replace(joined, empty=of_one)
        if isinstance(joined, Array):
            self._as_given(one, two, joined)
            if joined.view:
                place = None if name is RETURN else self.choosing
                self.ctx.heap.choices.append(Choice(place, frozenset(), frozenset([joined.base])))
        shown = self.shown_elsewhere(name, one, two)
        if shown and isinstance(joined, Array):
            self.ctx.aliasing.note_copy(name, joined.base, shown, self.decides)
        return joined

    def joined_arrays(self, name: str, one: Array, two: Array, out1: list[n.Stmt], out2: list[n.Stmt]) -> Value:
        ctx = self.ctx
        seen = aliasing.is_seen(ctx, name, one) or aliasing.is_seen(ctx, name, two)
        if one.mask is None and two.mask is None and one.domain == two.domain:
            buffer = ctx.buffer(name, one.dtype, one.domain)
            if seen:
                ctx.aliasing.chosen[buffer.name] = name, self.decides
            for value, out in ((one, out1), (two, out2)):
                index = tuple(a.var for a in value.axes)
                out.append(n.Write(buffer.name, value.axes, index, value.body, span=ctx.session.span))
            ctx.emitter.out.append(n.Alloc(buffer.name, span=ctx.session.span))
            return ctx.names.whole(buffer)
        known = [b.constant(d) for v in (one, two) for d in v.domain]
        if one.mask is None and two.mask is None and any(k is not None for k in known) and not all(known):
            # one is as long as the other happens to be: code for arguments where they agree
            if all(ctx.facts.assume_equal(p, q) for p, q in zip(one.domain, two.domain, strict=True)):
                same = replace(two, axes=tuple(replace(a, extent=d) for a, d in zip(two.axes, one.domain, strict=True)))
                return self.joined_arrays(name, one, same, out1, out2)
        if one.domain[1:] != two.domain[1:]:
            if one.mask is None and two.mask is None and self.same_sizes(one, two):
                axes = tuple(replace(a, extent=d) for a, d in zip(two.axes, one.domain, strict=True))
                return self.joined_arrays(name, one, replace(two, axes=axes), out1, out2)
            return self._joined_shapes(name, one, two, out1, out2)
        bounds = [bound_of(ctx, v.domain[0]) for v in (one, two)]
        here = _let_in(out1) | _let_in(out2)
        bound = room = guards.room(ctx, one.domain[1:])
        if any(known is None or variables_read(known) & here for known in bounds):  # known on its path only
            joined = self.joined_behind(name, one, two, out1, out2)
            if joined is not None:
                return joined
        elif room not in bounds:  # else one of them may have any length: only what is touched becomes memory
            bound = b.maximum(bounds[0], bounds[1])  # type: ignore[arg-type]
        buffer, count = self._with_count(name, one.dtype, (bound, *one.domain[1:]))
        if seen:
            ctx.aliasing.chosen[buffer.name] = name, self.decides
        self.at_end(out1, lambda: self.fill(buffer, count, one))
        self.at_end(out2, lambda: self.fill(buffer, count, two))
        return ctx.names.whole(buffer, (count, *one.domain[1:]))

    def _joined_shapes(
        self, name: str, one: Array, two: Array, out1: list[n.Stmt], out2: list[n.Stmt]
    ) -> Value:  # fmt: skip
        """Two arrays of different shapes as one, where data decide: code for either is what sizes and numbers get."""
        ctx = self.ctx
        decides = self.decides
        by_data = decides is not None and (
            bool(buffers_read(decides)) or not variables_read(decides) <= ctx.facts.entry
        )
        if not by_data or not ctx.session.reserves:
            return Unbound(f"`{name}` has different shapes on two paths", self.decides)
        joined = shaped.made(ctx, name, one.dtype, one.ndim)
        if aliasing.is_seen(ctx, name, one) or aliasing.is_seen(ctx, name, two):
            ctx.aliasing.chosen[joined.base] = name, self.decides
        self.at_end(out1, lambda: shaped.fill(ctx, joined, one))
        self.at_end(out2, lambda: shaped.fill(ctx, joined, two))
        return joined

    def joined_behind(
        self, name: str, one: Array, two: Array, out1: list[n.Stmt], out2: list[n.Stmt]
    ) -> Value | None:  # fmt: skip
        """Two arrays as one, whose memory is asked for when both paths have told its length; then it is filled. None
        where that needs what the paths have made.

        if c: k = …      v = np.empty(k)      if c: v[:] = …
        else: k = …                           else: v[:] = …
        """
        ctx, behind = self.ctx, self.behind
        made = [{s.buffer for s in walk(out) if isinstance(s, (n.Define, n.Alloc))} for out in (out1, out2)]
        if behind is None or any(
            value.mask is not None or buffers_read(value.body) & inside
            for value, inside in zip((one, two), made, strict=True)
        ):
            return None
        length = ctx.names.variable(f"{name}_length", "index")
        filled = []
        for value, out, other in ((one, out1, out2), (two, out2, out1)):
            out.append(n.Assign(length.name, value.dims[0], span=ctx.session.span))
            filled.append(self.carried_out(value, out, other))
        with ctx.emitter.block() as memory:
            buffer = ctx.buffer(name, one.dtype, (ctx.extent(length), *one.dims[1:]))
            ctx.emit(n.Alloc(buffer.name, span=ctx.session.span))
        behind.memory += memory
        for value, later in zip(filled, (behind.then, behind.orelse), strict=True):
            index = tuple(a.var for a in value.axes)
            later.append(n.Write(buffer.name, value.axes, index, value.body, span=ctx.session.span))
        return ctx.names.whole(buffer)

    def carried_out(self, value: Array, out: list[n.Stmt], other: list[n.Stmt]) -> Array:
        """An array at the end of `out` as an expression over names that are seen behind it, too; on the `other` path
        they have a value that nobody reads."""
        known = {s.name: s.value.dtype for s in out if isinstance(s, n.Let)}
        read = variables_read(value.body).union(*(variables_read(a.extent) for a in value.axes))
        names: dict[str, Expr] = {}
        for of in sorted(read & known.keys()):
            variable = self.ctx.names.variable(of.partition(".")[0], known[of])
            out.append(n.Assign(variable.name, Var(of, known[of]), span=self.ctx.session.span))
            other.append(n.Assign(variable.name, Const(0, known[of]), span=self.ctx.session.span))
            names[of] = variable
        axes = tuple(replace(a, extent=b.substitute(a.extent, names)) for a in value.axes)
        return replace(value, axes=axes, body=b.substitute(value.body, names))

    def same_sizes(self, one: Array, two: Array) -> bool:
        """Whether two arrays have one shape where the call's sizes are as they may be assumed."""
        pairs = list(zip(one.dims, two.dims, strict=True)) if len(one.dims) == len(two.dims) else [(b.ZERO, b.ONE)]
        return all(self.ctx.facts.assume_equal(x, y) for x, y in pairs)

    def fill(self, buffer: n.Buffer, count: Var, value: Array) -> None:
        """`value` into `buffer`, its length into `count`."""
        ctx = self.ctx
        if buffer.name in ctx.lists.rooms:
            # of a filter: at most
            guards.must_have_room(ctx, b.compare("less_equal", value.axes[0].extent, buffer.dims[0]))
        if value.mask is not None:
            ctx.emit(n.Filter((buffer.name,), count.name, value.axes[:1], value.mask, (value.body,), value.axes[1:]))
            return
        ctx.emit(n.Write(buffer.name, value.axes, tuple(a.var for a in value.axes), value.body))
        ctx.emit(n.Assign(count.name, value.dims[0]))


def _note_choice(body: Branches, name: str, *values: Value) -> None:
    """What stands for one of two lists, dicts or objects is a copy of it, and all of them may only be read."""
    ctx = body.ctx
    place = None if name is RETURN else body.choosing
    tokens = frozenset(v.token for v in values if isinstance(v, Object))
    buffers = frozenset(buffer for v in values for buffer in handing.memory(ctx.deref(v)))
    ctx.heap.choices.append(Choice(place, tokens, buffers, choices.sites_of(ctx, values[:2])))
    for v in values:
        handing.only_read(ctx, v)


def _dicts_joined(
    body: Branches, name: str, one: Value, two: Value, out1: list[n.Stmt], out2: list[n.Stmt]
) -> Hashed | None:  # fmt: skip
    """A dict (set) with what one of two holds; None where they are of two kinds."""
    assert isinstance(one, Hashed) and isinstance(two, Hashed)
    shape = carried_dicts.joined(body.ctx, one, two)
    if shape is None:
        return None
    made = carried_dicts.made(body.ctx, name, shape)
    for value, out in ((one, out1), (two, out2)):
        body.at_end(out, functools.partial(carried_dicts.take, body.ctx, made, value))
    return made


def _must_be_hashed(body: Branches, name: str, one: Value, two: Value) -> None:
    """Dicts (sets) of which one has keys that only the run knows, or that are others in each iteration of a loop:
    the translation begins anew, where they are known so far."""
    ctx = body.ctx
    held = [ctx.deref(v) if isinstance(v, Object) else v for v in (one, two)]
    known = [
        v for v, contents in zip((one, two), held, strict=True)
        if isinstance(v, Object) and _may_get_keys(ctx, contents) and ctx.grows_at(v.token) is not None
    ]  # fmt: skip
    both = len(known) == 2 and type(held[0]) is type(held[1]) and not same_structure(*held) and bool(body.loops)
    if known and (both or any(isinstance(v, Hashed) for v in held)):
        ctx.must_grow(known[0].token, f"`{name}`, one of two dicts (sets)", refusals.RUN_TIME_KEYS)


def _let_in(out: list[n.Stmt]) -> set[str]:
    return {s.name for s in walk(out) if isinstance(s, n.Let)}


def _bound(value: Value) -> Expr | None:
    """The condition under which a name has its value; None where a loop is to be translated again to tell."""
    if not isinstance(value, Maybe):
        return b.TRUE
    if value.bound is None and value.told is not None:
        value.told()
    return value.bound


def _may_get_keys(ctx: Context, contents: Value) -> bool:
    """Whether it is a dict or a set that is written out, and may be one whose keys only the run knows: one with texts
    as keys is often a record instead, of arrays among others."""
    if isinstance(contents, Dict):
        records = any(isinstance(k, str) for k in contents.keys)
        return not records or not any(isinstance(v := ctx.deref(i), Array) and v.axes for i in contents.items)
    return isinstance(contents, Seq) and contents.kind == "set"


def _choice(value: Value) -> OneOf | None:
    """A text or None as a choice."""
    if isinstance(value, Static) and (value.value is None or type(value.value) is str):
        return OneOf(b.ZERO, (value.value,))
    return value if isinstance(value, OneOf) else None


def _is_text(value: Value) -> bool:
    return isinstance(value, (OneOf, Text)) or (isinstance(value, Static) and isinstance(value.value, str))


def _is_char(value: Value) -> bool:
    return characters.code_of(value) is not None


def _renumbered(choice: OneOf, options: tuple[str | None, ...]) -> Expr:
    """The choice's number among more options."""
    numbers = [b.index(options.index(o)) for o in choice.options]
    return select(choice.index, numbers)


def _named_in(statements: Sequence[n.Stmt]) -> set[str]:
    """The sizes and numbers that statements give names to."""
    return {s.name.removesuffix(".size") for s in walk(statements) if isinstance(s, n.Let)}


def _of_other_lengths(one: Value, two: Value) -> bool:
    """Whether `one` is a list that is known, and `two` one of another length."""
    if not isinstance(one, Seq) or one.kind != "list":
        return False
    return isinstance(two, GrowingList) or (isinstance(two, Seq) and len(two.items) != len(one.items))
