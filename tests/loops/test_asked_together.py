"""Checks of places that are asked together, where places are made (`fuse/checks/together.py`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import require, source_of
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of

require("cc")


def corners(f: Any, x: Any, y: Any) -> Any:
    i, j = np.floor(x).astype(int), np.floor(y).astype(int)
    u, v = x - i, y - j
    return (1 - u) * (1 - v) * f[i, j] + u * (1 - v) * f[i + 1, j] + (1 - u) * v * f[i, j + 1] + u * v * f[i + 1, j + 1]


def walked(f: Any, x: Any, y: Any) -> Any:
    k = np.floor(x).astype(int)
    w = f[k, 0]
    m = (k * 3 + np.floor(y * 2).astype(int)) % 4
    return w * f[m, k] + f[k - m, 1]


def looked_up(f: Any, x: Any, y: Any) -> Any:
    k = np.floor(np.sin(x) * 4).astype(int)
    order = k[np.abs(np.floor(y).astype(int))]  # places that places choose
    return f[order, 1] + k


def stored_first(f: Any, x: Any, y: Any) -> Any:
    k = np.floor(x).astype(int)
    f[k, 0] = 7.0
    return f[k + 1, 0] + y


def made_again(f: Any, x: Any, y: Any) -> Any:
    k = np.floor(x).astype(int)
    w = f[k, 1]
    k += np.floor(y).astype(int)
    v = f[k, 0]
    k -= 2
    return f[k, 2] * w + v


@pytest.mark.parametrize("function", [corners, walked, looked_up, stored_first, made_again])
def test_values_and_errors_are_numpys(function: Callable[..., Any]) -> None:
    random = np.random.default_rng(0)
    f = random.standard_normal((7, 8))
    for size in (0, 1, 5, 300):
        x, y = random.random(size) * 4, random.random(size) * 4
        alike(function, f, x, y)
        for axis, bad in ((0, 6.5), (0, -8.5), (1, 7.5), (1, 99.0), (0, -7.5), (1, -8.1)):  # the first error counts
            if size:
                p, q = x.copy(), y.copy()
                (p, q)[axis][size // 2] = bad
                alike(function, f, p, q)
                (p, q)[1 - axis][size // 3] = 70.0
                alike(function, f, p, q)


@pytest.mark.parametrize("function, asked", [(corners, 4), (stored_first, 1), (looked_up, 1)])
def test_what_is_asked_together(function: Callable[..., Any], asked: int) -> None:
    types = f"{function.__name__}(float64[n,m], float64[k], float64[k])"
    program = program_of(source_of(function), function.__name__, types, PASSES)
    loops = [s for s in walk(program.body) if isinstance(s, n.Loop)]
    questions = [[x for x in s.body if isinstance(x, n.Accumulate) and x.op == "any"] for s in loops]
    assert max(map(len, questions)) == asked
