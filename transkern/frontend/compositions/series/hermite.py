"""Sums of Hermite polynomials, by Clenshaw's recurrence."""

from __future__ import annotations

from typing import Any

import numpy as np

from transkern.frontend.compositions.series.terms import coefficients, filled


def hermval(x: Any, c: Any, tensor: bool = True) -> Any:
    x = np.asarray(x) if isinstance(x, (list, tuple)) else x
    c = coefficients(c, x, tensor, True)
    twice = x * 2
    if c.shape[0] == 1:
        return c[0] + 0 * twice
    c0, c1 = filled(x, c[-2]), filled(x, c[-1])
    for i in range(3, c.shape[0] + 1):
        n = c.shape[0] - i + 2
        c0, c1 = c[-i] - c1 * (2 * (n - 1)), c0 + c1 * twice
    return c0 + c1 * twice
