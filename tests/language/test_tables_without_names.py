"""Dicts that are written where a key is looked up in them; extremes of a number and all that is in a list."""

from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target


def points(x: Any) -> Any:
    n = int((x > 0).sum())
    return {1: 40, 2: 100, 3: 300}.get(n, 0)


def names_of_counts(x: Any) -> Any:
    found = []
    for v in x:
        found.append({0: 0.5, 1: 1.5, -2: 7.0}.get(int(v), -1.0))
    return np.array(found)


def whether_in(x: Any) -> Any:
    n = int((x > 0).sum())
    return n in {1: 2, 3: 4}, n not in {k: k for k in range(2)}, {k * k: k for k in range(4)}.get(n)


def pairs(x: Any) -> Any:
    i, j = int(x[0]), int(x[-1])
    return {(0, 0): 1.0, (1, 2): 2.0}.get((i, j), 3.0) + ((i, j) in {(1, 1): 0, (0, 0): 1})


def busiest(x: Any) -> Any:
    free = [0.0]
    for v in x:
        if v > 0:
            free.append(v)
    return 3 / (1 + max(0, *free)), min(5, 7.5, *free)


def of_array(x: Any) -> Any:
    return max(0, *x), min(0.5, *x), max(np.float32(1), 2, *x)


def none_left(x: Any) -> Any:
    e = []
    for v in x:
        if v > 5:
            e.append(float(v))
    return max(1, *e)


def joined(x: Any) -> Any:
    index: Any = {}
    for j, k in enumerate(x):
        index.setdefault(int(k), []).append((j, float(k)))
    found, total = [], 0.0
    for k in x[::-1]:
        for j, v in index.get(int(k) + 1, ()):
            found.append((j, v))
        total += sum(v for _, v in index.get(int(k), ()))
    return found, total


INPUTS = [[1.0, 2.0, -1.0], [1.0, 6.5, 1.0], [-1.0, -0.0], [0.0], [1.0, 2.0]]


@pytest.mark.parametrize("target", ["cpu", "cuda"])
@pytest.mark.parametrize(
    "function", [points, names_of_counts, whether_in, pairs, busiest, of_array, none_left, joined]
)
def test_alike(function: Any, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    for values in INPUTS:
        alike(function, np.array(values), target=target)


def test_no_numbers() -> None:
    """NaN is neither greater nor less, wherever it stands."""
    for values in ([np.nan, 1.0], [1.0, np.nan], [-0.0, 0.0], [np.nan]):
        alike(of_array, np.array(values))
        alike(busiest, np.array(values))
