"""Loops over ``zip(…, strict=True)`` that ask for the lengths where Python does, when one of them has come to its end:

    for a, b in zip(x, y, strict=True): body    ->    for a, b in zip(x, y): body
                                                      else: zip(x, y, strict=True)

Only loops of which somebody sees what they have done by then, or which may leave before: of any other the lengths are
better known beforehand.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from typing import Any

from transkern.frontend.syntax.desugar import assign, listed, load, placed
from transkern.frontend.syntax.sharing import NEW
from transkern.frontend.syntax.syntax import assigned_names, local_names, parameter_names
from transkern.parsing import own_nodes, written_once

_WRITTEN = "_transkern_zips"
_BINDING = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.If, ast.For, ast.While, ast.Expr, ast.Pass, ast.Continue)
_GROWING = frozenset(("append", "extend", "add"))
_QUIET = frozenset(("abs", "bool", "complex", "divmod", "float", "int", "len", "max", "min", "pow", "range", "round"))
_NEW = (
    ast.Constant, ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.BinOp, ast.UnaryOp,
    ast.Compare, ast.JoinedStr,
)  # fmt: skip


def asked_behind(node: ast.FunctionDef | ast.Lambda, python: Callable[[str], bool]) -> ast.FunctionDef | ast.Lambda:
    """The function with such loops written out; itself where there are none. `python` tells whether a name means
    Python's own function. The same function twice is the same tree twice."""
    if isinstance(node, ast.Lambda):
        return node

    def body() -> list[ast.stmt] | None:
        if not any(map(_is_strict, own_nodes(node.body))) or not python("zip"):
            return None
        written = _Loops(node, python)
        return [one for s in copy.deepcopy(node.body) for one in listed(written.visit(s))]

    return written_once(node, _WRITTEN, body)


def _is_strict(node: ast.AST) -> bool:
    match node:
        case ast.Call(ast.Name("zip"), args, [ast.keyword("strict", ast.Constant(True))]):
            return not any(isinstance(a, ast.Starred) for a in args)
        case _:
            return False


class _Loops(ast.NodeTransformer):
    def __init__(self, function: ast.FunctionDef, python: Callable[[str], bool]) -> None:
        self.python = python
        nodes = own_nodes(function.body)
        self.catches = any(isinstance(x, ast.Try) for x in nodes)
        given = parameter_names(function)
        self.own, self.made = local_names(function) | set(given), frozenset[str]()
        self.made = self._alone(nodes).difference(given)
        self.count = 0

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:  # it is written out where it is called
        return node

    def visit_For(self, node: ast.For) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        call = self._call(node.iter)
        if call is None or not (self.catches or self._is_seen(node)):
            return node
        self.count += 1
        before: list[ast.stmt] = []
        sources: list[ast.expr] = []
        for k in range(len(call.args)):
            holder, place = self._source(call.args, k)
            if not isinstance(holder[place], ast.Name) or holder[place].id in assigned_names([node]):
                name = f"zipped {self.count} {k}"
                before.append(assign(name, holder[place], node))
                holder[place] = ast.copy_location(load(name), node)
            sources.append(copy.deepcopy(holder[place]))
        asked = ast.Call(load("zip"), sources, call.keywords)
        call.keywords = []
        node.orelse = [placed(ast.Expr(asked), node), *node.orelse]
        return [*before, node]

    def _call(self, node: ast.expr) -> ast.Call | None:
        """The call of `zip`, also one whose pairs are numbered."""
        match node:
            case ast.Call(ast.Name("enumerate"), [inner, *_]) if self.python("enumerate"):
                return self._call(inner)
            case ast.Call() if _is_strict(node):
                return node
            case _:
                return None

    def _source(self, holder: Any, place: int | str) -> tuple[Any, int | str]:
        """Where it stands what has as many elements as an argument, and can be asked for them twice."""
        match holder[place]:
            case ast.Call(ast.Name("enumerate" | "reversed" as called), [_, *_] as args) if self.python(called):
                return self._source(args, 0)
            case ast.Call(ast.Name("map"), [_, _] as args) if self.python("map"):
                return self._source(args, 1)
            case ast.GeneratorExp(_, [ast.comprehension(ifs=[]) as only]):
                return self._source(vars(only), "iter")
            case _:
                return holder, place

    def _is_seen(self, loop: ast.For) -> bool:
        """Whether somebody may see what the loop has done when the lengths turn out to differ."""
        return not all(map(self._is_quiet, own_nodes([loop.target, *loop.body])))

    def _is_quiet(self, node: ast.AST) -> bool:
        match node:
            case ast.Call(ast.Name(name)):
                return name in _QUIET and self.python(name)
            case ast.Call(ast.Attribute(ast.Name(name), attr)):
                return (attr in NEW and name not in self.own) or (attr in _GROWING and name in self.made)
            case ast.Subscript(ast.Name(name), ctx=ast.Store()) | ast.AugAssign(ast.Name(name)):
                return name in self.made
            case ast.Call() | ast.Subscript(ctx=ast.Store()) | ast.Attribute(ctx=ast.Store()):
                return False
            case ast.stmt():
                return isinstance(node, _BINDING)
            case _:
                return not isinstance(node, (ast.Yield, ast.YieldFrom))

    def _alone(self, nodes: Sequence[ast.AST]) -> frozenset[str]:
        """Names of the function that are bound to memory of its own alone, which stands nowhere else."""
        alone: set[ast.AST | None] = set()
        for x in nodes:
            match x:
                case ast.Assign([ast.Name() as target], value) if self._is_new(value):
                    alone.add(target)
                case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)) if len(targets) == len(values):
                    alone |= {target for target, value in zip(targets, values, strict=True) if self._is_new(value)}
                case ast.Return(ast.Tuple(values)):
                    alone |= set(values)
                case ast.AnnAssign(ast.Name() as target, _, value) if value is None or self._is_new(value):
                    alone.add(target)
                case ast.AugAssign(ast.Name() as target, _, value):
                    alone |= {target, value}
                case ast.Subscript(value=value) | ast.Return(value) | ast.UnaryOp(_, value):
                    alone.add(value)
                case ast.BinOp(left, _, right):
                    alone |= {left, right}
                case ast.Compare(left, _, others):
                    alone |= {left, *others}
                case ast.Call(ast.Attribute(value, attr)) if attr in _GROWING:
                    alone.add(value)
                case ast.Call(called, args) if self._is_quiet(x):
                    alone |= {*args, *([called.value] if isinstance(called, ast.Attribute) else [])}
                case _:
                    pass
        return self.own - {x.id for x in nodes if isinstance(x, ast.Name) and x not in alone}

    def _is_new(self, value: ast.expr) -> bool:
        return isinstance(value, _NEW) or (isinstance(value, ast.Call) and self._is_quiet(value))
