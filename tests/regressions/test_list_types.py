"""Numbers of every type in lists of floats come back as what they are, or are refused if floats do not hold them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from transkern.errors import EMPTY, NOT_HELD


def stored(x, s):
    x[0] = s
    return x


def appended(x, s):
    x.append(s)
    return x, x[-1]


def before_an_error(x, s):
    x[1] = s
    raise ValueError("after the store")


NUMBERS = (3, -1.5, 1 + 2j, np.float64(2), *(t(3) for t in (
    np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float16, np.float32,
    np.complex64, np.complex128,
)))  # fmt: skip


def outcome(function: Callable[..., Any], number: Any) -> tuple[str, str]:
    given = [0.5, 3.0, -0.0]
    try:
        result = repr(function(given, number))
    except ValueError as error:
        result = str(error)
    return result, repr(given)


@pytest.mark.filterwarnings("error", "ignore::transkern.PerformanceWarning")
@pytest.mark.parametrize("function", [stored, appended, before_an_error])
def test_types_are_kept(function: Callable[..., Any]) -> None:
    compiled = transkern.compile(function, target="cpu")
    for number in NUMBERS:
        assert outcome(compiled, number) == outcome(function, number), repr(number)


@pytest.mark.parametrize("number", [2**53 + 1, -(2**53) - 1, np.int64(2**62 + 1), np.uint64(2**64 - 1)])
def test_integers_that_no_float_holds(number: Any) -> None:
    with pytest.raises(OverflowError) as caught:
        transkern.compile(stored, target="cpu")([0.5, 1.0], number)
    assert str(caught.value) == NOT_HELD
    assert transkern.compile(stored, target="cpu")([0.5, 1.0], type(number)(2**53 - 1))[0] == 2**53 - 1


def lists_of_one_list(x: Any, k: Any) -> Any:
    pairs = list(zip(x, k, strict=True))
    both = [pairs, pairs, pairs]
    return both, both == [pairs], len(both[2]), [len(p) for p in both]


def test_pools_of_tuples_have_room() -> None:
    """The columns of what lists of tuples stand in had as much room as one of these."""
    for n in (0, 1, 40):
        alike(lists_of_one_list, np.arange(float(n)), np.arange(n))


def extremes_of_what_may_be_empty(k: int, m: int) -> Any:
    one, two = [], []
    for i in range(k):
        one.append(i + 1)
    for i in range(m):
        two.append(i * i)
    a, c = np.sum(one), np.prod(two)
    at = max(0, a)
    return max(0, a), max(0.0, a), max(a, 2.5), max(1, a, 0), max([a, 7]), np.arange(30)[at], max(7, c), min(0, a - 9.5)


def as_numpy_or_refused(k: int, m: int) -> Any:
    one = []
    for i in range(k):
        one.append(i + 1)
    a = np.sum(one)
    return min(1, a), max(a, 0), max(a, m)


def test_python_extremes_of_sums_of_lists_that_may_be_empty() -> None:
    """The type was that of a list with elements (fuzz, seed 100805077)."""
    for k, m in ((0, 0), (3, 0), (0, 3), (2, 4)):
        alike(extremes_of_what_may_be_empty, k, m)
    alike(as_numpy_or_refused, 3, 2)
    with pytest.raises(RuntimeError) as caught:
        transkern.compile(as_numpy_or_refused, target="cpu")(0, 2)
    assert str(caught.value) == EMPTY


def states_to_visit(start):
    queue, total = [start.copy()], 0
    while queue:
        state = queue.pop(0)
        total += int(state.sum())
        if state[0] > 0:
            below = state.copy()
            below[0] -= 1
            queue.append(below)
        if state[1] > 2:
            queue.append(state - np.array([0, 2]))
    return total


def tuples_with_arrays(start):
    stack, total, steps = [(start, 0)], 0, 0
    while stack and steps < 100:
        steps += 1
        state, depth = stack.pop()
        total += depth
        if state[0] > 0:
            stack.append((state - 1, depth + 1))
            stack.append((state - 2, depth + 1))
    return total, steps, len(stack)


@pytest.mark.parametrize("function", [states_to_visit, tuples_with_arrays])
@pytest.mark.parametrize("target", ["cpu", "pallas"])
def test_of_the_elements_of_listed_arrays_nothing_is_known(function: Callable[..., Any], target: str) -> None:
    """A list that begins empty knows that its numbers are within nothing; arrays in it left that as it was, and no
    condition on their elements could hold."""
    alike(function, np.array([3, 6]), target=target)
