"""The nests' source rewritten: loops that report their iterations, and loops that run in another order."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tests.nests.registry import Nest


def made(nest: Nest, tree: ast.Module, **names: Any) -> Callable[..., Any]:
    """The function of a rewritten tree; its frames have `file_of(nest)` as file and the lines of `nest.source`."""
    tree.body = [s for s in tree.body if isinstance(s, ast.FunctionDef)]
    ast.fix_missing_locations(tree)
    space = dict(nest.function.__globals__) | names
    exec(compile(tree, file_of(nest), "exec"), space)
    function: Callable[..., Any] = space[nest.name]
    return function


def file_of(nest: Nest) -> str:
    return f"<nest {nest.name}>"


def _call(function: str, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Attribute(ast.Name("__watch", ast.Load()), function, ast.Load()), list(args), [])


def _names(target: ast.expr) -> list[str]:
    return [x.id for x in ast.walk(target) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)]


class Watched(ast.NodeTransformer):
    """Reports to `__watch`: iterations of loops by the loop's line, and reads and writes of variables."""

    def __init__(self, tree: ast.Module) -> None:
        self.assigned = {x.id for x in ast.walk(tree) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)}

    def visit_Name(self, node: ast.Name) -> Any:
        if isinstance(node.ctx, ast.Load) and node.id in self.assigned:
            return ast.copy_location(_call("read", ast.Constant(node.id), node), node)
        return node

    def _wrote(self, node: ast.stmt, names: list[str]) -> list[ast.stmt]:
        found: list[ast.stmt] = [node]
        for name in names:
            call = _call("wrote", ast.Constant(name), ast.Name(name, ast.Load()))
            found.append(ast.copy_location(ast.Expr(ast.copy_location(call, node)), node))
        return found

    def visit_Assign(self, node: ast.Assign) -> Any:
        names = [name for target in node.targets for name in _names(target)]
        self.generic_visit(node)
        return self._wrote(node, names)

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        if not isinstance(node.target, ast.Name):
            self.generic_visit(node)
            return node
        name = node.target.id
        node.value = self.visit(node.value)
        read = ast.copy_location(ast.Expr(_call("read", ast.Constant(name), ast.Name(name, ast.Load()))), node)
        return [read, *self._wrote(node, [name])]

    def visit_For(self, node: ast.For) -> Any:
        names = _names(node.target)
        self.generic_visit(node)
        node.iter = ast.copy_location(_call("iterations", ast.Constant(node.lineno), node.iter), node.iter)
        head = self._wrote(node, names)[1:]
        node.body = [*head, *node.body]
        return node

    def visit_While(self, node: ast.While) -> Any:
        self.generic_visit(node)
        line = ast.Constant(node.lineno)
        step = ast.copy_location(_call("step", line), node)
        node.test = ast.copy_location(ast.BoolOp(ast.And(), [step, node.test]), node)
        enter = ast.copy_location(ast.Expr(_call("enter", line)), node)
        leave = ast.copy_location(ast.Expr(_call("leave", line)), node)
        return [enter, node, leave]


def watched(nest: Nest, watch: Any, **names: Any) -> Callable[..., Any]:
    """The function, reporting to `watch`."""
    tree = ast.parse(nest.source)
    return made(nest, Watched(tree).visit(tree), __watch=watch, **names)


# ---- another order --------------------------------------------------------------------------------------------------


class _Order:
    """Iterations in random order; what the last one of the source's order assigns is kept for after the loop."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lasts: list[bool] = []
        self.kept: list[Any] = []

    def iterations(self, source: Iterable[Any]) -> Iterator[Any]:
        items = list(source)
        order = list(range(len(items)))
        self.random.shuffle(order)
        self.lasts.append(False)
        for k in order:
            self.lasts[-1] = k == len(items) - 1
            yield items[k]
        self.lasts.pop()

    def keep(self, **values: Any) -> None:
        if self.lasts[-1]:
            self.kept.append(values)

    def last(self) -> dict[str, Any]:
        return self.kept.pop() if self.kept else {}


class _Reordered(ast.NodeTransformer):
    def __init__(self, line: int, running: bool) -> None:
        self.line, self.running = line, running

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        if node.lineno != self.line:
            return node
        names = set(_names(node.target))
        for s in node.body:  # what every iteration assigns
            if isinstance(s, ast.Assign):
                names |= {name for target in s.targets for name in _names(target)}
        if self.running:
            names -= _combined(node)
        leaves = any(isinstance(x, ast.Continue) for s in node.body for x in ast.walk(s))
        node.iter = _call("iterations", node.iter)
        if leaves:
            return node
        keep = _call("keep")
        keep.keywords = [ast.keyword(name, ast.Name(name, ast.Load())) for name in sorted(names)]
        node.body = [*node.body, ast.Expr(keep)]
        body: list[ast.stmt] = [
            ast.Assign(
                [ast.Name(name, ast.Store())],
                ast.Subscript(ast.Name("__last", ast.Load()), ast.Constant(name), ast.Load()),
            )
            for name in sorted(names)
        ]
        last = ast.Assign([ast.Name("__last", ast.Store())], _call("last"))
        return [node, last, ast.If(ast.Name("__last", ast.Load()), body, [])]


def _combined(loop: ast.For) -> set[str]:
    """What iterations combine values into: variables that are set from what they were, or under a test of it."""
    found: set[str] = set()

    def visit(statements: list[ast.stmt], tested: set[str]) -> None:
        for s in statements:
            match s:
                case ast.Assign(targets, value):
                    read = {x.id for x in ast.walk(value) if isinstance(x, ast.Name)} | tested
                    found.update({name for t in targets for name in _names(t)} & read)
                case ast.If(test, then, orelse):
                    inner = tested | {x.id for x in ast.walk(test) if isinstance(x, ast.Name)}
                    visit(then, inner)
                    visit(orelse, inner)
                case ast.For(body=body):
                    visit(body, tested)
                case _:
                    pass

    visit(loop.body, set())
    return found


def reordered(nest: Nest, line: int, seed: int, running: bool = False) -> Callable[..., Any]:
    """The function with the iterations of the loop at `line` in random order; private variables are variables still.

    With `running`, what iterations combine values into stays what all of them made of it.
    """
    tree = _Reordered(line, running).visit(ast.parse(nest.source))
    return made(nest, tree, __watch=_Order(seed))
