"""Histograms of several dimensions against NumPy's: points on edges, edges of all kinds, no points, errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.corpus.registry import difference, outcome
from tests.tools import require

_NAN, _INF = np.nan, np.inf
_LINE = np.linspace(-2, 2, 9)
_TWICE = np.array([-1.0, -1.0, 0.0, 0.25, 0.25, 0.25, 2.0, 2.0])
_TINY = np.array([1.0, np.nextafter(1.0, 2), 1.5, 2.0])


def of_bins(x: Any, y: Any, w: Any) -> Any:
    h, xe, ye = np.histogram2d(x, y, bins=(5, 3), weights=w)
    return h, xe, ye


def of_ranges(x: Any, y: Any, n: Any) -> Any:
    return np.histogram2d(x, y, bins=[n, 4], range=[[-1, 1], (-2.0, 0.5)], density=True)


def of_edges(x: Any, y: Any, e: Any, d: Any) -> Any:
    return np.histogram2d(x, y, (e, d))


def of_points(p: Any, e: Any) -> Any:
    return np.histogramdd(p, (2, e, 3), range=(None, None, (0, 1)))


def of_one(x: Any, n: Any) -> Any:
    return np.histogramdd(x, bins=n)


def error(x: Any, y: Any, b: Any, r: Any, w: Any) -> Any:
    return np.histogram2d(x, y, b, r, weights=w)


def _points(dtype: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    x, y = random.normal(0, 1, (2, 40))
    x[:9], y[5:14] = _LINE, _LINE
    x[20:28], y[22:30] = _TWICE, -_TWICE
    if dtype[0] in "ui":
        x, y = (np.abs(v) if dtype[0] == "u" else v for v in (x * 20, y * 20))
    return (x > 0, y > 0) if dtype == "bool" else (x.astype(dtype), y.astype(dtype))


def _check(compiled: Callable[..., Any], plain: Callable[..., Any], *arguments: Any) -> None:
    with np.errstate(all="ignore"):
        wanted, found = outcome(plain, arguments), outcome(compiled, arguments)
    assert (type(found.error), str(found.error)) == (type(wanted.error), str(wanted.error))
    assert not difference(found.result, wanted.result, 2, 0.0), arguments


def test_points_of_all_kinds() -> None:
    require("cc")
    bins, ranges = (transkern.compile(f, target="cpu") for f in (of_bins, of_ranges))
    for dtype in ("float64", "int8"):
        _check(bins, of_bins, *_points(dtype), np.random.default_rng(1).random(40))
    _check(ranges, of_ranges, *_points("bool"), 6)
    x, y = _points("float64", 3)
    _check(bins, of_bins, x[::-2], y[::2], y[::2])
    _check(bins, of_bins, x[:1], y[:1], np.array([-0.0]))
    _check(bins, of_bins, x[:0], y[:0], x[:0])
    x[3], x[4], y[5], y[6] = _NAN, _INF, -_INF, -0.0
    _check(ranges, of_ranges, x, y, 1)
    _check(bins, of_bins, x, y, x)  # the least is not finite
    _check(bins, of_bins, np.full(3, 2.5), np.array([1e300, -1e300, 1e308]), y[:3])
    near = np.arange(-3, 40) * np.finfo(np.float64).eps
    for n in (3, 1000, 10000):  # bins narrower than numbers lie apart
        _check(ranges, of_ranges, near - 0.5, near + 0.125, n)


def test_edges_of_all_kinds() -> None:
    require("cc")
    compiled = transkern.compile(of_edges, target="cpu")
    x, y = _points("float64")
    x[30:33] = _NAN, _INF, -_INF
    edges = (_LINE, _TWICE, _TINY, _LINE[::4], np.array([0.0, 1e300]), np.array([-_INF, 0.0, _INF]), _TWICE[:2])
    for e, d in zip(edges, (*edges[1:], edges[0]), strict=True):
        _check(compiled, of_edges, x, y, e, d)
        _check(compiled, of_edges, np.append(x, e), np.append(y, np.nextafter(e, 9)), e, d)
    _check(compiled, of_edges, x, y, np.array([0.0, _NAN, 1.0]), np.array([3.0, 2.0, 5.0]))
    _check(compiled, of_edges, x, y, np.zeros(0), _LINE)
    _check(compiled, of_edges, x, y, np.zeros(1), _LINE)
    big = np.array([2**53, 2**53 + 1, 2**53 + 2, 2**63 - 1])
    _check(compiled, of_edges, big, big, big, big)
    _check(compiled, of_edges, big.astype(np.uint64), big.astype(np.uint64), big, big.astype(np.float64))


def test_points_as_rows_and_as_lists() -> None:
    require("cc")
    points, one = (transkern.compile(f, target="cpu") for f in (of_points, of_one))
    p = np.random.default_rng(2).random((50, 3)) * 4
    _check(points, of_points, p[::-2], _LINE)
    _check(points, of_points, p[::-2], _TWICE)
    _check(one, of_one, [1, 2, 2, 9], 3)


@pytest.mark.parametrize(
    ("b", "r", "w"),
    [
        ([2, 3, 1], None, None), ((2, 2.5), None, None), ((_LINE[::-1], 2), None, None), ((2, np.zeros((2, 2))), None, None),
        (3, [(0, 1)], None), (3, None, np.ones(3)), (3, None, np.ones(4, complex)), (np.array([0.0, 1.0]), None, None),
    ],
    ids=range(8),
)  # fmt: skip
def test_errors_are_numpys(b: Any, r: Any, w: Any) -> None:
    require("cc")
    x = np.array([0.0, 0.5, 1.0, 2.0])

    def fixed(x: Any) -> Any:
        return np.histogram2d(x, x, b, r, weights=w)

    with pytest.raises((ValueError, TypeError)):
        fixed(x)
    _check(transkern.compile(fixed, target="cpu"), fixed, x)


def test_lengths_that_differ() -> None:
    require("cc")
    _check(transkern.compile(error, target="cpu"), error, np.zeros(3), np.zeros(4), 3, None, np.ones(3))


def test_no_points_in_single_precision_have_edges_of_another_type() -> None:
    require("cc")
    x = np.zeros(0, np.float32)
    with pytest.raises(RuntimeError, match="range="):
        transkern.compile(of_one, target="cpu")(x, 3)
