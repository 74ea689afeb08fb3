"""Functions that `np.vectorize` makes: called for each element, with numbers of Python's, and of one type of results."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target


def apart(a: Any, b: Any) -> Any:
    return a - b if a >= b else a + b


def length(x: Any, y: Any) -> Any:
    return math.sqrt(x**2 + y**2)


lengths = np.vectorize(length)
signs = np.vectorize(lambda t: 1.0 if t > 0 else -1.0 if t < 0 else 0.0, otypes=["float32"])


def made_inside(values: Any, k: Any) -> Any:
    return np.vectorize(apart)(values, k)


def captured(x: Any, y: Any) -> Any:
    return lengths(x, y) * 2


def of_a_given_type(x: Any) -> Any:
    return signs(x) + x, np.vectorize(lambda t: t * 1.75, otypes=[int])(x)


def of_three(x: Any, low: Any, high: Any) -> Any:
    return np.vectorize(lambda v, a, b: min(max(v, a), b))(x, low, high)


def changing(x: Any, seen: Any) -> Any:
    def visit(v: Any) -> Any:
        seen[0] += 1
        return v * 2

    return np.vectorize(visit)(x), seen


CALLS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (made_inside, (np.arange(8).reshape(2, 4), 4)),
    (made_inside, (np.array([1.5, 7.0, np.nan]), 3)),
    (made_inside, (np.arange(6)[::-2], np.arange(3.0))),
    (made_inside, (np.array([250, 7], np.uint8), 10)),
    (made_inside, (np.zeros(0), 4)),
    (captured, (np.arange(5), np.arange(5) * 2.0)),
    (captured, (np.array([[3.0], [1.0]]), np.array([4.0, 0.5]))),
    (of_a_given_type, (np.array([0.0, -0.0, 2.5, -1.0]),)),
    (of_a_given_type, (np.zeros((0, 2)),)),
    (of_a_given_type, (np.array([1.0, np.nan]),)),
    (of_three, (np.linspace(-1, 1, 6), 0.0, 0.5)),
    (changing, (np.arange(3.0), np.zeros(1))),
]


@pytest.mark.parametrize(("function", "arguments"), CALLS)
def test_like_numpy(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    alike(function, *arguments)


@pytest.mark.parametrize("target", ["cuda", "pallas"])
def test_on_devices(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    alike(made_inside, np.arange(8.0).reshape(2, 4), 4.0, target=target)


def of_a_choice(x: Any) -> Any:
    return np.vectorize(lambda v: v if v > 0 else np.float32(0.5))(x)


def of_several(x: Any) -> Any:
    return np.vectorize(lambda v: (v, v + 1))(x)


def of_numbers(x: Any) -> Any:
    return np.vectorize(abs)(x[0])


@pytest.mark.parametrize("function", [of_a_choice, of_several, of_numbers])
def test_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(transkern.CompileError):
        transkern.compile(function)(np.arange(3.0))


def test_another_function_in_it_is_seen() -> None:
    held = np.vectorize(length)

    def through(x: Any) -> Any:
        return held(x, 1.0)

    compiled = transkern.compile(through)
    x = np.arange(3.0)
    assert np.array_equal(compiled(x), through(x))
    held.pyfunc = apart
    assert np.array_equal(compiled(x), through(x))
