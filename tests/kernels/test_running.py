"""Running sums, products and extrema on the CPU: loops in order like all others, with what is done to each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike


def columns(x: Any) -> Any:
    return np.cumsum(x, axis=0)


def rows(x: Any) -> Any:
    return np.cumprod(x, axis=1)


def middle(x: Any) -> Any:
    return np.maximum.accumulate(x.reshape(3, -1, 4), axis=1)


def of_all(x: Any) -> Any:
    return np.cumsum(x) * 2


def less(x: Any) -> Any:
    return np.minimum.accumulate(x, axis=-1) - x


def a_row_at_a_time(x: Any) -> Any:
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = x[i].cumsum() * 2
    return out


def both(x: Any) -> Any:
    return np.cumsum(np.cumsum(x, axis=0), axis=1)


def of_few(x: Any) -> Any:
    means = np.cumsum(x * x, axis=0) / (1 + np.arange(x.shape[0]))[:, None]
    return means[1:] - means[:-1], means


FUNCTIONS = [columns, rows, middle, of_all, less, a_row_at_a_time, both, of_few]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int8", "int64", "uint32", "bool"])
def test_running(function: Callable[..., Any], dtype: str) -> None:
    if dtype == "bool" and function is less:
        pytest.skip("NumPy subtracts no truth values")
    rng = np.random.default_rng(0)
    for shape in ((12, 8), (1, 12), (36, 40), (0, 12)):
        x = (rng.normal(size=shape) * 3).astype(dtype)
        if x.dtype.kind == "f" and x.size in (96, 12):
            x.flat[0], x.flat[-1], x.flat[x.size // 2] = -0.0, np.nan, -np.inf
        alike(function, x)
        if dtype in ("float64", "int8"):
            alike(function, np.asfortranarray(x))
    if np.dtype(dtype).kind == "i":
        alike(function, np.full((12, 4), np.iinfo(dtype).min, dtype))


def groups(x: Any, label: Any) -> Any:
    total = np.zeros((5, x.shape[1]))
    for k in range(x.shape[1]):
        total[:, k] = np.bincount(label, weights=x[:, k], minlength=5)
    return total, np.bincount(label, weights=x[:, 0])


def chained(x: Any, y: Any) -> Any:
    """Loops in order that read what another has made, behind it, before it, and of itself."""
    a, b, c = x.copy(), x.copy(), x.copy()
    for i in range(1, len(x)):
        a[i] = a[i - 1] * 0.5 + y[i]
    for i in range(1, len(x)):
        b[i] = b[i - 1] * 0.25 + a[i - 1] * y[i]
    for i in range(1, len(x)):
        c[i] = c[i - 1] - a[len(x) - i] * y[i]
    total = 0.0
    for i in range(1, len(x)):
        total = total * 0.5 + y[i]
    for i in range(1, len(x)):
        a[i - 1] = a[i] + y[i] * total
    return a, b, c, total


def test_loops_in_order_beside_each_other() -> None:
    rng = np.random.default_rng(0)
    for count in (0, 1, 2, 50):
        alike(groups, rng.normal(size=(count, 4)), rng.integers(0, 5, count))
        alike(groups, rng.normal(size=(count, 4)), rng.integers(0, 9, count))
        alike(chained, rng.normal(size=count), rng.normal(size=count))
    alike(groups, rng.normal(size=(3, 4)), np.array([0, -1, 2]))


@pytest.mark.parametrize("function", [columns, rows, of_all, less, a_row_at_a_time])
def test_one_kernel(function: Callable[..., Any]) -> None:
    compiled = transkern.compile(function)
    compiled(np.ones((12, 8)))
    assert compiled.kernels == 1 and not compiled.temporaries


def test_columns_go_in_lanes() -> None:
    compiled = transkern.compile(columns)
    compiled(np.ones((12, 8)))
    text = compiled.emit(target="cpu")
    assert "omp simd" in text[text.index("static void columns_") :]
