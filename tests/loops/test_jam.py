"""Rows of recurrences that go through their columns together, and branches that store to one element."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import transkern
from transkern.fuse.passes import BEFORE_LOOPS
from transkern.fuse.schedule.jam import choose_stores, jam_rows
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of

# the statements of one element of x: float64[n, m], with y: float64[n, m]; whether four rows may go together
ROWS = {
    "left, above and both": ("x[i, j] = min(x[i, j - 1] + 1, x[i - 1, j] + y[i, j], x[i - 1, j - 1])", True),
    "left and two rows above": ("x[i, j] = x[i, j - 1] * 0.5 + x[i - 2, j - 1]", True),
    "left and itself": ("x[i, j] += x[i, j - 1] * y[i, j]", True),
    "left and below": ("x[i, j] = x[i, j - 1] + x[i + 1, j]", True),
    "below and right, not yet changed": ("x[i, j] = x[i, j - 1] - x[i + 1, j + 1]", True),
    "below and left, not yet changed": ("x[i, j] = x[i, j - 1] - x[i + 1, j - 1]", False),
    "left and above to the right": ("x[i, j] = x[i, j - 1] + x[i - 1, j + 1]", False),
    "above alone": ("x[i, j] = x[i - 1, j] + y[i, j]", False),
    "left, and one that data names": ("x[i, j] = x[i, j - 1] + x[i, int(y[i, j])]", False),
    "a branch on both sides": (
        "if y[i, j] > 0:\n    x[i, j] = x[i - 1, j - 1] + 1\n   else:\n    x[i, j] = max(x[i - 1, j], x[i, j - 1])",
        True,
    ),
    "a value looked at after it is stored": ("x[i, j] = x[i, j - 1] + 1\n   y[i, j] = x[i, j]", False),
    "two steps to the left": ("t = x[i, j - 2] * y[i, j]\n   x[i, j] = t + x[i - 1, j] / x[i, j - 1]", True),
}
PASSES = (*BEFORE_LOOPS, choose_stores, jam_rows)


def source_of(name: str) -> str:
    body = ROWS[name][0]
    return f"def f(x, y):\n for i in range(2, x.shape[0] - 1):\n  for j in range(2, x.shape[1] - 1):\n   {body}\n"


@pytest.mark.parametrize("name", ROWS)
def test_rows_go_together_where_nothing_comes_from_a_later_column(name: str) -> None:
    program = program_of(source_of(name), "f", "f(float64[n,m], float64[n,m])", PASSES)
    together = [s for s in walk(program.body) if isinstance(s, n.Loop) and s.step != s.step.__class__(1, "index")]
    assert bool(together) == ROWS[name][1]


@pytest.mark.parametrize("name", [name for name, (_, jams) in ROWS.items() if jams])
def test_rows_together_have_pythons_bits(name: str, tmp_path: Any) -> None:
    path = tmp_path / "rows.py"
    path.write_text(source_of(name))
    space: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    compiled = transkern.compile(space["f"], target="cpu")
    rng = np.random.default_rng(0)
    for shape in ((0, 0), (3, 9), (4, 4), (7, 3), (8, 9), (9, 30), (13, 5), (140, 12)):
        x, y = (rng.choice([np.nan, np.inf, -0.0, 0.0, 1.5, -2.0, 3.0], size=shape) for _ in range(2))
        mine, theirs = [x.copy(), y.copy()], [x.copy(), y.copy()]
        with np.errstate(all="ignore"):
            try:
                space["f"](*theirs)
            except ZeroDivisionError:
                continue
            compiled(*mine)
        for one, other in zip(mine, theirs, strict=True):
            np.testing.assert_array_equal(one, other)
            number = ~np.isnan(other)
            np.testing.assert_array_equal(np.signbit(one[number]), np.signbit(other[number]))


def from_the_edge(x):
    for i in range(1, x.shape[0]):
        for j in range(x.shape[1]):
            x[i, j] = x[i - 1, j] if j == 0 else x[i - 1, j] + x[i, j - 1]


def test_what_is_before_the_first_column_is_not_loaded() -> None:
    source = "".join(inspect.getsource(from_the_edge))
    program = program_of(source, "from_the_edge", "from_the_edge(float64[n,m])", PASSES)
    assert not any("left" in s.name for s in walk(program.body) if isinstance(s, n.Assign))
    mine = np.arange(35.0).reshape(5, 7)
    theirs = mine.copy()
    transkern.compile(from_the_edge, target="cpu")(mine)
    from_the_edge(theirs)
    np.testing.assert_array_equal(mine, theirs)


def longest(a, b):
    length = np.zeros((a.shape[0] + 1, b.shape[0] + 1), dtype=np.int32)
    for i in range(1, a.shape[0] + 1):
        for j in range(1, b.shape[0] + 1):
            if a[i - 1] == b[j - 1]:
                length[i, j] = length[i - 1, j - 1] + 1
            else:
                length[i, j] = max(length[i - 1, j], length[i, j - 1])
    return length


@pytest.mark.parametrize("sizes", [(0, 0), (0, 5), (5, 0), (1, 1), (4, 3), (6, 70), (301, 1000)])  # the last in tiles
def test_rows_of_tiles_have_pythons_values(sizes: tuple[int, int]) -> None:
    rng = np.random.default_rng(sizes[1])
    a, b = (rng.integers(0, 3, k) for k in sizes)
    np.testing.assert_array_equal(transkern.compile(longest, target="cpu")(a, b), longest(a, b))


def test_one_store_of_a_chosen_value() -> None:
    source = "def f(x, y):\n for i in range(x.shape[0]):\n  if y[i] > 0:\n   x[i] = y[i]\n  else:\n   x[i] = -1.0\n"
    program = program_of(source, "f", "f(float64[n], float64[n])", PASSES)
    assert sum(isinstance(s, n.Store) for s in walk(program.body)) == 1
    assert not any(isinstance(s, n.If) for s in walk(program.body))
