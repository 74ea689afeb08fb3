"""Lists that are None first, and `itertools.combinations` and `permutations` of a run-time number of things."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike

X = np.array([4, 7, 2, 0, 5, 5, 3, 8])


class Recent:
    def __init__(self, most):
        self.most, self.kept, self.mean, self.sums = most, None, None, None

    def push(self, v):
        if self.kept is None:
            self.kept, self.sums = [], [0.0, 0.0]
        self.kept.append(v)
        self.sums[v % 2] += 0.5 * v
        if len(self.kept) > self.most:
            self.kept.pop(0)
        self.mean = None

    def average(self):
        if self.mean is None:
            self.mean = sum(self.kept) / len(self.kept)
        return self.mean


def attributes(x):
    recent, found = Recent(3), []
    for v in x:
        recent.push(int(v))
        found.append(recent.average())
    return found, recent.kept, recent.sums


def names(x):
    counts = longer = None
    for i, v in enumerate(x):
        if counts is None:
            counts, longer = [0] * 4, [int(v)]
        else:
            longer.append(int(v))
        counts[i % 4] += int(v)
    return counts, longer


def still_none(x):
    row = None
    for v in x:
        if v > 100:
            row = [1]
    row[0] = 3
    return row


def chosen(x):
    best = 0
    for k in range(1, 4):
        for c in combinations(range(len(x)), k):
            best = max(best, sum(int(x[i]) for i in c) % 13)
    return best, [a + b * c for a, b, c in combinations(x, 3)], sum(a * b for a, b in permutations(x, 2))


@pytest.mark.parametrize("function", [attributes, names, still_none, chosen])
def test_alike(function):
    compiled = transkern.compile(function, target="cpu")
    for x in (X, X[:1], X[:0], X[2:6]):
        alike(function, x, compiled=compiled)
