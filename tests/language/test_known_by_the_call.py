"""What is settled where a function is called: that a list has no None left, how wide a text is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import require


def labels(x: Any, least: float) -> Any:
    found = [None] * len(x)
    for k in range(len(x)):
        if x[k] > least:
            found[k] = k
    return np.array(found)


def codes(n: int, digits: int) -> Any:
    return [f"{k ^ (k >> 1):0{n}b}" for k in range(5)], f"{n / 3:.{digits}f}"


def test_an_array_of_a_list_that_may_have_none_in_it() -> None:
    require("cc")
    compiled = transkern.compile(labels)
    x = np.array([0.5, 1.5, 2.5])
    found = compiled(x, 0.0)
    assert found.dtype == np.int64
    assert found.tolist() == labels(x, 0.0).tolist()
    with pytest.raises(RuntimeError, match="a list with None in it has become an array"):
        compiled(x, 1.0)
    assert compiled(x[:0], 0.0).dtype == np.float64


def test_a_format_with_numbers_of_the_call_in_it() -> None:
    require("cc")
    compiled = transkern.compile(codes)
    for given in ((3, 1), (4, 0), (6, 3)):
        assert compiled(*given) == codes(*given)
