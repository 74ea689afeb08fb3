"""Calls of certain functions, each a statement of its own (of a function by itself: `recursion`; of functions that bind
names of the one around them: `nonlocals`):

    return x[i] + f(x, i + 1)        ->        before-1 = x[i]
                                               call-2 = f(x, i + 1)
                                               return before-1 + call-2

What is evaluated before such a call gets a name, as the call may change what it is made of.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TypeAlias

from transkern.frontend.loops.folds import empty_text
from transkern.frontend.python import compensated
from transkern.frontend.syntax.desugar import CATCHES, assign, load, placed
from transkern.parsing import all_nodes, child_nodes

IsSelf: TypeAlias = Callable[[ast.AST], bool]
"""Whether a node is such a call."""

_USE_ALL = frozenset(["sum", "min", "max", "list", "tuple", "sorted", "set", "frozenset"])
"""Functions that go through all that they are given before they do anything that others see."""


_FOLDS = frozenset(["min", "max"] if compensated.IS_COMPENSATED else ["sum", "min", "max"])
VALUE_ERROR = "value-error"
"""The name of `ValueError` in what is made here, whatever the user's own means."""


class NotRewritten(Exception):
    """Why a function cannot be written otherwise: a noun with its article."""

    def __init__(self, problem: str, node: ast.AST | None = None) -> None:
        super().__init__(problem)
        self.problem, self.node = problem, node


def hoisted(
    body: Sequence[ast.stmt], is_self: IsSelf, python: Callable[[str], bool], changing: Collection[str] = ()
) -> list[ast.stmt]:
    """`body` where calls that `is_self` tells stand only as ``name = call``, or as ``call`` alone. `python` tells
    whether a name means Python's own function; `changing` are names that such a call may bind to something else."""
    return _Hoisting(is_self, python, changing).block(body)


