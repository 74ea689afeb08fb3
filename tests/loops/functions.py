"""Loops as people write them."""

# mypy: ignore-errors
import numpy as np


def matmul(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s


def floyd(d):
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])


def lanes(x, a):
    y = np.zeros_like(x)
    y[0] = x[0]
    for t in range(1, x.shape[0]):
        y[t] = a * y[t - 1] + x[t]
    return y


def running(x):
    total = 0
    largest = x[0]
    positive = True
    for i in range(len(x)):
        total += x[i]
        largest = max(largest, x[i])
        positive = positive and x[i] > -50
        last = x[i] * 2
    return total, largest, positive, last


def gathered(x, index, y):
    for i in range(len(index)):
        y[i] = x[index[i]] * 2


def cholesky(a):
    n = a.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                a[i, j] -= a[i, k] * a[j, k]
            a[i, j] /= a[j, j]
        for k in range(i):
            a[i, i] -= a[i, k] * a[i, k]
        a[i, i] = np.sqrt(a[i, i])


def swapped(a):
    n = len(a)
    for i in range(n // 2):
        a[i], a[n - 1 - i] = a[n - 1 - i], a[i]
    t = 0.0
    for i in range(n):
        t = a[i] + 1
        a[i] = t
    return t


def levenshtein(a, b):
    d = np.zeros((len(a) + 1, len(b) + 1), dtype=np.int64)
    for i in range(len(a) + 1):
        d[i, 0] = i
    for j in range(len(b) + 1):
        d[0, j] = j
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d


def gauss_seidel(a, steps):
    n, m = a.shape
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                a[i, j] = (a[i - 1, j + 1] + a[i, j - 1] + a[i, j] + a[i, j + 1] + a[i + 1, j - 1]) / 5.0


def jacobi(u, v, steps):
    n = u.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, u.shape[1] - 1):
                v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
        for i in range(1, n - 1):
            for j in range(1, u.shape[1] - 1):
                u[i, j] = v[i, j]


def eliminated(a):
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]


def added(x, y, t):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            x[i, j] += y[t]


def added_twice(m, v):
    for i in range(m.shape[0]):
        for j in range(1, m.shape[1]):
            m[i, j] += v[j - 1] * v[2 * i]


def repeated(a, b, n):
    for i in range(1, n):
        for j in range(n - 1):
            b[i + 8] = a[j + 8] - 3


def slid(a, b, steps):
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3.0
        for i in range(1, a.shape[0] - 1):
            a[i] = (b[i - 1] + b[i] + b[i + 1]) / 3.0


def looked_up(x, p, c):
    for i in range(2):
        p[i] = c[x[i] % len(x)]


def looked_up_twice(x, p, c):
    for i in range(len(p)):
        p[i] = c[x[x[i]]]
