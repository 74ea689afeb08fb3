"""Rows of three float64, of which elements are taken in another order: GCC 12 mixes some of these up in vectors of 64
bytes (`targets/cpu/printing/neighbours.py`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.fuzz.stages import function_of
from tests.tools import require

require("cc")


def decayed(p: Any, f: Any) -> None:
    for _ in range(3):
        for j in range(len(p)):
            f[j, 0] = f[j, 0] * 0.5 + p[j, 0] * p[j, 1]
            f[j, 1] = f[j, 1] * 0.5 + p[j, 1] * p[j, 1]
            f[j, 2] = f[j, 2] * 0.5 + p[j, 1] * p[j, 2]


def before(p: Any, f: Any) -> None:
    for t in range(len(p)):
        for j in range(t):
            f[j] -= p[j, 1] * p[j] * (p[j, 0] > p[t, 0])


def rows(p: Any, f: Any) -> None:
    for t in range(len(p)):
        f[:t] += p[:t, 1:2] * p[:t]


@pytest.mark.parametrize("n", [1, 64, 65, 203])
@pytest.mark.parametrize("function", [decayed, before, rows], ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_products_within_rows(function: Callable[..., None], n: int, dtype: Any) -> None:
    p = np.random.default_rng(n).normal(size=(n, 3)).astype(dtype)
    found, wanted = np.ones((n, 3), dtype), np.ones((n, 3), dtype)
    transkern.compile(function, target="cpu")(p, found)
    function(p, wanted)
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(("one", "turned"), [(1, (0,)), (1, (0, 2)), (2, (0,)), (2, (0, 2)), (0, (1,))])
def test_any_order_of_elements_in_rows(one: int, turned: tuple[int, ...]) -> None:
    """One element for all, and some factors turned."""
    pairs = [(k, one) if k in turned else (one, k) for k in range(3)]
    lines = [f"f[j, {k}] = f[j, {k}] * 0.5 + p[j, {a}] * p[j, {b}]" for k, (a, b) in enumerate(pairs)]
    loop = "\n            ".join(["    for _ in range(2):\n        for j in range(len(p)):", *lines])
    function = function_of(f"def f(p, f):\n{loop}\n")
    p, found = np.random.default_rng(3).normal(size=(70, 3)), np.ones((70, 3))
    wanted = found.copy()
    transkern.compile(function, target="cpu")(p, found)
    function(p, wanted)
    np.testing.assert_array_equal(found, wanted)


def code(width: int) -> str:
    """The code of a loop over rows of so many elements."""

    def f(p: Any, out: Any) -> None:
        for j in range(len(p)):
            out[j, 0] = p[j, 0] - p[j, 1]
            out[j, 1] = p[j, 1] + p[j, 0]

    compiled = transkern.compile(f, target="cpu")
    compiled(np.ones((70, width)), np.ones((70, width)))
    return compiled.emit()


@pytest.mark.parametrize(("width", "halves"), [(2, False), (3, True), (4, False)])
def test_vectors_are_half_as_long_where_orders_could_be_mixed_up(width: int, halves: bool) -> None:
    assert ("prefer-vector-width=256" in code(width)) is halves


def weighted(w: Any, x: Any, y: Any) -> None:
    for i in range(len(y)):
        y[i] = w[0] * x[i] + w[3] * x[i + 2] + w[1] * x[i + 1] + (w[7] + w[4] * x[i + 5]) * (w[6] - w[5] * w[2])


def weighted_rows(w: Any, x: Any, y: Any) -> None:
    y[:] = 0.0
    for k in range(9):
        y += w[8 - k] * x[k : k + len(y)]


def weighted_twice(w: Any, x: Any, y: Any) -> None:
    for i in range(0, len(y) - 1, 2):
        y[i] = w[0] * x[i] + w[1] * x[i + 1] + w[2] * x[i + 2] + w[3] * x[i + 3]
        y[i + 1] = w[5] * x[i] + w[4] * x[i + 1] + w[7] * x[i + 2] + w[6] * x[i + 3]


@pytest.mark.parametrize(("function", "halves"), [(weighted, False), (weighted_rows, False), (weighted_twice, True)])
def test_weights_of_one_result_are_in_whole_vectors(function: Callable[..., None], halves: bool) -> None:
    rng = np.random.default_rng(5)
    w, x, found = rng.normal(size=9), rng.normal(size=208), np.ones(200)
    wanted, compiled = found.copy(), transkern.compile(function, target="cpu")
    compiled(w, x, found)
    function(w, x, wanted)
    np.testing.assert_array_equal(found, wanted)
    assert ("prefer-vector-width=256" in compiled.emit()) is halves
