"""Lists that have the same arrays in them: ``q = list(p)``, ``p[1:]``, ``p + p``.

Compiled lists hold copies of their arrays. That is not seen as long as nobody stores into such an array while another
list is still read that has it, too: such a store is refused. So is another order of a list, or another array in it, as
long as a view of what stood there has a name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from transkern import refusals
from transkern.frontend.reach import reached
from transkern.frontend.values import Array, GrowingList, Object, Value

if TYPE_CHECKING:
    from transkern.frontend.context import Context


@dataclass
class Twins:
    """The memory of lists by what shares arrays with it, and of those in which an array may stand twice."""

    groups: dict[str, set[str]] = field(default_factory=dict)
    doubled: set[str] = field(default_factory=set)
    shorter: set[str] = field(default_factory=set)  # lists that got shorter while somebody looked at what they hold
    originals: dict[str, list[Value]] = field(default_factory=dict)  # by memory of rows: lists that are copied there


def note(ctx: Context, made: GrowingList, of: GrowingList, again: bool = False) -> None:
    """A list has got arrays, or lists, of another one; `again`: perhaps one of them more than once."""
    if of.row == "list" and of.columns:
        join(ctx, made.buffer, of.buffer)
    for mine, its in zip(made.leaves, of.leaves, strict=False):
        if not its.dims or not mine.buffer or mine.buffer == its.buffer:
            continue
        if again:
            ctx.twins.doubled |= {mine.buffer}
        join(ctx, mine.buffer, its.buffer)


def note_more(ctx: Context, owner: GrowingList, more: Value) -> None:
    """A list has got what stands in another one, perhaps not for the first time."""
    if isinstance(more, GrowingList):
        note(ctx, owner, more, again=owner.buffer in ctx.twins.groups.get(more.buffer, set()))


def join(ctx: Context, one: str, other: str) -> None:
    """What stands in the memory of one list stands in that of another."""
    groups = ctx.twins.groups
    both = groups.get(one, {one}) | groups.get(other, {other})
    groups.update(dict.fromkeys(both, both))


def taken(ctx: Context, owner: GrowingList, value: Value) -> Value:
    """An array that has been taken out of a list, which others may have, too."""
    if isinstance(value, Array) and value.view and owner.buffer in ctx.twins.groups:
        join(ctx, value.base, owner.buffer)
    return value


def check_twins(ctx: Context, buffer: str) -> None:
    """The user's code stores into an array that stands in a list: no other list that is still read may have it."""
    others = ctx.twins.groups.get(buffer, set()) - {buffer}
    if buffer in ctx.twins.doubled or any(is_list_read(ctx, x) or _views(ctx, x) for x in sorted(others)):
        problem = "a store into an array that stands in several lists"
        ctx.fail(refusals.TWO_NAMES, problem, "make copies: [a.copy() for a in arrays]")


def are_rows_shared(ctx: Context, owner: GrowingList) -> bool:
    """Whether a list in a list, which is about to change, stands in another list, too, that may still be read."""
    others = ctx.twins.groups.get(owner.buffer, set()) - {owner.buffer}
    return owner.buffer in ctx.twins.doubled or any(is_list_read(ctx, x) for x in sorted(others))


def note_original(ctx: Context, pool: str, value: Value) -> None:
    """A list stands among rows as a copy."""
    ctx.twins.originals.setdefault(pool, []).append(value)


def check_originals(ctx: Context, pool: str) -> None:
    """A row changes: no list may still be read that stands there as a copy."""
    originals = ctx.twins.originals.get(pool, ())
    lists = [one.buffer for one in originals if isinstance(one, GrowingList)]
    buffers = set().union(*(ctx.twins.groups.get(x, {x}) for x in lists))

    def is_one(v: Value) -> bool:
        return v.buffer in buffers if isinstance(v, GrowingList) else isinstance(v, Object) and v in originals

    if originals and (names := _live(ctx, is_one)):
        problem = f"a change of a list in a list, which is `{names[0]}`, too"
        ctx.fail(refusals.TWO_NAMES, problem, f"append a copy: {names[0]}[:]")


def is_list_read(ctx: Context, buffer: str) -> bool:
    """Whether a list whose elements stand in `buffer` may still be read behind the present statement."""
    return bool(_live(ctx, lambda v: isinstance(v, GrowingList) and any(x.buffer == buffer for x in (v, *v.leaves))))


def check_views(ctx: Context, owner: GrowingList, what: str) -> None:
    """The arrays of a list are about to change places: nobody may still look at one of them where it stood."""
    others = [name for leaf in owner.leaves if leaf.dims for name in _views(ctx, leaf.buffer)]
    if others:
        help = f"copy it where it is taken out: {others[0]} = ….copy()"
        ctx.fail(refusals.TWO_NAMES, f"{what}, while `{others[0]}` is one", help)


def rows_named(ctx: Context, owner: GrowingList) -> list[str]:
    """The names that may still be read of lists in a list."""
    return _live(ctx, lambda v: isinstance(v, GrowingList) and bool(v.prefix) and v.buffer == owner.buffer)


def note_shorter(ctx: Context, owner: GrowingList) -> None:
    """A list gets shorter: what is appended then takes the places of what it lets go."""
    for leaf in owner.leaves:
        if leaf.dims and (_views(ctx, leaf.buffer) or rows_named(ctx, leaf)):
            ctx.twins.shorter.add(leaf.buffer)


def check_left(ctx: Context, owner: GrowingList) -> None:
    """An array is put into a list: nobody may still look at one that it has let go."""
    if owner.buffer in ctx.twins.shorter and (names := _views(ctx, owner.buffer)):
        problem = f"an array in place of one that is `{names[0]}`"
        ctx.fail(refusals.TWO_NAMES, problem, f"copy it before: {names[0]}.copy()")


def _views(ctx: Context, buffer: str) -> list[str]:
    return _live(ctx, lambda v: isinstance(v, Array) and v.view and v.base == buffer)


def _live(ctx: Context, shows: Callable[[Value], bool]) -> list[str]:
    """The names that may still be read of values of some kind, or of what they are in."""
    return ctx.still_named(lambda v: any(map(shows, reached(ctx.heap, v))))