class _Hoisting:
    def __init__(self, is_self: IsSelf, python: Callable[[str], bool], changing: Collection[str]) -> None:
        self.is_self, self.python, self.changing, self.count = is_self, python, changing, 0

    def _fresh(self, word: str) -> str:
        self.count += 1
        return f"{word}-{self.count}"

    def has(self, *nodes: ast.AST | None) -> bool:
        """Whether such a call stands in some nodes, but for functions that are defined there."""
        todo: list[ast.AST] = [node for node in nodes if node is not None]
        while todo:
            node = todo.pop()
            if self.is_self(node):
                return True
            if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                todo += child_nodes(node)
        return False

    # --- statements

    def block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        return [made for s in body for made in (self.statement(s) if self.has(s) else [s])]

    def statement(self, s: ast.stmt) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        made = self._statement(s, out)
        return [*out, ast.copy_location(made, s)]

    def _statement(self, s: ast.stmt, out: list[ast.stmt]) -> ast.stmt:
        """What is left of a statement behind what it evaluates first, which `out` gets."""
        match s:
            case ast.Expr(value):
                return ast.Expr(self.call(value, out) if self.is_self(value) else self.expr(value, out))
            case ast.Return(ast.expr() as value):
                return ast.Return(self.expr(value, out))
            case ast.Assign(targets, value) if not self.has(*targets):
                alone = len(targets) == 1 and is_names(targets[0]) and self.is_self(value)
                return ast.Assign(targets, self.call(value, out) if alone else self.expr(value, out))
            case ast.AnnAssign(target, annotation, ast.expr() as value, simple) if not self.has(target):
                return ast.AnnAssign(target, annotation, self.expr(value, out), simple)
            case ast.AugAssign(target, op, value) if not self.has(target):
                return self._augmented(target, op, value, s, out)
            case ast.If(test, body, orelse):
                return ast.If(self.expr(test, out), self.block(body), self.block(orelse))
            case ast.While(test, body, []):
                return self._while(test, body, s)
            case ast.For(target, iterable, body, []) if not self.has(target) and not hasattr(s, CATCHES):
                return ast.For(target, self.expr(iterable, out), self.block(body), [])
            case ast.With(items, body) if not self.has(*(i.context_expr for i in items)):
                return ast.With(items, self.block(body))
            case _:
                what = "`try`" if hasattr(s, CATCHES) else f"`{ast.unparse(s).splitlines()[0]}`"
                raise NotRewritten(f"a call of itself in {what}", s)

    def _augmented(
        self, target: ast.expr, op: ast.operator, value: ast.expr, s: ast.stmt, out: list[ast.stmt]
    ) -> ast.stmt:
        """``x[i] += f(…)``: the element is read before the call."""
        if isinstance(target, ast.Name) and target.id not in self.changing:
            return ast.AugAssign(target, op, self.expr(value, out))
        held = self._fresh("before")
        target = self._once(target, out)
        out.append(assign(held, _reading(target), s))
        given = self.expr(value, out)
        out.append(placed(ast.AugAssign(ast.Name(held, ast.Store()), op, given), s))
        return ast.Assign([target], load(held))

    def _once(self, target: ast.expr, out: list[ast.stmt]) -> ast.expr:
        """A target whose parts are evaluated once, though it is read and stored to."""
        match target:
            case ast.Name():
                return target
            case ast.Subscript(value, index, ctx):
                return ast.copy_location(ast.Subscript(self._named(value, out), self._named(index, out), ctx), target)
            case ast.Attribute(value, name, ctx):
                return ast.copy_location(ast.Attribute(self._named(value, out), name, ctx), target)
            case _:
                raise NotRewritten("a call of itself behind such an assignment", target)

    def _while(self, test: ast.expr, body: Sequence[ast.stmt], s: ast.stmt) -> ast.stmt:
        if not self.has(test):
            return ast.While(test, self.block(body), [])
        before: list[ast.stmt] = []
        ends = ast.UnaryOp(ast.Not(), self.expr(test, before))
        leave = placed(ast.If(ends, [ast.Break()], []), s)
        return placed(ast.While(ast.Constant(True), [*before, leave, *self.block(body)], []), s)

    # --- expressions

    def call(self, node: ast.expr, out: list[ast.stmt]) -> ast.expr:
        """A call of the function itself, with arguments in which there is none."""
        assert isinstance(node, ast.Call)
        values = self._in_order([*node.args, *(k.value for k in node.keywords)], out)
        keywords = [ast.keyword(k.arg, v) for k, v in zip(node.keywords, values[len(node.args) :], strict=True)]
        return ast.copy_location(ast.Call(node.func, values[: len(node.args)], keywords), node)

    def expr(self, node: ast.expr, out: list[ast.stmt]) -> ast.expr:
        """`node` without a call of the function itself: `out` gets the statements before it."""
        if not self.has(node):
            return node
        if self.is_self(node):
            name = self._fresh("call")
            out.append(assign(name, self.call(node, out), node))
            return ast.copy_location(load(name), node)
        match node:
            case ast.BoolOp(op, [first, *others]) if self.has(*others):
                return self._decided(op, first, others, node, out)
            case ast.IfExp(test, body, orelse) if self.has(body, orelse):
                return self._conditional(test, body, orelse, node, out)
            case ast.ListComp(elt, generators):
                return self._listed(elt, generators, node, out)
            case ast.Call(ast.Name(name), [ast.GeneratorExp(elt, generators) | ast.ListComp(elt, generators)], []) if (
                name in _FOLDS and self.python(name)
            ):  # fmt: skip
                return self._folded(name, elt, generators, node, out)
            case ast.Call(ast.Name("min" | "max" as name), [ast.GeneratorExp(elt, generators)], [
                ast.keyword("default", default)
            ]) if self.python(name) and self._stays(default):  # fmt: skip
                return self._folded_or(default, name, elt, generators, node, out)
            case ast.Call(ast.Name(name), [ast.GeneratorExp(elt, generators)], []) if self._uses_all(name):
                made = self._listed(elt, generators, node, out)
                return ast.copy_location(ast.Call(node.func, [made], []), node)
            case ast.Call(ast.Name(name), [ast.GeneratorExp(elt, generators)], []) if (
                name in ("any", "all") and self.python(name)
            ):  # fmt: skip
                return self._until(name == "any", elt, generators, node, out)
            case ast.Compare(_, [_, _, *_], [_, *others]) if self.has(*others):
                raise NotRewritten("a call of itself in a chained comparison, which need not come to it", node)
            case ast.Dict() | ast.NamedExpr() | ast.Await() | ast.Yield() | ast.YieldFrom():
                raise NotRewritten(f"a call of itself in `{ast.unparse(node)}`", node)
            case ast.Lambda() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                raise NotRewritten(f"a call of itself in `{ast.unparse(node)}`, which is a function of its own", node)
            case _:
                return self._rebuilt(node, out)

    def _uses_all(self, name: str) -> bool:
        return name in _USE_ALL and self.python(name)

    def _stays(self, node: ast.expr) -> bool:
        """Whether it does not matter when a value (`default=math.inf`) is evaluated."""
        match node:
            case ast.Attribute(ast.Name(owner)):
                return owner not in self.changing
            case ast.Call(ast.Name("float"), [ast.Constant()], []):
                return self.python("float")
            case ast.UnaryOp(_, operand):
                return self._stays(operand)
            case _:
                return is_fixed(node, self.changing)

    def _rebuilt(self, node: ast.expr, out: list[ast.stmt]) -> ast.expr:
        """Any other expression, all of whose parts are evaluated, from left to right."""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):  # its method is looked up first
            owner, *rest = self._in_order([node.func.value, *node.args, *(k.value for k in node.keywords)], out)
            func = ast.copy_location(ast.Attribute(owner, node.func.attr, ast.Load()), node.func)
            pairs = zip(node.keywords, rest[len(node.args) :], strict=True)
            keywords = [ast.keyword(k.arg, v) for k, v in pairs]
            return ast.copy_location(ast.Call(func, rest[: len(node.args)], keywords), node)
        made = copy.copy(node)
        parts = [(name, value) for name, value in ast.iter_fields(node)]
        flat = [x for _, value in parts for x in (value if isinstance(value, list) else [value]) if _is_part(x)]
        inner = iter(self._in_order([x.value if isinstance(x, ast.keyword) else x for x in flat], out))
        for name, value in parts:
            if isinstance(value, list):
                setattr(made, name, [_with(x, next(inner)) if _is_part(x) else x for x in value])
            elif _is_part(value):
                setattr(made, name, next(inner))
        return made

    def _in_order(self, values: Sequence[ast.expr], out: list[ast.stmt]) -> list[ast.expr]:
        """Values that are evaluated one after the other: those before a call of the function itself have names."""
        last = max((k for k, v in enumerate(values) if self.has(v)), default=-1)
        made: list[ast.expr] = []
        for k, value in enumerate(values):
            if isinstance(value, ast.Starred) and k <= last:
                inner = self._named(value.value, out) if k < last else self.expr(value.value, out)
                made.append(ast.copy_location(ast.Starred(inner, value.ctx), value))
            elif isinstance(value, ast.Slice) and k <= last:
                made.append(self._rebuilt(value, out))
            else:
                made.append(self._named(value, out) if k < last else self.expr(value, out))
        return made

    def _named(self, value: ast.expr, out: list[ast.stmt]) -> ast.expr:
        """A value that is evaluated now, whatever comes before it is used."""
        if is_fixed(value, self.changing):
            return value
        made = self.expr(value, out)
        if isinstance(made, ast.Name) and made.id not in self.changing:
            return made
        name = self._fresh("before")
        out.append(assign(name, made, value))
        return ast.copy_location(load(name), value)

    def _decided(
        self, op: ast.boolop, first: ast.expr, others: Sequence[ast.expr], node: ast.expr, out: list[ast.stmt]
    ) -> ast.expr:
        """``a and f(…)``: the right side is evaluated where the left does not decide."""
        name = self._fresh("value")
        out.append(assign(name, self.expr(first, out), first))
        inner = out
        for value in others:
            test = load(name) if isinstance(op, ast.And) else ast.UnaryOp(ast.Not(), load(name))
            body: list[ast.stmt] = []
            body.append(assign(name, self.expr(value, body), value))
            inner.append(placed(ast.If(test, body, []), value))
            inner = body
        return ast.copy_location(load(name), node)

    def _conditional(
        self, test: ast.expr, body: ast.expr, orelse: ast.expr, node: ast.expr, out: list[ast.stmt]
    ) -> ast.expr:
        name = self._fresh("value")
        paths: list[list[ast.stmt]] = [[], []]
        for value, path in zip((body, orelse), paths, strict=True):
            path.append(assign(name, self.expr(value, path), value))
        out.append(placed(ast.If(self.expr(test, out), *paths), node))
        return ast.copy_location(load(name), node)

    # --- comprehensions

    def _listed(
        self, elt: ast.expr, generators: Sequence[ast.comprehension], node: ast.expr, out: list[ast.stmt]
    ) -> ast.expr:
        name = self._fresh("list")
        out.append(assign(name, ast.List([], ast.Load()), node))

        def append(value: ast.expr, inner: list[ast.stmt]) -> None:
            put = ast.Attribute(load(name), "append", ast.Load())
            inner.append(placed(ast.Expr(ast.Call(put, [value], [])), value))

        self._loops(elt, generators, append, node, out)
        return ast.copy_location(load(name), node)

    def _folded(
        self, name: str, elt: ast.expr, generators: Sequence[ast.comprehension], node: ast.expr, out: list[ast.stmt]
    ) -> ast.expr:
        """`sum`, `min` or `max` of what a comprehension makes, of which no list is kept."""
        held = self._fresh("value")
        out.append(assign(held, ast.Constant(0 if name == "sum" else None), node))
        none = ast.Compare(load(held), [ast.Is()], [ast.Constant(None)])

        def use(value: ast.expr, inner: list[ast.stmt]) -> None:
            if name == "sum":
                inner.append(assign(held, ast.BinOp(load(held), ast.Add(), value), value))
                return
            one = self._fresh("element")
            order: ast.cmpop = ast.Lt() if name == "min" else ast.Gt()
            better = ast.If(ast.Compare(load(one), [order], [load(held)]), [assign(held, load(one), value)], [])
            inner += [
                assign(one, value, value), placed(ast.If(none, [assign(held, load(one), value)], [better]), value)
            ]  # fmt: skip

        self._loops(elt, generators, use, node, out)
        if name != "sum":
            raised = ast.Raise(ast.Call(load(VALUE_ERROR), [ast.Constant(empty_text(name))], []))
            out.append(placed(ast.If(none, [raised], []), node))
        return ast.copy_location(load(held), node)

    def _folded_or(
        self, default: ast.expr, name: str, elt: ast.expr, generators: Sequence[ast.comprehension], node: ast.expr,
        out: list[ast.stmt],
    ) -> ast.expr:  # fmt: skip
        """`min` or `max` of what a comprehension makes, or `default` where that is nothing."""
        held, some, one = self._fresh("value"), self._fresh("some"), self._fresh("element")
        out += [assign(held, default, node), assign(some, ast.Constant(False), node)]
        order: ast.cmpop = ast.Lt() if name == "min" else ast.Gt()

        def use(value: ast.expr, inner: list[ast.stmt]) -> None:
            better = ast.If(ast.Compare(load(one), [order], [load(held)]), [assign(held, load(one), value)], [])
            first = [assign(held, load(one), value), assign(some, ast.Constant(True), value)]
            inner += [assign(one, value, value), placed(ast.If(load(some), [better], first), value)]

        self._loops(elt, generators, use, node, out)
        return ast.copy_location(load(held), node)

    def _until(
        self, found: bool, elt: ast.expr, generators: Sequence[ast.comprehension], node: ast.expr, out: list[ast.stmt]
    ) -> ast.expr:
        """`any` (`found`) or `all` of a generator expression."""
        if len(generators) != 1:
            raise NotRewritten("a call of itself in a generator expression of several loops", node)
        name = self._fresh("value")
        out.append(assign(name, ast.Constant(not found), node))

        def test(value: ast.expr, inner: list[ast.stmt]) -> None:
            hit = value if found else ast.UnaryOp(ast.Not(), value)
            inner.append(placed(ast.If(hit, [assign(name, ast.Constant(found), node), ast.Break()], []), value))

        self._loops(elt, generators, test, node, out)
        return ast.copy_location(load(name), node)

    def _loops(
        self, elt: ast.expr, generators: Sequence[ast.comprehension],
        use: Callable[[ast.expr, list[ast.stmt]], None], node: ast.expr, out: list[ast.stmt],
    ) -> None:  # fmt: skip
        """The loops of a comprehension, whose names are its own; `use` makes statements of an element."""
        if any(isinstance(x, ast.Lambda) for g in generators for x in all_nodes(g)):
            raise NotRewritten("a call of itself in a comprehension with functions of its own", node)
        self.count += 1
        names = {x.id for g in generators for x in all_nodes(g.target) if isinstance(x, ast.Name)}
        renamed = _Renamed(names, self.count)
        inner = out
        for k, g in enumerate(generators):
            iterable = self.expr(g.iter if k == 0 else renamed(g.iter), inner)
            body: list[ast.stmt] = []
            inner.append(placed(ast.For(renamed(g.target), iterable, body, []), node))
            inner = body
            for test in g.ifs:
                then: list[ast.stmt] = []
                inner.append(placed(ast.If(self.expr(renamed(test), inner), then, []), node))
                inner = then
        use(self.expr(renamed(elt), inner), inner)


