"""Sums of powers, by Horner's rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from transkern.frontend.compositions.series.terms import coefficients


def polyval(x: Any, c: Any, tensor: bool = True) -> Any:
    x = np.asarray(x) if isinstance(x, (list, tuple)) else x
    c = coefficients(c, x, tensor, False)
    value = c[-1] + x * 0
    for i in range(2, c.shape[0] + 1):
        value = c[-i] + value * x
    return value
