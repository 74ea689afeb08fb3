"""One function in another is called for an array, then for a list: its loop's names had the first call's types."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import require

require("cc")


def _product(values: Any, total: Any) -> Any:
    for v in values:
        total = total * v
    return total


def _until(values: Any, most: Any) -> Any:
    k, last = 0, 0
    while k < len(values) and values[k] < most:
        last = values[k]
        k += 1
    return last


def of_array_and_list(x: Any) -> Any:
    return _product(x, 1), _product(x.tolist()[1:], 1), _product(x.astype(np.float32), 1)


def reduced(x: Any) -> Any:
    return functools.reduce(operator.mul, x, 1), functools.reduce(operator.mul, x.tolist()[1:], 1)


def in_tuples(x: Any) -> Any:
    found = []
    for most in (0.5, 9.0):
        found.append((_until(x, most), _until(x.tolist(), most), _until([int(v) for v in x], most)))
    return found


@pytest.mark.parametrize("function", [of_array_and_list, reduced, in_tuples])
@pytest.mark.parametrize("values", [[1.5, 2.0], [], [3.0]])
def test_each_call_has_its_types(function: Any, values: list[float]) -> None:
    alike(function, np.array(values), target="cpu")
