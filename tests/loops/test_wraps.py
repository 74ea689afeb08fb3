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
        loads = [line for line in text.splitlines() if "x[" in line and ("shift" in line or "roll" in line)]
        assert loads and not any("%" in line or "floor" in line or "mod_" in line for line in loads)


def energy(x: Any, y: Any) -> Any:
    return (x * (np.roll(x, 1, 0) + np.roll(x, 1, 1))).sum(), (x != np.roll(x, -1, axis=1)).sum(), x.mean()


def extremes(x: Any, y: Any) -> Any:
    d = np.abs(x - np.roll(x, 2, 1))
    return d.sum(), (d > 3).any(), (d < 5).all(), np.abs(x - np.roll(x, 1, 0)).sum()


def moved(x: Any, y: Any) -> Any:
    lap = np.roll(x, 1, 0) + np.roll(x, -1, 0) + np.roll(x, 1, 1) + np.roll(x, -1, 1) - 4 * x
    w = 2 * x - y + lap
    return w, (w**2).sum()


def along_rows(x: Any, y: Any) -> Any:
    d = np.abs(x - np.roll(y, -1, 1))
    return (x * np.roll(x, 1, 1)).sum(axis=1), (d > 2).sum(axis=1), d.max(axis=1), (x <= np.roll(x, 1, 1)).any(axis=1)


def along_columns(x: Any, y: Any) -> Any:
    return (x * np.roll(x, 1, 0)).sum(axis=0), (x + np.roll(y, 1, 1)).sum(axis=0)


@pytest.mark.parametrize("function", [energy, extremes, moved, along_rows, along_columns])
def test_reductions_of_what_goes_round(function: Any) -> None:
    rng = np.random.default_rng(0)
    for shape in ((3, 70), (70, 5), (1, 1), (2, 2), (1, 40), (17, 1), (40, 64)):
        x, y = (rng.integers(-4, 5, shape).astype(float) for _ in range(2))
        alike(function, x, y)
        alike(function, x.astype(np.int8), y.astype(np.int8))


def test_what_is_between_borders_does_not_go_round() -> None:
    for function in (energy, moved):
        text = transkern.compile(function, target="cpu").emit(types="f(float64[n,m], float64[n,m])")
        lines = [line for line in text.splitlines() if "part +=" in line]
        assert lines and not any("mod_" in line for line in lines)
