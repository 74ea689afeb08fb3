"""Filters of the same elements (`fuse/filters/kept.py`), and conditions asked ahead
(`targets/cpu/printing/filters.py`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.fuzz.meeting import program_of
from tests.regressions.support import alike
from tests.tools import on_target, require
from transkern import pipeline
from transkern.ir import nodes as n
from transkern.ir.traverse import walk

require("cc")


def peaks(x: Any, t: float) -> Any:
    middle = x[1:-1]
    at = np.where((middle > x[:-2]) & (middle > x[2:]) & (middle > t))[0] + 1
    return at, x[at], np.diff(at).sum(), len(at)


def both_sides(x: Any, t: float) -> Any:
    large = x[x > t]
    small = x[x <= t]
    again = x[x > t] * 2
    return large, small, again, np.flatnonzero(x > t)


def changed_between(x: Any, t: float) -> Any:
    first = x[x > t]
    x[::3] = t + 1
    return first, x[x > t], np.flatnonzero(x > t)


def one_changed(x: Any, t: float) -> Any:
    first, second = x[x > t], x[x > t]
    first += 1
    return first, second, x[x > t]


def shrinking(x: Any, t: float) -> Any:
    rest = x.copy()
    taken = []
    while len(rest) > 2:
        taken.append(rest[0])
        rest = rest[1:][np.abs(rest[1:] - rest[0]) > t]
    return np.array(taken), rest


def roots(x: Any, t: float) -> Any:
    keep = np.sqrt(np.abs(x)) > t
    return x[keep] / (np.abs(x[keep]) + 1), np.floor(x[keep] * 3), keep.sum()


def appended(x: Any, t: float) -> Any:
    found, at = [], []
    for i in range(len(x)):
        v = x[i] * x[i]
        if v > t:
            found.append(v + 1)
            at.append(i)
    return np.array(found), np.array(at)


FUNCTIONS = [peaks, both_sides, changed_between, one_changed, shrinking, roots, appended]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_values_of_many_lengths(function: Callable[..., Any]) -> None:
    for size in (3, 4, 255, 256, 257, 258, 259, 700):
        x = (np.arange(size) * 7919 % 101 - 50) / 8
        x[size // 2] = np.nan
        for t in (0.5, -100.0, 100.0, 5.9):
            alike(function, x, t)
    alike(function, np.array([-0.0, 0.0, np.inf, -np.inf, 1.0]), -1.0)


@pytest.mark.parametrize("function", [both_sides, changed_between, one_changed, peaks])
@pytest.mark.parametrize("target", ["cuda", "pallas"])
def test_values_elsewhere(function: Callable[..., Any], target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if function is peaks and target == "pallas":
        pytest.skip("its positions are 64 bits wide")
    on_target(target, monkeypatch)
    alike(function, ((np.arange(40) * 7919 % 101 - 50) / 8).astype(np.float32), np.float32(0.5), target=target)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int64, np.float32, np.uint64])
def test_types(kind: Any) -> None:
    x = (np.arange(600) * 7919 % 101).astype(kind)
    alike(both_sides, x, 50)
    alike(peaks, x, 60)


@pytest.mark.parametrize(("function", "filters"), [(peaks, 1), (changed_between, 2), (one_changed, 1)])
def test_each_condition_is_asked_once(function: Callable[..., Any], filters: int) -> None:
    program = program_of(function, (np.zeros(9), 0.5), pipeline.passes_for("cpu"))
    assert sum(isinstance(s, n.Compact) for s in walk(program.body)) == filters
