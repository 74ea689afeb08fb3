"""Rows side by side, each some columns behind the one above."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from transkern.fuse.passes import PASSES
from transkern.fuse.waves.slant import slant_of
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of


@pytest.mark.parametrize(
    "distances, slant",
    [
        ({(0, 1), (1, -1), (1, 0), (1, 1)}, 2),
        ({(0, 1), (1, 0)}, 1),
        ({(0, 1), (1, 1)}, 0),
        ({(0, 1), (1, -3)}, 4),
        ({(0, 1), (1, -4)}, None),
        ({(0, 2), (2, -3)}, 2),
        ({(0, 1), (8, -100)}, 0),
        ({(1, 0), (1, -1)}, None),
    ],
)
def test_slants(distances: set[tuple[int, int]], slant: int | None) -> None:
    assert slant_of(distances) == slant


CASES = {
    "nine neighbours": (
        "a[i, j] = (a[i - 1, j - 1] + a[i - 1, j] + a[i - 1, j + 1] + a[i, j - 1] + a[i, j] + a[i, j + 1]"
        " + a[i + 1, j - 1] + a[i + 1, j] + a[i + 1, j + 1]) / 9.0", True
    ),
    "three": ("a[i, j] = a[i, j - 1] * 0.5 + a[i - 1, j] * 0.25 + a[i - 1, j - 1] * 0.125", True),
    "two arrays": ("t = a[i, j - 1] * 0.5\nb[i, j] = t + b[i - 1, j + 1]\na[i, j] = b[i, j] * 0.5 + a[i, j]", True),
    "two rows up": ("if i > 1:\n  a[i, j] = a[i, j - 1] * 0.5 + a[i - 2, j] * 0.25", True),
    "a row far to the right": ("a[i, j] = a[i, j - 1] * 0.5 + a[i - 1, m - 1] * 0.25", False),
    "whole numbers": ("c[i, j] = c[i, j - 1] + c[i - 1, j]", False),
}
TYPES = "f(float64[n,m], float64[n,m], int64[n,m])"


def source(body: str) -> str:
    lines = "\n   ".join(body.split("\n"))
    return f"def f(a, b, c):\n n, m = a.shape\n for i in range(1, n - 1):\n  for j in range(1, m - 1):\n   {lines}"


@pytest.mark.parametrize("name", CASES)
def test_rows_go_side_by_side_with_pythons_bits(name: str, tmp_path: Any) -> None:
    body, wanted = CASES[name]
    text = source(body)
    program = program_of(text, "f", TYPES, PASSES)
    assert any(isinstance(s, n.Loop) and "slanted" in s.axis for s in walk(program.body)) == wanted
    space: dict[str, Any] = {}
    path = tmp_path / "rows.py"
    path.write_text(text)
    exec(compile(text, str(path), "exec"), space)
    compiled = transkern.compile(space["f"], target="cpu")
    shapes = [(0, 0), (2, 5), (3, 40), (9, 17), (10, 18), (10, 3), (18, 16), (27, 60), (40, 4)]
    for shape in [*shapes, (140, 1500)] if name == "nine neighbours" else shapes:  # the last: waves of tiles
        rng = np.random.default_rng(shape[1])
        mine = rng.standard_normal(shape), rng.standard_normal(shape), rng.integers(-9, 9, shape)
        if shape[0] == 27:
            mine[0][[5, 20], [30, 7]] = np.inf, np.nan
        theirs = [x.copy() for x in mine]
        with np.errstate(all="ignore"):
            compiled(*mine)
            space["f"](*theirs)
        for x, y in zip(mine, theirs, strict=True):
            np.testing.assert_array_equal(x, y)
