"""`math.fsum`, step by step as Python has it (Shewchuk, Discrete Comput. Geom. 18, 1997): the sum of floats as partial
sums that do not overlap, which is exact, and one rounding at the end."""

from __future__ import annotations

import math
from typing import Any


def fsum(seq: Any) -> Any:
    partials = [0.0] * 0
    infinities, special = 0.0, 0.0
    for value in seq:
        if isinstance(value, str):
            raise TypeError("must be real number, not str")
        x = float(value)
        given = x
        kept = 0
        for j in range(len(partials)):
            y = partials[j]
            if abs(x) < abs(y):
                x, y = y, x
            high = x + y
            low = y - (high - x)
            if low != 0.0:
                partials[kept] = low
                kept += 1
            x = high
        del partials[kept:]
        if x != 0.0:
            if math.isfinite(x):
                partials.append(x)
            else:
                if math.isfinite(given):
                    raise OverflowError("intermediate overflow in fsum")
                if math.isinf(given):
                    infinities += given
                special += given
                partials.clear()
    if special != 0.0:
        if math.isnan(infinities):
            raise ValueError("-inf + inf in fsum")
        return special
    return _rounded(partials)


def _rounded(partials: Any) -> Any:
    """The sum of partial sums: from the largest on until one is lost, of whose half the next smaller one decides."""
    at = len(partials) - 1
    if at < 0:
        return 0.0
    high, low = partials[at], 0.0
    while at > 0 and low == 0.0:
        at -= 1
        x, y = high, partials[at]
        high = x + y
        low = y - (high - x)
    if at > 0 and ((low < 0.0 and partials[at - 1] < 0.0) or (low > 0.0 and partials[at - 1] > 0.0)):
        y = low * 2.0
        x = high + y
        if y == x - high:
            high = x
    return high
