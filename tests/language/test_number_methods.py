"""Methods of Python's numbers that are known at run time only."""

from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike


def bits(n: Any) -> Any:
    return n.bit_length(), n.bit_count(), (n + 1).bit_length(), (n > 2).bit_length()


def whole(x: Any) -> Any:
    return x.is_integer(), (x * 2).is_integer(), 7 if x.is_integer() else "no"


def padded(x: Any) -> Any:
    size = 1 << (len(x) - 1).bit_length()
    out = np.zeros(size)
    out[: len(x)] = x
    return out


@pytest.mark.parametrize("target", ["cpu", "pallas"])
def test_numbers(target: str) -> None:
    for n in (0, 1, 2, 5, 255, 256, -1, -8, 2**62, -(2**62), 2**63 - 2, -(2**63), True):
        alike(bits, n, target=target)
    for x in (0.0, -0.0, 1.5, 2.0, -3.0, 0.25, 1e300, np.inf, -np.inf, np.nan):
        alike(whole, float(x), target=target)
    for size in (1, 2, 3, 8, 9):
        alike(padded, np.arange(float(size)), target=target)
