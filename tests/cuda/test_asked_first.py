"""Places that are cut at sizes are searched for none outside only where a size is zero, and updates compute them.
Against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.cuda.support import Recorder, program_from, recorder
from tests.cuda.test_sanitized import run_checked
from tests.regressions.support import alike
from transkern.targets.cuda.emit import emit

__all__ = ["recorder"]

RNG = np.random.default_rng(4)


pytestmark = [pytest.mark.usefixtures("on_simulator"), pytest.mark.filterwarnings("ignore")]


def histogram_2d(x, y, bins):
    i = np.clip((x * bins).astype(np.int64), 0, bins - 1)
    j = np.clip((y * bins).astype(np.int64), 0, bins - 1)
    h = np.zeros((bins, bins), dtype=np.int64)
    np.add.at(h, (i, j), 1)
    return h


def looked_up(x, table):
    return table[np.clip(x, 0, len(table) - 1)] * 2


def by_bits(x, table):
    return table[x & 63] - table[0]


def places_that_are_returned(x, table):
    k = np.minimum(np.maximum(x, 0), len(table) - 1)
    return table[k], k


def counted_by_loop(x, bins):
    k = np.clip(x // 3, 0, bins - 1)
    h = np.zeros(bins, np.int32)
    for i in range(len(x)):
        h[k[i]] += 1
    return h, h[::-1] * 2


def counted_twice(x, bins):
    k = np.clip(x, 0, bins - 1)
    h, g = np.zeros(bins, np.int64), np.zeros(bins, np.int64)
    np.add.at(h, k, 1)
    np.add.at(g, k[::-1], 2)
    return h - g, h


def counted_in_place(x, h):
    k = np.clip(x, 0, len(h) - 1)
    np.add.at(h, k, 1)
    x[:] = 0
    return k.sum()


def not_cut(x, table):
    k = x + 1
    return table[k]


def largest_by_place(x, bins):
    k = np.abs(x) % bins
    m = np.zeros(bins, np.int64)
    np.maximum.at(m, k, x)
    return m


@pytest.mark.parametrize("size", [0, 1, 40, 3000])
def test_histograms(size: int) -> None:
    for bins in (1, 7, 40):
        alike(histogram_2d, RNG.random(size) * 1.4 - 0.2, RNG.random(size), bins, target="cuda")
    if size:
        alike(histogram_2d, np.full(size, np.nan), np.full(size, np.inf), 3, target="cuda")
    alike(histogram_2d, RNG.random(size), RNG.random(size), 0, target="cuda")
    for bins in (1, 9, 0):
        alike(counted_by_loop, RNG.integers(-9, 40, size), bins, target="cuda")


@pytest.mark.parametrize("function", [looked_up, by_bits, places_that_are_returned, not_cut, counted_twice])
def test_places(function: Any) -> None:
    x = RNG.integers(-5, 90, 70)
    for length in (100, 64, 63, 20, 1, 0):
        alike(function, x, length if function is counted_twice else RNG.random(length), target="cuda")
    alike(function, x[:0], 0 if function is counted_twice else RNG.random(0), target="cuda")


def test_what_a_check_leaves() -> None:
    for length in (30, 1, 0):
        alike(counted_in_place, RNG.integers(-5, 40, 50), np.zeros(length, np.int64), target="cuda")
    for bins in (5, 1, 0):
        alike(largest_by_place, RNG.integers(-50, 50, 60), bins, target="cuda")


@pytest.mark.parametrize("function,types,kernels", [
    (histogram_2d, "histogram_2d(float32[n], float32[n], int)", 2),
    (looked_up, "looked_up(int64[n], float32[m])", 1),
    (by_bits, "by_bits(int64[n], float32[m])", 1),
])
def test_kernels_of_a_call(function: Any, types: str, kernels: int) -> None:
    code, text = emit(program_from(function, types))
    assert code.count("__global__") - code.count("_asked(") - code.count("_first(") == kernels
    assert "\n        if not " in text and "errors = cp.zeros" not in text


def test_updates_do_not_race(recorder: Recorder) -> None:
    program = program_from(histogram_2d, "histogram_2d(float64[n], float64[n], int)")
    run_checked(program, (RNG.random(90), RNG.random(90), 2), recorder, "race")
