"""Questions about a function's syntax tree: which names statements bind, store into, append to."""

from __future__ import annotations

import ast
from collections.abc import Sequence

import numpy as np

from transkern.parsing import all_nodes, child_nodes, once_a_tree


def parameter_names(node: ast.FunctionDef | ast.Lambda) -> list[str]:
    """The names of a function's parameters, those for the rest of the arguments included."""
    args = node.args
    return [
        *(a.arg for a in [*args.posonlyargs, *args.args]), *([args.vararg.arg] if args.vararg else []),
        *(a.arg for a in args.kwonlyargs), *([args.kwarg.arg] if args.kwarg else []),
    ]  # fmt: skip


def assigned_names(body: Sequence[ast.stmt]) -> set[str]:
    """Names that the statements rebind (stores into arrays and appends do not)."""
    return {name for statement in body for name in _assigned_in(statement)}


@once_a_tree
def _assigned_in(statement: ast.stmt) -> frozenset[str]:
    names: set[str] = set()
    for node in all_nodes(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            names.add(node.id)
        elif isinstance(node, ast.FunctionDef):
            names.add(node.name)
    return frozenset(names)


PART = "_transkern_part"  # on a function made of statements of another: its results are names that go on there
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@once_a_tree
def local_names(node: ast.FunctionDef | ast.Lambda) -> frozenset[str]:
    """The names that are a function's own, wherever in it they are bound: of those it never looks outside."""
    if isinstance(node, ast.Lambda):
        return frozenset()
    found: set[str] = set()
    others: set[str] = set()

    def visit(part: ast.AST, comprehended: bool) -> None:
        match part:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()) if not comprehended:
                found.add(name)
            case ast.NamedExpr(target=ast.Name(id=name)):
                found.add(name)
            case ast.ExceptHandler(name=str() as name):
                found.add(name)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                found.update(a.asname or a.name.split(".")[0] for a in names)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                others.update(names)
        if isinstance(part, _SCOPES):
            if not isinstance(part, ast.Lambda):
                found.add(part.name)
            return
        for child in child_nodes(part):
            visit(child, comprehended or isinstance(part, _COMPREHENSIONS))

    for statement in node.body:
        visit(statement, False)
    return frozenset(found - others)


_STORING = {"at", "copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask", "nan_to_num", "shuffle"}


def _owner(node: ast.expr) -> str:
    """The name of the array that ``x``, ``x[…]``, ``x.T``, ``x.reshape(…)`` is or shows."""
    while isinstance(node, (ast.Subscript, ast.Attribute, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


_OPERANDS = {name: f.nin for name, f in vars(np).items() if isinstance(f, np.ufunc)}


def results_given(call: ast.Call) -> list[ast.expr]:
    """The arrays that a call puts its results into: ``out=``, or behind the operands of a ufunc."""
    given: list[ast.expr] = []
    for k in call.keywords:
        if k.arg == "out":
            given += k.value.elts if isinstance(k.value, ast.Tuple) else [k.value]
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return given + call.args[_OPERANDS.get(name, len(call.args)) :]


@once_a_tree
def stored_names(node: ast.AST) -> frozenset[str]:
    """Names whose elements the function stores to: ``x[…] = …``, ``x += …``."""
    names = set()
    for child in all_nodes(node):
        match child:
            case ast.Subscript(value=value, ctx=ast.Store()):
                names.add(_owner(value))
            case ast.AugAssign(target=ast.Name(id=name)):
                names.add(name)
            case ast.Attribute(value=ast.Name(id=name), attr="real" | "imag"):
                names.add(name)  # a part of it may be stored to
            case ast.Call() if given := results_given(child):
                names |= {_owner(v) for v in given}
            case ast.Call(func=ast.Attribute(attr=attr), args=[first, *_]) if attr in _STORING:
                names.add(_owner(first))  # np.add.at(x, …), np.copyto(x, …)
            case ast.Attribute(value=value, attr="fill" | "sort" | "partition" | "put"):
                names.add(_owner(value))  # called there, or by a name of the method
            case ast.Call(func=ast.Name("getattr"), args=[first, *_]):
                names.add(_owner(first))
            case _:
                pass
    return frozenset(names - {""})


def rebound_names(body: Sequence[ast.stmt]) -> set[str]:
    """Names bound otherwise than by an augmented assignment."""
    return {name for s in body for name in _rebound_in(s)}


@once_a_tree
def _rebound_in(statement: ast.stmt) -> frozenset[str]:
    names: list[ast.Name] = []
    augmented: set[ast.expr] = set()
    for x in all_nodes(statement):
        if isinstance(x, ast.Name):
            names.append(x)
        elif isinstance(x, ast.AugAssign):
            augmented.add(x.target)
    return frozenset(x.id for x in names if not isinstance(x.ctx, ast.Load) and x not in augmented)


_CHANGING = frozenset(
    ("append", "appendleft", "clear", "extend", "insert", "pop", "popleft", "remove", "reverse", "rotate", "sort")
)


def stored_in(body: Sequence[ast.stmt]) -> set[str]:
    """Names whose elements the statements store to, and those of lists that they change."""
    return {name for s in body for name in _stored_in(s)}


@once_a_tree
def _stored_in(statement: ast.stmt) -> frozenset[str]:
    changed = {
        _owner(x.func.value) for x in all_nodes(statement)
        if isinstance(x, ast.Call) and isinstance(x.func, ast.Attribute) and x.func.attr in _CHANGING
    }  # fmt: skip
    return frozenset((changed | stored_names(statement)) - {""})


@once_a_tree
def returns(statement: ast.stmt) -> bool:
    return any(isinstance(x, ast.Return) for x in all_nodes(statement))


def is_swap(node: ast.Assign) -> bool:
    """``a[i], a[j] = a[j], a[i]``, where both places are the same behind it as before."""
    match node:
        case ast.Assign([ast.Tuple([ast.Subscript() as one, ast.Subscript() as two])], ast.Tuple([left, right])):
            if [ast.unparse(one), ast.unparse(two)] != [ast.unparse(right), ast.unparse(left)]:
                return False
            moving = (ast.Call, ast.NamedExpr, ast.Subscript)
            parts = (one.value, one.slice, two.value, two.slice)
            return not any(isinstance(x, moving) for part in parts for x in all_nodes(part))
        case _:
            return False
