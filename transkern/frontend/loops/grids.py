"""Loops over all indices of a shape are loops over its axes, which divide nothing and may be parallel one by one:

    for i, j in np.ndindex(n, m): body    ->    for i' in range(n):
                                                    for j' in range(m): i, j = (i', j'); body
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from transkern.frontend.loops import over_changes
from transkern.frontend.loops.counting import OF_GRID
from transkern.frontend.numpy.arrays import as_array
from transkern.frontend.python.whole import integer_expr
from transkern.frontend.syntax.desugar import has_jumps, load
from transkern.frontend.syntax.liveness import AXIS_OF
from transkern.frontend.values.values import Method, Range, Seq, Value
from transkern.ir import build as b

if TYPE_CHECKING:
    from transkern.frontend.loops.looping import Loops

_NESTED = "_transkern_nested"  # on a loop over the indices of a shape: the same loop as loops over its axes


def as_nest(loops: Loops, node: ast.For, target: ast.expr, source: Value, body: Sequence[ast.stmt]) -> bool:
    """Translates a loop over the indices of a shape, of an array with its elements, or over tuples of ranges, axis by
    axis; False, and nothing done, for any other, and where a `break` leaves all axes at once."""
    ctx = loops.ctx
    source = ctx.deref(source)
    if not isinstance(source, Method) or not isinstance(source.receiver, Seq) or has_jumps(body, ast.Break):
        return False
    over = f"{node.lineno}:{node.col_offset}"
    given = source.receiver.items
    if source.name == "ndindex":
        ranges = [Range(b.ZERO, integer_expr(ctx, d), b.ONE) for d in given]
    elif source.name == "product":
        ranges = [r for r in given if isinstance(r, Range)]
    elif source.name == "ndenumerate":
        array = ctx.kept(as_array(ctx, given[0]))
        ranges = [Range(b.ZERO, d, b.ONE) for d in array.dims]
        loops.env[f"array{OF_GRID}{over}"] = array
    else:
        return False
    if len(ranges) < 2:
        return False
    for k, r in enumerate(ranges):
        loops.env[f"axis {k}{OF_GRID}{over}"] = r
    over_changes.instead(loops, node, [_nest(node, target, body, over, len(ranges), source.name == "ndenumerate")])
    return True


def _nest(
    node: ast.For, target: ast.expr, body: Sequence[ast.stmt], over: str, rank: int, with_elements: bool
) -> ast.stmt:  # fmt: skip
    key, made = getattr(node, _NESTED, (None, None))
    if made is None or key != (rank, with_elements):
        shown = target.elts[0] if with_elements and isinstance(target, ast.Tuple) and target.elts else target
        names = [f"at{OF_GRID}{over} {k}" for k in range(rank)]
        plain = [e.id for e in shown.elts if isinstance(e, ast.Name)] if isinstance(shown, ast.Tuple) else []
        if len(plain) == rank:
            names = [f"{name}{OF_GRID}{over}" for name in plain]
        at, item = (ast.Tuple([load(name) for name in names], ast.Load()) for _ in range(2))
        if with_elements:
            element = ast.Subscript(load(f"array{OF_GRID}{over}"), at, ast.Load())
            item = ast.Tuple([item, element], ast.Load())
        inner: list[ast.stmt] = [ast.Assign([target], item), *body]
        for k in reversed(range(rank)):
            made = ast.For(ast.Name(names[k], ast.Store()), load(f"axis {k}{OF_GRID}{over}"), inner, [])
            if k:
                setattr(made, AXIS_OF, node)
            inner = [made]
        setattr(node, _NESTED, ((rank, with_elements), made))  # the same loop twice must be the same tree twice
    assert isinstance(made, ast.stmt)
    return made
