"""Several names at once: what is unpacked, with a starred name or without."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from transkern.frontend.containers import making
from transkern.frontend.containers.elements import is_typed
from transkern.frontend.loops import iterating
from transkern.frontend.subscripts.indexing import subscript
from transkern.frontend.translate.arguments import TABLE
from transkern.frontend.translate.waiting import waiting
from transkern.frontend.values.scalars import present
from transkern.frontend.values.values import Array, GrowingList, Seq, Slice, Static, Value
from transkern.ir import build as b

if TYPE_CHECKING:
    from transkern.frontend.translate.assigning import Assignments


def unpack(body: Assignments, node: ast.expr, targets: Sequence[ast.expr], value: Value) -> None:
    starred = [k for k, t in enumerate(targets) if isinstance(t, ast.Starred)]
    if starred and (parts := _starred(body, value, starred[0], len(targets) - starred[0] - 1)) is not None:
        targets = [t.value if isinstance(t, ast.Starred) else t for t in targets]
        _take_all(body, targets, parts)
        return
    items = body.elements(value, None if starred else len(targets), node)
    wanted = len(targets) - len(starred)
    few = len(items) < wanted
    if few or (len(items) > wanted and not starred):
        least = "at least " if starred else ""
        text = (
            f"not enough values to unpack (expected {least}{wanted}, got {len(items)})" if few
            else f"too many values to unpack (expected {wanted})"
        )  # fmt: skip
        body.ctx.guard(b.FALSE, "ValueError", text)
    if starred:
        at = starred[0]
        end = len(items) - (len(targets) - at - 1)
        items = [*items[:at], Seq(tuple(items[at:end]), "list"), *items[end:]]
        targets = [t.value if isinstance(t, ast.Starred) else t for t in targets]
    _take_all(body, targets, items)


def _starred(body: Assignments, value: Value, first: int, last: int) -> list[Value] | None:
    """What ``a, *rest, z = value`` gives its names, of a list or an array of run-time length: so many of the first
    elements, a list of those between, and the last ones. None for another value."""
    ctx = body.ctx
    value = iterating.all_of(ctx, value)
    value = present(ctx, ctx.deref(value), "TypeError", "cannot unpack non-iterable NoneType object")
    if not isinstance(value, (GrowingList, Array)) or (isinstance(value, GrowingList) and not is_typed(ctx, value)):
        return None
    value = ctx.kept(value) if isinstance(value, Array) else value
    if isinstance(value, Array) and not value.ndim:
        return None
    start, stop, step, element = iterating.iteration(ctx, value)
    length = ctx.let(stop, "length")
    if b.constant(length) is not None or (start, step) != (b.ZERO, b.ONE):
        return None
    text = f"not enough values to unpack (expected at least {first + last}, got {{}})"
    ctx.guard(b.compare("greater_equal", length, b.index(first + last)), "ValueError", text, (length,))
    end = None if last == 0 else Static(-last)
    whole: Value = value
    if isinstance(value, GrowingList) and value.is_queue:  # which has no slices
        whole = ctx.deref(TABLE["builtins.list"](ctx, [value], {}))
    between = subscript(ctx, whole, [Slice(Static(first), end, None)])
    rest = TABLE["builtins.list"](ctx, [between], {})
    ends = [element(b.sub(length, b.index(k))) for k in range(last, 0, -1)]
    return [*(element(b.index(k)) for k in range(first)), rest, *ends]


def _take_all(body: Assignments, targets: Sequence[ast.expr], items: Sequence[Value]) -> None:
    # all values stand before the first target changes
    settled = [
        body.settle(i, t.id if isinstance(t, ast.Name) else "value") for i, t in zip(items, targets, strict=True)
    ]
    if any(isinstance(t, ast.Subscript) for t in targets):
        swaps = body.swaps
        settled = [making.held(body.ctx, i, swaps) if isinstance(i, GrowingList) else i for i in settled]
    with waiting(body.ctx) as those:
        for item in settled:
            those.put(item)
        for target in targets:
            body.assign(target, those.taken())
