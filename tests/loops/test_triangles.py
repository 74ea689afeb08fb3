"""Pairs of which one is before the other: four rows of the triangle go over the same lanes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import source_of
from transkern.fuse.lanes.triangles import pad_triangles
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of


def products(x: Any, w: Any) -> Any:
    k = x.shape[1]
    c = np.zeros((k, k))
    for a in range(k):
        for b in range(a, k):
            c[a, b] = (w * x[:, a] * x[:, b]).sum()
            c[b, a] = c[a, b]
    return c


def largest_below(x: Any, w: Any) -> Any:
    k = x.shape[1]
    c = np.eye(k)
    for a in range(1, k):
        for b in range(a):
            c[a, b] = np.abs(x[:, a] - x[:, b]).max()
    return c


def flat_and_ahead(x: Any, w: Any) -> Any:
    k = x.shape[1]
    out = np.zeros(k * k)
    for a in range(k - 1):
        for b in range(a + 1, k):
            t = 1.0
            for i in range(len(x)):
                t = t * 0.5 + x[i, b] * x[i, a + 1] * w[i]
            out[a * k + b] = t / len(x)
    return out


def distances(x: Any, w: Any) -> Any:
    d = np.zeros((len(x), len(x)))
    for i in range(len(x)):
        for j in range(i + 1, len(x)):
            s = 0.0
            for k in range(x.shape[1]):
                s += (x[i, k] - x[j, k]) ** 2
            d[i, j] = d[j, i] = np.sqrt(s)
    return d


def lagged(x: Any, w: Any) -> Any:
    k = x.shape[1]
    c = np.zeros((k, k), np.int64)
    for a in range(k):
        for b in range(a + 1):
            c[b, a] = (x[1:, a] > x[:-1, b]).sum()
    return c


PADDED = [products, largest_below, flat_and_ahead, distances, lagged]


def of_other_lengths(x: Any, w: Any) -> Any:
    k = x.shape[1]
    c = np.zeros((k, k))
    for a in range(k):
        for b in range(a, k):
            t = 0.0
            for i in range(min(a, len(x))):
                t += x[i, a] * x[i, b]
            c[a, b] = t
    return c


def by_difference(x: Any, w: Any) -> Any:
    k = x.shape[1]
    c = np.zeros((k, k))
    for a in range(k):
        for b in range(a, k):
            t = 0.0
            for i in range(len(x)):
                t = t * 0.5 + x[i, b - a]
            c[a, b] = t
    return c


def rests(x: Any, w: Any) -> Any:
    k = x.shape[1]
    m = np.arange(len(x) * k).reshape(len(x), k) - 3
    c = np.zeros((k, k), np.int64)
    for a in range(k):
        for b in range(a, k):
            t = 7
            for i in range(len(x)):
                t = t // (m[i, b] * m[i, b] + 1) + m[i, a]
            c[a, b] = t
    return c


PLAIN = [of_other_lengths, by_difference, rests]


@pytest.mark.parametrize("function", [*PADDED, *PLAIN])
def test_rows_start_together_where_what_is_computed_in_vain_is_there(function: Callable[..., Any]) -> None:
    types = f"{function.__name__}(float64[n,k], float64[n])"
    passes = PASSES[: PASSES.index(pad_triangles) + 1]
    program = program_of(source_of(function), function.__name__, types, passes)
    inside = [s for s in walk(program.body) if isinstance(s, n.Loop) and any(isinstance(x, n.If) for x in s.body)]
    assert bool(inside) == (function in PADDED)


@pytest.mark.parametrize("function", [*PADDED, by_difference])
def test_pairs_have_numpys_bits(function: Callable[..., Any]) -> None:
    for rows, columns in ((0, 6), (6, 0), (70, 6), (9, 43)):
        rng = np.random.default_rng(rows)
        x, w = rng.integers(-4, 4, (rows, columns)) / 8, rng.integers(0, 8, rows) / 8
        alike(function, x, w)
        if x.size:
            x[0, 1], x[1, 0], x[-1, -1] = np.nan, np.inf, -0.0
            alike(function, x, w)
