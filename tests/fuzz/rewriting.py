"""One function in another spelling: rules that rewrite its text and keep its results.

A rule is asked for a place in the function and says what stands there instead, or that it has nothing to say. It may
ask what the function's expressions were when it was run (`Seen`): a sum of arrays may become a loop over rows, a sum of
numbers may not. Whether a rule was sound is not trusted: who rewrites runs both functions in NumPy.
"""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Change:
    """What stands instead of an expression or a statement; statements before it for an expression."""

    instead: ast.AST | list[ast.stmt]
    before: tuple[ast.stmt, ...] = ()
    module: tuple[ast.stmt, ...] = ()


@dataclass(frozen=True)
class Seen:
    """What an expression has been whenever it was computed: its type, and for arrays dtype and shape."""

    kind: type
    dtype: str = ""
    shape: tuple[int, ...] = ()

    @classmethod
    def of(cls, value: Any) -> Seen:
        if isinstance(value, (np.ndarray, np.generic)):
            return cls(type(value), value.dtype.name, value.shape)
        return cls(type(value))

    @property
    def is_array(self) -> bool:
        return self.kind is np.ndarray and bool(self.shape)

    @property
    def is_number(self) -> bool:
        return issubclass(self.kind, (int, float, complex, np.number)) and self.kind is not bool


class Text:
    """A function in its module, with what was seen of its expressions."""

    def __init__(self, module: str, name: str) -> None:
        self.tree = ast.parse(module)
        self.name = name
        self.seen: dict[int, Seen | None] = {}  # by the number of an expression in `expressions`
        self.numbers = {id(e): k for k, e in enumerate(expressions(self.function))}
        self.parents = {id(c): p for p in ast.walk(self.function) for c in ast.iter_child_nodes(p)}
        self.names = {x.id for x in ast.walk(self.tree) if isinstance(x, ast.Name)} | {
            x.arg for x in ast.walk(self.tree) if isinstance(x, ast.arg)
        }

    @property
    def function(self) -> ast.FunctionDef:
        return _function(self.tree, self.name)

    def __str__(self) -> str:
        return ast.unparse(ast.fix_missing_locations(self.tree))

    def of(self, node: ast.AST) -> Seen | None:
        """What an expression was: None where it was never computed, or of several kinds."""
        return self.seen.get(self.numbers.get(id(node), -1))

    def fresh(self, base: str) -> str:
        name, k = base, 1
        while name in self.names or hasattr(builtins, name):
            name, k = f"{base}_{k}", k + 1
        self.names.add(name)
        return name

    def statement(self, node: ast.AST) -> ast.stmt:
        while not isinstance(node, ast.stmt):
            node = self.parents[id(node)]
        return node

    def is_computed_first(self, node: ast.expr) -> bool:
        """Whether an expression is computed whenever its statement begins, so that it may be named before it."""
        inner: ast.AST = node
        while not isinstance(inner, ast.stmt):
            outer = self.parents[id(inner)]
            if isinstance(outer, (ast.BoolOp, ast.IfExp, ast.Lambda, ast.comprehension, ast.NamedExpr)):
                return False
            if isinstance(outer, (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp, ast.JoinedStr)):
                return False
            inner, last = outer, inner
        if isinstance(inner, (ast.Return, ast.Expr)):
            return True
        if isinstance(inner, (ast.Assign, ast.AugAssign)):
            return last is inner.value
        return last is (inner.test if isinstance(inner, ast.If) else inner.iter if isinstance(inner, ast.For) else None)

    def blocks(self) -> Iterator[list[ast.stmt]]:
        for node in ast.walk(self.function):
            for name in ("body", "orelse", "finalbody"):
                block = getattr(node, name, None)
                if isinstance(block, list) and block and isinstance(block[0], ast.stmt):
                    yield block

    def block_of(self, statement: ast.stmt) -> list[ast.stmt]:
        return next(block for block in self.blocks() if any(s is statement for s in block))

    def put(self, place: ast.AST, change: Change) -> None:
        """Makes a change in the tree."""
        statement = self.statement(place)
        block = self.block_of(statement)
        at = next(k for k, s in enumerate(block) if s is statement)
        if isinstance(change.instead, list):
            block[at : at + 1] = change.instead
        else:
            self._replace(place, change.instead)
            block[at:at] = change.before
        position = self.tree.body.index(self.function)
        self.tree.body[position:position] = change.module

    def _replace(self, old: ast.AST, new: ast.AST) -> None:
        parent = self.parents[id(old)]
        for field, value in ast.iter_fields(parent):
            if value is old:
                setattr(parent, field, new)
            elif isinstance(value, list):
                setattr(parent, field, [new if v is old else v for v in value])


