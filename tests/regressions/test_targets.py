"""What compilers of C made of right code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike

# mypy: disable-error-code="no-untyped-def"


def clipped_to_integers(x, out):
    out[:] = np.clip(x, -100, 100).astype(np.int32)


def to_integers_and_back(x, out):
    for i in range(x.shape[0]):
        out[i] = np.int64(x[i])


def one_number(x, out):
    out[0] = np.int32(x[1])


def half_precision(x, out):
    y = x.astype(np.int8)
    out[:] = np.sqrt(np.abs(y)) + np.sin(y[2])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [3, 16, 37])
@pytest.mark.parametrize("function", [clipped_to_integers, to_integers_and_back, one_number, half_precision])
def test_numbers_go_through_integers(function: Callable[..., Any], size: int, dtype: type) -> None:
    """GCC 12 made ``(double)(int)x`` a truncation in floats, with the sign of zero; a float16 was not rounded."""
    x = np.random.default_rng(size).uniform(-1.5, 1.5, size).astype(dtype)
    x[:3] = -0.5, -0.9, 6.0
    alike(function, x, np.zeros(size, dtype))


def from_zero(x, k):
    start = 0.0
    return start - x, start - k, np.float32(0) - x[0], np.clip(np.zeros(1), 0, 2) - x


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.int64, np.float32, np.float64])
def test_zero_less_an_integer_is_no_negative_zero(dtype: type) -> None:
    """GCC 12 made it a change of sign."""
    alike(from_zero, np.array([0, 1, 0, 1, 0, 0, 1, 0, 0]).astype(dtype), 0)
