"""Elements that a comparison with them changes are stored in any case: which, and that nothing else is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import source_of
from transkern.fuse.choices.kept import keep_elements
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of


def least(k: Any, j: Any, x: Any) -> Any:
    best = np.full(len(x), 9)
    for e in range(len(k)):
        if j[e] < best[k[e]]:
            best[k[e]] = j[e]
    return best


def greatest(k: Any, j: Any, x: Any) -> Any:
    best = np.full(len(x), -9)
    for a, b in zip(k, j, strict=True):
        if best[a] <= b:
            best[a] = b
    return best


def of_floats(k: Any, j: Any, x: Any) -> Any:
    best = np.full((len(x), 2), np.inf)
    for a, b in zip(k, j, strict=True):
        if not x[b] >= best[a, 1]:
            best[a, 1] = x[b]
    return best


def relaxed(k: Any, j: Any, x: Any) -> Any:
    d = np.full(len(x), np.inf)
    d[0] = 0.0
    for _ in range(3):
        for e in range(len(k)):
            if d[k[e]] + x[e % len(x)] < d[j[e]]:
                d[j[e]] = d[k[e]] + x[e % len(x)]
    return d


def in_an_argument(k: Any, j: Any, x: Any) -> Any:
    for e in range(len(k)):
        if x[k[e]] > x[j[e]]:
            x[k[e]] = x[j[e]]


def another_one(k: Any, j: Any, x: Any) -> Any:
    best = np.zeros(len(x))
    for e in range(len(k)):
        if best[k[e]] < x[j[e]]:
            best[j[e]] = x[j[e]]
    return best


def what_may_not_be_there(k: Any, j: Any, x: Any) -> Any:
    best = np.zeros(len(x))
    for e in range(len(k)):
        if best[k[e]] < e:
            best[k[e]] = x[e]
    return best


CASES = {
    least: True, greatest: True, of_floats: True, relaxed: True,
    in_an_argument: False, another_one: False, what_may_not_be_there: False,
}


@pytest.mark.parametrize(("function", "changes"), CASES.items(), ids=lambda f: getattr(f, "__name__", ""))
def test_before_and_after(function: Any, changes: bool) -> None:
    k = PASSES.index(keep_elements)
    types = f"{function.__name__}(int64[n], int64[m], float64[p])"
    before = program_of(source_of(function), function.__name__, types, PASSES[:k])
    after = keep_elements(before)
    assert (after != before) == changes
    if changes:
        stores = [x for s in walk(after.body) if isinstance(s, n.If) for x in walk((s,)) if isinstance(x, n.Store)]
        assert not stores


@pytest.mark.parametrize("function", CASES, ids=lambda f: f.__name__)
def test_answers_and_errors(function: Any) -> None:
    compiled = transkern.compile(function, target="cpu")
    rng = np.random.default_rng(3)
    for size, count in ((1, 0), (1, 3), (6, 40), (6, 7)):
        k, j = rng.integers(-size, size, (2, count))
        x = rng.choice([0.5, -1.0, np.nan, -0.0, 0.0, np.inf, 2.0], size=size)
        mine, theirs = x.copy(), x.copy()
        if function is what_may_not_be_there and count > size:
            with pytest.raises(IndexError):
                function(k, j, theirs)
            with pytest.raises(IndexError):
                compiled(k, j, mine)
            continue
        np.testing.assert_array_equal(compiled(k, j, mine), function(k, j, theirs))
        np.testing.assert_array_equal(mine, theirs)
