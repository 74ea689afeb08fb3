"""Stencils in place and dynamic programming: wavefronts, and what only looks like one."""

from __future__ import annotations

import numpy as np

from tests.nests.registry import drawn, nest

SMALL = ({"n": 0, "m": 2}, {"n": 1, "m": 1}, {"n": 2, "m": 3}, {"n": 5, "m": 4}, {"n": 7, "m": 9})
LETTERS = drawn("n", low=0, high=3, dtype="int64")
OTHERS = drawn("m", low=0, high=3, dtype="int64")


@nest("float64[n]")
def stencil_in_place(a):
    for i in range(1, len(a) - 1):  # sequential | scan
        a[i] = a[i - 1] + a[i + 1]


@nest("float64[n], float64[n]")
def stencil(a, b):
    for i in range(1, len(a) - 1):  # parallel
        b[i] = a[i - 1] + a[i + 1]


@nest("float64[n]")
def red_and_black(a):
    for i in range(1, len(a) - 1, 2):  # parallel
        a[i] = a[i - 1] + a[i + 1]
    for i in range(2, len(a) - 1, 2):  # parallel
        a[i] = a[i - 1] - a[i + 1]


@nest("float64[n,m]", SMALL, 1e-12)
def gauss_seidel(a):
    n, m = a.shape
    for i in range(1, n - 1):  # wavefront
        for j in range(1, m - 1):  # wavefront | sequential | scan
            a[i, j] = (a[i - 1, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j]) * 0.25


@nest("float64[n,m]", SMALL, 1e-9)
def gauss_seidel_of_nine(a):
    n, m = a.shape
    for i in range(1, n - 1):  # wavefront
        for j in range(1, m - 1):  # wavefront | sequential | scan
            above = a[i - 1, j - 1] + a[i - 1, j] + a[i - 1, j + 1]
            below = a[i + 1, j - 1] + a[i + 1, j] + a[i + 1, j + 1]
            a[i, j] = (above + a[i, j - 1] + a[i, j] + a[i, j + 1] + below) * 0.125


@nest("float64[n,m]", [{"n": 1, "m": 1}, {"n": 4, "m": 5}], 1e-12)
def gauss_seidel_over_time(a):
    n, m = a.shape
    for t in range(3):  # wavefront | sequential with parallel body | sequential
        for i in range(1, n - 1):  # wavefront
            for j in range(1, m - 1):  # wavefront | sequential | scan
                a[i, j] = (a[i - 1, j] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j]) * 0.25


@nest("float64[n,m]", SMALL)
def ways_through_a_grid(a):
    n, m = a.shape
    for i in range(1, n):  # wavefront
        for j in range(1, m):  # wavefront | scan | sequential
            a[i, j] = a[i - 1, j] + a[i, j - 1]


@nest("float64[n,m]", SMALL)
def from_the_upper_right(a):
    n, m = a.shape
    for i in range(1, n):  # wavefront | sequential
        for j in range(1, m - 1):  # wavefront | scan | sequential
            a[i, j] = a[i - 1, j + 1] + a[i, j - 1]


@nest("int64[n], int64[m]", SMALL, x=LETTERS, y=OTHERS)
def levenshtein(x, y):
    n, m = len(x), len(y)
    d = np.zeros((n + 1, m + 1), np.int64)
    for i in range(n + 1):  # parallel
        d[i, 0] = i
    for j in range(m + 1):  # parallel
        d[0, j] = j
    for i in range(1, n + 1):  # wavefront
        for j in range(1, m + 1):  # wavefront | scan | sequential
            change = d[i - 1, j - 1] + (x[i - 1] != y[j - 1])
            d[i, j] = min(min(d[i - 1, j] + 1, d[i, j - 1] + 1), change)
    return d


@nest("int64[n], int64[m]", SMALL, x=LETTERS, y=OTHERS)
def longest_common_subsequence(x, y):
    n, m = len(x), len(y)
    d = np.zeros((n + 1, m + 1), np.int64)
    for i in range(1, n + 1):  # wavefront
        for j in range(1, m + 1):  # wavefront | scan | sequential
            if x[i - 1] == y[j - 1]:
                d[i, j] = d[i - 1, j - 1] + 1
            else:
                d[i, j] = max(d[i - 1, j], d[i, j - 1])
    return d


@nest("int64[n], int64[m]", SMALL, x=LETTERS, y=OTHERS)
def smith_waterman(x, y):
    n, m = len(x), len(y)
    h = np.zeros((n + 1, m + 1))
    best = 0.0
    for i in range(1, n + 1):  # wavefront
        for j in range(1, m + 1):  # wavefront | scan | sequential
            score = 2.0 if x[i - 1] == y[j - 1] else -1.0
            h[i, j] = max(max(0.0, h[i - 1, j - 1] + score), max(h[i - 1, j] - 1, h[i, j - 1] - 1))
            best = max(best, h[i, j])
    return best


@nest("int64[n], int64[m]", SMALL, x=LETTERS, y=OTHERS)
def levenshtein_in_two_rows(x, y):
    m = len(y)
    row = np.arange(m + 1)
    for i in range(len(x)):  # sequential with parallel body | sequential | wavefront
        corner = row[0]
        row[0] = i + 1
        for j in range(m):  # scan | sequential
            kept = row[j + 1]
            row[j + 1] = min(min(row[j + 1], row[j]) + 1, corner + (x[i] != y[j]))
            corner = kept
    return row


@nest("float64[n], float64[m]", SMALL)
def time_warped(x, y):
    n, m = len(x), len(y)
    d = np.zeros((n + 1, m + 1)) + 1e9
    d[0, 0] = 0
    for i in range(n):  # wavefront
        for j in range(m):  # wavefront | scan | sequential
            d[i + 1, j + 1] = abs(x[i] - y[j]) + min(min(d[i, j + 1], d[i + 1, j]), d[i, j])
    return d[n, m]


@nest("float64[n]", [{"n": 0}, {"n": 1}, {"n": 2}, {"n": 7}])
def cheapest_bracketing(x):
    n = len(x)
    c = np.zeros((n, n))
    for length in range(1, n):  # sequential with parallel body
        for i in range(n - length):  # parallel
            best = 1e9
            for k in range(i, i + length):  # reduction
                best = min(best, c[i, k] + c[k + 1, i + length] + abs(x[k]))
            c[i, i + length] = best
    return c


@nest("float64[n,m]", SMALL)
def antidiagonals_in_order(a):
    n, m = a.shape
    for d in range(2, n + m - 1):  # sequential with parallel body | wavefront
        for i in range(max(1, d - m + 1), min(n, d)):  # parallel
            a[i, d - i] = a[i - 1, d - i] + a[i, d - i - 1]


@nest("float64[n], int", [{"n": n, "k": k} for n, k in ((0, 5), (1, 5), (4, 0), (5, 9), (3, 2))])
def knapsack(value, k):
    best = np.zeros(k + 1)
    for i in range(len(value)):  # sequential with parallel body | sequential
        for w in range(k, i, -1):  # sequential
            best[w] = max(best[w], best[w - i - 1] + value[i])
    return best
