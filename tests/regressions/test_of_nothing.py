"""Functions that take any number of arrays, and are given none: NumPy's answer or error, not one of the compiler's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import require

require("cc")


def types_of_none(x: Any, *rest: Any) -> Any:
    return np.zeros(2, np.result_type(*rest))


def broadcast_of_none(x: Any, *rest: Any) -> Any:
    return len(np.broadcast_arrays(*rest)), x


def blocks_of_none(x: Any) -> Any:
    return np.block([])


def blocks_of_rows_of_none(x: Any) -> Any:
    return np.block([[x, x], []])


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    try:
        return repr(function(*args))
    except (ValueError, TypeError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("function", [types_of_none, broadcast_of_none, blocks_of_none, blocks_of_rows_of_none])
def test_none(function: Callable[..., Any]) -> None:
    assert outcome(transkern.compile(function), np.ones(3)) == outcome(function, np.ones(3))


def no_axes(x: Any) -> Any:
    return np.ravel_multi_index((), ()) + x


def test_an_index_without_axes_is_refused() -> None:
    with pytest.raises(transkern.CompileError, match="needs a tuple of as many indices"):
        transkern.compile(no_axes)(np.ones(3))