def _function(module: ast.Module, name: str) -> ast.FunctionDef:
    return next(s for s in module.body if isinstance(s, ast.FunctionDef) and s.name == name)


def expressions(function: ast.FunctionDef) -> list[ast.expr]:
    """The expressions of a function's statements that have values, in a fixed order."""
    return [
        e for s in function.body for e in ast.walk(s)
        if isinstance(e, ast.expr) and isinstance(getattr(e, "ctx", ast.Load()), ast.Load)
        and not isinstance(e, (ast.Slice, ast.Starred, ast.JoinedStr, ast.FormattedValue))
        and not (isinstance(e, ast.Tuple) and any(isinstance(x, (ast.Slice, ast.Starred)) for x in e.elts))
    ]  # fmt: skip


def watch(module: str, name: str) -> str:
    """A module's text whose function tells `__note(k, value)` of its expressions."""
    tree = ast.parse(module)
    function = _function(tree, name)
    numbers = {id(e): k for k, e in enumerate(expressions(function))}

    class Watch(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            number = numbers.get(id(node))
            if isinstance(node, ast.Call):
                node.args = [self.visit(a) for a in node.args]
                for keyword in node.keywords:
                    keyword.value = self.visit(keyword.value)
                if isinstance(node.func, ast.Attribute):
                    node.func.value = self.visit(node.func.value)
            else:
                node = self.generic_visit(node)
            if number is None or isinstance(node, (ast.Lambda, ast.Constant)):
                return node
            return ast.Call(ast.Name("__note", ast.Load()), [ast.Constant(number), node], [])

    function.body = [Watch().visit(s) for s in function.body]
    return ast.unparse(ast.fix_missing_locations(tree))


# --- building text


def name(text: str) -> ast.Name:
    return ast.Name(text, ast.Load())


def expr(text: str, **given: ast.expr) -> ast.expr:
    """An expression from its text, in which names stand for other expressions."""
    return filled_in(ast.parse(text, mode="eval").body, given)


def statements(text: str, **given: Any) -> list[ast.stmt]:
    """Statements from their text; a name alone on a line stands for statements. Beside names of the function, those
    that stand for something begin with an underscore."""
    made: list[ast.stmt] = []
    for s in ast.parse(text).body:
        made += _lines(s, given)
    return made


def _lines(s: ast.stmt, given: Mapping[str, Any]) -> list[ast.stmt]:
    if isinstance(s, ast.Expr) and isinstance(s.value, ast.Name) and isinstance(given.get(s.value.id), list):
        return list(given[s.value.id])
    for field in ("body", "orelse"):
        if hasattr(s, field):
            setattr(s, field, [line for inner in getattr(s, field) for line in _lines(inner, given)])
    plain = {k: v for k, v in given.items() if isinstance(v, ast.expr)}
    if not hasattr(s, "body"):
        return [filled_in(s, plain)]
    for field, value in ast.iter_fields(s):
        if isinstance(value, ast.expr):
            setattr(s, field, filled_in(value, plain))
    return [s]


def filled_in(tree: Any, given: Mapping[str, ast.expr]) -> Any:
    class Fill(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            if node.id not in given:
                return node
            made = copy.deepcopy(given[node.id])
            if isinstance(made, (ast.Name, ast.Subscript, ast.Attribute)):
                made.ctx = node.ctx
            return made

    return Fill().visit(tree)


def names_in(*nodes: ast.AST) -> set[str]:
    return {x.id for node in nodes for x in ast.walk(node) if isinstance(x, ast.Name)}


def bound_in(*nodes: ast.AST) -> set[str]:
    return {x.id for node in nodes for x in ast.walk(node) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)}
