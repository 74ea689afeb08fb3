"""The functions of the pictures in loops.md."""
# ruff: noqa: B007, F821 (types of arguments as text, and steps that only count)

import numpy as np


def heat(u: "float64[n, m]", v: "float64[n, m]", steps: int):
    for t in range(steps):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                v[i, j] = u[i, j] + 0.1 * (u[i - 1, j] - 2 * u[i, j] + u[i + 1, j])
        u[1:-1] = v[1:-1]


def levenshtein(a: "int64[n]", b: "int64[m]"):
    d = np.zeros((len(a) + 1, len(b) + 1), dtype=np.int64)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d[-1, -1]


def smoothed(x: "float64[n, m]", a: float):
    y = np.zeros_like(x)
    for t in range(1, x.shape[0]):
        for lane in range(x.shape[1]):
            change = a * (x[t, lane] - y[t - 1, lane])
            y[t, lane] = y[t - 1, lane] + change
    return y
