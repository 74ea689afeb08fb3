"""Walks that only a condition keeps within their arrays: what is behind an array's end is never there to be read."""

from __future__ import annotations

import numpy as np
import pytest

import transkern
from tests.tools import on_target


def shifted_up(x, y):
    out = np.zeros(len(x))
    for i in range(len(x)):
        if i + len(y) < len(x):
            out[i] = x[i + len(y)]
    return out


def shifted_down(x, y):
    out = np.zeros(len(x))
    for i in range(len(x)):
        if i >= len(y):
            out[i] = x[i - len(y)] * 2
    return out


def from_both_ends(x, y):
    out = np.zeros(len(x))
    for i in range(len(x)):
        if i < len(y):
            out[i] = y[-1 - i] * 2 + y[i]
    return out


def every_other(x, y):
    out = np.zeros(2 * len(x))
    for i in range(len(x)):
        if i < len(y):
            out[2 * i + 1] = y[i]
    return out


def stored_short(x, y):
    for i in range(len(x)):
        if i < len(y):
            y[i] = x[i] + 1
    return y


def chosen(x, y):
    return np.array([y[i] if i < len(y) else 0.0 for i in range(len(x))])


def summed(x, y):
    total = 0.0
    for i in range(len(x)):
        if i < len(y):
            total += y[i] * x[i]
    return total


def table(x, y):
    out = np.ones((len(x), len(y)))
    for i in range(len(x)):
        for j in range(len(y)):
            if j + 1 < len(x) and i + 2 < len(y):
                out[i, j] = x[j + 1] - y[i + 2]
    return out


def rows(x, y):
    a = np.outer(y, x)
    out = np.zeros((len(x), len(x)))
    for i in range(len(x)):
        for j in range(len(x)):
            if i < len(y):
                out[i, j] = a[i, j]
    return out


def padded(x, y):
    positive = np.sort(np.array([abs(v) for v in x if v > 0]))
    return positive, x[np.arange(positive.shape[0]) + 1 % len(x)]


def padded_twice(x, y):
    kept = x[x > 0]
    out = np.zeros(len(kept))
    for i in range(len(kept)):
        out[i] = x[len(x) - 1 - i] + x[i + len(x) - len(kept)]
    return out


def strided(x, y):
    kept = x[x > 2]
    out = np.zeros(len(kept))
    for i in range(len(kept)):
        if 2 * i + 1 < len(y):
            out[i] = y[2 * i + 1]
    return out


ALL = [shifted_up, shifted_down, from_both_ends, every_other, stored_short, chosen, summed, table, rows, padded,
       padded_twice, strided]  # fmt: skip


@pytest.mark.parametrize("function", ALL)
@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_walks_stay_within_their_arrays(function, target, monkeypatch):
    made = transkern.compile(function, target=on_target(target, monkeypatch))
    for m, k in ((5, 2), (5, 7), (4, 4), (9, 3), (3, 1), (1, 6)):
        x, y = np.arange(1.0, m + 1) * (-1.0) ** np.arange(m), -np.arange(1.0, k + 1)
        wanted = function(x.copy(), y.copy())
        for found, right in zip(*(v if isinstance(v, tuple) else (v,) for v in (made(x.copy(), y.copy()), wanted)),
                                strict=True):  # fmt: skip
            np.testing.assert_array_equal(found, right, err_msg=f"{m}, {k}")


def test_what_no_condition_keeps_within_is_an_error(monkeypatch):
    def beyond(x, y):
        out = np.zeros(len(x))
        for i in range(len(x)):
            if x[i] > 0:
                out[i] = y[i]
        return out

    made = transkern.compile(beyond, target=on_target("pallas", monkeypatch))
    with pytest.raises(IndexError, match="index 2 is out of bounds for axis 0 with size 2"):
        made(np.ones(4), np.ones(2))
