"""The walk over a function's `ast`: statements, control flow, names. What a call means is in `functions`."""

from __future__ import annotations

import ast
import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from transkern.frontend import functions
from transkern.errors import CompileError, NeedsConstant
from transkern.frontend.context import Context, Terminated
from transkern.frontend.elementwise import (
    apply, as_array, broadcast_to, describe, is_number, is_python_number, scalar_expr, static_expr, truth,
)  # fmt: skip
from transkern.frontend.indexing import Item, SliceValue, array_item, place, subscript
from transkern.frontend.source import span_of
from transkern.frontend.values import (
    Array, Concatenation, Function, GrowingList, Known, Method, Range, Scalar, Scope, Seq, Static, Unbound, Value,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Expr, Load, Var
from transkern.ir.facts import conjuncts
from transkern.ir.traverse import buffers_read, variables_read

_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder", ast.Pow: "power", ast.BitAnd: "bitwise_and", ast.BitOr: "bitwise_or",
    ast.BitXor: "bitwise_xor", ast.LShift: "left_shift", ast.RShift: "right_shift",
}  # fmt: skip
_UNARY: dict[type[ast.unaryop], str] = {ast.USub: "negative", ast.UAdd: "positive", ast.Invert: "invert"}
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "less", ast.LtE: "less_equal", ast.Gt: "greater", ast.GtE: "greater_equal", ast.Eq: "equal",
    ast.NotEq: "not_equal",
}  # fmt: skip
_UNROLL = 64
_INLINE_DEPTH = 32
_RETURN = "return"  # the pseudo-name that holds an inlined function's value


