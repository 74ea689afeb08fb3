"""Lists times a number that only the run knows: of several values, of lists, of texts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike


@pytest.mark.parametrize("n", [3, 0, -2])
def test_several_values(n: int) -> None:
    def of_two_types(n: Any) -> Any:
        a = [1, 2.5] * n
        return a, len(a), [i for i, flag in enumerate(n * [True, False]) if flag]

    alike(of_two_types, n)


@pytest.mark.parametrize("n", [3, 0])
def test_texts(n: int) -> None:
    def joined(n: Any) -> Any:
        return "".join(["ab"] * n)

    alike(joined, n)


@pytest.mark.parametrize(("n", "m"), [(5, 4), (2, 2), (1, 3)])
def test_lists_as_often_as_others_leave_room(n: int, m: int) -> None:
    def filled(n: Any, m: Any) -> Any:
        rows = [[0, 1], [1, 1]]
        others = [[k % 2, 1] for k in range(m)]
        return others + [rows[0]] * (n - len(others))

    alike(filled, n, m)


@pytest.mark.parametrize("n", [3, 0])
def test_one_list_under_several_names(n: int) -> None:
    def changed(n: Any) -> Any:
        a = [[0] * 3] * n
        if n > 0:
            a[0][1] = 7
        return a

    alike(changed, n)


def test_tuples_appended_to() -> None:
    def pairs(x: Any) -> Any:
        k = int(np.sum(x > 0))
        a = [(1, 2.0)] * k
        a.append((3, 4.0))
        return a

    for x in (np.array([1.0, -1.0, 2.0]), np.zeros(2)):
        alike(pairs, x)
