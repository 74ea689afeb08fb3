"""A change of an array is seen by all that is still read: beside it in the statement, and by functions that hold it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from transkern.errors import CompileError


def test_in_one_statement() -> None:
    def in_tuple(y: Any, k: int) -> Any:
        w = np.zeros(3)
        if k:
            w = y
        return y.fill(4), w[0]

    def in_dict(y: Any, k: int) -> Any:
        w = y if k else np.zeros(3)
        return {"a": np.add.at(y, 0, 5), "b": w[0]}

    def in_condition(y: Any, k: int) -> Any:
        w = y if k else np.zeros(3)
        if y.fill(3) is None and w[0] > 2:
            return 1
        return 2

    def in_lambda(y: Any, k: int) -> Any:
        w = np.zeros(3)
        if k:
            w = y
        both = lambda: (y.fill(4), w[0])  # noqa: E731 - a body without statements
        return both()

    for function in (in_tuple, in_dict, in_condition, in_lambda):
        alike(function, np.arange(3.0), 1)
        alike(function, np.arange(3.0), 0)


def _getter(y: Any, k: int) -> Callable[[int], Any]:
    w = np.zeros(3)
    if k:
        w = y
    return lambda i: w[i]


def test_by_functions_that_are_returned() -> None:
    """Refused, as a copy would hold what the array was."""

    def read(y: Any, k: int) -> Any:
        get = _getter(y, k)
        y[0] = 9
        return get(0)

    with pytest.raises(CompileError):
        transkern.compile(read)(np.arange(3.0), 1)


def test_where_nothing_is_changed() -> None:
    def read(y: Any, k: int) -> Any:
        get = _getter(y, k)
        return get(0) + get(1)

    alike(read, np.arange(3.0), 1)
    alike(read, np.arange(3.0), 0)
