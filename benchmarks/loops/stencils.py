"""Stencils over time: heat, waves, smoothing in place, alternating directions."""

from __future__ import annotations

import numpy as np

from .registry import register


def jacobi_1d(a, b, steps):
    """Means of three neighbours, from `a` to `b` and back."""
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3.0
        for i in range(1, a.shape[0] - 1):
            a[i] = (b[i - 1] + b[i] + b[i + 1]) / 3.0


def jacobi_1d_slices(a, b, steps):
    for _ in range(steps):
        b[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 3.0
        a[1:-1] = (b[:-2] + b[1:-1] + b[2:]) / 3.0


register(
    "jacobi-1d", jacobi_1d, jacobi_1d_slices,
    lambda rng, n: (rng.standard_normal(n), rng.standard_normal(n), 4 if n < 100 else 100), 120_000, written=(0, 1),
)  # fmt: skip


def jacobi_2d(a, b, steps):
    """Means of five neighbours, from `a` to `b` and back."""
    n, m = a.shape
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                b[i, j] = 0.2 * (a[i, j] + a[i, j - 1] + a[i, j + 1] + a[i - 1, j] + a[i + 1, j])
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                a[i, j] = 0.2 * (b[i, j] + b[i, j - 1] + b[i, j + 1] + b[i - 1, j] + b[i + 1, j])


def jacobi_2d_slices(a, b, steps):
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[:-2, 1:-1] + a[2:, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[:-2, 1:-1] + b[2:, 1:-1])


register(
    "jacobi-2d", jacobi_2d, jacobi_2d_slices,
    lambda rng, n: (rng.standard_normal((n, n + 1)), rng.standard_normal((n, n + 1)), 3 if n < 100 else 20),
    700, written=(0, 1),
)  # fmt: skip


def seidel_2d(a, steps):
    """Means of nine neighbours in place: each point sees what was just written."""
    n, m = a.shape
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                a[i, j] = (
                    a[i - 1, j - 1] + a[i - 1, j] + a[i - 1, j + 1] + a[i, j - 1] + a[i, j]
                    + a[i, j + 1] + a[i + 1, j - 1] + a[i + 1, j] + a[i + 1, j + 1]
                ) / 9.0  # fmt: skip


def seidel_2d_slices(a, steps):
    """Along the lines ``2 i + j``, whose points do not see each other."""
    n, m = a.shape
    flat = a.reshape(n * m)
    for _ in range(steps):
        for line in range(3, 2 * n + m - 5):
            first = max(1, (line - m + 3) // 2)
            rows = np.arange(first, min(n - 2, (line - 1) // 2) + 1)
            at = rows * m + line - 2 * rows
            flat[at] = (
                flat[at - m - 1] + flat[at - m] + flat[at - m + 1] + flat[at - 1] + flat[at]
                + flat[at + 1] + flat[at + m - 1] + flat[at + m] + flat[at + m + 1]
            ) / 9.0  # fmt: skip


register(
    "gauss-seidel", seidel_2d, seidel_2d_slices, lambda rng, n: (rng.standard_normal((n, n + 1)), 3 if n < 100 else 10),
    400, written=(0,),
)  # fmt: skip


def heat_3d(a, b, steps):
    """The heat equation in three dimensions, from `a` to `b` and back."""
    n, m, p = a.shape
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                for k in range(1, p - 1):
                    b[i, j, k] = (
                        a[i, j, k]
                        + 0.125 * (a[i + 1, j, k] - 2.0 * a[i, j, k] + a[i - 1, j, k])
                        + 0.125 * (a[i, j + 1, k] - 2.0 * a[i, j, k] + a[i, j - 1, k])
                        + 0.125 * (a[i, j, k + 1] - 2.0 * a[i, j, k] + a[i, j, k - 1])
                    )
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                for k in range(1, p - 1):
                    a[i, j, k] = (
                        b[i, j, k]
                        + 0.125 * (b[i + 1, j, k] - 2.0 * b[i, j, k] + b[i - 1, j, k])
                        + 0.125 * (b[i, j + 1, k] - 2.0 * b[i, j, k] + b[i, j - 1, k])
                        + 0.125 * (b[i, j, k + 1] - 2.0 * b[i, j, k] + b[i, j, k - 1])
                    )


def heat_3d_slices(a, b, steps):
    def step(u):
        c = u[1:-1, 1:-1, 1:-1]
        return (
            c
            + 0.125 * (u[2:, 1:-1, 1:-1] - 2.0 * c + u[:-2, 1:-1, 1:-1])
            + 0.125 * (u[1:-1, 2:, 1:-1] - 2.0 * c + u[1:-1, :-2, 1:-1])
            + 0.125 * (u[1:-1, 1:-1, 2:] - 2.0 * c + u[1:-1, 1:-1, :-2])
        )

    for _ in range(steps):
        b[1:-1, 1:-1, 1:-1] = step(a)
        a[1:-1, 1:-1, 1:-1] = step(b)


def _heat(rng, n):
    shape = (n, n + 1, n + 2)
    return rng.standard_normal(shape), rng.standard_normal(shape), 2 if n < 50 else 10


register("heat-3d", heat_3d, heat_3d_slices, _heat, 80, written=(0, 1))


def fdtd_2d(ex, ey, hz, source):
    """An electromagnetic wave in two dimensions, driven by `source` at one edge."""
    n, m = hz.shape
    for t in range(source.shape[0]):
        for j in range(m):
            ey[0, j] = source[t]
        for i in range(1, n):
            for j in range(m):
                ey[i, j] -= 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in range(n):
            for j in range(1, m):
                ex[i, j] -= 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in range(n - 1):
            for j in range(m - 1):
                hz[i, j] -= 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


def fdtd_2d_slices(ex, ey, hz, source):
    for t in range(source.shape[0]):
        ey[0] = source[t]
        ey[1:] -= 0.5 * (hz[1:] - hz[:-1])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])


register(
    "fdtd-2d", fdtd_2d, fdtd_2d_slices,
    lambda rng, n: (*(rng.standard_normal((n, n + 1)) for _ in range(3)), np.sin(np.arange(3 if n < 100 else 20))),
    600, written=(0, 1, 2),
)  # fmt: skip


def adi(u, steps):
    """Diffusion by alternating directions: tridiagonal systems along the columns, then along the rows."""
    n = u.shape[0]
    v = np.zeros((n, n))
    p = np.zeros((n, n))
    q = np.zeros((n, n))
    a, b, c = -0.5, 2.0, -0.5
    d, e, f = -0.25, 1.5, -0.25
    for _ in range(steps):
        for i in range(1, n - 1):
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
        for i in range(1, n - 1):
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


def adi_slices(u, steps):
    n = u.shape[0]
    v = np.zeros((n, n))
    p = np.zeros((n, n))
    q = np.zeros((n, n))
    a, b, c = -0.5, 2.0, -0.5
    d, e, f = -0.25, 1.5, -0.25
    for _ in range(steps):
        v[0, 1:-1] = 1.0
        p[1:-1, 0] = 0.0
        q[1:-1, 0] = v[0, 1:-1]
        for j in range(1, n - 1):
            scale = a * p[1:-1, j - 1] + b
            p[1:-1, j] = -c / scale
            q[1:-1, j] = (-d * u[j, :-2] + (1.0 + 2.0 * d) * u[j, 1:-1] - f * u[j, 2:] - a * q[1:-1, j - 1]) / scale
        v[n - 1, 1:-1] = 1.0
        for j in range(n - 2, 0, -1):
            v[j, 1:-1] = p[1:-1, j] * v[j + 1, 1:-1] + q[1:-1, j]
        u[1:-1, 0] = 1.0
        p[1:-1, 0] = 0.0
        q[1:-1, 0] = u[1:-1, 0]
        for j in range(1, n - 1):
            scale = d * p[1:-1, j - 1] + e
            p[1:-1, j] = -f / scale
            q[1:-1, j] = (-a * v[:-2, j] + (1.0 + 2.0 * a) * v[1:-1, j] - c * v[2:, j] - d * q[1:-1, j - 1]) / scale
        u[1:-1, n - 1] = 1.0
        for j in range(n - 2, 0, -1):
            u[1:-1, j] = p[1:-1, j] * u[1:-1, j + 1] + q[1:-1, j]


register(
    "adi", adi, adi_slices, lambda rng, n: (rng.standard_normal((n, n)), 2 if n < 100 else 4), 400, written=(0,)
)  # fmt: skip
