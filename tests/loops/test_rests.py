"""What is left of rows behind whole vectors, where masks are far narrower than what they choose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import source_of
from transkern.fuse.lanes.rests import split_rests
from transkern.fuse.passes import PASSES
from transkern.pipeline import program_of, run


def kept_where(x: Any, m: Any) -> Any:
    return np.where(m, x * 0.5 + 1, -x)


def by_loops(x: Any, m: Any) -> Any:
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = x[i, j] / 3 if m[i, j] and x[i, j] > 0 else x[i, 0]
    return out


def shifted(x: Any, m: Any) -> Any:
    out = np.zeros_like(x)
    out[:, 1:] = np.where(m[:, 1:], x[:, :-1] / 3, 0)
    return out


def weighted(x: Any, m: Any) -> Any:
    out = np.zeros((x.shape[0], x.shape[1] + 3))
    out[:, 2:-1] = x * m + m
    return out


def between(x: Any, m: Any) -> Any:
    out = x.copy()
    out[1:-1, 1:-1] = np.where(m[1:-1, 1:-1] & ~m[:-2, 1:-1], x[1:-1, :-2] - x[1:-1, 2:], x[:-2, 1:-1])
    return out


def again(x: Any, m: Any) -> Any:
    for i in range(3):
        x[:, 1:] = np.where(m[:, 1:], x[:, 1:] * 0.5 + i, x[:, 1:])
    return x


TAKEN: list[Callable[..., Any]] = [shifted, between, again]
PLAIN: list[Callable[..., Any]] = [kept_where, by_loops, weighted]


@pytest.mark.parametrize("function", [*TAKEN, *PLAIN])
def test_rests_of_any_length(function: Callable[..., Any]) -> None:
    for columns in (3, 4, 20, 66, 67, 68, 130, 203):
        rng = np.random.default_rng(columns)
        x, m = rng.standard_normal((5, columns)), rng.random((5, columns)) > 0.4
        x[rng.random(x.shape) > 0.9] = np.nan
        x[rng.random(x.shape) > 0.9] = -0.0
        alike(function, x, m)


@pytest.mark.parametrize("dtype", [np.int8, np.bool_])
def test_other_widths(dtype: Any) -> None:
    rng = np.random.default_rng(1)
    alike(shifted, rng.standard_normal((7, 90)).astype(np.float32), rng.integers(0, 2, (7, 90)).astype(dtype))


def test_rows_that_lie_apart() -> None:
    rng = np.random.default_rng(2)
    x, m = rng.standard_normal((9, 140)), rng.random((9, 140)) > 0.5
    alike(shifted, x[::2, ::-1], m[::-2, ::-1])
    alike(between, x[:, ::2], m[:, ::2])


@pytest.mark.parametrize(
    ("function", "types", "applies"),
    [
        *((f, "float64[n,m], bool[n,m]", True) for f in TAKEN),
        *((f, "float64[n,m], bool[n,m]", False) for f in PLAIN),  # all elements side by side, values of masks, numbers
        (shifted, "float32[n,m], bool[n,m]", True),
        (shifted, "float64[n,m], float64[n,m]", False),
    ],
)
def test_where_it_applies(function: Callable[..., Any], types: str, applies: bool) -> None:
    before = PASSES[: PASSES.index(split_rests)]
    program = run(program_of(source_of(function), function.__name__, f"{function.__name__}({types})", ()), before)
    assert (len(split_rests(program).buffers) > len(program.buffers)) == applies
