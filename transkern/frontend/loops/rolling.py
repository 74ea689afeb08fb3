"""Loops over a few values that are known one by one: the body for each, or, where it is long, one body for all.

    for x in items: body   ->   for k in range(len(items)): x = items[k]; body
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from transkern import limits
from transkern.errors import CompileError
from transkern.frontend.anew import NotKnown
from transkern.frontend.containers import growing
from transkern.frontend.context import Context
from transkern.frontend.loops import over_changes
from transkern.frontend.loops.unrolling import TooLong, unrolled
from transkern.frontend.syntax.desugar import FOR_ALL, placed
from transkern.frontend.syntax.liveness import ORIGIN
from transkern.frontend.values.reach import reached
from transkern.frontend.values.values import Array, Object, Range, Seq, Value
from transkern.ir import build as b

if TYPE_CHECKING:
    from transkern.frontend.loops.looping import Loops

_FEWEST = 3  # values; of two, the second body is seldom worth a loop
_ROLLED = "_transkern_rolled"  # on a loop over a few values: the same loop over their positions


def over_items(
    loops: Loops, node: ast.For, target: ast.expr, items: Sequence[Value], body: Sequence[ast.stmt],
    now: Callable[[int], Value | None] | None,
) -> None:  # fmt: skip
    """A loop over values that are known one by one; `now` tells the value at a step, if an iteration may change them.

    It is translated once for all of them if its body is long and need not know which of the values it has."""
    together = loops.ctx.session.budget.together
    reset = loops.resetting()
    if len(items) < _FEWEST or together.get(node) is False:
        unrolled(loops, target, items, body, now=now)
        return
    if node not in together:
        try:
            unrolled(loops, target, items, body, now=now, at_length=False)
            return
        except TooLong:
            reset()
    together[node] = _for_all(loops, node, target, items, body)
    if not together[node]:
        reset()
        unrolled(loops, target, items, body, now=now)


def _for_all(
    loops: Loops, node: ast.For, target: ast.expr, items: Sequence[Value], body: Sequence[ast.stmt]
) -> bool:  # fmt: skip
    """One body for all `items`, by their positions; False where that cannot be translated."""
    ctx = loops.ctx
    over = f"positions {node.lineno}:{node.col_offset}"
    given: Value = Seq(tuple(items))
    if all(isinstance(i, Array) and i.ndim and i.mask is None for i in items):
        given = growing.from_items(ctx, given, loops.site(over))  # copies: a store into one needs to know which it is
    loops.env[over] = Range(b.ZERO, b.index(len(items)), b.ONE)
    loops.env[f"{over} items"] = given
    held = _held(ctx, given)
    try:
        over_changes.instead(loops, node, [_by_position(node, target, body, over)])
    except limits.Exhausted:
        raise
    except NotKnown as error:
        if error.begins_anew:
            raise
        return False
    except CompileError:  # an iteration needs to know which value it has
        return False
    # else one changes the next one's
    return all(ctx.heap.contents.get(token) is contents for token, contents in held.items())


def _held(ctx: Context, value: Value) -> Mapping[int, Value]:
    """What is in the lists and objects that `value` reaches."""
    return {v.token: ctx.heap.contents[v.token] for v in reached(ctx.heap.contents, value) if isinstance(v, Object)}


def _by_position(node: ast.For, target: ast.expr, body: Sequence[ast.stmt], over: str) -> ast.For:
    made: ast.For | None = getattr(node, _ROLLED, None)
    if made is None:
        item = ast.Subscript(ast.Name(f"{over} items", ast.Load()), ast.Name(f"{over} item", ast.Load()), ast.Load())
        first = ast.Assign([target], item)
        made = ast.For(ast.Name(f"{over} item", ast.Store()), ast.Name(over, ast.Load()), [first, *body], [])
        placed(made, node)
        setattr(made, FOR_ALL, True)
        setattr(made, ORIGIN, getattr(node, ORIGIN, node))
        setattr(node, _ROLLED, made)  # the same loop twice must be the same tree twice
    return made