class Translator:
    """One function body; `inlined` bodies leave their value under the name `_RETURN`."""

    def __init__(self, ctx: Context, scope: Scope, node: ast.FunctionDef | ast.Lambda, env: dict[str, Value], inlined: bool):
        self.ctx, self.scope, self.node, self.env, self.inlined = ctx, scope, node, env, inlined
        self.loops: list[_LoopState] = []
        self.appended = _appended_names(node)
        self.ended = False
        self.handed_out: set[str] = set()  # buffers that results stand in

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
                    self.env[_RETURN] = Static(None)
                else:
                    self.ctx.emit(n.Return(n.ConstantResult(None)))
            return self.env.get(_RETURN, Static(None))
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
                self.augment(target, _BINARY.get(type(op), "matmul"), value)
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
                value = truth(self.ctx, self.expr(test))
                text, args = self.message(message)
                self.ctx.guard(_condition(value), "AssertionError", text, args)
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
            path = alias.name if isinstance(node, ast.Import) else f"{node.module}.{alias.name}"
            from transkern.frontend.source import known_object

            self.env[alias.asname or alias.name.split(".")[0]] = known_object(path)

    def raise_(self, exc: ast.expr | None) -> None:
        name, text, args = "RuntimeError", "No active exception to reraise", ()
        match exc:
            case ast.Call(func=ast.Name(id=name), args=arguments):
                text, args = self.message(arguments[0] if arguments else None)  # type: ignore[assignment]
            case ast.Name(id=name):
                text = ""
            case ast.expr():
                self.ctx.fail("raising a computed exception", "raise a builtin exception with a message", exc)
        import builtins

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
            self.env[_RETURN] = self.settle(result, "result")
            if self.loops:
                self.ctx.fail(
                    "`return` inside a loop of a function that is called", "set a variable, break, and return after the loop",
                    value,
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
                return n.ListResult(owner.buffer if owner.dtype else "", b.size(owner.count), owner.dtype or "index", owner.python)
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
        if whole and self._covers(value):
            buffer = ctx.buffers[value.base]
        elif whole and len(dims) == len(ctx.buffers[value.base].dims) and self._prefix(value):
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
                self.env[owner.id] = functions.reshape(self.ctx, self.expr(owner), [value])
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
                    if isinstance(value.body, Const) and name not in _stored_names(self.node):
                        return value
                    if not isinstance(value.body, Const):
                        return value if name not in _stored_names(self.node) else ctx.define(value, name)
                return ctx.define(value, name)
            case Array(mask=None, view=True, identity="") if self._reordered(value):
                source = ctx.buffers[value.base]
                whole = source.permutation and value.dims == source.dims
                return ctx.define(replace(value, view=False), name, permutation=whole)
            case Array(mask=mask) if mask is not None:
                if name in _stored_names(self.node):
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
            isinstance(v, Array) and v.view and v.base == value.base for frame in self.ctx.frames for v in frame.values()
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
            functions.append(ctx, owner, item)
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
        settled = [self.settle(i, t.id if isinstance(t, ast.Name) else "value") for i, t in zip(items, targets, strict=True)]
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
        if isinstance(base, Seq) and isinstance(target.value, ast.Name) and len(items) == 1 and isinstance(items[0], Static):
            changed = list(base.items)
            changed[items[0].value] = value
            self.env[target.value.id] = Seq(tuple(changed), base.kind)
            return
        if isinstance(base, GrowingList):
            at = scalar_expr(self.ctx, items[0])  # type: ignore[arg-type]
            subscript(self.ctx, base, items)
            self.ctx.emit(n.Store(base.buffer, (b.wrap_index(b.as_index(at), b.size(base.count)),), b.cast(scalar_expr(self.ctx, value), base.dtype)))
            return
        if not isinstance(base, Array):
            self.ctx.fail(f"a store into {describe(base)}", "", target)
        if not base.view:
            if isinstance(target.value, ast.Name):
                base = self.own(target.value.id, base)
            else:
                return  # a store into a copy: nobody sees it
        functions.write(self.ctx, base, items, value)

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
                functions.extend(ctx, old, new)
                return
            if isinstance(old, Array) and old.ndim >= 0 and not (old.ndim == 0 and not old.view):
                if not old.view or old.mask is not None:
                    old = self.own(target.id, old)
                result = self.operate(op, old, new)
                functions.write(ctx, old, [Static(Ellipsis)], result, casting=op)
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
            functions.write(ctx, base, items, result, casting=op if isinstance(old, Array) else None)
        else:
            at = ast.copy_location(ast.Subscript(target.value, target.slice, ast.Store()), target)
            self.store(at, result)

    def settle_item(self, item: Item) -> Item:
        return item if isinstance(item, SliceValue) else self.settle(item, "at")

    def operate(self, op: str, left: Value, right: Value) -> Value:
        ctx = self.ctx
        if op == "matmul":
            return functions.matmul(ctx, left, right)
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
                from transkern.frontend.elementwise import _PYTHON_OPERATORS

                return Static(_PYTHON_OPERATORS[op](left.value, right.value))
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

    def fork(self, condition: Expr, then: Sequence[ast.stmt], orelse: Sequence[ast.stmt], rest: Sequence[ast.stmt]) -> bool:
        ctx = self.ctx
        span = ctx.span
        move = self.inlined and any(_returns(s) for s in [*then, *orelse])
        before = dict(self.env)
        outcomes: list[tuple[list[n.Stmt], dict[str, Value], bool, bool]] = []
        for statements in (then, orelse):
            self.env.clear()
            self.env.update(before)
            self.ended = False
            holds = condition if statements is then else b.logical_not(condition)
            with ctx.block() as out, ctx.knowing(_stable(ctx, holds)):
                done = self.block(statements)
                if move and not done:
                    done = self.block(rest)
                    if not done:
                        self.env[_RETURN] = Static(None)
                        self.ended = done = True
                outcomes.append((out, dict(self.env), done, self.ended))
        (out1, env1, done1, ended1), (out2, env2, done2, ended2) = outcomes
        if move and (ended1 or ended2):
            if ended1 and ended2:
                self.merge(env1, env2, out1, out2, only=_RETURN)
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

    def merge(self, env1: dict[str, Value], env2: dict[str, Value], out1: list[n.Stmt], out2: list[n.Stmt], only: str = "") -> None:
        merged: dict[str, Value] = {}
        for name in ([only] if only else [*env1, *[k for k in env2 if k not in env1]]):
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
                out.append(n.Define(buffer.name, value.axes, value.body, span=ctx.span))
            ctx.out.append(n.Alloc(buffer.name, span=ctx.span))
            return ctx.whole(buffer)
        if one.dims[1:] != two.dims[1:]:
            return Unbound(f"`{name}` has different shapes on two paths")
        bounds = [_bound_of(ctx, v.dims[0]) for v in (one, two)]
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

        def trip(state: _LoopState) -> n.Stmt:
            ctx = self.ctx
            with ctx.block() as head:
                ctx.span = span_of(test, self.scope.file)
                value = truth(ctx, self.expr(test))
                condition = _condition(value)
            ctx.trips.append(_trip_bound(ctx, condition, state))
            try:
                with ctx.block() as inner, ctx.knowing(_stable(ctx, condition)):
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
        counted = functions.iteration(ctx, source)
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
        trips = _trips(start, stop, step)

        def trip(state: _LoopState) -> n.Stmt:
            ctx.trips.append(trips)
            try:
                with ctx.block() as inner:
                    ctx.ranges[axis] = (low, high)
                    self.assign(target, element(Var(axis)))
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
        assigned = _assigned_names(body) | set(targets)
        later = _names_used_outside(self.node, node)
        assigned -= self._changed_in_place(body, assigned)
        before = dict(self.env)
        self._check_sharing(body, assigned, before)
        state = _LoopState(self, assigned - set(targets), before, later, assigned, _stored_in(body))
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
        rebound = _rebound_names(body)
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
        stored = _stored_in(body) & assigned
        if not stored:
            return
        for name in sorted(assigned):
            value = before.get(name)
            if not isinstance(value, Array) or not value.view:
                continue
            others = [k for k, v in before.items() if k != name and isinstance(v, Array) and v.view and v.base == value.base]
            if self.ctx.buffers[value.base].role == "argument" or others:
                whose = f"also `{others[0]}`" if others else "an argument"
                self.ctx.fail(
                    f"the loop assigns `{name}` anew and stores into {', '.join(f'`{s}`' for s in sorted(stored))}, and "
                    f"`{name}` is {whose} at first", f"start the loop with a copy: {name} = {name}.copy()",
                )  # fmt: skip

    # --- expressions

    def expr(self, node: ast.expr) -> Value:
        ctx = self.ctx
        span = ctx.span
        try:
            return self._expr(node)
        except (RecursionError, MemoryError):
            raise
        finally:
            ctx.span = span

    def _expr(self, node: ast.expr) -> Value:
        ctx = self.ctx
        match node:
            case ast.Constant(value=value):
                return Static(value)
            case ast.Name(id=name):
                return self.name(name, node)
            case ast.BinOp(left=left, op=op, right=right):
                x, y = self.expr(left), self.expr(right)
                with _At(ctx, node, self.scope.file):
                    return self.operate(_BINARY.get(type(op), "matmul"), x, y)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                value = truth(ctx, self.expr(operand))
                if isinstance(value, Static):
                    return Static(not value.value)
                assert isinstance(value, Scalar)
                return Scalar(b.logical_not(value.expr), True)
            case ast.UnaryOp(op=op, operand=operand):
                inner = self.expr(operand)
                with _At(ctx, node, self.scope.file):
                    return apply(ctx, _UNARY[type(op)], [inner], operator_call=True)
            case ast.Compare(left=left, ops=ops, comparators=comparators):
                return self.comparison(node, left, ops, comparators)
            case ast.BoolOp(op=op, values=values):
                return self.boolean(isinstance(op, ast.And), values)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.conditional(test, body, orelse)
            case ast.Tuple(elts=elts):
                return Seq(self._display(elts), "tuple")
            case ast.List(elts=elts):
                return Seq(self._display(elts), "list")
            case ast.Subscript(value=value, slice=index):
                base = self.expr(value)
                items = self.items(index)
                with _At(ctx, node, self.scope.file):
                    return subscript(ctx, base, items)
            case ast.Attribute(value=value, attr=attr):
                with _At(ctx, node, self.scope.file):
                    return functions.attribute(ctx, self.expr(value), attr)
            case ast.Call():
                return self.call(node)
            case ast.ListComp(elt=elt, generators=[generator]) | ast.GeneratorExp(elt=elt, generators=[generator]):
                return self.comprehension(node, elt, generator)
            case ast.Lambda():
                return Function("<lambda>", node, self.scope, dict(self.env))
            case ast.JoinedStr():
                text, args = self.message(node)
                if not args:
                    return Static(text)
                ctx.fail("an f-string of run-time values", "", node)
            case ast.NamedExpr(target=target, value=value):
                result = self.expr(value)
                self.assign(target, result)
                return self.expr(ast.copy_location(ast.Name(target.id, ast.Load()), target))
            case _:
                ctx.fail(f"`{ast.unparse(node)[:40]}`: this kind of expression is not compiled", "", node)

    def _display(self, elts: Sequence[ast.expr]) -> tuple[Value, ...]:
        items: list[Value] = []
        for e in elts:
            if isinstance(e, ast.Starred):
                items += self.elements(self.expr(e.value), 0, e)
            else:
                items.append(self.expr(e))
        return tuple(items)

    def name(self, name: str, node: ast.AST) -> Value:
        value = self.env.get(name)
        if value is None:
            value = self.scope.lookup(name)
        if value is None:
            if name in _assigned_names(getattr(self.node, "body", [])if isinstance(self.node, ast.FunctionDef) else []):
                self.ctx.guard(
                    b.FALSE, "UnboundLocalError", f"cannot access local variable '{name}' where it is not associated with a value"
                )  # fmt: skip
            self.ctx.fail(f"`{name}` is not known here", "only constants, functions and modules can be captured", node)
        if isinstance(value, Unbound):
            self.ctx.fail(value.why, "give it a value of one type on every path", node)
        return value

    def items(self, node: ast.expr) -> list[Item]:
        if isinstance(node, ast.Tuple):
            return [self.item(e) for e in node.elts]
        item = self.item(node)
        if isinstance(item, Seq) and item.kind == "tuple":
            return list(item.items)
        if isinstance(item, Static) and isinstance(item.value, tuple):
            return [Static(v) for v in item.value]
        return [item]

    def item(self, node: ast.expr) -> Item:
        if isinstance(node, ast.Slice):
            parts = [None if p is None else self.expr(p) for p in (node.lower, node.upper, node.step)]
            parts = [None if isinstance(p, Static) and p.value is None else p for p in parts]
            return SliceValue(*parts)
        value = self.expr(node)
        if isinstance(value, Static) and isinstance(value.value, slice):
            s = value.value
            return SliceValue(*(None if p is None else Static(p) for p in (s.start, s.stop, s.step)))
        return value

    def comparison(self, node: ast.Compare, left: ast.expr, ops: Sequence[ast.cmpop], others: Sequence[ast.expr]) -> Value:
        ctx = self.ctx
        x = self.expr(left)
        result: Value | None = None
        for op, other in zip(ops, others, strict=True):
            y = self.expr(other)
            with _At(ctx, node, self.scope.file):
                one = self._compare(op, x, y)
            result = one if result is None else self._and(result, one)
            x = y
        assert result is not None
        return result

    def _compare(self, op: ast.cmpop, x: Value, y: Value) -> Value:
        ctx = self.ctx
        if isinstance(op, (ast.Is, ast.IsNot)):
            same = _identical(x, y)
            if same is None:
                ctx.fail("`is` between run-time values", "use ==")
            return Static(same is isinstance(op, ast.Is))
        if isinstance(op, (ast.In, ast.NotIn)):
            found = functions.contains(ctx, x, y)
            return found if isinstance(op, ast.In) else self._not(found)
        name = _COMPARE[type(op)]
        if isinstance(x, Static) and isinstance(y, Static) and not (is_number(x) and is_number(y)):
            try:
                return Static(bool({"equal": x.value == y.value, "not_equal": x.value != y.value}[name]))
            except KeyError:
                ctx.fail(f"a comparison of {describe(x)} and {describe(y)}")
        if isinstance(x, Seq) and isinstance(y, Seq) and name in ("equal", "not_equal"):
            if len(x.items) != len(y.items):
                return Static(name == "not_equal")
            result: Value = Static(True)
            for p, q in zip(x.items, y.items, strict=True):
                result = self._and(result, self._compare(ast.Eq(), p, q))
            return result if name == "equal" else self._not(result)
        if isinstance(x, (Seq, GrowingList)) or isinstance(y, (Seq, GrowingList)):
            if isinstance(x, (Seq, GrowingList)) and isinstance(y, Static) and y.value is None:
                return Static(name == "not_equal")
        for one, two in ((x, y), (y, x)):
            if isinstance(one, Static) and (one.value is None or isinstance(one.value, str)):
                return Static(name == "not_equal")
            del two
        return apply(ctx, name, [x, y], operator_call=True)

    def _and(self, x: Value, y: Value) -> Value:
        if isinstance(x, Static):
            return y if x.value else x
        if isinstance(y, Static) and isinstance(x, Scalar):
            return x if y.value else y
        if isinstance(x, Scalar) and isinstance(y, Scalar):
            return Scalar(b.both(_condition(truth(self.ctx, x)), _condition(truth(self.ctx, y))), y.python)
        self.ctx.fail("a chained comparison of arrays", "use (a < b) & (b < c)")

    def _not(self, x: Value) -> Value:
        value = truth(self.ctx, x)
        if isinstance(value, Static):
            return Static(not value.value)
        assert isinstance(value, Scalar)
        return Scalar(b.logical_not(value.expr), True)

    def boolean(self, is_and: bool, values: Sequence[ast.expr]) -> Value:
        """``and``/``or``: the value where it decides at specialisation, else a condition."""
        ctx = self.ctx
        conditions: list[Expr] = []
        last: Value = Static(is_and)
        for position, node in enumerate(values):
            with ctx.block() as extra:
                value = self.expr(node)
            if extra and conditions:
                # what the operand needs runs only where the left side does not decide
                ctx.emit(self._short_circuit(is_and, conditions, extra))
            else:
                ctx.out.extend(extra)
            decided = truth(ctx, value)
            last = value
            if isinstance(decided, Static):
                if decided.value is not is_and:
                    if not conditions:
                        return value
                    conditions.append(b.TRUE if decided.value else b.FALSE)
                    break
                if position == len(values) - 1 and not conditions:
                    return value
                continue
            conditions.append(_condition(decided))
        if not conditions:
            return last
        joined = conditions[0]
        for c in conditions[1:]:
            joined = b.both(joined, c) if is_and else b.either(joined, c)
        return Scalar(joined, True)

    def _short_circuit(self, is_and: bool, conditions: list[Expr], extra: list[n.Stmt]) -> n.Stmt:
        before = conditions[0]
        for c in conditions[1:]:
            before = b.both(before, c) if is_and else b.either(before, c)
        needed = before if is_and else b.logical_not(before)
        for position, s in enumerate(extra):
            if isinstance(s, n.Let):  # used behind the branch: a variable that is set in it
                self.ctx.variables[s.name] = s.value.dtype
                self.ctx.emit(n.Assign(s.name, _zero(s.value.dtype)))
                extra[position] = n.Assign(s.name, s.value, span=s.span)
        if any(isinstance(s, (n.Define, n.Alloc)) for s in extra):
            self.ctx.fail(
                "this operand of and/or computes an array", "compute it before, or use an if statement"
            )
        return n.If(needed, tuple(extra))

    def conditional(self, test: ast.expr, body: ast.expr, orelse: ast.expr) -> Value:
        ctx = self.ctx
        condition = truth(ctx, self.expr(test))
        if isinstance(condition, Static):
            return self.expr(body if condition.value else orelse)
        assert isinstance(condition, Scalar)
        with ctx.block() as out1:
            one = self.expr(body)
        with ctx.block() as out2:
            two = self.expr(orelse)
        if one == two and not out1 and not out2:
            return one
        kind = scalar_kind(one, two)
        if kind is not None and not out1 and not out2:
            return Scalar(b.where(
                condition.expr, b.cast(scalar_expr(ctx, one), kind[0]), b.cast(scalar_expr(ctx, two), kind[0])
            ), kind[1])  # fmt: skip
        joined = self.join("chosen", one, two, out1, out2)
        ctx.emit(n.If(condition.expr, tuple(out1), tuple(out2)))
        if isinstance(joined, Unbound):
            ctx.fail("the two sides of this conditional have different types", "make them the same type", body)
        return joined

    def comprehension(self, node: ast.expr, elt: ast.expr, generator: ast.comprehension) -> Value:
        ctx = self.ctx
        counted = functions.iteration(ctx, self.expr(generator.iter))
        saved = dict(self.env)
        if isinstance(counted, list):
            items: list[Value] = []
            for item in counted:
                self.assign(generator.target, item)
                keep = True
                for test in generator.ifs:
                    decided = truth(ctx, self.expr(test))
                    if not isinstance(decided, Static):
                        ctx.fail("a run-time condition in a comprehension", "write a loop that appends", test)
                    keep = keep and decided.value
                if keep:
                    items.append(self.settle(self.expr(elt), "item"))
            self._leave_comprehension(saved)
            return Seq(tuple(items), "list")
        # over a run-time range: a loop that appends
        name = ctx.fresh("items")
        store: ast.stmt = ast.Expr(ast.Call(ast.Attribute(ast.Name(name, ast.Load()), "append", ast.Load()), [elt], []))
        for test in reversed(generator.ifs):
            store = ast.If(test, [store], [])
        loop = ast.For(generator.target, generator.iter, [store], [])
        for made in ast.walk(loop):
            if "lineno" in made._attributes and not hasattr(made, "lineno"):
                ast.copy_location(made, node)
        self.env[name] = self.growing(name, Seq((), "list"))
        self.statement(loop)
        value = self.env[name]
        self._leave_comprehension(saved)
        return value

    def _leave_comprehension(self, saved: dict[str, Value]) -> None:
        self.env.clear()
        self.env.update(saved)

    # --- calls

    def call(self, node: ast.Call) -> Value:
        ctx = self.ctx
        function = self.expr(node.func)
        positional: list[Value] = []
        for argument in node.args:
            if isinstance(argument, ast.Starred):
                positional += self.elements(self.expr(argument.value), 0, argument)
            else:
                positional.append(self.expr(argument))
        keywords: dict[str, Value] = {}
        for keyword in node.keywords:
            if keyword.arg is None:
                ctx.fail("`**` in a call", "", node)
            keywords[keyword.arg] = self.expr(keyword.value)
        with _At(ctx, node, self.scope.file):
            match function:
                case Function():
                    return self.inline(function, positional, keywords, node)
                case Known(path):
                    return functions.call(ctx, path, positional, keywords)
                case Method(receiver, name):
                    return functions.call_method(ctx, receiver, name, positional, keywords)
                case Static(type() as kind) if issubclass(kind, np.generic):
                    return functions.scalar_type(ctx, kind, positional)
                case _:
                    ctx.fail(f"a call of {describe(function)}")

    def inline(self, function: Function, positional: Sequence[Value], keywords: dict[str, Value], node: ast.AST) -> Value:
        ctx = self.ctx
        if ctx.depth >= _INLINE_DEPTH:
            ctx.fail(f"`{function.name}` calls itself too deeply", "write the recursion as a loop", node)
        env = bind_arguments(ctx, function, positional, keywords, self)
        if isinstance(function.node, ast.FunctionDef):
            env = {k: self.settle(v, k) for k, v in env.items()}
        outer = (ctx.lines, ctx.file, ctx.span)
        ctx.lines, ctx.file = function.scope.lines, function.scope.file
        ctx.depth += 1
        try:
            inner = Translator(ctx, function.scope, function.node, {**function.closure, **env}, True)
            return inner.run()
        finally:
            ctx.depth -= 1
            ctx.lines, ctx.file, ctx.span = outer


class _At:
    """Errors inside point at `node`."""

    def __init__(self, ctx: Context, node: ast.AST, file: str) -> None:
        self.ctx, self.span = ctx, span_of(node, file)

    def __enter__(self) -> None:
        self.outer, self.ctx.span = self.ctx.span, self.span

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if kind is None:
            self.ctx.span = self.outer


def bind_arguments(
    ctx: Context, function: Function, positional: Sequence[Value], keywords: dict[str, Value], caller: Translator | None
) -> dict[str, Value]:
    """Python's matching of arguments to parameters, defaults included."""
    args = function.node.args
    names = [a.arg for a in [*args.posonlyargs, *args.args]]
    if args.vararg or args.kwarg:
        ctx.fail(f"`{function.name}` takes *args or **kwargs", "name its parameters")
    env: dict[str, Value] = dict(zip(names, positional, strict=False))
    if len(positional) > len(names):
        ctx.fail(f"{function.name}() takes {len(names)} positional arguments but {len(positional)} were given")
    only = [a.arg for a in args.kwonlyargs]
    for name, value in keywords.items():
        if name not in names and name not in only:
            ctx.fail(f"{function.name}() got an unexpected keyword argument '{name}'")
        if name in env:
            ctx.fail(f"{function.name}() got multiple values for argument '{name}'")
        env[name] = value
    defaults = dict(zip(names[len(names) - len(args.defaults) :], args.defaults, strict=True))
    defaults.update({a: d for a, d in zip(only, args.kw_defaults, strict=True) if d is not None})
    for name in [*names, *only]:
        if name not in env:
            if name not in defaults:
                ctx.fail(f"{function.name}() missing a required argument: '{name}'")
            owner = Translator(ctx, function.scope, function.node, dict(function.closure), True)
            env[name] = owner.expr(defaults[name])
    return env


class _LoopState:
    """The names that one run-time loop carries, and the types they have settled to."""

    def __init__(self, owner: Translator, assigned: set[str], before: dict[str, Value], later: set[str], all_assigned: set[str],
        stored: set[str],
    ) -> None:  # fmt: skip
        self.stored = stored
        self.assigned, self.before, self.later = assigned, before, later
        self.all_assigned = all_assigned
        self.slots: dict[str, Value] = {}
        self.kinds: dict[str, Any] = {}
        self.widened = False
        self.shrinking = ""  # the count whose decrease bounds the trips of a `while`
        for name in sorted(assigned):
            value = before.get(name)
            if value is not None and not isinstance(value, (Unbound, Function, Known)):
                self.kinds[name] = _kind_of(owner.ctx, value)

    def enter(self, owner: Translator) -> None:
        """Make the slots and set them to the values before the loop."""
        self.slots = {}
        for name, kind in self.kinds.items():
            self.slots[name] = self._slot(owner, name, kind, self.before.get(name))
        owner.env.update(self.slots)

    def _slot(self, owner: Translator, name: str, kind: Any, initial: Value | None) -> Value:
        ctx = owner.ctx
        match kind:
            case ("scalar", dtype, python, low_high):
                variable = ctx.variable(name, dtype)
                if low_high is not None:
                    ctx.ranges[variable.name] = low_high
                value = Const(0, dtype) if initial is None else b.cast(scalar_expr(ctx, initial), dtype)
                ctx.emit(n.Assign(variable.name, value))
                return Scalar(variable, python)
            case ("array", dtype, dims, facts):
                buffer = ctx.buffer(name, dtype, dims, **facts)
                if initial is not None:
                    assert isinstance(initial, Array)
                    ctx.emit(n.Define(buffer.name, initial.axes, b.cast(initial.body, dtype)))
                else:
                    ctx.emit(n.Alloc(buffer.name))
                return ctx.whole(buffer)
            case ("dynamic", dtype, bound, rest, facts):
                buffer = ctx.buffer(name, dtype, (bound, *rest), **facts)
                count = ctx.count(buffer.name, bound)
                ctx.emit(n.Alloc(buffer.name))
                if initial is not None:
                    assert isinstance(initial, Array)
                    owner.fill(buffer, count, initial)
                else:
                    ctx.emit(n.Assign(count.name, b.ZERO))
                return ctx.whole(buffer, (count, *rest))
            case ("seq", kinds, seq_kind):
                items = [None] * len(kinds) if not isinstance(initial, Seq) else list(initial.items)
                return Seq(tuple(self._slot(owner, name, k, i) for k, i in zip(kinds, items, strict=True)), seq_kind)
            case ("same", value):
                return value  # type: ignore[no-any-return]
        raise AssertionError(kind)

    def back(self, owner: Translator) -> None:
        """The end of an iteration: the names' values go into their slots."""
        self._sync(owner)

    def leave(self, owner: Translator, is_break: bool) -> None:
        self._sync(owner, leaving=is_break)
        owner.ctx.emit(n.Break() if is_break else n.Continue())

    def _sync(self, owner: Translator, leaving: bool = False) -> None:
        ctx = owner.ctx
        pending: list[tuple[Value, Value]] = []
        for name in sorted(self.all_assigned):
            value = owner.env.get(name)
            if value is None or isinstance(value, (Unbound, Function, Known)):
                continue
            if name in self.kinds and name not in self.slots:
                continue  # found at another end of this iteration: the loop is translated again
            if name not in self.kinds:
                if name in self.later:
                    self.kinds[name] = _kind_of(ctx, value)
                    self.widened = True
                continue
            wanted = _join_kinds(ctx, name, self.kinds[name], _kind_of(ctx, value), value, self.slots[name])
            if wanted != self.kinds[name]:
                self.kinds[name] = wanted
                self.widened = True
                continue
            if value != self.slots[name]:
                self._check_alias(owner, name, value)
                pending += _pairs(self.slots[name], value)
        if self.widened:
            return
        if self.shrinking and not leaving and not self._shrinks(pending):
            ctx.deferred = ctx.deferred or ctx.error(
                "a list whose length cannot be bounded: it is not clear that every iteration shortens the array that the "
                "loop's condition looks at", "limit the loop (`while len(keep) < n and …`), or drop the element taken with a slice",
            )  # fmt: skip
        self._assign_all(owner, pending)

    def _check_alias(self, owner: Translator, name: str, value: Value) -> None:
        """Two names for one array at the end of an iteration, one of them stored into: copies would not do."""
        if not isinstance(value, Array) or not value.view:
            return
        same = [k for k, v in owner.env.items() if k != name and isinstance(v, Array) and v.view and v.base == value.base]
        stored = self.stored & {name, *same}
        if same and stored:
            owner.ctx.fail(
                f"`{name}` and `{same[0]}` are one array at the end of an iteration, and the loop stores into "
                f"`{sorted(stored)[0]}`", f"write {name} = {same[0]}.copy(), or {name}[:] = {same[0]}",
            )  # fmt: skip

    def _shrinks(self, pending: list[tuple[Value, Value]]) -> bool:
        """Whether the array that bounds the trips is shorter at the end of the iteration."""
        for slot, value in pending:
            if isinstance(slot, Array) and slot.dims and slot.dims[0] == Var(self.shrinking) and isinstance(value, Array):
                dim = value.dims[0]
                match dim:
                    case Apply("maximum", (inner, Const(0)), "index"):
                        dim = inner
                    case _:
                        pass
                gap = b.difference(dim, Var(self.shrinking))
                return gap is not None and gap < 0
        return False

    def _assign_all(self, owner: Translator, pending: list[tuple[Value, Value]]) -> None:
        """The slots take their values at once: what reads a slot that changes is evaluated first."""
        ctx = owner.ctx
        changing = {s.expr.name for s, _ in pending if isinstance(s, Scalar) and isinstance(s.expr, Var)}
        moving = {s.base for s, _ in pending if isinstance(s, Array)}
        changing |= {v for s, _ in pending if isinstance(s, Array) for d in s.dims for v in variables_read(d)}
        settled: list[tuple[Value, Value]] = []
        for slot, value in pending:
            if isinstance(slot, Scalar):
                expr = b.cast(scalar_expr(ctx, value), slot.dtype)
                others = changing - {slot.expr.name}  # type: ignore[union-attr]
                if len(pending) > 1 and (variables_read(expr) & others or buffers_read(expr) & moving):
                    expr = ctx.let(expr, "next")
                    if isinstance(expr, Var) and expr.name in changing:
                        held = ctx.fresh("next")
                        ctx.emit(n.Let(held, expr))
                        expr = Var(held, slot.dtype)
                settled.append((slot, Scalar(expr, slot.python)))
            elif isinstance(slot, Array) and isinstance(value, Array):
                reads = buffers_read(value.body) | (set() if value.mask is None else buffers_read(value.mask))
                if len(pending) > 1 and reads & (moving - {slot.base}):
                    value = ctx.define(value, f"next_{slot.base}")
                settled.append((slot, value))
            else:
                settled.append((slot, value))
        for slot, value in settled:
            if isinstance(slot, Scalar):
                assert isinstance(slot.expr, Var) and isinstance(value, Scalar)
                ctx.emit(n.Assign(slot.expr.name, value.expr))
            elif isinstance(slot, Array):
                assert isinstance(value, Array)
                size = slot.dims[0] if slot.dims else None
                if isinstance(size, Var) and size.name == f"{slot.base}.size":
                    owner.fill(ctx.buffers[slot.base], size, value)
                else:
                    ctx.emit(n.Write(slot.base, value.axes, tuple(a.var for a in value.axes), value.body))

    def after(self, owner: Translator) -> dict[str, Value]:
        env = dict(self.before)
        env.update(self.slots)
        for name in self.all_assigned:
            if name not in self.slots and name not in self.before:
                env[name] = Unbound(f"`{name}` is only set inside the loop")
        # what the body did to lists and in place is in their own memory
        return env


def _pairs(slot: Value, value: Value) -> list[tuple[Value, Value]]:
    if isinstance(slot, Seq) and isinstance(value, Seq):
        return [p for s, v in zip(slot.items, value.items, strict=True) if s != v for p in _pairs(s, v)]
    return [(slot, value)]


def _kind_of(ctx: Context, value: Value) -> Any:
    """The type of a carried value: what a slot for it must be."""
    match value:
        case Static() if is_number(value):
            expr = static_expr(value.value)
            return ("scalar", expr.dtype, is_python_number(value), ctx.range_of(expr))
        case Scalar(expr, python):
            return ("scalar", expr.dtype, python, ctx.range_of(expr))
        case Array(axes=()) if value.mask is None:
            return ("scalar", value.dtype, False, None)
        case Array():
            low_high = ctx.range_of(value.body)
            facts = {} if low_high is None else {"low": low_high[0], "high": low_high[1]}
            if value.mask is None:
                return ("array", value.dtype, value.dims, facts)
            return ("dynamic", value.dtype, _bound_of(ctx, value.dims[0]), value.dims[1:], facts)
        case Seq(items, kind):
            return ("seq", tuple(_kind_of(ctx, i) for i in items), kind)
        case _:
            return ("same", value)


def _join_kinds(ctx: Context, name: str, old: Any, new: Any, value: Value, slot: Value) -> Any:
    if old == new:
        return old
    match old, new:
        case ("scalar", d1, p1, r1), ("scalar", d2, p2, r2):
            joined = join_dtypes(d1, p1, d2, p2)
            if joined is None:
                ctx.fail(f"`{name}` changes its type in the loop, from {d1} to {d2}", "give it one type before the loop")
            return ("scalar", *joined, r1 if r1 == r2 else None)
        case ("array", d1, s1, f1), ("array", d2, s2, f2) if d1 == d2 and len(s1) == len(s2):
            facts = f1 if f1 == f2 else {}
            if s1 == s2:
                return ("array", d1, s1, facts)
            if s1[1:] == s2[1:]:
                return _dynamic(ctx, name, d1, s1[0], s2[0], s1[1:], facts, slot)
        case ("array", d1, s1, f1), ("dynamic", d2, bound, rest, f2) if d1 == d2 and s1[1:] == rest:
            return _dynamic(ctx, name, d1, s1[0], bound, rest, f1 if f1 == f2 else {}, slot)
        case ("dynamic", d1, bound, rest, f1), ("array", d2, s2, f2) if d1 == d2 and s2[1:] == rest:
            inner = _bound_of(ctx, s2[0])
            if inner is not None and b.at_least(bound, inner):
                return ("dynamic", d1, bound, rest, f1 if f1 == f2 else {})
        case ("dynamic", d1, bound, rest, f1), ("dynamic", d2, inner, rest2, f2) if d1 == d2 and rest == rest2:
            if inner is not None and b.at_least(bound, inner):
                return ("dynamic", d1, bound, rest, f1 if f1 == f2 else {})
        case ("seq", k1, kind), ("seq", k2, _) if len(k1) == len(k2) and isinstance(slot, Seq):
            return ("seq", tuple(
                _join_kinds(ctx, name, x, y, value, s) for x, y, s in zip(k1, k2, slot.items, strict=True)
            ), kind)  # fmt: skip
        case _:
            pass
    ctx.fail(
        f"`{name}` changes its type or shape in the loop: {describe(slot)} before, {describe(value)} after",
        "give it one dtype and shape before the loop, or a shape that only shrinks",
    )


def _dynamic(
    ctx: Context, name: str, dtype: str, before: Expr, after: Expr, rest: tuple[Expr, ...], facts: dict[str, Any], slot: Value
) -> Any:
    bound = _bound_of(ctx, before)
    inner = _bound_of(ctx, after)
    if bound is None or inner is None or not b.at_least(bound, inner):
        ctx.fail(f"`{name}` may grow in the loop", "allocate it at its final size before the loop, or append to a list")
    return ("dynamic", dtype, bound, rest, facts)


def _bound_of(ctx: Context, dim: Expr) -> Expr | None:
    """An upper bound of a size over what is known before any loop."""
    match dim:
        case Const():
            return dim
        case Var(name):
            if name in ctx.bounds:
                return _bound_of(ctx, ctx.bounds[name])
            if name in ctx.ranges:
                return _bound_of(ctx, b.sub(ctx.ranges[name][1], b.ONE))
            return dim if b.is_size_name(name) and name not in ctx.variables else None
        case _:
            pass
    match dim:
        case Apply("maximum", (x, y), "index"):
            p, q = _bound_of(ctx, x), _bound_of(ctx, y)
            return None if p is None or q is None else b.maximum(p, q)
        case Apply("minimum", (x, y), "index"):
            p, q = _bound_of(ctx, x), _bound_of(ctx, y)
            return p if q is None else q if p is None else b.minimum(p, q)
        case Apply("where", (_, x, y), "index"):
            p, q = _bound_of(ctx, x), _bound_of(ctx, y)
            return None if p is None or q is None else b.maximum(p, q)
        case Apply("add" | "multiply", (x, y), "index"):
            p, q = _bound_of(ctx, x), _bound_of(ctx, y)
            if p is None or q is None:
                return None
            return b.add(p, q) if dim.op == "add" else b.mul(p, q)
        case Apply("subtract", (x, y), "index"):
            p = _bound_of(ctx, x)
            if p is None:
                return None
            return b.sub(p, y) if isinstance(y, Const) else (p if b.is_nonnegative(y) else None)
        case Apply("floor_divide", (x, Const(value)), "index"):
            p = _bound_of(ctx, x)
            return None if p is None else b.floordiv(p, b.index(int(value)))  # type: ignore[arg-type]
        case _:
            return None


def _trip_bound(ctx: Context, condition: Expr, state: _LoopState) -> Expr | None:
    """How often a `while` runs at most, where its condition is ``size > 0`` of an array that every iteration shortens
    (checked when the loop is lowered) or ``count < limit`` of a list that grows."""
    state.shrinking = ""

    def conjuncts(e: Expr) -> list[Expr]:
        if isinstance(e, Apply) and e.op == "and_then":
            return conjuncts(e.args[0]) + conjuncts(e.args[1])
        return [e]

    for part in conjuncts(condition):
        match part:
            case Apply("greater" | "not_equal", (Var(name), Const(0)), _) if name in ctx.bounds:
                slots = [s for s in state.slots.values() if isinstance(s, Array) and s.dims and s.dims[0] == Var(name)]
                if slots:
                    state.shrinking = name
                    return _bound_of(ctx, ctx.bounds[name])
            case _:
                pass
    return None


def _trips(start: Expr, stop: Expr, step: Expr) -> Expr:
    size = b.constant(step) or 1
    span = b.maximum(b.sub(stop, start) if size > 0 else b.sub(start, stop), b.ZERO)
    return b.floordiv(b.add(span, b.index(abs(size) - 1)), b.index(abs(size)))


def _stable(ctx: Context, condition: Expr) -> Expr:
    """The parts of a condition that stay true as long as its loop's slots are not assigned: those on sizes that only
    change there, at the end of an iteration."""
    parts = [
        p for p in conjuncts(condition)
        if all(b.is_size_name(v) and v not in ctx.list_counts for v in variables_read(p)) and not buffers_read(p)
    ]  # fmt: skip
    result: Expr = b.TRUE
    for p in parts:
        result = b.both(result, p)
    return result


def _zero(dtype: str) -> Const:
    return Const(False, dtype) if dtype == "bool" else Const(0.0 if dtype.startswith("float") else 0, dtype)


def _condition(value: Value) -> Expr:
    if isinstance(value, Static):
        return b.TRUE if value.value else b.FALSE
    assert isinstance(value, Scalar)
    return value.expr


def join_dtypes(d1: str, p1: bool, d2: str, p2: bool) -> tuple[str, bool] | None:
    """The type of a scalar that is one of two types; a Python number takes the type of a NumPy scalar."""
    if (d1, p1) == (d2, p2):
        return d1, p1
    if p1 and p2:
        order = ["bool", "index", "float64", "complex128"]
        if "bool" in (d1, d2):
            return None
        return order[max(order.index(d1), order.index(d2))], True
    weak = {"index": 0, "float64": 0.0, "complex128": 0j}
    if p1 != p2:
        python, other = (d1, d2) if p1 else (d2, d1)
        if python == "bool" or other == "bool":
            return ("bool", False) if python == other else None
        joined = np.result_type(weak[python], np.dtype(other)).name
        return str(joined), False
    return None if "bool" in (d1, d2) else (str(np.result_type(d1, d2).name), False)


def scalar_kind(one: Value, two: Value) -> tuple[str, bool] | None:
    kinds = []
    for v in (one, two):
        if isinstance(v, Static) and is_number(v):
            kinds.append((static_expr(v.value).dtype, is_python_number(v)))
        elif isinstance(v, Scalar):
            kinds.append((v.dtype, v.python))
        elif isinstance(v, Array) and v.ndim == 0 and not v.view:
            kinds.append((v.dtype, False))
        else:
            return None
    return join_dtypes(*kinds[0], *kinds[1])


def _identical(x: Value, y: Value) -> bool | None:
    if isinstance(x, Static) and isinstance(y, Static):
        return x.value is y.value or (type(x.value) is type(y.value) and x.value == y.value)
    if (isinstance(x, Static) and x.value is None) or (isinstance(y, Static) and y.value is None):
        return False
    if isinstance(x, Array) and isinstance(y, Array) and x.identity and y.identity:
        return x.identity == y.identity
    return None


def _symbolic(ctx: Context, expr: Expr) -> bool:
    """A linear form of sizes that do not change before the end of the iteration: kept as it is, so that what is known of
    the sizes is known of it."""
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


def _assigned_names(body: Sequence[ast.stmt]) -> set[str]:
    """Names that the statements rebind (stores into arrays and appends do not)."""
    names: set[str] = set()
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
                names.add(node.id)
            elif isinstance(node, (ast.Lambda, ast.ListComp, ast.GeneratorExp)):
                pass
    return names


@functools.cache
def _stored_names(node: ast.AST) -> frozenset[str]:
    """Names whose elements the function stores to: ``x[…] = …``, ``x += …``."""
    names = set()
    for child in ast.walk(node):
        match child:
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()):
                names.add(name)
            case ast.AugAssign(target=ast.Name(id=name)):
                names.add(name)
            case ast.keyword(arg="out", value=ast.Name(id=name)):
                names.add(name)
            case _:
                pass
    return frozenset(names)


