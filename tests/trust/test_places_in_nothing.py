"""A subscript that fits no position is one of an empty list, too: the error is Python's for that."""

from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike


def read(k: Any) -> Any:
    found: list[float] = []
    return found[k]


def popped(k: Any) -> Any:
    found: list[float] = []
    return found.pop(k)


def deleted(k: Any) -> Any:
    found: list[float] = []
    del found[k]


def of_tuple(k: Any) -> Any:
    return ()[k]


def given(values: Any, k: Any) -> Any:
    return values[k]


@pytest.mark.parametrize("k", [np.uint64(1 << 63), np.uint64(5), 5, -1, np.int64(-1)])
def test_positions_in_nothing(k: Any) -> None:
    for function in (read, popped, deleted, of_tuple):
        alike(function, k)
    alike(given, [], k)
    alike(given, (), k)
    alike(given, [1.0], k)
