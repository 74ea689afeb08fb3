"""Economics and boosting: what to decide."""

# ruff: noqa: E501, PERF401
from __future__ import annotations

import math

import numpy as np

from tests.corpus.registry import Case


def mccall_vfi(w, q, c=25.0, beta=0.9, tol=1e-6, max_iter=200):
    v = w / (1 - beta)
    v_next = np.empty_like(v)
    i = 0
    error = tol + 1
    while i < max_iter and error > tol:
        for j, w_val in enumerate(w):
            stop = w_val / (1 - beta)
            cont = c + beta * np.sum(v * q)
            v_next[j] = max(stop, cont)
        error = np.max(np.abs(v_next - v))
        v[:] = v_next
        i += 1
    return (1 - beta) * (c + beta * np.sum(v * q)), i


def tauchen(rho, sigma, n, m=3):
    from math import erf
    std_norm_cdf = lambda x: 0.5 * (1 + erf(x / math.sqrt(2)))
    std_y = np.sqrt(sigma ** 2 / (1 - rho ** 2))
    x_max = m * std_y
    x = np.linspace(-x_max, x_max, n)
    step = (x_max + x_max) / (n - 1)
    half = 0.5 * step
    P = np.empty((n, n))
    for i in range(n):
        P[i, 0] = std_norm_cdf((x[0] - rho * x[i] + half) / sigma)
        P[i, n - 1] = 1 - std_norm_cdf((x[n - 1] - rho * x[i] - half) / sigma)
        for j in range(1, n - 1):
            z = x[j] - rho * x[i]
            P[i, j] = std_norm_cdf((z + half) / sigma) - std_norm_cdf((z - half) / sigma)
    return x, P


def longest_increasing_subsequence(x):
    n = len(x)
    m = [0] * (n + 1)
    p = [0] * n
    length = 0
    for i in range(n):
        lo, hi = 1, length
        while lo <= hi:
            mid = (lo + hi) // 2
            if x[m[mid]] < x[i]:
                lo = mid + 1
            else:
                hi = mid - 1
        p[i] = m[lo - 1]
        m[lo] = i
        if lo > length:
            length = lo
    s = []
    k = m[length]
    for i in range(length - 1, -1, -1):
        s.append(x[k])
        k = p[k]
    return s[::-1]


def adaboost(X, y, n_clf=4):
    n_samples, n_features = X.shape
    w = np.full(n_samples, (1 / n_samples))
    clfs = []
    for _ in range(n_clf):
        min_error = float('inf')
        polarity, feature_idx, threshold, alpha = 1, None, None, None
        for feature_i in range(n_features):
            X_column = X[:, feature_i]
            thresholds = np.unique(X_column)
            for thr in thresholds:
                p = 1
                predictions = np.ones(n_samples)
                predictions[X_column < thr] = -1
                misclassified = w[y != predictions]
                error = sum(misclassified)
                if error > 0.5:
                    error = 1 - error
                    p = -1
                if error < min_error:
                    polarity = p
                    threshold = thr
                    feature_idx = feature_i
                    min_error = error
        EPS = 1e-10
        alpha = 0.5 * np.log((1.0 - min_error + EPS) / (min_error + EPS))
        predictions = np.ones(n_samples)
        column = X[:, feature_idx]
        if polarity == 1:
            predictions[column < threshold] = -1
        else:
            predictions[column > threshold] = -1
        w *= np.exp(-alpha * y * predictions)
        w /= np.sum(w)
        clfs.append((alpha, feature_idx, threshold, polarity))
    return clfs


CASES = [
    Case(mccall_vfi, lambda r: (np.linspace(10, 60, 9), np.full(9, 1 / 9)), ulps=64),
    Case(tauchen, lambda r: (0.9, 0.1, 5), ulps=64),
    Case(longest_increasing_subsequence, lambda r: (r.integers(0, 50, 20),)),
    Case(adaboost, lambda r: (r.normal(size=(10, 2)).round(1), r.choice([-1, 1], 10)), ulps=64, special=False),
]
