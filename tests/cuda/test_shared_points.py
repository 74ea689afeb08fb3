"""Few points with long loops: several blocks share each, which meet at every reduction. Against NumPy."""

from __future__ import annotations

import functools
import re
import threading
from typing import Any, Literal

import numpy as np
import pytest

from tests.cuda.support import Recorder, compiled_for, program_from, recorder, small_teams
from tests.cuda.test_sanitized import run_checked
from tests.regressions.support import alike
from transkern.targets.cuda import load as loading
from transkern.targets.cuda import pieces
from transkern.targets.cuda.emit import emit
from transkern.targets.cuda.simulator import device

__all__ = ["recorder"]

RNG = np.random.default_rng(3)


pytestmark = pytest.mark.usefixtures("on_simulator")


def of_rows(x):
    d = x - x.min(axis=1, keepdims=True)
    total = d.sum(axis=1, keepdims=True)
    return d / np.where(total == 0, 1, total), (x >= -9).all(axis=1)


def row_by_row(x):
    out, counts = np.empty_like(x), np.empty(x.shape[0], np.int64)
    for i in range(x.shape[0]):
        count = 0
        for j in range(x.shape[1]):
            if x[i, j] > 2:
                count += 1
        counts[i] = count
        for j in range(x.shape[1]):
            out[i, j] = x[i, x.shape[1] - 1 - j] - count
    return out, counts


def of_columns(x):
    return x.argmax(axis=0), np.abs(x - x.max(axis=0)).sum(axis=0)


def running_columns(x):
    c = np.cumsum(2 * x + 1, axis=0)
    return c, c[-1] - c, np.maximum.accumulate(x, axis=0)


def _whole(*shape: int) -> Any:
    return RNG.integers(-9, 9, shape).astype(np.float64)


CALLS = [
    (of_rows, [(3, 150), (1, 1), (0, 7), (9, 64)]),
    (row_by_row, [(3, 150), (1, 1), (0, 7), (9, 64)]),
    (of_columns, [(150, 3), (150, 11), (1, 1), (40, 5)]),
    (running_columns, [(150, 3), (150, 11), (1, 1), (33, 5)]),
]


@pytest.mark.parametrize(("function", "shapes"), CALLS, ids=lambda x: getattr(x, "__name__", ""))
def test_two_blocks_share_each_point(function: Any, shapes: list[tuple[int, ...]]) -> None:
    code, text = emit(program_from(function, f"{function.__name__}(float64[n, m])"))
    call = loading.function(function.__name__, code, small_teams(text), simulate=True)
    for shape in shapes:
        x = _whole(*shape)
        for _ in range(2):  # the blocks leave their counters as they were
            for mine, theirs in zip(call(x), function(x), strict=True):
                np.testing.assert_array_equal(mine, theirs)


def test_how_many_blocks_share_points() -> None:
    space: dict[str, Any] = {"cp": device, "np": np, "functools": functools, "threading": threading}
    exec(pieces.helpers({"_sharing"}), space)
    blocks_of, sharing = space["_blocks_of"], space["_sharing"]
    assert [blocks_of(*given) for given in ((1, 127), (1, 128), (1, 1 << 20), (33, 1 << 20), (67, 1 << 20))] == [
        1, 8, 128, 4, 1,
    ]  # fmt: skip
    assert [int(x) for x in sharing(1 << 20, 1 << 20)[:4]] == [4096, 256, 1, 1]
    assert [int(x) for x in sharing(16, 1 << 20)[:4]] == [128, 1024, 128, 64]
    assert [int(x) for x in sharing(3, 1 << 20)[:4]] == [128, 1024, 256, 128]
    assert [int(x) for x in sharing(16, 1000)[:4]][2:] == [64, 1]


def reversed_rows(x, out):
    total = np.exp(x).sum(axis=1)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = x[i, j] / total[i]
    return out[:, ::-1] / np.abs(out).max(axis=1, keepdims=True)


def test_what_threads_of_other_blocks_store_is_not_taken_for_constant() -> None:
    text = emit(program_from(reversed_rows, "reversed_rows(float64[n, m], float64[n, m])"))[0]
    given = dict(re.findall(r"__global__ void __launch_bounds__\([^)]*\) (\w+)\(\s*([^)]*)\)", text))
    rows, shared = given["reversed_rows_out"], given["reversed_rows_out_shared"]
    assert "double *out" in shared and shared.startswith(rows)


