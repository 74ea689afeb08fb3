"""Values with a name that are computed before what they are made of changes."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn

from transkern import refusals
from transkern.frontend.anew import Finding, NotKnown
from transkern.frontend.values.values import Array, Seq, Value
from transkern.ir.expr import Expr
from transkern.records import replace

if TYPE_CHECKING:
    from transkern.frontend.context import Context


def evaluate_name(
    ctx: Context, frame: dict[str, Value], name: str, chosen: Callable[[Array], bool],
    changes: Callable[[Expr], bool] | None = None,
) -> None:  # fmt: skip
    """Those `chosen` of the arrays that a name stands for are computed now, as what `changes` is about to. A name
    of a calling function cannot be computed in a branch or a loop of the one that is called: the translation begins
    anew, and computes it where it is bound."""
    value, frames = frame[name], ctx.scopes.frames
    made = evaluated(ctx, value, name, chosen, changes)
    if made is value:
        return
    inner = next((k for k, f in enumerate(frames) if f is frame), len(frames)) + 1
    if inner < len(frames) and ctx.scopes.called_in[inner] is not ctx.emitter.out:
        must_be_early(ctx, name, "in a branch or a loop of a function, into what", "is still to be read from")
    frame[name] = made


def must_be_early(ctx: Context, name: str, store: str, read: str = "") -> NoReturn:
    """What a name stands for is computed where it is bound: the translation begins anew."""
    problem, help = f"a store, {store} `{name}` {read}".rstrip(), f"copy it before: {name} = {name}.copy()"
    late = NotKnown(refusals.SHARED_MEMORY, problem, help, ctx.session.span, ctx.session.lines)
    late.finding = Finding("early", ("name", name))
    raise late


def evaluated(
    ctx: Context, value: Value, name: str, chosen: Callable[[Array], bool],
    changes: Callable[[Expr], bool] | None = None,
) -> Value:  # fmt: skip
    """`value`, bound to `name`, with those `chosen` of its arrays, which may be items of a tuple, computed now."""
    match value:
        case Array() if chosen(value):
            return ctx.define(value, name) if changes is None else ctx.held_aside(value, name, changes)
        case Seq(items, "tuple"):
            made = tuple(evaluated(ctx, item, name, chosen, changes) for item in items)
            return value if all(map(operator.is_, made, items)) else replace(value, items=made)
        case _:
            return value
