"""What is known of the numbers in a list holds of all that iterations put there, not of the first one's alone."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from tests.regressions.support import alike


def test_numbers_made_of_the_last_one() -> None:
    def counted(n: int) -> Any:
        places, table, total = [0], np.zeros(2), 0.0
        for _ in range(n):
            places.append(places[-1] + 1)
        for k in places:
            total += table[k]
        return total, places

    alike(counted, 1)
    alike(counted, 5)


def test_numbers_put_into_the_list_that_a_loop_goes_over() -> None:
    def doubled(n: int) -> Any:
        places, table, total = [0], np.zeros(4), 0.0
        for k in places:
            total += table[k]
            if k < n:
                places.append(k * 2 + 1)
        return total, places

    alike(doubled, 1)
    alike(doubled, 5)


def test_several_at_once() -> None:
    def extended(n: int) -> Any:
        places, table, total = [0], np.zeros(2), 0.0
        for i in range(n):
            places.extend([places[i // 2] + 1, 0])
        for k in places:
            total += table[k]
        return total, places

    alike(extended, 1)
    alike(extended, 5)


def test_counts_by_key() -> None:
    def twice(keys: list[int]) -> Any:
        count: defaultdict[int, int] = defaultdict(int)
        seen = set(keys)
        for x in keys:
            count[x] += 1
        return [c for c in count if count[c] == 2 and c in seen]

    alike(twice, [3, 1, 4, 1, 4, 5])
