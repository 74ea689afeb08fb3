"""Fetches ahead of short runs: in tiles, not for small arrays, and outside the array they touch nothing."""

from __future__ import annotations

import numpy as np
import pytest

import transkern
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of


def table(a, b):
    n, m = a.shape[0], b.shape[0]
    length = np.zeros((n + 1, m + 1), dtype=np.int32)
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            if a[i - 1] == b[j - 1]:
                length[i, j] = length[i - 1, j - 1] + 1
            else:
                length[i, j] = max(length[i - 1, j], length[i, j - 1])
    return length


def fetches(body: str, types: str) -> int:
    source = f"import numpy as np\ndef f(x):\n n, m = x.shape\n {body}\n return x"
    return sum(isinstance(s, n.Fetch) for s in walk(program_of(source, "f", types, PASSES).body))


LEFT_AND_UP = "for i in range(1, n):\n  for j in range(1, m):\n   x[i, j] = max(x[i - 1, j], x[i, j - 1]) + 1"


@pytest.mark.parametrize(
    ("body", "types", "number"),
    [
        (LEFT_AND_UP, "f(int64[n,m])", 4),
        (LEFT_AND_UP, "f(int64[200,300])", 0),
        (LEFT_AND_UP, "f(int64[500,600])", 4),
        ("for i in range(1, n):\n  for j in range(m):\n   x[i, j] = x[i - 1, j] + 1", "f(int64[n,m])", 0),
    ],
    ids=["tiles", "small", "large", "whole rows"],
)
def test_short_runs_are_fetched(body: str, types: str, number: int) -> None:
    assert fetches(body, types) == number


@pytest.mark.parametrize("shape", [(1, 1), (130, 1700), (471, 513), (700, 300)])
def test_the_answer_is_the_same(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 4, shape[0]), rng.integers(0, 4, shape[1])
    expected = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a.tolist(), 1):
        for j, y in enumerate(b.tolist(), 1):
            expected[i][j] = expected[i - 1][j - 1] + 1 if x == y else max(expected[i - 1][j], expected[i][j - 1])
    np.testing.assert_array_equal(transkern.compile(table, target="cpu")(a, b), expected)
