"""Arrays that become wider on the way: where a number or an array of float64 meets one of float32, NumPy computes in
float64, at twice the memory and half the speed. It is noted for who asks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np

from transkern.frontend.context import Context
from transkern.frontend.values.values import Array, Value
from transkern.ir.expr import Span

_NARROW = {"float16", "float32", "complex64"}


@dataclass(frozen=True, slots=True)
class Widened:
    """An array of type `narrow` that an operation makes `wide`, as its other operand is one of type `other`, which is
    an array (`of_array`) or a number."""

    span: Span
    narrow: str
    wide: str
    other: str
    of_array: bool
    lines: tuple[str, ...]


_noted: ContextVar[list[Widened] | None] = ContextVar("noted", default=None)


@contextmanager
def noting() -> Iterator[list[Widened]]:
    """Inside, what is translated notes what it widens."""
    found: list[Widened] = []
    token = _noted.set(found)
    try:
        yield found
    finally:
        _noted.reset(token)


def note(ctx: Context, args: Sequence[Value], kinds: Sequence[Any], loop: Sequence[str]) -> None:
    """Of an operation whose operands are of these kinds (of Python's numbers their classes), and computed in others."""
    noted = _noted.get()
    if noted is None:
        return
    for arg, kind, taken in zip(args, kinds, loop, strict=True):
        if not (isinstance(arg, Array) and arg.ndim and isinstance(kind, np.dtype) and kind.name in _NARROW):
            continue
        if np.dtype(taken).itemsize <= kind.itemsize or np.dtype(taken).kind != kind.kind:
            continue
        for other, wide in zip(args, kinds, strict=True):
            if other is not arg and isinstance(wide, np.dtype) and wide.name not in _NARROW:
                of_array = isinstance(other, Array) and other.ndim > 0
                noted.append(Widened(
                    ctx.session.span, kind.name, taken, wide.name, of_array, tuple(ctx.session.lines)
                ))  # fmt: skip
                return
