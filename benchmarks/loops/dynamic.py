"""Dynamic programming: paths in graphs, sequences against each other, hidden states."""

from __future__ import annotations

import numpy as np

from .registry import register


def floyd_warshall(weights):
    """The lengths of all shortest paths."""
    n = weights.shape[0]
    d = weights.copy()
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if d[i, k] + d[k, j] < d[i, j]:
                    d[i, j] = d[i, k] + d[k, j]
    return d


def floyd_warshall_slices(weights):
    d = weights.copy()
    for k in range(d.shape[0]):
        d = np.minimum(d, d[:, k, None] + d[k])
    return d


register(
    "floyd-warshall", floyd_warshall, floyd_warshall_slices, lambda rng, n: (rng.uniform(1, 100, (n, n)),), 400,
)  # fmt: skip


def nussinov(sequence):
    """The most base pairs within each stretch of `sequence` (RNA folding)."""
    n = sequence.shape[0]
    table = np.zeros((n, n), dtype=np.int64)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            best = max(table[i, j - 1], table[i + 1, j])
            if i < j - 1:
                pair = 1 if sequence[i] + sequence[j] == 3 else 0
                best = max(best, table[i + 1, j - 1] + pair)
            else:
                best = max(best, table[i + 1, j - 1])
            for k in range(i + 1, j):
                best = max(best, table[i, k] + table[k + 1, j])
            table[i, j] = best
    return table


def nussinov_slices(sequence):
    n = sequence.shape[0]
    table = np.zeros((n, n), dtype=np.int64)
    for i in range(n - 1, -1, -1):
        pairs = (sequence == 3 - sequence[i]).astype(np.int64)
        for j in range(i + 1, n):
            best = max(table[i, j - 1], table[i + 1, j])
            pair = pairs[j] if i < j - 1 else 0
            best = max(best, table[i + 1, j - 1] + pair)
            if j > i + 1:
                best = max(best, (table[i, i + 1 : j] + table[i + 2 : j + 1, j]).max())
            table[i, j] = best
    return table


register("nussinov", nussinov, nussinov_slices, lambda rng, n: (rng.integers(0, 4, n),), 400)


def smith_waterman(a, b, match, mismatch, gap):
    """The best score of a local alignment, where it ends, and the scores of all ends."""
    n, m = a.shape[0], b.shape[0]
    score = np.zeros((n + 1, m + 1), dtype=np.int64)
    best, best_i, best_j = 0, 0, 0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            diagonal = score[i - 1, j - 1] + (match if a[i - 1] == b[j - 1] else mismatch)
            score[i, j] = max(0, diagonal, score[i - 1, j] - gap, score[i, j - 1] - gap)
            if score[i, j] > best:
                best, best_i, best_j = score[i, j], i, j
    return score, best_i, best_j


def smith_waterman_slices(a, b, match, mismatch, gap):
    n, m = a.shape[0], b.shape[0]
    score = np.zeros((n + 1, m + 1), dtype=np.int64)
    for line in range(2, n + m + 1):
        i = np.arange(max(1, line - m), min(n, line - 1) + 1)
        j = line - i
        diagonal = score[i - 1, j - 1] + np.where(a[i - 1] == b[j - 1], match, mismatch)
        score[i, j] = np.maximum(np.maximum(diagonal, 0), np.maximum(score[i - 1, j], score[i, j - 1]) - gap)
    best = score.argmax()
    return score, int(best // (m + 1)), int(best % (m + 1))


register(
    "smith-waterman", smith_waterman, smith_waterman_slices,
    lambda rng, n: (rng.integers(0, 4, n), rng.integers(0, 4, n + 1), 3, -2, 2), 1500,
)  # fmt: skip


def levenshtein(a, b):
    """The fewest insertions, deletions and replacements that make `b` of `a`."""
    n, m = a.shape[0], b.shape[0]
    d = np.zeros((n + 1, m + 1), dtype=np.int64)
    for i in range(n + 1):
        d[i, 0] = i
    for j in range(m + 1):
        d[0, j] = j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d[n, m]


def levenshtein_slices(a, b):
    """Row by row: what comes from the left is a running minimum."""
    m = b.shape[0]
    ramp = np.arange(m + 1)
    row = np.arange(m + 1)
    for i in range(a.shape[0]):
        new = row + 1
        new[1:] = np.minimum(new[1:], row[:-1] + (b != a[i]))
        row = np.minimum.accumulate(new - ramp) + ramp
    return row[m]


def _texts(rng, n):
    return rng.integers(0, 4, n), rng.integers(0, 4, n + 1)


register("levenshtein", levenshtein, levenshtein_slices, _texts, 1500)


def lcs(a, b):
    """The lengths of the longest common subsequences of all beginnings."""
    n, m = a.shape[0], b.shape[0]
    length = np.zeros((n + 1, m + 1), dtype=np.int32)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            if a[i - 1] == b[j - 1]:
                length[i, j] = length[i - 1, j - 1] + 1
            else:
                length[i, j] = max(length[i - 1, j], length[i, j - 1])
    return length


def lcs_slices(a, b):
    """Row by row: what comes from the left is a running maximum."""
    n, m = a.shape[0], b.shape[0]
    length = np.zeros((n + 1, m + 1), dtype=np.int32)
    for i in range(n):
        length[i + 1, 1:] = np.maximum.accumulate(np.where(b == a[i], length[i, :-1] + 1, length[i, 1:]))
    return length


register("lcs", lcs, lcs_slices, _texts, 1500)


def viterbi(observed, start, move, emit):
    """The most likely hidden states behind `observed`; all probabilities as logarithms."""
    steps, states = observed.shape[0], start.shape[0]
    score = np.zeros((steps, states))
    back = np.zeros((steps, states), dtype=np.int64)
    for s in range(states):
        score[0, s] = start[s] + emit[s, observed[0]]
    for t in range(1, steps):
        for s in range(states):
            best = score[t - 1, 0] + move[0, s]
            state = 0
            for r in range(1, states):
                value = score[t - 1, r] + move[r, s]
                if value > best:
                    best = value
                    state = r
            score[t, s] = best + emit[s, observed[t]]
            back[t, s] = state
    path = np.zeros(steps, dtype=np.int64)
    for s in range(1, states):
        if score[steps - 1, s] > score[steps - 1, path[steps - 1]]:
            path[steps - 1] = s
    for t in range(steps - 2, -1, -1):
        path[t] = back[t + 1, path[t + 1]]
    return path


def viterbi_slices(observed, start, move, emit):
    steps, states = observed.shape[0], start.shape[0]
    score = start + emit[:, observed[0]]
    back = np.zeros((steps, states), dtype=np.int64)
    for t in range(1, steps):
        through = score[:, None] + move
        back[t] = through.argmax(axis=0)
        score = through.max(axis=0) + emit[:, observed[t]]
    path = np.zeros(steps, dtype=np.int64)
    path[steps - 1] = score.argmax()
    for t in range(steps - 2, -1, -1):
        path[t] = back[t + 1, path[t + 1]]
    return path


def _hidden(rng, n):
    states = n // 4 + 1
    return (
        rng.integers(0, 5, n),
        *(np.log(rng.uniform(0.1, 1, shape)) for shape in (states, (states, states), (states, 5))),
    )


register("viterbi", viterbi, viterbi_slices, _hidden, 500)
