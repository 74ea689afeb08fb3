"""Arrays that shrink in a loop and hold positions in what another shrinking array has found: nobody knows how many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target, require

RNG = np.random.default_rng(4)
VALUES = (np.arange(5.0)[::-1] - 1, np.zeros(0), np.array([3.0]), RNG.normal(size=30) * 4, np.array([2.0, np.nan, 1.0]))


def of_records(x: Any) -> Any:
    """Records from below, and of these such that are not close to one that is kept."""
    found = []
    rest = np.argsort(x, kind="stable")
    while rest.size:
        best = rest[0]
        found.append(int(best))
        rest = rest[1:]
        rest = rest[x[rest] < x[best]]
    v = x[np.array(found, dtype=int)]
    left = np.flatnonzero(v > 0)
    kept = []
    while left.size > 0:
        i = left[0]
        kept.append(i)
        left = left[1:]
        left = left[np.abs(v[left] - v[i]) > 1]
    return v, kept


def twice(x: Any) -> Any:
    """Of nothing, too: what a loop over nothing divides by is 0, where it computes its range before it begins."""
    kept = []
    for k in range(3):
        kept.append(x[k % max(len(x), 1) :].sum())
    v = np.array(kept)[np.array(kept) > 0]
    left = np.nonzero(v > 0.5)[0]
    while len(left) > 1:
        left = left[1:][v[left[1:]] > v[left[0]]]
    return v, left


@pytest.mark.parametrize("target", ["cpu", "cuda"])
@pytest.mark.parametrize("function", [of_records, twice])
def test_as_numpy(function: Any, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    require("cc")
    for values in VALUES:
        alike(function, values, target=on_target(target, monkeypatch))
