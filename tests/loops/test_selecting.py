"""Sorts of which a few places are read are selections (`fuse/sorts/selecting.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import require

require("cc")


def median(x: Any) -> Any:
    return np.median(x)


def medians(x: Any) -> Any:
    return np.median(x.reshape(-1, 1), 0), np.median(x.reshape(1, -1), axis=1), np.median(x[::-2])


def third(x: Any) -> Any:
    return np.sort(x)[2], np.sort(x)[-1]


def at_a_place(x: Any) -> Any:
    k = len(x) // 3
    s = np.sort(x)
    if len(x) > 5:
        return s[k] + s[k + 1]
    return s[0]


def spread(x: Any) -> Any:
    return np.percentile(x, 75) - np.percentile(x, 25), np.quantile(x, 0.1), np.nanmedian(x)


def of_some(x: Any) -> Any:
    return np.median(x[x > 0]), np.sort(x[x > 1])[0]


def all_of_it(x: Any) -> Any:
    s = np.sort(x)
    return s, s[0]


def changed_behind(x: Any) -> Any:
    s = np.sort(x)
    first = s[0]
    s[0] = 7
    return first, s[0], s[len(s) // 2]


def many_places(x: Any) -> Any:
    s = np.sort(x)
    return s[0], s[1], s[2], s[3], s[4], s[-1], s[-2], s[-3], s[-4], s[-5]


def quartiles(x: Any) -> Any:
    low, high = np.quantile(x, (0.25, 0.75))
    return np.percentile(x, [25, 50, 75]), high - low


def at_stored_places(x: Any) -> Any:
    k = np.array([len(x) // 2, 0])
    at = k[0]
    k[0] = 0
    s = np.sort(x)
    return (s[at] + s[k[0]], s[k[1]]) if len(x) else (k[0], k[1])


def sum_of_half(x: Any) -> Any:
    return np.sort(x)[: len(x) // 2].sum()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", [
    median, medians, third, at_a_place, spread, of_some, all_of_it, changed_behind, many_places, quartiles,
    at_stored_places, sum_of_half,
])  # fmt: skip
@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "uint8"])
def test_places_of_sorts(function: Any, dtype: str) -> None:
    rng = np.random.default_rng(4)
    for size in (0, 1, 2, 3, 10, 999, 1000, 1001, 1002, 5003):
        x = rng.integers(0, 200, size).astype(dtype)  # sums of them are exact
        alike(function, x)
        if dtype.startswith("float") and size > 2:
            y = x.copy()
            y[[0, size // 2]] = np.inf, -0.0
            alike(function, y)
            y[1] = np.nan
            alike(function, y)


def test_medians_are_selections() -> None:
    selected, sorted_ = (median, third, quartiles), (all_of_it, many_places)
    steps = {**dict.fromkeys(selected, "out.partition"), **dict.fromkeys(sorted_, "out.sort")}
    for function, step in steps.items():
        text = transkern.compile(function, target="cpu").emit(types="f(float64[n])")
        assert step in text and ("out.partition" in text) is (step == "out.partition")


def ordered(x: Any) -> Any:
    return np.sort(x), np.median(x), np.unique(x), np.sort(x)[::-3]


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "uint64"])
def test_integers_of_few_values(dtype: str) -> None:
    """Counted instead of sorted (`ir/library.py`), wherever they lie."""
    rng, limits = np.random.default_rng(1), np.iinfo(dtype)
    for low, high in ((limits.min, limits.min + 90), (limits.max - 90, limits.max), (limits.min, limits.max)):
        for size in (500, 501, 3000):
            alike(ordered, rng.integers(low, high, size, dtype, endpoint=True))


@pytest.mark.parametrize("count", [900, 8001, 20000])
def test_places_one_behind_the_other(count: int) -> None:
    """Of long arrays, whose places NumPy is asked for one at a time: neighbours, equal ones, the last, and numbers that
    are none."""

    def places(x, k):
        s = np.sort(x)
        return s[k], s[k + 1], s[len(x) - 1], s[len(x) - 1 - k]

    def of_columns(x, k):
        rows = x.reshape(-1, 2)
        return np.median(rows, axis=0), np.percentile(x, np.array([5, 95])), np.median(x.reshape(2, -1), axis=1)

    rng = np.random.default_rng(6)
    x = rng.standard_normal(count // 2 * 2)
    some = np.where(rng.random(x.size) < 0.3, np.nan, x)
    for function in (places, of_columns):
        compiled = transkern.compile(function, target="cpu")
        for values in (x, np.round(x), some, np.sort(x)[::-1].copy(), np.round(x * 9).astype(np.int32)):
            for k in (0, 1, x.size // 3, x.size - 2):
                alike(function, values, k, compiled=compiled)

