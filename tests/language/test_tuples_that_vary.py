"""Tuples of integers are known by value (shapes, axes), until they are others again and again (positions)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import require

require("cc")


class Walker:
    def __init__(self) -> None:
        self.at, self.size, self.last = (0, 0), (5, 4), ((0, 0), (1, 2))
        self.seen = np.zeros(self.size)

    def step(self, i: int, j: int) -> Any:
        self.at = (self.at[0] + i) % self.size[0], (self.at[1] + j) % self.size[1]
        self.seen[self.at] += 1
        self.last = (self.last[1], self.at)
        return self.seen[self.last[0]], self.at


def distances(grid: Any, start: tuple[int, int], goal: tuple[int, int]) -> Any:
    found = np.full(grid.shape, -1)
    found[start] = 0
    todo = [start]
    while todo:
        i, j = todo.pop(0)
        if (i, j) == goal:
            break
        for a, b in ((i + 1, j), (i, j + 1)):
            if a < grid.shape[0] and b < grid.shape[1] and found[a, b] < 0 and grid[a, b] == 0:
                found[a, b] = found[i, j] + 1
                todo.append((a, b))
    return found, start


def zeros(shape: tuple[int, ...], k: int) -> Any:
    x = np.zeros(shape)
    x[0] += k
    return x, x.shape == shape


def sums(x: Any, axes: tuple[int, ...]) -> Any:
    return x.sum(axis=axes)


def test_attributes_that_move() -> None:
    f = transkern.compile(Walker.step, target="cpu")
    ours, pythons = Walker(), Walker()
    for k in range(12):
        assert f(ours, k, k % 3) == pythons.step(k, k % 3)
        assert (ours.at, ours.last) == (pythons.at, pythons.last) and np.array_equal(ours.seen, pythons.seen)
        assert all(type(v) is int for v in ours.at)
    assert len(f.cache_info().specialisations) <= 4


def test_positions() -> None:
    f = transkern.compile(distances, target="cpu")
    grid = np.zeros((4, 5), int)
    grid[1, 2] = 1
    for start in ((0, 0), (1, 1), (2, 0), (0, 3), (3, 4), (1, 0)):
        for ours, pythons in zip(f(grid, start, (3, 3)), distances(grid, start, (3, 3)), strict=True):
            assert np.array_equal(ours, pythons) and type(ours) is type(pythons)
    with pytest.raises(IndexError):
        f(grid, (9, 0), (3, 3))
    assert len(f.cache_info().specialisations) <= 3


def test_shapes_and_axes() -> None:
    f, g = transkern.compile(zeros, target="cpu"), transkern.compile(sums, target="cpu")
    for shape in ((2,), (3,), (4,), (5,), (2, 3), (3, 2), (3, 4), (0,), (4, 1)):
        if shape == (0,):
            with pytest.raises(IndexError):
                f(shape, 1)
            continue
        (ours, known), (pythons, _) = f(shape, 1), zeros(shape, 1)
        assert known and np.array_equal(ours, pythons) and ours.shape == shape
    x = np.arange(24.0).reshape(2, 3, 4)
    for axes in ((0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (-1,), (0, 1, 2)):
        assert np.array_equal(g(x, axes), sums(x, axes))
