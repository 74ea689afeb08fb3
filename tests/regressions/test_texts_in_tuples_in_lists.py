"""Texts with numbers, and named tuples, in tuples and lists that stand in lists: results have what was put there."""

from __future__ import annotations

from typing import Any, NamedTuple

import transkern
from tests.regressions.support import alike

VALUES = [3, 1, 2, 5, 4]


class Spot(NamedTuple):
    x: int
    y: int


def test_texts_in_tuples() -> None:
    def told(values: list[int], k: int) -> Any:
        log = [(x, f"{x / 2:.1f}") for x in values]
        nested = [(x, (f"a{x}", f"{x}")) for x in values]
        return log, log[:k] + log, nested

    alike(told, VALUES, 3)


def test_texts_in_rows() -> None:
    def told(values: list[int]) -> Any:
        rows = []
        for x in values:
            row = []
            for j in range(x):
                row.append(f"{j}")
            rows.append(row)
        return rows, [[(x, f"{x}")] * x for x in values]

    alike(told, VALUES)


def test_named_tuples() -> None:
    def returned(values: list[int]) -> Any:
        return [[Spot(x, j) for j in range(x)] for x in values], [(x, Spot(x, 2)) for x in values]

    alike(returned, VALUES)
    rows, pairs = transkern.compile(returned)(VALUES)
    assert all(type(spot) is Spot for row in rows for spot in row)
    assert all(type(spot) is Spot for _, spot in pairs)


def test_texts_of_two_paths() -> None:
    def chosen(values: list[int], k: int) -> Any:
        out = [f"{x}" for x in values]
        if k > 2:
            out = [f"a{x}" for x in values]
        return out, out[::-1]

    alike(chosen, VALUES, 3)
    alike(chosen, VALUES, 1)


def test_parts_of_lists_of_tuples() -> None:
    def replaced(values: list[int], k: int) -> Any:
        pairs = [(x, f"{x}") for x in values]
        pairs[1:k] = pairs[:2]
        numbers = [(x, 2 * x) for x in values]
        numbers[1:k] = reversed(numbers[1:k])
        numbers[::2] = numbers[: len(numbers[::2])]
        return pairs, numbers

    alike(replaced, VALUES, 3)
    alike(replaced, VALUES, 1)
