"""Loops that are translated iteration by iteration, as what each of them does is known."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from transkern import refusals
from transkern.frontend.anew import NotKnown, Terminated
from transkern.frontend.context import Context
from transkern.frontend.loops import steps
from transkern.frontend.loops.trips import condition_of
from transkern.frontend.state.control import UNROLL
from transkern.frontend.syntax.desugar import has_jumps, placed, without_jumps
from transkern.frontend.values.values import Scalar, Static, Value
from transkern.ir import build as b
from transkern.ir.expr import Expr
from transkern.ir.traverse import buffers_read, variables_read, walk

if TYPE_CHECKING:
    from transkern.frontend.loops.looping import Loops

ITEM_NAME = "loop item"  # no identifier: the value that an unrolled iteration binds
_LARGE, _IN_ALL = 250, 1500  # statements of an iteration that is not repeated; of all that it would be repeated in


def unrolled(
    loops: Loops, target: ast.expr, items: Sequence[Value], body: Sequence[ast.stmt],
    check: Callable[[], None] = lambda: None, names: tuple[str, str] | None = None,
    now: Callable[[int], Value | None] | None = None, at_length: bool = True,
) -> None:  # fmt: skip
    """A loop over values that are known one by one: its body once for each. `names` are those of its flags; `now`
    tells the value at a step, if an iteration may change them. Raises TooLong unless it may be long."""
    loops.jumps += 1
    broken, skipped = names or (f"broken {loops.jumps}", f"skipped {loops.jumps}")
    jumps = has_jumps(body)
    if jumps:
        body = without_jumps(body, broken, skipped)
        flag = ast.copy_location(ast.Name(broken, ast.Load()), target)
        first = ast.Assign([target], ast.Name(ITEM_NAME, ast.Load()))
        around = ast.If(ast.UnaryOp(ast.Not(), flag), [first, *body], [])
        placed(around, target)
        loops.env[broken] = Static(False)

    def run(position: int) -> bool:
        """The iterations from `position` on; True where the end is not reached."""
        for at in itertools.count(position):
            left = condition_of(loops.env[broken]) if jumps else b.FALSE
            if left == b.TRUE:
                break
            try:
                given = now(at) if now is not None else items[at] if at < len(items) else None
            except steps.Resized as error:
                loops.ctx.guard(left, "RuntimeError", str(error))
                break
            if given is None:
                break
            check()
            loops.pending.append(lambda at=at: run(at + 1))  # type: ignore[misc]
            begun = len(loops.ctx.emitter.out)
            try:
                if jumps:
                    loops.env[skipped] = Static(False)
                if left != b.FALSE:
                    loops.env[ITEM_NAME] = given
                    done = loops.block([around])
                else:
                    loops.assign(target, given)
                    done = loops.block(body)
                if done:
                    return True
                if not at_length:  # the first may find lists empty that later ones go through
                    _check_length(loops.ctx, begun, len(items) - at)
            finally:
                loops.pending.pop()
        return False

    if run(0):
        raise Terminated


def unrolled_while(loops: Loops, test: ast.expr, body: Sequence[ast.stmt], error: NotKnown) -> None:
    """A `while` whose iterations are translated one by one, as each time it is known whether there is another."""
    ctx = loops.ctx
    with ctx.emitter.block():
        try:
            first = loops.test(test)
        except Terminated:
            raise error from None
    if isinstance(first, Scalar):
        if error.finds("lengthened") and not _is_of_sizes(first.expr):
            raise error
        try:
            ctx.must_be_known(first, error.problem, error.help, error.kind)
        except NotKnown:  # of the sizes of arrays that the function has made
            if error.finds("lengthened"):
                raise error from None
            raise

    def run(position: int) -> bool:
        """The iterations from `position` on; True where the end is not reached."""
        for at in range(position, UNROLL):
            with ctx.emitter.block(ctx.emitter.out) as extra:
                holds = loops.test(test)
            if not isinstance(holds, Static) or has_jumps(body):
                raise error
            ctx.emitter.out.extend(extra)
            if not holds.value:
                return False
            loops.pending.append(lambda at=at: run(at + 1))  # type: ignore[misc]
            try:
                if loops.block(body):
                    return True
            finally:
                loops.pending.pop()
        raise error

    if run(0):
        raise Terminated


def steps_of(
    loops: Loops, source: Value, over: steps.Over, items: Sequence[Value], node: ast.For
) -> Callable[[int], Value | None] | None:
    """What a loop over values that are known one by one takes at a step, if an iteration may change that: what a
    list, or a dict, holds by then."""
    if not over.held:
        return None
    ctx, step = loops.ctx, steps.stepper(loops.ctx, source)

    def now(at: int) -> Value | None:
        if not over.changed(ctx):
            return items[at] if at < len(items) else None
        if at > UNROLL:
            problem = "a loop over a list that gets longer and longer in it"
            ctx.fail(refusals.STATEMENT, problem, "loop over a copy, list(…), or write a `while` loop", node)
        return step(at)

    return now


def _is_of_sizes(e: Expr) -> bool:
    """Whether the sizes of arguments alone say what an expression is."""
    return all(map(b.is_size_name, variables_read(e))) and not buffers_read(e)


class TooLong(Exception):
    """The body of a loop over a few values is too long to be there for each of them."""


def _check_length(ctx: Context, begun: int, values: int) -> None:
    """Raises TooLong if an iteration, what has been written since `begun`, is not to be there `values` times."""
    count = sum(1 for _ in walk(ctx.emitter.out[begun:]))
    if count > _LARGE and count * values > _IN_ALL:
        raise TooLong
