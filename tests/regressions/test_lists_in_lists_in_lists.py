"""Lists of lists of lists, of objects, texts and empty ones: the numbers that stand for them are no elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import transkern
from tests.regressions.support import alike


def cells(n: int, k: int) -> Any:
    grid: list[list[list[int]]] = [[[] for _ in range(n)] for _ in range(n)]
    for t in range(3 * n):
        grid[t % n][(t * k) % n].append(t)
    return grid, len(grid[k]), len(grid[k][k])


def cells_row_by_row(n: int, k: int) -> Any:
    grid = []
    for _ in range(n):
        row: list[list[int]] = []
        for _ in range(n):
            row.append([])
        grid.append(row)
    for row in grid:
        row[k].append(len(row))
    return grid


def never_filled(n: int, k: int) -> Any:
    grid: list[list[list[int]]] = [[[] for _ in range(n)] for _ in range(n)]
    return grid, grid[k][k]


def of_three_lengths(n: int, k: int) -> Any:
    grid = [[[m + j for m in range(i)] for i in range(n)] for j in range(n)]
    return grid, grid[k][-1][0]


class Point:
    def __init__(self, x: int) -> None:
        self.x = x


def of_objects(n: int, k: int) -> Any:
    grid = [[Point(i * j) for i in range(n)] for j in range(n)]
    grid[0][k].x = 7
    return grid[k][k].x + sum(p.x for p in grid[0])


def appended(n: int, k: int) -> Any:
    out = []
    for i in range(n):
        out.append([[j] * j for j in range(i)])
    return out


def the_same_twice(n: int, k: int) -> Any:
    rows = [list(range(i)) for i in range(n)]
    out = [rows for _ in range(2)]
    rows[k].append(99)
    return out


def of_empty_tuples(n: int, k: int) -> Any:
    held = [() for _ in range(n)]
    return len(held), held[k]


def test_what_is_not_computed_is_refused() -> None:
    with pytest.raises(transkern.CompileError, match="lists of lists"):
        transkern.compile(target="cpu")(cells)(4, 1)


@pytest.mark.parametrize(
    "function",
    [cells_row_by_row, never_filled, of_three_lengths, of_objects, appended, the_same_twice, of_empty_tuples],
)  # fmt: skip
def test_is_pythons(function: Callable[..., Any]) -> None:
    alike(function, 4, 1, target="cpu")
