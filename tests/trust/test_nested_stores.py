"""Lists of any nesting on their way into an element or a part of an array: NumPy's answer, or its very error."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern

Pair = namedtuple("Pair", "a b")

NESTED: list[Any] = [
    [(np.int8(-1), np.float64(1.0)), np.ones(1, np.int8)],
    [[1, 2], [3]],
    [[1], [2]],
    [1, [2]],
    [[]],
    [],
    [np.ones(1), np.ones(2)],
    [np.ones(2), (1, 2)],
    [(1, 2), (3, 4)],
    [np.ones((1, 1))],
    [np.ones((1, 1)), np.ones((1, 2))],
    [[np.float64(1)]],
    (np.ones(1), (1, 2)),
    [[[1]], [2]],
    [[[1, 2], [3]], [[4], [5]]],
    [[[1], [2]], [[4], [5, 6]]],
    [np.array(1.0)],
    [[np.array(1.0)], np.array([2.0])],
    [1, np.ones(1)],
    [range(2), range(3)],
    [Pair(1, 2), Pair(3, 4)],
    [Pair(1, [2]), (3, 4)],
    Pair(np.ones((1, 1)), np.ones((3, 1))),
    Pair(1, 2),
]


def element(x: Any, k: Any, v: Any) -> Any:
    x[k] = v
    return x


def whole(x: Any, k: Any, v: Any) -> Any:
    x[...] = v
    return x


def outcome(function: Callable[..., Any], *args: Any) -> Any:
    with np.errstate(all="ignore"):
        try:
            return function(*args).tolist()
        except transkern.CompileError:
            raise
        except Exception as error:  # whatever NumPy raises
            return type(error).__name__, str(error)


@pytest.mark.parametrize("shape", [(2,), (2, 2)], ids=str)
@pytest.mark.parametrize("dtype", ["complex128", "int64", "bool"])
@pytest.mark.parametrize("store", [element, whole], ids=lambda f: f.__name__)
def test_nested(store: Callable[..., Any], dtype: str, shape: tuple[int, ...]) -> None:
    compiled = transkern.compile(store, target="cpu")
    checked = 0
    for value in NESTED if dtype == "complex128" else NESTED[::3]:  # each is code of its own
        made = [np.ones(shape, dtype) for _ in range(2)]
        expected = outcome(store, made[0], 0, value)
        try:
            given = outcome(compiled, made[1], 0, value)
        except transkern.CompileError:
            continue  # a refusal, where the shapes of items have no common number of axes
        checked += 1
        assert given == expected, value
        assert np.array_equal(made[1], made[0]), value
    assert checked > (12 if dtype == "complex128" else 4)
