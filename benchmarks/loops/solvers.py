"""Factorisations and solutions of systems: triangular, symmetric, Toeplitz, tridiagonal."""

from __future__ import annotations

from math import sqrt

import numpy as np

from .registry import register


def _dominant(rng, n):
    """A matrix whose diagonal outweighs its rows."""
    return rng.standard_normal((n, n)) + 2 * n * np.eye(n)


def _positive(rng, n):
    """A symmetric positive definite matrix."""
    half = rng.standard_normal((n, n))
    return half @ half.T + n * np.eye(n)


def trisolv(lower, b):
    """The solution of ``lower x = b``, row by row."""
    n = b.shape[0]
    x = np.zeros(n)
    for i in range(n):
        x[i] = b[i]
        for j in range(i):
            x[i] -= lower[i, j] * x[j]
        x[i] = x[i] / lower[i, i]
    return x


def trisolv_slices(lower, b):
    x = b.copy()
    for j in range(b.shape[0]):
        x[j] /= lower[j, j]
        x[j + 1 :] -= lower[j + 1 :, j] * x[j]
    return x


register(
    "trisolv", trisolv, trisolv_slices, lambda rng, n: (np.tril(_dominant(rng, n)), rng.standard_normal(n)), 2000,
)  # fmt: skip


def lu(a):
    """The triangles of `a` in one matrix, without pivoting (Doolittle)."""
    n = a.shape[0]
    x = a.copy()
    for i in range(n):
        for j in range(i):
            for k in range(j):
                x[i, j] -= x[i, k] * x[k, j]
            x[i, j] /= x[j, j]
        for j in range(i, n):
            for k in range(i):
                x[i, j] -= x[i, k] * x[k, j]
    return x


def lu_slices(a):
    n = a.shape[0]
    x = a.copy()
    for k in range(n):
        x[k + 1 :, k] /= x[k, k]
        x[k + 1 :, k + 1 :] -= x[k + 1 :, k, None] * x[k, k + 1 :]
    return x


register("lu", lu, lu_slices, lambda rng, n: (_dominant(rng, n),), 400)


def lu_right(a):
    """The same triangles, the rest of the matrix updated after each column."""
    n = a.shape[0]
    x = a.copy()
    for k in range(n):
        for i in range(k + 1, n):
            x[i, k] /= x[k, k]
        for i in range(k + 1, n):
            for j in range(k + 1, n):
                x[i, j] -= x[i, k] * x[k, j]
    return x


register("lu, right-looking", lu_right, None, lambda rng, n: (_dominant(rng, n),), 512)


def cholesky(a):
    """The lower triangle whose product with its transpose is `a`."""
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
        x[i, i] = sqrt(total)
    return x


def cholesky_slices(a):
    n = a.shape[0]
    x = np.tril(a)
    for k in range(n):
        x[k, k] = np.sqrt(x[k, k])
        x[k + 1 :, k] /= x[k, k]
        for j in range(k + 1, n):
            x[j:, j] -= x[j:, k] * x[j, k]
    return x


register("cholesky", cholesky, cholesky_slices, lambda rng, n: (_positive(rng, n),), 400)


def durbin(r):
    """The solution of the Yule-Walker equations (Durbin's recursion)."""
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
        for i in range(k):
            z[i] = y[i] + alpha * y[k - i - 1]
        for i in range(k):
            y[i] = z[i]
        y[k] = alpha
    return y


def durbin_slices(r):
    n = r.shape[0]
    y = np.zeros(n)
    y[0] = -r[0]
    beta = 1.0
    alpha = -r[0]
    for k in range(1, n):
        beta = (1.0 - alpha * alpha) * beta
        alpha = -(r[k] + (r[:k][::-1] * y[:k]).sum()) / beta
        y[:k] += alpha * y[:k][::-1]
        y[k] = alpha
    return y


register(
    "durbin", durbin, durbin_slices, lambda rng, n: (rng.uniform(-1, 1, n) * 0.5 ** np.arange(1, n + 1),), 2000,
    exact=False,
)  # fmt: skip


def levinson(t, b):
    """The solution of the symmetric Toeplitz system with first column `t` (Levinson's recursion)."""
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
        for i in range(k + 1):
            g[i] = scale * (f[i] - error * f[k - i])
        for i in range(k + 1):
            f[i] = g[i]
            x[i] += rest * g[k - i]
    return x


def levinson_slices(t, b):
    n = b.shape[0]
    f = np.zeros(n)
    x = np.zeros(n)
    f[0] = 1.0 / t[0]
    x[0] = b[0] / t[0]
    for k in range(1, n):
        column = t[1 : k + 1][::-1]
        error = (column * f[:k]).sum()
        rest = b[k] - (column * x[:k]).sum()
        f[: k + 1] = (1.0 / (1.0 - error * error)) * (f[: k + 1] - error * f[: k + 1][::-1])
        x[: k + 1] += rest * f[: k + 1][::-1]
    return x


register(
    "levinson", levinson, levinson_slices,
    lambda rng, n: (0.3 ** np.arange(n) + 0.1 * rng.uniform(size=n) ** np.arange(1, n + 1), rng.standard_normal(n)),
    2000, exact=False,
)  # fmt: skip


def thomas(a, b, c, d):
    """The tridiagonal systems of all columns: `a` under, `b` on, `c` over the diagonal, `d` on the right."""
    n, m = d.shape
    cs = np.zeros((n, m))
    ds = np.zeros((n, m))
    x = np.zeros((n, m))
    for j in range(m):
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


def thomas_slices(a, b, c, d):
    n = d.shape[0]
    cs = np.zeros(d.shape)
    ds = np.zeros(d.shape)
    x = np.zeros(d.shape)
    cs[0] = c[0] / b[0]
    ds[0] = d[0] / b[0]
    for i in range(1, n):
        scale = b[i] - a[i] * cs[i - 1]
        cs[i] = c[i] / scale
        ds[i] = (d[i] - a[i] * ds[i - 1]) / scale
    x[n - 1] = ds[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = ds[i] - cs[i] * x[i + 1]
    return x


register(
    "thomas", thomas, thomas_slices,
    lambda rng, n: (*(rng.uniform(0.5, 1, (n, n + 1)) + shift for shift in (0, 2, 0)), rng.standard_normal((n, n + 1))),
    600,
)  # fmt: skip
