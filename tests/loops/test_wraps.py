"""Loops over subscripts that go round (`fuse/scalars/wraps.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import require

require("cc")


def rolled(x: Any, k: int) -> Any:
    return np.roll(x, k)


def two_rolls(x: Any, k: int) -> Any:
    return np.roll(x, k) + np.roll(x, -2 * k) * np.roll(x, 1)


def planes(x: Any, k: int) -> Any:
    a = np.outer(x, np.arange(5.0))
    return np.roll(np.roll(a, k, 0), -k, 1), np.roll(a, (k, 2), (0, 1)), np.roll(a, k)


def by_hand(x: Any, k: int) -> Any:
    out = np.zeros_like(x)
    for j in range(len(x)):
        if x[(j + k) % len(x)] > 1:
            out[j] = x[(j + k) % len(x)] - x[j]
        else:
            out[(j + k) % len(x)] = 7
    return out


def summed(x: Any, k: int) -> Any:
    total = 0.0
    for j in range(len(x)):
        total = total * 0.5 + x[(k + j) % len(x)]
    return total


def around(x: Any, k: int) -> Any:
    return [np.sum(x * np.roll(x, s)) for s in range(k)]


def beyond(x: Any, k: int) -> Any:
    return np.array([x[(j + k) % len(x)] for j in range(2 * len(x))])


def in_place(x: Any, k: int) -> Any:
    for j in range(len(x)):
        x[j] += x[(j + k) % len(x)]
    return x


@pytest.mark.parametrize("function", [rolled, two_rolls, planes, by_hand, summed, around, beyond, in_place])
def test_subscripts_that_go_round(function: Any) -> None:
    for size in (0, 1, 2, 7, 40):
        for k in (0, 1, -1, 3, size, -size, 2 * size + 5, -1000, 2**40):
            if function is not around or 0 <= k < 100:
                alike(function, np.arange(size) % 6 - 1.0, k)


def test_one_division_a_loop() -> None:
    for function in (rolled, around):
        text = transkern.compile(function, target="cpu").emit(types="f(float64[n],int)")
        stores = [line for line in text.splitlines() if "[" in line and ("shift" in line or "roll" in line)]
        assert stores and not any("%" in line or "floor" in line or "mod_" in line for line in stores)
