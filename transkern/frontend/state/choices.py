"""Lists, dicts, objects and arrays that are one of two, as a condition chooses at run time, and what chose them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, NoReturn

from transkern import refusals
from transkern.errors import NeedsConstant
from transkern.frontend.anew import NotKnown, Site
from transkern.frontend.values.values import Scalar, Static, Unbound

if TYPE_CHECKING:
    from transkern.frontend.context import Context


class Choice(NamedTuple):
    """What stands for one of two, and these, by their tokens and their memory; `place` is that of the statement that
    chooses, if others are behind it in its block."""

    place: Site | None
    tokens: frozenset[int]
    buffers: frozenset[str]


def fork(ctx: Context, token: int | None, buffer: str = "") -> None:
    """Where what is changed is one of two, the translation begins anew: what is behind the statement that has chosen,
    in its block, is translated for each of them by itself."""
    for place, tokens, buffers in reversed(ctx.heap.choices):
        if token in tokens or buffer in buffers:
            problem = "a change of one of two lists (dicts, arrays), of which only the run knows which it is"
            fork_at(ctx, place, problem, "change it in each of the two branches")


def fork_at(ctx: Context, place: Site | None, problem: str, help: str) -> None:
    """The same for a statement of this place, if others are behind it, for which that has not been done yet."""
    if place is not None and place not in ctx.learned.forked:
        error = NotKnown(refusals.TWO_NAMES, problem, help, ctx.session.span, ctx.session.lines)
        error.forked = place
        raise error


def must_be_known(ctx: Context, unbound: Unbound) -> NoReturn:
    """What is read has another type on each of two paths: they go apart, or what decides is known."""
    decides = Static(None) if unbound.decides is None else Scalar(unbound.decides)
    try:
        ctx.must_be_known(decides, unbound.why, unbound.help, refusals.TYPE_DIFFERS)
    except NeedsConstant as need:
        if need.demand in ctx.inputs.integers | ctx.inputs.dims:  # there would be code for each number
            fork_at(ctx, unbound.place, unbound.why, unbound.help)
        raise
    except NotKnown:
        fork_at(ctx, unbound.place, unbound.why, unbound.help)
        raise
