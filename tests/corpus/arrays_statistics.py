"""Array functions as statisticians write them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.corpus.registry import Case


def standardize(x: Any) -> Any:
    """Columns with mean 0 and deviation 1; constant columns stay 0."""
    centered = x - np.nanmean(x, axis=0)
    deviation = np.nanstd(x, axis=0)
    return np.divide(centered, deviation, out=np.zeros_like(centered), where=deviation > 0)


def linear_regression(X: Any, y: Any) -> Any:
    """Coefficients, residuals, and the standard errors."""
    A = np.c_[np.ones(X.shape[0]), X]
    gram = A.T @ A
    beta = np.linalg.solve(gram, A.T @ y)
    residuals = y - A @ beta
    s2 = residuals @ residuals / (A.shape[0] - A.shape[1])
    return beta, residuals, np.sqrt(s2 * np.diag(np.linalg.inv(gram)))


def kde(samples: Any, grid: Any) -> Any:
    """A Gaussian kernel density with Silverman's width."""
    n = samples.size
    width = 1.06 * np.std(samples, ddof=1) * n ** (-0.2)
    z = (grid[:, None] - samples[None, :]) / width
    return np.exp(-0.5 * z**2).sum(axis=1) / (n * width * np.sqrt(2 * np.pi))


def bootstrap_mean(x: Any, draws: int, seed: int) -> Any:
    """The interval of the mean by resampling."""
    rng = np.random.default_rng(seed)
    picks = rng.integers(0, x.size, size=(draws, x.size))
    means = x[picks].mean(axis=1)
    return np.percentile(means, [2.5, 50.0, 97.5])


def kmeans_step(points: Any, centers: Any) -> Any:
    """Assign points to centres and move the centres; an empty one stays."""
    distance = ((points[:, None, :] - centers[None, :, :]) ** 2).sum(axis=2)
    labels = distance.argmin(axis=1)
    counts = np.bincount(labels, minlength=centers.shape[0])
    sums = np.zeros_like(centers)
    np.add.at(sums, labels, points)
    moved = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centers)
    return labels, moved, np.sqrt(distance.min(axis=1)).sum()


def pca(x: Any, k: int) -> Any:
    """Variances along the first axes and what they explain."""
    centered = x - x.mean(axis=0)
    singular = np.linalg.svd(centered, compute_uv=False)
    variance = singular**2 / (x.shape[0] - 1)
    return variance[:k], np.cumsum(variance / variance.sum())[:k]


def confusion(actual: Any, predicted: Any, classes: int) -> Any:
    """The confusion matrix, precision and recall."""
    matrix = np.zeros((classes, classes), dtype=np.int64)
    np.add.at(matrix, (actual, predicted), 1)
    hits = np.diag(matrix)
    precision = hits / np.maximum(matrix.sum(axis=0), 1)
    recall = hits / np.maximum(matrix.sum(axis=1), 1)
    return matrix, precision, recall, np.trace(matrix) / np.sum(matrix)


def ranks(x: Any) -> Any:
    """Ranks from 1; equal values share their mean rank."""
    s = np.sort(x)
    low = np.searchsorted(s, x, side="left")
    high = np.searchsorted(s, x, side="right")
    return (low + high + 1) / 2


def roc_area(scores: Any, labels: Any) -> Any:
    """Area under the curve, and the curve."""
    order = np.argsort(-scores, kind="mergesort")
    hits = labels[order]
    tpr = np.r_[0.0, np.cumsum(hits) / np.sum(hits)]
    fpr = np.r_[0.0, np.cumsum(1 - hits) / np.sum(1 - hits)]
    return np.trapezoid(tpr, fpr), fpr, tpr


def contingency(a: Any, b: Any) -> Any:
    """A table of counts and its chi square."""
    table = np.histogram(a * 3 + b, bins=np.arange(10))[0].reshape(3, 3).astype(float)
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    safe = np.where(expected > 0, expected, 1.0)
    return table, ((table - expected) ** 2 / safe).sum()


def robust_scale(x: Any) -> Any:
    """Median and MAD, and which values are outliers."""
    center = np.median(x, axis=0)
    mad = np.median(np.abs(x - center), axis=0)
    z = 0.6745 * (x - center) / np.where(mad == 0, 1.0, mad)
    return center, mad, np.abs(z) > 3.5


def autocorrelation(x: Any, lags: int) -> Any:
    d = x - np.mean(x)
    full = np.correlate(d, d, mode="full")
    middle = full.size // 2
    return full[middle : middle + lags] / full[middle]


def weighted_quantile(x: Any, w: Any, q: float) -> Any:
    order = np.argsort(x)
    x, w = x[order], w[order]
    position = (np.cumsum(w) - 0.5 * w) / np.sum(w)
    return np.interp(q, position, x)


def mahalanobis(x: Any, mean: Any, cov: Any) -> Any:
    """Distances of rows from a distribution."""
    d = x - mean
    factor = np.linalg.cholesky(cov)
    z = np.linalg.solve(factor, d.T)
    return np.sqrt(np.sum(z**2, axis=0)), 2 * np.sum(np.log(np.diag(factor)))


CASES = [
    Case(standardize, lambda r: (r.normal(size=(9, 4)),), ulps=128, scale=4.0),
    Case(linear_regression, lambda r: (r.normal(size=(15, 2)), r.normal(size=15)), ulps=1024, scale=4.0, special=False),
    Case(kde, lambda r: (r.normal(size=15), np.linspace(-3, 3, 9)), ulps=64, scale=1.0),
    Case(
        bootstrap_mean,
        lambda r: (r.normal(size=12), 50, 9),
        ulps=64,
        scale=1.0,
        special=False,
        refused={"pallas": "`seeded` has no JAX form"},
    ),
    Case(
        kmeans_step,
        lambda r: (r.normal(size=(20, 2)), r.normal(size=(3, 2))),
        ulps=16,
        scale=8.0,
        special=False,
    ),
    Case(pca, lambda r: (r.normal(size=(12, 4)), 3), ulps=256, scale=4.0, special=False),
    Case(confusion, lambda r: (r.integers(0, 3, 20), r.integers(0, 3, 20), 3)),
    Case(ranks, lambda r: (r.integers(0, 6, 12).astype(float),)),
    Case(roc_area, lambda r: (r.normal(size=20), r.integers(0, 2, 20)), ulps=32, special=False),
    Case(contingency, lambda r: (r.integers(0, 3, 30), r.integers(0, 3, 30)), ulps=16),
    Case(robust_scale, lambda r: (r.normal(size=(9, 3)),), ulps=2),
    Case(autocorrelation, lambda r: (r.normal(size=16), 5), ulps=256, scale=1.0),
    Case(weighted_quantile, lambda r: (r.normal(size=9), r.random(9) + 0.1, 0.4), ulps=64, scale=2.0, special=False),
    Case(
        mahalanobis,
        lambda r: (r.normal(size=(6, 3)), r.normal(size=3), np.cov(r.normal(size=(3, 20)))),
        ulps=512,
        scale=4.0,
        special=False,
    ),
]
