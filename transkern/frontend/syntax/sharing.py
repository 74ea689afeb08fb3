"""Which names of a function may be stored into, also through other names: ``row = x[0]; row[1] = 2`` stores into x.

What is never stored into need not stand in memory: an array of zeros, positions, the elements that a mask chooses. The
answer errs on the side of stores: names are told apart by their text alone, and what a function of the user's is given
counts as stored.
"""

from __future__ import annotations

import ast
import builtins
import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from transkern.frontend.syntax.syntax import stored_names
from transkern.parsing import all_nodes, once_a_tree

_VIEWS = frozenset([
    "asanyarray", "asarray", "ascontiguousarray", "astype", "atleast_1d", "atleast_2d", "atleast_3d", "array_split",
    "broadcast_arrays", "broadcast_to", "conj", "conjugate", "diagonal", "dsplit", "expand_dims", "flat", "flip",
    "fliplr", "flipud", "get", "hsplit", "imag", "items", "moveaxis", "nan_to_num", "pop", "ravel", "real", "require",
    "reshape", "rollaxis", "rot90", "setdefault", "sliding_window_view", "split", "squeeze", "swapaxes", "T",
    "transpose", "values", "view", "vsplit",
])  # fmt: skip
"""Methods and functions of NumPy, and of dicts, whose result may show their argument."""

_SPACES = (np, np.ndarray, np.linalg, np.fft, np.random.Generator, math)
NEW = frozenset(name for space in _SPACES for name in dir(space)) - _VIEWS
"""Methods and functions of NumPy whose result is memory of its own."""

_PASSING = frozenset([
    "dict", "enumerate", "filter", "iter", "list", "map", "max", "min", "next", "reversed", "set", "sorted", "tuple",
    "zip",
])  # fmt: skip
_LISTS = (ast.List, ast.Tuple, ast.ListComp)
_PURE = frozenset(dir(builtins)) - _PASSING
_KEEPING = frozenset(("append", "extend", "insert", "update", "setdefault", "appendleft"))


@once_a_tree
def shared_stores(node: ast.AST) -> frozenset[str]:
    """Names whose elements the function stores to, directly or through another name."""
    given, pairs = _flows(node)
    return frozenset(_closed(stored_names(node) | given, pairs))


def is_read_in_a_loop(node: ast.AST, name: str, line: int) -> bool:
    """Whether what is bound to `name` in a line may be read again and again: by a loop that the line stands outside of,
    or by a function within `node`, however often that is called."""
    return any(not first <= line <= last for first, last in _reading(node).get(name, ()))


def is_read_next(node: ast.AST, name: str, line: int) -> bool:
    """Whether what is bound to `name` in a line is read but once: by the call right behind it, before its effects."""
    return line in _read_next(node).get(name, ())


@once_a_tree
def _read_next(node: ast.AST) -> dict[str, tuple[int, ...]]:
    """The lines that bind names of which the next statement, a call of names, is the only one to read them."""
    nodes = [x for x in all_nodes(node) if isinstance(x, ast.Name)]
    read = [x.id for x in nodes if isinstance(x.ctx, ast.Load)]
    found: dict[str, list[int]] = {}
    for body in (body for x in all_nodes(node) for body in (getattr(x, f, None) for f in ("body", "orelse"))):
        for one, two in pairwise(body) if isinstance(body, list) else ():
            match one, two:
                case ast.Assign([ast.Name(name)]), ast.Assign([ast.Name()], ast.Call(func, args, [])) if (
                    isinstance(func, ast.Name | ast.Attribute) and all(isinstance(x, ast.Name) for x in args)
                ):
                    if read.count(name) == 1 and any(x.id == name for x in args):  # type: ignore[attr-defined]
                        found.setdefault(name, []).append(one.lineno)
                case _:
                    pass
    return {name: tuple(lines) for name, lines in found.items()}


