"""The walk over a function's `ast`: statements, control flow, names. What a call means is in `functions`."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from transkern.errors import NeedsConstant
from transkern.frontend import iterating, library_calls, shaping, storing
from transkern.frontend.carried import LoopState
from transkern.frontend.context import Context, Terminated
from transkern.frontend.elementwise import (
    PYTHON_OPERATORS,
    apply,
    as_array,
    describe,
    is_number,
    scalar_expr,
    static_expr,
    truth,
)  # fmt: skip
from transkern.frontend.expressions import BINARY, RETURN, Expressions
from transkern.frontend.indexing import Item, SliceValue, array_item, subscript
from transkern.frontend.liveness import live_names
from transkern.frontend.source import known_object, span_of
from transkern.frontend.syntax import (
    assigned_names,
    rebound_names,
    returns,
    stored_in,
    stored_names,
)  # fmt: skip
from transkern.frontend.trips import bound_of, condition_of, stable_parts, trip_bound, trip_count
from transkern.frontend.types_of_scalars import scalar_kind
from transkern.frontend.values import (
    Array,
    Concatenation,
    Function,
    GrowingList,
    Range,
    Scalar,
    Seq,
    Static,
    Unbound,
    Value,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.traverse import buffers_read, variables_read

_UNROLL = 64


class Translator(Expressions):
    """One function body; `inlined` bodies leave their value under the name `RETURN`."""

    # --- statements

    def run(self) -> Value:
        """Translate the body; the value returned (inlined functions)."""
        self.ctx.frames.append(self.env)
        try:
            if isinstance(self.node, ast.Lambda):
                return self.expr(self.node.body)
            done = self.block(self.node.body)
            if not done:
                if self.inlined:
                    self.env[RETURN] = Static(None)
                else:
                    self.ctx.emit(n.Return(n.ConstantResult(None)))
            return self.env.get(RETURN, Static(None))
        finally:
            self.ctx.frames.pop()

    def block(self, statements: Sequence[ast.stmt]) -> bool:
        """Translate statements; True where the end is not reached."""
        for position, statement in enumerate(statements):
            try:
                if isinstance(statement, ast.If):
                    if self.branch(statement, statements[position + 1 :]):
                        return True
                    continue
                self.statement(statement)
            except Terminated:
                return True
        return False

    def statement(self, node: ast.stmt) -> None:
        self.ctx.span = span_of(node, self.scope.file)
        match node:
            case ast.Expr(value=ast.Constant()):
                pass
            case ast.Expr(value=value):
                self.expr(value)
            case ast.Assign(targets=targets, value=value):
                result = self.expr(value)
                if len(targets) > 1:
                    result = self.settle(result, "value")
                for target in targets:
                    self.assign(target, result)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self.assign(target, self.expr(value))
            case ast.AnnAssign() | ast.Pass() | ast.Import() | ast.ImportFrom() | ast.Global() | ast.Nonlocal():
                if isinstance(node, (ast.Import, ast.ImportFrom)):
                    self._local_import(node)
                elif isinstance(node, (ast.Global, ast.Nonlocal)):
                    self.ctx.fail("assigning a global name", "pass the value in and return it", node)
            case ast.AugAssign(target=target, op=op, value=value):
                self.augment(target, BINARY.get(type(op), "matmul"), value)
            case ast.While(test=test, body=body, orelse=orelse):
                self.while_loop(node, test, body, orelse)
            case ast.For(target=target, iter=iterable, body=body, orelse=orelse):
                self.for_loop(node, target, iterable, body, orelse)
            case ast.Return(value=value):
                self.return_(value)
            case ast.Break() | ast.Continue():
                if not self.loops:
                    self.ctx.fail("break outside a run-time loop")
                self.loops[-1].leave(self, isinstance(node, ast.Break))
                raise Terminated
            case ast.Raise(exc=exc):
                self.raise_(exc)
            case ast.Assert(test=test, msg=message):
                holds = truth(self.ctx, self.expr(test))
                text, args = self.message(message)
                self.ctx.guard(condition_of(holds), "AssertionError", text, args)
            case ast.FunctionDef(name=name):
                self.env[name] = Function(name, node, self.scope, dict(self.env))
            case ast.Delete(targets=targets):
                for target in targets:
                    if isinstance(target, ast.Name):
                        self.env.pop(target.id, None)
            case _:
                self.ctx.fail(f"`{type(node).__name__.lower()}` statements are not compiled", "", node)

    def _local_import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            head = alias.name.split(".")[0]
            if isinstance(node, ast.ImportFrom):
                self.env[alias.asname or alias.name] = known_object(f"{node.module}.{alias.name}")
            else:  # `import a.b` binds `a`
                self.env[alias.asname or head] = known_object(alias.name if alias.asname else head)

    def raise_(self, exc: ast.expr | None) -> None:
        name, text, args = "RuntimeError", "No active exception to reraise", ()
        match exc:
            case ast.Call(func=ast.Name(id=name), args=arguments):
                if len(arguments) > 1:
                    self.ctx.fail("an exception with several arguments", "raise it with one message", exc)
                text, args = self.message(arguments[0] if arguments else None)  # type: ignore[assignment]
            case ast.Name(id=name):
                text = ""
            case ast.expr():
                self.ctx.fail("raising a computed exception", "raise a builtin exception with a message", exc)
        if not (isinstance(getattr(builtins, name, None), type) and issubclass(getattr(builtins, name), BaseException)):
            self.ctx.fail(f"raising `{name}`", "raise a builtin exception, such as ValueError", exc)
        self.ctx.guard(b.FALSE, name, text, args)

    def message(self, node: ast.expr | None) -> tuple[str, tuple[Expr, ...]]:
        """An exception's message: text, or an f-string of texts and integers."""
        match node:
            case None:
                return "", ()
            case ast.JoinedStr(values=values):
                text, args = "", []
                for part in values:
                    if isinstance(part, ast.Constant):
                        text += str(part.value).replace("{", "{{").replace("}", "}}")
                        continue
                    assert isinstance(part, ast.FormattedValue)
                    value = self.expr(part.value)
                    if isinstance(value, Static):
                        text += format(value.value).replace("{", "{{").replace("}", "}}")
                        continue
                    expr = b.as_index(scalar_expr(self.ctx, value))
                    args.append(expr)
                    text += "{}"
                return text, tuple(args)
            case _:
                value = self.expr(node)
                if isinstance(value, Static):
                    return str(value.value).replace("{", "{{").replace("}", "}}"), ()
                self.ctx.fail("a message computed at run time", "use a text or an f-string", node)

    def return_(self, value: ast.expr | None) -> None:
        result = Static(None) if value is None else self.expr(value)
        if self.inlined:
            self.env[RETURN] = self.settle(result, "result")
            if self.loops:
                self.ctx.fail(
                    "`return` inside a loop of a function that is called",
                    "set a variable, break, and return after the loop", value,
                )  # fmt: skip
            self.ended = True
            raise Terminated
        self.ctx.emit(n.Return(self.result(result)))
        raise Terminated

    def result(self, value: Value) -> n.Result:
        """What is handed to the caller, of the type that NumPy gives."""
        match value:
            case Static(v) if isinstance(v, np.generic):
                return n.ScalarResult(static_expr(v), False)
            case Static(v) if v is None or isinstance(v, (bool, int, float, complex, str)):
                return n.ConstantResult(v)
            case Scalar(expr, python):
                return n.ScalarResult(expr, python)
            case Seq(items, kind):
                return n.TupleResult(tuple(self.result(i) for i in items), kind)
            case GrowingList() as owner:
                if owner.dims:
                    self.ctx.fail("returning a list of arrays", "return np.array(list)")
                return n.ListResult(
                    owner.buffer if owner.dtype else "", b.size(owner.count), owner.dtype or "index", owner.python
                )
            case Array(identity=identity) if identity:
                return n.ArgumentResult(identity)
            case Array(view=True) if self.ctx.buffers[value.base].role == "argument":
                return self._view_result(value)
            case Array() | Concatenation() | Static(np.ndarray()):
                return self._array_result(as_array(self.ctx, value))
            case _:
                self.ctx.fail(f"returning {describe(value)}")

    def _view_result(self, value: Array) -> n.Result:
        base = self.ctx.buffers[value.base]
        assert isinstance(value.body, Load)
        offset, steps = [], []
        names = [a.name for a in value.axes]
        for position in value.body.index:
            terms, total = b.affine(position)
            rest = {k: c for k, c in terms.items() if not (isinstance(k, Var) and k.name in names)}
            if any(variables_read(k) & set(names) for k in rest):
                return self._array_result(value)
            offset.append(b.from_affine(rest, total))
            steps.append(tuple(b.index(terms.get(a.var, 0)) for a in value.axes))
        if len(value.body.index) != len(base.dims):
            return self._array_result(value)
        return n.ViewResult(base.name, value.dims, tuple(offset), tuple(steps), value.dtype)

    def _array_result(self, value: Array) -> n.Result:
        ctx = self.ctx
        whole = (
            value.mask is None and isinstance(value.body, Load) and (value.view or self._unshared(value.body.buffer))
            and value.body.index == tuple(a.var for a in value.axes)
        )  # fmt: skip
        dims = value.dims
        if (whole and self._covers(value)) or (
            whole and len(dims) == len(ctx.buffers[value.base].dims) and self._prefix(value)
        ):
            buffer = ctx.buffers[value.base]
        else:
            stored = ctx.define(value, "result")
            dims = stored.dims
            buffer = ctx.buffers[stored.base]
        self.handed_out.add(buffer.name)
        if buffer.role == "temporary" and dims == buffer.dims:
            ctx.buffers[buffer.name] = replace(buffer, role="result")
        return n.ArrayResult(buffer.name, dims, value.dtype, value.empty_dtype)

    def _unshared(self, buffer: str) -> bool:
        """Whether a copy of a temporary that is handed out may be the temporary itself: nobody else will see it."""
        return self.ctx.buffers[buffer].role == "temporary" and buffer not in self.handed_out

    def _covers(self, value: Array) -> bool:
        return value.dims == self.ctx.buffers[value.base].dims

    def _prefix(self, value: Array) -> bool:
        """Whether only the first axis is shorter than the buffer: the data stand together."""
        dims = self.ctx.buffers[value.base].dims
        return value.dims[1:] == dims[1:]

    # --- assignment

    def assign(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name(id=name):
                self.env[name] = self.bind(name, value)
            case ast.Tuple(elts=targets) | ast.List(elts=targets):
                self.unpack(target, targets, value)
            case ast.Subscript():
                self.store(target, value)
            case ast.Attribute(value=owner, attr="shape"):
                assert isinstance(owner, ast.Name)
                self.env[owner.id] = shaping.reshape(self.ctx, as_array(self.ctx, self.expr(owner)), [value])
            case ast.Starred():
                self.ctx.fail("a starred target", "name each element", target)
            case _:
                self.ctx.fail("an assignment to this target", "assign to a name or a subscript", target)

    def bind(self, name: str, value: Value) -> Value:
        """`value` as it is kept under a name: evaluated now, but views stay views and filters stay filters."""
        if name in self.appended and isinstance(value, Seq) and value.kind == "list":
            return self.growing(name, value)
        return self.settle(value, name)

    def settle(self, value: Value, name: str) -> Value:
        ctx = self.ctx
        match value:
            case Scalar(expr, True) if _symbolic(ctx, expr):
                return value
            case Scalar(expr, python):
                return Scalar(ctx.let(expr, name), python)
            case Array(axes=()) if not value.view:
                return replace(value, body=ctx.let(value.body, name))
            case Array(mask=None, view=False):
                if isinstance(value.body, Const) or _is_position(value):
                    if isinstance(value.body, Const) and name not in stored_names(self.node):
                        return value
                    if not isinstance(value.body, Const):
                        return value if name not in stored_names(self.node) else ctx.define(value, name)
                return ctx.define(value, name)
            case Array(mask=None, view=True, identity="") if self._reordered(value):
                source = ctx.buffers[value.base]
                whole = source.permutation and value.dims == source.dims
                return ctx.define(replace(value, view=False), name, permutation=whole)
            case Array(mask=mask) if mask is not None:
                if name in stored_names(self.node):
                    return ctx.compact(value, name)
                return value
            case Seq(items, kind):
                return Seq(tuple(self.settle(i, name) for i in items), kind)
            case _:
                return value

    def _reordered(self, value: Array) -> bool:
        """A view that runs backwards over memory which no other name shows: a copy in order serves all later reads."""
        if not isinstance(value.body, Load) or self.ctx.buffers[value.base].role == "argument":
            return False
        own = {a.name for a in value.axes}
        backwards = any(
            c < 0 for i in value.body.index for t, c in b.affine(i)[0].items() if isinstance(t, Var) and t.name in own
        )
        return backwards and not any(
            isinstance(v, Array) and v.view and v.base == value.base
            for frame in self.ctx.frames
            for v in frame.values()
        )

    def growing(self, name: str, value: Seq) -> GrowingList:
        ctx = self.ctx
        buffer = ctx.fresh(name)
        count = ctx.count(buffer, b.index(len(value.items)))
        ctx.list_counts.add(count.name)
        ctx.emit(n.Assign(count.name, b.ZERO))
        owner = GrowingList(buffer, count.name, depth=len(ctx.trips))
        ctx.emit(n.Alloc(buffer))
        for item in value.items:
            storing.append(ctx, owner, item)
        return owner

    def unpack(self, node: ast.expr, targets: Sequence[ast.expr], value: Value) -> None:
        items = self.elements(value, len(targets), node)
        if any(isinstance(t, ast.Starred) for t in targets):
            self.ctx.fail("a starred target", "name each element", node)
        if len(items) != len(targets):
            few = len(items) < len(targets)
            text = (
                f"not enough values to unpack (expected {len(targets)}, got {len(items)})" if few
                else f"too many values to unpack (expected {len(targets)})"
            )  # fmt: skip
            self.ctx.guard(b.FALSE, "ValueError", text)
        # all values stand before the first target changes
        settled = [
            self.settle(i, t.id if isinstance(t, ast.Name) else "value") for i, t in zip(items, targets, strict=True)
        ]
        for target, item in zip(targets, settled, strict=True):
            self.assign(target, item)

    def elements(self, value: Value, wanted: int, node: ast.AST) -> list[Value]:
        """The elements of an iterable whose length is known."""
        ctx = self.ctx
        match value:
            case Seq(items):
                return list(items)
            case Static(tuple() | list() | str() as items):
                return [Static(i) for i in items]
            case Array() | Static(np.ndarray()) | Concatenation():
                array = as_array(ctx, value)
                if not array.ndim:
                    ctx.guard(b.FALSE, "TypeError", "iteration over a 0-d array")
                extent = b.constant(array.dims[0])
                if extent is None:
                    self.demand_dim(array.dims[0], node, "unpacking an array of run-time length")
                return [array_item(ctx, array, [Static(i)]) for i in range(extent or 0)]
            case Range(start, stop, step):
                bounds = [b.constant(e) for e in (start, stop, step)]
                if None not in bounds:
                    return [Static(i) for i in range(*bounds)]  # type: ignore[arg-type]
                ctx.fail("unpacking a range of run-time length", "", node)
            case _:
                ctx.fail(f"unpacking {describe(value)}", "", node)

    def demand_dim(self, dim: Expr, node: ast.AST | None, problem: str) -> None:
        """Ask for a specialisation on the value of a size."""
        error = self.ctx.error(problem, "its length must be known: give it in the types", node)
        if isinstance(dim, Var) and b.is_size_name(dim.name):
            raise NeedsConstant(dim.name, error)
        raise error

    def store(self, target: ast.Subscript, value: Value) -> None:
        """``base[items] = value``."""
        base = self.expr(target.value)
        items = self.items(target.slice)
        if (
            isinstance(base, Seq)
            and isinstance(target.value, ast.Name)
            and len(items) == 1
            and isinstance(items[0], Static)
        ):
            changed = list(base.items)
            changed[items[0].value] = value
            self.env[target.value.id] = Seq(tuple(changed), base.kind)
            return
        if isinstance(base, GrowingList):
            at = scalar_expr(self.ctx, items[0])  # type: ignore[arg-type]
            subscript(self.ctx, base, items)
            self.ctx.emit(
                n.Store(
                    base.buffer,
                    (b.wrap_index(b.as_index(at), b.size(base.count)),),
                    b.cast(scalar_expr(self.ctx, value), base.dtype),
                )
            )
            return
        if not isinstance(base, Array):
            self.ctx.fail(f"a store into {describe(base)}", "", target)
        if not base.view:
            if isinstance(target.value, ast.Name):
                base = self.own(target.value.id, base)
            else:
                return  # a store into a copy: nobody sees it
        storing.write(self.ctx, base, items, value)

    def own(self, name: str, value: Array) -> Array:
        """The array under `name` in memory of its own, so that it can be stored to."""
        owned = self.ctx.define(value, name) if value.mask is None else self.ctx.compact(value, name)
        self.env[name] = owned
        return owned

    def augment(self, target: ast.expr, op: str, value: ast.expr) -> None:
        ctx = self.ctx
        if isinstance(target, ast.Name):
            old = self.expr(ast.copy_location(ast.Name(target.id, ast.Load()), target))
            new = self.expr(value)
            if isinstance(old, GrowingList) and op == "add":
                storing.extend(ctx, old, new)
                return
            if isinstance(old, Array) and old.ndim >= 0 and not (old.ndim == 0 and not old.view):
                if not old.view or old.mask is not None:
                    old = self.own(target.id, old)
                result = self.operate(op, old, new)
                storing.write(ctx, old, [Static(Ellipsis)], result, casting=op)
                return
            self.assign(target, self.operate(op, old, new))
            return
        assert isinstance(target, ast.Subscript)
        base = self.expr(target.value)
        items = [self.settle_item(i) for i in self.items(target.slice)]
        old = subscript(ctx, base, items)
        if isinstance(base, Array) and not base.view and isinstance(target.value, ast.Name):
            base = self.own(target.value.id, base)
            old = subscript(ctx, base, items)
        result = self.operate(op, old, self.expr(value))
        if isinstance(base, Array):
            storing.write(ctx, base, items, result, casting=op if isinstance(old, Array) else None)
        else:
            at = ast.copy_location(ast.Subscript(target.value, target.slice, ast.Store()), target)
            self.store(at, result)

    def settle_item(self, item: Item) -> Item:
        return item if isinstance(item, SliceValue) else self.settle(item, "at")

    def operate(self, op: str, left: Value, right: Value) -> Value:
        ctx = self.ctx
        if op == "matmul":
            return library_calls.matmul(ctx, left, right)
        if isinstance(left, Seq) or isinstance(right, Seq):
            if op == "add" and isinstance(left, Seq) and isinstance(right, Seq):
                return Seq(left.items + right.items, left.kind)
            if op == "multiply":
                seq, times = (left, right) if isinstance(left, Seq) else (right, left)
                if isinstance(times, Static) and isinstance(times.value, int):
                    assert isinstance(seq, Seq)
                    return Seq(seq.items * times.value, seq.kind)
        if isinstance(left, Static) and isinstance(right, Static) and not (is_number(left) and is_number(right)):
            if isinstance(left.value, (str, tuple, list)):
                return Static(PYTHON_OPERATORS[op](left.value, right.value))
        return apply(ctx, op, [left, right], operator_call=True)

    # --- branches

    def branch(self, node: ast.If, rest: Sequence[ast.stmt]) -> bool:
        """An `if`; True where nothing after it is reached. In an inlined function whose branch returns, the rest of the
        block moves into the other branch."""
        self.ctx.span = span_of(node.test, self.scope.file)
        condition = truth(self.ctx, self.expr(node.test))
        if isinstance(condition, Static):
            return self.block(node.body if condition.value else node.orelse)
        return self.fork(condition.expr, node.body, node.orelse, rest)  # type: ignore[union-attr]

    def fork(
        self, condition: Expr, then: Sequence[ast.stmt], orelse: Sequence[ast.stmt], rest: Sequence[ast.stmt]
    ) -> bool:
        ctx = self.ctx
        span = ctx.span
        move = self.inlined and any(returns(s) for s in [*then, *orelse])
        before = dict(self.env)
        outcomes: list[tuple[list[n.Stmt], dict[str, Value], bool, bool]] = []
        for statements in (then, orelse):
            self.env.clear()
            self.env.update(before)
            self.ended = False
            holds = condition if statements is then else b.logical_not(condition)
            with ctx.block() as out, ctx.knowing(stable_parts(ctx, holds)):
                done = self.block(statements)
                if move and not done:
                    done = self.block(rest)
                    if not done:
                        self.env[RETURN] = Static(None)
                        self.ended = done = True
                outcomes.append((out, dict(self.env), done, self.ended))
        (out1, env1, done1, ended1), (out2, env2, done2, ended2) = outcomes
        if move and (ended1 or ended2):
            if ended1 and ended2:
                self.merge(env1, env2, out1, out2, only=RETURN)
            else:
                self.env.clear()
                self.env.update(env1 if ended1 else env2)
        elif done1 and done2:
            pass
        elif done1 or done2:
            self.env.clear()
            self.env.update(env2 if done1 else env1)
        else:
            self.merge(env1, env2, out1, out2)
        ctx.span = span
        if out1 or out2:
            ctx.emit(n.If(condition, tuple(out1), tuple(out2)))
        self.ended = move and (ended1 or ended2)
        return done1 and done2

    def merge(
        self, env1: dict[str, Value], env2: dict[str, Value], out1: list[n.Stmt], out2: list[n.Stmt], only: str = ""
    ) -> None:
        merged: dict[str, Value] = {}
        for name in [only] if only else [*env1, *[k for k in env2 if k not in env1]]:
            one, two = env1.get(name), env2.get(name)
            if one is None or two is None:
                merged[name] = Unbound(f"`{name}` has a value on one of two paths only")
            elif one is two or one == two:
                merged[name] = one
            else:
                merged[name] = self.join(name, one, two, out1, out2)
        self.env.clear()
        self.env.update(merged)

    def join(self, name: str, one: Value, two: Value, out1: list[n.Stmt], out2: list[n.Stmt]) -> Value:
        """One value that is `one` after `out1` and `two` after `out2`."""
        ctx = self.ctx
        if isinstance(one, Unbound) or isinstance(two, Unbound):
            return Unbound(f"`{name}` has a value on one of two paths only")
        if isinstance(one, Seq) and isinstance(two, Seq) and len(one.items) == len(two.items):
            items = tuple(
                x if x == y else self.join(name, x, y, out1, out2) for x, y in zip(one.items, two.items, strict=True)
            )
            return Seq(items, one.kind)
        kind = scalar_kind(one, two)
        if kind is not None:
            variable = ctx.variable(name, kind[0])
            for value, out in ((one, out1), (two, out2)):
                out.append(n.Assign(variable.name, b.cast(scalar_expr(ctx, value), kind[0]), span=ctx.span))
            return Scalar(variable, kind[1])
        if isinstance(one, Array) and isinstance(two, Array) and one.ndim == two.ndim and one.dtype == two.dtype:
            return self.join_arrays(name, one, two, out1, out2)
        return Unbound(f"`{name}` is {describe(one)} on one path and {describe(two)} on the other")

    def join_arrays(self, name: str, one: Array, two: Array, out1: list[n.Stmt], out2: list[n.Stmt]) -> Value:
        ctx = self.ctx
        if one.mask is None and two.mask is None and one.dims == two.dims:
            buffer = ctx.buffer(name, one.dtype, one.dims)
            for value, out in ((one, out1), (two, out2)):
                index = tuple(a.var for a in value.axes)
                out.append(n.Write(buffer.name, value.axes, index, value.body, span=ctx.span))
            ctx.out.append(n.Alloc(buffer.name, span=ctx.span))
            return ctx.whole(buffer)
        if one.dims[1:] != two.dims[1:]:
            return Unbound(f"`{name}` has different shapes on two paths")
        bounds = [bound_of(ctx, v.dims[0]) for v in (one, two)]
        if None in bounds:
            return Unbound(f"`{name}` has different sizes on two paths")
        bound = b.maximum(bounds[0], bounds[1])  # type: ignore[arg-type]
        buffer = ctx.buffer(name, one.dtype, (bound, *one.dims[1:]))
        count = ctx.count(buffer.name, bound)
        ctx.out.append(n.Alloc(buffer.name, span=ctx.span))
        for value, out in ((one, out1), (two, out2)):
            with ctx.block() as extra:
                self.fill(buffer, count, value)
            out.extend(extra)
        return ctx.whole(buffer, (count, *one.dims[1:]))

    def fill(self, buffer: n.Buffer, count: Var, value: Array) -> None:
        """`value` into `buffer`, its length into `count`."""
        ctx = self.ctx
        if value.mask is not None:
            ctx.emit(n.Filter((buffer.name,), count.name, value.axes[:1], value.mask, (value.body,), value.axes[1:]))
            return
        ctx.emit(n.Write(buffer.name, value.axes, tuple(a.var for a in value.axes), value.body))
        ctx.emit(n.Assign(count.name, value.dims[0]))

    # --- loops

    def while_loop(self, node: ast.While, test: ast.expr, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt]) -> None:
        if orelse:
            self.ctx.fail("`else` of a loop", "set a flag before break", node)

        def trip(state: LoopState) -> n.Stmt:
            ctx = self.ctx
            with ctx.block() as head:
                ctx.span = span_of(test, self.scope.file)
                value = truth(ctx, self.expr(test))
                condition = condition_of(value)
            ctx.trips.append(trip_bound(ctx, condition, state))
            try:
                with ctx.block() as inner, ctx.knowing(stable_parts(ctx, condition)):
                    if not self.block(body):
                        state.back(self)
            finally:
                ctx.trips.pop()
            return n.While(tuple(head), condition, tuple(inner))

        self.loop(node, body, trip, ())

    def for_loop(
        self, node: ast.For, target: ast.expr, iterable: ast.expr, body: Sequence[ast.stmt], orelse: Sequence[ast.stmt]
    ) -> None:
        ctx = self.ctx
        if orelse:
            ctx.fail("`else` of a loop", "set a flag before break", node)
        source = self.expr(iterable)
        counted = iterating.iteration(ctx, source)
        if isinstance(counted, list):
            if len(counted) > _UNROLL and not all(isinstance(i, Static) for i in counted):
                ctx.fail(f"a loop over {len(counted)} different values", "loop over an array or a range", node)
            if not any(isinstance(x, (ast.Break, ast.Continue)) for s in body for x in ast.walk(s)) and (
                len(counted) <= _UNROLL
            ):
                for item in counted:
                    self.assign(target, item)
                    if self.block(body):
                        raise Terminated
                return
            ctx.fail("break or continue in a loop over a tuple", "loop over a range", node)
        start, stop, step, element = counted
        axis = ctx.fresh(target.id if isinstance(target, ast.Name) else "step")
        self._check_step(step)
        low, high = (start, stop) if (b.constant(step) or 1) > 0 else (b.add(stop, b.ONE), b.add(start, b.ONE))
        ctx.ranges[axis] = (low, high)
        trips = trip_count(start, stop, step)

        def trip(state: LoopState) -> n.Stmt:
            ctx.trips.append(trips)
            try:
                with ctx.block() as inner:
                    ctx.ranges[axis] = (low, high)
                    self.assign(target, element(start if b.constant(trips) == 1 else Var(axis)))
                    if not self.block(body):
                        state.back(self)
            finally:
                ctx.trips.pop()
            return n.Loop(axis, start, stop, step, "sequential", tuple(inner))

        targets = {x.id for x in ast.walk(target) if isinstance(x, ast.Name)}
        self.loop(node, body, trip, targets)

    def _check_step(self, step: Expr) -> None:
        if b.constant(step) == 0:
            self.ctx.guard(b.FALSE, "ValueError", "range() arg 3 must not be zero")
        if b.constant(step) is None:
            self.ctx.fail("a range with a run-time step", "use a constant step")

    def loop(self, node: ast.While | ast.For, body: Sequence[ast.stmt], trip: Any, targets: Any) -> None:
        """A run-time loop: names that its body assigns become slots; their types are widened until they hold."""
        ctx = self.ctx
        span = span_of(node, self.scope.file)
        assigned = assigned_names(body) | set(targets)
        live, later = live_names(self.node, node)
        assigned -= self._changed_in_place(body, assigned)
        before = dict(self.env)
        self._check_sharing(body, assigned, before)
        state = LoopState(self, (assigned - set(targets)) & live, before, later, assigned, stored_in(body))
        for _ in range(8):
            saved = ctx.snapshot()
            self.env.clear()
            self.env.update(before)
            with ctx.block() as setup:
                state.enter(self)
                self.loops.append(state)
                try:
                    ctx.span = span
                    statement = trip(state)
                finally:
                    self.loops.pop()
            if not state.widened:
                break
            state.widened = False
            ctx.restore(saved)
            ctx.deferred = None
        else:
            ctx.fail("the types of this loop's variables do not settle", "", node)
        if ctx.deferred is not None and not ctx.trips:
            raise ctx.deferred
        ctx.out.extend(setup)
        ctx.span = span
        ctx.emit(statement)
        self.env.clear()
        self.env.update(state.after(self))

    def _changed_in_place(self, body: Sequence[ast.stmt], assigned: set[str]) -> set[str]:
        """Names of arrays that the body only changes by ``x += …``: that is a store, not an assignment."""
        rebound = rebound_names(body)
        found: set[str] = set()
        for name in assigned - rebound:
            value = self.env.get(name)
            if isinstance(value, Array) and (value.ndim or value.view):
                if not value.view or value.mask is not None:
                    self.own(name, value)
                found.add(name)
        return found

    def _check_sharing(self, body: Sequence[ast.stmt], assigned: set[str], before: dict[str, Value]) -> None:
        """Names that the loop rebinds get memory of their own. That cannot be told from Python's sharing unless the
        loop also stores into them while somebody else sees the array."""
        stored = stored_in(body) & assigned
        if not stored:
            return
        for name in sorted(assigned):
            value = before.get(name)
            if not isinstance(value, Array) or not value.view:
                continue
            others = [
                k for k, v in before.items() if k != name and isinstance(v, Array) and v.view and v.base == value.base
            ]
            if self.ctx.buffers[value.base].role == "argument" or others:
                whose = f"also `{others[0]}`" if others else "an argument"
                into = ", ".join(f"`{s}`" for s in sorted(stored))
                self.ctx.fail(
                    f"the loop assigns `{name}` anew and stores into {into}, and `{name}` is {whose} at first",
                    f"start the loop with a copy: {name} = {name}.copy()",
                )


def _symbolic(ctx: Context, expr: Expr) -> bool:
    """A linear form of sizes that do not change before the end of the iteration: kept as it is, so that what is known
    of the sizes is known of it."""
    if expr.dtype != "index" or buffers_read(expr):
        return False
    terms, _ = b.affine(expr)
    return bool(terms) and all(
        isinstance(t, Var) and b.is_size_name(t.name) and t.name not in ctx.list_counts for t in terms
    )


def _is_position(value: Array) -> bool:
    """A bare arange: kept as arithmetic, not as memory."""
    match value.body:
        case Load():
            return False
        case _:
            return not buffers_read(value.body) and len(value.axes) == 1 and _cheap(value.body)


def _cheap(expr: Expr) -> bool:
    match expr:
        case Const() | Var():
            return True
        case Apply("cast" | "add" | "subtract" | "multiply", args):
            return all(_cheap(a) for a in args)
        case _:
            return False
