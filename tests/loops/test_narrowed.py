"""Conditions on a loop's variable are its range, and sums of what is nothing elsewhere are sums over less."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import source_of
from transkern.fuse.choices.ranges import narrow_ranges
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import exprs, walk
from transkern.pipeline import program_of


def windows(x: Any, w: Any, h: int) -> Any:
    out = np.zeros(len(x))
    for i in range(len(x)):
        s = 0.0
        for j in range(len(w)):
            if i + j - h >= 0 and i + j - h < len(x):
                s += x[i + j - h] * w[j]
        out[i] = s
    return out


def mirrored(x: Any, w: Any, h: int) -> Any:
    out = np.full(len(x), -0.0)
    for i in range(len(x)):
        for j in range(len(w)):
            at = h - j + i
            if len(x) > at >= 0 and h > -20:
                out[i] += x[at] * w[j]
    return out


def beside_data(x: Any, w: Any, h: int) -> Any:
    out = np.zeros(len(x))
    for i in range(len(x)):
        for j in range(len(w)):
            if j < h and w[j] > 0 and j <= i:
                out[i] += x[i - j]
    return out


def masked(x: Any, w: Any, h: int) -> Any:
    i, j = np.arange(len(x))[:, None], np.arange(len(w))
    return np.where(i - j >= h, x[:, None] * w, 0.0).sum(axis=1)


def correlated(x: Any, w: Any, h: int) -> Any:
    return np.concatenate([np.correlate(x, w, "full"), np.convolve(x, w, "same")])


def in_full(x: Any, w: Any, h: int) -> Any:
    return np.correlate(x, w, "full") * h


def in_a_plane(x: Any, w: Any, h: int) -> Any:
    a = x[: len(x) // 4 * 4].reshape(-1, 4)
    out = np.zeros(a.shape)
    for i in range(a.shape[0]):
        for j in range(4):
            for p in range(-h, h + 1):
                for q in range(-h, h + 1):
                    if 0 <= i + p < a.shape[0] and 0 <= j + q < 4:
                        out[i, j] = max(out[i, j], a[i + p, j + q])
    return out


FUNCTIONS = (windows, mirrored, beside_data, masked, correlated, in_a_plane)


@pytest.mark.parametrize("function", (windows, mirrored, beside_data, in_full), ids=lambda f: f.__name__)
def test_before_and_after(function: Any) -> None:
    """Before: an iteration asks; after: the range says it, but for what data say, and what none of them decides."""
    k = PASSES.index(narrow_ranges)
    types = f"{function.__name__}(float64[n], float64[m], int)"
    before = program_of(source_of(function), function.__name__, types, PASSES[:k])
    after = narrow_ranges(before)
    assert after != before

    def asked(program: n.Program) -> int:
        loops = [s for s in walk(program.body) if isinstance(s, n.Loop) and not _has_loops(s)]
        conditions = sum(isinstance(x, n.If) for s in loops for x in walk(s.body))
        chosen = [e for s in loops for e in exprs(s.body) if getattr(e, "op", "") == "where"]
        return conditions + sum(e.dtype.startswith("float") for e in chosen)

    assert asked(before)
    assert (asked(after) > 0) == (function is beside_data)


def _has_loops(s: n.Loop) -> bool:
    return any(isinstance(x, n.Loop) for x in walk(s.body))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_numpy_s_answers(function: Any) -> None:
    compiled = transkern.compile(function, target="cpu")
    for size, width in ((1, 1), (1, 5), (4, 2), (9, 3), (9, 12), (70, 4)):
        rng = np.random.default_rng(size)
        x = rng.choice([0.5, -0.25, 1.0, -0.0, 3.0, np.nan if width == 3 else 2.0], size=size)
        w = rng.choice([0.5, -1.0, 2.0, 0.0], size=width)
        for h in (-30, -1, 0, 1, 2, 15):
            expected, found = function(x, w, h), compiled(x, w, h)
            for a, b in zip(np.atleast_2d(found), np.atleast_2d(expected), strict=True):
                np.testing.assert_array_equal(a, b)


def test_nothing_is_read_where_the_condition_does_not_hold() -> None:
    def function(x: Any, k: Any, m: int) -> Any:
        out = np.zeros(len(x))
        for i in range(len(x)):
            for j in range(m):
                if i + j < len(k) and k[i + j] >= 0:
                    out[i] += x[k[i + j]]
        return out

    compiled = transkern.compile(function, target="cpu")
    x, k = np.arange(6.0), np.array([0, -9, 5, 2, -7])
    for m in (0, 1, 4, 40):
        np.testing.assert_array_equal(compiled(x, k, m), function(x, k, m))
