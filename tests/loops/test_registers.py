"""What stays in registers: elements that a loop in order updates, and sums of lanes and rows that go together."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import transkern
from transkern.fuse.passes import BEFORE_LOOPS, PASSES
from transkern.fuse.scalars.promote import promote_elements
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of

HELD = {
    "a row's elements": ("for j in range(i):\n for k in range(j):\n  x[i, j] -= x[i, k] * x[k, j]", 1),
    "an element that a condition may keep": ("for k in range(1, x.shape[0]):\n  if x[k, 0] > 0:\n   x[0, 0] += 1", 1),
    "the same where the row may be its own": (
        "for j in range(x.shape[0]):\n for k in range(j):\n  x[i, j] -= x[i, k] * x[k, j]", 0
    ),
    "two of them": ("for k in range(i):\n  x[i, i] += y[k]\n  y[i] += x[k, k]", 2),
    "one that the loop may meet": ("for k in range(x.shape[0]):\n  y[i] += y[k]", 0),
    "one that moves": ("for k in range(1, x.shape[0]):\n  y[k] += y[k - 1]", 0),
    "one that is only written": ("for k in range(x.shape[0]):\n  y[i] = x[k, k]", 0),
    "one of an argument, where the loop may raise": ("for k in range(x.shape[0]):\n  y[i] += y[int(x[k, 0])]", 0),
}


@pytest.mark.parametrize("name", HELD)
def test_elements_are_held_where_nothing_else_meets_them(name: str) -> None:
    loop, count = HELD[name]
    loop = loop.replace("\n", "\n  ")
    source = f"def f(x, y):\n for i in range(x.shape[0]):\n  {loop}"
    program = program_of(source, "f", "f(float64[n,n], float64[n])", (*BEFORE_LOOPS, promote_elements))
    held = {s.name for s in walk(program.body) if isinstance(s, n.Assign) and "held" in s.name}
    assert len(held) == count


def counted_until(t, n, rounds):
    sums = np.zeros((2, 3))
    for k in range(n):
        for _ in range(rounds):
            sums[0, 1] += t
            sums[1, 2] -= sums[0, 1]
            if sums[0, 1] > 1:
                return sums[:, 1], {"sums": (sums, k)}
    return sums[0], {"sums": (sums, n)}


@pytest.mark.parametrize("t", [0.01, 0.3, 2.0])
def test_elements_are_in_the_array_that_a_loop_returns(t: float) -> None:
    found, named = transkern.compile(counted_until)(t, 4, 3)
    wanted, expected = counted_until(t, 4, 3)
    np.testing.assert_array_equal(found, wanted)
    np.testing.assert_array_equal(named["sums"][0], expected["sums"][0])
    assert named["sums"][1] == expected["sums"][1]


def together(a, b, c):
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def alone(a, x, y):
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            y[i] += a[i, k] * x[k]


def inner(u, v):
    for i in range(1, u.shape[1] - 1):
        for t in range(1, u.shape[0] - 1):
            v[t, i] = u[t, i] + v[t - 1, i]


def of(function: Any) -> str:
    import inspect

    return inspect.getsource(function)


def test_rows_that_share_what_they_load_go_together() -> None:
    program = program_of(of(together), "together", "together(float64[n,m], float64[m,p], float64[n,p])", PASSES)
    steps = [s.step.value for s in walk(program.body) if isinstance(s, n.Loop)]  # type: ignore[union-attr]
    assert 4 in steps  # rows
    assert 32 in steps  # lanes: four rows of them in sixteen vectors


@pytest.mark.parametrize("rows", [0, 1, 3, 4, 9])
@pytest.mark.parametrize("columns", [0, 1, 31, 32, 33, 70])
def test_blocks_and_what_is_left_have_pythons_bits(rows: int, columns: int) -> None:
    rng = np.random.default_rng(rows * 100 + columns)
    args = rng.standard_normal((rows, 5)), rng.standard_normal((5, columns)), rng.standard_normal((rows, columns))
    mine, theirs = args[2].copy(), args[2].copy()
    transkern.compile(together, target="cpu")(*args[:2], mine)
    together(*args[:2], theirs)
    np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("rows", [0, 1, 7, 8, 9, 20])
def test_chains_of_additions_side_by_side_have_pythons_bits(rows: int) -> None:
    rng = np.random.default_rng(rows)
    a, x = rng.standard_normal((rows, 40)), rng.standard_normal(40)
    mine, theirs = np.ones(rows), np.ones(rows)
    transkern.compile(alone, target="cpu")(a, x, mine)
    alone(a, x, theirs)
    np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("shape", [(0, 0), (1, 1), (5, 0), (5, 1), (1, 5), (5, 2), (5, 3), (6, 70)])
def test_a_range_that_is_empty_touches_nothing(shape: tuple[int, int]) -> None:
    memory = np.ones(1000)
    size = shape[0] * shape[1]
    u, v = np.arange(float(size)).reshape(shape), memory[300 : 300 + size].reshape(shape)
    wanted = v.copy()
    transkern.compile(inner, target="cpu")(u, v)
    inner(u, wanted)
    np.testing.assert_array_equal(v, wanted)
    assert (memory[:300] == 1).all()
    assert (memory[300 + size :] == 1).all()


def chained(a, b, c, d):
    product = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                product[i, j] += a[i, k] * b[k, j]
    for i in range(a.shape[0]):
        for k in range(b.shape[1]):
            for j in range(d.shape[1]):
                d[i, j] += product[i, k] * c[k, j]


def test_nests_of_one_row_go_together_for_four_rows() -> None:
    source = "import numpy as np\n" + of(chained)
    program = program_of(source, "chained", "chained(float64[n,m], float64[m,p], float64[p,q], float64[n,q])", PASSES)
    four = next(s for s in walk(program.body) if isinstance(s, n.Loop) and s.step.value == 4)  # type: ignore[union-attr]
    assert len({s.buffer for s in walk(four.body) if isinstance(s, n.Alloc) and s.buffer.startswith("product")}) >= 4


@pytest.mark.parametrize("rows", [0, 1, 3, 4, 9])
@pytest.mark.parametrize("columns", [1, 31, 32, 33, 70])
def test_nests_of_rows_that_go_together_have_pythons_bits(rows: int, columns: int) -> None:
    rng = np.random.default_rng(rows * 100 + columns)
    args = [rng.standard_normal(shape) for shape in ((rows, 5), (5, columns), (columns, columns + 1))]
    args[0][rows // 2 :, 0], args[1][:, columns // 2] = np.nan, -0.0
    mine = rng.standard_normal((rows, columns + 1))
    theirs = mine.copy()
    transkern.compile(chained, target="cpu")(*args, mine)
    chained(*args, theirs)
    np.testing.assert_array_equal(mine, theirs)


def bounded(a, b, c, d):
    for i in range(a.shape[0]):
        end = min(i + 2, d.shape[1])
        for j in range(end):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
        for j in range(d.shape[1]):
            for k in range(a.shape[1]):
                d[i, j] += a[i, k] * b[k, j]


@pytest.mark.parametrize("rows", [3, 8, 13])
def test_nests_whose_ranges_go_with_the_row_keep_them(rows: int) -> None:
    rng = np.random.default_rng(rows)
    a, b = rng.standard_normal((rows, 5)), rng.standard_normal((5, 40))
    mine = [rng.standard_normal((rows, 40)) for _ in range(2)]
    theirs = [x.copy() for x in mine]
    transkern.compile(bounded, target="cpu")(a, b, *mine)
    bounded(a, b, *theirs)
    for one, other in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(one, other)


def best(x, start):
    values, positions = np.zeros(x.shape[1]), np.zeros(x.shape[1], dtype=np.int64)
    for j in range(x.shape[1]):
        value, position = start[0], -1
        for i in range(x.shape[0]):
            if x[i, j] > value:
                value = x[i, j]
                position = i
            elif x[i, j] == 0:
                position = -2
        values[j], positions[j] = value, position
    return values, positions


@pytest.mark.parametrize("columns", [0, 1, 7, 63, 64, 65, 130])
def test_branches_that_set_what_lives_in_lanes_choose_values(columns: int) -> None:
    rng = np.random.default_rng(columns)
    x = rng.choice([np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, 5e-324], size=(9, columns))
    mine = transkern.compile(best, target="cpu")(x, np.array([-1.0]))
    for one, other in zip(mine, best(x, np.array([-1.0])), strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(np.signbit(one), np.signbit(other))
    source = "import numpy as np\n" + of(best)
    program = program_of(source, "best", "best(float64[n,m], float64[1])", PASSES)
    lanes = [s for s in walk(program.body) if isinstance(s, n.Loop) and s.axis.startswith("lane")]
    assert lanes and not any(isinstance(s, n.If) for loop in lanes for s in walk(loop.body))


def both_ways(a, x, y, u, v):
    """Two nests that become one loop; only the second is contiguous along it."""
    for i in range(a.shape[0]):
        for j in range(a.shape[0]):
            x[i] += a[i, j] * y[j]
    for i in range(a.shape[0]):
        for j in range(a.shape[0]):
            u[i] += a[j, i] * v[j]


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 64, 65, 150])
def test_nests_with_other_strides_take_lanes_of_their_own(size: int) -> None:
    rng = np.random.default_rng(size)
    mine = [rng.standard_normal((size, size)), *(rng.standard_normal(size) for _ in range(4))]
    theirs = copy.deepcopy(mine)
    transkern.compile(both_ways, target="cpu")(*mine)
    both_ways(*theirs)
    for one, other in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(one, other)
    types = "both_ways(float64[n,n], float64[n], float64[n], float64[n], float64[n])"
    program = program_of(of(both_ways), "both_ways", types, PASSES)
    kernels = [x for s in walk(program.body) if isinstance(s, n.Kernel) for x in s.body]
    steps = [x.step for x in kernels if isinstance(x, n.Loop)]
    assert sorted(b.constant(s) or 0 for s in steps) == [16, 64]
