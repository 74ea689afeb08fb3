"""`.flat` of a number is of memory that nobody else has: stores into it went into the array that the number is from."""

from typing import Any

import numpy as np

from tests.regressions.support import alike


def stored(x: Any, k: Any) -> Any:
    before = x[0].flat[0], x.sum().flat[0]
    x[0].flat[0] = 5
    k.flat[0] = 3
    x.max().flat[:] = 2
    y = x[1]
    y.flat[0:2] = 4
    for e in y.flat:
        before = (*before, e)
    return x, y, k, before


def of_one_element(x: Any) -> Any:
    y = x[..., 1]
    y.flat[0] = 7
    x[2, ...].flat[:] = 8
    return x, y


def test_flat_of_numbers() -> None:
    for dtype in (np.float64, np.complex64, np.int8):
        alike(stored, np.arange(3).astype(dtype), dtype(4))
        alike(of_one_element, np.arange(3).astype(dtype))
