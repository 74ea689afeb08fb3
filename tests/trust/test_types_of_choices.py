"""A number that a run-time condition chooses of Python's is handed back as what it is: an int or a float."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import on_target


def chosen(x: Any) -> Any:
    numbers = {"low": 1.0, "high": int(x[1])}
    one = max(numbers[key] for key in ("low", "high"))
    two = min(v for v in [1.0, int(x[1]), 2.5])
    three = 1 if x[1] > 3 else 2.5
    if x[1] > 3:
        four = 1
    else:
        four = 2.5
    five = 0
    for _ in range(int(x[1])):
        five = five + 0.5
    return one, two, three, four, five, max((1.0, int(x[1])), key=lambda v: -v)


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_numbers_are_of_the_type_that_was_chosen(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    compiled = transkern.compile(chosen, target=target, allow_float32=target == "pallas")
    for high in (0, 6):
        x = np.array([0, high], np.int16)
        assert list(map(repr, compiled(x))) == list(map(repr, chosen(x)))
