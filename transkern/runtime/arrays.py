"""What arrays are like, and which of them share memory."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np


def described(value: Any) -> Any:
    """What an argument's type is read from: a NumPy array of the same dtype and shape for arrays of CuPy and JAX."""
    if type(value).__module__.split(".")[0] in ("jax", "jaxlib", "cupy") and hasattr(value, "dtype"):
        return np.empty(value.shape, np.dtype(value.dtype)) if hasattr(value, "shape") else value
    return value


def readonly(of: Collection[str], names: Sequence[str], values: Sequence[Any]) -> frozenset[str]:
    """The arguments among `of` that are arrays that must not be written."""
    given = zip(names, values, strict=True)
    return frozenset(n for n, v in given if n in of and isinstance(v, np.ndarray) and not v.flags.writeable)


def overlaps_itself(array: Any) -> bool:
    """Whether elements of an array may share memory: along each axis it must step over all that smaller steps cover."""
    if not isinstance(array, np.ndarray) or array.flags.c_contiguous:
        return False
    covered = array.itemsize
    for step, extent in sorted((abs(s), e) for s, e in zip(array.strides, array.shape, strict=True) if e > 1):
        if step < covered:
            return True
        covered += step * (extent - 1)
    return False


def overlapping(names: Sequence[str], values: Sequence[Any]) -> tuple[tuple[str, ...], ...]:
    """The groups of arguments that share memory."""
    arrays = [(n, v) for n, v in zip(names, values, strict=True) if isinstance(v, np.ndarray)]
    groups: list[list[tuple[str, Any]]] = []
    for name, value in arrays:
        joined = [g for g in groups if any(np.may_share_memory(value, other) for _, other in g)]
        merged = [(name, value)] + [m for g in joined for m in g]
        groups = [g for g in groups if g not in joined] + [merged]
    return tuple(tuple(n for n in names if n in {m for m, _ in g}) for g in groups if len(g) > 1)
