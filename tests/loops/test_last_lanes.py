"""The last lanes of a row are as many as the ones before: some go through their loop twice, where nobody can tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import source_of
from transkern.fuse.lanes.blocks import block_lanes
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of, run


def apart(a: Any, b: Any) -> Any:
    out = np.empty((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s = s + abs(a[i, k] - b[k, j])
            out[i, j] = s
    return out


def steps(a: Any, b: Any) -> Any:
    out = np.zeros_like(b)
    for j in range(b.shape[1]):
        s, last = a[0, 0], 0
        for k in range(b.shape[0]):
            s = s * 0.5 + b[k, j]
            last = k if s > 1.0 else last
        out[last, j] = s
    return out


def begun(a: Any, b: Any) -> Any:
    out = np.empty((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        out[i] = 1.5
        for k in range(a.shape[1]):
            out[i] = out[i] * b[k] + a[i, k]
    return out


def in_place(a: Any, b: Any) -> Any:
    for j in range(b.shape[1]):
        s = 0.0
        for k in range(b.shape[0]):
            s = s * 0.5 + b[k, j]
            b[k, j] = s
    return b


def added(a: Any, b: Any) -> Any:
    for j in range(b.shape[1]):
        for k in range(1, b.shape[0]):
            b[0, j] = b[0, j] * 0.5 + b[k, j]
    return b


def summed(a: Any, b: Any) -> Any:
    t = np.zeros(b.shape[1], np.int64)
    for j in range(b.shape[1]):
        for k in range(b.shape[0]):
            t[j] = t[j] * 3 + (b[k, j] > 0)
    return t.sum()


TWICE: list[Callable[..., Any]] = [apart, begun]
ONCE: list[Callable[..., Any]] = [in_place, added]


@pytest.mark.parametrize("function", [*TWICE, *ONCE, steps, summed])
def test_rows_of_any_length(function: Callable[..., Any]) -> None:
    for columns in (1, 15, 17, 33, 46, 64, 70, 93, 126):
        rng = np.random.default_rng(columns)
        a, b = rng.integers(-4, 4, (5, 7)) / 8, rng.integers(-4, 4, (7, columns)) / 8
        b[3, columns // 2], b[0, 0] = np.nan, -0.0
        alike(function, a, b)


@pytest.mark.parametrize("function", [*TWICE, *ONCE])
def test_only_what_may_run_again_does(function: Callable[..., Any]) -> None:
    types = f"{function.__name__}(float64[n,m], float64[m,p])"
    passes = PASSES[: PASSES.index(block_lanes) + 1]
    program = run(program_of(source_of(function), function.__name__, types, ()), passes)
    moved = [s.name for s in walk(program.body) if isinstance(s, n.Let) and s.name.endswith("_at")]
    assert bool(moved) == (function in TWICE)
