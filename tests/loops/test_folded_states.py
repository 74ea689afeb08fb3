"""Next values of an array's own rows that wait in blocks until they are stored (`fuse/states/folded.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import require, source_of
from transkern.fuse.passes import PASSES
from transkern.pipeline import program_of

require("cc")


def shrinking(x: Any, w: int) -> Any:
    m = x
    for _ in range(w - 1):
        m = np.minimum(m[1:], m[:-1])
    return m


def smoothed(a: Any) -> None:
    a[1:-1] = 0.25 * a[:-2] + 0.5 * a[1:-1] + 0.25 * a[2:]
    a[3:] = a[3:] * 0.5 + a[:-3]


def far_behind(a: Any) -> None:
    a[5:] -= a[:-5] / (1 + np.abs(a[5:]))


def relaxed(u: Any, steps: int) -> Any:
    for _ in range(steps):
        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u[0] = u[1]
    return u.sum()


def moved_rows(u: Any, w: Any) -> None:
    u[:-2] = (u[2:, ::-1] * w).sum(axis=1)[:, None] + u[1:-1]


def own_columns(u: Any) -> None:
    u[:, 1:] = u[:, 1:] - u[:, :-1]


def read_again(a: Any) -> Any:
    t = a[1:] * 0.5 + a[:-1]
    a[:-1] = t
    return t


def turned(a: Any) -> None:
    a[1:] = a[:-1] * 0.5 + a[0]
    a[:] = a[::-1] - a


def turned_alone(a: Any) -> None:
    a[:] = a[::-1] - a


SIZES = (0, 2, 6, 2051, 8193, 8195, 70_000)


@pytest.mark.parametrize("function", [smoothed, far_behind, read_again, turned])
def test_rows_are_those_of_numpy(function: Any) -> None:
    for n in SIZES:
        alike(function, numbers(n))


def test_rows_of_an_array_that_shrinks_are_those_of_numpy() -> None:
    for n in SIZES:
        alike(shrinking, numbers(n), 9)


def test_parts_of_several_threads_meet_at_their_borders() -> None:
    before = transkern.get_num_threads()
    transkern.set_num_threads(3)
    try:
        for n in (70_000, 400_001):
            for _ in range(20):  # until threads have been found to pay
                alike(smoothed, numbers(n))
    finally:
        transkern.set_num_threads(before)


def numbers(n: int) -> Any:
    x = np.random.default_rng(n).standard_normal(n)
    x[::9], x[4::1000] = -0.0, np.nan
    return x


@pytest.mark.parametrize("shape", [(3, 4), (2, 40_000), (300, 257), (9000, 3), (0, 3), (4000, 0)])
def test_rows_of_matrices_are_those_of_numpy(shape: tuple[int, int]) -> None:
    u = np.random.default_rng(0).integers(-8, 8, shape).astype(float)  # sums are exact
    alike(relaxed, u, 3)
    alike(own_columns, u)
    alike(moved_rows, u, np.arange(shape[1]) % 3.0)
    alike(moved_rows, u[::-1, ::-1], np.arange(shape[1]) % 3.0)


def behind_others(u: Any) -> Any:
    w = u + 1
    w[1:] = w[:-1]
    w[:-2] = w[2:] - w[:-2]
    return w


@pytest.mark.parametrize("columns", [1, 2, 3, 4])
def test_rows_of_a_few_elements_are_those_of_numpy(columns: int) -> None:
    for rows in (0, 1, 2, 5, 4000):
        alike(behind_others, np.arange(rows * columns, dtype=np.uint16).reshape(rows, columns) ** 2)


@pytest.mark.parametrize("function, types, folded", [
    (smoothed, "f(float64[n])", True), (far_behind, "f(float32[n])", True), (shrinking, "f(float64[n], int)", True),
    (relaxed, "f(float64[n,m], int)", True), (moved_rows, "f(float64[n,m], float64[m])", True),
    (read_again, "f(float64[n])", False),  # the array is read behind its store
    (own_columns, "f(float64[n,m])", False), (turned_alone, "f(float64[n])", False),
])  # fmt: skip
def test_what_waits_in_blocks(function: Any, types: str, folded: bool) -> None:
    program = program_of(source_of(function), function.__name__, types.replace("f(", f"{function.__name__}("), PASSES)
    assert any("held" in name for name in program.buffers) == folded
