"""Scans, and recurrences over independent lanes."""

from __future__ import annotations

import numpy as np

from tests.nests.registry import nest


@nest("float64[n], float64[n]")
def running_sum(x, y):
    s = 0.0
    for i in range(len(x)):  # scan
        s += x[i]
        y[i] = s


@nest("float64[n]")
def running_sum_in_place(a):
    for i in range(1, len(a)):  # scan
        a[i] += a[i - 1]


@nest("float64[n], float64[n]")
def sum_of_those_before(x, y):
    s = 0.0
    for i in range(len(x)):  # scan
        y[i] = s
        s += x[i]


@nest("float64[n], float64[n]")
def running_maximum(x, y):
    high = -np.inf
    for i in range(len(x)):  # scan
        high = max(high, x[i])
        y[i] = high


@nest("float64[n], float64[n]")
def running_minimum_by_condition(x, y):
    low = np.inf
    for i in range(len(x)):  # scan
        if x[i] < low:
            low = x[i]
        y[i] = low


@nest("float64[n], float64[n]", a=lambda rng, s: rng.choice([0.5, -1.0, 2.0, 0.0], s["n"]), tolerance=1e-12)
def linear_recurrence(a, b):
    y = np.zeros(len(a) + 1)
    for i in range(len(a)):  # scan
        y[i + 1] = a[i] * y[i] + b[i]
    return y


@nest("float64[n]", tolerance=1e-12)
def smoothed(x):
    y = x.copy()
    for i in range(1, len(x)):  # scan
        y[i] = 0.5 * y[i - 1] + 0.5 * x[i]
    return y


@nest("float64[n], float64[n]")
def reset_where_negative(x, y):
    s = 0.0
    for i in range(len(x)):  # scan | sequential
        if x[i] < 0:
            s = 0.0
        else:
            s += x[i]
        y[i] = s


@nest("float64[n], float64[n]")
def added_where_positive(x, y):
    s = 0.0
    for i in range(len(x)):  # scan
        if x[i] > 0:
            s += x[i]
        y[i] = s


@nest("float64[n], float64[n]", x=lambda rng, s: rng.choice([1.0, -1.0, 2.0, 0.5], s["n"]))
def running_product(x, y):
    p = 1.0
    for i in range(len(x)):  # scan
        p *= x[i]
        y[i] = p


@nest("float64[n]", tolerance=1e-12)
def evaluated_by_horner(x):
    s = 0.0
    for i in range(len(x)):  # scan | sequential | reduction
        s = s * 0.5 + x[i]
    return s


@nest("float64[n], float64[n]")
def from_the_end(x, y):
    s = 0.0
    for i in range(len(x) - 1, -1, -1):  # scan
        s += x[i]
        y[i] = s


@nest("float64[n]")
def of_second_order(a):
    for i in range(2, len(a)):  # scan | sequential
        a[i] = a[i] + a[i - 1] - a[i - 2]


@nest("float64[n]", tolerance=1e-9)
def nonlinear(a):
    for i in range(1, len(a)):  # sequential
        a[i] = 1 / (1 + a[i - 1] * a[i - 1]) + a[i]


@nest("bool[n], int64[n]")
def positions_among_the_kept(mask, position):
    k = 0
    for i in range(len(mask)):  # scan
        position[i] = k
        if mask[i]:
            k += 1
    return k


@nest("float64[n,m]", tolerance=1e-12)
def smoothed_lanes(x):
    y = x.copy()
    for t in range(1, x.shape[0]):  # per-lane | scan
        for j in range(x.shape[1]):  # parallel
            y[t, j] = 0.5 * y[t - 1, j] + 0.5 * x[t, j]
    return y


@nest("float64[n,m]", tolerance=1e-12)
def smoothed_lanes_outside(x):
    y = x.copy()
    for j in range(x.shape[1]):  # parallel
        for t in range(1, x.shape[0]):  # scan | sequential
            y[t, j] = 0.5 * y[t - 1, j] + 0.5 * x[t, j]
    return y


@nest("float64[n,m]", tolerance=1e-9)
def nonlinear_lanes(x):
    for t in range(1, x.shape[0]):  # per-lane
        for j in range(x.shape[1]):  # parallel
            x[t, j] = 1 / (1 + x[t - 1, j] * x[t - 1, j]) + x[t, j]


@nest("float64[n,m]", tolerance=1e-12)
def states_of_lanes(x):
    state = np.zeros(x.shape[1])
    y = np.zeros(x.shape)
    for t in range(x.shape[0]):  # per-lane | scan
        for j in range(x.shape[1]):  # parallel
            state[j] = 0.5 * state[j] + x[t, j]
            y[t, j] = state[j]
    return y


@nest("float64[n,m]", tolerance=1e-9)
def tridiagonal_columns(d):
    n = d.shape[0]
    c = np.zeros(n)
    for i in range(n):  # sequential
        c[i] = 1 / (4 - c[i - 1]) if i > 0 else 0.25
    for j in range(d.shape[1]):  # parallel
        for i in range(1, n):  # scan | sequential
            d[i, j] = (d[i, j] + d[i - 1, j]) * c[i]
        for i in range(n - 2, -1, -1):  # scan | sequential
            d[i, j] = d[i, j] + c[i] * d[i + 1, j]
    return d


@nest("float64[n,m]")
def best_path_down(a):
    for i in range(1, a.shape[0]):  # sequential with parallel body | wavefront
        for j in range(1, a.shape[1]):  # parallel
            a[i, j] = a[i, j] + max(a[i - 1, j - 1], a[i - 1, j])
