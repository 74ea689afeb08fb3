"""What a step of a suppression takes away is counted, added up and looked at: of exactly those that are still there."""

import numpy as np
import pytest

import transkern
from tests.tools import on_target


def taken_away(x, scores, radius):
    order = np.argsort(-scores)
    picked, counts, totals, least = [], [], [], []
    while order.size > 0:
        i = order[0]
        picked.append(i)
        rest = order[1:]
        near = np.abs(x[rest] - x[i]) < radius
        counts.append(np.count_nonzero(near))
        totals.append(np.sum(near * (rest + 1)))
        least.append(scores[i] if rest.size == 0 else scores[rest].min())
        order = rest[~near]
    return picked, counts, totals, least


def counted(x, scores, radius):
    order = np.argsort(-scores)
    counts = []
    while order.size > 0:
        far = np.abs(x[order[1:]] - x[order[0]]) / (x[order[0]] + 1)
        counts.append(np.count_nonzero(far < radius))
        order = order[1:][far >= radius]
    return counts


@pytest.mark.parametrize("function", [taken_away, counted])
@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_of_those_that_are_left(target, function, monkeypatch):
    """Passes that count go over no element more, where those that only mark may be rounded to whole vectors."""
    compiled = transkern.compile(function, target=on_target(target, monkeypatch))
    rng = np.random.default_rng(4)
    for size in (0, 1, 3, 70, 300) if target == "cpu" else (0, 1, 70):
        x, scores = rng.random(size).astype(np.float32) * size / 4, rng.permutation(size).astype(np.float32)
        for special in (False, True):
            if special:
                x[::7], x[1::9] = np.nan, np.inf
            with np.errstate(all="ignore"):
                wanted = function(x, scores, 1.0)
                np.testing.assert_equal(compiled(x, scores, 1.0), wanted)


def in_order(x, scores, radius):
    """What the loops over what is left carry, they carry over exactly these, and in this order."""
    order = np.argsort(-scores)
    y = x.copy()
    decayed, last, sums = [], [], []
    while order.size > 0:
        i = order[0]
        rest = order[1:]
        total, seen = 0.0, -1
        for j in rest:
            total = total * 0.5 + x[j]
            if x[j] > 0.5:
                seen = j
        decayed.append(total)
        last.append(seen)
        sums.append(y[rest].sum() if rest.size else 0.0)
        order = rest[np.abs(x[rest] - x[i]) > radius]
    return decayed, last, sums


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_loops_in_order(target, monkeypatch):
    compiled = transkern.compile(in_order, target=on_target(target, monkeypatch))
    rng = np.random.default_rng(4)
    for size in (0, 1, 3, 70):
        x, scores = rng.integers(0, 99, size) / 8.0, rng.permutation(size).astype(float)  # sums are exact
        np.testing.assert_equal(compiled(x, scores, 1.0), in_order(x, scores, 1.0))


def alike(points, sizes, scores, spreads, threshold):
    """Sums over points, of which each element has as many as the call says."""
    order = np.argsort(-scores)
    picked = []
    while len(order) > 0:
        i = order[0]
        picked.append(i)
        rest = order[1:]
        far = ((points[rest] - points[i]) ** 2).sum(axis=2) / spreads
        order = rest[np.exp(-far / (sizes[i] + sizes[rest])[:, None]).sum(axis=1) / far.shape[1] <= threshold]
    return picked


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_sums_over_points(target, monkeypatch):
    compiled = transkern.compile(alike, target=on_target(target, monkeypatch))
    rng = np.random.default_rng(4)
    for size in (0, 1, 60):
        corners, sizes = rng.random((size, 1, 2)) * 9, rng.random(size) + 1
        scores, spreads = rng.permutation(size).astype(float), rng.random(17) + 0.5
        args = corners + rng.random((size, 17, 2)), sizes, scores, spreads, 0.4
        np.testing.assert_equal(compiled(*args), alike(*args))
