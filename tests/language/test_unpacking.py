"""Rows with more items than names, or fewer, in the targets of loops and comprehensions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target, require

require("cc")


def summed(e: Any) -> Any:
    s = 0.0
    for u, v in e:
        s += u * v
    return s


def listed(e: Any) -> Any:
    return [u + v for u, v in e]


def caught(e: Any) -> Any:
    s = 0.0
    try:
        for u, v in e:
            s += u + v
    except ValueError:
        s = -1.0
    return s


def nested(e: Any) -> Any:
    s = 0.0
    for _ in range(2):
        for u, _v in e:
            s += u
        s += 100
    return s


def numbered(e: Any) -> Any:
    s = 0.0
    for i, (u, v) in enumerate(e):
        s += i * u - v
    return s


def three_of_two(e: Any) -> Any:
    s = 0.0
    for i, v, w in enumerate(e):
        s += i + v[0] + w[0]
    return s


def side_by_side(e: Any) -> Any:
    s = 0.0
    for (u, v), w in zip(e, e):
        s += u + v * w[0]
    return s


def generated(e: Any) -> Any:
    return sum(u * v for u, v in e)


def in_a_branch(e: Any) -> Any:
    x = np.ones(3)
    if e.size < 5:
        for u, v in e:
            x[1] = u + v
    return x


def until_enough(e: Any) -> Any:
    s = 0.0
    while s < 3:
        for u, v in e:
            s += u + v
        s += 1
    return s


FUNCTIONS = [
    summed, listed, caught, nested, numbered, three_of_two, side_by_side, generated, in_a_branch, until_enough,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_rows_of_another_length(function: Callable[..., Any]) -> None:
    """What was behind the loop was lost, and the error with it."""
    for shape in ((2, 3), (2, 1), (0, 3), (2, 2), (0, 2)):
        alike(function, np.ones(shape))


@pytest.mark.parametrize("target", ["cuda", "pallas"])
def test_devices(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    for shape in ((2, 3), (2, 2)):
        for function in (summed, nested, in_a_branch):
            alike(function, np.ones(shape), target=target)
