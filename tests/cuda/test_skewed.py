"""Tables that loops go through by diagonals lie by diagonals in memory. Against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.cuda.support import Recorder, program_from, recorder
from tests.cuda.test_sanitized import run_checked
from tests.regressions.support import alike
from transkern.fuse.waves.skewed import skew_tables
from transkern.targets.cuda.emit import emit
from transkern.targets.cuda.simulator import device, trace
from transkern.targets.cuda.simulator.trace import Launched, watching

__all__ = ["recorder"]

RNG = np.random.default_rng(8)

pytestmark = [pytest.mark.usefixtures("on_simulator"), pytest.mark.filterwarnings("ignore")]


def common(a, b):
    n, m = len(a), len(b)
    t = np.zeros((n + 1, m + 1), dtype=np.int64)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            if a[i - 1] == b[j - 1]:
                t[i, j] = t[i - 1, j - 1] + 1
            else:
                t[i, j] = max(t[i - 1, j], t[i, j - 1])
    return t[n, m]


def warped(x, y):
    n, m = x.shape[0], y.shape[0]
    d = np.full((n + 1, m + 1), np.inf)
    d[0, 0] = 0.0
    for i in range(n):
        for j in range(m):
            d[i + 1, j + 1] = abs(x[i] - y[j]) + min(d[i, j + 1], d[i + 1, j], d[i, j])
    return d[n, m], d[n // 2, m // 2]


def cheapest_path(cost, k):
    n, m = cost.shape
    best = np.empty((n, m))
    best[0, 0] = cost[0, 0]
    for j in range(1, m):
        best[0, j] = best[0, j - 1] + cost[0, j]
    for i in range(1, n):
        best[i, 0] = best[i - 1, 0] + cost[i, 0]
        for j in range(1, m):
            best[i, j] = cost[i, j] + min(best[i - 1, j], best[i, j - 1])
    return best[n - 1, m - 1] + best[k, 0]


def from_the_end(a, b):
    n, m = len(a), len(b)
    t = np.zeros((n + 1, m + 1), dtype=np.int32)
    for i in range(n - 1, -1, -1):
        for j in range(m - 1, -1, -1):
            t[i, j] = 1 + t[i + 1, j + 1] if a[i] == b[j] else max(t[i + 1, j], t[i, j + 1])
    return t[0, 0]


def returned(a, b):
    n, m = len(a), len(b)
    t = np.zeros((n + 1, m + 1), dtype=np.int64)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            t[i, j] = max(t[i - 1, j], t[i, j - 1]) + a[i - 1] * b[j - 1]
    return t


def read_by_rows(a, b):
    t = returned(a, b)
    u = t * 2
    return u.sum(axis=1) + u[:, 0], (t - t[0]).max(axis=1), (u + t).min()


_SIZES = [(20, 17), (17, 25), (3, 20), (20, 1)]


@pytest.mark.parametrize("function", [common, from_the_end, returned, read_by_rows], ids=lambda f: f.__name__)
def test_integers(function: Any) -> None:
    for n, m in [*_SIZES, (0, 5)]:
        alike(function, RNG.integers(0, 4, n), RNG.integers(0, 4, m), target="cuda")


def test_floats() -> None:
    for n, m in [*_SIZES, (0, 5)]:
        x, y = RNG.random(n), RNG.choice([0.5, np.nan, np.inf, -0.0, 2.0], m)
        alike(warped, x, RNG.random(m), target="cuda")
        alike(warped, x, y, target="cuda")
    for n, m in _SIZES:
        for k in (0, -1, n, -n - 1):
            alike(cheapest_path, RNG.random((n, m)), k, target="cuda")


@pytest.mark.slow
def test_no_race(recorder: Recorder) -> None:
    program = program_from(common, "common(int64[n], int64[m])")
    run_checked(program, (RNG.integers(0, 3, 17), RNG.integers(0, 3, 16)), recorder, "race")


def _launches(function: Any, types: str, *args: Any) -> list[Launched]:
    kernels, launcher = emit(program_from(function, f"{function.__name__}({types})"))
    with watching() as watch:
        trace.launched(function.__name__, kernels, launcher, watch)(*map(device.asarray, args))
    return watch.launches


def test_neighbours_of_a_diagonal_are_neighbours() -> None:
    a, b = RNG.integers(0, 2, 40), RNG.integers(0, 2, 33)
    *_, waves = _launches(common, "int64[n], int64[m]", a, b)
    stores = [s for s in waves.sites if s.write and s.parameter.startswith("t")]
    assert stores and all(s.sectors <= 9 * s.sampled for s in stores)


@pytest.mark.parametrize("function,types", [
    (common, "int64[n], int64[m]"), (warped, "float64[n], float64[m]"), (from_the_end, "int64[n], int64[m]"),
], ids=lambda x: getattr(x, "__name__", ""))  # fmt: skip
def test_tables_lie_by_diagonals(function: Any, types: str) -> None:
    _, launcher = emit(program_from(function, f"{function.__name__}({types})"))
    assert any("_down = " in line for line in launcher.split("\n"))


def test_what_others_see_stays() -> None:
    for function in (returned, read_by_rows):
        program = program_from(function, f"{function.__name__}(int64[n], int64[m])")
        assert skew_tables(program) is program
