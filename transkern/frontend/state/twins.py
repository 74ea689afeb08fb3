"""Lists that have the same arrays in them: ``q = list(p)``, ``p[1:]``, ``p + p``.

Compiled lists hold copies of their arrays. That is not seen as long as nobody stores into such an array while another
list is still read that has it, too: such a store is refused. So is another order of a list, or another array in it, as
long as a view of what stood there has a name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

from transkern import refusals
from transkern.frontend.anew import NotKnown, Site
from transkern.frontend.state import choices, memory
from transkern.frontend.values.reach import reached
from transkern.frontend.values.values import Array, GrowingList, Instance, Object, Value
from transkern.ir.expr import Load
from transkern.ir.traverse import variables_read

if TYPE_CHECKING:
    from transkern.frontend.context import Context


@dataclass
class Twins:
    """The memory of lists by what shares arrays with it, and of those in which an array may stand twice."""

    groups: dict[str, set[str]] = field(default_factory=dict)
    doubled: set[str] = field(default_factory=set)
    shorter: set[str] = field(default_factory=set)  # lists that got shorter while somebody looked at what they hold
    later: set[str] = field(default_factory=set)  # queues whose beginning somebody looked at when it was taken away
    originals: dict[str, list[Value]] = field(default_factory=dict)  # by memory of rows: lists that are copied there
    lent: set[str] = field(default_factory=set)  # memory of rows in which lists of the caller's stand as copies
    siblings: dict[str, set[str]] = field(default_factory=dict)  # memory of rows in which copies of one list stand
    rows: Rows = field(default_factory=lambda: Rows())


@dataclass
class Rows:
    """What is known of lists in lists; a loop that is translated again begins with what was known before it."""

    standing: set[tuple[str, str]] = field(default_factory=set)  # the memory of a list, and what is in it
    copies: dict[str, str] = field(default_factory=dict)  # by memory of what a tuple holds of a row: that of the rows
    doubled: set[str] = field(default_factory=set)  # the memory of lists in which something may stand twice
    changed: dict[str, list[tuple[int, ...]]] = field(default_factory=dict)  # by memory: the loops around changes

    def copy(self) -> Rows:
        changed = {k: list(v) for k, v in self.changed.items()}
        return Rows(set(self.standing), dict(self.copies), set(self.doubled), changed)


def note(ctx: Context, made: GrowingList, of: GrowingList, again: bool = False) -> None:
    """A list has got arrays, or lists, of another one; `again`: perhaps one of them more than once."""
    if of.row == "list" and of.columns:
        join(ctx, made.buffer, of.buffer)
    for mine, its in zip(made.leaves, of.leaves, strict=False):
        if not its.dims or not mine.buffer or mine.buffer == its.buffer:
            continue
        if again:
            ctx.lists.twins.doubled |= {mine.buffer}
        join(ctx, mine.buffer, its.buffer)


def note_more(ctx: Context, owner: GrowingList, more: Value) -> None:
    """A list has got what stands in another one, perhaps not for the first time."""
    if isinstance(more, GrowingList):
        note(ctx, owner, more, again=owner.buffer in ctx.lists.twins.groups.get(more.buffer, set()))


def join(ctx: Context, one: str, other: str) -> None:
    """What stands in the memory of one list stands in that of another."""
    groups = ctx.lists.twins.groups
    both = groups.get(one, {one}) | groups.get(other, {other})
    groups.update(dict.fromkeys(both, both))


def taken(ctx: Context, owner: GrowingList, value: Value) -> Value:
    """An array that has been taken out of a list, which others may have, too."""
    if isinstance(value, Array) and value.view and owner.buffer in ctx.lists.twins.groups:
        join(ctx, value.base, owner.buffer)
    return value


def check_twins(ctx: Context, buffer: str) -> None:
    """The user's code stores into an array that stands in a list: no other list that is still read may have it."""
    others = ctx.lists.twins.groups.get(buffer, set()) - {buffer}
    note_changed(ctx, buffer)
    if buffer in ctx.lists.twins.rows.doubled:
        _fail_doubled(ctx)
    if buffer in ctx.lists.twins.doubled or any(is_list_read(ctx, x) or _views(ctx, x) for x in sorted(others)):
        problem = "a store into an array that stands in several lists"
        ctx.fail(refusals.TWO_NAMES, problem, "make copies: [a.copy() for a in arrays]")


def are_rows_shared(ctx: Context, owner: GrowingList) -> bool:
    """Whether a list in a list, which is about to change, stands in another list, too, that may still be read."""
    others = ctx.lists.twins.groups.get(owner.buffer, set()) - {owner.buffer}
    doubled = ctx.lists.twins.doubled | ctx.lists.twins.rows.doubled
    return owner.buffer in doubled or any(is_list_read(ctx, x) for x in sorted(others))


