"""Columns that are reduced and stored one at a time (`fuse/schedule/columns.py`), and arrays of one element as
numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target, require, source_of
from transkern import pipeline
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import walk

require("cc")


def scores(x):
    out = np.empty_like(x)
    for j in range(x.shape[1]):
        out[:, j] = (x[:, j] - x[:, j].mean()) / x[:, j].std()
    return out


def scores_of_turned(x):
    out = np.empty_like(x)
    for k, column in enumerate(x.T):
        out[:, k] = (column - np.mean(column, keepdims=True)) / np.std(column, keepdims=True)
    return out


def centred_in_place(x):
    x = x.copy()
    for j in range(x.shape[1]):
        x[:, j] -= x[:, j].sum() / len(x)
    return x


def to_the_range(x):
    out = np.zeros(x.shape)
    for j in range(x.shape[1]):
        low, high = x[:, j].min(), x[:, j].max()
        for i in range(x.shape[0]):
            out[i, j] = (x[i, j] - low) / (high - low)
    return out


def where_most(x):
    out = np.zeros(x.shape, np.int64)
    for j in range(x.shape[1]):
        best = np.argmax(x[:, j])
        out[:, j] = np.arange(len(x)) - best
    return out


def some(x):
    found = np.empty(x.shape, bool)
    for j in range(x.shape[1]):
        found[:, j] = (x[:, j] > 0) & np.any(x[:, j] > 1)
    return found


COLUMNS = (scores, scores_of_turned, centred_in_place, to_the_range, where_most, some)
SHAPES = ((1, 1), (3, 7), (40, 16), (513, 33), (1100, 20), (5, 0), (2000, 8))


@pytest.mark.parametrize("function", COLUMNS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_columns_are_numpys(function: Callable[..., np.ndarray], dtype: str) -> None:
    compiled = transkern.compile(function, target="cpu")
    rng = np.random.default_rng(0)
    exact = {"rtol": 1e-11, "atol": 1e-12} if dtype == "float64" else {"rtol": 1e-3, "atol": 1e-4}
    for special in (1.0, np.nan, np.inf, -0.0):
        for shape in SHAPES:
            x = (rng.standard_normal(shape) * 3).astype(dtype)
            x[shape[0] // 2, shape[1] // 3 :: 5] = special
            with np.errstate(all="ignore"):
                wanted, found = function(x), compiled(x)
            assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
            np.testing.assert_allclose(found, wanted, **exact)


@pytest.mark.parametrize("function", COLUMNS, ids=lambda f: f.__name__)
def test_lanes_go_over_the_columns(function: Callable[..., np.ndarray]) -> None:
    source = source_of(function)
    program = pipeline.program_of(source, function.__name__, "f(float64[m,n])", PASSES)
    nests = [s for s in walk(program.body) if isinstance(s, n.Loop) and _loops(s.body)]
    inner = [s for nest in nests for s in _loops(nest.body) if s.kind == "parallel" and not _loops(s.body)]
    assert inner and all(s.axis.startswith("lane") for s in inner)


def _loops(body: tuple[n.Stmt, ...]) -> list[n.Loop]:
    return [s for s in walk(body) if isinstance(s, n.Loop)]


# --- arrays of one element


def by_keepdims(x):
    return (x - x.mean(keepdims=True)) / x.std(keepdims=True)


def by_numbers(x):
    return (x - x.mean()) / x.std()


def changed_later(x):
    t = np.zeros(1)
    t[0] = x.sum()
    if t[0] > 0:
        t[0] = -t[0]
    for k in range(3):
        t[0] += x[0] * k
    return x * t


def in_each_row(x):
    out = np.empty((len(x), len(x)))
    for i in range(len(x)):
        t = np.ones((1, 1))
        t[0, 0] += x[i]
        t *= 2
        out[i] = x * t[0]
    return out


def of_one_that_is_read_whole(x):
    t = x[:1] * 2
    u = np.array([x[0]])
    return np.sort(u) + t, u, np.concatenate([t, u, x])


def by_a_filter(x):
    t = np.array([x.max()])
    return t[t > 0], x - t


def read_before_it_is_set(x):
    t = np.empty(1, np.int64)
    y = x + t * 0
    t[0] = len(x)
    u = np.empty(3, np.int64)
    u[0] = t[0] + 1
    u[2] = u[1] * 0 + u[0]
    return y, t, u[::2] + u[0]


def of_integers(x):
    most = np.array([[np.argmax(x)]])
    return most + np.arange(3), (most > 1).sum(), x[most[0]]


NUMBERS = (
    by_keepdims,
    by_numbers,
    changed_later,
    in_each_row,
    of_one_that_is_read_whole,
    by_a_filter,
    of_integers,
    read_before_it_is_set,
)


@pytest.mark.parametrize("function", NUMBERS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_one_element(function: Callable[..., object], target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = transkern.compile(function, target=on_target(target, monkeypatch))
    rng = np.random.default_rng(1)
    for special in (0.5, np.nan, np.inf, -0.0):
        for size in (1, 2, 30):
            x = rng.standard_normal(size)
            x[0] = special
            with np.errstate(all="ignore"):
                wanted, found = function(x), compiled(x)
            for f, w in zip(*((v if isinstance(v, tuple) else (v,)) for v in (found, wanted)), strict=True):
                assert (np.asarray(f).dtype, np.shape(f)) == (np.asarray(w).dtype, np.shape(w))
                np.testing.assert_allclose(f, w, rtol=1e-12, atol=1e-12)


def test_a_kept_axis_makes_no_array() -> None:
    source = source_of(by_keepdims)
    program = pipeline.program_of(source, "by_keepdims", "f(float64[n])", pipeline.passes_for("cpu"))
    assert [name for name, buffer in program.buffers.items() if buffer.role == "temporary"] == []


def lags(x: Any, k: int) -> Any:
    out = np.empty(k)
    for lag in range(k):
        m = len(x) - lag
        out[lag] = np.sum(x[lag:] * x[:m])
    return out


def checked_lags(x: Any, k: int) -> Any:
    n = len(x)
    if k > n:
        raise ValueError("more lags than numbers")
    return np.array([np.sum(x[lag:n] * x[0 : n - lag]) for lag in range(k)])


@pytest.mark.parametrize("function", [lags, checked_lags])
def test_lengths_that_have_a_name(function: Callable[..., Any]) -> None:
    """A sum over a range that moves from lane to lane stays one along vectors, however its end is spelled."""
    compiled = transkern.compile(function, target="cpu")
    for size, k in ((300, 7), (40, 40), (3, 3), (3, 9), (0, 0), (5, 0)):
        alike(function, np.arange(size) % 5 - 2.0, k, compiled=compiled)
    assert "simd reduction(+: " in compiled.emit(target="cpu")