def _appended_names(node: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """Names of lists that the function appends to, or adds to, somewhere."""
    names = set()
    for child in ast.walk(node):
        match child:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append" | "extend" | "insert" | "pop")):
                names.add(name)
            case _:
                pass
    return frozenset(names)


def _names_used_outside(function: ast.FunctionDef | ast.Lambda, loop: ast.stmt) -> set[str]:
    inside = {id(x) for x in ast.walk(loop)}
    return {
        x.id for x in ast.walk(function) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Load) and id(x) not in inside
    }


def _rebound_names(body: Sequence[ast.stmt]) -> set[str]:
    """Names bound otherwise than by an augmented assignment."""
    augmented = {
        id(x.target) for s in body for x in ast.walk(s) if isinstance(x, ast.AugAssign) and isinstance(x.target, ast.Name)
    }
    return {
        x.id for s in body for x in ast.walk(s)
        if isinstance(x, ast.Name) and isinstance(x.ctx, (ast.Store, ast.Del)) and id(x) not in augmented
    }  # fmt: skip


def _stored_in(body: Sequence[ast.stmt]) -> set[str]:
    """Names whose elements the statements store to."""
    return {name for s in body for name in _stored_names(s)}


def _returns(statement: ast.stmt) -> bool:
    return any(isinstance(x, ast.Return) for x in ast.walk(statement))
