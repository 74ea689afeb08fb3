"""Lists, dicts, objects and arrays that are one of two, as a condition chooses at run time, and what chose them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from transkern import refusals
from transkern.errors import NeedsConstant
from transkern.frontend.anew import Finding, NotKnown, Site
from transkern.frontend.values.values import GrowingList, Object, OneOf, Scalar, Seq, Static, Unbound, Value
from transkern.ir.expr import Var

if TYPE_CHECKING:
    from transkern.frontend.context import Context


class Choice(NamedTuple):
    """What stands for one of two, and these, by their tokens, their memory, or the variable that tells which (among
    `buffers`: names of both are all different); `place` is that of the statement that
    chooses, if others are behind it in its block."""

    place: Site | None
    tokens: frozenset[int]
    buffers: frozenset[str]
    sites: frozenset[Site] = frozenset()  # where lists are made that may stand in one memory, if that is known of all


def fork(ctx: Context, token: int | None, buffer: str = "") -> None:
    """Where what is changed is one of two, the translation begins anew: what is behind the statement that has chosen,
    in its block, is translated for each of them by itself."""
    found = [c for c in reversed(ctx.heap.choices) if token in c.tokens or buffer in c.buffers]
    problem = "a change of one of two lists (dicts, arrays), of which only the run knows which it is"
    for choice in found:
        fork_at(ctx, choice.place, problem, "change it in each of the two branches")
    for choice in found:
        stand_together(ctx, choice.sites, problem)


def note_chosen(ctx: Context, place: Site | None, variable: Var) -> None:
    """What a statement has chosen of several known objects, by the variable that tells which."""
    ctx.heap.choices.append(Choice(place, frozenset(), frozenset([variable.name])))


def fork_for(ctx: Context, value: Value) -> None:
    """The same where a value must be known, if it is one of several known objects: a key of a dict whose keys are."""
    if isinstance(value, OneOf) and isinstance(value.index, Var):
        fork(ctx, None, value.index.name)


def note_copy(ctx: Context, made: Object, of: Sequence[Value]) -> None:
    """A list with a name is a copy of one of several, of which only the run knows which: it may be read, as long as
    none of them changes."""
    ctx.heap.choices.append(Choice(None, frozenset([made.token]), frozenset(), sites_of(ctx, of)))
    ctx.heap.handed.add(made.token)
    for one in of:
        if isinstance(one, Object):
            ctx.heap.copied.setdefault(one.token, []).append(made)


def sites_of(ctx: Context, values: Sequence[Value]) -> frozenset[Site]:
    """Where lists are made that may stand in one memory; nothing where some of the values are no such lists."""
    known = [v for v in values if isinstance(v, Object) and v.token in ctx.heap.contents]  # others are gone
    sites = [ctx.heap.sites[v.token] for v in known if _is_own_list(ctx.deref(v))]
    if len(sites) < len(values) or any(site[0] in ("argument", "fixed") for site in sites):
        return frozenset()
    return frozenset(sites)


def _is_own_list(contents: Value) -> bool:
    """Whether it is a list that may change its length, and no queue."""
    if isinstance(contents, GrowingList):
        return not contents.is_queue and not contents.outside
    return isinstance(contents, Seq) and contents.kind == "list" and not contents.outside


def stand_together(ctx: Context, sites: frozenset[Site], problem: str) -> None:
    """Lists that are made at some places stand in one memory from now on, where a number tells which is meant."""
    known = ctx.learned.together
    if sites and not all(site in known and known[site] == known[min(sites, key=repr)] for site in sites):
        help = "change it in each of the two branches"
        error = NotKnown(refusals.TWO_NAMES, problem, help, ctx.session.span, ctx.session.lines)
        error.finding = Finding("together", sites)
        raise error


def fork_at(ctx: Context, place: Site | None, problem: str, help: str) -> None:
    """The same for a statement of this place, if others are behind it, for which that has not been done yet."""
    if place is not None and place not in ctx.learned.forked:
        error = NotKnown(refusals.TWO_NAMES, problem, help, ctx.session.span, ctx.session.lines)
        error.finding = Finding("forked", place)
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
