"""Expressions: operators, names, comparisons, conditionals, comprehensions, and calls of the user's own functions.

`Expressions` is the lower half of `translate.Translator`, which adds statements and control flow.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

import numpy as np

from transkern.frontend import attributes, functions, iterating
from transkern.frontend.carried import LoopState
from transkern.frontend.context import Context
from transkern.frontend.elementwise import (
    apply,
    describe,
    is_number,
    scalar_expr,
    truth,
)  # fmt: skip
from transkern.frontend.indexing import Item, SliceValue, subscript
from transkern.frontend.source import span_of
from transkern.frontend.syntax import (
    appended_names,
    assigned_names,
)  # fmt: skip
from transkern.frontend.trips import condition_of, zero
from transkern.frontend.types_of_scalars import scalar_kind
from transkern.frontend.values import (
    Array,
    Function,
    GrowingList,
    Known,
    Method,
    Scalar,
    Scope,
    Seq,
    Static,
    Unbound,
    Value,
)  # fmt: skip
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "subtract", ast.Mult: "multiply", ast.Div: "divide", ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder", ast.Pow: "power", ast.BitAnd: "bitwise_and", ast.BitOr: "bitwise_or",
    ast.BitXor: "bitwise_xor", ast.LShift: "left_shift", ast.RShift: "right_shift",
}  # fmt: skip
_UNARY: dict[type[ast.unaryop], str] = {ast.USub: "negative", ast.UAdd: "positive", ast.Invert: "invert"}
_COMPARE: dict[type[ast.cmpop], str] = {
    ast.Lt: "less", ast.LtE: "less_equal", ast.Gt: "greater", ast.GtE: "greater_equal", ast.Eq: "equal",
    ast.NotEq: "not_equal",
}  # fmt: skip
INLINE_DEPTH = 32
RETURN = "return"  # the pseudo-name that holds an inlined function's value


class Expressions:
    """The translation of one function body's expressions, over its names `env`."""

    # from `translate.Translator`
    operate: Callable[[str, Value, Value], Value]
    message: Callable[[ast.expr | None], tuple[str, tuple[Expr, ...]]]
    elements: Callable[[Value, int, ast.AST], list[Value]]
    run: Callable[[], Value]
    assign: Callable[[ast.expr, Value], None]
    block: Callable[[Sequence[ast.stmt]], bool]
    statement: Callable[[ast.stmt], None]
    settle: Callable[[Value, str], Value]
    growing: Callable[[str, Seq], GrowingList]
    join: Callable[[str, Value, Value, list[n.Stmt], list[n.Stmt]], Value]

    def __init__(
        self, ctx: Context, scope: Scope, node: ast.FunctionDef | ast.Lambda, env: dict[str, Value], inlined: bool
    ):
        self.ctx, self.scope, self.node, self.env, self.inlined = ctx, scope, node, env, inlined
        self.loops: list[LoopState] = []
        self.appended = appended_names(node)
        self.ended = False
        self.handed_out: set[str] = set()  # buffers that results stand in

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
            case ast.Constant(value=constant):
                return Static(constant)
            case ast.Name(id=name):
                return self.name(name, node)
            case ast.BinOp(left=left, op=op, right=right):
                x, y = self.expr(left), self.expr(right)
                with At(ctx, node, self.scope.file):
                    return self.operate(BINARY.get(type(op), "matmul"), x, y)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                value = truth(ctx, self.expr(operand))
                if isinstance(value, Static):
                    return Static(not value.value)
                assert isinstance(value, Scalar)
                return Scalar(b.logical_not(value.expr), True)
            case ast.UnaryOp(op=op, operand=operand):
                inner = self.expr(operand)
                with At(ctx, node, self.scope.file):
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
                with At(ctx, node, self.scope.file):
                    return subscript(ctx, base, items)
            case ast.Attribute(value=value, attr=attr):
                with At(ctx, node, self.scope.file):
                    return attributes.attribute(ctx, self.expr(value), attr)
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
            if name in assigned_names(getattr(self.node, "body", []) if isinstance(self.node, ast.FunctionDef) else []):
                self.ctx.guard(
                    b.FALSE, "UnboundLocalError",
                    f"cannot access local variable '{name}' where it is not associated with a value",
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

    def comparison(
        self, node: ast.Compare, left: ast.expr, ops: Sequence[ast.cmpop], others: Sequence[ast.expr]
    ) -> Value:
        ctx = self.ctx
        x = self.expr(left)
        result: Value | None = None
        for op, other in zip(ops, others, strict=True):
            y = self.expr(other)
            with At(ctx, node, self.scope.file):
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
            found = iterating.contains(ctx, x, y)
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
            return Scalar(b.both(condition_of(truth(self.ctx, x)), condition_of(truth(self.ctx, y))), y.python)
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
            conditions.append(condition_of(decided))
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
                self.ctx.emit(n.Assign(s.name, zero(s.value.dtype)))
                extra[position] = n.Assign(s.name, s.value, span=s.span)
        if any(isinstance(s, (n.Define, n.Alloc)) for s in extra):
            self.ctx.fail("this operand of and/or computes an array", "compute it before, or use an if statement")
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
        counted = iterating.iteration(ctx, self.expr(generator.iter))
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
        with At(ctx, node, self.scope.file):
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

    def inline(
        self, function: Function, positional: Sequence[Value], keywords: dict[str, Value], node: ast.AST
    ) -> Value:
        ctx = self.ctx
        if ctx.depth >= INLINE_DEPTH:
            ctx.fail(f"`{function.name}` calls itself too deeply", "write the recursion as a loop", node)
        env = bind_arguments(ctx, function, positional, keywords, self)
        if isinstance(function.node, ast.FunctionDef):
            env = {k: self.settle(v, k) for k, v in env.items()}
        outer = (ctx.lines, ctx.file, ctx.span)
        ctx.lines, ctx.file = function.scope.lines, function.scope.file
        ctx.depth += 1
        try:
            inner = type(self)(ctx, function.scope, function.node, {**function.closure, **env}, True)
            return inner.run()
        finally:
            ctx.depth -= 1
            ctx.lines, ctx.file, ctx.span = outer


class At:
    """Errors inside point at `node`."""

    def __init__(self, ctx: Context, node: ast.AST, file: str) -> None:
        self.ctx, self.span = ctx, span_of(node, file)

    def __enter__(self) -> None:
        self.outer, self.ctx.span = self.ctx.span, self.span

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if kind is None:
            self.ctx.span = self.outer


def bind_arguments(
    ctx: Context,
    function: Function,
    positional: Sequence[Value],
    keywords: dict[str, Value],
    caller: Expressions | None,
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
            owner = Expressions(ctx, function.scope, function.node, dict(function.closure), True)
            env[name] = owner.expr(defaults[name])
    return env


def _identical(x: Value, y: Value) -> bool | None:
    if isinstance(x, Static) and isinstance(y, Static):
        return x.value is y.value or (type(x.value) is type(y.value) and x.value == y.value)
    if (isinstance(x, Static) and x.value is None) or (isinstance(y, Static) and y.value is None):
        return False
    if isinstance(x, Array) and isinstance(y, Array) and x.identity and y.identity:
        return x.identity == y.identity
    return None
