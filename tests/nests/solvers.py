"""Numerical practice: steps in order, each of them parallel; and loops that are in order through and through."""

from __future__ import annotations

import numpy as np

from tests.nests.registry import drawn, nest

SQUARE = ({"n": 1}, {"n": 2}, {"n": 3}, {"n": 6})


def dominant(rng, sizes):
    """A symmetric matrix that is positive definite."""
    a = rng.integers(-2, 3, (sizes["n"],) * 2).astype(float)
    return a @ a.T + 5 * sizes["n"] * np.eye(sizes["n"])


@nest("float64[n,n]", SQUARE)
def shortest_paths(d):
    n = len(d)
    for k in range(n):  # sequential with parallel body
        for i in range(n):  # dependent: parallel | sequential | sequential with parallel body
            for j in range(n):  # dependent: parallel | sequential | sequential with parallel body
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])


@nest("float64[n,m]", [{"n": 1, "m": 3}, {"n": 3, "m": 3}, {"n": 5, "m": 4}], 1e-12)
def jacobi_over_time(u):
    n, m = u.shape
    v = u.copy()
    for t in range(4):  # sequential with parallel body
        for i in range(1, n - 1):  # parallel
            for j in range(1, m - 1):  # parallel
                v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
        for i in range(1, n - 1):  # parallel
            for j in range(1, m - 1):  # parallel
                u[i, j] = v[i, j]


@nest("float64[n]", [{"n": 1}, {"n": 2}, {"n": 3}, {"n": 9}], 1e-12)
def heat_in_two_layers(x):
    u = np.zeros((6, len(x)))
    u[0] = x
    for t in range(5):  # sequential with parallel body
        for i in range(1, len(x) - 1):  # parallel
            u[t + 1, i] = u[t, i] + 0.25 * (u[t, i - 1] - 2 * u[t, i] + u[t, i + 1])
    return u


@nest("float64[n,n]", SQUARE, 1e-9, a=dominant)
def lu(a):
    n = len(a)
    for k in range(n):  # sequential with parallel body
        for i in range(k + 1, n):  # parallel
            a[i, k] = a[i, k] / a[k, k]
        for i in range(k + 1, n):  # parallel
            for j in range(k + 1, n):  # parallel
                a[i, j] = a[i, j] - a[i, k] * a[k, j]


@nest("float64[n,n]", SQUARE, 1e-9, a=dominant)
def cholesky(a):
    n = len(a)
    for k in range(n):  # sequential with parallel body
        a[k, k] = np.sqrt(a[k, k])
        for i in range(k + 1, n):  # parallel
            a[i, k] = a[i, k] / a[k, k]
        for j in range(k + 1, n):  # parallel
            for i in range(j, n):  # parallel
                a[i, j] = a[i, j] - a[i, k] * a[j, k]


@nest("float64[n,n], float64[n]", SQUARE, 1e-9, a=dominant)
def forward_substitution(a, b):
    n = len(b)
    for i in range(n):  # sequential with parallel body | sequential
        for j in range(i):  # reduction
            b[i] = b[i] - a[i, j] * b[j]
        b[i] = b[i] / a[i, i]


@nest("float64[n,n], float64[n]", SQUARE, 1e-9, a=dominant)
def forward_substitution_by_columns(a, b):
    n = len(b)
    for j in range(n):  # sequential with parallel body
        b[j] = b[j] / a[j, j]
        for i in range(j + 1, n):  # parallel
            b[i] = b[i] - a[i, j] * b[j]


@nest("float64[n,n]", SQUARE, 1e-9, a=dominant)
def power_iteration(a):
    n = len(a)
    v = np.ones(n)
    for _ in range(5):  # sequential with parallel body
        w = np.zeros(n)
        for i in range(n):  # parallel
            for j in range(n):  # reduction
                w[i] += a[i, j] * v[j]
        largest = 0.0
        for i in range(n):  # reduction
            largest = max(largest, abs(w[i]))
        for i in range(n):  # parallel
            v[i] = w[i] / largest
    return v


