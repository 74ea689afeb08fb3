"""Signs of floats have NumPy's bits, in vectors and alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import require

require("cc")


def signs(x: Any) -> Any:
    return np.sign(x), np.sign(x[1:] - x[:-1]) * np.abs(x[1:])


def one_at_a_time(x: Any) -> Any:
    out, last = np.zeros_like(x), x[0]
    for i in range(len(x)):
        last = np.sign(x[i]) + last * x.dtype.type(0.5)
        out[i] = last
    return out, out


@pytest.mark.parametrize("function", [signs, one_at_a_time])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_signs(function: Any, dtype: str) -> None:
    tiny = np.finfo(dtype).smallest_subnormal
    x = np.array([0.0, -0.0, 1.0, -2.0, tiny, -tiny, np.inf, -np.inf, 3.0, -0.0, np.nan] * 9, dtype)
    quiet = np.copysign(x, -1)
    for given in (x, quiet, x[:10]):
        with np.errstate(all="ignore"):
            wanted = function(given)
        for mine, theirs in zip(transkern.compile(function, target="cpu")(given), wanted, strict=True):
            np.testing.assert_array_equal(mine, theirs)
            np.testing.assert_array_equal(np.signbit(mine[~np.isnan(mine)]), np.signbit(theirs[~np.isnan(theirs)]))


@pytest.mark.parametrize("dtype", ["uint8", "float64"])
def test_the_second_of_two_zeros(dtype):
    def largest(x):
        return np.maximum(x.astype(dtype), -0.0), np.maximum(np.sqrt(x), -0.0), np.maximum(abs(x), 0.0)

    x = np.array([0.0, 1.0, 0.0, 4.0, 0.0])
    for wanted, found in zip(largest(x), transkern.compile(largest, target="cpu")(x), strict=True):
        assert wanted.tobytes() == found.tobytes()


def test_a_variable_that_begins_at_zero():
    """What a name is declared with says nothing of what it has later."""

    def wrapped(x):
        angle = np.sin(x)
        angle[angle < 0] += 2
        return np.exp(angle).astype(np.uint8), np.exp(x)

    x = np.linspace(-3, 3, 20)
    np.testing.assert_array_equal(transkern.compile(wrapped, target="cpu")(x)[0], wrapped(x)[0])
