"""Arrays, tuples with arrays, and dicts of texts as values of dicts whose keys only the run knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target

_random = np.random.default_rng(5)
X = np.round(8 * _random.normal(size=(14, 3))) / 8  # whose sums are exact
Y = np.array([0, 2, 1, 2, 2, 0, 1, 0, 2, 1, 1, 0, 2, 2])


def nearest_mean(x, y):
    means = {}
    for c in np.unique(y):
        means[c] = x[y == c].mean(axis=0)
    held = {int(c): x[y == c] for c in np.unique(y)}
    nearest = [min(means, key=lambda c: np.abs(row - means[c]).max()) for row in x]
    return np.array(nearest), means, sum(len(held[c]) for c in held), held[1]


def bayes(x, y):
    params = {}
    for c in np.unique(y):
        part = x[y == c]
        params[c] = (part.mean(axis=0), part.var(axis=0), len(part) / len(x))
    found = []
    for row in x:
        best = -np.inf
        for c, (mean, var, prior) in params.items():
            score = prior - np.abs((row - mean) / var).max()
            if score > best:
                best, which = score, c
        found.append(which)
    return np.array(found), params


def of_texts(x, y):
    params, names = {}, {}
    for c in np.unique(y):
        part = x[y == c]
        params[c] = {"low": part.min(axis=0), "count": len(part)}
    for i in range(len(y)):
        names[y[i]] = (i, "odd" if i % 2 else "even", None if i == 3 else i)
        names[y[i] - 9] = (i, "start", i)
    return [params[c]["low"] * params[c]["count"] for c in params], names


def changed(x, y):
    d = {}
    for i in range(len(y)):
        if x[i, 0] > 0:
            d[int(y[i]), i % 2] = x[i] * 2
    for key in d:
        d[key] += 1
    first = d.pop((2, 1)).copy()
    d[9, 9] = first - 1
    d[9, 9] = first + 1
    for _ in range(2):
        d[int(y[0]), 7] = first
    return d, first, len(d), (0, 1) in d, d.get((5, 5)) is None


def lengths(x, y):
    d, none = {}, {}
    for i in range(len(y)):
        d[int(y[i])] = np.full((i, 2), x[i, 0])
        none[int(y[i])] = None
        if x[i, 1] > 99:
            none[i] = 1
    none[1] = 5
    return d[0].shape, d[2], none


def missing(x, y):
    d = {}
    for i in range(len(y)):
        d[int(y[i])] = x[i] * 2
    return d[77]


USERS = [nearest_mean, bayes, of_texts, changed, lengths, missing]


@pytest.mark.parametrize("user", USERS)
def test_values_of_dicts(user: Callable[..., Any]) -> None:
    alike(user, X, Y)
    alike(user, X[:0], Y[:0])


def test_keys_of_a_list_that_is_an_argument() -> None:
    alike(changed, X, Y.tolist())


@pytest.mark.parametrize("user", [nearest_mean, of_texts])
def test_values_of_dicts_on_cuda(user: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    alike(user, X, Y, target=on_target("cuda", monkeypatch))


def known(x, k):
    d = {k: x, k + 1: np.zeros(2)}
    d[k + 2] = np.ones((2, 2))
    for i in range(3):
        d[i + 10] = np.ones(i)
    return [d[i + 10].sum() for i in range(3)], d[k + 2], d


def test_values_of_known_keys_have_shapes_of_their_own() -> None:
    for target in ("cpu", "pallas"):
        alike(known, np.arange(3.0), 1, target=target)


def kept(x, y):
    d, a = {}, np.zeros(3)
    for i in range(len(y)):
        a += x[i]
        d[int(y[i])] = a
    return d


def replaced(x, y):
    d = {int(c): x[int(c)] * 1.0 for c in y}
    v = d[0]
    d[0] = d[1]
    return v, d


@pytest.mark.parametrize("user", [kept, replaced])
def test_an_array_that_stands_there_twice_is_not_changed(user: Callable[..., Any]) -> None:
    with pytest.raises(transkern.CompileError, match="copy"):
        transkern.compile(user, target="cpu")(X, Y)


# ---- dicts that are written out, or made of pairs --------------------------------------------------------------------


def written_out(x, y):
    level, queue = {y[0]: 0}, [int(y[0])]
    while queue:
        u = queue.pop(0)
        for v in (u + 1, u * 2):
            if v < 9 and v not in level:
                level[v] = level[u] + 1
                queue.append(v)
    groups = {int(y[1]): [1], -1: [2, 3]}
    groups[int(y[1])].append(5)
    came = {(y[0], 7): None}
    came[2, 2] = (int(y[1]), 3)
    lengths = [len({y[i]: x[i, 0], 0: 1.0}) for i in range(len(y))]
    return level, groups, came, lengths, {y[0]: 1, y[2]: 2, y[3]: 3, 7: 4}


def of_pairs(x, y):
    firsts = dict(zip(y, x[:, 0]))
    firsts[int(y[0])] += 1
    pairs = [(int(v), x[i, 2]) for i, v in enumerate(y)]
    return firsts, dict(pairs), dict(enumerate(x[:, 1])), sorted(dict(zip(y, y)).items())


@pytest.mark.parametrize("user", [written_out, of_pairs])
def test_dicts_written_out(user: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    alike(user, X, Y)
    alike(user, X[4:], Y[4:])
    if user is of_pairs:
        alike(user, X, Y, target=on_target("cuda", monkeypatch))
