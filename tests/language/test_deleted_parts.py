"""``del values[a:b]`` of lists whose length only the run knows, and with ends that only it knows."""

from __future__ import annotations

from typing import Any

import pytest

from tests.regressions.support import alike


def test_the_best_ones() -> None:
    def best(values: list[int], k: int) -> Any:
        kept: list[int] = []
        for x in values:
            kept.append(x)
            kept.sort(reverse=True)
            del kept[k:]
        return kept

    for k in (2, 0, 7, -1):
        alike(best, [3, 1, 2, 5, 4], k)


@pytest.mark.parametrize("k", [2, 0, -2, 9, -9])
def test_any_part(k: int) -> None:
    def parts(values: list[int], k: int) -> Any:
        doubled = [2 * x for x in values]
        between, front, behind, turned, everything = doubled[:], doubled[:], doubled[:], doubled[:], doubled[:]
        del between[1:k]
        del front[:k]
        del behind[-k:]
        del turned[k::-2]
        del everything[:]
        return between, front, behind, turned, everything

    alike(parts, [3, 1, 2, 5, 4], k)


def test_of_other_elements() -> None:
    def others(values: list[int], k: int) -> Any:
        pairs = [(x, [x] * x) for x in values]
        del pairs[k:]
        rows = [[x] * x for x in values]
        del rows[:k]
        del rows[0][k:]
        words = [str(x) for x in values]
        del words[k:]
        return pairs, rows, words

    alike(others, [3, 1, 2, 5, 4], 2)
    alike(others, [3, 1, 2, 5, 4], 0)


def test_of_known_items() -> None:
    def known(k: int) -> Any:
        items = [1, 2, 3, 4]
        del items[k // 2 :]
        return items

    alike(known, 3)
    alike(known, 9)
