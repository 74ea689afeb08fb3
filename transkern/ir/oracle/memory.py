"""The interpreter's memory: what nothing has written, what several arguments share, and parts of it."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from transkern.ir import nodes as n
from transkern.ir.expr import Expr
from transkern.ir.storage import storage


def unwritten(buffer: n.Buffer, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Memory that holds NaN or bytes 0xCD; of a buffer without a bound, what is touched of it."""
    if buffer.is_reserved:
        dtype = np.dtype(storage(buffer.dtype))
        untouched = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0x4000)
        memory = mmap.mmap(-1, max(1, int(np.prod(shape)) * dtype.itemsize), flags=untouched)
        return np.frombuffer(memory, dtype, int(np.prod(shape))).reshape(shape)
    made = np.empty(shape, storage(buffer.dtype))
    if made.dtype.kind in "fc":
        made.fill(np.nan)
    elif made.size and made.dtype.kind != "b":
        made.reshape(-1).view(np.uint8)[:] = 0xCD
    else:
        made.fill(False)
    return made


def around(arrays: Sequence[np.ndarray[Any, Any]]) -> tuple[np.ndarray[Any, Any], list[int]]:
    """The memory that arrays share, as one array of elements, and where in it each of them begins."""
    bounds = [np.lib.array_utils.byte_bounds(a) for a in arrays if a.size]
    low, high = min((x for x, _ in bounds), default=0), max((x for _, x in bounds), default=0)
    memory: Any = (ctypes.c_char * (high - low)).from_address(low) if high > low else b""
    offsets = [(a.ctypes.data - low) // a.itemsize if a.size else 0 for a in arrays]
    return np.frombuffer(memory, arrays[0].dtype), offsets


def seen(base: np.ndarray[Any, Any], view: n.View, value: Callable[[Expr], Any]) -> Any:
    """The elements of `base` that a view shows; `value` computes expressions."""
    dims = [value(d) for d in view.dims]
    at = [value(o) for o in view.offset]
    linear = len(at) < base.ndim
    strides = [base.itemsize] if linear else base.strides
    steps = [
        sum(value(step[d]) * stride for step, stride in zip(view.steps, strides, strict=True))
        for d in range(len(dims))
    ]
    start = base.reshape(-1) if linear else base
    if not all(dims):
        made = np.empty(dims, base.dtype)
    else:
        first: Any = (..., *(slice(i, i + 1) for i in at))  # [()] of an array without axes is a number
        made = np.lib.stride_tricks.as_strided(start[first], dims, steps)
    return getattr(made, view.part) if view.part else made
