"""Loops that one thread, or a thread a row, went through have a thread a point: nests with something beside them,
loops in order for their checks alone, tables of blocks, rows that follow each other. Against NumPy."""

from __future__ import annotations

import copy
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from tests.cuda import functions
from tests.cuda.support import compiled_for, types_of
from tests.regressions.support import alike
from transkern.ir.oracle.interpret import interpret
from transkern.pipeline import passes_for, program_of

RNG = np.random.default_rng(11)


pytestmark = pytest.mark.usefixtures("on_simulator")


# ---- nests with something beside them --------------------------------------------------------------------------------


def overlaps(a, b):
    w = np.minimum(a[:, None, 1], b[None, :, 1]) - np.maximum(a[:, None, 0], b[None, :, 0])
    w = np.maximum(w, 0)
    return w, a[:, 1] - a[:, 0], b[:, 1] - b[:, 0]


def without_diagonal(x):
    d = x[:, None] - x[None, :]
    np.fill_diagonal(d, np.inf)
    return np.sort(d, axis=1)


def diagonal_first(n):
    out = np.empty((n, n))
    for i in range(n):
        out[i, i] = 7.0
        for j in range(n):
            out[i, j] = i - j
    return out


def diagonal_last(n):
    out = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            out[i, j] = i - j
        out[i, i] = 7.0
    return out


def of_three_axes(x, m):
    out, rows = np.empty_like(x), np.empty(x.shape[0])
    cells = np.empty(x.shape[:2])
    for i in range(x.shape[0]):
        a = m[i] * 2.0
        rows[i] = a
        for j in range(x.shape[1]):
            b = a + j
            cells[i, j] = b
            for k in range(x.shape[2]):
                out[i, j, k] = x[i, j, k] - b
    return out, rows, cells


def test_what_stands_beside_a_nest_has_a_loop_of_its_own() -> None:
    a, b = np.sort(RNG.standard_normal((2, 40, 2)), axis=2)
    for n in (0, 1, 40):
        alike(overlaps, a[:n], b[:n], target="cuda")
    a[3] = np.nan
    alike(overlaps, a[::-1], b[::2], target="cuda")
    x = RNG.standard_normal((5, 6, 50))
    alike(of_three_axes, x, RNG.standard_normal(5), target="cuda")
    alike(of_three_axes, x[:, :0], RNG.standard_normal(5), target="cuda")
    _, code = compiled_for(of_three_axes, x, RNG.standard_normal(5))
    assert "for (long long j = 0" not in code and "for (long long k = 0" not in code  # each point has a thread


def test_parts_of_a_nest_keep_their_order() -> None:
    x = RNG.standard_normal(40)
    alike(without_diagonal, x, target="cuda")
    for n in (0, 1, 50):
        alike(diagonal_first, n, target="cuda")
        alike(diagonal_last, n, target="cuda")
    _, code = compiled_for(diagonal_last, 50)
    assert not re.search(r"for \(long long (\w+) = 0; \1 < n", code)


def in_directions(x, steps):
    for _ in range(steps):
        new = np.zeros((4, *x.shape))
        for k in range(4):
            t = x * (k + 1)
            t[0] = k
            new[k] = np.roll(t, k - 1, axis=0) + t[::-1]
        x = new.sum(axis=0) * 0.1
    return x


def of_channels(image):
    out = np.empty_like(image)
    means = np.zeros(3)
    for c in range(3):
        plane = image[:, :, c]
        means[c] = plane[0, 0] * 2
        wide = np.zeros((plane.shape[0] + 2, plane.shape[1]))
        wide[1:-1] = plane - means[c]
        out[:, :, c] = wide[2:] - wide[:-2]
    return out, means


