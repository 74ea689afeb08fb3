"""Short reductions of pairs, and what these are reduced to in turn, are NumPy's, whatever lanes make them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from transkern import pipeline
from transkern.frontend.sources.source import live_function
from transkern.frontend.specialise import specialise
from transkern.frontend.values.types import parse_signature
from transkern.ir import nodes as n
from transkern.ir.traverse import walk


def _distances(x: Any, y: Any) -> Any:
    return ((x[:, None, :] - y[None, :, :]) ** 2).sum(axis=2)


def nearest(x: Any, y: Any) -> Any:
    return np.sqrt(_distances(x, y)).argmin(axis=1)


def furthest(x: Any, y: Any) -> Any:
    d = _distances(x, y)
    return d.argmax(axis=1), d.max(axis=1)


def close(x: Any, y: Any) -> Any:
    d = _distances(x, y)
    return (d < 2).any(axis=1), (d < 9).all(axis=1), (d < 2).sum(axis=1)


def hausdorff(x: Any, y: Any) -> Any:
    return np.sqrt(_distances(x, y).min(axis=1).max()), _distances(y, x).min(axis=1).mean()


def totals(x: Any, y: Any) -> Any:
    d = _distances(x, y)
    return d.sum(axis=1), d.min(axis=1), d.max(axis=1)


def of_all(x: Any, y: Any) -> Any:
    return _distances(x, y).argmin(), np.abs(x[:, None] - y).sum(axis=2).argmax()


def by_loops(x: Any, y: Any) -> Any:
    found = np.zeros(len(x), np.int64)
    for i in range(len(x)):
        best, at = np.inf, -1
        for j in range(len(y)):
            d = 0.0
            for k in range(x.shape[1]):
                d += abs(x[i, k] - y[j, k])
            if d < best:
                best, at = d, j
        found[i] = at
    return found


FUNCTIONS = (nearest, furthest, close, totals, hausdorff, of_all, by_loops)


@pytest.mark.parametrize("function", FUNCTIONS[:-1], ids=lambda f: f.__name__)
def test_lanes_go_over_the_pairs(function: Callable[..., Any]) -> None:
    signature = f"{function.__name__}(float32[n,d], float32[m,d])"
    made = pipeline.run(specialise(live_function(function), parse_signature(signature)[1], True))
    copies = [s for s in walk(made.body) if isinstance(s, n.Alloc) and s.buffer.endswith("_turned")]
    assert copies


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_they_are_as_numpys(function: Callable[..., Any], dtype: str) -> None:
    compiled = transkern.compile(function)
    rng = np.random.default_rng(0)
    for count, others, width in ((40, 12, 8), (3, 65, 2), (70, 128, 3), (20, 63, 16), (5, 200, 17), (1, 1, 1)):
        x, y = (rng.integers(-4, 5, (size, width)).astype(dtype) for size in (count, others))
        for given in ((x, y), (x[::-1, ::-1], y[:, ::-1]), (np.asfortranarray(x), np.asfortranarray(y))):
            wanted, got = function(*given), compiled(*given)
            for w, g in zip(*(r if isinstance(r, tuple) else (r,) for r in (wanted, got)), strict=True):
                np.testing.assert_array_equal(g, w)
                assert np.asarray(g).dtype == np.asarray(w).dtype


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_what_is_no_number_counts_as_in_numpy(function: Callable[..., Any]) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 3, (30, 4)).astype(float), rng.integers(0, 3, (70, 4)).astype(float)
    x[3, 1] = x[7, 0] = y[20, 2] = y[66, 3] = np.nan
    x[5, 2], y[11, 1], y[68, 1] = np.inf, np.inf, -np.inf
    alike(function, x, y)


@pytest.mark.parametrize("shapes", [((0, 3), (5, 3)), ((5, 3), (0, 3)), ((5, 0), (6, 0)), ((0, 3), (0, 3))])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_nothing_to_reduce(function: Callable[..., Any], shapes: tuple[tuple[int, ...], ...]) -> None:
    alike(function, *map(np.ones, shapes))


def softmax_of_pairs(x: Any, y: Any) -> Any:
    scores = -_distances(x, y)
    e = np.exp(scores - scores.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def mixture(x: Any, y: Any) -> Any:
    log_density = -0.5 * _distances(x, y)
    top = log_density.max(axis=1, keepdims=True)
    evidence = top + np.log(np.exp(log_density - top).sum(axis=1, keepdims=True))
    return log_density, evidence, evidence.mean()


def most_like(x: Any, y: Any) -> Any:
    products = (x[:, None] * y).sum(axis=2)
    return products.argmax(axis=1), products.max(axis=1), (products > 0).any(axis=1)


@pytest.mark.parametrize("function", [nearest, softmax_of_pairs, mixture, most_like], ids=lambda f: f.__name__)
def test_lanes_go_over_the_rows_of_few_pairs(function: Callable[..., Any]) -> None:
    made = pipeline.run(specialise(live_function(function), parse_signature("f(float64[n,d], float64[m,d])")[1], True))
    copies = [s for s in walk(made.body) if isinstance(s, n.Alloc) and s.buffer.startswith("x_row")]
    assert copies  # one of the rows that they go over again and again
    rng = np.random.default_rng(2)
    compiled = transkern.compile(function)
    sizes = ((130, 5, 7), (64, 16, 16), (33, 33, 2), (32, 1, 1), (70, 129, 16), (100, 20, 17), (31, 4, 5))
    for count, others, width in sizes:
        x, y = rng.integers(-3, 4, (count, width)).astype(float), rng.integers(-3, 4, (others, width)).astype(float)
        x[-1, 0], y[others // 2, -1] = np.nan, np.inf
        with np.errstate(all="ignore"):
            wanted, got = function(x, y), compiled(x, y)
        for w, g in zip(*(r if isinstance(r, tuple) else (r,) for r in (wanted, got)), strict=True):
            assert np.asarray(g).dtype == np.asarray(w).dtype
            np.testing.assert_allclose(g, w, rtol=1e-12)
