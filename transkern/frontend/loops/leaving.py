"""Behind a loop whose names have changed places: what they stand for depends on how often it ran."""

from __future__ import annotations

import ast
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from transkern import refusals
from transkern.frontend.anew import Terminated
from transkern.frontend.loops.trips import stable_parts
from transkern.frontend.loops.turns import Turns, rebinding
from transkern.frontend.syntax.desugar import placed
from transkern.frontend.syntax.liveness import ORIGIN, live_names
from transkern.frontend.translate.comprehensions import UNROLLED
from transkern.frontend.values.values import Scalar, Static, Trips
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Expr
from transkern.parsing import all_nodes

if TYPE_CHECKING:
    from transkern.frontend.loops.looping import Loops

_APART, _SHORT = 3, 500  # loops behind which the function's rest is translated more than once; its nodes


def where_left(loops: Loops, node: ast.While | ast.For, turns: Turns) -> None:
    """After a loop that may be left where its names have changed places."""
    ways = []
    for k in range(1, turns.period):
        statements, given = rebinding(turns, k, f"turn {k}")
        loops.env.update(given)
        ways.append((b.compare("equal", turns.turn, b.index(k)), statements))  # type: ignore[arg-type]
    _one_of(loops, ways, node, turns)


def trips_left(
    loops: Loops, node: ast.For, target: ast.expr, body: Sequence[ast.stmt], left: Expr, items: Sequence[Trips],
    turns: Turns,
) -> None:  # fmt: skip
    """The iterations behind those that go several at a time; `left` says how many there are."""
    ways, rest = [], list[ast.stmt]()
    for k, item in enumerate(items):
        loops.env[f"trip left {k}"] = item
        once = ast.For(target, ast.Name(f"trip left {k}", ast.Load()), list(body), [])
        setattr(once, UNROLLED, True)
        setattr(once, ORIGIN, getattr(node, ORIGIN, node))
        rest.append(once)
        ways.append((b.compare("equal", left, b.index(k + 1)), list(rest)))
    _one_of(loops, ways, node, turns)


def _one_of(loops: Loops, ways: Sequence[tuple[Expr, list[ast.stmt]]], node: ast.While | ast.For, turns: Turns) -> None:
    """What is done behind a loop, at most one of several things, after which names stand for other arrays: the
    rest of the function is then translated for each by itself, where it is short; else what they stand for is a
    copy."""
    for _, statements in ways:
        for x in statements:
            placed(x, node)
    live = live_names(loops.node, node)[1]
    size = sum(1 for x in all_nodes(loops.node) if getattr(x, "lineno", 0) > (node.end_lineno or node.lineno))
    apart = not loops.inlined and not loops.loops and loops.apart < _APART and size < _SHORT
    if (live & turns.names or turns.items) and apart:
        _each_way(loops, ways)
        raise Terminated
    if turns.items:
        problem = "the loop exchanges arrays that others see, and what comes after it depends on how often"
        help = "put copies of the arrays there before the loop, with .copy(), and exchange those"
        loops.ctx.fail(refusals.LOOP_ALIAS, problem, help, node)
    chosen: list[ast.stmt] = []
    for k, (condition, statements) in reversed(list(enumerate(ways))):
        loops.env[f"way {k}"] = Scalar(condition)
        chosen = [placed(ast.If(ast.Name(f"way {k}", ast.Load()), statements, chosen), node)]
    condition, statements = ways[0]
    then = chosen[0]
    assert isinstance(then, ast.If)
    if loops.fork(condition, statements, then.orelse, live):
        raise Terminated


def _each_way(loops: Loops, ways: Sequence[tuple[Expr, list[ast.stmt]]]) -> None:
    """Each way to the function's end, and last the one on which nothing is done."""
    ctx = loops.ctx
    before, heap, held = dict(loops.env), dict(ctx.heap.contents), list(loops.pending)
    none = functools.reduce(b.both, (b.logical_not(condition) for condition, _ in ways))
    loops.apart += 1
    try:
        for condition, statements in [*ways, (None, [])]:
            loops.env.clear()
            loops.env.update(before)
            ctx.heap.contents = dict(heap)
            with ctx.emitter.block() as out, ctx.facts.knowing(
                stable_parts(ctx, none if condition is None else condition)
            ):
                done = loops.block(statements)
                while loops.pending and not done:
                    done = loops.pending.pop()()
                if not done:
                    ctx.emit(n.Return(loops.returned(Static(None))))
            loops.pending[:] = held
            if condition is None:
                ctx.emitter.out.extend(out)
            else:
                ctx.emit(n.If(condition, tuple(out)))
    finally:  # also where the translation begins anew
        loops.pending[:] = held
        loops.apart -= 1
