"""Data: statistics of columns, ranks, groups and labels, graphs."""

from __future__ import annotations

import numpy as np

from .registry import jnp, prange, register

# ---- correlations ----------------------------------------------------------------------------------------------------


def correlations(data):
    """Correlation matrix of the columns, and each column's strongest partner."""
    centred = data - data.mean(axis=0)
    cov = centred.T @ centred / (data.shape[0] - 1)
    deviation = np.sqrt(np.diag(cov))
    corr = np.clip(cov / np.outer(deviation, deviation), -1, 1)
    strength = np.abs(corr) - np.eye(len(corr))
    return corr, strength.argmax(axis=0)


def correlations_loops(data):
    n, width = data.shape
    mean = np.zeros(width)
    for i in range(n):
        for k in range(width):
            mean[k] += data[i, k]
    mean /= n
    parts = 16
    sums = np.zeros((parts, width, width))
    for part in prange(parts):
        row = np.empty(width)
        for i in range(n * part // parts, n * (part + 1) // parts):
            for k in range(width):
                row[k] = data[i, k] - mean[k]
            for k in range(width):
                for m in range(width):
                    sums[part, k, m] += row[k] * row[m]
    cov = sums.sum(axis=0) / (n - 1)
    corr, partner = np.empty_like(cov), np.empty(width, np.int64)
    for i in range(width):
        best, at = -1.0, 0
        for k in range(width):
            corr[i, k] = min(max(cov[i, k] / np.sqrt(cov[i, i] * cov[k, k]), -1.0), 1.0)
            if k != i and abs(corr[i, k]) > best:
                best, at = abs(corr[i, k]), k
        partner[i] = at
    return corr, partner


def correlations_jax(data):
    corr = jnp.corrcoef(data, rowvar=False)
    return corr, (jnp.abs(corr) - jnp.eye(len(corr))).argmax(axis=0)


register(
    "correlations", correlations, lambda rng, n: (rng.standard_normal((n, 40)) @ rng.standard_normal((40, 40)),),
    10_000, 60, loops=correlations_loops, arrays=correlations_jax,
)  # fmt: skip

# ---- ranks -----------------------------------------------------------------------------------------------------------


def spearman(x, y):
    """Rank correlations of the rows of two matrices."""
    rank_x = x.argsort(axis=1).argsort(axis=1)
    rank_y = y.argsort(axis=1).argsort(axis=1)
    n = x.shape[1]
    d = rank_x - rank_y
    return 1 - 6 * (d**2).sum(axis=1) / (n * (n**2 - 1))


def spearman_loops(x, y):
    rows, n = x.shape
    out = np.empty(rows)
    for i in prange(rows):
        order_x, order_y = np.argsort(x[i]), np.argsort(y[i])
        rank = np.empty(n, np.int64)
        for k in range(n):
            rank[order_x[k]] = k
        total = 0
        for k in range(n):
            d = rank[order_y[k]] - k
            total += d * d
        out[i] = 1 - 6 * total / (n * (n**2 - 1))
    return out


def spearman_jax(x, y):
    n = x.shape[1]
    d = x.argsort(axis=1).argsort(axis=1) - y.argsort(axis=1).argsort(axis=1)
    return 1 - 6 * (d**2).sum(axis=1) / (n * (n**2 - 1))


register(
    "spearman", spearman, lambda rng, n: (rng.random((n, 500)), rng.random((n, 500))), 100, 3,
    loops=spearman_loops, arrays=spearman_jax,
)  # fmt: skip

# ---- groups ----------------------------------------------------------------------------------------------------------


def standardise_groups(values, groups, count):
    """Values in standard deviations from the mean of their group, and sizes, means and deviations of the groups."""
    sizes = np.bincount(groups, minlength=count)
    means = np.bincount(groups, weights=values, minlength=count) / sizes
    centred = values - means[groups]
    deviations = np.sqrt(np.bincount(groups, weights=centred**2, minlength=count) / (sizes - 1))
    return centred / deviations[groups], sizes, means, deviations


def standardise_groups_loops(values, groups, count):
    n = values.size
    parts = 8
    sizes, sums = np.zeros((parts, count), np.int64), np.zeros((parts, count))
    for part in prange(parts):
        for i in range(n * part // parts, n * (part + 1) // parts):
            sizes[part, groups[i]] += 1
            sums[part, groups[i]] += values[i]
    size = sizes.sum(axis=0)
    means = sums.sum(axis=0) / size
    squares = np.zeros((parts, count))
    for part in prange(parts):
        for i in range(n * part // parts, n * (part + 1) // parts):
            d = values[i] - means[groups[i]]
            squares[part, groups[i]] += d * d
    deviations = np.sqrt(squares.sum(axis=0) / (size - 1))
    out = np.empty(n)
    for i in prange(n):
        out[i] = (values[i] - means[groups[i]]) / deviations[groups[i]]
    return out, size, means, deviations


def standardise_groups_jax(values, groups, count):
    sizes = jnp.bincount(groups, length=count)
    means = jnp.bincount(groups, weights=values, length=count) / sizes
    centred = values - means[groups]
    deviations = jnp.sqrt(jnp.bincount(groups, weights=centred**2, length=count) / (sizes - 1))
    return centred / deviations[groups], sizes, means, deviations


register(
    "standardise groups", standardise_groups,
    lambda rng, n: (rng.standard_normal(n), rng.permutation(np.arange(n) % (n // 20)), n // 20), 200_000, 80,
    loops=standardise_groups_loops, arrays=standardise_groups_jax,
)  # fmt: skip


def confusion(truth, predicted, classes):
    """Confusion matrix of a classifier, with precision, recall and F1 of each class."""
    matrix = np.bincount(truth * classes + predicted, minlength=classes**2).reshape(classes, classes)
    right = np.diag(matrix)
    precision = right / np.maximum(matrix.sum(axis=0), 1)
    recall = right / np.maximum(matrix.sum(axis=1), 1)
    f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-12)
    return matrix, precision, recall, f1, (truth == predicted).mean()


def confusion_loops(truth, predicted, classes):
    n = truth.size
    parts = 8
    counts = np.zeros((parts, classes, classes), np.int64)
    for part in prange(parts):
        for i in range(n * part // parts, n * (part + 1) // parts):
            counts[part, truth[i], predicted[i]] += 1
    matrix = counts.sum(axis=0)
    right = np.diag(matrix)
    precision = right / np.maximum(matrix.sum(axis=0), 1)
    recall = right / np.maximum(matrix.sum(axis=1), 1)
    f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-12)
    return matrix, precision, recall, f1, right.sum() / n


def confusion_jax(truth, predicted, classes):
    matrix = jnp.bincount(truth * classes + predicted, length=classes**2).reshape(classes, classes)
    right = jnp.diag(matrix)
    precision = right / jnp.maximum(matrix.sum(axis=0), 1)
    recall = right / jnp.maximum(matrix.sum(axis=1), 1)
    f1 = 2 * precision * recall / jnp.maximum(precision + recall, 1e-12)
    return matrix, precision, recall, f1, right.sum() / truth.size


def _predictions(rng, n):
    truth = rng.integers(0, 12, n)
    return truth, np.where(rng.random(n) < 0.7, truth, rng.integers(0, 12, n)), 12


register("confusion", confusion, _predictions, 400_000, 200, loops=confusion_loops, arrays=confusion_jax)

# ---- graphs ----------------------------------------------------------------------------------------------------------


def pagerank(source, target, nodes, damping, steps):
    """Steps of PageRank over a list of edges."""
    degree = np.bincount(source, minlength=nodes)
    rank = np.full(nodes, 1.0 / nodes)
    for _ in range(steps):
        share = np.where(degree > 0, rank / np.maximum(degree, 1), 0.0)
        incoming = np.bincount(target, weights=share[source], minlength=nodes)
        dangling = rank[degree == 0].sum()
        rank = (1 - damping) / nodes + damping * (incoming + dangling / nodes)
    return rank


def pagerank_loops(source, target, nodes, damping, steps):
    edges = source.size
    degree = np.zeros(nodes, np.int64)
    starts = np.zeros(nodes + 1, np.int64)
    for e in range(edges):
        degree[source[e]] += 1
        starts[target[e] + 1] += 1
    starts = np.cumsum(starts)
    origin, at = np.empty(edges, np.int64), starts.copy()
    for e in range(edges):
        origin[at[target[e]]] = source[e]
        at[target[e]] += 1
    rank, share = np.full(nodes, 1.0 / nodes), np.empty(nodes)
    for _ in range(steps):
        dangling = 0.0
        for k in prange(nodes):
            if degree[k] > 0:
                share[k] = rank[k] / degree[k]
            else:
                dangling += rank[k]
        base = (1 - damping) / nodes + damping * dangling / nodes
        for k in prange(nodes):
            total = 0.0
            for e in range(starts[k], starts[k + 1]):
                total += share[origin[e]]
            rank[k] = base + damping * total
    return rank


def pagerank_jax(source, target, nodes, damping, steps):
    degree = jnp.bincount(source, length=nodes)
    rank = jnp.full(nodes, 1.0 / nodes)
    for _ in range(steps):
        share = jnp.where(degree > 0, rank / jnp.maximum(degree, 1), 0.0)
        incoming = jnp.zeros(nodes).at[target].add(share[source])
        dangling = jnp.where(degree == 0, rank, 0.0).sum()
        rank = (1 - damping) / nodes + damping * (incoming + dangling / nodes)
    return rank


register(
    "pagerank", pagerank, lambda rng, n: (rng.integers(0, n, 10 * n), rng.integers(0, n, 10 * n), n, 0.85, 5), 20_000,
    15, loops=pagerank_loops, arrays=pagerank_jax,
)  # fmt: skip
