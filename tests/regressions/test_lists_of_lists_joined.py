"""Lists of lists of a run-time length that are put behind others, or are one of two after a branch: lists they stay."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern


def _changed_after_it(n: int, m: int) -> Any:
    if n > 0:
        cells = [[2] * m for _ in range(m)]
    else:
        cells = [[1] * m for _ in range(m)]
    cells[0][0] = 7
    return cells, cells[0], [row[0] for row in cells]


def _of_two_types(n: int, m: int) -> Any:
    return [[2.5] * m for _ in range(m)] if n > 0 else [[1] * m for _ in range(m)]


def _extended(n: int, m: int) -> Any:
    cells = [[n] * m for _ in range(m)]
    more = []
    more.extend(cells)
    more[0] = [3] * m
    return more, cells


@pytest.mark.parametrize("function", [_changed_after_it, _of_two_types, _extended])
def test_lists_in_a_list_stay_lists(function: Any) -> None:
    compiled = transkern.compile(function)
    for n in (0, 3):
        assert repr(compiled(n, 2)) == repr(function(n, 2))


def test_arrays_and_lists_in_one_list_are_refused() -> None:
    def mixed(x: Any) -> Any:
        rows = []
        rows.extend(x)
        rows += [[1.0] * len(x) for _ in range(len(x))]
        return rows

    with pytest.raises(transkern.CompileError, match="make all of them arrays, or all of them lists"):
        transkern.compile(mixed)(np.zeros((2, 2)))
