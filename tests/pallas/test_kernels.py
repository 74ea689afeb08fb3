"""Everyday functions whose work is in kernels, or in few operations: NumPy's answers, whatever the size of their parts."""

import numpy as np
import pytest

from tests.pallas.support import check, compiled, random

HEAT = """
def f(u, alpha, steps):
    for _ in range(steps):
        u[1:-1, 1:-1] += alpha * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
    return u
"""
ROLLED = """
def f(u, v, steps, feed):
    u, v = u.copy(), v.copy()
    for _ in range(steps):
        w = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 2, 1) + np.roll(u, -1, 1) - 4 * u
        r = u * v * v
        u = u + w - r + feed * (1 - u)
        v = v + r - feed * v
    return u
"""
LIMITER = """
def f(u, c, steps):
    u = u.copy()
    for _ in range(steps):
        d = u[:, 1:] - u[:, :-1]
        a, b = d[:, :-1], d[:, 1:]
        slope = np.where(a * b > 0, np.where(np.abs(a) < np.abs(b), a, b), np.float32(0))
        flux = c * (u[:, 1:-1] + slope)
        u[:, 2:-1] = u[:, 2:-1] - (flux[:, 1:] - flux[:, :-1])
    return u
"""
BOX = """
def f(image):
    out = np.zeros((image.shape[0] - 4, image.shape[1] - 3), np.float32)
    for i in range(5):
        for j in range(4):
            out += image[i:image.shape[0] - 4 + i, j:image.shape[1] - 3 + j]
    return out / 20
"""
ALONG_ROWS = """
def f(x, a):
    y = np.zeros_like(x)
    y[:, 0] = x[:, 0]
    for t in range(1, x.shape[1]):
        y[:, t] = a * y[:, t - 1] + x[:, t]
    return y
"""
ESCAPE = """
def f(cx, cy, steps):
    z, w = np.zeros((cy.shape[0], cx.shape[0]), np.float32), np.zeros((cy.shape[0], cx.shape[0]), np.float32)
    counts = np.zeros((cy.shape[0], cx.shape[0]), np.int32)
    for _ in range(steps):
        inside = z * z + w * w <= 4
        z, w = np.where(inside, z * z - w * w + cx[None, :], z), np.where(inside, 2 * z * w + cy[:, None], w)
        counts[inside] += 1
    return counts
"""


@pytest.mark.parametrize("shape", [(2, 5), (70, 500), (100, 2000)])
def test_a_stencil_goes_by_rows(shape):
    check(HEAT, "f(float32[n,m],float,int)", random(*shape, special=2), 0.1, 3, text=["_by_rows"])


@pytest.mark.parametrize("shape", [(3, 4), (70, 500), (111, 2000)])
def test_rows_and_columns_turn(shape):
    args = random(*shape, special=1), random(*shape, seed=1), 3, 0.1
    check(ROLLED, "f(float32[n,m],float32[n,m],int,float)", *args, text=["_rolled"])


@pytest.mark.parametrize("shape", [(5, 8), (100, 2000)])
def test_a_chain_with_a_limiter(shape):
    check(LIMITER, "f(float32[n,m],float,int)", random(*shape, special=2), 0.3, 3, text=["_by_rows"])


@pytest.mark.parametrize("shape", [(7, 8), (170, 1500)])
def test_a_window_that_loops_move(shape):
    check(BOX, "f(float32[n,m])", random(*shape, special=1), text=["_by_rows", "in range("])


@pytest.mark.parametrize("shape", [(7, 5), (200, 300), (8, 128), (20, 1000)])
def test_a_recurrence_along_rows(shape):
    check(ALONG_ROWS, "f(float32[n,m],float)", random(*shape, special=1), 0.9, text=["_lane"])


@pytest.mark.parametrize("sizes", [(70, 500), (5, 2), (300, 33)])
def test_a_loop_in_order_in_each_point_of_a_grid(sizes):
    args = [random(s, seed=s, special=s > 9) for s in sizes]
    check(ESCAPE, "f(float32[n],float32[m],int)", *args, 7, text=["_grid("])


