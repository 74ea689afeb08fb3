"""Warnings for what compiles and disappoints."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import require

require("cc")


def powers(x: Any, k: int) -> Any:
    return x.reshape((1,) * k + x.shape) + 1


def plain(x: Any, k: int) -> Any:
    return x * k


def test_a_function_that_is_compiled_again_and_again_says_which_argument_it_is() -> None:
    compiled = transkern.compile(powers)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for k in range(1, 19):
            assert compiled(np.ones(2), k).ndim == k + 1
    (one,) = [w for w in caught if w.category is transkern.PerformanceWarning]
    text = str(one.message)
    assert "`powers` has been compiled 16 times: `k` differs from call to call, now 16 [TK3001]" in text
    assert "\n  help: " in text and one.filename == __file__


def test_numbers_that_take_part_in_arithmetic_are_no_part_of_the_code() -> None:
    compiled = transkern.compile(plain)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k in range(40):
            compiled(np.ones(k + 2), k)
    assert len(compiled.cache_info().specialisations) < 4


@pytest.mark.parametrize("kind", [UserWarning, transkern.PerformanceWarning])
def test_it_is_a_warning_that_one_can_turn_off(kind: type[Warning]) -> None:
    compiled = transkern.compile(powers)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", kind)
        for k in range(1, 18):
            compiled(np.ones(3), k)
