"""``found = found + more`` as ``found += more``, where nobody could tell: a list that has this one name.

The list is bound to displays, comprehensions and sums of it alone, its name is read only where no other name comes to
show it, and no loop goes over it while it grows.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from transkern.parsing import all_nodes, child_nodes

_COPYING = frozenset(["len", "sum", "min", "max", "any", "all", "sorted", "list", "tuple", "set", "str"])
"""Builtins whose result does not show their argument."""


_COPYING_ARRAYS = frozenset(["array", "sum", "mean", "stack", "concatenate", "vstack", "hstack", "max", "min"])


IS_SUM = "_transkern_sum"
"""On the target: what is added must be a list, as in a sum (``+=`` takes whatever can be gone over)."""


def lists_of_one_name(function: ast.FunctionDef) -> frozenset[str]:
    """The names of such lists, of those that are somewhere bound to a sum of themselves."""
    parents = {id(child): node for node in all_nodes(function) for child in child_nodes(node)}
    wanted = {_grown(x) for x in all_nodes(function) if isinstance(x, ast.Assign)} - {""}
    return frozenset(name for name in wanted if _alone(function, name, parents))


def _grown(node: ast.AST) -> str:
    """The name in ``name = name + …``, or nothing."""
    match node:
        case ast.Assign([ast.Name(name)], ast.BinOp(ast.Name(left), ast.Add(), _)) if left == name:
            return name
        case _:
            return ""


def _alone(function: ast.FunctionDef, name: str, parents: dict[int, ast.AST]) -> bool:
    a = function.args
    if name in {x.arg for x in (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg) if x is not None}:
        return False
    bound = False
    for x in _uses(function, name):
        parent = parents[id(x)]
        if isinstance(x.ctx, ast.Load):
            if not _shows_nothing(x, parent, parents):
                return False
        elif isinstance(parent, ast.Assign) and parent.targets == [x]:
            if _grown(parent) != name:
                if not _is_new_list(parent.value):
                    return False
                bound = True
        elif not isinstance(parent, ast.AugAssign):
            return False
        if any(isinstance(p, (ast.FunctionDef, ast.Lambda)) and p is not function for p in _around(x, parents)):
            return False
    return bound


def _uses(function: ast.FunctionDef, name: str) -> Iterator[ast.Name]:
    return (x for x in all_nodes(function) if isinstance(x, ast.Name) and x.id == name)


def _around(node: ast.AST, parents: dict[int, ast.AST]) -> Iterator[ast.AST]:
    while id(node) in parents:
        node = parents[id(node)]
        yield node


def _shows_nothing(x: ast.Name, parent: ast.AST, parents: dict[int, ast.AST]) -> bool:
    """Whether what is made of the list there is not the list."""
    match parent:
        case ast.BinOp(left=left, op=ast.Add()) if left is x:
            return True
        case ast.Subscript(value=value, slice=at) if value is x:
            return not isinstance(at, ast.Slice)
        case ast.Call(func=ast.Name(id=called), args=args) if x in args:
            return called in _COPYING
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=called)):
            return called in _COPYING_ARRAYS
        case ast.Attribute(attr="append" | "extend"):
            return True
        case ast.Return() | ast.While() | ast.If() | ast.Compare() | ast.BoolOp():
            return True
        case ast.For(iter=iterated) if iterated is x:
            return not any(_grown(s) == x.id or _grows(s, x.id) for s in all_nodes(parent))
        case _:
            return False


def _grows(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name) and node.target.id == name


def _is_new_list(value: ast.expr) -> bool:
    match value:
        case ast.List() | ast.ListComp():
            return True
        case ast.Call(func=ast.Name("list")):
            return True
        case _:
            return False


class GrowInPlace(ast.NodeTransformer):
    """Sums of a list with itself as augmented assignments, for the given names."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names

    def visit_Assign(self, node: ast.Assign) -> ast.stmt:
        if _grown(node) not in self.names:
            return node
        assert isinstance(node.targets[0], ast.Name) and isinstance(node.value, ast.BinOp)
        setattr(node.targets[0], IS_SUM, True)
        return ast.copy_location(ast.AugAssign(node.targets[0], ast.Add(), node.value.right), node)