class _Renamed(ast.NodeTransformer):
    """Expressions of a comprehension, its names told from those of the function around it."""

    def __init__(self, names: Iterable[str], number: int) -> None:
        self.names = {name: f"{name}-of-{number}" for name in names}

    def __call__(self, node: ast.expr) -> ast.expr:
        return self.visit(copy.deepcopy(node))  # type: ignore[no-any-return]

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(ast.Name(self.names.get(node.id, node.id), node.ctx), node)


def is_names(target: ast.expr) -> bool:
    """Whether a target is a name, or some."""
    return isinstance(target, ast.Name) or (isinstance(target, ast.Tuple) and all(map(is_names, target.elts)))


def is_fixed(node: ast.expr, changing: Collection[str]) -> bool:
    """Whether it does not matter when an expression is evaluated: a constant, or a name but those of `changing`."""
    match node:
        case ast.Name(name):
            return name not in changing
        case ast.Constant() | ast.Lambda():
            return True
        case ast.UnaryOp(ast.USub(), ast.Constant()):
            return True
        case ast.Tuple(elts):
            return all(is_fixed(e, changing) for e in elts)
        case _:
            return False


def _is_part(node: object) -> bool:
    return isinstance(node, (ast.expr, ast.keyword))


def _with(part: ast.AST, value: ast.expr) -> ast.AST:
    return ast.copy_location(ast.keyword(part.arg, value), part) if isinstance(part, ast.keyword) else value


def _reading(target: ast.expr) -> ast.expr:
    made = copy.copy(target)
    made.ctx = ast.Load()  # type: ignore[attr-defined]
    return made
