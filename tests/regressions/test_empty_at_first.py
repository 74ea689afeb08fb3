"""Lists that are changed or read above what appends to them in a loop, on the way to where they have elements.

The first translation of such a loop sees a list of no type: what it stores, deletes or takes was an inner error, or was
refused, or compiled for one number of iterations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike


def stored(x: Any, n: int) -> Any:
    found: list[int] = []
    for _ in range(n):
        if found:
            for r in np.argsort(x[:3]):
                found[r] = 0
        for _ in range(3):
            found.append(1)
    return found


def deleted(x: Any, n: int) -> Any:
    ids, missed = [], []
    for t in range(n):
        for r in np.flatnonzero(x[: len(ids)] > 0)[::-1]:
            missed[r] += 1
            if missed[r] > 2:
                del ids[r], missed[r]
        for _ in range(3):
            ids.append(t)
            missed.append(0)
    return ids, missed


def popped(x: Any, n: int) -> Any:
    left = []
    for _ in range(n):
        for r in range(len(left) - 1, -1, -1):
            if x[r] > 0:
                left.pop(r)
        for c in range(5):
            left.append(c * 1.5)
    return left


def several(x: Any, n: int) -> Any:
    one, other = [], []
    for t in range(n):
        k = int(x[t] * 3) % 4
        if k < len(one):
            one[k] += 1
            other[k] *= 2
            one.reverse()
            one.insert(k, 9)
            one.remove(9)
        one.append(t)
        other.append(x[t])
    return one, other


def of_tuples(x: Any, n: int) -> Any:
    pairs, total = [], 0
    for t in range(n):
        k = int(abs(x[t]) * 3)
        if k < len(pairs):
            a, b = pairs[k]
            total += a * b
            pairs[k] = (a + 1, b)
        pairs.append((t, 2))
    return pairs, total


def of_arrays(x: Any, n: int) -> Any:
    at, ids = [], []
    for t in range(n):
        for r in np.flatnonzero(x[: len(ids)] > 0)[::-1]:
            at[r] = 0.5 * at[r] + np.ones(2) * t
            if t % 3 == 2:
                del ids[r], at[r]
        at.append(np.zeros(2))
        ids.append(t)
    return at, ids


def never(x: Any, n: int) -> Any:
    nothing: list[int] = []
    k = int(x[0] * 3)
    if n == 1:
        nothing.pop(k)
    elif n == 6:
        del nothing[k]
    elif n == 9:
        return nothing[k]
    return nothing


@pytest.mark.parametrize("function", [stored, deleted, popped, several, of_tuples, of_arrays, never])
def test_is_pythons(function: Callable[..., Any]) -> None:
    for seed, n in enumerate((0, 1, 6, 9)):
        alike(function, np.random.default_rng(seed).standard_normal(60), n)


def windows(xy: Any, depth: Any) -> Any:
    kept = np.zeros((8, 8))
    for corners, z in zip(xy, depth, strict=True):
        low = np.clip(np.floor(corners.min(axis=0)).astype(int), 0, 7)
        high = np.clip(np.ceil(corners.max(axis=0)).astype(int) + 1, 1, 8)
        rows, columns = np.mgrid[low[1] : high[1], low[0] : high[0]]
        window = kept[low[1] : high[1], low[0] : high[0]]
        seen = (rows + columns < z) & (window < z)
        window[seen] = (rows * z - columns)[seen]
    return kept


def test_small_arrays_that_say_how_large_others_are() -> None:
    """`contract_temporaries` made scalars of them, and left their names in the sizes."""
    random = np.random.default_rng(2)
    alike(windows, random.uniform(-1, 9, (12, 3, 2)), random.uniform(1, 9, 12))
