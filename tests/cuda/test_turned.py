"""Elementwise kernels that read one way and store the other, by tiles in shared memory. Against NumPy."""

from __future__ import annotations

import re
from typing import Any, Literal

import numpy as np
import pytest

from tests.cuda.support import Recorder, program_from, recorder
from tests.cuda.test_sanitized import run_checked
from tests.regressions.support import alike
from transkern.targets.cuda.emit import emit

__all__ = ["recorder"]

RNG = np.random.default_rng(8)


pytestmark = [pytest.mark.usefixtures("on_simulator"), pytest.mark.filterwarnings("ignore")]


def symmetric(x):
    return 0.5 * (x + x.T)


def turned_copy(x):
    return np.ascontiguousarray(x.T)


def weighted(x, y, w):
    return np.where(w[:, None] > 0, x.T * w[:, None] - y[None, :], np.maximum(x.T, y))


def of_batches(x, y):
    return np.swapaxes(x, 1, 2) - y[:, None, :]


def first_axis_last(x):
    return np.ascontiguousarray(np.moveaxis(x, 0, -1)) + 1


def neighbours(x, y):
    out = np.zeros_like(y)
    out[:-1, 1:] = x[1:, :-1].T + x[1:, 1:].T - y[1:, :-1]
    return out


def into(out, x):
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = x[j, i] * 2
    return out[0, 0]


def both_ways(x, y):
    return x + y.T, x.T - y


def _matrix(*shape: int) -> Any:
    x = RNG.standard_normal(shape)
    if x.size > 3:
        x.flat[:3] = np.nan, -0.0, np.inf
    return x


_SHAPES = [(33, 65), (32, 32), (31, 16), (15, 40), (16, 1), (1, 1), (0, 20), (17, 0), (100, 3)]


def test_turned() -> None:
    for n, m in _SHAPES:
        alike(turned_copy, _matrix(n, m), target="cuda")
    for n, m in _SHAPES:
        alike(weighted, _matrix(n, m), _matrix(n), _matrix(m), target="cuda")
    for n in (1, 16, 31, 70):
        alike(symmetric, _matrix(n, n), target="cuda")


def test_several_axes() -> None:
    for shape in ((3, 20, 40), (2, 33, 17), (1, 5, 64), (0, 20, 20), (40, 3, 18)):
        alike(of_batches, _matrix(*shape), _matrix(shape[0], shape[1]), target="cuda")
    for shape in ((20, 3, 33), (33, 18, 2), (3, 40, 20)):
        alike(first_axis_last, _matrix(*shape), target="cuda")


def test_parts() -> None:
    for n, m in ((20, 33), (40, 18), (2, 2)):
        alike(neighbours, _matrix(n, m), _matrix(m, n), target="cuda")
    for n, m in ((20, 33), (70, 40)):
        alike(into, np.zeros((n, m)), _matrix(m, n), target="cuda")
    alike(both_ways, _matrix(40, 33), _matrix(33, 40), target="cuda")


def test_strides() -> None:
    x = _matrix(40, 40)
    for view in (x[::-1, ::2][:20], x.T, x[:, ::-1], x[3:23, 3:23]):
        alike(symmetric, view[:20, :20], target="cuda")


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "float16", "float32", "int64", "complex128"])
def test_element_sizes(dtype: str) -> None:
    alike(turned_copy, RNG.integers(0, 2, (37, 50)).astype(dtype), target="cuda")


def test_many_tiles_a_block() -> None:
    alike(turned_copy, RNG.integers(0, 9, (2100, 2100)).astype(np.uint8), target="cuda")


@pytest.mark.parametrize("function,types,tiles", [
    (symmetric, "symmetric(float32[n, n])", 1),
    (turned_copy, "turned_copy(float64[n, m])", 1),
    (of_batches, "of_batches(float32[k, n, m], float32[k, n])", 1),
    (turned_copy, "turned_copy(float64[n, 3])", 0),
])
def test_what_is_read_the_other_way_is_staged(function: Any, types: str, tiles: int) -> None:
    code, _ = emit(program_from(function, types))
    assert len(re.findall(r"__shared__ \w+ \w+_tile\d*\[32\]", code)) == tiles


@pytest.mark.parametrize("kind", ["memory", "race"])
def test_sanitized(kind: Literal["memory", "race"], recorder: Recorder) -> None:
    program = program_from(of_batches, "of_batches(float64[k, n, m], float64[k, n])")
    run_checked(program, (_matrix(2, 18, 35), _matrix(2, 18)), recorder, kind)
