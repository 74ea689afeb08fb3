"""Reductions of every kind, and loops that only look like one."""

from __future__ import annotations

import numpy as np

from tests.nests.registry import drawn, nest


@nest("float64[n]")
def summed(x):
    s = 0.0
    for i in range(len(x)):  # reduction
        s += x[i]
    return s


@nest("int64[n]")
def summed_integers(x):
    s = 0
    for v in x:  # reduction
        s += int(v) * 2
    return s


@nest("float64[n]")
def added_on_the_right(x):
    s = 0.0
    for i in range(len(x)):  # reduction
        s = x[i] + s
    return s


@nest("float64[n]")
def subtracted(x):
    s = 1.0
    for i in range(len(x)):  # reduction
        s = s - x[i]
    return s


@nest("float64[n]")
def subtracted_from(x):
    s = 1.0
    for i in range(len(x)):  # scan | sequential | reduction
        s = x[i] - s
    return s


@nest("float64[n]", x=lambda rng, s: rng.choice([1.0, -1.0, 2.0, 0.5], s["n"]))
def multiplied(x):
    p = 1.0
    for i in range(len(x)):  # reduction
        p *= x[i]
    return p


@nest("float64[n]")
def smallest(x):
    low = np.inf
    for i in range(len(x)):  # reduction
        if x[i] < low:
            low = x[i]
    return low


@nest("float64[n]")
def largest(x):
    high = -np.inf
    for i in range(len(x)):  # reduction
        high = max(high, x[i])
    return high


@nest("float64[n]")
def started_from_the_wrong_value(x):
    high = 1.0
    for i in range(len(x)):  # reduction
        high = max(high, x[i])
    return high


@nest("float64[n]")
def position_of_the_largest(x):
    best, position = -np.inf, -1
    for i in range(len(x)):  # reduction
        if x[i] > best:
            best = x[i]
            position = i
    return position


@nest("float64[n]")
def last_position_of_the_smallest(x):
    best, position = np.inf, -1
    for i in range(len(x)):  # reduction
        if x[i] <= best:
            best = x[i]
            position = i
    return position, best


@nest("float64[n]")
def any_negative(x):
    found = False
    for i in range(len(x)):  # independent: reduction | parallel
        if x[i] < 0:
            found = True
    return found


@nest("float64[n]")
def all_positive(x):
    fine = True
    for i in range(len(x)):  # reduction
        fine = fine and bool(x[i] > 0)
    return fine


@nest("float64[n]")
def counted(x):
    count = 0
    for v in x:  # reduction
        if v > 0:
            count += 1
    return count


@nest("float64[n]")
def two_at_once(x):
    total, squares = 0.0, 0.0
    for i in range(len(x)):  # reduction
        total += x[i]
        squares += x[i] * x[i]
    return total, squares


@nest("float64[n], float64[n]")
def summed_and_mapped(x, y):
    s = 0.0
    for i in range(len(x)):  # reduction
        y[i] = x[i] * 2
        s += y[i]
    return s


@nest("float64[n], float64[n]")
def summed_and_read(x, y):
    s = 0.0
    for i in range(len(x)):  # scan | sequential
        s += x[i]
        y[i] = s


@nest("float64[n], float64[n]")
def summed_and_compared(x, y):
    s = 0.0
    for i in range(len(x)):  # sequential
        if s < 5:
            s += x[i]
    return s


@nest("float64[n]")
def summed_until_now_decides(x):
    s = 0.0
    for i in range(len(x)):  # sequential
        s += x[i] if s < 3 else 1.0
    return s


@nest("float64[n], float64[1]")
def into_an_element(x, out):
    for i in range(len(x)):  # reduction
        out[0] += x[i]


@nest("float64[n,m], float64[m]")
def columns_summed(a, out):
    for i in range(a.shape[0]):  # reduction
        for j in range(a.shape[1]):  # parallel
            out[j] += a[i, j]


@nest("float64[n,m], float64[n]")
def rows_summed(a, out):
    for i in range(a.shape[0]):  # parallel
        for j in range(a.shape[1]):  # reduction
            out[i] += a[i, j]


@nest("float64[n,m]")
def summed_over_both(a):
    s = 0.0
    for i in range(a.shape[0]):  # reduction
        for j in range(a.shape[1]):  # reduction
            s += a[i, j]
    return s


@nest("float64[n,n]")
def trace_of_the_triangle(a):
    s = 0.0
    for i in range(len(a)):  # reduction
        for j in range(i + 1):  # reduction
            s += a[i, j]
    return s


@nest("float64[n,m], float64[m,n]", [{"n": 0, "m": 2}, {"n": 2, "m": 0}, {"n": 1, "m": 3}, {"n": 3, "m": 4}])
def matrix_product(a, b):
    c = np.zeros((len(a), len(a)))
    for i in range(len(a)):  # parallel
        for j in range(len(a)):  # parallel
            for k in range(len(b)):  # reduction
                c[i, j] += a[i, k] * b[k, j]
    return c


@nest("float64[n]")
def into_the_next(a):
    for i in range(len(a) - 1):  # sequential | scan
        a[i + 1] += a[i]


@nest("float64[n]")
def into_two_places(x):
    h = np.zeros(len(x) + 1)
    for i in range(len(x)):  # reduction | sequential | scan
        h[i] += x[i]
        h[i + 1] += x[i] * 2
    return h


@nest("float64[n]")
def sum_and_maximum_in_one(x):
    h = np.zeros(2)
    for i in range(len(x)):  # sequential
        h[i % 2] = max(h[i % 2] + x[i], x[i])
    return h


@nest("float64[n]", [{"n": 0}, {"n": 1}, {"n": 2}, {"n": 8}], 1e-12)
def running_variance(x):
    mean, total, count = 0.0, 0.0, 0
    for i in range(len(x)):  # sequential | scan
        count += 1
        delta = x[i] - mean
        mean += delta / count
        total += delta * (x[i] - mean)
    return mean, total


@nest("int64[n]", x=drawn("n", low=0, high=64, dtype="int64"))
def bits_combined(x):
    seen, parity = 0, 0
    for v in x:  # reduction
        seen = seen | int(v)
        parity = parity ^ int(v)
    return seen, parity
