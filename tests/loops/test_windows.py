"""Loops over windows that reach beyond an array at its ends (`fuse/loops/windows.py`)."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import transkern
from tests.fuzz.oracle import call
from tests.tools import require

require("cc")


def library(x: Any, w: Any, mode: str) -> Any:
    return np.convolve(x, w, mode)


def asked(x: Any, w: Any) -> Any:
    half = len(w) // 2
    out = np.zeros(len(x))
    for i in range(len(x)):
        for j in range(len(w)):
            if 0 <= i + j - half < len(x):
                out[i] += x[i + j - half] * w[j]
    return out


def turned_back(x: Any, w: Any) -> Any:
    out = np.zeros(len(x))
    for i in range(len(x)):
        total = 0.0
        for j in range(len(w)):
            k = i - j
            if k >= 0:
                total += x[k] * w[j]
        out[i] = total
    return out


def backwards(x: Any, w: Any) -> Any:
    out = np.zeros(len(x))
    for i in range(len(x) - 1, -1, -1):
        best = -np.inf
        for j in range(len(w)):
            if i + j < len(x):
                best = max(best, x[i + j] + w[j])
            else:
                best = max(best, 0.0)
        out[i] = best
    return out


def counted(x: Any, w: Any) -> Any:
    return np.array([sum(1 for j in range(len(w)) if i + j < len(x) and x[i + j] > w[j]) for i in range(len(x))])


def plane(x: Any, w: Any) -> Any:
    a, f = np.outer(x, x[:7]), np.outer(w, w[:3])
    out = np.zeros(a.shape)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            total = 0.0
            for k in range(f.shape[0]):
                for q in range(f.shape[1]):
                    r, c = i + k - f.shape[0] // 2, j + q - f.shape[1] // 2
                    if r >= 0 and r < a.shape[0] and c >= 0 and c < a.shape[1]:
                        total += a[r, c] * f[k, q]
            out[i, j] = total
    return out


def all_of_them(x: Any, w: Any) -> Any:
    total, most = 0, -np.inf
    for i in range(len(x)):
        for j in range(len(w)):
            if 0 <= i + j - 2 < len(x):
                total += x[i + j - 2] > w[j]
                most = max(most, x[i + j - 2] * w[j])
    return total, most


def windows_of_an_image(x: Any, w: Any) -> Any:
    a, f = np.outer(x, x[::-1]), np.outer(w[:4], w[:3])
    if a.shape[0] < f.shape[0] or a.shape[1] < f.shape[1]:
        return a
    seen = np.lib.stride_tricks.sliding_window_view(a, f.shape)
    return ((seen - f) ** 2).sum(axis=(2, 3)), seen.max(axis=(2, 3)), (seen > f).any(axis=(2, 3))


def means(x: Any, w: Any) -> Any:
    a = np.outer(x, x)
    if len(x) < 5:
        return a
    seen = np.lib.stride_tricks.sliding_window_view(a, (5, 3))
    rows = np.lib.stride_tricks.sliding_window_view(a, 4, axis=1)
    return seen.mean(axis=(2, 3)), seen.min(axis=(2, 3)), rows.sum(axis=2), np.count_nonzero(rows > 0, axis=2)


def correlated(x: Any, w: Any) -> Any:
    a, f = np.outer(x, x[:9]), np.outer(w, w[:2])
    out = np.zeros((max(a.shape[0] - f.shape[0] + 1, 0), max(a.shape[1] - f.shape[1] + 1, 0)))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = (a[i : i + f.shape[0], j : j + f.shape[1]] * f).sum()
    return out


def over_two_axes(x: Any, w: Any) -> Any:
    a = x[:, None, None] * w[:3, None] + x
    low = np.minimum(a, 1).prod(axis=(0, 2))  # which does not overflow on the way to a 0
    return a.sum(axis=(0, 1)), a.max(axis=(0, 1)), low, a.mean(axis=(1, 2)), (a > 0).all(axis=(0, 1))


def nearly_alike(function: Any, *arguments: Any) -> None:
    found, wanted = (call(f, list(arguments)) for f in (transkern.compile(function, target="cpu"), function))
    assert repr(found.error) == repr(wanted.error)
    if wanted.error is not None:
        return
    many = isinstance(wanted.result, tuple)
    results = (x.result if many else [x.result] for x in (found, wanted))
    for one, two in zip(*results, strict=True):
        assert np.asarray(one).dtype == np.asarray(two).dtype
        single = np.float32 in (a.dtype for a in arguments if isinstance(a, np.ndarray))
        np.testing.assert_allclose(one, two, rtol=1e-5 if single else 1e-12, atol=1e-5 if single else 1e-12)


@pytest.mark.parametrize("function", [asked, turned_back, backwards, counted, plane, all_of_them])
def test_windows_as_loops(function: Any) -> None:
    rng = np.random.default_rng(1)
    for n in (1, 2, 5, 8, 40, 100):
        for m in (1, 2, 3, 9, 60):
            nearly_alike(function, rng.standard_normal(n), rng.standard_normal(m))
    x = rng.standard_normal(40)
    x[[0, 7, 39]] = np.inf, np.nan, -np.inf
    nearly_alike(function, x, rng.standard_normal(5))
    nearly_alike(function, rng.standard_normal(40), np.array([1, np.inf, np.nan, 0, -0.0]))


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8"])
@pytest.mark.parametrize("function", [windows_of_an_image, means, correlated, over_two_axes])
def test_windows_that_slide(function: Any, dtype: str) -> None:
    rng = np.random.default_rng(1)
    for n, m in ((1, 1), (2, 3), (5, 4), (9, 2), (30, 6), (70, 40)):
        x, w = (rng.integers(0, 9, k).astype(dtype) for k in (n, m))
        nearly_alike(function, x, w)
    if dtype.startswith("float"):
        x = rng.standard_normal(30).astype(dtype)
        x[[0, 7, 29]] = np.inf, np.nan, -np.inf
        with np.errstate(all="ignore"):
            nearly_alike(function, x, rng.standard_normal(5).astype(dtype))


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_convolutions(mode: str) -> None:
    """What is behind the ends is no zero: infinite weights make no NaN of it."""
    rng = np.random.default_rng(2)
    for n, m in ((1, 1), (5, 2), (2, 5), (100, 31), (31, 100), (600, 530), (530, 600)):
        nearly_alike(library, rng.standard_normal(n), rng.standard_normal(m), mode)
    w = np.array([1, np.inf, np.nan, 0, -0.0])
    nearly_alike(library, rng.standard_normal(40), w, mode)
    nearly_alike(library, np.arange(40), np.arange(7), mode)


@pytest.mark.parametrize(("function", "types"), [
    (library, "f(float64[n],float64[m],'same')"), (asked, "f(float64[n],float64[m])"),
    (turned_back, "f(float64[n],float64[m])"),
])  # fmt: skip
def test_lanes_go_through_windows_without_conditions(function: Any, types: str) -> None:
    text = transkern.compile(function, target="cpu").emit(types=types)
    middle = re.split(r"= i_high_?;", re.split(r"= i_low_?;", text, maxsplit=1)[1], maxsplit=1)[0]
    kernel = middle.partition("\n}\n")[0]
    assert "lane" in kernel and "taken" not in kernel and "? x[" not in kernel
