"""Tests of quotients by products, and extremes without a test for NaN: the same bits as the division gives."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import transkern

LIMITS = (0.5, 1 / 3, 0.0, -0.0, -0.5, 1.0, np.nan, np.inf, 5e-324, 0.1, float(np.float32(0.1)), 1e300)
VALUES = (0.0, -0.0, 1.0, 2.0, 3.0, 1e-310, 5e-324, 1e308, np.inf, -np.inf, np.nan, -1.0, 1 / 3, 0.1, 10.0)


def at_most(x, y, limit, rounds):
    left = np.ones(len(x), dtype=bool)
    for k in range(rounds):
        bound = np.maximum(x, y[k]) * np.maximum(x, y[k])
        left &= bound / (y + x[k]) <= limit
    return left


def below(x, y, limit, rounds):
    left = np.ones(len(x), dtype=bool)
    for k in range(rounds):
        left &= limit > np.abs(x) / np.minimum(y[k], y)
    return left


def at_least(x, y, limit, rounds):
    left = np.ones(len(x), dtype=bool)
    for k in range(rounds):
        left &= np.maximum(x - x[k], 0) / y >= limit
    return left


def above(x, y, limit, rounds):
    left = np.ones(len(x), dtype=bool)
    for k in range(rounds):
        left &= (np.sqrt(x) / (y * y[k]) > limit) & (x != y[k])
    return left


FUNCTIONS = (at_most, below, at_least, above)


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_quotients_at_and_beside_the_limit(f, dtype):
    compiled = transkern.compile(f, target="cpu")
    with np.errstate(over="ignore"):
        x, y = (np.array(c, dtype=dtype) for c in zip(*itertools.product(VALUES, VALUES), strict=True))
    rng = np.random.default_rng(5)
    whole = rng.integers(1, 40, (2, 3000)).astype(dtype)
    with np.errstate(all="ignore"):
        for limit in LIMITS:
            for a, b in ((x, y), whole, (whole[0] * dtype(limit), whole[0]), (x[:0], y[:0]), (x[:1], y[:1])):
                rounds = min(len(a), 12)
                np.testing.assert_array_equal(compiled(a, b, limit, rounds), f(a, b, limit, rounds))


def test_each_kind_of_test_is_decided_by_products():
    for f in FUNCTIONS:
        text = transkern.compile(f, target="cpu").emit(types=f"{f.__name__}(float64[n], float64[n], float, int)")
        assert "products_decide" in text and "doubt" in text, f.__name__


def clamped_sums(x, low, high, rounds):
    for k in range(rounds):
        x = np.minimum(np.maximum(low[k], x + 1), high[k]) + np.maximum(x, high[k])
    return x


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_extremes_with_an_invariant(dtype):
    compiled = transkern.compile(clamped_sums, target="cpu")
    special = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, -1.0, 3.0], dtype=dtype)
    with np.errstate(all="ignore"):
        for low, high in itertools.product(special, special):
            bounds = np.array([low, 0.5], dtype=dtype), np.array([high, -0.0], dtype=dtype)
            got, expected = compiled(special, *bounds, 2), clamped_sums(special, *bounds, 2)
            np.testing.assert_array_equal(got, expected)
            numbers = expected == expected
            np.testing.assert_array_equal(np.signbit(got)[numbers], np.signbit(expected)[numbers])
    assert "number_maximum" in compiled.emit()
