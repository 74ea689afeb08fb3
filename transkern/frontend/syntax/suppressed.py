"""`contextlib.suppress` as what it does:

    with suppress(KeyError): body    ->    try: body
                                           except KeyError: pass
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable

from transkern.parsing import own_nodes, written_once

_WRITTEN = "_transkern_suppressed"


def as_tries(node: ast.FunctionDef | ast.Lambda, means: Callable[[ast.expr], bool]) -> ast.FunctionDef | ast.Lambda:
    """The function with a `try` for each such `with`; itself where there are none. `means` tells whether an expression
    means `contextlib.suppress`. The same function twice is the same tree twice."""
    if isinstance(node, ast.Lambda):
        return node

    def body() -> list[ast.stmt] | None:
        if all(_kinds(x, means) is None for x in own_nodes(node.body)):
            return None
        return [_Suppressed(means).visit(s) for s in copy.deepcopy(node.body)]

    return written_once(node, _WRITTEN, body)


def _kinds(node: ast.AST, means: Callable[[ast.expr], bool]) -> list[ast.expr] | None:
    """The classes whose exceptions a `with` suppresses; None of any other statement."""
    match node:
        case ast.With([ast.withitem(ast.Call(called, kinds, []), None)]) if kinds and means(called):
            return None if any(isinstance(k, ast.Starred) for k in kinds) else kinds
        case _:
            return None


class _Suppressed(ast.NodeTransformer):
    def __init__(self, means: Callable[[ast.expr], bool]) -> None:
        self.means = means

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:  # it is written out where it is called
        return node

    def visit_With(self, node: ast.With) -> ast.AST:
        self.generic_visit(node)
        kinds = _kinds(node, self.means)
        if kinds is None:
            return node
        caught: ast.expr = ast.Tuple(kinds, ast.Load()) if len(kinds) > 1 else kinds[0]
        handler = ast.ExceptHandler(ast.copy_location(caught, node), None, [ast.copy_location(ast.Pass(), node)])
        made = ast.Try(node.body, [ast.copy_location(handler, node)], [], [])
        return ast.copy_location(made, node)
