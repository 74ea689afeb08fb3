"""Products of matrices with one long side are loops: NumPy's numbers for any length, none and one among them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import require

require("cc")


def fitted(x: Any, y: Any) -> Any:
    a = np.column_stack([np.ones_like(x), x])
    normal, right = a.T @ a, a.T @ y
    return normal, right, a @ right, y @ a


def descended(x: Any, y: Any, steps: int) -> Any:
    a = np.stack([x, y], axis=1)
    w = np.array([0.5, -0.25])
    for _ in range(steps):
        w -= 0.001 * (a.T @ (a @ w - y))
    return w, a.T @ a


@pytest.mark.parametrize("n", [0, 1, 2, 5000])
def test_thin_products(n: int) -> None:
    x, y = np.random.default_rng(n).normal(size=(2, n))
    compiled = transkern.compile(fitted, target="cpu"), transkern.compile(descended, target="cpu")
    for mine, theirs in zip(compiled[0](x, y), fitted(x, y), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)
    for mine, theirs in zip(compiled[1](x, y, 3), descended(x, y, 3), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)


def test_one_element_has_a_sign() -> None:
    x = np.array([-0.0])
    mine, theirs = transkern.compile(fitted, target="cpu")(x, x), fitted(x, x)
    assert [np.signbit(a).tolist() for a in mine] == [np.signbit(a).tolist() for a in theirs]


def test_what_is_not_finite() -> None:
    x, y = np.ones((2, 50))
    x[3], y[7], y[9] = np.inf, np.nan, -np.inf
    with np.errstate(invalid="ignore"):
        for mine, theirs in zip(transkern.compile(fitted, target="cpu")(x, y), fitted(x, y), strict=True):
            np.testing.assert_array_equal(np.isnan(mine), np.isnan(theirs))
