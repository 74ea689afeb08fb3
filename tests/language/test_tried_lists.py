"""Comprehensions in a `try` whose handler takes what they raise."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target


def roots(xs: Any) -> Any:
    x = -1.0
    try:
        found = [math.sqrt(x) for x in xs]
    except ValueError:
        found = []
    return found, x


def of_a_table(table: Any, keys: Any) -> Any:
    try:
        return [table[k] for k in keys]
    except KeyError:
        return [math.nan]


def summed(xs: Any, limit: Any) -> Any:
    total = 0.0
    for k in range(len(xs)):
        try:
            total += sum(1 / v for v in xs[k:] if v < limit) * 2
            total += np.array([[1 // int(v) for v in xs] for _ in range(2)]).sum()
        except ZeroDivisionError:
            total -= 100
    return total


def with_what_was_done(xs: Any, seen: Any) -> Any:
    def look(v: Any) -> Any:
        seen[0] += 1
        if v < 0:
            raise ValueError("negative")
        return v

    try:
        made = sorted([look(v) for v in xs])
    except ValueError:
        made = [seen[0]]
    return made


CALLS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (roots, ([1.0, 4.0],)),
    (roots, ([1.0, -4.0, 9.0],)),
    (roots, ([],)),
    (roots, (np.array([4, 9]),)),
    (of_a_table, ({1: 2.0, 2: 3.0}, [1, 2, 1])),
    (of_a_table, ({1: 2.0}, [1, 5])),
    (summed, ([1.0, 2.0, 4.0], 9.0)),
    (summed, ([1.0, 0.0, 4.0], 9.0)),
    (summed, ([0.5, 3.0], 0.0)),
    (with_what_was_done, (np.array([3.0, 1.0]), np.zeros(1))),
    (with_what_was_done, (np.array([3.0, -1.0, 2.0]), np.zeros(1))),
]


@pytest.mark.parametrize(("function", "arguments"), CALLS)
def test_like_python(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    alike(function, *arguments)


def test_on_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    on_target("cuda", monkeypatch)
    alike(roots, [1.0, -4.0], target="cuda")
    alike(roots, [1.0, 4.0], target="cuda")
