"""Warnings for what compiles and disappoints."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import on_target, require
from transkern import advising

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


def heard(function: Any, calls: int, *args: Any, **options: Any) -> list[str]:
    """What is said of a function that asks for advice, in so many calls."""
    compiled = transkern.compile(function, advice=True, **options)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(calls):
            compiled(*args)
    assert all(w.filename == __file__ for w in caught)
    return [str(w.message) for w in caught if w.category is transkern.PerformanceWarning]


def widened(x: Any) -> Any:
    return x * np.float64(3)


def recurrence(x: Any) -> Any:
    for k in range(1, len(x)):
        x[k] = x[k] * x[k - 1]
    return x


def test_advice_is_given_once_to_who_asks() -> None:
    (text,) = heard(widened, 40, np.ones(5, np.float32))
    assert "[TK3002]" in text and "np.float32(…)" in text
    (text,) = heard(recurrence, 3, np.ones(5))
    assert "the loop over `k` stays in order" in text and "[TK3003]" in text
    compiled = transkern.compile(widened)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled(np.ones(5, np.float32))


def test_the_environment_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRANSKERN_ADVICE", "1")
    with pytest.warns(transkern.PerformanceWarning, match="TK3002"):
        transkern.compile(widened)(np.ones(5, np.float32))
    monkeypatch.setenv("TRANSKERN_ADVICE", "0")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        transkern.compile(widened)(np.ones(5, np.float32))


def test_copies_to_a_device_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    on_target("cuda", monkeypatch)
    x = np.ones(1000)
    (text,) = heard(plain, 20, x, 2.0, target="cuda")
    assert "`plain` has been called 16 times with NumPy arrays: 8 kB are copied" in text and "[TK3004]" in text
    assert not heard(plain, 12, x, 2.0, target="cuda")


def sorted_of(x: Any) -> Any:
    return np.sort(x)


def draws(x: Any) -> Any:
    return np.random.random(3) + x


def test_a_function_that_numpy_is_quicker_with_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """On copies; what has effects beside its arguments is not called again, nor what has loops."""
    monkeypatch.setattr(advising, "_LOST", 0.0)
    monkeypatch.setattr(advising, "_SHORT", 0.0)
    (text,) = heard(sorted_of, 20, np.arange(1000.0)[::-1].copy())
    assert "`sorted_of` takes " in text and " in NumPy [TK3005]" in text
    assert heard(sorted_of, 12, np.ones(4)) == heard(draws, 20, np.ones(3)) == []
    assert "TK3005" not in "".join(heard(recurrence, 20, np.ones(5)))
    monkeypatch.setattr(advising, "_LOST", 1e9)
    assert heard(sorted_of, 20, np.ones(1000)) == []
