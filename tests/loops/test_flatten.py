"""Loops over rows that lie behind each other are one loop (`fuse/lowering/flatten.py`)."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import require

require("cc")


def whole(a: Any) -> Any:
    return a.max(), a.sum(), np.abs(a).min(), (a > 1).any(), np.isfinite(a).all(), (a * a).sum()


def moved(a: Any) -> Any:
    return np.diff(a, axis=0), a[1:] - a[:-1], a[::-1] + a, a[2:] * a[0, 0], a[1:].max(), (a[:-1] > a[1:]).sum()


def leading(a: Any) -> Any:
    b = np.stack((a, a + 1, a * a))
    return b.mean(axis=0), (b > 1).all(axis=0), b.max(axis=0), b.any(axis=(1, 2)), b[1:].sum(axis=(1, 2)), b[1] - b[2]


def columns(a: Any) -> Any:
    return a[:, 1:] - a[:, :-1], a[:, 1:].max(), a.T.max(), a.T + a.T[::-1], a[:, ::-1].sum(), a[1:, :2].min()


def of_positions(a: Any) -> Any:
    i, j = np.indices(a.shape)
    return (a + i * a.shape[1] + j).sum(), np.argmax(a), np.triu(a).sum(), a * np.arange(a.shape[1])


def in_a_loop(a: Any) -> Any:
    p, v = a.copy(), np.zeros_like(a)
    for t in range(3):
        v = v * 0.5 - p
        p += v * t
    return p, v


def beside_a_stencil(a: Any) -> Any:
    u, last = a.copy(), a * 0
    for _ in range(3):
        new = 2 * u - last
        new[1:-1] += u[2:] + u[:-2] - 2 * u[1:-1]
        last, u = u, new
    return u, last


def escape(a: Any) -> Any:
    z, n = np.zeros(a.shape, np.complex128), np.zeros(a.shape, np.int64)
    for _ in range(9):
        live = np.abs(z) <= 2
        z[live] = z[live] ** 2 + a[live]
        n[live] += 1
    return z, n


def triangle(a: Any) -> Any:
    total, most = 0, -np.inf
    for i in range(a.shape[0]):
        for _ in range(i):
            total += 2
    for _ in range(a.shape[0]):
        for _ in range(a.shape[1]):
            most = max(most, a[0, 0])
    return total, most


def overlapping(a: Any) -> Any:
    a[1:] = a[:-1] * 2
    a[:-1] += a[1:]
    return a.sum()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", [
    whole, moved, leading, columns, of_positions, in_a_loop, beside_a_stencil, escape, triangle,
    overlapping,
])  # fmt: skip
def test_rows_behind_each_other(function: Any) -> None:
    rng = np.random.default_rng(2)
    for shape in ((1, 1), (1, 7), (200, 3), (3, 200), (70, 4)):
        a = rng.integers(-3, 4, shape) / 2  # sums are exact
        for given in (a, a.astype(np.float32), np.ascontiguousarray(np.tile(a, (2, 2)))[:, ::2], a[::-1]):
            alike(function, given)
    a[0, 0], a[-1, -1] = np.nan, -0.0
    alike(function, a)


def test_reductions_of_short_rows_are_one_loop() -> None:
    text = transkern.compile(whole, target="cpu").emit(types="f(float64[n,m])")
    assert "m * n" in text and "for (int64_t i " not in text


def by_channels(x: Any) -> Any:
    mean, squares = x.mean(axis=(0, 2, 3), keepdims=True), (x * x).sum(axis=(0, 2, 3), keepdims=True)
    return (x - mean) / np.sqrt(squares + 1), x.max(axis=(2, 3)), x[:, 1:].sum(axis=(0, 2, 3)), x.any(axis=(1, 2))


def in_groups(x: Any) -> Any:
    n, c, h, w = x.shape
    y = x.reshape(n, 2, c // 2, h, w)
    least = y.min(axis=(2, 3, 4), keepdims=True)
    parts = y[:, :, 1:].sum(axis=(2, 3, 4)), y[:, 0, :, ::-1].max(axis=1)
    return (y - least).reshape(n, c, h, w), y.sum(axis=(2, 4)), *parts


def by_places(x: Any, n: int, h: int, w: int) -> Any:
    """Axes in one, by hand: rows that follow each other, that overlap, and that leave some out."""
    flat, sums = x.ravel(), np.zeros((3, n))
    for i in range(n):
        for k in range(h):
            for j in range(w):
                sums[0, i] += flat[(i * h + k) * w + j]
                sums[1, i] += flat[i * h * w + k + j]
                sums[2, i] += flat[(i * h + k) * (w - 1) + j * (w > 2)]
    return sums


SHAPES = [(1, 2, 1, 1), (3, 6, 7, 7), (2, 34, 5, 3)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_inner_axes(shape: tuple[int, ...], dtype: str) -> None:
    x = np.random.default_rng(7).integers(-9, 9, shape).astype(dtype)  # sums are exact
    for given in (x, np.asfortranarray(x)):
        for function in (by_channels, in_groups):
            alike(function, given, target="cpu")


@pytest.mark.parametrize("sizes", [(2, 3, 4), (3, 5, 1), (1, 1, 1), (4, 1, 6), (2, 0, 3)])
def test_places_by_hand(sizes: tuple[int, int, int]) -> None:
    alike(by_places, np.random.default_rng(8).integers(-9, 9, 60).astype(float), *sizes, target="cpu")


def test_a_mean_of_channels_goes_over_rows_at_once() -> None:
    def f(x: Any) -> Any:
        return x.mean(axis=(0, 2, 3))

    for shape in ((2, 3, 40, 41), (2, 3, 4, 5)):
        compiled = transkern.compile(f, target="cpu")
        compiled(np.ones(shape, np.float32))
        assert len({"j", "k", "l"} & set(re.findall(r"for \(int64_t ([a-z])_?\d* =", compiled.emit()))) <= 1