def rising(x):
    return np.cumprod(x, axis=0)


def test_running_products_of_floats_stay_in_order() -> None:
    text = emit(program_from(rising, "rising(float64[n, m])"))[0]
    assert "Parts " not in text and "scan(" not in text


@pytest.mark.parametrize("kind", ["memory", "race"])
def test_columns_that_run_together_do_not_race(kind: Literal["memory", "race"], recorder: Recorder) -> None:
    program = program_from(running_columns, "running_columns(float64[n, m])")
    run_checked(program, (_whole(70, 9),), recorder, kind)


def of_points(x):
    d = x - x.mean(axis=0)
    return d / (x.max(axis=0) - x.min(axis=0)), x.std(axis=0)


def weighted(w, x):
    return (w[:, None] * x).sum(axis=0)


def test_columns_of_points_are_one_kernel() -> None:
    """Three columns are reduced side by side; sums that share what they load stay one loop over it."""
    compiled, text = compiled_for(of_points, _whole(70, 3))
    assert text.count("__global__") == 2 and text.count("_kernel(\"of_points") == 2
    for rows in (1, 2, 300):
        x = _whole(rows, 3) + np.arange(rows)[:, None] / 8
        x[rows // 2, 1] = np.nan
        with np.errstate(all="ignore"):
            for mine, theirs in zip(compiled(x), of_points(x), strict=True):
                np.testing.assert_allclose(mine, theirs, rtol=1e-13, atol=1e-13)
    kernels = emit(program_from(weighted, "weighted(float64[n], float64[n, 3])"))[0]
    assert kernels.count("w[rr]") == 3 and kernels.count("__global__") == 1


def stored_behind(x, out):
    out[0] = out.sum() + x.max()
    out[1] = x.sum() / len(x)
    mean = out[1]
    out[2] = (x - mean).max() + out[0]
    return out, out[0] * 2


def test_numbers_made_of_sums_are_stored_by_the_kernel_that_sums() -> None:
    """By the block that ends last, when all have read what it stores to."""
    x, out = _whole(3000), _whole(4)
    compiled, text = compiled_for(stored_behind, x, out)
    assert text.count("__global__") == 4  # the sums of `out` and of `x`, one number behind a check, the last maximum
    for given in (x, x[:1], _whole(70)):
        mine, theirs = out.copy(), out.copy()
        found, wanted = compiled(given, mine), stored_behind(given, theirs)
        np.testing.assert_allclose(mine, theirs, rtol=1e-14)
        assert found[0] is mine and np.isclose(found[1], wanted[1], rtol=1e-14)


# ---- rows that say how long they are ---------------------------------------------------------------------------------


def autocorrelation(x, lags):
    d = x - 2
    return np.array([np.sum(d[k:] * d[: len(d) - k]) for k in range(lags)])


def of_what_is_left(x, count):
    out = np.empty(count)
    for i in range(count):
        d = x[i:] - x[: len(x) - i]
        out[i] = np.abs(d).max() + d.min()
    return out


def of_segments(x, starts):
    out = np.empty(len(starts) - 1)
    for i in range(len(starts) - 1):
        part = x[starts[i] : starts[i + 1]]
        out[i] = (part * part).sum()
    return out


def test_rows_of_their_own_lengths() -> None:
    for size, count in ((3000, 5), (70, 69), (40, 1), (9, 0)):
        alike(autocorrelation, _whole(size), count, target="cuda")
        alike(of_what_is_left, _whole(size), count, target="cuda")
    alike(autocorrelation, _whole(5), 9, target="cuda")  # more lags than elements
    alike(of_segments, _whole(300), np.array([0, 7, 7, 100, 300]), target="cuda")


def test_numbers_of_the_callers_decide_for_a_grid() -> None:
    code, text = emit(program_from(autocorrelation, "autocorrelation(float64[n], int)"))
    assert "if lags - " in text and "_sharing(" in text
    assert " autocorrelation_items_shared(" in code
