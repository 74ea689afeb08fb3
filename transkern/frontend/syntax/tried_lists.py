"""Comprehensions in a `try` as loops before their statements, so that a handler takes what they raise:

    try:                                       try:
        roots = [math.sqrt(x) for x in xs]         items = []
    except ValueError:                    ->       for x_here in xs: items.append(math.sqrt(x_here))
        roots = []                                 roots = items
                                               except ValueError: …

Only where nothing is evaluated before them that could tell.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from weakref import WeakKeyDictionary

from transkern.frontend.syntax.desugar import Rename, assign, fresh_name, load, placed
from transkern.parsing import all_nodes, own_nodes

_USED_UP = frozenset(["list", "max", "min", "set", "sorted", "sum", "tuple"])
"""Python's functions that take all that a generator gives before they do anything."""

_SIMPLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Return, ast.Expr)
_Parts = tuple[ast.expr, list[ast.comprehension]]

_made: WeakKeyDictionary[ast.AST, ast.FunctionDef] = WeakKeyDictionary()


def written_out(node: ast.FunctionDef, is_pythons: Callable[[str], bool]) -> ast.FunctionDef:
    """The function with such loops; itself where there are none. The same function twice is the same tree twice."""
    tries = [x for x in own_nodes(node.body) if isinstance(x, ast.Try)]
    if not any(isinstance(x, (ast.ListComp, ast.GeneratorExp)) for t in tries for s in t.body for x in all_nodes(s)):
        return node
    if node not in _made:
        names = {x.id for x in all_nodes(node) if isinstance(x, ast.Name)}
        body = _Tries(names, is_pythons).block(copy.deepcopy(node.body))
        changed = ast.FunctionDef(node.name, node.args, body, node.decorator_list, node.returns)
        _made[node] = _made[changed] = ast.copy_location(changed, node)
    return _made[node]


class _Tries:
    def __init__(self, names: set[str], is_pythons: Callable[[str], bool]) -> None:
        self.names, self.is_pythons, self.tried = names, is_pythons, False

    def block(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        return [made for s in statements for made in self._statement(s)]

    def _statement(self, s: ast.stmt) -> list[ast.stmt]:
        if isinstance(s, (ast.FunctionDef, ast.ClassDef)):
            return [s]
        if self.tried and isinstance(s, _SIMPLE) and s.value is not None:
            found: list[tuple[str, ast.expr, _Parts]] = []
            s.value = self._first(s.value, found)
            loops = [made for name, at, parts in found for made in self._loop(name, at, parts)]
            return [*loops, s]
        outside, self.tried = self.tried, self.tried or isinstance(s, ast.Try)
        for field in ("body", "orelse", "finalbody"):
            if isinstance(inner := getattr(s, field, None), list):
                setattr(s, field, self.block(inner))
            self.tried = outside
        for handler in getattr(s, "handlers", ()):
            handler.body = self.block(handler.body)
        return [s]

    def _first(self, value: ast.expr, found: list[tuple[str, ast.expr, _Parts]]) -> ast.expr:
        """`value` with the name of a list for a comprehension that is the first thing to be evaluated."""
        match value:
            case ast.ListComp(elt, generators) if _is_plain(value):
                name = fresh_name("items", self.names)
                found.append((name, value, (elt, generators)))
                return ast.copy_location(load(name), value)
            case ast.Call(func, [ast.GeneratorExp(elt, generators) as given, *_], _) if self._uses_up(func):
                if _is_plain(given):
                    name = fresh_name("items", self.names)
                    found.append((name, given, (elt, generators)))
                    value.args[0] = ast.copy_location(load(name), given)
            case ast.Call(func, [first, *_], _) if _is_name(func):
                value.args[0] = self._first(first, found)
            case ast.Call(ast.Attribute() as func):
                func.value = self._first(func.value, found)
            case ast.BinOp():
                value.left = self._first(value.left, found)
            case ast.Subscript() | ast.Attribute():
                value.value = self._first(value.value, found)
            case ast.Tuple([first, *_]) | ast.List([first, *_]):
                value.elts[0] = self._first(first, found)
            case _:
                pass
        return value

    def _uses_up(self, function: ast.expr) -> bool:
        return isinstance(function, ast.Name) and function.id in _USED_UP and self.is_pythons(function.id)

    def _loop(self, name: str, at: ast.expr, parts: _Parts) -> list[ast.stmt]:
        elt, generators = parts
        own = sorted({x.id for g in generators for x in all_nodes(g.target) if isinstance(x, ast.Name)})
        rename = Rename({one: fresh_name(f"{one}_here", self.names) for one in own})
        add = ast.Call(ast.Attribute(load(name), "append", ast.Load()), [rename.visit(elt)], [])
        made: list[ast.stmt] = [placed(ast.Expr(add), at)]
        for k, part in reversed(list(enumerate(generators))):
            for test in reversed(part.ifs):
                made = [ast.If(rename.visit(test), made, [])]
            source = rename.visit(part.iter) if k else part.iter
            made = [ast.For(rename.visit(part.target), source, made, [])]
        inner = [placed(s, at) for s in made]
        return [assign(name, ast.List([], ast.Load()), at), *self.block(inner)]


def _is_plain(node: ast.expr) -> bool:
    return not any(isinstance(x, (ast.Lambda, ast.NamedExpr, ast.Await)) for x in all_nodes(node))


def _is_name(node: ast.expr) -> bool:
    """A name, perhaps of something in a module: to evaluate it changes nothing."""
    return isinstance(node, ast.Name) or (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name))
