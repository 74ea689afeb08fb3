"""What an iteration leaves that others see: views of arrays, lists under two names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from transkern import refusals
from transkern.frontend.context import Context
from transkern.frontend.loops.carried.values import slot_pairs
from transkern.frontend.state import handing, memory
from transkern.frontend.syntax.desugar import RETURNED
from transkern.frontend.values.reach import is_memory_of, reached
from transkern.frontend.values.values import (
    ITEM,
    Array,
    Function,
    GrowingList,
    Hashed,
    Known,
    Maybe,
    Object,
    OrNone,
    Seq,
    Unbound,
    Value,
    children,
)  # fmt: skip

if TYPE_CHECKING:
    from transkern.frontend.loops.carried.state import LoopState
    from transkern.frontend.loops.looping import Loops


def check_alias(state: LoopState, owner: Loops, name: str, slot: Value, value: Value) -> None:
    """Two names for one array at the end of an iteration, or one for an array that stands in a list, a dict or an
    object, and a store into it: copies would not do."""
    aliasing, heap = owner.ctx.aliasing, owner.ctx.heap.contents
    left = {one.base for one in _arrays_of(value) if one.view}
    # of others, the next iteration begins with another array
    others = {k: v for k, v in owner.env.items() if k != name and (k not in state.all_assigned or state.is_live(k))}
    same = [k for k, v in others.items() if isinstance(v, Array) and v.view and v.base in left]
    stored = state.stored & {name, *same}
    if same and stored:
        owner.ctx.fail(
            refusals.LOOP_ALIAS,
            f"`{name}` and `{same[0]}` are one array at the end of an iteration, and the loop stores into "
            f"`{sorted(stored)[0]}`", f"write {name} = {same[0]}.copy(), or {name}[:] = {same[0]}",
        )  # fmt: skip
    # stores into what an iteration begins with; those through what else shows it, `note_shown` sees to
    if not left or not any(aliasing.is_changed(one.base) for one in _arrays_of(slot)):
        return
    shown = set[str]().union(*map(aliasing.shown_by, left))  # what a branch has chosen is a copy of what it shows
    frames = (others if frame is owner.env else frame for frame in owner.ctx.scopes.frames)
    held = [k for frame in frames for k, v in frame.items() if is_memory_of(heap, v, shown)]
    if held:
        owner.ctx.fail(
            refusals.LOOP_ALIAS,
            f"`{name}` is in `{held[0]}` at the end of an iteration, and the loop stores into `{name}`",
            f"bind {name} to a copy",
        )


def _arrays_of(value: Value) -> Iterator[Array]:
    """An array, or those in a tuple."""
    match value:
        case Array():
            yield value
        case Maybe(value=inner) | OrNone(value=inner):
            yield from _arrays_of(inner)
        case Seq(items):
            for item in items:
                yield from _arrays_of(item)


def note_shown(state: LoopState, owner: Loops, name: str, slot: Value, value: Value) -> None:
    """What an iteration leaves under a name is copied: nobody may store into the arrays that it shows while it is
    still read."""
    ctx = owner.ctx
    own = {v.base for v in reached(ctx.heap.contents, slot) if isinstance(v, Array) and v.view}
    found = {
        base for v in reached(ctx.heap.contents, value) if isinstance(v, Array) and v.view and v.base not in own
        for base in ctx.aliasing.shown_by(v.base)
    }  # fmt: skip
    for copy, one in slot_pairs(state, ctx, slot, value):
        if isinstance(copy, Array) and isinstance(one, Array) and one.view and copy.base not in ctx.aliasing.chosen:
            if _is_seen_behind(state, owner, name, one):
                ctx.aliasing.chosen[copy.base] = name, None
    if not found <= state.outside.shown.get(name, set()):
        state.outside.shown.setdefault(name, set()).update(found)
        state.widened = True


def _is_seen_behind(state: LoopState, owner: Loops, name: str, value: Array) -> bool:
    """Whether names that may be read behind an iteration, or the caller's, show an array that it leaves."""
    ctx = owner.ctx
    if (
        memory.is_of_argument(ctx, value.base)
        or value.base in (*ctx.aliasing.doubtful, *ctx.aliasing.chosen, *ctx.aliasing.begun)
    ):
        return True
    others = [
        v for frame in ctx.scopes.frames for k, v in frame.items()
        if frame is not owner.env or (k != name and state.is_live(k))
    ]  # fmt: skip
    heap = {} if name is ITEM else ctx.heap.contents  # what stands in a container is seen through that
    held = [v for contents in ctx.heap.contents.values() for v in children(contents) or ()] if name is ITEM else []
    shown = [v for v in (*others, *held) if is_memory_of(heap, v, (value.base,))]
    return len(shown) > (1 if name is ITEM else 0)


