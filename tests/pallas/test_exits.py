"""How a function is left: a `return` anywhere, messages with numbers of any type, and objects among the results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import require

require("jax")

_X = np.array([0.5, -1.0, 3.0, np.nan, 2.0])


class Beyond(ValueError):
    pass


class Place(NamedTuple):
    row: int
    value: float


@dataclass
class Found:
    place: Place
    count: int


def from_loops(x: Any, s: float, k: int) -> Any:
    if len(x) > 6 and k > 0:
        return x[k:] * 2
    for i in range(len(x)):
        if x[i] > s:
            return i, x[i], x[: len(x) // 2], "loop"
        for j in range(i):
            if x[j] + x[i] == 2.5:
                return x
            if x[j] < -s:
                break
        if i == k:
            return None
    x[0] = 7
    y = np.cumsum(x)
    while y[0] > s:
        y = y - 1
        if y[-1] < 0:
            return y, "while"
    return y[y > 0], -1


def from_branches(x: Any, s: float, k: int) -> Any:
    total = 0.0
    if x[0] > s:
        x[1] = 5
        if k > 1:
            return x.sum()
        total = x.max()
    elif x[1] > 0:
        if len(x) == 3:
            return x[1] * 1j
        total = 2.0
    else:
        for v in x:
            if v > 2:
                return total
            total += v
    x *= 2
    return {"total": total, "kept": x[x > s]}


def found(x: Any, s: float, k: int) -> Any:
    for i in range(len(x)):
        if x[i] > s:
            return Found(Place(i, float(x[i])), i + k), x[i:] - s
    return [Place(i, 0.5 * i) for i in range(k)]


def told(x: Any, s: float, k: int) -> Any:
    best = np.float32(0)
    for i in range(len(x)):
        best = max(best, x[i].astype(np.float32))
        if x[i] > s:
            raise Beyond(f"{x[i]:.3f} > {s} at {i}: {best} {{{x[0] > 1}}} {k / 3}")
    if k > 3:
        raise Beyond("{}")
    if x[0] < -1:
        raise Beyond
    return best


@pytest.mark.parametrize("function", [from_loops, from_branches, found, told])
def test_ways_out(function: Callable[..., Any]) -> None:
    for x in (_X, _X[:3], -_X, np.arange(8.0) - 4, np.array([0.25, 1, 0])):
        for s, k in ((1.0, 2), (2.5, 1), (100.0, 4)):
            alike(function, x.copy(), s, k, target="pallas")
