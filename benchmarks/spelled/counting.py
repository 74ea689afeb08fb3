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
def bins_searched(x, e):
    return np.searchsorted(e, x, side="right")


@spelling("bins")
def bins_below_each_loop(x, e):
    out = np.empty(len(x), np.int64)
    for i in range(len(x)):
        out[i] = np.count_nonzero(e <= x[i])
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


# --- equal bins -------------------------------------------------------------------------------------------------------


@inputs("equal bins")
def _(rng):
    return rng.random(100000), 0.0, 1.0, 20


@spelling("equal bins")
def equalbins_bincount(x, lo, hi, n):
    k = np.minimum(((x - lo) / (hi - lo) * n).astype(np.int64), n - 1)
    return np.bincount(k, minlength=n)


@spelling("equal bins")
def equalbins_add_at(x, lo, hi, n):
    out = np.zeros(n, np.int64)
    np.add.at(out, np.clip(np.floor((x - lo) / (hi - lo) * n).astype(int), 0, n - 1), 1)
    return out


@spelling("equal bins")
def equalbins_loops(x, lo, hi, n):
    out = np.zeros(n, np.int64)
    for v in x:
        k = int((v - lo) / (hi - lo) * n)
        if k == n:
            k = n - 1
        out[k] += 1
    return out


@spelling("equal bins")
def equalbins_masks(x, lo, hi, n):
    k = np.minimum((x - lo) / (hi - lo) * n, n - 1)
    return np.array([np.count_nonzero((k >= i) & (k < i + 1)) for i in range(n)])


@spelling("equal bins")
def equalbins_masked_loop(x, lo, hi, n):
    out = np.zeros(n, np.int64)
    for i in range(len(x)):
        k = int((x[i] - lo) / (hi - lo) * n)
        out[min(k, n - 1)] += 1
    return out


# --- transitions ------------------------------------------------------------------------------------------------------


@inputs("transitions")
def _(rng):
    return rng.integers(0, 12, 100000), 12


@spelling("transitions")
def transitions_at(s, k):
    c = np.zeros((k, k))
    np.add.at(c, (s[:-1], s[1:]), 1)
    return c / c.sum(axis=1, keepdims=True)


@spelling("transitions")
def transitions_bincount(s, k):
    c = np.bincount(s[:-1] * k + s[1:], minlength=k * k).reshape(k, k)
    return c / c.sum(axis=1)[:, None]


@spelling("transitions")
def transitions_loops(s, k):
    c = np.zeros((k, k))
    for i in range(len(s) - 1):
        c[s[i], s[i + 1]] += 1
    for a in range(k):
        t = 0.0
        for b in range(k):
            t += c[a, b]
        for b in range(k):
            c[a, b] /= t
    return c


@spelling("transitions")
def transitions_last_loop(s, k):
    c = np.zeros((k, k), np.int64)
    last = s[0]
    for v in s[1:]:
        c[last, v] += 1
        last = v
    return c / c.sum(axis=1, keepdims=True)


@spelling("transitions")
def transitions_masks(s, k):
    c = np.empty((k, k))
    for a in range(k):
        for b in range(k):
            c[a, b] = ((s[:-1] == a) & (s[1:] == b)).sum()
    return c / c.sum(axis=1, keepdims=True)
