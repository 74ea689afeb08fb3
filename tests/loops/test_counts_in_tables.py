"""Counts in small tables, four tables at a time (`fuse/lanes/tables.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import require

require("cc")


def in_a_loop(k, w, m):
    counts = np.zeros(m, dtype=np.int64)
    for i in range(k.size):
        counts[k[i]] += 1
    return counts


def at_once(k, w, m):
    counts = np.zeros(m, dtype=np.int32)
    np.add.at(counts, k, 1)
    return counts


def that_wrap(k, w, m):
    counts = np.full(m, 250, dtype=np.uint8)
    for i in range(len(w)):
        counts[k[i] % m] += np.uint8(7)
    return counts


def of_weights(k, w, m):
    total = np.arange(m)
    np.add.at(total, k, w)
    return total


def by_rows(k, w, m):
    rows = k[: k.size // 3 * 3].reshape(3, -1)
    counts = np.zeros((3, m), dtype=np.int64)
    for r in range(3):
        for i in range(rows.shape[1]):
            counts[r, rows[r, i]] += w[i]
    return counts


def of_pairs(k, w, m):
    counts = np.zeros((m, 4), dtype=np.int64)
    for i in range(k.size):
        counts[k[i], w[i] & 3] += 2
    return counts


def over_arguments(k, w, m):
    for i in range(k.size):
        w[k[i]] += 1
    return m


FUNCTIONS = [in_a_loop, at_once, that_wrap, of_weights, by_rows, of_pairs, over_arguments]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_counts_are_numpy_s(function: Any) -> None:
    """Of keys in any order and in runs, of few, and of those outside, whose first one is told."""
    compiled = transkern.compile(function, target="cpu")
    rng = np.random.default_rng(4)
    for size in (0, 1, 159, 160, 163, 1001):
        keys, weights = rng.integers(0, 10, size), rng.integers(-9, 9, size)
        for k in (keys, np.sort(keys), np.zeros(size, dtype=int), keys - 10):
            alike(function, k, weights, 10, compiled=compiled)
    keys = rng.integers(0, 10, 500)
    keys[[337, 342]] = 99, 77
    alike(function, keys, rng.integers(-9, 9, 500), 10, compiled=compiled)


@pytest.mark.parametrize("function", [in_a_loop, at_once, that_wrap, of_weights])
def test_there_are_tables(function: Any) -> None:
    text = transkern.compile(function, target="cpu").emit(types=f"{function.__name__}(int64[n], int64[n], int)")
    assert "_beside[" in text


def test_what_the_caller_has_is_counted_in_order_where_checks_may_fail() -> None:
    text = transkern.compile(over_arguments, target="cpu").emit(types="over_arguments(int64[n], int64[m], int)")
    assert "_beside[" not in text


def test_counts_of_floats_stay_in_order() -> None:
    def of_floats(k, w, m):
        total = np.zeros(m)
        np.add.at(total, k, w)
        return total

    text = transkern.compile(of_floats, target="cpu").emit(types="of_floats(int64[n], float64[n], int)")
    assert "_beside[" not in text