def note_row(ctx: Context, owner: GrowingList, value: GrowingList) -> bool:
    """A list stands as a row in another one, as a copy, and perhaps as another row, too. Whether a row of it, which may
    be the same, has been changed in an earlier iteration of the loops around."""
    known = ctx.lists.twins.rows
    of = known.copies.get(value.buffer, value.buffer)
    if (
        of == owner.buffer or (owner.buffer, of) in known.standing
        or _is_from_before(ctx, ctx.aliasing.made_in.get(of, ()))
    ):
        known.doubled.add(owner.buffer)
    known.standing.add((owner.buffer, of))
    join(ctx, owner.buffer, of)
    return any(_is_changed(ctx, x) for x in (owner.buffer, of)) and are_rows_shared(ctx, owner)


def _is_changed(ctx: Context, buffer: str) -> bool:
    """Whether something in a list has been changed in a loop around this, of which there may be another iteration."""
    made = set(ctx.aliasing.made_in.get(buffer, ()))
    return any(set(ctx.control.loop_path) & set(path) - made for path in ctx.lists.twins.rows.changed.get(buffer, ()))


def note_array(ctx: Context, owner: GrowingList, array: Array) -> None:
    """An array that has a name is put into a list, as a copy, and perhaps not for the first time."""
    known, own = ctx.lists.twins.rows, {a.name for a in array.axes}
    if not isinstance(array.body, Load):
        return
    at = [x for x in array.body.index if not variables_read(x) & own]  # which part of a larger one it is
    one = f"{array.base} at {at}"
    is_one = not any(map(variables_read, at))  # and not another in each iteration
    again = (owner.buffer, one) in known.standing
    known.standing.add((owner.buffer, one))
    for other in sorted(buffer for buffer, what in known.standing if what == one and buffer != owner.buffer):
        join(ctx, owner.buffer, other)
    if again or (is_one and _is_from_before(ctx, ctx.aliasing.made_in.get(array.base, ()))):
        known.doubled.add(owner.buffer)
        if _is_changed(ctx, owner.buffer):
            _fail_doubled(ctx)


def note_changed(ctx: Context, buffer: str) -> None:
    """A list or an array in a list is about to change."""
    ctx.lists.twins.rows.changed.setdefault(buffer, []).append(ctx.control.loop_path)


def _fail_doubled(ctx: Context) -> NoReturn:
    problem = "a change of a list (an array) in a list, which may stand there twice"
    help = "put a copy there each time: row[:], a.copy()"
    raise NotKnown(refusals.TWO_NAMES, problem, help, ctx.session.span, ctx.session.lines)


def _is_from_before(ctx: Context, made: tuple[int, ...]) -> bool:
    """Whether what has been made in these loops is the same in several iterations of those around."""
    return bool(set(ctx.control.loop_path) - set(made))


def note_original(ctx: Context, pool: str, value: Value, site: Site | None) -> None:
    """A list stands among rows as a copy, in a list that is made at `site`; what an argument holds is put back."""
    known = ctx.lists.twins.originals.setdefault(pool, [])
    if _is_callers(ctx, value) and not _is_part(ctx, value, site):
        ctx.lists.twins.lent.add(pool)
    made = ctx.aliasing.made_in.get(value.buffer) if isinstance(value, GrowingList) else None
    if isinstance(value, Object):
        made = ctx.heap.made_at.get(value.token)
    one = pool, value.buffer if isinstance(value, GrowingList) else str(value)
    again = one in ctx.lists.twins.rows.standing
    for other in sorted(buffer for buffer, what in ctx.lists.twins.rows.standing if what == one[1] and buffer != pool):
        ctx.lists.twins.siblings.setdefault(pool, set()).add(other)
        ctx.lists.twins.siblings.setdefault(other, set()).add(pool)
    ctx.lists.twins.rows.standing.add(one)
    known.append(value)
    if made is not None and (again or _is_from_before(ctx, made)):
        ctx.lists.twins.rows.doubled.add(pool)
        if _is_changed(ctx, pool):
            _fail_doubled(ctx)


