"""Products of matrices and vectors, and what statistics makes of them."""

from __future__ import annotations

from math import sqrt

import numpy as np

from .registry import register

# ---- matrix times matrix ---------------------------------------------------------------------------------------------


def gemm(alpha, beta, a, b, c):
    """``c = alpha a b + beta c``, a dot product an element."""
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = alpha * total + beta * c[i, j]


def gemm_slices(alpha, beta, a, b, c):
    total = np.zeros(c.shape)
    for k in range(a.shape[1]):
        total += a[:, k, None] * b[k]
    c[:] = alpha * total + beta * c


register(
    "gemm", gemm, gemm_slices,
    lambda rng, n: (1.5, 0.5, rng.standard_normal((n, n + 2)), rng.standard_normal((n + 2, n + 1)),
                    rng.standard_normal((n, n + 1))),
    384, written=(4,),
)  # fmt: skip


def two_mm(alpha, beta, a, b, c, d):
    """``d = alpha a b c + beta d``, rows added to rows."""
    rows, inner, columns = a.shape[0], b.shape[1], d.shape[1]
    product = np.zeros((rows, inner))
    for i in range(rows):
        for k in range(a.shape[1]):
            for j in range(inner):
                product[i, j] += alpha * a[i, k] * b[k, j]
    for i in range(rows):
        for j in range(columns):
            d[i, j] *= beta
        for k in range(inner):
            for j in range(columns):
                d[i, j] += product[i, k] * c[k, j]


def two_mm_slices(alpha, beta, a, b, c, d):
    product = np.zeros((a.shape[0], b.shape[1]))
    for k in range(a.shape[1]):
        product += alpha * a[:, k, None] * b[k]
    d *= beta
    for k in range(b.shape[1]):
        d += product[:, k, None] * c[k]


register(
    "2mm", two_mm, two_mm_slices,
    lambda rng, n: (1.5, 0.5, rng.standard_normal((n, n + 1)), rng.standard_normal((n + 1, n + 2)),
                    rng.standard_normal((n + 2, n + 3)), rng.standard_normal((n, n + 3))),
    320, written=(5,),
)  # fmt: skip


def three_mm(a, b, c, d):
    """``(a b) (c d)``, each element of the products added to in place."""
    rows, inner, columns = a.shape[0], b.shape[1], d.shape[1]
    left = np.zeros((rows, inner))
    for i in range(rows):
        for j in range(inner):
            for k in range(a.shape[1]):
                left[i, j] += a[i, k] * b[k, j]
    right = np.zeros((inner, columns))
    for i in range(inner):
        for j in range(columns):
            for k in range(c.shape[1]):
                right[i, j] += c[i, k] * d[k, j]
    result = np.zeros((rows, columns))
    for i in range(rows):
        for j in range(columns):
            for k in range(inner):
                result[i, j] += left[i, k] * right[k, j]
    return result


def three_mm_slices(a, b, c, d):
    left = np.zeros((a.shape[0], b.shape[1]))
    for k in range(a.shape[1]):
        left += a[:, k, None] * b[k]
    right = np.zeros((c.shape[0], d.shape[1]))
    for k in range(c.shape[1]):
        right += c[:, k, None] * d[k]
    result = np.zeros((a.shape[0], d.shape[1]))
    for k in range(b.shape[1]):
        result += left[:, k, None] * right[k]
    return result


register(
    "3mm", three_mm, three_mm_slices,
    lambda rng, n: (rng.standard_normal((n, n + 1)), rng.standard_normal((n + 1, n + 2)),
                    rng.standard_normal((n + 2, n + 3)), rng.standard_normal((n + 3, n + 4))),
    288,
)  # fmt: skip


def syrk(alpha, beta, a, c):
    """The lower triangle of ``c = alpha a a.T + beta c``."""
    for i in range(c.shape[0]):
        for j in range(i + 1):
            c[i, j] *= beta
        for k in range(a.shape[1]):
            for j in range(i + 1):
                c[i, j] += alpha * a[i, k] * a[j, k]


def syrk_slices(alpha, beta, a, c):
    for i in range(c.shape[0]):
        c[i, : i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, : i + 1] += alpha * a[i, k] * a[: i + 1, k]