def test_sums_over_rows_in_parts():
    source = """
def f(x, labels, count):
    out = np.zeros((count, 4), np.float32)
    for k in range(count):
        low, many, first = 0, 0, -1
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                if labels[i, j] == k:
                    many += 1
                    low = min(low, x[i, j])
        out[k, 0], out[k, 1] = many, low
    return out
"""
    rng = np.random.default_rng(0)
    for shape in ((3, 5), (400, 300)):
        x, labels = rng.integers(-99, 99, shape).astype(np.int32), rng.integers(0, 3, shape).astype(np.int32)
        check(source, "f(int32[n,m],int32[n,m],int)", x, labels, 3)


# ---- updates that data choose


COUNT = """
def f(x, k):
    h = np.zeros(k, np.int32)
    for i in range(x.shape[0]):
        h[x[i]] += 1
    return h
"""
ADD_AT = "def f(out, at, values):\n    np.add.at(out, at, values)\n"
PRODUCTS = """
def f(out, at, x, y):
    for i in range(at.shape[0]):
        out[at[i]] -= x[i] * y[i]
"""
ONLY_SOME = """
def f(out, at, x):
    for i in range(at.shape[0]):
        if x[i] > 0:
            out[at[i], 1] = max(out[at[i], 1], x[i])
"""


def places(n, k, seed=0):
    return np.random.default_rng(seed).integers(-k, k, n).astype(np.int32)


@pytest.mark.parametrize("n", [0, 1, 1000])
def test_counts(n):
    check(COUNT, "f(int32[n],int)", places(n, 9), 9, text=["_updated("])


@pytest.mark.parametrize("at", [[1, 2, 9, 3, -10], [-10], [0, 1, 2, 3, 40]])
def test_counts_stop_at_the_first_place_that_is_none(at):
    check(COUNT, "f(int32[n],int)", np.array(at, np.int32), 9)
    argument = COUNT.replace("def f(x, k)", "def f(x, h)").replace("    h = np.zeros(k, np.int32)\n", "")
    check(argument, "f(int32[n],int32[k])", np.array(at, np.int32), np.arange(9, dtype=np.int32))


@pytest.mark.parametrize("n", [0, 1, 1000, 5000])
def test_floats_are_added_in_their_order(n):
    args = random(50, special=n == 1000), places(n, 50), random(n, special=n == 1000)
    check(ADD_AT, "f(float32[k],int32[n],float32[n])", *args, text=["_updated("])


@pytest.mark.parametrize("n", [1, 1000])
def test_products_are_rounded_before_they_are_subtracted(n):
    args = random(50), places(n, 50), random(n, special=1), random(n, seed=1)
    check(PRODUCTS, "f(float32[k],int32[n],float32[n],float32[n])", *args, text=["_updated("])


def test_extremes_under_a_condition():
    x = np.random.default_rng(0).integers(-99, 99, 500).astype(np.int32)
    check(ONLY_SOME, "f(int32[k,3],int32[n],int32[n])", np.zeros((20, 3), np.int32), places(500, 20), x)


@pytest.mark.parametrize("change", ["h[x[i]] = h[x[i]] * 2", "h[x[i]] += h[0]", "h[i % 3] = h[x[i]] + 1"])
def test_what_is_no_sum_stays_in_order(change):
    source = COUNT.replace("h[x[i]] += 1", change).replace("np.zeros", "np.ones")
    check(source, "f(int32[n],int)", places(20, 5), 5)
    assert "_updated(" not in compiled(source, "f(int32[n],int)").text


# ---- blocks


def test_pairs_of_points():
    source = "def f(a, b):\n    d = a[:, None, :] - b[None, :, :]\n    return np.sqrt((d * d).sum(axis=2))\n"
    for n, m in ((1, 5), (200, 300), (257, 5)):
        check(source, "f(float32[n,3],float32[m,3])", random(n, 3, special=1), random(m, 3), text=["_grid("])


def test_the_nearest_of_pairs():
    source = """
def f(a, b):
    d = ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2)
    return d.argmin(axis=1), d.min(axis=1)
"""
    for n, m in ((2, 5), (200, 300), (513, 7)):
        check(source, "f(float32[n,2],float32[m,2])", random(n, 2), random(m, 2), text=["_grid("])


def test_a_few_columns_of_results():
    source = """
def f(x):
    out = np.zeros((x.shape[0], 3), np.float32)
    out[:, 0] = x[:, 1] * 2
    out[:, 2] = x[:, 0] + out[:, 0]
    return out
"""
    for n in (0, 1, 300):
        check(source, "f(float32[n,2])", random(n, 2, special=n > 9))