def check_originals(ctx: Context, pool: str) -> None:
    """A row changes: no list may still be read that stands there as a copy."""
    originals = ctx.lists.twins.originals.get(pool, ())
    note_changed(ctx, pool)
    lists = [one.buffer for one in originals if isinstance(one, GrowingList)]
    buffers = set().union(*(ctx.lists.twins.groups.get(x, {x}) for x in lists))

    def is_one(v: Value) -> bool:
        return v.buffer in buffers if isinstance(v, GrowingList) else isinstance(v, Object) and v in originals

    if originals and (names := _live(ctx, is_one)):
        problem = f"a change of a list in a list, which is `{names[0]}`, too"
        choices.stand_together(ctx, choices.sites_of(ctx, originals), problem)
        ctx.fail(refusals.TWO_NAMES, problem, f"append a copy: {names[0]}[:]")
    if pool in ctx.lists.twins.lent:
        problem = "a change of a list in a list, which is an argument's, too"
        raise NotKnown(refusals.TWO_NAMES, problem, "put a copy there: row[:]", ctx.session.span, ctx.session.lines)
    if any(is_list_read(ctx, other) for other in sorted(ctx.lists.twins.siblings.get(pool, ()))):
        problem = "a change of a list that stands in several lists"
        ctx.fail(refusals.TWO_NAMES, problem, "put copies there: row[:]")
    if pool in ctx.lists.twins.rows.doubled:
        _fail_doubled(ctx)


def _is_callers(ctx: Context, value: Value) -> bool:
    """Whether a list is one of the caller's, who sees what becomes of it."""
    if isinstance(value, GrowingList):
        return value.buffer in ctx.names.buffers and memory.is_of_argument(ctx, value.buffer)
    return isinstance(value, Object) and ctx.heap.sites[value.token][0] == "argument"


def _is_part(ctx: Context, value: Value, site: Site | None) -> bool:
    """Whether a list is what the argument that is made at `site` has held from the beginning."""
    if site is None or site[0] != "argument" or not isinstance(value, Object):
        return site is not None and site[0] == "argument"
    name = str(ctx.heap.sites[value.token][1])
    return name.startswith(f"{site[1]}_") and name not in ctx.inputs.parameters


def is_list_read(ctx: Context, buffer: str) -> bool:
    """Whether a list whose elements stand in `buffer` may still be read behind the present statement; where it is what
    objects have in an attribute, whether any object may."""
    in_objects = any(buffer in _memory(pool.owner) for pool in ctx.lists.pools.values())

    def stands_there(v: Value) -> bool:
        if isinstance(v, Instance):
            return in_objects
        return isinstance(v, GrowingList) and (buffer in _memory(v) or (v.objects is not None and in_objects))

    return bool(_live(ctx, stands_there))


def _memory(owner: GrowingList) -> set[str]:
    """Where the elements of a list, and of the lists in it, stand."""
    parts = (owner, *owner.leaves)
    return {x.buffer for x in parts} | {x.rows.pool.buffer for x in parts if x.rows is not None}


def check_views(ctx: Context, owner: GrowingList, what: str) -> None:
    """The arrays of a list are about to change places: nobody may still look at one of them where it stood."""
    others = [name for leaf in owner.leaves if leaf.dims for name in _views(ctx, leaf.buffer)]
    if others:
        help = f"copy it where it is taken out: {others[0]} = ….copy()"
        ctx.fail(refusals.TWO_NAMES, f"{what}, while `{others[0]}` is one", help)


def rows_named(ctx: Context, owner: GrowingList) -> list[str]:
    """The names that may still be read of lists in a list."""
    return _live(ctx, lambda v: isinstance(v, GrowingList) and bool(v.prefix) and v.buffer == owner.buffer)


def note_shorter(ctx: Context, owner: GrowingList, *, in_front: bool = False) -> None:
    """A list gets shorter: what is appended then (to a queue that gets shorter `in_front`, what is put in front) takes
    the places of what it lets go."""
    known = ctx.lists.twins
    for leaf in owner.leaves:
        if leaf.dims and (_views(ctx, leaf.buffer) or rows_named(ctx, leaf)):
            (known.later if in_front else known.shorter).add(leaf.buffer)


def note_longer_in_front(ctx: Context, owner: GrowingList) -> None:
    """A queue gets an element in front, where others may have been."""
    known = ctx.lists.twins
    known.shorter |= known.later & {leaf.buffer for leaf in owner.leaves}


def check_left(ctx: Context, owner: GrowingList) -> None:
    """An array is put into a list: nobody may still look at one that it has let go."""
    if owner.buffer in ctx.lists.twins.shorter and (names := _views(ctx, owner.buffer)):
        problem = f"an array in place of one that is `{names[0]}`"
        ctx.fail(refusals.TWO_NAMES, problem, f"copy it before: {names[0]}.copy()")


def _views(ctx: Context, buffer: str) -> list[str]:
    return _live(ctx, lambda v: isinstance(v, Array) and v.view and v.base == buffer)


def _live(ctx: Context, shows: Callable[[Value], bool]) -> list[str]:
    """The names that may still be read of values of some kind, or of what they are in."""
    return ctx.scopes.still_named(lambda v: any(map(shows, reached(ctx.heap.contents, v))))