def test_few_iterations_of_long_loops_go_apart() -> None:
    x = RNG.standard_normal((40, 7))
    for case in (x, x[:1], x[::-1, ::2]):
        alike(in_directions, case, 3, target="cuda")
    x[3, 4], x[0, 0] = np.nan, -np.inf
    alike(in_directions, x, 3, target="cuda")
    _, code = compiled_for(in_directions, x, 3)
    assert "slices_" not in code  # no iteration has memory of its own
    image = RNG.standard_normal((30, 50, 3))
    alike(of_channels, image, target="cuda")
    alike(of_channels, image[::2, ::-1], target="cuda")
    _, code = compiled_for(of_channels, image)
    assert "slices_" not in code


# ---- loops in order for their checks alone ---------------------------------------------------------------------------


def warped(image, m):
    h, w = image.shape
    out = np.zeros_like(image)
    for y in range(h):
        for x in range(w):
            sx = m[0] * x + m[1] * y
            sy = m[2] * x + m[3] * y
            i, j = int(np.floor(sy)), int(np.floor(sx))
            if 0 <= i < h - 1 and 0 <= j < w - 1:
                out[y, x] = image[i, j] * (1 - (sx - j)) + image[i, j + 1] * (sx - j)
    return out


def found_near(p, q, r, most):
    out = np.full((len(q), most), -1)
    for i in range(len(q)):
        c = 0
        for j in range(len(p)):
            if abs(p[j] - q[i]) < r:
                out[i, c] = j
                c += 1
                if c == most:
                    break
    return out


def found_without_a_bound(p, q, r, most):
    out = np.full((len(q), most), -1)
    for i in range(len(q)):
        c = 0
        for j in range(len(p)):
            if abs(p[j] - q[i]) < r:
                out[i, c] = j
                c += 1
    return out


def to_integers(x):
    out = np.empty(x.shape, np.int64)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = int(x[i, j])
    return out


def into_an_argument(x, out):
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = int(x[i, j])


def in_turns(x, steps):
    out = np.zeros(x.shape, np.int64)
    for _ in range(steps):
        for i in range(x.shape[0]):
            out[i] = int(x[i] * (out[i] + 1))
    return out


def test_a_loop_with_checks_has_a_thread_a_point() -> None:
    image, m = RNG.standard_normal((20, 30)), np.array([0.9, 0.1, -0.1, 0.95])
    compiled, code = compiled_for(warped, image, m)
    assert "group.rank() == 0" not in code and "put_failure" in code
    for bad in (0.0, np.nan, np.inf, -np.inf, 1e30):
        alike(warped, image, m + bad, compiled=compiled)
    alike(warped, image[::-1, ::2], m, compiled=compiled)
    alike(warped, image[:0], m + np.nan, target="cuda")
    alike(warped, image[:1, :1], m, target="cuda")


def test_iterations_may_end_loops_inside() -> None:
    p, q = RNG.uniform(0, 1, 60), RNG.uniform(0, 1, 25)
    compiled, code = compiled_for(found_near, p, q, 0.2, 4)
    assert "group.rank() == 0" not in code
    alike(found_near, p, q, 0.2, 4, compiled=compiled)
    q[4] = np.nan
    alike(found_near, p, q, 0.9, 1, compiled=compiled)
    alike(found_near, p[:0], q, 0.2, 4, target="cuda")
    alike(found_without_a_bound, p, q, 0.2, 60, target="cuda")
    alike(found_without_a_bound, p, q, 0.2, 20, target="cuda")  # the first row that is too long raises


def test_the_earliest_iteration_raises() -> None:
    x = RNG.uniform(-9, 9, (40, 50))
    x[30, 2], x[7, 49], x[8, 0] = np.nan, np.inf, np.nan
    compiled, _ = compiled_for(to_integers, np.zeros((2, 2)))
    for case in (x, x[8:], x[9:], x[31:], x[::-1], x.T, x[:0]):
        alike(to_integers, case, target="cuda")
    alike(to_integers, x, compiled=compiled)
    alike(in_turns, RNG.uniform(0, 3, 300), 5, target="cuda")
    alike(in_turns, np.where(np.arange(300) == 17, np.nan, 1.5), 5, target="cuda")


