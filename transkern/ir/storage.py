"""How elements lie in memory."""

from __future__ import annotations

import numpy as np


def storage(dtype: str) -> str:
    """The NumPy dtype of an array that holds `dtype`."""
    return "int64" if dtype == "index" else dtype


def itemsize(dtype: str) -> int:
    """The bytes of an element."""
    return np.dtype(storage(dtype)).itemsize
