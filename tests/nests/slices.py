"""Slices, views and whole-array statements inside loops."""

from __future__ import annotations

import numpy as np

from tests.nests.registry import nest


@nest("float64[n,m]")
def row_sums(a):
    out = np.zeros(len(a))
    for i in range(len(a)):  # parallel
        out[i] = a[i].sum()
    return out


@nest("float64[n,m]")
def columns_shifted(a):
    for j in range(a.shape[1]):  # parallel
        a[:, j] = a[:, j] * 2 + j


@nest("float64[n,m]")
def rows_from_above(a):
    for i in range(1, len(a)):  # per-lane | scan | sequential with parallel body
        a[i, :] = a[i - 1, :] + a[i, :]


@nest("float64[n,m]")
def rows_from_below(a):
    for i in range(len(a) - 1):  # per-lane | sequential with parallel body
        a[i] = a[i + 1] * 2


@nest("float64[n,m]")
def rows_shifted_from_above(a):
    for i in range(1, len(a)):  # sequential with parallel body | wavefront | per-lane
        a[i, 1:] = a[i - 1, :-1] + 1


@nest("float64[n,n]")
def lower_triangle_doubled(a):
    for i in range(len(a)):  # parallel
        a[i, :i] = a[i, :i] * 2


@nest("float64[n,n]")
def lower_from_upper_slices(a):
    for i in range(len(a)):  # parallel
        a[i, :i] = a[:i, i]


@nest("float64[n,n]")
def row_and_column(a):
    for i in range(len(a)):  # sequential with parallel body | sequential
        a[i, :] = a[:, i]


@nest("float64[n]")
def sums_of_the_rest(a):
    for i in range(len(a)):  # sequential with parallel body | sequential
        a[i] = a[i:].sum()


@nest("float64[n]", [{"n": 0}, {"n": 1}, {"n": 2}, {"n": 9}])
def sums_of_the_beginning(a):
    for i in range(1, len(a)):  # sequential with parallel body | sequential | scan
        a[i] = a[:i].sum()


@nest("float64[n]")
def blocks_of_four(x):
    for i in range(0, len(x), 4):  # parallel
        x[i : i + 4] = x[i : i + 4].sum()


@nest("float64[n]")
def blocks_that_overlap(x):
    for i in range(0, len(x) - 2, 2):  # sequential with parallel body | sequential
        x[i : i + 3] = x[i : i + 3].max()


@nest("float64[n]")
def interleaved(x):
    for i in range(2):  # parallel
        x[i::2] *= i + 2


@nest("float64[n]")
def three_tails(x):
    for i in range(3):  # reduction | sequential with parallel body | per-lane
        x[i:] += 1


@nest("float64[n,m], float64[m,n]", [{"n": 0, "m": 2}, {"n": 2, "m": 1}, {"n": 3, "m": 4}])
def sum_of_outer_products(a, b):
    out = np.zeros((len(a), len(a)))
    for k in range(len(b)):  # reduction | sequential with parallel body | per-lane
        out += a[:, k, None] * b[k]
    return out


@nest("float64[n]", [{"n": 1}, {"n": 2}, {"n": 3}, {"n": 9}])
def smoothed_over_time(u):
    for _ in range(5):  # sequential with parallel body
        u[1:-1] = u[:-2] - u[2:]


@nest("float64[n,m]")
def named_rows(a):
    for i in range(len(a)):  # parallel
        row = a[i]
        for j in range(len(row) - 1):  # sequential
            row[j] = row[j + 1]


@nest("float64[n]")
def shifted_view(a):
    v = a[1:]
    for i in range(len(v)):  # scan | sequential
        v[i] = a[i] + 1


@nest("float64[n]")
def views_of_even_and_odd(a):
    even = a[::2]
    odd = a[1::2]
    for i in range(len(odd)):  # parallel
        even[i] = odd[i] * 2


@nest("float64[n]")
def views_of_two_halves(a):
    n = len(a) // 2
    first, second = a[:n], a[n:]
    for i in range(n):  # parallel
        first[i] = second[i] + 1


@nest("float64[n]")
def reversed_view(a):
    back = a[::-1]
    for i in range(len(a)):  # sequential
        a[i] = back[i] + 1


@nest("float64[n,n]")
def transposed_view(a):
    b = a.T
    for i in range(len(a)):  # sequential with parallel body | sequential | wavefront
        for j in range(len(a)):  # parallel
            a[i, j] = b[i, j] + 1


@nest("float64[n,m]")
def flat_view(a):
    flat = a.reshape(-1)
    for i in range(1, flat.size):  # scan | sequential
        flat[i] = flat[i - 1] + 1


@nest("float64[n]")
def second_name(a):
    b = a
    for i in range(len(a) - 1):  # sequential
        b[i] = a[i + 1]


@nest("float64[n]")
def copied_first(a):
    b = a.copy()
    for i in range(len(a) - 1):  # parallel
        a[i] = b[i + 1]


@nest("float64[n,m]")
def fresh_rows(a):
    out = np.zeros(len(a))
    for i in range(len(a)):  # parallel
        t = a[i] * 2
        out[i] = t.max() - t.min() if len(t) else 0.0
    return out


@nest("float64[n,m]", [{"n": 3, "m": 1}, {"n": 1, "m": 3}, {"n": 5, "m": 4}])
def shared_row(a):
    t = np.zeros(a.shape[1])
    out = np.zeros(len(a))
    for i in range(len(a)):  # dependent: parallel | sequential with parallel body
        t[:] = a[i] * 2
        out[i] = t.max()
    return out


@nest("float64[n,m]")
def masked_rows(a):
    for i in range(len(a)):  # parallel
        a[i] = np.where(a[i] > 0, a[i], 0)


@nest("float64[n]", [{"n": 0}, {"n": 1}, {"n": 5}, {"n": 9}])
def buffers_swapped(x):
    u, v = x.copy(), x.copy()
    for _ in range(4):  # sequential with parallel body
        v[1:] = u[:-1] + 1
        u, v = v, u
    return u
