"""Everyday functions that neither the examples nor the benchmarks have: reductions of all axes, scatters, scans, DP."""

from __future__ import annotations

import numpy as np


def column_sums(x):
    return x.sum(axis=0)


def channel_statistics(x):
    return x.mean(axis=(0, 2)), x.var(axis=(0, 2))


def norm(x):
    return np.sqrt((x * x).sum())


def extremes(x):
    return x.min(), x.max(), x.mean()


def best_of_rows(x):
    return x.argmax(axis=1)


def add_at(h, i, w):
    np.add.at(h, i, w)
    return h


def count_values(x):
    return np.bincount(x, minlength=256)


def histogram_loop(h, x):
    for k in range(x.shape[0]):
        h[x[k]] += 1
    return h


def weights_loop(h, x, w):
    for k in range(x.shape[0]):
        h[x[k]] += w[k]
    return h


def highest_at(h, i, w):
    np.maximum.at(h, i, w)
    return h


def running_sum(x):
    return np.cumsum(x)


def running_sums_of_rows(x):
    return np.cumsum(x, axis=1)


def moving_average(x, k):
    c = np.cumsum(x)
    return (c[k:] - c[:-k]) / k


def exponential_average(x, a):
    y = np.empty_like(x)
    y[0] = x[0]
    for i in range(1, x.shape[0]):
        y[i] = a * x[i] + (1 - a) * y[i - 1]
    return y


def smoothed_rows(x, a):
    y = np.empty_like(x)
    y[:, 0] = x[:, 0]
    for j in range(1, x.shape[1]):
        y[:, j] = a * x[:, j] + (1 - a) * y[:, j - 1]
    return y


def n_body(p, m):
    d = p[None, :, :] - p[:, None, :]
    r = (d * d).sum(axis=-1) + np.float32(1e-3)
    f = m[None, :] / (r * np.sqrt(r))
    return (f[:, :, None] * d).sum(axis=1)


def distances(x, y):
    d = x[:, None, :] - y[None, :, :]
    return np.sqrt((d * d).sum(axis=-1))


def newton(a):
    x = a.copy()
    for _ in range(30):
        todo = np.abs(x * x - a) > 1e-6 * a
        x = np.where(todo, 0.5 * (x + a / x), x)
    return x


def minmod_advection(u, steps):
    for _ in range(steps):
        left = u[1:-1] - u[:-2]
        right = u[2:] - u[1:-1]
        slope = np.where(left * right > 0, np.where(np.abs(left) < np.abs(right), left, right), np.float32(0))
        flux = u[1:-1] + np.float32(0.25) * slope
        u[2:-1] -= np.float32(0.5) * (flux[1:] - flux[:-1])
    return u


def add_transposed(a, b):
    return a + b.T


def differences(x):
    return x[1:] - x[:-1]


def look_up(table, i):
    return table[i]


def positive(x):
    return x[x > 0]


def sorted_rows(x):
    return np.sort(x, axis=1)


def best_ten(x):
    return np.argsort(-x)[:10]


def layer(x, w, b):
    return np.maximum(x @ w + b, 0)


def max_pool(x):
    n, h, w = x.shape
    out = np.empty((n, h // 2, w // 2), x.dtype)
    for k in range(n):
        for i in range(h // 2):
            for j in range(w // 2):
                out[k, i, j] = max(
                    max(x[k, 2 * i, 2 * j], x[k, 2 * i, 2 * j + 1]),
                    max(x[k, 2 * i + 1, 2 * j], x[k, 2 * i + 1, 2 * j + 1]),
                )
    return out


def gray(image):
    return (0.299 * image[..., 0] + 0.587 * image[..., 1] + 0.114 * image[..., 2]).astype(np.uint8)


def knapsack(weights, values, capacity):
    best = np.zeros(capacity + 1, np.int64)
    for k in range(weights.shape[0]):
        for c in range(capacity, weights[k] - 1, -1):
            best[c] = max(best[c], best[c - weights[k]] + values[k])
    return best[capacity]
