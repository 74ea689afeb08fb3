"""Extremes over windows are those of numbers where one search finds no NaN (`fuse/choices/numbers.py`)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from transkern.ir.traverse import scalars_set, walk
from transkern.pipeline import passes_for, program_of


def windows(x: Any, w: int) -> Any:
    return np.lib.stride_tricks.sliding_window_view(x, w).max(axis=1)


def a_window_at_a_time(x: Any, w: int) -> Any:
    out = np.empty(len(x) - w + 1)
    for i in range(len(out)):
        out[i] = np.min(x[i : i + w])
    return out


def shifted(x: Any, w: int) -> Any:
    m = x[: len(x) - w + 1].copy()
    for k in range(1, w):
        m = np.maximum(m, x[k : len(x) - w + 1 + k])
    return m


def changed_between(x: Any, w: int) -> Any:
    out = np.zeros(len(x) - w + 1)
    for t in range(3):
        for i in range(len(out)):
            out[i] += np.max(x[i : i + w])
        x[t * 7 % len(x)] = np.nan if t else -1.0
    return out


def of_rows(x: Any, w: int) -> Any:
    y = np.stack([x, -x, x[::-1]])
    return np.lib.stride_tricks.sliding_window_view(y, w, axis=1).min(axis=-1)


def beside(x: Any, w: int) -> Any:
    return x[: len(x) // w * w].reshape(-1, w).max(axis=1)


@pytest.mark.parametrize(("function", "asked"), [(windows, 1), (a_window_at_a_time, 1), (shifted, 1), (beside, 0)])
def test_whether_there_is_a_nan_is_asked_of_windows(function: Callable[..., Any], asked: int) -> None:
    source = "import numpy as np\n" + inspect.getsource(function)
    program = program_of(source, function.__name__, f"{function.__name__}(float64[n], int)", passes_for("cpu"))
    names = {name for s in walk(program.body) for name in scalars_set(s) if name.startswith("any_nan")}
    assert bool(names) == bool(asked)


FUNCTIONS = [windows, a_window_at_a_time, shifted, changed_between, of_rows]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_values(function: Callable[..., Any]) -> None:
    compiled = transkern.compile(function, target="cpu")
    rng = np.random.default_rng(1)
    for size, w in ((1, 1), (9, 9), (40, 2), (150, 3), (333, 8), (700, 21)):
        x = rng.integers(-2, 3, size) / 2
        x[x == 0] = rng.choice([0.0, -0.0], (x == 0).sum())  # which of both is the greater, order decides
        for special in (None, np.nan, np.inf, -np.inf):
            for place in {0, size // 2, size - 1} if special is not None else {0}:
                given = x.copy()
                given[place] = x[place] if special is None else special
                alike(function, given, w, compiled=compiled)
        alike(function, x[::-1], w, compiled=compiled)
        alike(function, np.full(size, np.nan), w, compiled=compiled)


def test_other_types() -> None:
    for dtype in ("float32", "int32", "float16"):
        x = (np.arange(200) % 17 - 8).astype(dtype)
        alike(windows, x, 6)
        if dtype != "int32":
            x[77] = np.nan
            alike(windows, x, 6)
