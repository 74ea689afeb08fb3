"""Loops over windows that the ends of an array cut: of run-time width, in ranges, slices and names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import source_of
from transkern.fuse.loops.windows import split_windows
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of


def ranges(x: Any, r: int) -> Any:
    out = np.zeros(len(x))
    for i in range(len(x)):
        s = 0.0
        for j in range(max(0, i - r), min(len(x), i + r + 1)):
            s += x[j] * (j - i)
        out[i] = s
    return out


def named(x: Any, r: int) -> Any:
    out = np.zeros(len(x))
    for i in range(len(x)):
        low = i - r if i > r else 0
        high = min(i + r, len(x) - 1)
        s = 0.0
        for j in range(low, high + 1):
            s = max(s, x[j])
        out[i] = s + (high - low)
    return out


def slices(x: Any, r: int) -> Any:
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = np.sum(x[max(i - r, 0) : i + r + 1])
    return out


def one_sided(x: Any, r: int) -> Any:
    return np.array([x[max(0, i - r) : i + 1].max() for i in range(len(x))]) if r >= 0 else x


def full(x: Any, r: int) -> Any:
    h = np.arange(1.0, max(r, 0) + 2)
    out = np.zeros(len(x) + len(h) - 1)
    for i in range(len(out)):
        s = 0.0
        for k in range(max(0, i - len(h) + 1), min(i + 1, len(x))):
            s += x[k] * h[i - k]
        out[i] = s
    return out


def in_a_plane(x: Any, r: int) -> Any:
    a = x[: len(x) // 3 * 3].reshape(-1, 3)
    out = np.zeros(a.shape)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            window = a[max(0, i - r) : min(a.shape[0], i + r + 1), max(0, j - 1) : min(a.shape[1], j + 2)]
            out[i, j] = window.sum()
    return out


FUNCTIONS = (ranges, named, slices, one_sided, full, in_a_plane)


@pytest.mark.parametrize("function", (ranges, slices, full), ids=lambda f: f.__name__)
def test_most_windows_are_equally_long(function: Any) -> None:
    passes = PASSES[: PASSES.index(split_windows) + 1]
    program = program_of(source_of(function), function.__name__, f"{function.__name__}(float64[n], int)", passes)
    assert any(isinstance(s, n.Let) and s.name.startswith("i_low") for s in walk(program.body))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_pythons_answer(function: Any) -> None:
    compiled = transkern.compile(function, target="cpu")
    rng = np.random.default_rng(3)
    for size in (1, 3, 16, 33, 100):
        x = rng.standard_normal(size)
        for r in (0, 1, 4, 15, 16, 60, 200, -1, -3):
            np.testing.assert_allclose(compiled(x, r), function(x, r), rtol=1e-13, atol=1e-13)
    x[7], x[50], x[98] = np.nan, np.inf, -np.inf
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(compiled(x, 3), function(x, 3), rtol=1e-13, atol=1e-13)
