"""The names that a function's text binds, and its parameters."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from transkern.parsing import all_nodes, child_nodes

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
Written = ast.FunctionDef | ast.AsyncFunctionDef
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def parameters_of(a: ast.arguments) -> list[ast.arg]:
    return [*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, (a.vararg, a.kwarg))]


def defaults_of(a: ast.arguments) -> Iterator[tuple[str, ast.expr]]:
    given = [*a.posonlyargs, *a.args]
    yield from ((p.arg, d) for p, d in zip(given[len(given) - len(a.defaults) :], a.defaults, strict=True))
    yield from ((p.arg, d) for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True) if d is not None)


def bound_names(function: Written) -> tuple[frozenset[str], frozenset[str]]:
    """The names that a function binds, and those that what is written in it binds."""
    own = {p.arg for p in parameters_of(function.args)}
    inner: set[str] = set()
    outside: set[str] = set()
    pending: list[tuple[ast.AST, set[str]]] = [(x, own) for x in function.body]
    while pending:
        x, into = pending.pop()
        match x:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                into.add(name)
            case ast.Global(names=names):
                outside.update(names)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                into.add(name)
            case ast.alias():
                into.add((x.asname or x.name).split(".")[0])
            case ast.ExceptHandler(name=str() as name) | ast.MatchAs(name=str() as name):
                into.add(name)
            case ast.MatchStar(name=str() as name):
                into.add(name)
            case ast.arg(arg=name):
                into.add(name)
        within = inner if isinstance(x, (*FUNCTIONS, *COMPREHENSIONS, ast.ClassDef)) else into
        pending += [(child, within) for child in child_nodes(x)]
    return frozenset(own - outside), frozenset(inner)


def captured_names(pattern: ast.pattern) -> Iterator[str]:
    for x in all_nodes(pattern):
        name = getattr(x, "name", None) or getattr(x, "rest", None)
        if isinstance(name, str):
            yield name
