"""The versions whose answers compiled code gives, where they differ: those that are installed."""

from __future__ import annotations

import numpy as np

NUMPY: tuple[int, ...] = tuple(int(part) for part in np.__version__.split(".")[:2])
"""NumPy's, as (2, 5)."""