def note_lists(state: LoopState, owner: Loops, name: str, slot: Value, value: Value, leaving: bool) -> None:
    """Nobody may change lists, dicts and objects of which an iteration leaves a copy, if others see them."""
    ctx = owner.ctx
    kept = [v for v in reached(ctx.heap.contents, slot) if isinstance(v, (Object, GrowingList))]
    found = reached(ctx.heap.contents, value)
    lists = [v for v in found if isinstance(v, (Object, GrowingList)) and not _among(v, kept)]
    read = _read_at_the_end(state, owner, name, leaving)
    others = [v for frame in ctx.scopes.frames for k, v in frame.items() if frame is not owner.env or k in read]
    for other, one in state.slots.items():
        if other != name and any(_among(v, reached(ctx.heap.contents, one)) for v in lists):
            state.contents.handed_on.setdefault(other, set()).add(name)
    for made in lists:
        if any(_among(made, reached(ctx.heap.contents, v)) for v in others):
            handing.only_read(ctx, made)
            state.outside.aliased.add(name)


def _read_at_the_end(state: LoopState, owner: Loops, name: str, leaving: bool) -> set[str]:
    """The names that may be read beside `name` when an iteration ends: the next one begins without those that it binds
    anew before it reads them, who leaves the loop goes on with what stands behind it, and who returns a value with
    nothing else of the function."""
    if not leaving:
        return {k for k in owner.env if k not in state.all_assigned or state.is_live(k)} - {name}
    return {k for k in owner.env if k in state.live_behind or " " in k} - {name} if name != RETURNED else set()


def check_lists(state: LoopState, owner: Loops, name: str, value: Value, leaving: bool) -> None:
    """The same for lists, dicts and objects."""
    read = _read_at_the_end(state, owner, name, leaving)
    same = [k for k, v in owner.env.items() if k in read and state.is_live(k) and is_shown(v, value)]
    changed = state.stored & {name, *same}
    if same and changed:
        owner.ctx.fail(
            refusals.TWO_NAMES,
            f"`{name}` and `{same[0]}` are one list at the end of an iteration, and the loop changes "
            f"`{sorted(changed)[0]}`", f"write {name} = {same[0]}[:]",
        )  # fmt: skip


def check_function(state: LoopState, ctx: Context, name: str, value: Value | None) -> None:
    """Refuses another function under a name that the next iteration, or what comes after the loop, may call."""
    before = state.before.get(name)
    functions = [v for v in (before, value) if isinstance(v, (Function, Known))]
    if before is None or isinstance(before, Unbound) or not functions or not state.is_live(name):
        return
    if value is not None and value != before:
        problem = f"`{name}` stands for one function before a loop and for another in it"
        ctx.fail(refusals.TYPE_DIFFERS, problem, "give them two names")


def _among(what: Value, values: Iterable[Value]) -> bool:
    """Whether a list, dict or object is one of some values."""
    return any(v is what or (v == what and not isinstance(v, GrowingList)) for v in values)


def is_shown(value: Value, what: Value) -> bool:
    """Whether a value is a certain list, dict or object, or holds it."""
    if isinstance(value, (Maybe, OrNone)):
        return is_shown(value.value, what)
    same = value is what if isinstance(what, (GrowingList, Hashed)) else value == what
    return same or any(is_shown(v, what) for v in children(value) or ())


def changed_from_before(state: LoopState, owner: Loops) -> str:
    """The name of a list, dict or object from before the loop that iterations change, of which its slot is a copy,
    and that is seen under another name, too."""
    ctx = owner.ctx
    for token, (name, initial) in state.contents.begun_as.items():
        changes = token in ctx.heap.changed_at or _is_grown(ctx, state.contents.fresh[token])
        if changes or _changes_later(state, ctx, name):
            if initial.token in ctx.inputs.paths or _is_seen_before(state, owner, name, initial):
                return name
    for name, slot in state.slots.items():
        initial_list = state.before.get(name)
        contents = state.contents.fresh.get(slot.token, slot) if isinstance(slot, Object) else slot
        if isinstance(initial_list, GrowingList) and contents is not initial_list:
            changes = _is_grown(ctx, contents) or _changes_later(state, ctx, name)
            if changes and _is_seen_before(state, owner, name, initial_list):
                return name
    return ""


def _changes_later(state: LoopState, ctx: Context, name: str) -> bool:
    """Whether iterations change what an earlier one has handed on from a name to another."""
    found: set[str] = set()
    asked = [name]
    while asked:
        more = state.contents.handed_on.get(asked.pop(), set()) - found
        found |= more
        asked += more
    held = [v for other in found for v in reached(ctx.heap.contents, state.slots[other])]
    tokens = {v.token for v in held if isinstance(v, Object)}
    return bool(tokens & set(ctx.heap.changed_at)) or any(_is_grown(ctx, v) for v in held)


def _is_seen_before(state: LoopState, owner: Loops, name: str, value: Value | None) -> bool:
    """Whether a list, dict or object that a name stands for before the loop is seen under another one, too, which
    may be read in the loop or behind it."""
    read = state.live | state.live_behind
    others = [v for k, v in state.before.items() if k != name and (k in read or " " in k)]
    others += [v for frame in owner.ctx.scopes.frames if frame is not owner.env for v in frame.values()]
    return value is not None and any(_among(value, reached(state.contents.heap, v)) for v in others)


def _is_grown(ctx: Context, value: Value) -> bool:
    """Whether a list is changed in its own memory."""
    if isinstance(value, Hashed):
        return any(ctx.aliasing.is_changed(buffer) for buffer in handing.memory(value))
    return isinstance(value, GrowingList) and any(ctx.aliasing.is_changed(part.buffer) for part in value.parts)
