"""Subscripts that are data: histograms, permutations, gathers, scatters; arguments that share memory."""

from __future__ import annotations

import numpy as np

from tests.nests.registry import below, drawn, nest

N = ({"n": 0, "m": 1}, {"n": 1, "m": 1}, {"n": 2, "m": 3}, {"n": 9, "m": 4}, {"n": 12, "m": 2})


@nest("int64[n], int64[m]", N, idx=below("m"))
def histogram(idx, h):
    for i in range(len(idx)):  # reduction
        h[idx[i]] += 1


@nest("int64[n], float64[n], float64[m]", N, idx=below("m"))
def weighted_histogram(idx, w, h):
    for i in range(len(idx)):  # reduction
        h[idx[i]] += w[i]


@nest("int64[n], float64[n], float64[m]", N, idx=below("m"))
def histogram_of_maxima(idx, w, h):
    for i in range(len(idx)):  # reduction
        h[idx[i]] = max(h[idx[i]], w[i])


@nest("int64[n], float64[n], float64[m]", N, idx=below("m"))
def histogram_that_is_none(idx, w, h):
    for i in range(len(idx)):  # sequential
        h[idx[i]] = w[i] - h[idx[i]] * 2


@nest("int64[n], float64[m]", N, idx=below("m"))
def histogram_that_reads_a_bin(idx, h):
    for i in range(len(idx)):  # sequential
        h[idx[i]] += h[0]


@nest("int64[n]", idx=drawn("n", dtype="int64"))
def histogram_by_remainder(idx):
    h = np.zeros(4)
    for i in range(len(idx)):  # reduction
        h[idx[i] % 4] += 1
    return h


@nest("int64[n,m]", idx=lambda rng, s: rng.integers(0, 3, (s["n"], s["m"])))
def histogram_a_row(idx):
    h = np.zeros((len(idx), 3))
    for i in range(len(idx)):  # parallel
        for j in range(idx.shape[1]):  # reduction
            h[i, idx[i, j]] += 1
    return h


@nest("int64[n], float64[n], float64[m]", N, idx=below("m"))
def scattered(idx, x, y):
    for i in range(len(idx)):  # sequential
        y[idx[i]] = x[i]


@nest("int64[n], float64[m], float64[n]", N, idx=below("m"))
def gathered(idx, x, y):
    for i in range(len(idx)):  # parallel
        y[i] = x[idx[i]]


@nest("int64[n], float64[n]", idx=below("n"))
def gathered_in_place(idx, x):
    for i in range(len(idx)):  # sequential
        x[i] = x[idx[i]] + 1


@nest("int64[n], float64[n,n]", idx=below("n"))
def one_a_column(idx, a):
    for i in range(len(idx)):  # parallel
        a[idx[i], i] += 1


@nest("float64[n]", x=lambda rng, s: rng.permutation(s["n"]) * 1.0)
def ranked(x):
    order = np.argsort(x)
    rank = np.zeros(len(x))
    for i in range(len(x)):  # parallel
        rank[order[i]] = i
    return rank


@nest("float64[n], float64[n]", x=lambda rng, s: rng.permutation(s["n"]) * 1.0)
def updated_in_sorted_order(x, y):
    order = np.argsort(x)
    for i in range(len(x)):  # parallel
        y[order[i]] = y[order[i]] * 2 + i


@nest("float64[n], float64[n]", x=lambda rng, s: rng.permutation(s["n"]) * 1.0)
def linked_in_sorted_order(x, y):
    order = np.argsort(x)
    for i in range(1, len(x)):  # scan | sequential
        y[order[i]] = y[order[i - 1]] + y[order[i]]


@nest("int64[n], int64[n], float64[n]", source=below("n"), target=below("n"))
def edges_relaxed(source, target, d):
    for e in range(len(source)):  # sequential
        d[target[e]] = min(d[target[e]], d[source[e]] + 1)


@nest("int64[n], float64[n], float64[m]", N, idx=below("m"))
def rows_of_a_sparse_product(idx, w, x):
    out = np.zeros(2)
    for r in range(2):  # parallel
        for k in range(r, len(idx), 2):  # reduction
            out[r] += w[k] * x[idx[k]]
    return out


# ---- arguments that overlap -----------------------------------------------------------------------------------------


def overlapping(shift, negative=False):
    """Two arrays of n, the second `shift` elements behind the first, by turns with memory of their own."""

    def make(rng, sizes):
        n = sizes["n"]
        memory = rng.integers(-4, 5, n + abs(shift)).astype(float)
        first, second = memory[max(0, -shift) :][:n], memory[max(0, shift) :][:n]
        return (first, second[::-1]) if negative else (first, second)

    return make


@nest("float64[n], float64[n]", shared=overlapping(1))
def written_behind(x, y):
    for i in range(len(x)):  # parallel
        y[i] = x[i] + 1


@nest("float64[n], float64[n]", shared=overlapping(-1))
def written_ahead(x, y):
    for i in range(len(x)):  # parallel
        y[i] = x[i] * 2


@nest("float64[n], float64[n]", shared=overlapping(0))
def one_array_twice(x, y):
    for i in range(len(x) - 1):  # parallel
        y[i] = x[i + 1] + 1


@nest("float64[n], float64[n]", shared=overlapping(0, negative=True))
def written_backwards(x, y):
    for i in range(len(x)):  # parallel
        y[i] = x[i] + 1


@nest("float64[n], float64[n]", shared=overlapping(2))
def exchanged_with_overlap(x, y):
    for i in range(len(x)):  # parallel
        x[i], y[i] = y[i], x[i]


@nest(
    "float64[n,n], float64[n,n]", shared=lambda rng, s: (lambda a: (a, a.T))(rng.integers(-4, 5, (s["n"],) * 2) * 1.0)
)
def transposed_arguments(a, b):
    for i in range(len(a)):  # parallel
        for j in range(len(a)):  # parallel
            b[i, j] = a[i, j] + 1


@nest("float64[n], float64[n], float64[m]", N)
def argument_that_is_an_output(x, y, h):
    for i in range(len(x)):  # parallel
        y[i] = x[i] + h[0]
    return y
