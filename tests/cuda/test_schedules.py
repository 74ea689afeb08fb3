"""How work is spread over a device: sums in order by a block, sums by their terms, rows in registers, columns shared by
threads, checks that nobody waits for. Against NumPy, bit for bit where the order of additions is the program's."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike

RNG = np.random.default_rng(5)


pytestmark = pytest.mark.usefixtures("on_simulator")


def text_of(function: Callable[..., Any], *arguments: Any) -> str:
    compiled = transkern.compile(function, target="cuda")
    compiled(*arguments)
    return compiled.emit()


# ---- sums over elements before, by their terms -----------------------------------------------------------------------


def forward(lower, b):
    x = np.zeros(len(b))
    for i in range(len(b)):
        s = b[i]
        for j in range(i):
            s = s - lower[i, j] * x[j]
        x[i] = s / lower[i, i]
    return x


def forward_in_place(lower, x):
    for i in range(x.shape[0]):
        for k in range(i):
            x[i] -= x[k] * lower[i, k]
        x[i] /= lower[i, i]


def factors(a):
    x = a.copy()
    n = len(x)
    for i in range(1, n):
        for j in range(i):
            total = x[i, j]
            for k in range(j):
                total -= x[i, k] * x[k, j]
            x[i, j] = total / x[j, j]
        for j in range(i, n):
            for k in range(i):
                x[i, j] -= x[i, k] * x[k, j]
    return x


def squares_first(a):
    n = a.shape[0]
    x = np.zeros_like(a)
    for row in range(n):
        for column in range(row + 1):
            total = a[row, column]
            for k in range(column):
                total -= x[row, k] * x[column, k]
            if row == column:
                x[row, row] = np.sqrt(total)
            else:
                x[row, column] = total / x[column, column]
    return x


def cholesky(a):
    n = a.shape[0]
    x = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            total = a[i, j]
            for k in range(j):
                total -= x[i, k] * x[j, k]
            x[i, j] = total / x[j, j]
        total = a[i, i]
        for k in range(i):
            total -= x[i, k] * x[i, k]
        x[i, i] = math.sqrt(total)
    return x


def counted(a):
    ways = np.zeros(a.shape[0], np.int64)
    ways[0] = 1
    for i in range(1, a.shape[0]):
        for j in range(i):
            ways[i] += ways[j] * a[i, j]
    return ways


def triangle(n: int, dtype: Any = np.float64) -> Any:
    return (np.tril(RNG.standard_normal((n, n))) + 3 * n * np.eye(n)).astype(dtype)


@pytest.mark.parametrize("n", [0, 1, 5, 63, 64, 70])
def test_triangular_systems(n: int) -> None:
    for function in (forward, forward_in_place):
        compiled = transkern.compile(function, target="cuda")
        alike(function, triangle(n), RNG.standard_normal(n), compiled=compiled)
        alike(function, triangle(n).T[::-1, ::-1], RNG.standard_normal(2 * n)[::-2], compiled=compiled)


@pytest.mark.parametrize("n", [1, 20, 66])
def test_factorisations(n: int) -> None:
    half = RNG.standard_normal((n, n))
    positive = half @ half.T + n * np.eye(n)
    for function in (factors, squares_first, cholesky):
        alike(function, positive, target="cuda")
    alike(factors, triangle(n, np.float32), target="cuda")
    alike(counted, RNG.integers(-3, 4, (n, n)), target="cuda")


def test_special_values_in_a_factorisation() -> None:
    a = triangle(65)
    a[3, 3], a[40, 7], a[50, 1], a[60, 60] = 0.0, np.inf, np.nan, -0.0
    alike(factors, a, target="cuda")
    alike(forward, a, np.full(65, -0.0), target="cuda")


def test_steps_have_threads() -> None:
    text = text_of(factors, triangle(70))
    assert "for (long long step" in text


def test_a_root_of_what_is_negative_raises_where_it_does() -> None:
    half = RNG.standard_normal((70, 70))
    a = half @ half.T + np.eye(70)
    a[30, 30] = a[50, 50] = -1e6
    alike(cholesky, a, target="cuda")


def one_after_another(a, x):
    for i in range(1, len(x)):
        for j in range(i):
            x[i] -= a[i, j] * x[i - 1 - j]  # not the element of the term
    return x


def with_a_scale(a, x):
    for i in range(len(x)):
        for j in range(i):
            x[i] -= a[i, j] * x[j]
        for j in range(i):
            x[j] *= 0.5  # what later sums read is another one then
    return x


@pytest.mark.parametrize("function", [one_after_another, with_a_scale])
def test_what_has_no_such_order_stays(function: Callable[..., Any]) -> None:
    alike(function, 0.1 * RNG.standard_normal((70, 70)), RNG.standard_normal(70), target="cuda")


# ---- sums in order, by a block ---------------------------------------------------------------------------------------


def recursion(r):
    y, z = r * 2, np.zeros(len(r))
    for k in range(1, len(r)):
        total, most = 0.0, -np.inf
        for i in range(k):
            weight = r[k - i - 1]
            total += weight * y[i]
            most = max(most, y[i] - weight)
        for i in range(k):
            z[i] = y[i] + 1e-3 * total * y[k - i - 1]
        for i in range(k):
            y[i] = z[i]
        y[k] = most - total
    return y, z


def products(x, w):
    out = np.zeros(len(w))
    for t in range(len(w)):
        value, kept = w[t], 0.0
        for i in range(len(x)):
            value = value * (1.0 + 1e-3 * x[i])
            kept = kept + x[i] if x[i] > 0 else kept - x[i]
        out[t] = value - kept
        x[t % len(x)] = value / (1.0 + abs(kept))
    return out


def backward(upper, b):
    x = b.copy()
    for i in range(len(b) - 1, -1, -1):
        for j in range(i + 1, len(b)):
            x[i] -= upper[i, j] * x[j]
        x[i] /= upper[i, i]
    return x


@pytest.mark.parametrize("n", [1, 30, 33, 34, 65, 140])
def test_sums_in_order(n: int) -> None:
    alike(recursion, RNG.uniform(-1, 1, n), target="cuda")
    alike(backward, triangle(n).T.copy(), RNG.standard_normal(n), target="cuda")


@pytest.mark.parametrize("n", [1, 31, 32, 33, 1023, 1024, 1025, 2100])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_sums_of_many_terms(n: int, dtype: str) -> None:
    compiled = transkern.compile(products, target="cuda")
    alike(products, RNG.standard_normal(n).astype(dtype), RNG.standard_normal(5).astype(dtype), compiled=compiled)
    special = RNG.standard_normal(n).astype(dtype)
    special[[0, n // 2, n - 1]] = np.inf, -0.0, np.nan
    alike(products, special, RNG.standard_normal(3).astype(dtype), compiled=compiled)


def test_a_block_computes_the_terms() -> None:
    text = text_of(recursion, RNG.uniform(-1, 1, 50))
    assert "__shared__ double terms0" in text


# ---- rows in registers -----------------------------------------------------------------------------------------------


def normal(x):
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def in_place(x):
    x -= x.min(axis=1, keepdims=True)
    x /= x.max(axis=1, keepdims=True) + 1


def chosen(x, w):
    least = x.min(axis=1, keepdims=True)
    return np.where(x > least, w * x, -0.0), (x == least).sum(axis=1), np.where(w > 0, x, least).argmax(axis=1)


@pytest.mark.parametrize("width", [1, 31, 32, 127, 128, 129, 1000, 2048, 4100])
def test_rows(width: int) -> None:
    x = RNG.integers(-50, 50, (3, width)).astype(np.float64)
    x[1, -1] = -0.0
    alike(in_place, x, target="cuda")
    alike(chosen, x, RNG.integers(-2, 3, width) / 2, target="cuda")
    alike(chosen, x[:, ::-1], RNG.integers(-2, 3, width) / 2, target="cuda")
    for function in (normal, softmax):
        for dtype, tolerance in (("float32", 3e-6), ("float64", 1e-13)):
            found = transkern.compile(function, target="cuda")(x.astype(dtype))
            np.testing.assert_allclose(found, function(x.astype(dtype)), rtol=tolerance, atol=tolerance)


def test_a_row_is_stored_once() -> None:
    text = text_of(softmax, RNG.standard_normal((3, 50)))
    kernel = text[text.index("softmax_result(") : text.index("import cupy")]
    held = kernel[: kernel.index("for (long long r", kernel.index("x_held"))]
    assert "result[" not in held.partition("exp(")[2].partition("}")[0]


# ---- columns, shared by threads --------------------------------------------------------------------------------------


def columns(x):
    return x.max(axis=0), x.argmin(axis=0), (x > 1).any(axis=0), (x < 9).all(axis=0), (x > 0).sum(axis=0)


def pairs(p):
    d = ((p[:, None, :] - p[None, :, :]) ** 2).sum(axis=2)
    return (d < 1).sum(axis=1), d.max(), np.sqrt(d).argmax(axis=0)


@pytest.mark.parametrize("shape", [(1, 1), (3, 200), (300, 1), (257, 13), (1000, 40)])
def test_columns(shape: tuple[int, int]) -> None:
    x = RNG.integers(-5, 12, shape)
    alike(columns, x, target="cuda")
    special = x.astype(np.float64)
    special[shape[0] // 2, shape[1] // 2], special[0, 0] = np.nan, -np.inf
    alike(columns, special, target="cuda")
    alike(columns, special[::-1, ::-1], target="cuda")


def test_sums_of_columns_and_pairs() -> None:
    x = RNG.standard_normal((999, 7))
    found = transkern.compile(lambda x: (x.mean(axis=0), x.std(axis=0)), target="cuda")(x)
    for mine, theirs in zip(found, (x.mean(axis=0), x.std(axis=0)), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-13)
    alike(pairs, RNG.integers(0, 9, (130, 2)).astype(np.float64), target="cuda")


# ---- names inside the inner loop -------------------------------------------------------------------------------------


def resized(image, y, x):
    top, left = np.floor(y).astype(int), np.floor(x).astype(int)
    wy, wx = (y - top)[:, None], (x - left)[None, :]
    return image[top[:, None], left] * (1 - wy) * (1 - wx) + image[top[:, None], left] * wy


def by_row(x):
    for i in range(x.shape[0]):
        first = x[i, 0]
        for j in range(x.shape[1]):
            x[i, j] -= first
    return x


def test_each_point_has_a_thread() -> None:
    image, y, x = RNG.standard_normal((20, 30)), RNG.uniform(0, 19, 7), RNG.uniform(0, 29, 40)
    alike(resized, image, y, x, target="cuda")
    alike(by_row, RNG.standard_normal((9, 40)), target="cuda")


# ---- checks ----------------------------------------------------------------------------------------------------------


def gathered(x, i, j, k):
    a = x[i] * 2
    c = a[j] + 1
    return c[k] * c


def stored(x, i, y, j):
    x[i] = 1.0
    y[j] = x[: len(j)]
    x[:] = 7.0


def test_the_first_check_that_fails_raises() -> None:
    compiled = transkern.compile(gathered, target="cuda")
    x, i = RNG.standard_normal(50), RNG.integers(-50, 50, 60)
    good, bad, worse = np.arange(60), np.arange(60) + 1, np.arange(60) - 62
    for j in (good, bad, worse):
        for k in (good, bad, worse):
            alike(gathered, x, i, j, k, compiled=compiled)
            alike(gathered, x, i + 30, j, k, compiled=compiled)


def test_nothing_is_stored_behind_a_check_that_failed() -> None:
    compiled = transkern.compile(stored, target="cuda")
    for bad in (0, 100):
        for worse in (0, 100):
            x, y = np.zeros(40), np.zeros(30)
            i, j = np.arange(20), np.arange(20)
            i[7] += bad
            j[5] += worse
            alike(stored, x, i, y, j, compiled=compiled)


def test_checks_are_read_once() -> None:
    x, i = RNG.standard_normal(50), np.arange(50)
    text = text_of(gathered, x, i, i, i)
    body = text[text.index("def gathered(") :].partition("\n\n\n")[0]
    assert ".item()" not in body
    assert len(re.findall(r"_raise_\w+\(", body)) <= 1


def checked_in_turns(x, order, steps):
    for _ in range(steps):
        x = x[order] * 0.5
        x[order[0]] += 1.0
    return x


def test_checks_in_a_loop() -> None:
    order = np.arange(40)[::-1].copy()
    alike(checked_in_turns, RNG.standard_normal(40), order, 5, target="cuda")
    order[3] = 40
    alike(checked_in_turns, RNG.standard_normal(40), order, 5, target="cuda")
