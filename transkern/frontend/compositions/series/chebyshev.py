"""Sums of Chebyshev polynomials, by Clenshaw's recurrence."""

from __future__ import annotations

from typing import Any

import numpy as np

from transkern.frontend.compositions.series.terms import coefficients, filled


def chebval(x: Any, c: Any, tensor: bool = True) -> Any:
    x = np.asarray(x) if isinstance(x, (list, tuple)) else x
    c = coefficients(c, x, tensor, True)
    if c.shape[0] == 1:
        return c[0] + 0 * x
    c0, c1, twice = filled(x, c[-2]), filled(x, c[-1]), 2 * x
    for i in range(3, c.shape[0] + 1):
        c0, c1 = c[-i] - c1, c0 + c1 * twice
    return c0 + c1 * x