def test_what_the_caller_sees_is_stored_in_order() -> None:
    x = RNG.uniform(-9, 9, (6, 50))
    x[4, 3], x[2, 7] = np.nan, np.inf
    alike(into_an_argument, x, np.zeros((6, 50), np.int64), target="cuda")
    alike(into_an_argument, x[:2], np.zeros((6, 50), np.int64), target="cuda")


# ---- tables of a block's own ----------------------------------------------------------------------------------------


def warping(x, y, band):
    out = np.empty(len(x))
    for s in range(len(x)):
        d = np.full((x.shape[1] + 1, y.shape[1] + 1), np.inf)
        d[0, 0] = 0.0
        for i in range(1, x.shape[1] + 1):
            for j in range(1, y.shape[1] + 1):
                if abs(i - j) <= band:
                    d[i, j] = abs(x[s, i - 1] - y[s, j - 1]) + min(d[i - 1, j], d[i, j - 1], d[i - 1, j - 1])
        out[s] = d[x.shape[1], y.shape[1]]
    return out


def test_a_block_goes_through_its_table_by_diagonals() -> None:
    x, y = RNG.standard_normal((2, 9, 40))
    compiled, code = compiled_for(warping, x, y[:, :25], 30)
    assert "wave" in code
    alike(warping, x, y[:, :25], 30, compiled=compiled)
    alike(warping, x[:, :15], y[::-1, ::-1], 3, target="cuda")
    x[3, 4], y[5, 6] = np.nan, -np.inf
    alike(warping, x, y, 40, target="cuda")
    alike(warping, x[:0], y[:0], 4, target="cuda")
    alike(warping, x[:, :1], y[:, :0], 4, target="cuda")


def edits(a, b):
    prev = np.arange(len(b) + 1)
    for i in range(len(a)):
        cur = np.empty(len(b) + 1, np.int64)
        cur[0] = i + 1
        for j in range(len(b)):
            cur[j + 1] = min(cur[j] + 1, prev[j + 1] + 1, prev[j] + (0 if a[i] == b[j] else 1))
        prev = cur
    return prev[len(b)], prev


def aligned(x, y, gap):
    last = np.zeros(len(y) + 1)
    for i in range(1, len(x) + 1):
        row = np.zeros(len(y) + 1)
        for j in range(1, len(y) + 1):
            row[j] = max(0.0, last[j - 1] + x[i - 1] * y[j - 1], last[j] - gap, row[j - 1] - gap)
        last = row
    return last


def with_the_last_row(x, y):
    last = np.zeros(len(y))
    for i in range(len(x)):
        row = last * 0.5
        for j in range(1, len(y)):
            row[j] = max(row[j - 1], last[j - 1]) + x[i] * y[j]
        last = row
    return last


def in_one_row(x, y):
    row = np.zeros(len(y))
    for i in range(len(x)):
        for j in range(1, len(y)):
            row[j] = max(row[j - 1], row[j]) + x[i] * y[j]
    return row


def test_rows_that_follow_each_other_go_by_diagonals() -> None:
    a, b = RNG.integers(0, 5, 40), RNG.integers(0, 5, 33)
    compiled, code = compiled_for(edits, a, b)
    assert "wave" in code
    for n in (0, 1, 15, 16, 17, 40):
        for m in (0, 1, 15, 16, 33):
            alike(edits, a[:n], b[:m], compiled=compiled if n > 1 < m else None, target="cuda")
    alike(edits, a[::-2], b[::-1], target="cuda")


def test_floats_of_such_rows_have_their_bits() -> None:
    x, y = RNG.standard_normal(30), RNG.standard_normal(41)
    for function in (lambda x, y: aligned(x, y, 0.5), with_the_last_row, in_one_row):
        alike(function, x, y, target="cuda")
        special = x.copy()
        special[3], special[20] = np.nan, -np.inf
        alike(function, special, y, target="cuda")


