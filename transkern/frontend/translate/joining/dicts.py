"""Dicts and sets of two paths as one, whose keys only the run knows."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from transkern import refusals
from transkern.frontend.context import Context
from transkern.frontend.loops.carried import dicts as carried_dicts
from transkern.frontend.values.values import Array, Dict, Hashed, Object, Seq, Value, same_structure
from transkern.ir import nodes as n

if TYPE_CHECKING:
    from transkern.frontend.translate.branching import Branches


def dicts_joined(
    body: Branches, name: str, one: Value, two: Value, out1: list[n.Stmt], out2: list[n.Stmt]
) -> Hashed | None:  # fmt: skip
    """A dict (set) with what one of two holds; None where they are of two kinds."""
    assert isinstance(one, Hashed) and isinstance(two, Hashed)
    shape = carried_dicts.joined(body.ctx, one, two)
    if shape is None:
        return None
    made = carried_dicts.made(body.ctx, name, shape)
    for value, out in ((one, out1), (two, out2)):
        body.at_end(out, functools.partial(carried_dicts.take, body.ctx, made, value))
    return made


def must_be_hashed(body: Branches, name: str, one: Value, two: Value) -> None:
    """Dicts (sets) of which one has keys that only the run knows, or that are others in each iteration of a loop:
    the translation begins anew, where they are known so far."""
    ctx = body.ctx
    held = [ctx.deref(v) if isinstance(v, Object) else v for v in (one, two)]
    known = [
        v for v, contents in zip((one, two), held, strict=True)
        if isinstance(v, Object) and may_get_keys(ctx, contents) and ctx.grows_at(v.token) is not None
    ]  # fmt: skip
    both = len(known) == 2 and type(held[0]) is type(held[1]) and not same_structure(*held) and bool(body.loops)
    if known and (both or any(isinstance(v, Hashed) for v in held)):
        ctx.must_grow(known[0].token, f"`{name}`, one of two dicts (sets)", refusals.RUN_TIME_KEYS)


def may_get_keys(ctx: Context, contents: Value) -> bool:
    """Whether it is a dict or a set that is written out, and may be one whose keys only the run knows: one with texts
    as keys is often a record instead, of arrays among others."""
    if isinstance(contents, Dict):
        records = any(isinstance(k, str) for k in contents.keys)
        return not records or not any(isinstance(v := ctx.deref(i), Array) and v.axes for i in contents.items)
    return isinstance(contents, Seq) and contents.kind == "set"
