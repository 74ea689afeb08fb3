"""`verify=True`, read-only arguments, and what is put back into arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import require
from transkern.runtime import verifying

require("cc")


def scale(x: Any, state: dict, k: int) -> Any:
    x *= k
    state["sum"] = float(x.sum())
    if k < 0:
        raise ValueError(f"{k} is negative")
    return x[1:], k


def test_a_right_call_is_silent_and_runs_once_on_the_arguments() -> None:
    compiled = transkern.compile(scale, target="cpu", verify=True)
    x, state = np.arange(4.0), {"sum": 0.0}
    for _ in range(2):
        compiled(x, state, 2)
    assert x.tolist() == [0.0, 4.0, 8.0, 12.0]
    assert state == {"sum": 24.0}
    with pytest.raises(ValueError, match="-1 is negative"):
        compiled(x, state, -1)
    assert state == {"sum": -24.0}


DIFFERENCES = [
    (np.arange(3.0), np.array([0.0, 1.0, 3.0]), "the result[2] is 2.0, with NumPy 3.0"),
    (np.float32(1), 1.0, "the result is a float32, with NumPy a float"),
    (np.zeros(2), np.zeros((1, 2)), "the result is float64[2], with NumPy float64[1,2]"),
    ((1, [2.0]), (1, [3.0]), "the result[1][0] is 2.0, with NumPy 3.0"),
    ({"a": 1}, {"b": 1}, "the result has the keys ['a'], with NumPy ['b']"),
    (True, False, "the result is True, with NumPy False"),
    (np.array([1.0, np.nan]), np.array([1.0 + 1e-16, np.nan]), ""),
    (np.array([1e-17, 1.0]), np.array([0.0, 1.0]), ""),
]


@pytest.mark.parametrize(("found", "wanted", "text"), DIFFERENCES)
def test_differences_are_named(found: Any, wanted: Any, text: str) -> None:
    assert verifying.difference(found, wanted, "the result") == text


def test_a_wrong_result_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(function: Any, args: Any, outside: Any) -> Any:
        return verifying.Expected((np.array([9.0]), 3), None, args, {})

    monkeypatch.setattr(verifying, "expected", wrong)
    with pytest.raises(transkern.VerificationError, match=r"`scale`: the result\[0\] is float64\[3\], with NumPy"):
        transkern.compile(scale, target="cpu", verify=True)(np.ones(4), {"sum": 0.0}, 3)


def test_an_exception_that_numpy_does_not_raise_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifying, "expected", lambda function, args, outside: verifying.Expected(None, None, args, {}))
    with pytest.raises(transkern.VerificationError, match="ValueError: -3 is negative"):
        transkern.compile(scale, target="cpu", verify=True)(np.ones(4), {"sum": 0.0}, -3)


def adds(x: Any) -> None:
    x += 1


def assigns(x: Any) -> None:
    x[0] = 1


def squares(x: Any) -> None:
    np.square(x, out=x)


@pytest.mark.parametrize("function", [adds, assigns, squares])
def test_read_only_arrays_raise_numpys_error(function: Any) -> None:
    x = np.ones(3)
    x.flags.writeable = False
    with pytest.raises(ValueError) as wanted:
        function(x)
    with pytest.raises(ValueError) as found:
        transkern.compile(function, target="cpu")(x)
    assert str(found.value) == str(wanted.value)
