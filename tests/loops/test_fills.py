"""Fills that nobody sees, and arrays that only live within a column: which go, and that results keep Python's bits."""

from __future__ import annotations

import linecache

import numpy as np
import pytest

import transkern
from tests.tools import source_of
from transkern.fuse.loops.fills import drop_dead_fills
from transkern.fuse.passes import BEFORE_LOOPS, PASSES
from transkern.ir import nodes as n
from transkern.ir.expr import Const
from transkern.ir.traverse import walk
from transkern.pipeline import program_of

# body of a function of x: float64[n, m] and k; what it returns; how many stores of zeros are left
ANY_SIZE = True  # a product is a step of a library

FILLS = {
    "every element once": ("for i in range(n):\n  for j in range(m):\n   y[i, j] = x[i, j]", 0),
    "the first row, then from the row before": (
        "for j in range(m):\n  y[0, j] = x[0, j]\n  for i in range(1, n):\n   y[i, j] = y[i - 1, j] + x[i, j]", 0
    ),
    "from the last row upwards": (
        "for j in range(m):\n  y[n - 1, j] = x[0, j]\n  for i in range(n - 2, -1, -1):\n   y[i, j] = y[i + 1, j]", 0
    ),
    "read in a later loop": (
        "for i in range(n):\n  for j in range(m):\n   y[i, j] = 1.0\n for i in range(n):\n  for j in range(m):\n"
        "   y[i, j] += 1.0", 0
    ),
    "columns behind rows": ("for j in range(m):\n  for i in range(n):\n   y[i, j] = x[i, j]", 0),
    "not the last row": ("for i in range(n - 1):\n  for j in range(m):\n   y[i, j] = x[i, j]", 1),
    "not the first column": ("for i in range(n):\n  for j in range(1, m):\n   y[i, j] = x[i, j]", 2),
    "every second row": ("for i in range(0, n, 2):\n  for j in range(m):\n   y[i, j] = x[i, j]", 1),
    "under a condition": ("for i in range(n):\n  for j in range(m):\n   if x[i, j] > 0:\n    y[i, j] = x[i, j]", 1),
    "in both arms of a condition": (
        "for i in range(n):\n  for j in range(m):\n   if x[i, j] > 0:\n    y[i, j] = x[i, j]\n   elif x[i, j] < -1:\n"
        "    y[i, j] = 1.0\n   else:\n    y[i, j] = 0.5", 0
    ),
    "under a condition and under its opposite, which then holds no more": (
        "for i in range(n):\n  for j in range(m):\n   if x[i, j] > 0:\n    y[i, j] = x[i, j]\n    x[i, j] = 1\n"
        "   if not x[i, j] > 0:\n    y[i, j] = 0.5", 1
    ),
    "in two of three arms": (
        "for i in range(n):\n  for j in range(m):\n   if x[i, j] > 0:\n    y[i, j] = x[i, j]\n   elif x[i, j] < -1:\n"
        "    y[i, j] = 1.0", 1
    ),
    "in one arm what the other reads later": (
        "for i in range(n):\n  for j in range(m):\n   if x[i, j] > 0:\n    y[i, j] = 1.0\n   else:\n"
        "    y[i, j] = y[i, j] + 1.0", 1
    ),
    "as far as a break": ("for i in range(n):\n  if x[i, 0] > 0:\n   break\n  for j in range(m):\n   y[i, j] = 1.0", 1),
    "added to": ("for i in range(n):\n  for j in range(m):\n   y[i, j] += x[i, j]", 1),
    "from the row below, which comes later": (
        "for i in range(n):\n  for j in range(m):\n   y[i, j] = x[i, j] + y[min(i + 1, n - 1), j]", 1
    ),
    "read before it is stored": (
        "t = y[0, 0]\n for i in range(n):\n  for j in range(m):\n   y[i, j] = x[i, j] + t", 2
    ),
    "added to, then read": (
        "for i in range(n):\n  for j in range(m):\n   y[i, j] += x[i, j]\n   x[i, j] = y[i, j]", 1
    ),
    "a table behind its first row and column: these alone are filled": (
        "for i in range(1, n):\n  for j in range(1, m):\n   y[i, j] = y[i - 1, j] + y[i, j - 1]", 2
    ),
    "another row for each k": ("for i in range(k):\n  for j in range(m):\n   y[i, j] = x[i, j]", 1),
    "read as a whole by a library step": (
        "for i in range(n):\n  for j in range(m):\n   y[i, j] = x[i, j]\n y = y.T @ y", 0
    ),
    "read as a whole before it is stored": (
        "p = y.T @ y\n for i in range(n):\n  for j in range(m):\n   y[i, j] = p[0, 0]", 1
    ),
    "again in each step of a loop": (
        "for t in range(k):\n  y = np.zeros((n, m))\n  for i in range(n):\n   for j in range(m):\n"
        "    y[i, j] = x[i, j] + t", 1
    ),
    "again in each step, but the last row": (
        "for t in range(k):\n  y = np.zeros((n, m))\n  for i in range(n - 1):\n   for j in range(m):\n"
        "    y[i, j] = x[i, j] + t", 2
    ),
    "again in each step, which may be left": (
        "for t in range(k):\n  y = np.zeros((n, m))\n  if x[0, 0] > t:\n   break\n  for i in range(n):\n"
        "   for j in range(m):\n    y[i, j] = x[i, j] + t", 2
    ),
    "again under a condition": (
        "if k > 0:\n  y = np.ones((n, m))\n  for i in range(n):\n   for j in range(m):\n    y[i, j] = x[i, j] * k", 1
    ),
    "twice": ("y[:] = 1.0\n for i in range(n):\n  for j in range(m):\n   y[i, j] = x[i, j]", 0),
    "a triangle": ("for i in range(n):\n  for j in range(i + 1):\n   y[i, min(j, m - 1)] = x[i, 0]", 1),
}


