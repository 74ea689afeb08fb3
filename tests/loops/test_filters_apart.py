"""Filters of what takes loops or functions, searches over several axes, and extremes of extremes, as NumPy has them."""

from __future__ import annotations

import functools
import re
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import require

require("cc")


def motifs(seq: Any, table: Any, least: Any) -> Any:
    k = table.shape[0]
    windows = np.lib.stride_tricks.sliding_window_view(seq, k)
    score = np.maximum(table[np.arange(k), windows].sum(axis=1), table[::-1, ::-1][np.arange(k), windows].sum(axis=1))
    at = np.flatnonzero(score > least)
    return at, score[at]


def bells(x: Any) -> Any:
    y = np.exp(-x * x)
    return y[y > 0.5]


def rows(x: Any) -> Any:
    return x[np.abs(x).sum(axis=1) < 2.0]


def triangles(points: Any, corners: Any) -> Any:
    return points[corners].sum(axis=1)


def slabs(o: Any, d: Any, low: Any, high: Any) -> Any:
    t0, t1 = (low[None] - o[:, None]) / d[:, None], (high[None] - o[:, None]) / d[:, None]
    near, far = np.minimum(t0, t1).max(axis=2), np.maximum(t0, t1).min(axis=2)
    hit = (near <= far) & (far > 0)
    return near, far, hit.sum(axis=1), np.where(hit, near, np.inf).argmin(axis=1)


def between(a: Any, b: Any, c: Any) -> Any:
    return np.maximum(np.minimum(a, b), np.minimum(np.maximum(a, b), c * 2 - a))


@functools.cache
def _compiled(f: Any) -> Any:
    return transkern.compile(f, target="cpu")


def _agree(f: Any, *args: Any) -> None:
    theirs, ours = f(*args), _compiled(f)(*args)
    theirs, ours = (x if isinstance(x, tuple) else (x,) for x in (theirs, ours))
    for one, two in zip(theirs, ours, strict=True):
        assert one.dtype == two.dtype
        np.testing.assert_allclose(two, one, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("size", [3, 300, 1000])
def test_filters_of_sums(size: int) -> None:
    rng = np.random.default_rng(size)
    _agree(motifs, rng.integers(-4, 4, size), rng.standard_normal((3, 4)), 1.0)
    _agree(motifs, rng.integers(0, 4, size).astype(np.uint8), rng.standard_normal((3, 4)), 9.0)
    _agree(bells, rng.standard_normal(size))
    _agree(rows, rng.standard_normal((size, 3)))


def test_a_filter_starts_no_threads_for_each_element() -> None:
    compiled = transkern.compile(motifs, target="cpu")
    compiled(np.zeros(50, np.int64), np.ones((3, 4)), 1.0)
    text = compiled.emit()
    at = text.index("kept_count_")
    assert "#pragma omp parallel" not in text[at : text.index("result_size = kept_count_")]


@pytest.mark.parametrize("place", [(0, 0), (200, 1), (499, 2)])
@pytest.mark.parametrize("value", [5, -5])
def test_searches_over_several_axes_find_the_first(place: tuple[int, int], value: int) -> None:
    points, corners = np.random.default_rng(0).random((4, 3)), np.ones((500, 3), np.int64)
    _agree(triangles, points, corners)
    corners[place] = value
    corners[499, 2] = value + 1 if place != (499, 2) else value
    compiled = _compiled(triangles)
    with pytest.raises(IndexError, match=re.escape(f"index {value} is out of bounds for axis 0 with size 4")):
        compiled(points, corners)
    with pytest.raises(IndexError, match=re.escape(f"index {value} is out of bounds")):
        triangles(points, corners)


def test_windows_outside_of_a_table() -> None:
    compiled = _compiled(motifs)
    for at in (0, 40, 99):
        seq = np.zeros(100, np.int64)
        seq[at] = 4
        with pytest.raises(IndexError, match="index 4 is out of bounds for axis 1 with size 4"):
            compiled(seq, np.ones((3, 4)), 0.0)
    assert all(len(x) == 0 for x in compiled(np.zeros(3, np.int64), np.ones((3, 4)), 9.0))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_extremes_of_extremes_have_numpys_nan_and_zeros(dtype: Any) -> None:
    odd = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -2.0], dtype)
    a, b, c = (x.ravel() for x in np.meshgrid(odd, odd, odd, indexing="ij"))
    with np.errstate(all="ignore"):
        theirs = between(a, b, c)
    ours = transkern.compile(between, target="cpu")(a, b, c)
    np.testing.assert_array_equal(ours, theirs)
    number = ~np.isnan(theirs)
    np.testing.assert_array_equal(np.signbit(ours[number]), np.signbit(theirs[number]))


@pytest.mark.parametrize("boxes", [5, 100])
def test_boxes_hit_by_rays(boxes: int) -> None:
    rng = np.random.default_rng(boxes)
    low = rng.random((boxes, 3)) * 4
    d = rng.standard_normal((70, 3))
    d[3, 1] = np.nan
    d[5] = 1e-300
    with np.errstate(all="ignore"):
        _agree(slabs, rng.random((70, 3)), d, low, low + rng.random((boxes, 3)))
