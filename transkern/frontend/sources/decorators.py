"""What decorators leave of a function that is read as text: of one written in a function, or in a file that is not run.

Of live functions nothing is to be done: what a decorator made is the object that is found.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from transkern import refusals
from transkern.errors import CompileError
from transkern.frontend.sources.source import known_object, span_of
from transkern.frontend.sources.texts import TextScope
from transkern.frontend.values.values import Function, Known, Static, Value
from transkern.parsing import all_nodes

_CACHING = ("functools.cache", "functools.lru_cache")
_SAME = (
    "functools.wraps", "transkern.compile", "numba.jit", "numba.njit", "numba.core.decorators.jit",
    "numba.core.decorators.njit",
)  # fmt: skip
"""Decorators that change no answer."""

_SHOWN = 60  # characters of a decorator


def decorated(
    function: Function, evaluated: Callable[[ast.expr], Value], called: Callable[[Value, Value, ast.expr], Value]
) -> Value:
    """The function as its decorators leave it; `evaluated` gives an expression's value where the function stands, and
    `called` what a decorator makes of a value."""
    made: Value = replace(function, decorated=True)
    for decorator in reversed(getattr(function.node, "decorator_list", [])):
        found = evaluated(_named(decorator))
        path = found.path if isinstance(found, Known) else ""
        if path in _CACHING and isinstance(made, Function):
            made = replace(made, cached=True)
        elif path not in _SAME:
            made = called(evaluated(decorator), made, decorator)
    return made


def is_ours(decorator: ast.expr) -> bool:
    """Whether a decorator names transkern."""
    return any(isinstance(x, ast.Name) and "transkern" in x.id for x in all_nodes(decorator))


def check_entry(function: Function, scope: TextScope) -> None:
    """That the decorators of a function that is compiled from a file change no answer."""
    for decorator in getattr(function.node, "decorator_list", []):
        if path_of_decorator(decorator, scope) not in (*_SAME, *_CACHING):
            shown = _shown(decorator)
            help = "compile the function itself, in a file without it, or where it is imported: transkern.compile(f)"
            problem = f"`{function.name}` is what `@{shown}` makes of it, which is not known without running the file"
            error = CompileError(refusals.DECORATOR, problem, help, span_of(decorator, scope.file), scope.lines)
            error.as_text = True
            raise error


def path_of_decorator(decorator: ast.expr, scope: TextScope) -> str:
    """What a library calls a decorator; nothing where it is none of a library's."""
    found = _known(scope, _named(decorator))
    return found.path if isinstance(found, Known) else ""


def _shown(decorator: ast.expr) -> str:
    try:
        text = ast.unparse(decorator)
    except RecursionError:
        return "…"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _named(decorator: ast.expr) -> ast.expr:
    """The decorator without its arguments."""
    return decorator.func if isinstance(decorator, ast.Call) else decorator


def _known(scope: TextScope, node: ast.expr) -> Value | None:
    match node:
        case ast.Name(id=name):
            return scope.lookup(name)
        case ast.Attribute(value=value, attr=attr):
            owner = _known(scope, value)
            if isinstance(owner, Known):
                return known_object(f"{owner.path}.{attr}")
            inside = owner.value if isinstance(owner, Static) else None
            return inside.member(attr) if isinstance(inside, TextScope) else None
        case _:
            return None
