"""Stores of what was read elsewhere in the same array: XLA's code for CPUs reads what it has stored (openxla/xla#49176)."""

from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def column(a: Any) -> Any:
    w = a[1:-1, ::2] + 1
    w[1:] = w[:-1]
    a[1:-1, ::2] = w - np.flip(a[1:-1, ::2], axis=0)
    return np.where(a[::-1] < a, a, np.add.accumulate(a, axis=1))


def column_backwards(a: Any) -> Any:
    w = a[1:-1, ::2] + a[2:, ::2]
    w[1:] = w[:-1]
    a[1:-1, ::-2] = w - a[1:-1, ::2]
    return np.where(a[::-1] < a, a, a + 1), w


def rows(a: Any) -> Any:
    base = a + 1
    base[1:] = base[:-1]
    return base.reshape(1, -1), base


def row_turned(a: Any) -> Any:
    for i in range(1, len(a)):
        a[i, :] = a[i - 1, ::-1] + a[i]
        a[i, 1:] = a[i, :-1].copy()
    return a.reshape(-1), a[::-1] + a


def blocks(a: Any) -> Any:
    b = a.reshape(4, -1).copy()
    b[:3, 2:] = b[1:, :-2]
    b[::2] = b[::-2]
    return b.reshape(-1, 1), b.T.copy(), b


def one_after_another(a: Any) -> Any:
    left = a[:, 0].copy()
    left[2:] = left[:-2]
    a[:, 1] = left
    a[1:, 0] = a[:-1, 1]
    return a.T.reshape(-1), a[::-1] - a


@pytest.mark.parametrize("function", [column, column_backwards, rows, row_turned, blocks, one_after_another])
def test_what_is_stored_is_read_before(function: Any) -> None:
    rng = np.random.default_rng(0)
    for shape in ((16, 2), (8, 6), (16, 4)):
        for dtype in (np.int32, np.float64):
            alike(function, rng.integers(-50, 50, shape).astype(dtype), target="pallas")


def numbers(n: int) -> Any:
    small = np.argmin(np.full(n, -2.5, dtype=np.uint8)), np.full(n, -2.5, dtype=np.uint8)
    return *small, np.full(n, 300.0).astype(np.uint8), np.full(n, -1).astype(np.uint64), np.full(n, 2.7).astype(int)


def test_constants_that_a_dtype_does_not_hold() -> None:
    """They wrap round; ``np.uint8(-2.5)`` would be an OverflowError."""
    alike(numbers, 3, target="pallas")
