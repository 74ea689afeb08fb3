"""What a check has said about sizes holds behind it: bounds of slices count from the beginning, and need no choice."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from transkern.ir.expr import Apply, Expr
from transkern.ir.traverse import exprs
from transkern.pipeline import program_of


def raising(x: Any, w: int) -> Any:
    if w > len(x):
        raise ValueError("longer than the series")
    return x[: len(x) - w] + 1


def returning(x: Any, w: int) -> Any:
    if len(x) < w:
        return x * 2
    return x[: len(x) - w] + 1


def several(x: Any, w: int) -> Any:
    if not (w <= len(x) and w > 0):
        raise IndexError("no such place")
    return x[w - 1 : len(x) - w + 1] * x[w - 1]


def correlated(x: Any, w: int) -> Any:
    return np.correlate(x, x, "full")[len(x) - 1 :]


def counted_anew(x: Any, w: int) -> Any:
    if w > len(x):
        raise ValueError("longer than the series")
    total = x[: len(x) - w].sum()
    for _ in range(3):
        w = w + 2
        total = total + x[: len(x) - w].sum()
    return total


def caught(x: Any, w: int) -> Any:
    try:
        if w > len(x):
            raise ValueError("longer than the series")
        y = x[: len(x) - w] * 2
    except ValueError:
        y = x[: len(x) - w] * 3
    return y


def in_a_loop(x: Any, w: int) -> Any:
    for k in range(w):
        if w > len(x):
            raise IndexError(f"{k}")
    return x[: len(x) - w]


def shortened(x: Any, w: int) -> Any:
    m = x
    if len(m) < 2:
        return m[: len(m) - 2] + 1
    while len(m) > max(w, 0):
        m = m[1:]
    return m[: len(m) - 2] + 1


def on_one_path(x: Any, w: int) -> Any:
    if x.sum() > 0:
        if w > len(x):
            raise ValueError("longer than the series")
        return x[: len(x) - w]
    return x[: len(x) - w] - 1


def _choices(e: Expr) -> bool:
    """Whether it is a choice by the sign of a place."""
    match e:
        case Apply("where", (Apply("less"), _, _), "index"):
            return True
        case _:
            return False


@pytest.mark.parametrize("function", [raising, returning, several, correlated])
def test_places_behind_a_check_are_no_choices(function: Callable[..., Any]) -> None:
    source = "import numpy as np\n" + inspect.getsource(function)
    program = program_of(source, function.__name__, f"{function.__name__}(float64[n], int)", ())
    assert not any(map(_choices, exprs(program.body)))


@pytest.mark.parametrize(
    "function",
    [raising, returning, several, correlated, counted_anew, caught, in_a_loop, shortened, on_one_path],
)
def test_places_are_pythons(function: Callable[..., Any]) -> None:
    for size in (0, 1, 2, 5):
        for w in (-6, -1, 0, 1, 2, 4, 5, 6, 9):
            alike(function, np.arange(size) * 1.0 - 2, w)
