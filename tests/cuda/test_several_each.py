"""A thread takes several elements: of a row in words, of a running total or a filter, of a long reduction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.cuda.support import compiled_for, program_from, simulated
from tests.regressions.support import alike
from tests.tools import require
from transkern.targets.cuda import load as loading
from transkern.targets.cuda import sass
from transkern.targets.cuda.emit import emit

RNG = np.random.default_rng(5)


pytestmark = pytest.mark.usefixtures("on_simulator")


# ---- rows in words ---------------------------------------------------------------------------------------------------


def ranked(x, w):
    low = x.min(axis=1, keepdims=True)
    scaled = (x - low) * w
    return scaled, scaled.argmax(axis=1), x.argmin(axis=1), (scaled > 2).sum(axis=1)


def test_rows_that_begin_amid_words() -> None:
    """The same bits whether a row is read in words or not: lengths that are no multiple of four, places between."""
    compiled = transkern.compile(ranked, target="cuda")
    for width, start in ((1, 0), (4, 0), (64, 0), (64, 1), (66, 2), (1028, 0), (4200, 0)):
        base = RNG.integers(-9, 9, 3 * width + start).astype(np.float32)
        base[start] = np.nan
        base[-1] = base[-2:].min() - 1 if width > 1 else -0.0
        x = base[start:].reshape(3, width)
        alike(ranked, x, RNG.integers(-2, 3, width).astype(np.float32), compiled=compiled)
    assert "in_words<4>" in compiled.emit() and ".store(scaled_held" in compiled.emit()


def argued(x):
    return x.argmax(axis=1), x.argmin(axis=1)


def test_the_first_of_several_extremes() -> None:
    compiled = transkern.compile(argued, target="cuda")
    for x in (np.full((2, 50), -np.inf), np.where(RNG.random((4, 300)) < 0.1, np.nan, 1.0), -np.full((2, 9), -np.inf)):
        alike(argued, x, compiled=compiled)
    alike(argued, np.full((2, 9), np.iinfo(np.int64).min), compiled=compiled)


def spread_out(x, eps):
    centred = x - x.max(axis=1, keepdims=True)
    return centred / np.sqrt(x.min(axis=1, keepdims=True) ** 2 + eps)


def test_a_root_of_a_row_is_taken_once() -> None:
    x = RNG.standard_normal((3, 33))
    x[0, 5], x[2, :] = np.nan, 0.0
    compiled, text = compiled_for(spread_out, x, 0.0)
    roots = [x.strip() for x in text.splitlines() if " sqrt(" in x]
    assert {*roots} == {"const double term = sqrt(min_1 * min_1 + eps);"} and len(roots) == text.count("__global__")
    alike(spread_out, x, 0.0, compiled=compiled)
    alike(spread_out, x[:, :0], 1.0, compiled=compiled)


# ---- long reductions -------------------------------------------------------------------------------------------------


def of_channels(x):
    return x.max(axis=(0, 2)), x.sum(axis=0), (x > 1).sum(axis=(0, 2))


def test_reductions_with_many_loads_under_way() -> None:
    compiled = transkern.compile(of_channels, target="cuda")
    for shape in ((1, 2, 1), (3, 2, 17), (2, 3, 1100), (170, 1, 13)):
        alike(of_channels, RNG.integers(-9, 9, shape).astype(np.float32), compiled=compiled)


# ---- chunks ----------------------------------------------------------------------------------------------------------


def totals(x):
    return np.cumsum(x), np.maximum.accumulate(x)


def chosen(x, y):
    return x[x > 0], y[x > 0], np.flatnonzero(x < 0)


SIZES = (0, 1, 31, 256, 257, 2048, 2049, 5000)
"""Beside those of a warp's and of a small grid's chunks."""


@pytest.mark.parametrize("dtype", ["float32", "int64"])
@pytest.mark.parametrize("grid", [False, True])
def test_running_totals(dtype: str, grid: bool) -> None:
    function = simulated(totals, f"totals({dtype}[n])", grid)
    for size in SIZES[1:]:
        x = RNG.integers(-9, 9, size).astype(dtype)
        if size > 31 and dtype == "float32":
            x[3], x[-2] = -0.0, np.nan
        for mine, theirs in zip(function(x), totals(x), strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_running_totals_of_rows() -> None:
    def of_rows(x):
        return np.cumsum(x, axis=1), np.cumsum(x > 0, axis=1)

    compiled = transkern.compile(of_rows, target="cuda")
    for width in (0, 1, 100, 1025):
        alike(of_rows, RNG.integers(-9, 9, (2, width)).astype(np.float64), compiled=compiled)


@pytest.mark.parametrize("grid", [False, True])
def test_filters(grid: bool) -> None:
    function = simulated(chosen, "chosen(float64[n], int8[n])", grid)
    for size in SIZES:
        x, y = RNG.integers(-3, 4, size).astype(np.float64), RNG.integers(-9, 9, size, np.int8)
        x[size // 2 : size // 2 + 1] = np.nan
        for mine, theirs in zip(function(x, y), chosen(x, y), strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_the_same_bits_each_time_and_a_barrier_left_as_it_was() -> None:
    function = simulated(totals, "totals(float32[n])", grid=True)
    x = RNG.standard_normal(5000).astype(np.float32)
    first: Any = [y.tobytes() for y in function(x)]
    for _ in range(4):
        assert [y.tobytes() for y in function(x)] == first
    found = np.frombuffer(first[0], np.float32)
    np.testing.assert_allclose(found, np.cumsum(x, dtype=np.float64), rtol=1e-6, atol=1e-5)
    assert not np.asarray(function.__globals__["_kept"](16 + 32 * 4, np.uint8))[:16].any()


def several(x, y):
    return np.cumsum(x), np.cumsum(y), np.cumsum(x > 0)


def test_shared_memory_of_several_types_of_totals() -> None:
    require("nvrtc", "nvdisasm", "cuobjdump")

    kernels, _ = emit(program_from(several, "several(float64[n], float32[n])"))
    assert all(k.shared <= 48 << 10 and not k.spills for k in sass.inspect(kernels))


def of_columns(x):
    return x.max(axis=0), x.sum(axis=0), x.argmin(axis=0)


def test_threads_that_share_points_go_from_points_to_points() -> None:
    """With more points than a grid has at once, by turns, whose slots alternate."""
    compiled = transkern.compile(of_columns, target="cuda")
    for shape in ((700, 3), (4200, 9), (40, 1300), (300, 70)):
        alike(of_columns, RNG.integers(-9, 9, shape).astype(np.float32), compiled=compiled)
    code, text = emit(program_from(of_columns, "of_columns(float32[n, m])"))
    few = text.replace("// threads), 32 * _multiprocessors()))", "// threads), 2))")
    assert few != text
    x = RNG.integers(-9, 9, (300, 70)).astype(np.float32)
    found = loading.function("of_columns", code, few, simulate=True)(x)
    for mine, theirs in zip(found, of_columns(x), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def of_matrices(x, y):
    return (x * y).sum(), np.abs(x).max(), (x > 2).any(axis=(1, 2))


def test_reductions_over_whole_arrays_divide_nothing() -> None:
    compiled = transkern.compile(of_matrices, target="cuda")
    for shape in ((1, 1, 1), (3, 5, 7), (2, 40, 33)):
        x, y = RNG.integers(-9, 3, (2, *shape)).astype(np.float64)
        alike(of_matrices, x, y, compiled=compiled)
        alike(of_matrices, x[:, ::-1], y, compiled=compiled)
    assert "quotient(" not in compiled.emit()


# ---- loops in order of one thread ------------------------------------------------------------------------------------


def in_columns(x, w):
    y = np.empty_like(x)
    for j in range(x.shape[1]):
        y[0, j] = x[0, j]
        for i in range(1, x.shape[0]):
            y[i, j] = w * x[i, j] + (1 - w) * y[i - 1, j]
    return y, np.cumsum(x > 0, axis=0)


def product(a, c):
    out = np.zeros((a.shape[0], c.shape[1]))
    for i in range(a.shape[0]):
        for j in range(c.shape[1]):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * c[k, j]
            out[i, j] = total
    return out


def test_a_thread_loads_ahead_and_rounds_as_before() -> None:
    columns, products = (transkern.compile(f, target="cuda") for f in (in_columns, product))
    for rows in (1, 2, 5, 9, 17, 40):
        x = RNG.standard_normal((rows, 3))
        x[rows // 2, 1], x[-1, 2] = np.nan, -0.0
        alike(in_columns, x, 0.25, compiled=columns)
        alike(product, x.T, RNG.standard_normal((rows, 2)), compiled=products)
    assert "y_last" in columns.emit() and "ahead0[16]" in columns.emit() and "ahead0[16]" in products.emit()
