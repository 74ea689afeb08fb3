"""Loops in order whose range moves from lane to lane: triangles, suffixes, windows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import source_of
from transkern.fuse.lanes.blocks import block_lanes
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of


def lags(x: Any, k: int) -> Any:
    out = np.zeros(k)
    for lag in range(k):
        for i in range(len(x) - lag):
            out[lag] += x[i] * x[i + lag]
    return out


def ahead(x: Any, k: int) -> Any:
    out = np.zeros(k)
    for i in range(min(k, len(x))):
        s = 1.0
        for j in range(i, len(x)):
            s = s * 0.75 + x[j - i] * x[j]
        out[i] = s
    return out


def windows(x: Any, k: int) -> Any:
    out = np.zeros(len(x))
    for i in range(k, len(x) - k):
        s = 0.0
        for j in range(i - k, i + k + 1):
            s += x[j] * (j - i)
        out[i] = s
    return out


def steeper(x: Any, k: int) -> Any:
    out = np.zeros(k)
    for i in range(k):
        best = -1.0
        for j in range(min(3 * i, len(x))):
            if x[j] > best:
                best = x[j]
        out[i] = best
    return out


def triangle(x: Any, k: int) -> Any:
    m = min(k, 40)
    a = np.zeros((m, m))
    for i in range(m):
        for j in range(m):
            a[i, j] = x[(i * 7 + j * j) % len(x)]
    out = np.zeros((m, m))
    for i in range(m):
        for j in range(i + 1):
            s = 0.0
            for t in range(j):
                s += a[i, t] * a[j, t]
            out[i, j] = s
    return out


def of_bytes(x: Any, k: int) -> Any:
    out = np.zeros(k, np.int32)
    b = (np.nan_to_num(x) * 100).astype(np.int16)
    for lag in range(k):
        s = np.int32(0)
        for i in range(len(b) - lag):
            if b[i] > b[i + lag]:
                s += b[i]
        out[lag] = s
    return out


def from_a_place_that_moves(x: Any, k: int) -> Any:
    out = np.zeros(k)
    for i in range(k):
        p, s = i % len(x), 0.0
        for j in range(p, p + 3):
            s += x[j % len(x)] * p
            p += 1
        out[i] = s
    return out


FUNCTIONS = (lags, ahead, windows, steeper, triangle, of_bytes, from_a_place_that_moves)


@pytest.mark.parametrize("function", (lags, ahead, windows, triangle), ids=lambda f: f.__name__)
def test_they_go_in_lanes(function: Any) -> None:
    passes = PASSES[: PASSES.index(block_lanes) + 1]
    program = program_of(source_of(function), function.__name__, f"{function.__name__}(float64[n], int)", passes)
    inner = [s for s in walk(program.body) if isinstance(s, n.Loop) and s.axis.startswith("lane")]
    assert inner


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_pythons_bits(function: Any) -> None:
    compiled = transkern.compile(function, target="cpu")
    rng = np.random.default_rng(2)
    for size in (1, 2, 15, 16, 17, 33, 70):
        x = rng.standard_normal(size)
        for k in (0, 1, 5, 16, 31, 40):
            np.testing.assert_array_equal(compiled(x, k), function(x, k))
    x[3], x[40], x[41], x[60] = np.nan, np.inf, -0.0, -np.inf
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(compiled(x, 37), function(x, 37))
