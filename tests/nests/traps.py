"""Loops that are easily taken for what they are not."""

from __future__ import annotations

import numpy as np

from tests.nests.registry import drawn, nest


@nest("float64[n]")
def from_the_first(a):
    for i in range(len(a)):  # dependent: parallel | sequential | sequential with parallel body
        a[i] = a[0] + 1


@nest("float64[n]")
def from_the_first_after_it(a):
    for i in range(1, len(a)):  # parallel
        a[i] = a[0] + 1


@nest("float64[n]")
def from_the_last(a):
    for i in range(len(a)):  # dependent: parallel | sequential | sequential with parallel body
        a[i] = a[-1] + 1


@nest("float64[n]")
def from_the_middle(a):
    for i in range(len(a)):  # dependent: parallel | sequential | sequential with parallel body
        a[i] = a[len(a) // 2] + 1


@nest("float64[n], float64[1]")
def always_the_same_place(x, out):
    for i in range(len(x)):  # sequential
        out[0] = x[i]


@nest("float64[n], float64[1]")
def sometimes_the_same_place(x, out):
    for i in range(len(x)):  # sequential
        if x[i] > 0:
            out[0] = i


@nest("float64[n], float64[n]")
def merged_illegally(a, b):
    for i in range(len(a)):  # parallel
        a[i] = b[i] + 1
    for i in range(len(a) - 1):  # parallel
        b[i] = a[i + 1] * 2


@nest("float64[n], float64[n]")
def statements_in_the_wrong_order(a, b):
    for i in range(1, len(a)):  # dependent: parallel | sequential
        b[i] = a[i - 1] * 2
        a[i] = i


@nest("float64[n], float64[n]")
def statements_in_the_right_order(a, b):
    for i in range(1, len(a)):  # dependent: parallel | sequential
        a[i] = i
        b[i] = a[i - 1] * 2


@nest("float64[n], float64[n]")
def through_two_arrays(a, b):
    for i in range(1, len(a)):  # sequential | scan
        a[i] = b[i - 1] + 1
        b[i] = a[i] * 2


@nest("float64[n], float64[n]")
def one_part_is_parallel(a, b):
    for i in range(1, len(a)):  # scan | sequential | sequential with parallel body
        a[i] = a[i - 1] + b[i]
        b[i] = b[i] * 2 + i


@nest("float64[n,m]")
def only_the_rows(a):
    for i in range(a.shape[0]):  # parallel
        for j in range(a.shape[1] - 1):  # sequential
            a[i, j] = a[i, j + 1] + 1


@nest("float64[n,m]")
def only_the_columns(a):
    for i in range(a.shape[0] - 1):  # per-lane | sequential with parallel body
        for j in range(a.shape[1]):  # parallel
            a[i, j] = a[i + 1, j] + 1


@nest("float64[n,m]")
def skewed_reads(a):
    for i in range(1, a.shape[0]):  # wavefront | sequential with parallel body
        for j in range(a.shape[1] - 1):  # parallel
            a[i, j] = a[i - 1, j + 1] + 1


@nest("float64[n,m]")
def not_perfectly_nested(a):
    for i in range(1, a.shape[0]):  # sequential with parallel body | sequential | per-lane | scan
        if a.shape[1] > 0:
            a[i, 0] = a[i - 1, 0] + 1
        for j in range(1, a.shape[1]):  # parallel
            a[i, j] = a[i, 0] * 2


@nest("float64[n]")
def bound_that_changes(a):
    k = len(a)
    for i in range(k):  # parallel
        k = 0
        a[i] = a[i] + k


@nest("float64[n]")
def variable_overwritten(a):
    for i in range(len(a)):  # parallel
        a[i] = i
        i = 3


@nest("float64[n]")
def variable_used_afterwards(a):
    i = -1
    for i in range(len(a)):  # parallel
        a[i] = i
    return i


@nest("float64[n,m]")
def inner_bound_from_the_outer(a):
    total = 0.0
    for i in range(a.shape[0]):  # reduction
        for j in range(min(i, a.shape[1])):  # reduction
            total += a[i, j]
    return total


@nest("int64[n], int64[n]", limit=drawn("n", low=0, high=5, dtype="int64"))
def bound_from_data(limit, out):
    for i in range(len(limit)):  # parallel
        for j in range(limit[i]):  # reduction
            out[i] += j


@nest("float64[n], float64[n], float64[n]")
def used_by_the_iteration_after_next(a, b, c):
    for i in range(2, len(a)):  # dependent: parallel | sequential
        a[i] = b[i] + 1
        c[i] = a[i - 2] * 2


@nest("float64[n]")
def alternates(a):
    for i in range(len(a) - 1):  # sequential
        if i % 2 == 0:
            a[i] = a[i + 1]
        else:
            a[i] = a[i - 1] + 1


@nest("float64[n]")
def every_other_is_read(a):
    for i in range(len(a) // 2):  # sequential
        a[i] = a[2 * i] + 1


@nest("float64[n]")
def every_other_is_written(a):
    for i in range((len(a) + 1) // 2):  # sequential
        a[2 * i] = a[i] + 1


@nest("float64[n]")
def square_subscripts(x):
    out = np.zeros(len(x) * len(x) + 1)
    for i in range(len(x)):  # independent: parallel | sequential
        out[i * i] = x[i]
    return out


@nest("float64[n]")
def products_of_subscripts(x):
    n = len(x)
    out = np.zeros(n * n + 1)
    for i in range(n):  # sequential with parallel body | sequential
        for j in range(n):  # independent: parallel | sequential | reduction
            out[i * j + j] = x[i] - x[j]
    return out
