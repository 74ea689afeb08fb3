"""Counts, bins, labels and gathers."""

from __future__ import annotations

import numpy as np

from spelled.registry import inputs, spelling

# --- a histogram with weights


@inputs("histogram")
def _(rng):
    return rng.integers(0, 256, 500_000), rng.standard_normal(500_000)


@spelling("histogram")
def histogram_loop(k, w):
    out = np.zeros(256)
    for i in range(len(k)):
        out[k[i]] += w[i]
    return out


@spelling("histogram")
def histogram_bincount(k, w):
    return np.bincount(k, weights=w, minlength=256)


@spelling("histogram")
def histogram_add_at(k, w):
    out = np.zeros(256)
    np.add.at(out, k, w)
    return out


@spelling("histogram")
def histogram_zip(k, w):
    out = np.zeros(256)
    for at, weight in zip(k, w):
        out[at] = out[at] + weight
    return out


# --- sums of each label: the update of k-means


@inputs("sums of labels")
def _(rng):
    return rng.standard_normal((50_000, 4)), rng.integers(0, 16, 50_000)


@spelling("sums of labels")
def labels_loops(x, label):
    total = np.zeros((16, x.shape[1]))
    count = np.zeros(16)
    for i in range(len(x)):
        count[label[i]] += 1
        for k in range(x.shape[1]):
            total[label[i], k] += x[i, k]
    return total / count[:, None]


@spelling("sums of labels")
def labels_rows(x, label):
    total = np.zeros((16, x.shape[1]))
    count = np.zeros(16)
    for i in range(len(x)):
        total[label[i]] += x[i]
        count[label[i]] += 1
    return total / count[:, None]


@spelling("sums of labels")
def labels_add_at(x, label):
    total = np.zeros((16, x.shape[1]))
    count = np.zeros(16)
    np.add.at(total, label, x)
    np.add.at(count, label, 1)
    return total / count[:, None]


@spelling("sums of labels")
def labels_bincount(x, label):
    count = np.bincount(label, minlength=16)
    total = np.zeros((16, x.shape[1]))
    for k in range(x.shape[1]):
        total[:, k] = np.bincount(label, weights=x[:, k], minlength=16)
    return total / count[:, None]


# --- gathers


@inputs("gather")
def _(rng):
    return rng.standard_normal(100_000), rng.integers(0, 100_000, 400_000)


@spelling("gather")
def gather_subscript(x, k):
    return x[k] * 2 + 1


@spelling("gather")
def gather_take(x, k):
    return np.take(x, k) * 2 + 1


@spelling("gather")
def gather_loop(x, k):
    out = np.empty(len(k))
    for i in range(len(k)):
        out[i] = x[k[i]] * 2 + 1
    return out


@spelling("gather")
def gather_before(x, k):
    y = x * 2 + 1
    return y[k]


# --- bins -------------------------------------------------------------------------------------------------------------

@inputs("bins")
def _(rng):
    return rng.standard_normal(50_000), np.linspace(-2, 2, 9)


@spelling("bins")
def bins_edges(x, e):
    out = np.zeros(len(x), np.int64)
    for edge in e:
        out += x >= edge
    return out


@spelling("bins")
def bins_counts(x, e):
    return (x[:, None] >= e).sum(axis=1)


@spelling("bins")
def bins_masks(x, e):
    out = np.zeros(len(x), np.int64)
    for k in range(len(e)):
        out[x >= e[k]] = k + 1
    return out


@spelling("bins")
def bins_loops(x, e):
    out = np.zeros(len(x), np.int64)
    for i in range(len(x)):
        k = 0
        while k < len(e) and x[i] >= e[k]:
            k += 1
        out[i] = k
    return out
