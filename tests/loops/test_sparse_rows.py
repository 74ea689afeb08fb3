"""Rows of sparse matrices: slices that begin and end where arrays say, and checks of few places."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target, require

require("cc")


def product(starts, places, values, x):
    out = np.empty(starts.size - 1, values.dtype)
    for i in range(starts.size - 1):
        cols = places[starts[i] : starts[i + 1]]
        vals = values[starts[i] : starts[i + 1]]
        out[i] = vals @ x[cols]
    return out


def scaled(starts, places, values, x):
    for i in range(len(starts) - 1):
        part = values[starts[i] : starts[i + 1]]
        part *= x[i]
        starts[i] = -1  # the slice stays what it is
        part += 1
    return values


def _matrix(dtype: Any, lengths: list[int]) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(1)
    starts = np.concatenate(([0], np.cumsum(lengths))).astype(dtype)
    n = int(starts[-1])
    places = rng.integers(0, 50, n).astype(dtype)
    return starts, places, rng.integers(-4, 5, n).astype(float), rng.integers(-4, 5, 50).astype(float)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32"])
@pytest.mark.parametrize("function", [product, scaled])
def test_they_are_numpys(function: Callable[..., Any], dtype: str) -> None:
    given = _matrix(dtype, [0, 7, 8, 63, 64, 65, 0, 200, 1])
    if function is scaled and dtype == "uint32":
        given = given[0].astype("int32"), *given[1:]
    alike(function, *given)
    starts = given[0].copy()
    starts[[3, 5]] = -3 if dtype != "uint32" else 10_000, 2  # from the end, beyond it, and backwards
    alike(function, starts, *given[1:])


@pytest.mark.parametrize("at", [0, 6, 7, 9, 70, 270])
def test_the_first_place_outside_is_told(at: int) -> None:
    starts, places, values, x = _matrix("int32", [7, 8, 63, 64, 65, 66])
    places[at] = 50 + at
    places[at + 2] = -51
    alike(product, starts, places, values, x)


def test_on_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    alike(product, *_matrix("int32", [0, 7, 8, 3]), target=on_target("cuda", monkeypatch))


def test_where_a_row_begins_is_asked_once() -> None:
    code = transkern.compile(product, types="product(int32[n],int32[m],float64[m],float64[k])").emit()
    assert not any("starts[i]" in line for line in code.splitlines() if "total_part +=" in line)