def test_statistics_over_the_first_and_the_last_axis():
    source = "def f(x):\n    return (x - x.mean(axis=(0, 2), keepdims=True)) / x.max(axis=(0, 2), keepdims=True)\n"
    for shape in ((2, 3, 5), (5, 7, 33)):
        check(source, "f(float32[b,c,h])", random(*shape), exact=False, rtol=1e-5, atol=1e-5, text=["_grid("])


COLUMNS = """
def f(x):
    out = np.empty_like(x)
    for j in range(x.shape[1]):
        column = x[:, j]
        e = np.exp(column - column.max())
        out[:, j] = e / e.sum()
    return out
"""
CHANNELS = """
def f(x, g):
    m = x.mean(axis=(0, 2, 3), keepdims=True)
    v = x.var(axis=(0, 2, 3), keepdims=True)
    return (x - m) / np.sqrt(v + np.float32(1e-5)) * g[None, :, None, None]
"""
CHANNELS_IN_A_LOOP = """
def f(x, g):
    out = np.empty_like(x)
    for c in range(x.shape[1]):
        d = x[:, c] - x[:, c].mean()
        out[:, c] = d / np.sqrt((d * d).mean() + np.float32(1e-5)) * g[c]
    return out
"""


@pytest.mark.parametrize("shape", [(1, 1), (7, 300)])
def test_a_loop_over_columns_with_an_array_of_its_own(shape):
    x = random(*shape)
    x[0, 0] = np.nan
    check(COLUMNS, "f(float32[n,m])", x, exact=False, rtol=1e-5, text=("_grid(",))
    assert ".at[" not in compiled(COLUMNS, "f(float32[n,m])").text


@pytest.mark.parametrize(("source", "kernels"), [(CHANNELS, 2), (CHANNELS_IN_A_LOOP, 1)])
def test_channels_of_images(source, kernels):
    types = "f(float32[n,c,h,w],float32[c])"
    for shape in ((3, 5, 4, 6), (2, 1, 1, 3)):
        check(source, types, random(*shape), random(shape[1]), exact=False, rtol=1e-5)
    text = compiled(source, types).text
    assert text.count("= _grid(") == kernels and ".at[" not in text


def test_the_chosen_element_of_each_row():
    source = """
def f(x, labels):
    shifted = x - x.max(axis=1, keepdims=True)
    return shifted[np.arange(x.shape[0]), labels] + 0
"""
    for n in (3, 300):
        x = random(n, 37, special=1)
        check(source, "f(float32[n,m],int32[n])", x, places(n, 37))
    check(source, "f(float32[n,m],int32[n])", random(3, 37), np.array([1, 37, 50], np.int32))


# ---- windows of one axis, tables


@pytest.mark.parametrize("n, k", [(9, 3), (1000, 31), (5000, 70)])
def test_filters(n, k):
    source = """
def f(x, w):
    n, k = x.shape[0], w.shape[0]
    y = np.zeros(n - k + 1, np.float32)
    for j in range(k):
        y += w[j] * x[j:n - k + 1 + j]
    return y
"""
    check(source, "f(float32[n],float32[k])", random(n, special=n > 10), random(k))
    source = "def f(x, w):\n    return np.convolve(x, w)\n"
    check(source, "f(float32[n],float32[k])", random(n), random(k), exact=False, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("n, m", [(20, 16), (600, 500)])
def test_tables_of_all_sizes(n, m):
    source = """
def f(a, b):
    n, m = a.shape[0], b.shape[0]
    d = np.zeros((n + 1, m + 1), np.int32)
    for i in range(n + 1):
        d[i, 0] = i
    for j in range(m + 1):
        d[0, j] = j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d
"""
    rng = np.random.default_rng(n)
    args = rng.integers(0, 4, n).astype(np.int32), rng.integers(0, 4, m).astype(np.int32)
    check(source, "f(int32[n],int32[m])", *args)


CARRIED = """
def f(x, steps):
    a = np.zeros_like(x)
    for _ in range(steps):
        x = np.sort(x)
        for i in range(1, x.shape[0]):
            a[i] = a[i - 1] * 0.5 + a[i] - x[i]
            x[i] = x[i] + a[i] * 0.25
    return x
"""


def test_a_kernel_goes_on_with_what_it_left_in_an_array_of_its_own():
    for steps in (0, 1, 4):
        check(CARRIED, "f(float64[n], int)", random(9, dtype=np.float64), steps, exact=False, rtol=1e-13)
