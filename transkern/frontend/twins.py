"""Lists that have the same arrays in them: ``q = list(p)``, ``p[1:]``, ``p + p``.

Compiled lists hold copies of their arrays. That is not seen as long as nobody stores into such an array while another
list is still read that has it, too: such a store is refused. So is another order of a list, or another array in it, as
long as a view of what stood there has a name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from transkern.frontend.values import Array, GrowingList, Object, Value, children

if TYPE_CHECKING:
    from transkern.frontend.context import Context


@dataclass
class Twins:
    """The memory of lists by what shares arrays with it, and of those in which an array may stand twice."""

    groups: dict[str, set[str]] = field(default_factory=dict)
    doubled: set[str] = field(default_factory=set)


def note(ctx: Context, made: GrowingList, of: GrowingList, again: bool = False) -> None:
    """A list has got arrays of another one; `again`: perhaps one of them more than once."""
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
        ctx.fail("a store into an array that stands in several lists", "make copies: [a.copy() for a in arrays]")


def is_list_read(ctx: Context, buffer: str) -> bool:
    """Whether a list whose elements stand in `buffer` may still be read behind the present statement."""
    return bool(_live(ctx, lambda v: isinstance(v, GrowingList) and any(x.buffer == buffer for x in v.leaves)))


def check_views(ctx: Context, owner: GrowingList, what: str) -> None:
    """The arrays of a list are about to change places: nobody may still look at one of them where it stood."""
    others = [name for leaf in owner.leaves if leaf.dims for name in _views(ctx, leaf.buffer)]
    if others:
        ctx.fail(f"{what}, while `{others[0]}` is one", "use an array with one dimension more")


def _views(ctx: Context, buffer: str) -> list[str]:
    return _live(ctx, lambda v: isinstance(v, Array) and v.view and v.base == buffer)


def _live(ctx: Context, shows: Callable[[Value], bool]) -> list[str]:
    """The names that may still be read of values of some kind, or of what they are in."""

    def within(value: Value, seen: frozenset[int] = frozenset()) -> bool:
        if isinstance(value, Object):
            if value.token in seen or value.token not in ctx.heap:
                return False
            return within(ctx.heap[value.token], seen | {value.token})
        return shows(value) or any(within(item, seen) for item in children(value) or ())

    return ctx.still_named(within)
