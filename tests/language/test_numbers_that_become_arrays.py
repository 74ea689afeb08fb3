"""A number before a loop that is an array from the first iteration on: that one is translated by itself."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target


def advantages(x: Any, k: int) -> Any:
    last = 0
    out = np.zeros((len(x), 3))
    for t in reversed(range(len(x))):
        out[t] = last = x[t] * 2 + 0.5 * last
    return out


def summed(x: Any, k: int) -> Any:
    total = 0
    for row in x:
        total = total + row
    return total


def weighted(x: Any, k: int) -> Any:
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i] * i
    return total, np.sum(total)


def while_there_are_some(x: Any, k: int) -> Any:
    i = v = 0
    out = np.zeros(len(x))
    while i < len(x):
        v = x[i] - 0.5 * v
        out[i] = v.sum()
        i += 1
    return out


def left_early(x: Any, k: int) -> Any:
    v = 1
    out = np.zeros(len(x))
    for i in range(len(x)):
        v = v * x[i]
        out[i] = v[0]
        if v[0] > k:
            break
    return out


def two_moments(x: Any, k: int) -> Any:
    m = v = 0
    out = np.zeros_like(x)
    for t in range(len(x)):
        m = 0.5 * m + 0.5 * x[t]
        v = 0.25 * v + 0.75 * x[t] ** 2
        out[t] = m / (np.sqrt(v) + 1)
    return out


def as_often_as_asked(x: Any, k: int) -> Any:
    v, out = 1, []
    for i in range(k):
        v = v * x[i % 3] + 1
        out.append(v.sum())
    return np.array(out)


def of_planes(x: Any, k: int) -> Any:
    a = 1.0
    for i in range(k):
        a = a * np.outer(x[i % 3], x[0])
        if i % 2:
            continue
        a = a + i
    return a


FUNCTIONS = (
    advantages, summed, weighted, while_there_are_some, left_early, two_moments, as_often_as_asked, of_planes,
)  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_as_numpy_has_it(function: Callable[..., Any]) -> None:
    rng = np.random.default_rng(0)
    for n in (40, 3, 4):
        for k in (2, 1, 0, 70):
            alike(function, rng.integers(-3, 4, (n, 3)).astype(float), k)
    for n in (0, 1, 2):
        if function not in (as_often_as_asked, of_planes):
            alike(function, rng.integers(-3, 4, (n, 3)).astype(float), 2)


@pytest.mark.parametrize("target", ["cuda", "pallas"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_on_other_targets(function: Callable[..., Any], target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    alike(function, np.random.default_rng(0).integers(-3, 4, (7, 3)).astype(float), 5, target=target)
