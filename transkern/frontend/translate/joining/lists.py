"""Two lists as one: a copy, as long as nobody changes either."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from transkern.frontend.bodies import RETURN
from transkern.frontend.containers import growing, making
from transkern.frontend.loops.carried.sharing import is_shown
from transkern.frontend.state import choices, handing
from transkern.frontend.state.choices import Choice
from transkern.frontend.values.reach import stands_in_list
from transkern.frontend.values.values import Array, GrowingList, Object, Seq, Unbound, Value
from transkern.ir import nodes as n
from transkern.ir.traverse import walk

if TYPE_CHECKING:
    from transkern.frontend.translate.branching import Branches


def join_lists(body: Branches, name: str, one: Value, two: Value, out1: list[n.Stmt], out2: list[n.Stmt]) -> Value:
    """A list that grows, with the elements of one of two."""
    ctx = body.ctx
    if any(isinstance(v, GrowingList) and v.is_queue for v in (one, two)):
        return Unbound(f"`{name}` is another deque on each of two paths", body.decides)
    kinds = {v.kind for v in (one, two) if isinstance(v, (Seq, GrowingList))}
    if len(kinds) > 1:
        return Unbound(f"`{name}` is a {' or a '.join(sorted(kinds))} on each of two paths", body.decides)
    joined = making.new(ctx, name, body.site(f"{name} of two"))
    known = joined.around.known - _named_in(out1) - _named_in(out2)  # its memory is made before the paths part
    joined.around = replace(joined.around, known=known)
    for value, out in ((one, out1), (two, out2)):
        with ctx.emitter.block(out) as more:
            growing.extend(ctx, joined, value)
        out.extend(more)
    if any(isinstance(v, GrowingList) and (v.prefix or stays(body, name, v)) for v in (one, two)):
        note_choice(body, name, one, two, joined)  # it is a copy of what is seen elsewhere, too
    as_given(body, one, two, joined)
    joined.kind = kinds.pop()
    return joined


def stays(body: Branches, name: str, value: Value) -> bool:
    """Whether a list, dict or object is seen under another name than the one that is being joined."""
    env1, env2, live = body.joining
    named = [k for env in (env1, env2) for k, v in env.items() if k != name and is_shown(v, value)]
    outer = any(
        is_shown(v, value) for frame in body.ctx.scopes.frames if frame is not body.env for v in frame.values()
    )
    held = any(is_shown(v, value) for v in body.ctx.heap.contents.values() if v is not value)
    path = isinstance(value, Object) and value.token in body.ctx.inputs.paths
    return outer or held or path or any(live is None or k in live for k in named)


def as_given(body: Branches, one: Value, two: Value, made: Value) -> None:
    """Where one of two values stands in a list, as a copy, what is made of them is not to be changed either."""
    ctx = body.ctx
    ends = body.given or ((ctx.heap.handed, ctx.aliasing.appended),) * 2
    if any(stands_in_list(v, *end) for v, end in zip((one, two), ends, strict=True)):
        if isinstance(made, Array):
            handing.must_keep(ctx, made)
        else:
            handing.only_read(ctx, made)


def note_choice(body: Branches, name: str, *values: Value) -> None:
    """What stands for one of two lists, dicts or objects is a copy of it, and all of them may only be read."""
    ctx = body.ctx
    place = None if name is RETURN else body.choosing
    tokens = frozenset(v.token for v in values if isinstance(v, Object))
    buffers = frozenset(buffer for v in values for buffer in handing.memory(ctx.deref(v)))
    ctx.heap.choices.append(Choice(place, tokens, buffers, choices.sites_of(ctx, values[:2])))
    for v in values:
        handing.only_read(ctx, v)


def _named_in(statements: Sequence[n.Stmt]) -> set[str]:
    """The sizes and numbers that statements give names to."""
    return {s.name.removesuffix(".size") for s in walk(statements) if isinstance(s, n.Let)}