@nest("float64[n,n]", SQUARE, 1e-9, a=dominant)
def orthogonalised(a):
    n = len(a)
    for k in range(n):  # sequential with parallel body
        norm = 0.0
        for i in range(n):  # reduction
            norm += a[i, k] * a[i, k]
        norm = np.sqrt(norm)
        for i in range(n):  # parallel
            a[i, k] = a[i, k] / norm
        for j in range(k + 1, n):  # parallel
            dot = 0.0
            for i in range(n):  # reduction
                dot += a[i, k] * a[i, j]
            for i in range(n):  # parallel
                a[i, j] = a[i, j] - dot * a[i, k]


@nest("float64[n]", [{"n": 0}, {"n": 1}, {"n": 2}, {"n": 9}])
def odd_even_sorted(a):
    n = len(a)
    for t in range(n):  # sequential with parallel body
        for i in range(t % 2, n - 1, 2):  # parallel
            low, high = min(a[i], a[i + 1]), max(a[i], a[i + 1])
            a[i] = low
            a[i + 1] = high


@nest("float64[n]", [{"n": 0}, {"n": 1}, {"n": 2}, {"n": 9}])
def doubled_strides(x):
    n = len(x)
    for level in range(4):  # sequential with parallel body | sequential
        y = x.copy()
        for i in range(2**level, n):  # independent: parallel | sequential
            y[i] = x[i] + x[i - 2**level]
        x[:] = y


# ---- in order -------------------------------------------------------------------------------------------------------


@nest("int64[n], float64[n]", following=lambda rng, s: rng.integers(0, max(s["n"], 1), s["n"]))
def list_chased(following, x):
    at, total = 0, 0.0
    for _ in range(len(x)):  # sequential
        total += x[at]
        at = int(following[at])
    return total


@nest("float64[n]")
def bubbled_once(a):
    for i in range(len(a) - 1):  # sequential | scan
        if a[i] > a[i + 1]:
            t = a[i]
            a[i] = a[i + 1]
            a[i + 1] = t


@nest("int", ints=(1, 2, 3, 7, 27))
def halved_or_tripled(k):
    steps = 0
    while k != 1:  # sequential
        k = k // 2 if k % 2 == 0 else 3 * k + 1
        steps += 1
    return steps


@nest("int64[n]")
def pseudo_random(out):
    state = 17
    for i in range(len(out)):  # sequential | scan
        state = (state * 75 + 74) % 65537
        out[i] = state


@nest("float64[n], float", x=lambda rng, s: np.sort(rng.integers(-9, 9, s["n"]) * 1.0))
def searched_by_halves(x, v):
    low, high = 0, len(x)
    while low < high:  # sequential
        middle = (low + high) // 2
        if x[middle] < v:
            low = middle + 1
        else:
            high = middle
    return low


@nest("float64[n]", [{"n": 0}, {"n": 1}, {"n": 2}, {"n": 9}])
def inserted_in_order(a):
    for i in range(1, len(a)):  # sequential | sequential with parallel body
        v = a[i]
        k = i
        while k > 0 and a[k - 1] > v:  # sequential
            a[k] = a[k - 1]
            k -= 1
        a[k] = v


@nest("float64[n]")
def selected_in_order(a):
    n = len(a)
    for i in range(n):  # sequential with parallel body | sequential
        position = i
        for j in range(i + 1, n):  # reduction | sequential
            if a[j] < a[position]:
                position = j
        t = a[i]
        a[i] = a[position]
        a[position] = t


@nest("int64[n]", parent=lambda rng, s: np.array([rng.integers(0, k + 1) for k in range(s["n"])], np.int64))
def roots_found(parent):
    for i in range(len(parent)):  # sequential
        parent[i] = parent[parent[i]]


@nest("float64[n], float64[n]", x=drawn("n", low=1))
def newton_a_point(x, y):
    for i in range(len(x)):  # parallel
        v = x[i]
        for _ in range(6):  # sequential
            v = (v + x[i] / v) / 2
        y[i] = v