@once_a_tree
def _reading(node: ast.AST) -> dict[str, tuple[tuple[int, int], ...]]:
    """The loops and inner functions that read each name, by their first and last lines."""
    found: dict[str, list[tuple[int, int]]] = {}
    for loop in all_nodes(node):
        match loop:
            case ast.For(body=body):
                repeated: Sequence[ast.AST] = body
            case ast.While(test=test, body=body):
                repeated = [test, *body]
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp():
                first, *rest = loop.generators
                repeated = [loop.elt, *first.ifs, *rest]
            case ast.DictComp(key, value, [first, *rest]):
                repeated = [key, value, *first.ifs, *rest]
            case (ast.FunctionDef(body=body) | ast.Lambda(body=ast.expr() as body)) if loop is not node:
                repeated = body if isinstance(body, list) else [body]
            case _:
                continue
        inside = [x for part in repeated for x in all_nodes(part)]
        for name in sorted({x.id for x in inside if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Load)}):
            found.setdefault(name, []).append((loop.lineno, loop.end_lineno or loop.lineno))
    return {name: tuple(spans) for name, spans in found.items()}


def may_show(name: str, body: Iterable[ast.stmt], entry: Iterable[tuple[str, str]]) -> set[str]:
    """Names that may stand for memory of `name` while statements run; of `entry`, pairs do so before them."""
    pairs = [*entry, *(pair for s in body for pair in _flows(s)[1])]
    return _closed({name}, pairs)


@once_a_tree
def _flows(node: ast.AST) -> tuple[frozenset[str], tuple[tuple[str, str], ...]]:
    """Names that are given to functions of the user's, or stand in what is stored into, and pairs of names of which one
    is bound to what shows the other."""
    direct: set[str] = set()
    pairs: list[tuple[str, str]] = []

    bound = {x.id for x in all_nodes(node) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)}
    bound |= {x.name for x in all_nodes(node) if isinstance(x, ast.FunctionDef)}
    called = {x.func.id for x in all_nodes(node) if isinstance(x, ast.Call) and isinstance(x.func, ast.Name)}

    def same(names: Iterable[str], value: ast.AST) -> None:
        shown = _shown(value.body if isinstance(value, ast.Lambda) else value) - (called - bound)
        pairs.extend((name, other) for name in names for other in shown)

    assigned = (x for x in all_nodes(node) if isinstance(x, ast.Assign) and isinstance(x.value, _LISTS))
    lists = {_named(x.targets[0]) for x in assigned} - {""}
    for child in all_nodes(node):
        match child:
            case ast.Assign(targets, value):
                for target in targets:
                    same(_bound(target), value)
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target, value):
                same(_bound(target), value)
            case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
                same(_bound(target), value)
            case ast.AugAssign(target, ast.Add(), value) if isinstance(value, _LISTS) or _named(value) in lists:
                same(_shown(target), value)
            case ast.Subscript(value=value, ctx=ast.Store()) | ast.Attribute(value=value, attr="fill" | "sort" | "put"):
                direct |= _shown(value)  # of whatever it is an element: ``(x if c else y)[0] = 1``
            case ast.Return(ast.Lambda(body=body)):
                direct |= _shown(body)
            case ast.FunctionDef(name=name) if child is not node:  # what it returns, whoever calls it may store into
                for x in all_nodes(child):
                    if isinstance(x, ast.Return) and x.value is not None:
                        same([name], x.value)
            case ast.arguments(posonly, positional, _, by_name, defaults_by_name, _, defaults):
                ordered = [*posonly, *positional]
                for a, value in zip(ordered[len(ordered) - len(defaults) :], defaults, strict=True):
                    same([a.arg], value)
                for a, default in zip(by_name, defaults_by_name, strict=True):
                    same([a.arg], default or a)
            case ast.Call(func, args, keywords):
                given = [*args, *(k.value for k in keywords)]
                match func:
                    case ast.Attribute(value=base, attr=attr) if attr in _KEEPING:
                        for value in given:
                            same(_shown(base), value)
                    case ast.Attribute(attr=attr) if attr in NEW | _VIEWS:
                        pass
                    case ast.Name(name) if name in _PURE | _PASSING:
                        pass
                    case _:  # the user's: it may store into what it is given
                        for value in [*given, *([func.value] if isinstance(func, ast.Attribute) else [])]:
                            direct |= _shown(value)
            case _:
                pass
    return frozenset(direct), tuple(pairs)


