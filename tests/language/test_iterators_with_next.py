"""``iter(x)`` with a name, and `next` of it and of the user's iterators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from transkern.errors import CompileError

VALUES = [3, 1, 2, 0, 1, 4]


class Countdown:
    def __init__(self, n: int) -> None:
        self.n = n

    def __iter__(self) -> Countdown:
        return self

    def __next__(self) -> int:
        if self.n <= 0:
            raise StopIteration
        self.n -= 1
        return self.n


def test_of_lists() -> None:
    def taken(values: list[int], k: int) -> Any:
        deck, hand = iter(values), [0]
        while sum(hand) < k:
            try:
                hand.append(next(deck))
            except StopIteration:
                break
        items = [1, 2, 3]
        each = iter(items)
        items[1] = 9
        first = next(each), next(each)
        items.append(7)
        return hand, first, next(each), next(each)

    alike(taken, VALUES, 4)
    alike(taken, VALUES, 40)


def test_the_end() -> None:
    def taken(values: list[int], k: int) -> Any:
        each, total = iter(values), 0
        for _ in range(k):
            total = total * 3 + next(each)
        return total

    alike(taken, VALUES, 6)
    alike(taken, VALUES, 7)


def test_of_arrays_and_texts() -> None:
    def taken(n: int) -> Any:
        x = np.arange(2.0 * n).reshape(n, 2)
        rows, letters = iter(x), iter("abc")
        first, second = next(rows), next(rows)
        first[0] = 8
        return first, second, x, next(letters) + next(letters)

    alike(taken, 3)


def test_of_classes() -> None:
    def counted(k: int) -> Any:
        down, total = Countdown(k), 0
        try:
            while True:
                total = total * 2 + next(down)
        except StopIteration:
            return total

    alike(counted, 4)


def test_refused() -> None:
    def returned(values: list[int]) -> Any:
        return iter(values)

    def rest(values: list[int]) -> Any:
        each = iter(values)
        return next(each), list(each)

    for function in (returned, rest):
        with pytest.raises(CompileError):
            transkern.compile(function)(VALUES)


def test_generators_beside_a_method() -> None:
    def summed(values: list[int], k: int) -> Any:
        x = np.array(values, dtype=float)

        def batches() -> Any:
            for start in range(0, len(x), 2):
                yield x[start : start + 2]

        totals = []
        for _ in range(k):
            totals.append(sum(float(batch.sum()) for batch in batches()))
        return totals

    alike(summed, VALUES, 3)