# ---- forms of `functions` that one thread went through ---------------------------------------------------------------


def eliminated(a):
    for k in range(len(a)):
        for i in range(k + 1, len(a)):
            a[i, k] /= a[k, k]
            for j in range(k + 1, len(a)):
                a[i, j] -= a[i, k] * a[k, j]
    return a


def test_rows_of_a_step_stay_with_their_warps() -> None:
    a = RNG.standard_normal((40, 40))
    alike(eliminated, a, target="cuda")
    _, code = compiled_for(eliminated, a)
    assert "group.warp()" in code and "floordiv" not in code.partition("eliminated")[2]


@pytest.mark.parametrize(("name", "text"), [
    ("rows_in_turn", "wave"), ("swept_back", "wave_1"), ("table_of_sums", "row_rows"), ("tree_of_options", "up_made"),
    ("smoothed_twice", "fold_begin"), ("averaged_rows", "fold_begin"),
    ("strongest", "strongest_loop"), ("moved_up", "x_made"), ("warped", "wave"),
])  # fmt: skip
def test_threads_share_what_one_went_through(name: str, text: str) -> None:
    function, calls, _ = next(case for case in functions.CASES if case[0].__name__ == name)
    for args in calls:
        if name == "strongest":  # sums in another order
            found = transkern.compile(function, target="cuda")(*copy.deepcopy(args))
            np.testing.assert_allclose(found, function(*copy.deepcopy(args)), rtol=1e-9)
        else:
            alike(function, *args, target="cuda")
    _, code = compiled_for(function, *calls[0])
    assert text in code
    if name == "strongest":
        assert "matmul" not in code
    if name == "averaged_rows":  # few long rows, which a call decides, and a branch
        assert code.count("fold_begin = ") == 2


@pytest.mark.parametrize("name", [
    "rows_in_turn", "rows_in_part", "warped", "swept_back", "table_of_sums", "tree_of_options", "moved_up",
])  # fmt: skip
def test_threads_may_come_in_any_order(name: str) -> None:
    function, calls, _ = next(case for case in functions.CASES if case[0].__name__ == name)
    order = random.Random(3)
    for args in calls[:2]:
        program = program_of(Path(functions.__file__).read_text(), name, types_of(name, args), passes_for("cuda"))
        wanted_in, found_in = copy.deepcopy(args), copy.deepcopy(args)
        with np.errstate(all="ignore"):
            wanted, found = function(*wanted_in), interpret(program, found_in, order.shuffle)
        for mine, theirs in zip([*_arrays(found), *found_in], [*_arrays(wanted), *wanted_in], strict=True):
            np.testing.assert_array_equal(mine, theirs)


def _arrays(result: Any) -> list[Any]:
    return [*result] if isinstance(result, tuple) else [result]


def test_rows_that_keep_elements_of_others_stay() -> None:
    function, calls, _ = next(case for case in functions.CASES if case[0].__name__ == "rows_in_part")
    assert "wave" not in compiled_for(function, *calls[0])[1]


def best_of_rows(x, k):
    alive, out = np.ones(x.shape, bool), np.zeros((x.shape[0], k), np.int64)
    for t in range(k):
        at = np.where(alive, x, -np.inf).argmax(axis=1)
        out[:, t] = at
        alive[np.arange(x.shape[0]), at] = False
    return out


def test_rows_of_searches_in_order_have_a_block_each() -> None:
    for shape, k in (((5, 70), 4), ((1, 3), 3), ((0, 4), 2)):
        alike(best_of_rows, RNG.standard_normal(shape), k, target="cuda")
    _, code = compiled_for(best_of_rows, RNG.standard_normal((5, 70)), 4)
    assert "= _rows(" in code and "blockIdx.x; ii" in code  # what the sizes decide is no kernel's question
