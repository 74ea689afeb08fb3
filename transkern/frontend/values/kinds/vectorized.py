"""What `np.vectorize` makes: a call with the function first, and with the types of its results, if they are given."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from transkern.frontend.values.values import Known, Partial, Static, Value

VECTORIZED = "transkern.vectorized"
TYPES = "otypes"


def vectorized(function: Value, types: Iterable[Any] | None) -> Partial:
    """``np.vectorize(function, types)``; `types` are NumPy's, or characters that stand for them."""
    given = None if types is None else tuple(np.dtype(one).name for one in types)
    return Partial(Known(VECTORIZED), (function,), ((TYPES, Static(given)),))
