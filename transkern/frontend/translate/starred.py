"""Calls with all that is in a list whose length only the run knows: ``max(first, *values)``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from transkern.frontend.bodies import At
from transkern.frontend.compositions import compose
from transkern.frontend.values.numbers import is_number, type_name
from transkern.frontend.values.values import Array, GrowingList, Known, Scalar, Value
from transkern.ir import build as b

if TYPE_CHECKING:
    from transkern.frontend.bodies import Body


def best_of(body: Body, function: Value, node: ast.Call) -> Value | None:
    """``max(first, *values)`` and ``min``, of values whose number only the run knows; None for any other call."""
    match function, node.args:
        case Known("builtins.max" | "builtins.min" as path), [*first, ast.Starred(rest)] if first and not node.keywords:
            name = path.removeprefix("builtins.")
        case _:
            return None
    if any(isinstance(a, ast.Starred) for a in first) or not isinstance(rest, (ast.Name, ast.Attribute)):
        return None
    ctx = body.ctx
    contents = ctx.deref(body.expr(rest))  # a name, which has no effects
    if not isinstance(contents, (Array, GrowingList)):
        return None
    if isinstance(contents, Array) and (contents.ndim != 1 or b.constant(contents.dims[0]) is not None):
        return None
    best = body.expr(first[0] if len(first) == 1 else ast.copy_location(ast.Call(node.func, first, []), node))
    values = body.expr(rest)
    with At(ctx, node, body.scope.file):
        if len(first) == 1:  # alone, it would be what to go through
            if not (is_number(best) or isinstance(best, Scalar)):
                return None
            length = contents.length if isinstance(contents, GrowingList) else contents.dims[0]
            some = b.compare("greater", length, b.ZERO)
            ctx.guard(some, "TypeError", f"'{type_name(best)}' object is not iterable")
        return compose(ctx, "folding", f"{name}_from", [best, values], {})
