"""Sums of rows that a loop goes through again and again (`fuse/schedule/turn.py`): lanes over the sums, from a copy."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import require

require("cc")


def by_matmul(w, h, steps):
    for _ in range(steps):
        h = np.tanh(w @ h + 0.1)
    return h


def by_dot_turned(w, h, steps):
    for _ in range(steps):
        h = np.tanh(h.dot(w.T) + 0.1)
    return h


def by_sums(w, h, steps):
    for _ in range(steps):
        h = np.tanh((w * h).sum(axis=1) + 0.1)
    return h


def by_einsum(w, h, steps):
    for _ in range(steps):
        h = np.tanh(np.einsum("ij,j->i", w, h) + 0.1)
    return h


def of_rows(w, h, steps):
    out = np.empty((steps, len(w)))
    for k in range(steps):
        out[k] = np.exp(-((w - h * k) ** 2).sum(axis=1)) + np.abs(w).max(axis=1)
    return out


def two_at_once(w, h, steps):
    for k in range(steps):
        h = np.tanh((w * h[::-1]).sum(axis=1) - (w * h).sum(axis=1) / (k + 1))
    return h


def changed(w, h, steps):
    w = w.copy()
    for _ in range(steps):
        h = np.tanh((w * h).sum(axis=1))
        w[:, 0] += h
    return h, w


def descent(x, y, steps):
    weights = np.zeros(x.shape[1])
    for _ in range(steps):
        weights = weights - 0.01 * ((x @ weights - y) @ x) / len(y)
    return weights


def descent_in_loops(x, y, steps):
    n, m = x.shape
    weights = np.zeros(m)
    for _ in range(steps):
        slope = np.zeros(m)
        for i in range(n):
            at = 0.0
            for k in range(m):
                at += x[i, k] * weights[k]
            at -= y[i]
            for k in range(m):
                slope[k] += at * x[i, k]
        for k in range(m):
            weights[k] -= 0.01 * slope[k] / n
    return weights


def nearest_of_walk(points, start, steps):
    at, path = start, np.empty(steps, dtype=np.int64)
    for k in range(steps):
        path[k] = ((points - at) ** 2).sum(axis=1).argmin()
        at = at + 0.1 * points[path[k]]
    return path, at


SQUARE = (by_matmul, by_dot_turned, by_sums, by_einsum, of_rows, two_at_once, changed)


def results(of: Any) -> tuple[Any, ...]:
    return of if isinstance(of, tuple) else (of,)


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    return transkern.compile(function, target="cpu")


@pytest.mark.parametrize("function", SQUARE)
def test_rows_again_and_again(function: Callable[..., Any]) -> None:
    """At and beyond the sizes that decide: rows, their elements, and how often they are gone through."""
    call, rng = compiled(function), np.random.default_rng(1)
    for n in (20, 77, 128, 129):
        for steps in (3, 40):
            given = rng.standard_normal((n, n)) / n, rng.standard_normal(n), steps
            for found, wanted in zip(results(call(*given)), results(function(*given)), strict=True):
                np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-13)
    assert ("w_turned" in call.emit()) == (function is not changed)


def test_all_spellings_meet() -> None:
    rng = np.random.default_rng(2)
    given = rng.standard_normal((50, 50)) / 7, rng.standard_normal(50), 30
    results = [compiled(f)(*given) for f in (by_matmul, by_dot_turned, by_sums, by_einsum)]
    assert all(np.array_equal(r, results[0]) for r in results)


@pytest.mark.parametrize("shape", [(300, 20), (7, 40), (9, 2), (500, 1), (1, 30), (0, 5), (40, 200), (1000, 17)])
def test_tall_and_wide(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(3)
    for function in (descent, descent_in_loops, nearest_of_walk):
        call = compiled(function)
        for steps in (2, 25):
            x = rng.standard_normal(shape)
            given = x, rng.standard_normal(shape[function is nearest_of_walk]), steps
            if shape[0] == 0:
                continue
            for found, wanted in zip(results(call(*given)), results(function(*given)), strict=True):
                np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)
        assert shape != (300, 20) or function is nearest_of_walk or "x_turned" in call.emit()


def test_special_values() -> None:
    rng = np.random.default_rng(4)
    w, h = rng.standard_normal((40, 40)), rng.standard_normal(40)
    w[3, 5], w[4, 4], w[5, 5], w[6] = math.nan, math.inf, -math.inf, -0.0
    h[7] = 0.0
    for function in (of_rows, by_sums):
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(compiled(function)(w, h, 20), function(w, h, 20), rtol=1e-10)
    big = np.full((40, 40), 1e308)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(compiled(by_sums)(big, np.ones(40), 20), by_sums(big, np.ones(40), 20))


def test_arrays_that_lie_apart() -> None:
    rng = np.random.default_rng(5)
    whole, h = rng.standard_normal((80, 120)), rng.standard_normal(40)
    for w in (whole[::2, ::3], whole[:40, :40], whole.T[::3, ::2], whole[39::-1, 39::-1]):
        given = w / 9, h, 20
        np.testing.assert_allclose(compiled(by_sums)(*given), by_sums(*given), rtol=1e-10)
        np.testing.assert_allclose(compiled(by_matmul)(*given), by_matmul(*given), rtol=1e-10)