@pytest.mark.parametrize("name", FILLS)
def test_fills_go_where_all_is_overwritten_before_it_is_read(name: str) -> None:
    body, kept = FILLS[name]
    source = f"import numpy as np\ndef f(x, k):\n n, m = x.shape\n y = np.zeros((n, m))\n {body}\n return y"
    program = program_of(source, "f", "f(float64[n,m], int)", (*BEFORE_LOOPS, drop_dead_fills))
    zeros = [s for s in walk(program.body) if isinstance(s, n.Loop) and s.kind == "parallel"]
    assert sum(isinstance(s.body[0], n.Store) and isinstance(s.body[0].value, Const) for s in zeros) == kept


@pytest.mark.parametrize("name", FILLS)
def test_results_are_numpys(name: str) -> None:
    source = f"import numpy as np\ndef f(x, k):\n n, m = x.shape\n y = np.zeros((n, m))\n {FILLS[name][0]}\n return y"
    space: dict = {}
    file = f"<fills {name}>"
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    exec(compile(source, file, "exec"), space)
    compiled = transkern.compile(space["f"], target="cpu")
    for k in (0, 1, 3):
        x = np.random.default_rng(k).standard_normal((3, 3))
        mine, theirs = x.copy(), x.copy()
        assert np.array_equal(compiled(mine, k), space["f"](theirs, k))
        assert np.array_equal(mine, theirs)


def sweep(a, b, d):
    """Down and up each column, with two arrays that only live within it."""
    n, m = d.shape
    c, e, x = np.zeros((n, m)), np.empty((n, m)), np.empty((n, m))
    for j in range(m):
        c[0, j] = a[0, j] / b[0, j]
        e[0, j] = d[0, j] / b[0, j]
        for i in range(1, n):
            scale = b[i, j] - a[i, j] * c[i - 1, j]
            c[i, j] = a[i, j] / scale
            e[i, j] = (d[i, j] - a[i, j] * e[i - 1, j]) / scale
        x[n - 1, j] = e[n - 1, j]
        for i in range(n - 2, -1, -1):
            x[i, j] = e[i, j] - c[i, j] * x[i + 1, j]
    return x


@pytest.mark.parametrize("shape", [(1, 1), (2, 63), (9, 64), (7, 65), (3, 200), (4, 0)])
def test_arrays_of_a_column_lie_side_by_side(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(shape[1])
    a, b, d = (rng.choice([np.nan, np.inf, -0.0, 1.0, 0.5, -2.0], size=shape) for _ in range(3))
    with np.errstate(all="ignore"):
        mine, theirs = transkern.compile(sweep, target="cpu")(a, b, d), sweep(a, b, d)
    np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_array_equal(np.signbit(mine[~np.isnan(mine)]), np.signbit(theirs[~np.isnan(theirs)]))


def test_arrays_of_a_column_are_as_large_as_a_block_of_lanes() -> None:
    source = source_of(sweep)
    program = program_of(source, "sweep", "sweep(float64[n,m], float64[n,m], float64[n,m])", PASSES)
    made = [program.buffers[s.buffer] for s in walk(program.body) if isinstance(s, n.Alloc)]
    assert all("lanes" in x.name for x in made if x.role == "temporary")
