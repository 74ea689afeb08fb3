"""Sorts of a few elements in a loop: exchanges, which go through vectors of the loop around."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike


def median_by_loops(x):
    out = x.copy()
    for i in range(1, x.shape[0] - 1):
        for j in range(1, x.shape[1] - 1):
            out[i, j] = np.median(x[i - 1 : i + 2, j - 1 : j + 2])
    return out


def middle_of_three(x):
    out = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        out[i] = np.sort(x[i, :3])[1]
    return out


def whole(x):  # of up to five elements, which a library sorts
    rows = []
    for row in x:
        rows.append(np.sort(row[:5])[::-1])
    return np.array(rows)


def in_order(x):
    last = 0.0
    for i in range(2, x.shape[0]):
        last = 0.5 * last + np.median(x[i - 2 : i + 1, 0])
    return last


def by_method(x):
    total = x[0, 0] * 0
    for i in range(x.shape[0]):
        a = np.array([x[i, 0], x[i, 1], x[i, -1]])
        a.sort()
        total = total + a[2] - a[0]
    return total


def rolling_median(x, k):
    out = np.full(len(x), np.nan)
    for i in range(k, len(x)):
        out[i] = np.median(x[i - k : i])
    return out


def trimmed(x, k):
    total = x.dtype.type(0)
    for i in range(len(x) - k + 1):
        w = np.sort(x[i : i + k])
        total = total + w[k // 4 :].max() - w[0] if k else total
    return total


def sorted_chunks(x, k):
    out = x.copy()
    for i in range(0, len(x), max(k, 1)):
        out[i : i + k] = np.sort(out[i : i + k])[::-1]
    return out


def of_those_that_pass(x, k):
    found = []
    for i in range(4):
        kept = x[i::2][x[i::2] > i - 2]
        found.append(np.percentile(kept, 10 * k % 100) if len(kept) else 0.0)
    return found


EVERY = (median_by_loops, middle_of_three, whole, in_order, by_method)


@pytest.mark.parametrize("function", EVERY, ids=lambda f: f.__name__)
def test_values(function: Callable[..., Any]) -> None:
    compiled = transkern.compile(function, target="cpu")
    x = np.random.default_rng(4).standard_normal((14, 19))
    holes = x.copy()
    holes[3:5, 2:9], holes[7, 7], holes[1, :3], holes[9] = np.nan, -np.inf, -0.0, 2.5
    for given in (x, holes, x[::-1, ::-2], x[:3, :5], x.astype(np.float32), (x * 9).astype(np.int16)):
        alike(function, given, compiled=compiled)


@pytest.mark.parametrize("function", [median_by_loops, in_order, by_method], ids=lambda f: f.__name__)
def test_no_library_is_called(function: Callable[..., Any]) -> None:
    compiled = transkern.compile(function, target="cpu")
    compiled(np.random.default_rng(4).standard_normal((14, 19)))
    steps = [line for line in compiled.emit().splitlines() if line.startswith("static PyObject *step_")]
    assert not any("sort" in line for line in steps)


@pytest.mark.parametrize(
    "function", [rolling_median, trimmed, sorted_chunks, of_those_that_pass], ids=lambda f: f.__name__
)
def test_lengths_that_the_run_knows(function: Callable[..., Any]) -> None:
    compiled = transkern.compile(function, target="cpu")
    x = np.random.default_rng(4).standard_normal(150)
    holes = x.copy()
    holes[[3, 40, 41, 90]], holes[60:64], holes[100:110] = np.nan, 0.0, -np.inf
    for given in (x, holes, x[::-2], x.astype(np.float32), (x * 3).astype(np.int8), x[:0]):
        for k in (1, 2, 7, 64, 65, 140):
            alike(function, given, k, compiled=compiled)
