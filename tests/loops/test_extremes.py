"""Maxima, minima and searches along rows in vectors: what is no number, and the first of equals, as in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike


def extremes(a: Any) -> Any:
    return a.max(), a.min(axis=1), np.max(a, axis=-1, keepdims=True), np.min(a), np.ptp(a, axis=1)


def with_sums(a: Any) -> Any:
    return a.max(axis=1), a.sum(axis=1), (a - a.min()).max(), np.max(a, axis=1, where=a > 0, initial=-1)


def by_loops(a: Any) -> Any:
    top = np.full(a.shape[0], -np.inf)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > 0:
                top[i] = max(top[i], float(a[i, j]))
    return top, np.array([np.min(row * row) for row in a])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_extremes_of_floats(dtype: str) -> None:
    random = np.random.default_rng(11)
    for shape in ((3, 5), (1, 1), (4, 700), (1200, 17), (2, 5000)):
        most = 3 if dtype == "float16" else 1000  # sums that it holds
        a = random.integers(-most, most + 1, shape).astype(dtype)
        for given in (a, a[:, ::-1], np.asfortranarray(a), a[::2]):
            alike(extremes, given)
            if dtype != "float16" or given is a:  # their sums are not rounded at each step in this order alone
                alike(with_sums, given)
        alike(by_loops, a)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_what_is_no_number(dtype: str) -> None:
    random = np.random.default_rng(12)
    with np.errstate(all="ignore"):
        for at in (0, 1, 15, 16, 63, 64, 500, 599):
            for value in (np.nan, -np.nan, np.inf, -np.inf):
                a = random.integers(-9, 9, (3, 600)).astype(dtype)
                a[1, at] = value
                alike(extremes, a)
                alike(extremes, np.full((2, 70), value, dtype))


def positions(a: Any) -> Any:
    return a.argmax(), a.argmin(axis=1), np.argmax(a, axis=-1, keepdims=True), np.argmin(a), np.argmax(a > 2, axis=1)


def positions_and_others(a: Any) -> Any:
    low, high = np.empty(len(a), np.int64), np.empty(len(a), np.int64)
    for i in range(len(a)):
        low[i], high[i] = np.argmin(a[i]), np.argmax(a[i] * 2)
    return low, high, a.max(axis=1), a.argmax(axis=1), a.sum(axis=1), np.argmax(a[:, ::-1], axis=1), a.any(axis=1)


def positions_of_computed(a: Any, b: Any) -> Any:
    return ((a - b) ** 2).argmin(), np.argmax(np.where(a > b, a, b), axis=1), np.argmin(np.exp(-a) / (b + 4), axis=1)


def positions_of_chosen(a: Any, b: Any) -> Any:
    return (
        np.argmax(np.where(a > b, a, b), axis=1),
        np.where(a > 0, a, 3).argmin(),
        np.argmin(np.clip(a, -2, 2), axis=1),
    )


def by_hand(a: Any) -> Any:
    best, at = a[0, 0], 0
    for j in range(a.shape[1]):
        if a[0, j] < best:
            best, at = a[0, j], j
    return best, at, a[1:].argmax(), a.ravel().argmin()


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "uint64", "float16", "float32", "float64"])
def test_positions_of_extremes(dtype: str) -> None:
    random = np.random.default_rng(13)
    for shape in ((3, 5), (1, 1), (2, 15), (2, 16), (4, 700), (900, 17), (2, 9000), (2, 4096)):
        for most in (1, 4, 100):
            a = random.integers(0 if dtype[0] in "ub" else -most, most, shape).astype(dtype)
            for given in (a, a[:, ::-1], np.asfortranarray(a)):
                alike(positions, given)
            if dtype != "float16" or shape[1] < 700:
                alike(positions_and_others, a)
            if dtype not in ("bool", "float16"):
                alike(positions_of_computed, a, a[::-1].astype(np.float64))
            if dtype != "bool":
                alike(positions_of_chosen, a, a[::-1].copy())
            if shape[0] > 1:
                alike(by_hand, a)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_positions_of_what_is_no_number(dtype: str) -> None:
    random = np.random.default_rng(14)
    for size in (20, 70, 4096, 9000):
        for at in (0, 1, 63, 64, 69, 4095, 4096, 8999):
            for value in (np.nan, np.inf, -np.inf):
                a = random.integers(-9, 9, (2, size)).astype(dtype)
                a[1, at % size] = a[1, (at + 5000) % size] = value
                alike(positions, a)
        for value in (np.nan, np.inf, -np.inf, -0.0):
            a = np.full((2, size), value, dtype)
            alike(positions, a)
            a[0, -1] = 0
            alike(positions, a)


def test_positions_in_nothing() -> None:
    for shape in ((0, 5), (5, 0)):
        alike(positions, np.zeros(shape))
        alike(positions_and_others, np.zeros(shape))


def first(m: Any) -> Any:
    return np.flatnonzero(m)[0], np.nonzero(m)[0][-1]


def first_above(a: Any, b: Any, t: float) -> Any:
    return np.flatnonzero(a + b > t)[0]


def taken(a: Any, k: Any) -> Any:
    return a[k]


def stored(a: Any, k: Any) -> Any:
    a[k] = 1
    return a


def test_searches() -> None:
    for size in (1, 63, 64, 65, 128, 200):
        for at in {0, size // 2, size - 1}:
            m = np.zeros(size, bool)
            m[at] = True
            alike(first, m)
            alike(first, np.ascontiguousarray(m[::-1])[::-1])
            for dtype in (np.int8, np.float32, np.int64):
                alike(first_above, m.astype(dtype), np.zeros(size, np.float32), 0.5)
        alike(first, np.zeros(size, bool))


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint16])
def test_the_first_bad_subscript_is_named(dtype: Any) -> None:
    for at in (0, 62, 63, 64, 127, 128, 199):
        k = np.zeros(200, dtype)
        k[at], k[-1] = 20, 30
        alike(taken, np.arange(5.0), k)
        alike(stored, np.arange(5.0), k)
        alike(taken, np.arange(25.0), k)


def stored_beside(a: Any) -> Any:
    best, where = a[0, 0], np.zeros(3, np.int64)
    for j in range(a.shape[1]):
        for i in range(1, a.shape[0]):
            if a[i, j] > best:
                best = a[i, j]
                where[j % 3] = i
    return best, where


def counted_beside(a: Any) -> Any:
    best, steps = a[0, 0], np.zeros(2, np.int64)
    for j in range(a.shape[1]):
        if a[0, j] < best:
            best = a[0, j]
            steps[0] = steps[0] + 1
            steps[1] = j
    return best, steps


@pytest.mark.parametrize("function", [stored_beside, counted_beside], ids=lambda f: f.__name__)
def test_what_is_stored_where_an_extreme_changes(function: Any) -> None:
    """Also where a loop of one iteration is around, whose stores meet no others."""
    for shape in ((40, 1), (3, 1), (1, 1), (5, 3), (2, 40)):
        a = np.random.default_rng(7).integers(-3, 4, shape).astype(np.int32)
        for one, two in zip(transkern.compile(function, target="cpu")(a), function(a), strict=True):
            np.testing.assert_array_equal(one, two, strict=True)