register(
    "syrk", syrk, syrk_slices,
    lambda rng, n: (1.5, 0.5, rng.standard_normal((n, n + 1)), rng.standard_normal((n, n))),
    384, written=(3,),
)  # fmt: skip


def syr2k(alpha, beta, a, b, c):
    """The lower triangle of ``c = alpha (a b.T + b a.T) + beta c``."""
    for i in range(c.shape[0]):
        for j in range(i + 1):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[j, k] + b[i, k] * a[j, k]
            c[i, j] = beta * c[i, j] + alpha * total


def syr2k_slices(alpha, beta, a, b, c):
    for i in range(c.shape[0]):
        total = np.zeros(i + 1)
        for k in range(a.shape[1]):
            total += a[i, k] * b[: i + 1, k] + b[i, k] * a[: i + 1, k]
        c[i, : i + 1] = beta * c[i, : i + 1] + alpha * total


register(
    "syr2k", syr2k, syr2k_slices,
    lambda rng, n: (1.5, 0.5, rng.standard_normal((n, n + 1)), rng.standard_normal((n, n + 1)),
                    rng.standard_normal((n, n))),
    320, written=(4,),
)  # fmt: skip


def trmm(alpha, a, b):
    """``alpha a.T b`` for a lower triangle `a` whose diagonal is 1; reads rows below the one that it changes."""
    x = b.copy()
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            for k in range(i + 1, x.shape[0]):
                x[i, j] += a[k, i] * x[k, j]
            x[i, j] *= alpha
    return x


def trmm_slices(alpha, a, b):
    x = b.copy()
    for i in range(x.shape[0]):
        for k in range(i + 1, x.shape[0]):
            x[i] += a[k, i] * x[k]
        x[i] *= alpha
    return x


register(
    "trmm", trmm, trmm_slices,
    lambda rng, n: (1.5, rng.standard_normal((n, n)), rng.standard_normal((n, n + 1))),
    384,
)  # fmt: skip

# ---- matrix times vector ---------------------------------------------------------------------------------------------


def atax(a, x):
    """``a.T (a x)``."""
    y = np.zeros(a.shape[1])
    for i in range(a.shape[0]):
        dot = 0.0
        for j in range(a.shape[1]):
            dot += a[i, j] * x[j]
        for j in range(a.shape[1]):
            y[j] += a[i, j] * dot
    return y


def atax_slices(a, x):
    y = np.zeros(a.shape[1])
    for i in range(a.shape[0]):
        y += a[i] * (a[i] * x).sum()
    return y


register(
    "atax", atax, atax_slices, lambda rng, n: (rng.standard_normal((n, n + 2)), rng.standard_normal(n + 2)), 1800,
    exact=False,
)  # fmt: skip


def bicg(a, p, r):
    """``a.T r`` and ``a p``, in one pass over `a`."""
    s = np.zeros(a.shape[1])
    q = np.zeros(a.shape[0])
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            s[j] += r[i] * a[i, j]
            q[i] += a[i, j] * p[j]
    return s, q


def bicg_slices(a, p, r):
    s = np.zeros(a.shape[1])
    for i in range(a.shape[0]):
        s += r[i] * a[i]
    q = np.zeros(a.shape[0])
    for j in range(a.shape[1]):
        q += a[:, j] * p[j]
    return s, q


register(
    "bicg", bicg, bicg_slices,
    lambda rng, n: (rng.standard_normal((n, n + 2)), rng.standard_normal(n + 2), rng.standard_normal(n)), 1800,
)  # fmt: skip


def mvt(a, x1, x2, y1, y2):
    """``x1 += a y1`` and ``x2 += a.T y2``, both along the rows of the result."""
    for i in range(a.shape[0]):
        for j in range(a.shape[0]):
            x1[i] += a[i, j] * y1[j]
    for i in range(a.shape[0]):
        for j in range(a.shape[0]):
            x2[i] += a[j, i] * y2[j]


def mvt_slices(a, x1, x2, y1, y2):
    for j in range(a.shape[0]):
        x1 += a[:, j] * y1[j]
    for j in range(a.shape[0]):
        x2 += a[j] * y2[j]