def stored_before_made(body: Sequence[ast.stmt]) -> set[str]:
    """Names that statements may store into before they bind them to an array of their own making."""
    return _stored_first(body, set())


def _stored_first(body: Sequence[ast.stmt], made: set[str]) -> set[str]:
    """The same with `made` bound before; what all ways through the statements bind is added to it."""
    found: set[str] = set()
    for s in body:
        match s:
            case ast.If(test, then, orelse):
                found |= stored_names(test) - made
                one, two = set(made), set(made)
                found |= _stored_first(then, one) | _stored_first(orelse, two)
                made |= one & two
            case ast.For(target=target, body=inner, orelse=orelse) | ast.While(test=target, body=inner, orelse=orelse):
                found |= _stored_first(inner, made - _names(target)) | _stored_first(orelse, set(made))
            case ast.Assign(targets, value):
                found |= stored_names(s) - made
                names = set().union(*(_names(t) for t in targets))
                if _shown(value) <= made:
                    made |= names
                else:
                    made -= names
            case _:
                found |= stored_names(s) - made
                made -= {x.id for x in all_nodes(s) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)}
    return found


def _names(target: ast.AST) -> set[str]:
    return {x.id for x in all_nodes(target) if isinstance(x, ast.Name) and isinstance(x.ctx, ast.Store)}


def _closed(names: Iterable[str], pairs: Iterable[tuple[str, str]]) -> set[str]:
    """`names`, and what is paired with one of them, and so on."""
    beside: dict[str, set[str]] = {}
    for one, other in pairs:
        beside.setdefault(one, set()).add(other)
        beside.setdefault(other, set()).add(one)
    found, todo = set(names), list(names)
    while todo:
        for other in beside.get(todo.pop(), ()):
            if other not in found:
                found.add(other)
                todo.append(other)
    return found


def _named(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _bound(target: ast.AST) -> set[str]:
    """The names that an assignment binds; a container's element binds the container to what is put into it."""
    match target:
        case ast.Name(name):
            return {name}
        case ast.Tuple(items) | ast.List(items):
            return set().union(*map(_bound, items))
        case ast.Starred(value):
            return _bound(value)
        case ast.Attribute(value=value):
            return _shown(value)
        case ast.Subscript(value=value, slice=ast.Constant(str())):
            return _shown(value)
        case _:
            return set()  # a store of elements copies them


def _shown(value: ast.AST | None) -> set[str]:
    """The names of arrays that an expression's value may show, or hold."""
    match value:
        case ast.Name(name):
            return {name}
        case ast.Subscript(value=base) | ast.Attribute(value=base) | ast.Starred(base) | ast.NamedExpr(value=base):
            return _shown(base)
        case ast.Call(ast.Attribute(value=base, attr=attr), args, keywords):
            if attr in NEW:
                return set()
            return set().union(_shown(base), *map(_shown, args), *(_shown(k.value) for k in keywords))
        case ast.Call(ast.Name(name), args, keywords):
            if name in _PURE:
                return set()
            return {name}.union(*map(_shown, args), *(_shown(k.value) for k in keywords))
        case ast.Tuple(items) | ast.List(items) | ast.Set(items):
            return set().union(*map(_shown, items))
        case ast.Dict(_, items) | ast.BoolOp(_, items):
            return set().union(*map(_shown, items))
        case ast.BinOp(left, ast.Add() | ast.Mult(), right):  # of lists: what they hold
            return set().union(*(_shown(p) for p in (left, right) if isinstance(p, (*_LISTS, ast.BinOp))))
        case ast.IfExp(_, one, two):
            return _shown(one) | _shown(two)
        case ast.ListComp(element, _) | ast.GeneratorExp(element, _) | ast.SetComp(element, _):
            return _shown(element)
        case ast.DictComp(value=element):
            return _shown(element)
        case _:
            return set()
