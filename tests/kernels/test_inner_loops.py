"""Products and small systems by the loops of NumPy's own functions (`targets/cpu/printing/entry/inner_loops.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import require

require("cc")


def inverses(a, y):
    return np.linalg.inv(a), np.linalg.inv(a + np.eye(len(a)))


def solutions(a, y):
    return np.linalg.solve(a, y[:, 0]), np.linalg.solve(a, y), np.linalg.solve(a.T, y * 2.0)


def factors(a, y):
    s = a * a.T
    return np.linalg.cholesky(0.1 * s + len(a) * np.eye(len(a))), np.linalg.det(a), np.linalg.det(s)


def values(a, y):
    w, v = np.linalg.eigh(a)
    return w, v, np.linalg.eigvalsh(a, UPLO="U"), np.linalg.eigh(a, UPLO="U")[0]


def steps(a, y):
    spread, gains = np.eye(len(a)), []
    for k in range(y.shape[1]):
        spread = 0.5 * spread + a * a.T + (k + len(a)) * np.eye(len(a))
        gain = np.linalg.inv(spread)
        gains.append(gain[0, 0] - np.linalg.det(gain))
        spread[0] += np.linalg.solve(spread, y[:, k])
    return spread, gains


def until_it_fails(a, y):
    done = 0
    out = np.zeros((3, len(a), len(a)))
    for k in range(3):
        y[k % len(y)] = k
        out[k] = np.linalg.cholesky(np.eye(len(a)) - k * a)
        done += 1
    return out, done


FUNCTIONS = [inverses, solutions, factors, values, steps, until_it_fails]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_results_and_errors_are_numpy_s(function: Any) -> None:
    """Also of what has no solution, of NaN, of nothing, and of other types and layouts, which NumPy takes itself."""
    compiled = transkern.compile(function, target="cpu")
    rng = np.random.default_rng(7)
    for size in (1, 3, 18):
        a, y = rng.standard_normal((size, size)), rng.standard_normal((size, 3))
        alike(function, a, y, compiled=compiled)
    b = a[:3, :3].copy()
    singular = np.ones((3, 3))
    alike(function, singular, rng.standard_normal((3, 2)), compiled=compiled)
    alike(function, np.where(np.eye(3) > 0, np.nan, b), y[:3], compiled=compiled)
    alike(function, b.T, y[:3], compiled=compiled)
    if function is not until_it_fails:
        alike(function, np.zeros((0, 0)), np.zeros((0, 2)), compiled=compiled)
    if function is solutions:
        alike(function, b.astype(np.float32), y[:3].astype(np.float32), compiled=compiled)


def test_the_loops_are_called() -> None:
    text = transkern.compile(steps, target="cpu").emit(types="steps(float64[n,n], float64[n,3])")
    assert "if (!py_solved(inner_inv_float64, " in text
    of_32_bits = transkern.compile(solutions, target="cpu").emit(types="solutions(float32[n,n], float32[n,3])")
    assert "py_solved" not in of_32_bits


def products(a, b):
    return a @ b, a.T @ b, a @ b.T, a @ a.T, a.T @ a, a[0] @ b, a @ b[:, 0], b[1:, ::2] @ a[::-1][: b[:, ::2].shape[1]]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_products_are_numpy_s_to_the_bit(dtype: str) -> None:
    """Of operands in all orders, with steps of their own, of one array with itself, and of nothing."""
    compiled = transkern.compile(products, target="cpu")
    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal((90, 120)).astype(dtype) for _ in range(2))
    whole = a[:33, :33].copy(), b[:33, :33].copy()
    for x, y in ((a[:40, :40], b[::2, ::3][:40]), whole, (a[:20, :20].T, b[:20, :20])):
        for wanted, found in zip(products(x, y), compiled(x, y), strict=True):
            assert np.array_equal(wanted, found)
    nothing = np.zeros((0, 0), dtype)
    alike(lambda a, b: (a @ b, a.T @ b), nothing, nothing, compiled=transkern.compile(lambda a, b: (a @ b, a.T @ b)))


def test_products_raise_as_numpy_where_it_does() -> None:
    def square(a):
        return a @ a

    compiled = transkern.compile(square, target="cpu")
    a = np.full((20, 20), 1e300)
    assert np.isinf(compiled(a)).all()
    with np.errstate(over="raise"):
        with pytest.raises(FloatingPointError, match="overflow encountered in matmul"):
            compiled(a)
        assert np.array_equal(compiled(a * 1e-300), square(a * 1e-300))
