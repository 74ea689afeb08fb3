"""Arrays with rows of two, three or four elements: code of their own (`types.is_short`), and loops over the elements of
a row written out (`fuse/loops/unroll.py`)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import transkern
from tests.tools import on_target, require, source_of
from transkern import pipeline
from transkern.fuse import passes as pass_lists
from transkern.fuse.passes import PASSES
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.traverse import walk

require("cc")


def forces(p):
    d = p[None] - p[:, None]
    f = 1 / ((d**2).sum(axis=-1) + 0.5)
    return (f[:, :, None] * d).sum(axis=1)


def forces_a_body_at_a_time(p):
    a = np.zeros_like(p)
    for i in range(len(p)):
        d = p - p[i]
        f = 1 / (np.sum(d * d, axis=1) + 0.5)
        a[i] = (f[:, None] * d).sum(axis=0)
    return a


def centred(p):
    return p - p.mean(axis=0), p.max(axis=0) - p.min(axis=0), p.argmax(axis=0)


def normalised(p):
    length = np.sqrt((p * p).sum(axis=1, keepdims=True))
    return np.where(length > 0, p / length, 0.0)


def turned(p):
    turn = np.eye(p.shape[1])[::-1] * 2 + 1
    return p @ turn.T, np.einsum("ij,nj->ni", turn, p)


def integrated(p):
    x, v = p.copy(), np.zeros_like(p)
    for _ in range(5):
        v = v - 0.1 * x
        x += 0.1 * v
        over = np.abs(x).max(axis=1) > 2
        x[over] *= 0.5
    return x, v


def in_a_walk(p):
    at = np.zeros(p.shape[1])
    path = np.empty_like(p)
    for i in range(len(p)):
        at = at * 0.5 + p[i]
        if at.sum() > 1:
            at[0] -= 1
        path[i] = at
    return path, at


def areas(p):
    q = np.roll(p, -1, axis=0)
    return p[:, 0] * q[:, 1] - q[:, 0] * p[:, 1], (p < q).all(axis=1), np.cumsum(p, axis=0), np.sort(p, axis=1)


def in_bins(p):
    which = (np.abs(np.nan_to_num(p[:, 0], posinf=3.0)) * 2).astype(np.int64) % 5
    total = np.zeros((5, p.shape[1]))
    np.add.at(total, which, p)
    for i in range(len(p)):
        total[which[i]] -= p[i] * 0.5
    return total


def by_rows(p):
    out = []
    for row in p:
        if row[0] < row[-1]:
            out.append(row * 2)
    return np.array(out), len(out)


def in_three_dimensions(p):
    grid = p.reshape(len(p), 1, p.shape[1]) * np.ones((2, p.shape[1]))
    return grid.sum(axis=(0, 2)), grid.mean(axis=1), np.cross(p[:, :2], p[:, -2:])


FUNCTIONS = (
    forces, forces_a_body_at_a_time, centred, normalised, turned, integrated, in_a_walk, areas, in_bins, by_rows,
    in_three_dimensions,
)  # fmt: skip
ON_DEVICES = (forces, centred, normalised, turned, integrated, areas)


def compared(function: Callable[..., object], compiled: Callable[..., object], p: np.ndarray, rtol: float) -> None:
    before = p.copy()
    with np.errstate(all="ignore"):
        wanted, found = function(p), compiled(p)
    np.testing.assert_array_equal(p, before)
    for f, w in zip(*((v if isinstance(v, tuple) else (v,)) for v in (found, wanted)), strict=True):
        assert (np.asarray(f).dtype, np.shape(f)) == (np.asarray(w).dtype, np.shape(w))
        np.testing.assert_allclose(f, w, rtol=rtol, atol=rtol)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # np.cross of rows of two
def test_rows_are_numpys(function: Callable[..., object], dtype: str) -> None:
    compiled = transkern.compile(function, target="cpu")
    rng = np.random.default_rng(0)
    for rows, special in ((100, 1.0), (64, np.nan), (200, np.inf), (65, -0.0), (63, 1.0), (7, np.nan), (1, 1.0)):
        for row in (2, 3, 4) if dtype == "float64" and function in FUNCTIONS[::3] else (3,):
            p = rng.standard_normal((rows, row)).astype(dtype)
            p[rows // 2, row // 2] = special
            compared(function, compiled, p, 1e-12 if dtype == "float64" else 1e-3)
            if row == 3 and dtype == "float64":
                compared(function, compiled, np.repeat(p, 2, axis=1)[::-1, ::2], 1e-12)


@pytest.mark.parametrize("function", ON_DEVICES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("target", ["cuda", "pallas"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_rows_are_numpys_on_devices(
    function: Callable[..., object], target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = transkern.compile(function, target=on_target(target, monkeypatch))
    rng = np.random.default_rng(0)
    for rows, special in ((70, -0.0), (9, 1.0)):
        p = rng.standard_normal((rows, 3))
        p[rows // 2, 1] = special
        compared(function, compiled, p, 1e-12)


def test_small_arrays_first() -> None:
    """Code for any size is no longer what large arrays with short rows get, and theirs takes small ones."""
    compiled = transkern.compile(centred, target="cpu")
    for rows, row, sizes in ((5, 3, "p_0,p_1"), (100, 30, "p_0,p_1"), (100, 3, "p_0,3"), (5, 3, "p_0,3")):
        compiled(np.ones((rows, row)))
        assert compiled.signature == f"centred(float64[{sizes}])"
    assert compiled.cache_info().compiled + compiled.cache_info().from_disk == 2


def test_sizes_that_are_the_same_are_one_number() -> None:
    def moved(p, turn, by):
        return p @ turn + by

    compiled = transkern.compile(moved, target="cpu")
    rng = np.random.default_rng(0)
    p, turn, by = rng.standard_normal((100, 3)), rng.standard_normal((3, 3)), rng.standard_normal(3)
    np.testing.assert_allclose(compiled(p, turn, by), moved(p, turn, by), rtol=1e-13)
    assert compiled.signature == "moved(float64[p_0,3], float64[3,3], float64[3])"
    with pytest.raises(ValueError, match="matmul"):
        compiled(p, np.ones((2, 3)), by)
    with pytest.raises(ValueError, match="could not be broadcast"):
        compiled(p, turn, np.ones(2))
    np.testing.assert_allclose(compiled(p, turn, np.ones(1)), moved(p, turn, np.ones(1)), rtol=1e-13)


@pytest.mark.parametrize("function", [forces, forces_a_body_at_a_time], ids=lambda f: f.__name__)
def test_elements_of_rows_are_numbers(function: Callable[..., object]) -> None:
    """No array in memory but the results, and no loop over the elements of a row inside a loop over rows. (Columns are
    brought together on purpose.)"""
    source = source_of(function)
    passes = PASSES[: PASSES.index(pass_lists.order_pairs) + 1]
    passes = tuple(p for p in passes if p is not pass_lists.hoist_columns)
    program = pipeline.program_of(source, function.__name__, "f(float64[n,3])", passes)
    loops = [s for s in walk(program.body) if isinstance(s, n.Loop)]
    inner = [x for s in loops for x in walk(s.body) if isinstance(x, n.Loop)]
    assert loops and not any(x.stop == b.index(3) for x in inner)
    assert all(x.role != "temporary" for x in program.buffers.values())


def skipped(p):
    for i in range(2):
        for _ in range(2):
            continue
        p[i, 1] = 1
    for row in p:
        for k in range(2):
            if row[k] > 0:
                continue
            row[k] = 3 - row[k]
        row[0] += 1
    return p


def test_iterations_that_end_early_are_not_written_out() -> None:
    p = np.random.default_rng(0).standard_normal((80, 2))
    np.testing.assert_array_equal(transkern.compile(skipped, target="cpu")(p.copy()), skipped(p.copy()))


def test_columns_of_points_are_no_lanes() -> None:
    """Steps in order for each point go in lanes over the points, also where a few columns are stacked behind them."""

    def settled(points, steps):
        x, y, z = points.T
        angle = np.arctan2(z, x + y)
        for _ in range(steps):
            height = x / np.cos(angle)
            angle = np.arctan2(z, height + y)
        return np.column_stack((angle, x)), height

    points = np.random.default_rng(0).normal(size=(150, 3)) + 3
    compiled = transkern.compile(settled, target="cpu")
    for mine, theirs in zip(compiled(points, 4), settled(points, 4), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12)
    assert "lane" in compiled.emit()


def test_arrays_are_as_large_as_an_iteration_makes_them() -> None:
    """What a loop that is written out makes is of its variable's size in each iteration; slices that begin at the
    variable and end at a distance from the end are of one size, however both are spelled."""

    def relaxed(u, f):
        for colour in range(2):
            for a in range(1, 3):
                b = 1 + (a + colour) % 2
                around = u[a - 1 : -2 : 2, b:-1:2] + u[a + 1 :: 2, b:-1:2] + u[a:-1:2, b - 1 : -2 : 2]
                u[a:-1:2, b:-1:2] += 0.5 * (around + f[a : len(f) - 1 : 2, b:-1:2] - u[a:-1:2, b:-1:2])
        return u

    compiled = transkern.compile(relaxed, target="cpu")
    for shape in ((8, 9), (9, 8), (7, 7), (4, 5), (3, 3)):
        u, f = np.random.default_rng(0).integers(-9, 9, (2, *shape)).astype(float)
        np.testing.assert_array_equal(compiled(u.copy(), f), relaxed(u.copy(), f))
    types = "f(float64[n, m], float64[n, m])"
    program = pipeline.program_of(source_of(relaxed), "relaxed", types, PASSES)
    assert not any(isinstance(s, n.Alloc) for s in walk(program.body))
