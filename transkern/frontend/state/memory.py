"""What memory arrays are read from, and whose it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transkern.frontend.values.values import Array
from transkern.ir.traverse import buffers_read

if TYPE_CHECKING:
    from transkern.frontend.context import Context


def reads(value: Array, buffer: str) -> bool:
    """Whether an array's elements, or which of them there are, are read from a buffer."""
    exprs = [value.body] if value.mask is None else [value.body, value.mask]
    return any(buffer in buffers_read(e) for e in exprs)


def is_of_argument(ctx: Context, buffer: str) -> bool:
    """Whether an array in `buffer` shares memory with an argument, or may do so in NumPy."""
    doubtful = ctx.aliasing.doubtful
    return ctx.names.buffers[doubtful[buffer][0] if buffer in doubtful else buffer].role == "argument"
