"""Searches that begin with an infinity, which is a float of Python's, among NumPy's integers."""

from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target


def smallest(c: Any) -> Any:
    least = np.inf
    for v in c:
        least = min(least, v)
    return least


def both_ends(c: Any) -> Any:
    low, high = float("inf"), float("-inf")
    for k in range(len(c)):
        low = min(low, c[k])
        high = max(c[k] // 2, high)
    return low, high, high - low


def added_up(c: Any) -> Any:
    left, total = np.zeros_like(c), 0
    for _ in range(3):
        step = np.inf
        for k in range(len(c)):
            step = min(step, c[k] - left[k])
        for k in range(len(c)):
            left[k] += step
        total += step
    return total, left


def by_comparison(c: Any) -> Any:
    best, where = np.inf, -1
    for k in range(len(c)):
        if c[k] < best:
            best, where = c[k], k
    return best, where


def some_alone(c: Any) -> Any:
    best = -np.inf
    for v in c:
        if v > 4:
            best = max(best, v)
    return best


def of_each(c: Any) -> Any:
    found = []
    for i in range(len(c)):
        nearest = np.inf
        for j in range(len(c)):
            if j != i:
                nearest = min(nearest, abs(c[i] // 2 - c[j] // 2))
        found.append(nearest)
    return found


def other_bounds(c: Any) -> Any:
    low, high, third = 1.5, -np.inf, np.inf
    for k in range(len(c)):
        low = min(low, c[k])
        high = min(high, c[k])  # stays as it is
        if k == 1:
            third = -0.5
        third = max(third, c[k])
    return low, high, third


def from_the_end(c: Any) -> Any:
    k, best = len(c), -np.inf
    while k > 0:
        k -= 1
        best = max(best, c[k], c[k] // 3)
    return best


def as_integer(c: Any) -> Any:
    best = np.inf
    for v in c:
        if v != 3:
            best = v
    return int(best) if best < 1e19 else 0


def from_zero(c: Any) -> Any:
    best, first = 0.0, -1
    for k in range(len(c)):
        if c[k] > best:
            best = c[k]
        if best > 6 and first < 0:
            first = k
    return best, first, best // 2, -best


FUNCTIONS = [
    as_integer, from_zero, smallest, both_ends, added_up, by_comparison, some_alone, of_each, other_bounds, from_the_end,
]  # fmt: skip
INPUTS = [
    np.array([5, 3, 9]), np.array([2**62 + 1, 2**62 + 3, 2**61]), np.array([5, 3, 9], "int16"), np.array([], int),
    np.array([7], "uint8"), np.array([-3, -8], "int32"),
]  # fmt: skip


@pytest.mark.parametrize("target", ["cpu", "cuda"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_alike(function: Any, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    if target == "cuda" and function is of_each:
        pytest.skip("what the caller is to see of each element is for the CPU")
    for c in INPUTS if target == "cpu" else INPUTS[:3]:
        if function is of_each and c.dtype == int and c.max(initial=0) > 2**53:
            continue  # integers among floats in a list, which says so
        alike(function, c, target=target)
