"""The kernels as a user of Numba would write them for speed: `prange` placed by hand, in all ways worth a try.

Each form computes what the plain loops compute, with the statements of an iteration in their order; what differs is
which loop is parallel and how loops are nested. The benchmark takes whichever form is the fastest and right.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
from numba import get_num_threads, njit, prange

FORMS: dict[str, list[Callable[..., Any]]] = {}


def form(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Adds a form of the kernels `names`, compiled with ``parallel=True``."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        made = njit(parallel=True)(function)
        for name in names:
            FORMS.setdefault(name, []).append(made)
        return made

    return add


# ---- matrices --------------------------------------------------------------------------------------------------------


@form("gemm")
def gemm_dots(alpha, beta, a, b, c):
    for i in prange(c.shape[0]):
        for j in range(c.shape[1]):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = alpha * total + beta * c[i, j]


@form("gemm")
def gemm_rows(alpha, beta, a, b, c):
    for i in prange(c.shape[0]):
        row = np.zeros(c.shape[1])
        for k in range(a.shape[1]):
            for j in range(c.shape[1]):
                row[j] += a[i, k] * b[k, j]
        for j in range(c.shape[1]):
            c[i, j] = alpha * row[j] + beta * c[i, j]


@form("2mm")
def two_mm_rows(alpha, beta, a, b, c, d):
    product = np.zeros((a.shape[0], b.shape[1]))
    for i in prange(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                product[i, j] += alpha * a[i, k] * b[k, j]
    for i in prange(a.shape[0]):
        for j in range(d.shape[1]):
            d[i, j] *= beta
        for k in range(b.shape[1]):
            for j in range(d.shape[1]):
                d[i, j] += product[i, k] * c[k, j]


@form("2mm")
def two_mm_fused(alpha, beta, a, b, c, d):
    for i in prange(a.shape[0]):
        product = np.zeros(b.shape[1])
        for k in range(a.shape[1]):
            scaled = alpha * a[i, k]
            for j in range(b.shape[1]):
                product[j] += scaled * b[k, j]
        for j in range(d.shape[1]):
            d[i, j] *= beta
        for k in range(b.shape[1]):
            scaled = product[k]
            for j in range(d.shape[1]):
                d[i, j] += scaled * c[k, j]


@form("3mm")
def three_mm_dots(a, b, c, d):
    rows, inner, columns = a.shape[0], b.shape[1], d.shape[1]
    left = np.zeros((rows, inner))
    for i in prange(rows):
        for j in range(inner):
            for k in range(a.shape[1]):
                left[i, j] += a[i, k] * b[k, j]
    right = np.zeros((inner, columns))
    for i in prange(inner):
        for j in range(columns):
            for k in range(c.shape[1]):
                right[i, j] += c[i, k] * d[k, j]
    result = np.zeros((rows, columns))
    for i in prange(rows):
        for j in range(columns):
            for k in range(inner):
                result[i, j] += left[i, k] * right[k, j]
    return result


@form("3mm")
def three_mm_rows(a, b, c, d):
    rows, inner, columns = a.shape[0], b.shape[1], d.shape[1]
    left = np.zeros((rows, inner))
    for i in prange(rows):
        for k in range(a.shape[1]):
            for j in range(inner):
                left[i, j] += a[i, k] * b[k, j]
    right = np.zeros((inner, columns))
    for i in prange(inner):
        for k in range(c.shape[1]):
            for j in range(columns):
                right[i, j] += c[i, k] * d[k, j]
    result = np.zeros((rows, columns))
    for i in prange(rows):
        for k in range(inner):
            for j in range(columns):
                result[i, j] += left[i, k] * right[k, j]
    return result


@form("syrk")
def syrk_rows(alpha, beta, a, c):
    for i in prange(c.shape[0]):
        for j in range(i + 1):
            c[i, j] *= beta
        for k in range(a.shape[1]):
            for j in range(i + 1):
                c[i, j] += alpha * a[i, k] * a[j, k]


@form("syrk")
def syrk_dots(alpha, beta, a, c):
    for i in prange(c.shape[0]):
        for j in range(i + 1):
            total = beta * c[i, j]
            for k in range(a.shape[1]):
                total += alpha * a[i, k] * a[j, k]
            c[i, j] = total


@form("syrk")
def syrk_dots_balanced(alpha, beta, a, c):
    """A short row with a long one, so that all threads have the same work."""
    n = c.shape[0]
    for pair in prange((n + 1) // 2):
        for i in {pair, n - 1 - pair}:
            for j in range(i + 1):
                total = beta * c[i, j]
                for k in range(a.shape[1]):
                    total += alpha * a[i, k] * a[j, k]
                c[i, j] = total


@form("syr2k")
def syr2k_dots(alpha, beta, a, b, c):
    for i in prange(c.shape[0]):
        for j in range(i + 1):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[j, k] + b[i, k] * a[j, k]
            c[i, j] = beta * c[i, j] + alpha * total


@form("syr2k")
def syr2k_rows(alpha, beta, a, b, c):
    for i in prange(c.shape[0]):
        row = np.zeros(i + 1)
        for k in range(a.shape[1]):
            for j in range(i + 1):
                row[j] += a[i, k] * b[j, k] + b[i, k] * a[j, k]
        for j in range(i + 1):
            c[i, j] = beta * c[i, j] + alpha * row[j]


@form("trmm")
def trmm_columns(alpha, a, b):
    x = b.copy()
    for j in prange(x.shape[1]):
        for i in range(x.shape[0]):
            for k in range(i + 1, x.shape[0]):
                x[i, j] += a[k, i] * x[k, j]
            x[i, j] *= alpha
    return x


@form("trmm")
def trmm_blocks(alpha, a, b):
    x = b.copy()
    n, m = x.shape
    blocks = get_num_threads()
    for block in prange(blocks):
        first, last = m * block // blocks, m * (block + 1) // blocks
        for i in range(n):
            for k in range(i + 1, n):
                for j in range(first, last):
                    x[i, j] += a[k, i] * x[k, j]
            for j in range(first, last):
                x[i, j] *= alpha
    return x


@form("atax")
def atax_columns(a, x):
    n, m = a.shape
    dots = np.empty(n)
    y = np.zeros(m)
    for i in prange(n):
        dot = 0.0
        for j in range(m):
            dot += a[i, j] * x[j]
        dots[i] = dot
    blocks = get_num_threads()
    for block in prange(blocks):
        for i in range(n):
            for j in range(m * block // blocks, m * (block + 1) // blocks):
                y[j] += a[i, j] * dots[i]
    return y


@form("atax")
def atax_reduced(a, x):
    y = np.zeros(a.shape[1])
    for i in prange(a.shape[0]):
        dot = 0.0
        for j in range(a.shape[1]):
            dot += a[i, j] * x[j]
        y += a[i] * dot
    return y


@form("bicg")
def bicg_columns(a, p, r):
    n, m = a.shape
    s = np.zeros(m)
    q = np.zeros(n)
    blocks = get_num_threads()
    for block in prange(blocks):
        for i in range(n):
            for j in range(m * block // blocks, m * (block + 1) // blocks):
                s[j] += r[i] * a[i, j]
    for i in prange(n):
        for j in range(m):
            q[i] += a[i, j] * p[j]
    return s, q


@form("bicg")
def bicg_reduced(a, p, r):
    s = np.zeros(a.shape[1])
    q = np.zeros(a.shape[0])
    for i in prange(a.shape[0]):
        s += r[i] * a[i]
        total = 0.0
        for j in range(a.shape[1]):
            total += a[i, j] * p[j]
        q[i] = total
    return s, q


@form("mvt")
def mvt_rows(a, x1, x2, y1, y2):
    n = a.shape[0]
    for i in prange(n):
        for j in range(n):
            x1[i] += a[i, j] * y1[j]
    for i in prange(n):
        for j in range(n):
            x2[i] += a[j, i] * y2[j]


@form("mvt")
def mvt_blocks(a, x1, x2, y1, y2):
    n = a.shape[0]
    for i in prange(n):
        for j in range(n):
            x1[i] += a[i, j] * y1[j]
    blocks = get_num_threads()
    for block in prange(blocks):
        for j in range(n):
            for i in range(n * block // blocks, n * (block + 1) // blocks):
                x2[i] += a[j, i] * y2[j]


@form("covariance")
def covariance_dots(data):
    n, m = data.shape
    mean = np.zeros(m)
    for j in prange(m):
        for i in range(n):
            mean[j] += data[i, j]
        mean[j] /= n
    centred = np.empty((n, m))
    for i in prange(n):
        for j in range(m):
            centred[i, j] = data[i, j] - mean[j]
    cov = np.zeros((m, m))
    for i in prange(m):
        for j in range(i, m):
            total = 0.0
            for k in range(n):
                total += centred[k, i] * centred[k, j]
            cov[i, j] = total / (n - 1.0)
            cov[j, i] = cov[i, j]
    return cov


@form("covariance")
def covariance_rows(data):
    n, m = data.shape
    mean = np.zeros(m)
    for i in range(n):
        for j in range(m):
            mean[j] += data[i, j]
    for j in range(m):
        mean[j] /= n
    centred = np.empty((n, m))
    for i in prange(n):
        for j in range(m):
            centred[i, j] = data[i, j] - mean[j]
    cov = np.zeros((m, m))
    for i in prange(m):
        for k in range(n):
            for j in range(i, m):
                cov[i, j] += centred[k, i] * centred[k, j]
        for j in range(i, m):
            cov[i, j] = cov[i, j] / (n - 1.0)
            cov[j, i] = cov[i, j]
    return cov


@form("correlation")
def correlation_dots(data, tiny):
    n, m = data.shape
    mean = np.zeros(m)
    deviation = np.zeros(m)
    for j in prange(m):
        total = 0.0
        for i in range(n):
            total += data[i, j]
        mean[j] = total / n
        total = 0.0
        for i in range(n):
            total += (data[i, j] - mean[j]) * (data[i, j] - mean[j])
        root = sqrt(total / n)
        deviation[j] = root if root > tiny else 1.0
    scaled = np.empty((n, m))
    for i in prange(n):
        for j in range(m):
            scaled[i, j] = (data[i, j] - mean[j]) / (sqrt(n) * deviation[j])
    corr = np.empty((m, m))
    for i in prange(m):
        corr[i, i] = 1.0
        for j in range(i + 1, m):
            corr[i, j] = 0.0
            for k in range(n):
                corr[i, j] += scaled[k, i] * scaled[k, j]
            corr[j, i] = corr[i, j]
    return corr


@form("correlation")
def correlation_rows(data, tiny):
    n, m = data.shape
    mean = np.zeros(m)
    square = np.zeros(m)
    deviation = np.zeros(m)
    for i in range(n):
        for j in range(m):
            mean[j] += data[i, j]
    for j in range(m):
        mean[j] /= n
    for i in range(n):
        for j in range(m):
            square[j] += (data[i, j] - mean[j]) * (data[i, j] - mean[j])
    for j in range(m):
        root = sqrt(square[j] / n)
        deviation[j] = root if root > tiny else 1.0
    scaled = np.empty((n, m))
    for i in prange(n):
        for j in range(m):
            scaled[i, j] = (data[i, j] - mean[j]) / (sqrt(n) * deviation[j])
    corr = np.zeros((m, m))
    for i in prange(m):
        corr[i, i] = 1.0
        for k in range(n):
            for j in range(i + 1, m):
                corr[i, j] += scaled[k, i] * scaled[k, j]
        for j in range(i + 1, m):
            corr[j, i] = corr[i, j]
    return corr


@form("gram-schmidt")
def gram_schmidt_columns(a):
    m, n = a.shape
    rest = a.copy()
    q = np.zeros((m, n))
    r = np.zeros((n, n))
    for k in range(n):
        square = 0.0
        for i in range(m):
            square += rest[i, k] * rest[i, k]
        r[k, k] = sqrt(square)
        for i in range(m):
            q[i, k] = rest[i, k] / r[k, k]
        for j in prange(k + 1, n):
            for i in range(m):
                r[k, j] += q[i, k] * rest[i, j]
            for i in range(m):
                rest[i, j] -= q[i, k] * r[k, j]
    return q, r


@form("gram-schmidt")
def gram_schmidt_blocks(a):
    m, n = a.shape
    rest = a.copy()
    q = np.zeros((m, n))
    r = np.zeros((n, n))
    blocks = get_num_threads()
    for k in range(n):
        square = 0.0
        for i in range(m):
            square += rest[i, k] * rest[i, k]
        r[k, k] = sqrt(square)
        for i in range(m):
            q[i, k] = rest[i, k] / r[k, k]
        width = n - k - 1
        for block in prange(blocks):
            first, last = k + 1 + width * block // blocks, k + 1 + width * (block + 1) // blocks
            for i in range(m):
                for j in range(first, last):
                    r[k, j] += q[i, k] * rest[i, j]
            for i in range(m):
                for j in range(first, last):
                    rest[i, j] -= q[i, k] * r[k, j]
    return q, r


# ---- solvers ---------------------------------------------------------------------------------------------------------


@form("trisolv")
def trisolv_columns(lower, b):
    n = b.shape[0]
    x = b.copy()
    for j in range(n):
        x[j] = x[j] / lower[j, j]
        for i in prange(j + 1, n):
            x[i] -= lower[i, j] * x[j]
    return x


@form("lu", "lu, right-looking")
def lu_rows(a):
    n = a.shape[0]
    x = a.copy()
    for k in range(n):
        for i in prange(k + 1, n):
            x[i, k] /= x[k, k]
            for j in range(k + 1, n):
                x[i, j] -= x[i, k] * x[k, j]
    return x


@form("lu", "lu, right-looking")
def lu_along_rows(a):
    n = a.shape[0]
    x = a.copy()
    for i in range(n):
        for k in range(i):
            x[i, k] /= x[k, k]
            for j in range(k + 1, n):
                x[i, j] -= x[i, k] * x[k, j]
    return x


@form("cholesky")
def cholesky_columns(a):
    n = a.shape[0]
    x = np.zeros((n, n))
    for j in range(n):
        total = a[j, j]
        for k in range(j):
            total -= x[j, k] * x[j, k]
        x[j, j] = sqrt(total)
        for i in prange(j + 1, n):
            total = a[i, j]
            for k in range(j):
                total -= x[i, k] * x[j, k]
            x[i, j] = total / x[j, j]
    return x


@form("cholesky")
def cholesky_right(a):
    n = a.shape[0]
    x = np.zeros((n, n))
    for i in prange(n):
        for j in range(i + 1):
            x[i, j] = a[i, j]
    for k in range(n):
        x[k, k] = sqrt(x[k, k])
        for i in prange(k + 1, n):
            x[i, k] /= x[k, k]
        for i in prange(k + 1, n):
            for j in range(k + 1, i + 1):
                x[i, j] -= x[i, k] * x[j, k]
    return x


@form("durbin")
def durbin_parallel(r):
    n = r.shape[0]
    y = np.zeros(n)
    z = np.zeros(n)
    y[0] = -r[0]
    beta = 1.0
    alpha = -r[0]
    for k in range(1, n):
        beta = (1.0 - alpha * alpha) * beta
        total = 0.0
        for i in range(k):
            total += r[k - i - 1] * y[i]
        alpha = -(r[k] + total) / beta
        for i in prange(k):
            z[i] = y[i] + alpha * y[k - i - 1]
        for i in prange(k):
            y[i] = z[i]
        y[k] = alpha
    return y


@form("levinson")
def levinson_parallel(t, b):
    n = b.shape[0]
    f = np.zeros(n)
    g = np.zeros(n)
    x = np.zeros(n)
    f[0] = 1.0 / t[0]
    x[0] = b[0] / t[0]
    for k in range(1, n):
        error = 0.0
        rest = b[k]
        for i in range(k):
            error += t[k - i] * f[i]
            rest -= t[k - i] * x[i]
        scale = 1.0 / (1.0 - error * error)
        for i in prange(k + 1):
            g[i] = scale * (f[i] - error * f[k - i])
        for i in prange(k + 1):
            f[i] = g[i]
            x[i] += rest * g[k - i]
    return x


@form("thomas")
def thomas_columns(a, b, c, d):
    n, m = d.shape
    cs = np.zeros((n, m))
    ds = np.zeros((n, m))
    x = np.zeros((n, m))
    for j in prange(m):
        cs[0, j] = c[0, j] / b[0, j]
        ds[0, j] = d[0, j] / b[0, j]
        for i in range(1, n):
            scale = b[i, j] - a[i, j] * cs[i - 1, j]
            cs[i, j] = c[i, j] / scale
            ds[i, j] = (d[i, j] - a[i, j] * ds[i - 1, j]) / scale
        x[n - 1, j] = ds[n - 1, j]
        for i in range(n - 2, -1, -1):
            x[i, j] = ds[i, j] - cs[i, j] * x[i + 1, j]
    return x


@form("thomas")
def thomas_blocks(a, b, c, d):
    n, m = d.shape
    cs = np.zeros((n, m))
    ds = np.zeros((n, m))
    x = np.zeros((n, m))
    blocks = get_num_threads()
    for block in prange(blocks):
        first, last = m * block // blocks, m * (block + 1) // blocks
        for j in range(first, last):
            cs[0, j] = c[0, j] / b[0, j]
            ds[0, j] = d[0, j] / b[0, j]
        for i in range(1, n):
            for j in range(first, last):
                scale = b[i, j] - a[i, j] * cs[i - 1, j]
                cs[i, j] = c[i, j] / scale
                ds[i, j] = (d[i, j] - a[i, j] * ds[i - 1, j]) / scale
        for j in range(first, last):
            x[n - 1, j] = ds[n - 1, j]
        for i in range(n - 2, -1, -1):
            for j in range(first, last):
                x[i, j] = ds[i, j] - cs[i, j] * x[i + 1, j]
    return x


# ---- stencils --------------------------------------------------------------------------------------------------------


@form("jacobi-1d")
def jacobi_1d(a, b, steps):
    for _ in range(steps):
        for i in prange(1, a.shape[0] - 1):
            b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3.0
        for i in prange(1, a.shape[0] - 1):
            a[i] = (b[i - 1] + b[i] + b[i + 1]) / 3.0


@form("jacobi-2d")
def jacobi_2d(a, b, steps):
    n, m = a.shape
    for _ in range(steps):
        for i in prange(1, n - 1):
            for j in range(1, m - 1):
                b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i - 1, j] + a[i + 1, j])
        for i in prange(1, n - 1):
            for j in range(1, m - 1):
                a[i, j] = 0.2 * (b[i, j] + b[i, j - 1] + b[i, j + 1] + b[i - 1, j] + b[i + 1, j])


@form("gauss-seidel")
def seidel_2d_lines(a, steps):
    n, m = a.shape
    for _ in range(steps):
        for line in range(3, 2 * n + m - 5):
            for i in prange(max(1, (line - m + 3) // 2), min(n - 2, (line - 1) // 2) + 1):
                j = line - 2 * i
                a[i, j] = (
                    a[i - 1, j - 1] + a[i - 1, j] + a[i - 1, j + 1] + a[i, j - 1] + a[i, j]
                    + a[i, j + 1] + a[i + 1, j - 1] + a[i + 1, j] + a[i + 1, j + 1]
                ) / 9.0  # fmt: skip


@form("gauss-seidel")
def seidel_2d_sweeps(a, steps):
    """The sweeps run behind each other: a row waits for the row above, and for the row below in the sweep before."""
    n, m = a.shape
    for line in range(1, n - 1 + 2 * (steps - 1)):
        low = max(0, (line - n + 3) // 2)
        for t in prange(low, min(steps - 1, (line - 1) // 2) + 1):
            i = line - 2 * t
            for j in range(1, m - 1):
                a[i, j] = (
                    a[i - 1, j - 1] + a[i - 1, j] + a[i - 1, j + 1] + a[i, j - 1] + a[i, j]
                    + a[i, j + 1] + a[i + 1, j - 1] + a[i + 1, j] + a[i + 1, j + 1]
                ) / 9.0  # fmt: skip


@form("heat-3d")
def heat_3d(a, b, steps):
    n, m, p = a.shape
    for _ in range(steps):
        for i in prange(1, n - 1):
            for j in range(1, m - 1):
                for k in range(1, p - 1):
                    b[i, j, k] = (
                        a[i, j, k]
                        + 0.125 * (a[i + 1, j, k] - 2.0 * a[i, j, k] + a[i - 1, j, k])
                        + 0.125 * (a[i, j + 1, k] - 2.0 * a[i, j, k] + a[i, j - 1, k])
                        + 0.125 * (a[i, j, k + 1] - 2.0 * a[i, j, k] + a[i, j, k - 1])
                    )
        for i in prange(1, n - 1):
            for j in range(1, m - 1):
                for k in range(1, p - 1):
                    a[i, j, k] = (
                        b[i, j, k]
                        + 0.125 * (b[i + 1, j, k] - 2.0 * b[i, j, k] + b[i - 1, j, k])
                        + 0.125 * (b[i, j + 1, k] - 2.0 * b[i, j, k] + b[i, j - 1, k])
                        + 0.125 * (b[i, j, k + 1] - 2.0 * b[i, j, k] + b[i, j, k - 1])
                    )


@form("fdtd-2d")
def fdtd_2d(ex, ey, hz, source):
    n, m = hz.shape
    for t in range(source.shape[0]):
        for j in range(m):
            ey[0, j] = source[t]
        for i in prange(1, n):
            for j in range(m):
                ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in prange(n):
            for j in range(1, m):
                ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in prange(n - 1):
            for j in range(m - 1):
                hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


@form("fdtd-2d")
def fdtd_2d_fused(ex, ey, hz, source):
    n, m = hz.shape
    for t in range(source.shape[0]):
        for i in prange(n):
            if i == 0:
                for j in range(m):
                    ey[0, j] = source[t]
            else:
                for j in range(m):
                    ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])
            for j in range(1, m):
                ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in prange(n - 1):
            for j in range(m - 1):
                hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


@form("adi")
def adi(u, steps):
    n = u.shape[0]
    v = np.zeros((n, n))
    p = np.zeros((n, n))
    q = np.zeros((n, n))
    a, b, c = -0.5, 2.0, -0.5
    d, e, f = -0.25, 1.5, -0.25
    for _ in range(steps):
        for i in prange(1, n - 1):
            v[0, i] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = v[0, i]
            for j in range(1, n - 1):
                p[i, j] = -c / (a * p[i, j - 1] + b)
                q[i, j] = (
                    -d * u[j, i - 1] + (1.0 + 2.0 * d) * u[j, i] - f * u[j, i + 1] - a * q[i, j - 1]
                ) / (a * p[i, j - 1] + b)  # fmt: skip
            v[n - 1, i] = 1.0
            for j in range(n - 2, 0, -1):
                v[j, i] = p[i, j] * v[j + 1, i] + q[i, j]
        for i in prange(1, n - 1):
            u[i, 0] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = u[i, 0]
            for j in range(1, n - 1):
                p[i, j] = -f / (d * p[i, j - 1] + e)
                q[i, j] = (
                    -a * v[i - 1, j] + (1.0 + 2.0 * a) * v[i, j] - c * v[i + 1, j] - d * q[i, j - 1]
                ) / (d * p[i, j - 1] + e)  # fmt: skip
            u[i, n - 1] = 1.0
            for j in range(n - 2, 0, -1):
                u[i, j] = p[i, j] * u[i, j + 1] + q[i, j]


# ---- dynamic programming ---------------------------------------------------------------------------------------------


@form("floyd-warshall")
def floyd_warshall(weights):
    n = weights.shape[0]
    d = weights.copy()
    for k in range(n):
        for i in prange(n):
            for j in range(n):
                if d[i, k] + d[k, j] < d[i, j]:
                    d[i, j] = d[i, k] + d[k, j]
    return d


@form("floyd-warshall")
def floyd_warshall_min(weights):
    n = weights.shape[0]
    d = weights.copy()
    for k in range(n):
        for i in prange(n):
            through = d[i, k]
            for j in range(n):
                d[i, j] = min(d[i, j], through + d[k, j])
    return d


@form("nussinov")
def nussinov_diagonals(sequence):
    n = sequence.shape[0]
    table = np.zeros((n, n), dtype=np.int64)
    for length in range(1, n):
        for i in prange(n - length):
            j = i + length
            best = max(table[i, j - 1], table[i + 1, j])
            if i < j - 1:
                pair = 1 if sequence[i] + sequence[j] == 3 else 0
                best = max(best, table[i + 1, j - 1] + pair)
            else:
                best = max(best, table[i + 1, j - 1])
            for k in range(i + 1, j):
                best = max(best, table[i, k] + table[k + 1, j])
            table[i, j] = best
    return table


@form("nussinov")
def nussinov_rows(sequence):
    """Row by row; what position `k` gives to all `j` behind it is added as soon as it is known."""
    n = sequence.shape[0]
    table = np.zeros((n, n), dtype=np.int64)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            pair = 1 if i < j - 1 and sequence[i] + sequence[j] == 3 else 0
            table[i, j] = max(table[i + 1, j], table[i + 1, j - 1] + pair)
        for k in range(i + 1, n):
            table[i, k] = max(table[i, k], table[i, k - 1])
            for j in range(k + 1, n):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])
    return table


@njit
def _best(score):
    best, best_i, best_j = 0, 0, 0
    for i in range(score.shape[0]):
        for j in range(score.shape[1]):
            if score[i, j] > best:
                best, best_i, best_j = score[i, j], i, j
    return best_i, best_j


@form("smith-waterman")
def smith_waterman_diagonals(a, b, match, mismatch, gap):
    n, m = a.shape[0], b.shape[0]
    score = np.zeros((n + 1, m + 1), dtype=np.int64)
    for line in range(2, n + m + 1):
        for i in prange(max(1, line - m), min(n, line - 1) + 1):
            j = line - i
            diagonal = score[i - 1, j - 1] + (match if a[i - 1] == b[j - 1] else mismatch)
            score[i, j] = max(0, diagonal, score[i - 1, j] - gap, score[i, j - 1] - gap)
    best_i, best_j = _best(score)
    return score, best_i, best_j


_TILE = 128


@form("smith-waterman")
def smith_waterman_tiles(a, b, match, mismatch, gap):
    n, m = a.shape[0], b.shape[0]
    score = np.zeros((n + 1, m + 1), dtype=np.int64)
    rows, columns = (n + _TILE - 1) // _TILE, (m + _TILE - 1) // _TILE
    for line in range(rows + columns - 1):
        for p in prange(max(0, line - columns + 1), min(rows - 1, line) + 1):
            q = line - p
            for i in range(p * _TILE + 1, min(n, (p + 1) * _TILE) + 1):
                for j in range(q * _TILE + 1, min(m, (q + 1) * _TILE) + 1):
                    diagonal = score[i - 1, j - 1] + (match if a[i - 1] == b[j - 1] else mismatch)
                    score[i, j] = max(0, diagonal, score[i - 1, j] - gap, score[i, j - 1] - gap)
    best_i, best_j = _best(score)
    return score, best_i, best_j


@form("levenshtein")
def levenshtein_diagonals(a, b):
    n, m = a.shape[0], b.shape[0]
    d = np.zeros((n + 1, m + 1), dtype=np.int64)
    for i in range(n + 1):
        d[i, 0] = i
    for j in range(m + 1):
        d[0, j] = j
    for line in range(2, n + m + 1):
        for i in prange(max(1, line - m), min(n, line - 1) + 1):
            j = line - i
            cost = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d[n, m]


@form("levenshtein")
def levenshtein_tiles(a, b):
    n, m = a.shape[0], b.shape[0]
    d = np.zeros((n + 1, m + 1), dtype=np.int64)
    for i in range(n + 1):
        d[i, 0] = i
    for j in range(m + 1):
        d[0, j] = j
    rows, columns = (n + _TILE - 1) // _TILE, (m + _TILE - 1) // _TILE
    for line in range(rows + columns - 1):
        for p in prange(max(0, line - columns + 1), min(rows - 1, line) + 1):
            q = line - p
            for i in range(p * _TILE + 1, min(n, (p + 1) * _TILE) + 1):
                for j in range(q * _TILE + 1, min(m, (q + 1) * _TILE) + 1):
                    cost = 0 if a[i - 1] == b[j - 1] else 1
                    d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d[n, m]


@form("lcs")
def lcs_diagonals(a, b):
    n, m = a.shape[0], b.shape[0]
    length = np.zeros((n + 1, m + 1), dtype=np.int32)
    for line in range(2, n + m + 1):
        for i in prange(max(1, line - m), min(n, line - 1) + 1):
            j = line - i
            if a[i - 1] == b[j - 1]:
                length[i, j] = length[i - 1, j - 1] + 1
            else:
                length[i, j] = max(length[i - 1, j], length[i, j - 1])
    return length


@form("lcs")
def lcs_tiles(a, b):
    n, m = a.shape[0], b.shape[0]
    length = np.zeros((n + 1, m + 1), dtype=np.int32)
    rows, columns = (n + _TILE - 1) // _TILE, (m + _TILE - 1) // _TILE
    for line in range(rows + columns - 1):
        for p in prange(max(0, line - columns + 1), min(rows - 1, line) + 1):
            q = line - p
            for i in range(p * _TILE + 1, min(n, (p + 1) * _TILE) + 1):
                for j in range(q * _TILE + 1, min(m, (q + 1) * _TILE) + 1):
                    if a[i - 1] == b[j - 1]:
                        length[i, j] = length[i - 1, j - 1] + 1
                    else:
                        length[i, j] = max(length[i - 1, j], length[i, j - 1])
    return length


@njit
def _path(score, back):
    steps, states = score.shape
    path = np.zeros(steps, dtype=np.int64)
    for s in range(1, states):
        if score[steps - 1, s] > score[steps - 1, path[steps - 1]]:
            path[steps - 1] = s
    for t in range(steps - 2, -1, -1):
        path[t] = back[t + 1, path[t + 1]]
    return path


@form("viterbi")
def viterbi_states(observed, start, move, emit):
    steps, states = observed.shape[0], start.shape[0]
    score = np.zeros((steps, states))
    back = np.zeros((steps, states), dtype=np.int64)
    for s in range(states):
        score[0, s] = start[s] + emit[s, observed[0]]
    for t in range(1, steps):
        for s in prange(states):
            best = score[t - 1, 0] + move[0, s]
            state = 0
            for r in range(1, states):
                value = score[t - 1, r] + move[r, s]
                if value > best:
                    best = value
                    state = r
            score[t, s] = best + emit[s, observed[t]]
            back[t, s] = state
    return _path(score, back)


@form("viterbi")
def viterbi_blocks(observed, start, move, emit):
    steps, states = observed.shape[0], start.shape[0]
    score = np.zeros((steps, states))
    back = np.zeros((steps, states), dtype=np.int64)
    for s in range(states):
        score[0, s] = start[s] + emit[s, observed[0]]
    blocks = get_num_threads()
    for t in range(1, steps):
        for block in prange(blocks):
            first, last = states * block // blocks, states * (block + 1) // blocks
            best = score[t - 1, 0] + move[0, first:last]
            for r in range(1, states):
                for s in range(first, last):
                    value = score[t - 1, r] + move[r, s]
                    if value > best[s - first]:
                        best[s - first] = value
                        back[t, s] = r
            for s in range(first, last):
                score[t, s] = best[s - first] + emit[s, observed[t]]
    return _path(score, back)


# ---- signals ---------------------------------------------------------------------------------------------------------


@form("iir, rows")
def biquad(x, b0, b1, b2, a1, a2):
    y = np.empty(x.shape)
    for channel in prange(x.shape[0]):
        s1 = 0.0
        s2 = 0.0
        for t in range(x.shape[1]):
            value = b0 * x[channel, t] + s1
            s1 = b1 * x[channel, t] - a1 * value + s2
            s2 = b2 * x[channel, t] - a2 * value
            y[channel, t] = value
    return y


@form("iir, columns")
def smoother_columns(x, alpha):
    y = np.empty(x.shape)
    for channel in prange(x.shape[1]):
        y[0, channel] = x[0, channel]
        for t in range(1, x.shape[0]):
            y[t, channel] = alpha * x[t, channel] + (1.0 - alpha) * y[t - 1, channel]
    return y


@form("iir, columns")
def smoother_blocks(x, alpha):
    y = np.empty(x.shape)
    n, m = x.shape
    blocks = get_num_threads()
    for block in prange(blocks):
        first, last = m * block // blocks, m * (block + 1) // blocks
        for channel in range(first, last):
            y[0, channel] = x[0, channel]
        for t in range(1, n):
            for channel in range(first, last):
                y[t, channel] = alpha * x[t, channel] + (1.0 - alpha) * y[t - 1, channel]
    return y
