"""What every number of a type is at least, and at most: what maxima and minima begin with."""

from __future__ import annotations

import numpy as np

from transkern.ir.expr import Const
from transkern.ir.storage import storage


def lowest(dtype: str) -> Const:
    """The identity of max."""
    kind = np.dtype(storage(dtype))
    return Const(False if kind.kind == "b" else -np.inf if kind.kind == "f" else int(np.iinfo(kind).min), dtype)


def highest(dtype: str) -> Const:
    """The identity of min."""
    kind = np.dtype(storage(dtype))
    return Const(True if kind.kind == "b" else np.inf if kind.kind == "f" else int(np.iinfo(kind).max), dtype)
