"""Loops over windows that reach beyond an array at its ends (`fuse/windows.py`)."""

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


def nearly_alike(function: Any, *arguments: Any) -> None:
    found, wanted = (call(f, list(arguments)) for f in (transkern.compile(function, target="cpu"), function))
    assert repr(found.error) == repr(wanted.error)
    if wanted.error is None:
        np.testing.assert_allclose(found.result, wanted.result, rtol=1e-12, atol=1e-12)


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
