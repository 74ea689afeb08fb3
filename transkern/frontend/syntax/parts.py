"""Of what a function of NumPy's computes, the part that a subscript takes: ``np.correlate(x, x, "full")[n - 1 :]``.

Nobody else can have the rest, so it is not computed, where each element takes a loop. This is what a compiler of
schedules calls bounds inference (Ragan-Kelley et al.: Halide, PLDI 2013), at the one place where the bounds are in the
program.
"""

from __future__ import annotations

from collections.abc import Sequence

from transkern.frontend.context import Context
from transkern.frontend.subscripts.indexing import subscript
from transkern.frontend.values.values import Array, Scalar, Slice, Static, Value
from transkern.ir import nodes as n
from transkern.ir.expr import Load, Reduce
from transkern.ir.traverse import walk_expr


def part_alone(
    ctx: Context, made: Value, items: Sequence[Value], called: tuple[list[n.Stmt], int]
) -> Value | None:  # fmt: skip
    """``made[items]``, without the other elements of `made`, which the function that was `called` (`Emitter.last_call`)
    has computed for this subscript alone, and not been given; None where it is not worth while."""
    at = next((k for k in reversed(range(len(ctx.emitter.out))) if not isinstance(ctx.emitter.out[k], n.Let)), -1)
    out, begun = called
    if out is not ctx.emitter.out or at < begun:
        return None
    last = ctx.emitter.out[at]
    if not (
        isinstance(made, Array) and isinstance(made.body, Load) and isinstance(last, n.Define)
        and last.buffer == made.body.buffer and made.body.index == tuple(a.var for a in made.axes)
        and any(isinstance(e, Reduce) for e in walk_expr(last.value)) and _is_contiguous(items)
    ):  # fmt: skip
        return None
    del ctx.emitter.out[at]
    del ctx.names.buffers[last.buffer]
    ctx.names.taken.discard(last.buffer)
    ctx.facts.makers.pop(last.buffer, None)
    part = subscript(ctx, Array(last.axes, last.value), items)
    if isinstance(part, Array):
        return ctx.define(part, last.buffer)
    assert isinstance(part, Scalar)
    return Scalar(ctx.let(part.expr, "part"), part.python, part.tag, part.doubt)


def _is_contiguous(items: Sequence[Value]) -> bool:
    """Whether it is a view, and stands together in memory: a copy of it is as good to what asks for its order."""
    *first, last = items
    if not all(map(_is_integer, first)):
        return False
    match last:
        case Slice(start, stop, None):
            return all(p is None or _is_integer(p) for p in (start, stop))
        case Static(slice() as known):
            return known.step in (None, 1)
        case _:
            return _is_integer(last)


def _is_integer(item: Value) -> bool:
    match item:
        case Static(value):
            return isinstance(value, int) and not isinstance(value, bool)
        case Scalar(expr):
            return expr.dtype == "index"
        case _:
            return False
