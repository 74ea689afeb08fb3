"""What is done before a store: values that are still to be read from where it goes are computed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transkern import refusals
from transkern.frontend.loops import lengths
from transkern.frontend.state import aliasing, choices, evaluating, handing, memory
from transkern.frontend.values.values import CHOSEN, Array, Scalar, Seq, Static, Unbound, Value
from transkern.ir.expr import Expr
from transkern.ir.generators import SharedGenerator
from transkern.ir.traverse import buffers_read

if TYPE_CHECKING:
    from transkern.frontend.context import Context


def before_write(ctx: Context, buffer: str) -> None:
    """Values that are still to be read from `buffer` are evaluated now, as it is about to change.

    What was known of all its elements no longer holds, also not earlier in the loops around this store.
    """
    for name, constant in ctx.inputs.captured:
        if buffer == name and not isinstance(constant, SharedGenerator):
            handing.fail_outside(ctx, Static(constant), "an array")
    if buffer in ctx.aliasing.chosen:
        choices.fork(ctx, None, buffer)
        name, decides = ctx.aliasing.chosen[buffer]
        what, copy = f"`{name}`", f"{name} = {name}.copy()"
        if name is CHOSEN:
            what, copy = "the array", "x = (a if condition else b).copy()"
        ctx.must_be_known(
            Unbound("") if decides is None else Scalar(decides),
            f"a store into {what}, which is one of several arrays, as a run-time condition chooses",
            f"store into the arrays themselves, or choose a copy: {copy}", refusals.SHARED_MEMORY,
        )  # fmt: skip
    ctx.aliasing.stored.add(buffer)
    ctx.aliasing.writes.append(buffer)
    aliasing.check_copies(ctx, buffer)
    aliasing.check_doubtful(ctx, buffer)
    ctx.emitter.before_change(buffer)
    lengths.before_store(ctx, buffer)

    def changes(e: Expr) -> bool:
        return buffer in buffers_read(e)

    for frame in ctx.scopes.frames:
        for name in list(frame):
            evaluating.evaluate_name(ctx, frame, name, lambda v: not v.view and memory.reads(v, buffer), changes)
    # what has just been computed counted what is about to change
    ctx.facts.counted = {k: v for k, v in ctx.facts.counted.items() if buffer not in buffers_read(k[1])}


def outdated(frame: dict[str, Value], buffers: set[str]) -> list[str]:
    """The names of filters, or of tuples with filters, that are still to be read from some buffers."""

    def is_outdated(v: Value) -> bool:
        if isinstance(v, Seq) and v.kind == "tuple":
            return any(map(is_outdated, v.items))
        return isinstance(v, Array) and is_filter_of(v, buffers)

    return [name for name, v in frame.items() if is_outdated(v)]


def is_filter_of(value: Array, buffers: set[str]) -> bool:
    """Whether an array is a filter that is still to be read from some buffers."""
    return value.mask is not None and any(memory.reads(value, x) for x in buffers)