register(
    "mvt", mvt, mvt_slices,
    lambda rng, n: (rng.standard_normal((n, n)), *(rng.standard_normal(n) for _ in range(4))), 1800, written=(1, 2),
)  # fmt: skip

# ---- statistics, orthogonal columns ----------------------------------------------------------------------------------


def covariance(data):
    """The covariances of the columns of `data`."""
    n, m = data.shape
    mean = np.zeros(m)
    for j in range(m):
        for i in range(n):
            mean[j] += data[i, j]
        mean[j] /= n
    centred = np.empty((n, m))
    for i in range(n):
        for j in range(m):
            centred[i, j] = data[i, j] - mean[j]
    cov = np.zeros((m, m))
    for i in range(m):
        for j in range(i, m):
            total = 0.0
            for k in range(n):
                total += centred[k, i] * centred[k, j]
            cov[i, j] = total / (n - 1.0)
            cov[j, i] = cov[i, j]
    return cov


def covariance_slices(data):
    n, m = data.shape
    centred = data - data.sum(axis=0) / n
    cov = np.zeros((m, m))
    for k in range(n):
        cov += centred[k, :, None] * centred[k]
    return cov / (n - 1.0)


def _samples(rng, n):
    return (rng.standard_normal((n + 2, n)) + rng.standard_normal(n),)


register("covariance", covariance, covariance_slices, _samples, 384, exact=False)


def correlation(data, tiny):
    """The correlations of the columns of `data`; a column that hardly varies counts as varying by 1."""
    n, m = data.shape
    mean = np.zeros(m)
    deviation = np.zeros(m)
    for j in range(m):
        total = 0.0
        for i in range(n):
            total += data[i, j]
        mean[j] = total / n
    for j in range(m):
        total = 0.0
        for i in range(n):
            total += (data[i, j] - mean[j]) * (data[i, j] - mean[j])
        root = sqrt(total / n)
        deviation[j] = root if root > tiny else 1.0
    scaled = np.empty((n, m))
    for i in range(n):
        for j in range(m):
            scaled[i, j] = (data[i, j] - mean[j]) / (sqrt(n) * deviation[j])
    corr = np.empty((m, m))
    for i in range(m):
        corr[i, i] = 1.0
        for j in range(i + 1, m):
            corr[i, j] = 0.0
            for k in range(n):
                corr[i, j] += scaled[k, i] * scaled[k, j]
            corr[j, i] = corr[i, j]
    return corr


def correlation_slices(data, tiny):
    n, m = data.shape
    centred = data - data.sum(axis=0) / n
    deviation = np.sqrt((centred * centred).sum(axis=0) / n)
    deviation = np.where(deviation > tiny, deviation, 1.0)
    scaled = centred / (np.sqrt(n) * deviation)
    corr = np.zeros((m, m))
    for k in range(n):
        corr += scaled[k, :, None] * scaled[k]
    for i in range(m):
        corr[i, i] = 1.0
    return corr


register("correlation", correlation, correlation_slices, lambda rng, n: (*_samples(rng, n), 1e-3), 384, exact=False)


def gram_schmidt(a):
    """Orthonormal columns and the triangle that makes `a` of them (modified Gram-Schmidt)."""
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
        for j in range(k + 1, n):
            for i in range(m):
                r[k, j] += q[i, k] * rest[i, j]
            for i in range(m):
                rest[i, j] -= q[i, k] * r[k, j]
    return q, r


def gram_schmidt_slices(a):
    n = a.shape[1]
    rest = a.copy()
    q = np.zeros(a.shape)
    r = np.zeros((n, n))
    for k in range(n):
        r[k, k] = np.sqrt((rest[:, k] * rest[:, k]).sum())
        q[:, k] = rest[:, k] / r[k, k]
        r[k, k + 1 :] = (q[:, k, None] * rest[:, k + 1 :]).sum(axis=0)
        rest[:, k + 1 :] -= q[:, k, None] * r[k, k + 1 :]
    return q, r


register(
    "gram-schmidt", gram_schmidt, gram_schmidt_slices, lambda rng, n: (rng.standard_normal((n + 3, n)),), 320,
    exact=False,
)  # fmt: skip
