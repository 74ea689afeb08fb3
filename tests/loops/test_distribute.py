"""Loops over rows, taken apart into sums along the rows and sums over the rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import source_of as source_of_function
from transkern.fuse.loops.distribute import distribute_rows
from transkern.fuse.passes import BEFORE_LOOPS, HOLDING_PASSES, PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of

# what is done with row i of a: float64[n, m]; x, y: float64[m]; u, v: float64[n]; whether it is taken apart
ROWS = {
    "both sums in one loop": ("for j in range(m):\n   y[j] += u[i] * a[i, j]\n   v[i] += a[i, j] * x[j]", True),
    "a sum handed on": (
        "t = 0.0\n  for j in range(m):\n   t += a[i, j] * x[j]\n  for j in range(m):\n   y[j] += a[i, j] * t", True
    ),
    "two sums handed on, and a name": (
        "s = 1.0\n  t = 0.0\n  for j in range(m):\n   t -= a[i, j] * x[j]\n   s *= a[i, j]\n"
        "  k = u[i] * 2\n  for j in range(m):\n   y[j] += a[i, j] * t - s * k",
        True,
    ),
    "a sum that is stored": (
        "t = 0.0\n  for j in range(m):\n   t += a[i, j]\n  v[i] = t\n  for j in range(m):\n   y[j] -= a[i, j]", True
    ),
    "sums over rows first": (
        "for j in range(m):\n   y[j] = max(y[j], a[i, j])\n  for j in range(m):\n   v[i] += a[i, j] * x[j]", True
    ),
    "a sum over what is added up": ("for j in range(m):\n   y[j] += a[i, j]\n   v[i] += y[j]", False),
    "a sum over all rows": ("for j in range(m):\n   y[j] += a[i, j]\n   v[0] += a[i, j]", False),
    "the vector changes": (
        "t = 0.0\n  for j in range(m):\n   t += a[i, j] * x[j]\n  for j in range(m):\n   x[j] += a[i, j] * t", False
    ),
    "the matrix changes": (
        "t = 0.0\n  for j in range(m):\n   t += a[i, j] * x[j]\n  for j in range(m):\n   a[0, j] += a[i, j] * t", False
    ),
    "a triangle": (
        "t = 0.0\n  for j in range(m):\n   t += a[i, j] * x[j]\n  for j in range(min(i, m)):\n   y[j] += a[i, j] * t",
        False,
    ),
    "each column from the one before": (
        "t = 0.0\n  for j in range(m):\n   t += a[i, j]\n  for j in range(1, m):\n   y[j] += y[j - 1] * t", False
    ),
    "nothing to gain: no sum along the row": ("t = u[i]\n  for j in range(m):\n   y[j] += a[i, j] * t", False),
    "a branch": ("for j in range(m):\n   y[j] += a[i, j]\n   if a[i, j] > 0:\n    v[i] += a[i, j]", False),
}


def source_of(name: str) -> str:
    return f"def f(a, x, y, u, v):\n n, m = a.shape\n for i in range(n):\n  {ROWS[name][0]}\n"


TYPES = "f(float64[n,m], float64[m], float64[m], float64[n], float64[n])"


@pytest.mark.parametrize("name", ROWS)
def test_taken_apart_where_neither_part_touches_what_the_other_writes(name: str) -> None:
    program = program_of(source_of(name), "f", TYPES, (*BEFORE_LOOPS, *HOLDING_PASSES, distribute_rows))
    assert any("i_block" in s.axis for s in walk(program.body) if isinstance(s, n.Loop)) == ROWS[name][1]


@pytest.mark.parametrize("name", [name for name, (_, apart) in ROWS.items() if apart])
def test_parts_have_pythons_bits(name: str, tmp_path: Any) -> None:
    path = tmp_path / "rows.py"
    path.write_text(source_of(name))
    space: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    compiled = transkern.compile(space["f"], target="cpu")
    rng = np.random.default_rng(0)
    for rows, columns in ((0, 0), (0, 3), (3, 0), (1, 1), (7, 5), (8, 64), (16, 65), (17, 3), (40, 130)):
        shapes = ((rows, columns), (columns,), (columns,), (rows,), (rows,))
        args = [rng.standard_normal(s) for s in shapes]
        for x in args:
            x[rng.uniform(size=x.shape) < 0.02] = rng.choice([np.nan, np.inf, -0.0, 5e-324])
        theirs = [x.copy() for x in args]
        with np.errstate(all="ignore"):
            compiled(*args)
            space["f"](*theirs)
        for one, other in zip(args, theirs, strict=True):
            np.testing.assert_array_equal(one, other)
            number = ~np.isnan(other)
            np.testing.assert_array_equal(np.signbit(one[number]), np.signbit(other[number]))


def test_a_variable_that_is_read_afterwards_keeps_the_loop_as_it_is() -> None:
    source = source_of("a sum handed on") + " return t\n"
    source = source.replace(" for i", " t = 0.0\n for i", 1)
    program = program_of(source, "f", TYPES, (*BEFORE_LOOPS, *HOLDING_PASSES, distribute_rows))
    assert not any("i_block" in s.axis for s in walk(program.body) if isinstance(s, n.Loop))


def gradient(x: Any, y: Any, w: Any) -> Any:
    n, d = x.shape
    g = np.zeros(d)
    for i in range(n):
        z = 0.0
        for k in range(d):
            z += x[i, k] * w[k]
        e = 1 / (1 + math.exp(-z)) - y[i]
        for k in range(d):
            g[k] += e * x[i, k]
    return g


def gradient_in_place(x: Any, y: Any, g: Any) -> None:
    n, d = x.shape
    for i in range(n):
        z = 0.0
        for k in range(d):
            z += x[i, k]
        e = math.exp(-z) - y[i]
        for k in range(d):
            g[k] += e * x[i, k]


@pytest.mark.parametrize("function, apart", [(gradient, True), (gradient_in_place, False)])
def test_rows_that_may_fail_are_taken_apart_where_nobody_sees_what_is_done_by_then(function: Any, apart: bool) -> None:
    types = f"{function.__name__}(float64[n,d], float64[n], float64[d])"
    source = "import math\n" + source_of_function(function)
    program = program_of(source, function.__name__, types, PASSES[: PASSES.index(distribute_rows) + 1])
    assert any("i_block" in s.axis for s in walk(program.body) if isinstance(s, n.Loop)) == apart
    compiled = transkern.compile(function, target="cpu")
    rng = np.random.default_rng(1)
    for rows, columns in ((0, 3), (1, 1), (17, 20), (40, 5)):
        x, y = rng.standard_normal((rows, columns)), rng.standard_normal(rows)
        w = rng.standard_normal(columns)
        mine, theirs = w.copy(), w.copy()
        want, got = function(x, y, theirs), compiled(x, y, mine)
        np.testing.assert_array_equal(mine, theirs)
        if want is not None:
            np.testing.assert_array_equal(got, want)
    x[9], w[:] = -1e3, 1  # the tenth row overflows
    mine, theirs = w.copy(), w.copy()
    for call, given in ((function, theirs), (compiled, mine)):
        with pytest.raises(OverflowError, match="math range error"):
            call(x, y, given)
    np.testing.assert_array_equal(mine, theirs)


def in_place_of_what_it_takes(x: Any) -> tuple[float, Any]:
    s, total = x.copy(), 0.0
    for i in range(len(x)):
        s[i] = math.exp(s[i] - 1)
        total += s[i]
    return total, s


def of_the_one_before(x: Any) -> tuple[float, Any]:
    s, total = x.copy(), 0.0
    for i in range(1, len(x)):
        s[i] = math.exp(s[i - 1] - 1)
        total += s[i]
    return total, s


def of_the_one_behind(x: Any) -> tuple[float, Any]:
    s, total = x.copy(), 0.0
    for i in range(len(x) - 1):
        s[i] = math.exp(s[i + 1] - 1)
        total += s[i]
    return total, s


@pytest.mark.parametrize("function, apart", [
    (in_place_of_what_it_takes, True), (of_the_one_before, False), (of_the_one_behind, None),
])  # fmt: skip
def test_what_may_fail_is_stored_when_nothing_has(function: Any, apart: bool | None) -> None:
    source = "import math\n" + source_of_function(function)
    program = program_of(source, function.__name__, "f(float64[n])", PASSES[: PASSES.index(distribute_rows) + 1])
    if apart is not None:
        assert any("i_block" in s.axis for s in walk(program.body) if isinstance(s, n.Loop)) == apart
    compiled = transkern.compile(function, target="cpu")
    rng = np.random.default_rng(1)
    for count in (0, 1, 40, 3000):
        x = rng.uniform(-3, 1, count)
        want, got = function(x), compiled(x)
        np.testing.assert_allclose(got[0], want[0], rtol=1e-12)
        np.testing.assert_allclose(got[1], want[1], rtol=1e-14)
    x[0] = x[2500] = 1e3
    with pytest.raises(OverflowError, match="math range error"):
        compiled(x)
