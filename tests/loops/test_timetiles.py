"""Several passes at a time over a part of the arrays that the cache holds."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import transkern
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of

# mypy: disable-error-code="no-untyped-def,no-untyped-call"


def back_and_forth(a, b, steps):
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            b[i] = (a[i - 1] + a[i] + a[i + 1]) / 3.0
        for i in range(2, a.shape[0] - 1):
            a[i] = (b[i - 2] + b[i] + b[i + 1]) * 0.4


def back_and_forth_slices(a, b, steps):
    for _ in range(steps):
        b[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 3.0
        a[2:-1] = (b[:-3] + b[2:-1] + b[3:]) * 0.4


def three_arrays(u, v, w, source):
    n, m = w.shape
    for t in range(source.shape[0]):
        for j in range(m):
            v[0, j] = source[t]
        for i in range(1, n):
            for j in range(m):
                v[i, j] -= 0.5 * (w[i, j] - w[i - 1, j])
        for i in range(n):
            for j in range(1, m):
                u[i, j] -= 0.5 * (w[i, j] - w[i, j - 1])
        for i in range(n - 1):
            for j in range(m - 1):
                w[i, j] -= 0.7 * (u[i, j + 1] - u[i, j] + v[i + 1, j] - v[i, j])


def three_arrays_slices(u, v, w, source):
    for t in range(source.shape[0]):
        v[0] = source[t]
        v[1:] -= 0.5 * (w[1:] - w[:-1])
        u[:, 1:] -= 0.5 * (w[:, 1:] - w[:, :-1])
        w[:-1, :-1] -= 0.7 * (u[:-1, 1:] - u[:-1, :-1] + v[1:, :-1] - v[:-1, :-1])


def far(a, b, steps):
    for t in range(steps):
        for i in range(a.shape[0] - 3):
            for j in range(a.shape[1]):
                b[i, j] = a[i + 3, j] * 0.5 + t
        for i in range(2, a.shape[0]):
            for j in range(a.shape[1]):
                a[i, j] = b[i - 2, j] + 0.25


def far_slices(a, b, steps):
    for t in range(steps):
        b[:-3] = a[3:] * 0.5 + t
        a[2:] = b[:-2] + 0.25


def turned(a, b, steps):
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            for j in range(a.shape[1]):
                b[i, j] = a[i - 1, j] + a[i + 1, j]
        for i in range(1, a.shape[0] - 1):
            for j in range(a.shape[1]):
                a[i, j] = b[a.shape[0] - 1 - i, j]


def pivot(a, b, steps):
    for k in range(steps):
        for i in range(1, a.shape[0] - 1):
            for j in range(a.shape[1]):
                b[i, j] = a[i - 1, j] + a[i + 1, j] * a[k, j]
        for i in range(1, a.shape[0] - 1):
            for j in range(a.shape[1]):
                a[i, j] = b[i, j]


def no_neighbours(a, b, steps):
    for _ in range(steps):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                b[i, j] = a[i, j] * 0.5
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                a[i, j] = b[i, j] + 1


def planes(a, b, steps):
    n, m, k = a.shape
    for t in range(1, steps):
        for i in range(2, n - 1):
            for j in range(1, m - 1):
                for q in range(1, k):
                    b[i, j, q] = (a[i + 1, j, q - 1] + a[i - 2, j + 1, q]) * 0.5 + t
        for i in range(1, n - 1):
            for j in range(2, m - 1):
                for q in range(k - 1):
                    a[i, j, q] = b[i + 1, j - 2, q + 1] - b[i, j + 1, q]


def planes_slices(a, b, steps):
    for t in range(1, steps):
        b[2:-1, 1:-1, 1:] = (a[3:, 1:-1, :-1] + a[:-3, 2:, 1:]) * 0.5 + t
        a[1:-1, 2:-1, :-1] = b[2:, :-3, 1:] - b[1:-1, 3:, :-1]


def in_place(a, steps):
    for _ in range(steps):
        a[1:-1] = 0.25 * (a[:-2] + a[2:]) + 0.5 * a[1:-1]


def turns(a, b, steps):
    for t in range(3, steps):
        b[1:-1, 1:-1] = (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2]) * 0.3 + t
        a, b = b, a
    return a


def ahead_by_steps(a, steps):
    for t in range(2, steps):
        a[:-1] = np.minimum(a[:-1] + 0.1 * t, a[1:])


PLANES = "(float64[n,m], float64[n,m], int)"
TILED: dict[Any, tuple[str, bool]] = {
    back_and_forth: ("(float64[n], float64[n], int)", True),
    three_arrays: ("(float64[n,m], float64[n,m], float64[n,m], float64[s])", True),
    far: (PLANES, True),
    planes: ("(float64[n,m,k], float64[n,m,k], int)", True),
    in_place: ("(float64[n], int)", True),
    turns: (PLANES, True),
    ahead_by_steps: ("(float64[n], int)", True),
    turned: (PLANES, False),
    pivot: (PLANES, False),
    no_neighbours: (PLANES, False),
}


@pytest.mark.parametrize("function", TILED)
def test_passes_at_constant_distances_go_together(function: Any) -> None:
    types, wanted = TILED[function]
    source = "import numpy as np\n" + inspect.getsource(function)
    program = program_of(source, function.__name__, function.__name__ + types, PASSES)
    assert any(isinstance(s, n.Loop) and s.axis in ("wave", "part") for s in walk(program.body)) == wanted


def same(function: Any, slices: Any, *given: Any) -> None:
    mine, theirs = ([x.copy() if isinstance(x, np.ndarray) else x for x in given] for _ in range(2))
    with np.errstate(all="ignore"):
        transkern.compile(function, target="cpu")(*mine)
        slices(*theirs)
    for x, y in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(x, y)


@pytest.mark.parametrize("steps", [0, 1, 5, 14, 33, 400])
@pytest.mark.parametrize("size", [4, 8191, 8200, 20_000])
def test_elements_have_numpys_bits(size: int, steps: int) -> None:
    rng = np.random.default_rng(steps)
    a, b = rng.standard_normal(size), rng.standard_normal(size)
    a[[1, -2]], b[size // 2] = (np.inf, -0.0), np.nan
    same(back_and_forth, back_and_forth_slices, a, b, steps)


SHAPES = [((4, 3), 9), ((300, 300), 1), ((300, 300), 2), ((311, 250), 9), ((1100, 61), 40)]


@pytest.mark.parametrize("shape, steps", SHAPES)
@pytest.mark.parametrize("function, slices", [(three_arrays, three_arrays_slices), (far, far_slices)])
def test_rows_have_numpys_bits(function: Any, slices: Any, shape: tuple[int, int], steps: int) -> None:
    rng = np.random.default_rng(steps)
    planes = [rng.standard_normal(shape) for _ in range(3 if function is three_arrays else 2)]
    planes[0][shape[0] // 2, 1] = np.inf
    last = np.sin(np.arange(steps)) if function is three_arrays else steps
    same(function, slices, *planes, last)
    same(function, slices, *planes[:-1], planes[-1].T.copy().T, last)  # columns are contiguous in one of them


@pytest.mark.parametrize("steps", [0, 6, 37, 120])
def test_states_of_two_arrays_have_numpys_bits(steps: int) -> None:
    rng = np.random.default_rng(steps)
    for size in (3, 9000, 40_001):
        same(in_place, in_place, rng.standard_normal(size), steps)
        same(ahead_by_steps, ahead_by_steps, rng.standard_normal(size), steps)
    for shape in ((3, 3), (700, 130)):
        same(turns, turns, rng.standard_normal(shape), rng.standard_normal(shape), steps)


@pytest.mark.parametrize("shape", [(3, 4, 2), (70, 60, 64), (81, 16, 301), (300, 40, 25), (9, 300, 70)])
@pytest.mark.parametrize("steps", [1, 2, 3, 9, 45])
def test_planes_have_numpys_bits(shape: tuple[int, int, int], steps: int) -> None:
    rng = np.random.default_rng(steps)
    a, b = rng.standard_normal(shape), rng.standard_normal(shape)
    a[shape[0] // 2, 1], b[1, 2, 1] = np.inf, -0.0
    same(planes, planes_slices, a, b, steps)
    same(planes, planes_slices, a, b.transpose(2, 0, 1).copy().transpose(1, 2, 0), steps)
