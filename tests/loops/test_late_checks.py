"""Checks of what costs something are made where it is computed: errors and what is stored before them are Python's."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike

M = 37


def gates(x: Any, y: Any, h: Any) -> Any:
    n, m = h.shape
    out = np.empty_like(h)
    for i in range(n):
        for j in range(m):
            r = 1 / (1 + math.exp(-(x[i, j] + y[i, j])))
            z = 1 / (1 + math.exp(-x[i, m + j]))
            out[i, j] = (1 - z) * math.tanh(r * y[i, j]) + z * h[i, j]
    return out


def prices(x: Any, y: Any, h: Any) -> Any:
    def cdf(v: Any) -> Any:
        w = math.exp(-0.5 * v * v) / (1 + abs(v))
        if v >= 0:
            return 1 - w
        return w

    out = np.empty((len(h), len(h)))
    for i in range(len(h)):
        for j in range(len(h)):
            d = math.log(x[i, 0] / y[j, 0]) - 0.5
            out[i, j] = x[i, 0] * cdf(d) - y[j, 0] * math.exp(-x[0, 0] * 0.5) * cdf(d - 0.25)
    return out


def bilateral(x: Any, y: Any, h: Any) -> Any:
    n, m = h.shape
    out = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            total = weight = 0.0
            for a in range(-2, 3):
                for b in range(-2, 3):
                    if 0 <= i + a < n and 0 <= j + b < m:
                        v = h[i + a, j + b]
                        w = math.exp(-(a * a + b * b) * 0.5 - (v - h[i, j]) ** 2)
                        total += w * v
                        weight += w
            out[i, j] = total / weight
    return out


def arguments(rows: int = 9, columns: int = M) -> list[Any]:
    rng = np.random.default_rng(rows)
    return [rng.random((rows, 2 * columns)) + 0.1, rng.random((rows, columns)) + 0.1, rng.random((rows, columns))]


def outcome(function: Callable[..., Any], given: list[Any]) -> Any:
    try:
        with np.errstate(all="ignore"):
            return function(*given)
    except (OverflowError, ValueError, ZeroDivisionError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("function", [gates, prices, bilateral])
@pytest.mark.parametrize("place", [None, (0, 0), (4, 1), (8, M - 1), (3, 17)])
@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf, -1e6, 0.0, -0.0, 1e300])
def test_values_and_errors(function: Callable[..., Any], place: tuple[int, int] | None, special: float) -> None:
    compiled = transkern.compile(function, target="cpu")
    for which in range(3 if place else 1):
        given = arguments()
        if place:
            given[which][place] = special
        theirs, mine = outcome(function, given), outcome(compiled, given)
        if isinstance(theirs, tuple):
            assert mine == theirs
        else:
            np.testing.assert_allclose(mine, theirs, rtol=1e-12)


@pytest.mark.parametrize("function", [gates, prices, bilateral])
@pytest.mark.parametrize("rows, columns", [(0, 5), (1, 1), (2, 3), (3, 64), (70, 9)])
def test_sizes(function: Callable[..., Any], rows: int, columns: int) -> None:
    given = arguments(rows, columns) if rows else [np.empty((0, 2 * columns)), *[np.empty((0, columns))] * 2]
    np.testing.assert_allclose(transkern.compile(function, target="cpu")(*given), function(*given), rtol=1e-12)


def test_what_an_argument_gets_before_an_error() -> None:
    def store(x: Any, out: Any) -> None:
        for i in range(len(x)):
            out[i] = math.exp(x[i]) / (1 + math.exp(-x[i]))

    x = np.linspace(-3, 3, 50)
    x[[20, 30]] = 1e4, -1e4
    mine, theirs = np.zeros(50), np.zeros(50)
    for function, out in ((transkern.compile(store, target="cpu"), mine), (store, theirs)):
        with pytest.raises(OverflowError, match="math range error"):
            function(x, out)
    np.testing.assert_allclose(mine, theirs, rtol=1e-14)
    assert mine[19] > 0 and not mine[20:].any()


def kernels(function: Callable[..., Any]) -> str:
    compiled = transkern.compile(function, target="cpu")
    compiled(*arguments())
    text: str = compiled.emit(target="cpu")
    return text[: text.index("// ---- Python's stable ABI")]


def test_nothing_is_computed_for_its_check_alone() -> None:
    for function in (gates, prices):
        text = kernels(function)
        assert "in_bounds &= " not in text and "#pragma omp simd reduction(|: " in text
        assert "int64_t wrong" in text  # a flag as wide as what is computed


def test_iterations_with_loops_inside_have_a_flag_each() -> None:
    text = kernels(bilateral)
    assert "int64_t wrong" in text and re.search(r"failed\w*_lanes\w*\[lane\w*\] = ", text)


def cut_bins(x: Any, low: float, high: float, n: int) -> Any:
    out = np.zeros(n, np.int64)
    for i in range(len(x)):
        out[min(int((x[i] - low) / (high - low) * n), n - 1)] += 1
    return out


def floored(x: Any, low: float, high: float, n: int) -> Any:
    out = np.zeros(n)
    for v in x:
        k = math.floor((v - low) / (high - low) * n)
        if 0 <= k < n:
            out[k] += v
    return out


@pytest.mark.parametrize("function", [cut_bins, floored])
def test_places_that_are_floats_first(function: Callable[..., Any]) -> None:
    """A number is divided once, and made a place of whatever it is: what does not fit is found behind that."""
    x = np.linspace(0.0, 1.0, 2500)
    compiled = transkern.compile(function, target="cpu")
    alike(function, x, 0.0, 1.0, 20, compiled=compiled)
    assert "in_bounds &= " not in compiled.emit(target="cpu")
    for special in (np.nan, np.inf, -np.inf, -5.0, -0.9, 7.0):
        for place in (0, 1100, 2499):
            given = x.copy()
            given[place] = special
            alike(function, given, 0.0, 1.0, 20, compiled=compiled)
    alike(function, x, 0.0, 0.0, 20, compiled=compiled)
    alike(function, x, 0.0, 1.0, 0, compiled=compiled)
