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
