"""A number that a run-time condition chooses of Python's is handed back as what it is: an int or a float."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import on_target
from tests.trust.against_python import difference


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


BESIDE_NUMPY = (
    "x.min() if n > 2 else 0", "x[0] if n > 2 else 1.5", "n if n > 2 else x[0]", "x[0] > 1 if n > 2 else False",
    "(n * 0.5, x.max() if n > 2 else n)", "sum(x[:n])", "sum(x[:n], 0.5)", "sum([float(v) for v in x[:n]])",
    "r = 0\nif n > 2:\n    r = x.mean()\nreturn r", "r = 0.5\nif n > 2:\n    r = x[1]\nreturn r + 1, -r, r",
)  # fmt: skip


@pytest.mark.parametrize("text", BESIDE_NUMPY)
def test_python_s_numbers_beside_numpy_s(text: str) -> None:
    """Also an integer of NumPy's that the float beside it does not hold."""
    for dtype in ("float64", "float32", "int64", "uint8"):
        for n in (0, 2, 3):
            assert not difference(text, "x, n", [np.arange(4, dtype=dtype), n])
    assert not difference(text, "x, n", [np.array([2**53 + 1] * 3), 3])


DIVIDED = (
    "s = 0\nc = 0\nfor v in x:\n    if v > n:\n        s += v\n        c += 1\nreturn s / c",
    "s = 0\nfor v in x[:n]:\n    s += v\nreturn s / n",
    "s = 0.0\nfor v in x[:n]:\n    s += v\nreturn 1 / s",
    "s = x[0] if n > 2 else 0\nreturn 3 / s",
    "s = x[0] if n > 2 else n\nreturn s // 0, s % 0",
    "s = x[0] if n > 2 else 0\nreturn s / x[0]",
    "s = x[1] if n > 2 else 0.0\nreturn s ** -1.0",
    "sum(x[:n]) / n",
)


@pytest.mark.parametrize("text", DIVIDED)
def test_python_s_zero_is_divided_by_as_python_does(text: str) -> None:
    """It was divided as NumPy's: the mean of no numbers was NaN, where Python raises ZeroDivisionError."""
    for dtype in ("float64", "float32", "int64"):
        for n in (0, 2, 3, 5):
            assert not difference(text, "x, n", [np.arange(4, dtype=dtype), n])
