"""Arrays in lists whose lengths only the run knows, put together as rows or columns of one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import require

require("cc")


def lags_and_ones(y: Any, p: int) -> Any:
    return np.column_stack([y[p - i - 1 : -i - 1] for i in range(p)] + [np.ones(len(y) - p)])


def rows(y: Any, p: int) -> Any:
    return np.vstack([y[i : len(y) - p // 4 * i] for i in range(p)] + [y[p // 3 :]])


def stacked(y: Any, p: int) -> Any:
    found = [y[:p]]
    for i in range(p):
        found.append(y[i : 2 * i] if i > 3 else y[1 : p + 1])
    return np.stack(found, axis=1), np.dstack(found)


@pytest.mark.parametrize("function", [lags_and_ones, rows, stacked], ids=lambda f: f.__name__)
def test_rows_of_one_length_and_of_several(function: Any) -> None:
    for p in (0, 1, 2, 4, 5, 7, 9):
        alike(function, np.arange(7.0), p)
