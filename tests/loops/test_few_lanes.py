"""Arrays of a few elements that a loop in order changes: all of them go through one loop, as numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import source_of
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of


def smoothed(x: Any) -> Any:
    s = np.zeros(x.shape[1])
    for i in range(len(x)):
        s = 0.9 * s + x[i]
    return s


def scattered(x: Any) -> Any:
    c = np.zeros((x.shape[1], x.shape[1]))
    for v in x:
        c += np.outer(v, v)
    return c


def extremes(x: Any) -> Any:
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for i in range(len(x)):
        low = np.where(x[i] < low, x[i], low)
        high = np.maximum(high, x[i])
    return low, high


def by_element(x: Any) -> Any:
    total = np.zeros(x.shape[1])
    for i in range(0, len(x), 2):
        for k in range(x.shape[1]):
            total[k] = total[k] * x[i, k] - 1.0
    return total


FUNCTIONS = [smoothed, scattered, extremes, by_element]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_one_loop_goes_through_all_elements(function: Callable[..., Any]) -> None:
    program = program_of(source_of(function), function.__name__, f"{function.__name__}(float64[n,3])", PASSES)
    assert sum(isinstance(s, n.Loop) and s.kind == "sequential" for s in walk(program.body)) == 1


def left_behind(x: Any) -> Any:
    s = np.zeros_like(x)
    for i in range(1, len(x)):
        s[i] = 0.9 * s[i - 1] + x[i]
    return s


def of_many(x: Any) -> Any:
    out = np.zeros_like(x)
    for b in range(len(x)):
        s = np.zeros(x.shape[1])
        for t in range(12):
            s = s * 0.5 + x[b] * t
        out[b] = s
    return out


@pytest.mark.parametrize("function", [*FUNCTIONS, left_behind, of_many])
@pytest.mark.parametrize("rows", [0, 1, 2, 37])
def test_elements_have_numpys_bits(function: Callable[..., Any], rows: int) -> None:
    rng = np.random.default_rng(rows)
    x = rng.standard_normal((rows, 3))
    alike(function, x)
    alike(function, x[::-1, ::-1])
    if rows:
        x[rows // 2] = np.nan, -0.0, np.inf
    alike(function, x)
