"""The versions whose answers compiled code gives, where they differ: those that are installed."""

from __future__ import annotations

import numpy as np

NUMPY: tuple[int, ...] = tuple(int(part) for part in np.__version__.split(".")[:2])
"""NumPy's, as (2, 5)."""
NUMPY_2_5 = NUMPY >= (2, 5)
"""Since then: integers that a type does not hold are errors in `where`, `cross` takes three dimensions alone, and
`nextafter` gives the second of two zeros in float16, too."""
