"""What every number of a type is at least, and at most (what maxima and minima begin with), and what a type makes of
other numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from transkern.ir.expr import Const
from transkern.ir.storage import storage

LOWEST, HIGHEST = -(2**63), 2**63 - 1
"""Of an index."""


def lowest(dtype: str) -> Const:
    """The identity of max."""
    kind = np.dtype(storage(dtype))
    return Const(False if kind.kind == "b" else -np.inf if kind.kind == "f" else int(np.iinfo(kind).min), dtype)


def highest(dtype: str) -> Const:
    """The identity of min."""
    kind = np.dtype(storage(dtype))
    return Const(True if kind.kind == "b" else np.inf if kind.kind == "f" else int(np.iinfo(kind).max), dtype)


def fits(value: int) -> bool:
    """Whether 64 bits hold an integer, as the constants of a program must (`ir.verify`)."""
    return LOWEST <= value <= HIGHEST


def is_held(constant: Const) -> bool:
    """Whether a constant is one of its type: an index has 64 bits."""
    value, dtype = constant.value, constant.dtype
    if dtype == "index":
        return isinstance(value, int) and fits(value)
    return not dtype.startswith(("int", "uint")) or (isinstance(value, int) and wrapped(value, dtype) == value)


def rounded(number: Const) -> Any:
    """A constant's value in its type: as it is written it may have more digits."""
    if number.dtype not in ("float16", "float32", "complex64"):
        return number.value
    with np.errstate(over="ignore"):
        return np.dtype(number.dtype).type(number.value).item()


def wrapped(value: int, dtype: str) -> int:
    """What an integer type makes of a number: it wraps."""
    span = 1 << int(dtype.lstrip("uint"))
    return value % span if dtype.startswith("u") or value % span < span // 2 else value % span - span
