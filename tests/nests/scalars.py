"""Scalars in loops: temporaries private to an iteration, and those that are not; conditions."""

from __future__ import annotations

import numpy as np

from tests.nests.registry import nest


@nest("float64[n], float64[n]")
def private(x, y):
    for i in range(len(x)):  # parallel
        t = x[i] * 2
        y[i] = t * t


@nest("float64[n], float64[n]")
def declared_before(x, y):
    t = 7.0
    for i in range(len(x)):  # parallel
        t = x[i] + 1
        y[i] = t * t


@nest("float64[n], float64[n]")
def swapped(a, b):
    for i in range(len(a)):  # parallel
        t = a[i]
        a[i] = b[i]
        b[i] = t


@nest("float64[n]")
def neighbours_swapped(a):
    for i in range(len(a) - 1):  # sequential
        t = a[i]
        a[i] = a[i + 1]
        a[i + 1] = t


@nest("float64[n], float64[n]")
def last_value(x, y):
    t = 0.0
    for i in range(len(x)):  # parallel
        t = x[i] * 2
        y[i] = t + 1
    return t


@nest("float64[n]")
def last_index(x):
    k = -1
    for i in range(len(x)):  # parallel
        k = i
        x[i] += k
    return k


@nest("float64[n], float64[n]")
def last_positive(x, y):
    t = 0.0
    for i in range(len(x)):  # independent: reduction | scan | sequential
        y[i] = x[i]
        if x[i] > 0:
            t = x[i]
    return t


@nest("float64[n], float64[n]")
def kept_from_before(x, y):
    t = 0.0
    for i in range(len(x)):  # scan | sequential
        if x[i] > 0:
            t = x[i]
        y[i] = t


@nest("float64[n], float64[n]")
def assigned_on_both_sides(x, y):
    for i in range(len(x)):  # parallel
        if x[i] > 0:
            t = x[i]
        else:
            t = -2 * x[i]
        y[i] = t


@nest("float64[n], float64[n]")
def assigned_and_used_under_one_condition(x, y):
    t = 0.0
    for i in range(len(x)):  # parallel
        if x[i] > 0:
            t = x[i] * 2
            y[i] = t


@nest("float64[n], float64[n]")
def read_before_written(x, y):
    t = 0.0
    for i in range(len(x)):  # dependent: parallel | scan | sequential
        y[i] = t
        t = x[i]


@nest("float64[n], float64[n]")
def wrapped_around(x, y):
    j = len(x) - 1
    for i in range(len(x)):  # dependent: parallel | scan | sequential
        y[i] = x[i] + x[j]
        j = i


@nest("float64[n], float64[n]")
def previous_kept(x, y):
    previous = 0.0
    for i in range(len(x)):  # dependent: parallel | scan | sequential
        y[i] = x[i] - previous
        previous = x[i]


@nest("float64[n]")
def induction(x):
    y = np.zeros(2 * len(x) + 1)
    k = 0
    for i in range(len(x)):  # dependent: parallel | scan | sequential
        k += 2
        y[k] = x[i]
    return y


@nest("float64[n]")
def compacted(x):
    y = np.zeros(len(x))
    k = 0
    for i in range(len(x)):  # scan | sequential
        if x[i] > 0:
            y[k] = x[i]
            k += 1
    return y[:k]


@nest("float64[n], float64[n]")
def two_steps(x, y):
    for i in range(len(x)):  # parallel
        low = min(x[i], 0)
        high = max(x[i], 0)
        middle = (low + high) / 2
        y[i] = middle + low


@nest("float64[n]")
def fibonacci(x):
    a, b = 0.0, 1.0
    for i in range(len(x)):  # scan | sequential
        x[i] = a
        a, b = b, a + b


@nest("float64[n,m]")
def started_again(a):
    out = np.zeros(len(a))
    for i in range(len(a)):  # parallel
        total = 0.0
        for j in range(a.shape[1]):  # reduction
            total += a[i, j]
        out[i] = total
    return out


@nest("float64[n,m]")
def never_started_again(a):
    out = np.zeros(len(a))
    total = 0.0
    for i in range(len(a)):  # scan | sequential with parallel body | sequential
        for j in range(a.shape[1]):  # reduction
            total += a[i, j]
        out[i] = total
    return out


@nest("float64[n,m]")
def started_again_too_late(a):
    out = np.zeros(len(a))
    total = 0.0
    for i in range(len(a)):  # dependent: parallel | sequential with parallel body | sequential
        out[i] = total
        total = 0.0
        for j in range(a.shape[1]):  # reduction
            total += a[i, j]
    return out


# ---- conditions -----------------------------------------------------------------------------------------------------


@nest("float64[n], float64[n]")
def positive_only(x, y):
    for i in range(len(x)):  # parallel
        if x[i] > 0:
            y[i] = x[i] * 2


@nest("float64[n]")
def either_side(a):
    for i in range(len(a)):  # parallel
        if a[i] > 0:
            a[i] = 1
        else:
            a[i] = -2 * a[i]


@nest("float64[n], float64[n]")
def second_half_reads_first(a, b):
    half = len(a) // 2
    for i in range(len(a)):  # sequential
        if i < half:
            a[i] = i * 2
        else:
            b[i] = a[i - half] + 1


@nest("float64[n], float64[n]")
def halves_apart(a, b):
    half = len(a) // 2
    for i in range(len(a)):  # parallel
        if i < half:
            a[i] = b[i] + 1
        else:
            a[i] = b[i - half] * 2


@nest("float64[n]")
def carried_where_positive(a):
    for i in range(1, len(a)):  # scan | sequential
        if a[i] > 0:
            a[i] = a[i - 1] + 1


@nest("float64[n]")
def carried_never(a):
    for i in range(1, len(a)):  # parallel
        if i < 0:
            a[i] = a[i - 1] + 1


@nest("float64[n]")
def carried_at_the_first(a):
    for i in range(1, len(a)):  # parallel
        if i < 2:
            a[i] = a[i - 1] + 1
        else:
            a[i] = a[i] * 2


@nest("float64[n], float64[n]")
def continued(x, y):
    for i in range(len(x)):  # parallel
        if x[i] < 0:
            continue
        y[i] = x[i] + 1


@nest("float64[n]")
def first_negative(x):
    found = -1
    for i in range(len(x)):  # independent: reduction | sequential
        if x[i] < 0:
            found = i
            break
    return found


@nest("float64[n], float64[n]")
def stopped_by_data(x, y):
    for i in range(len(x)):  # independent: sequential
        if x[i] == 4:
            break
        y[i] = x[i] + 1


@nest("float64[n,n], float64[n]")
def square_or_triangle(a, x):
    for i in range(len(x)):  # parallel
        for j in range(len(x)):  # parallel
            if j <= i:
                a[i, j] = x[i]
            else:
                a[i, j] = x[j]
