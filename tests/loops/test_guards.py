"""What is asked in each iteration alike is asked once, and what is seen before an error is what NumPy shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from transkern import pipeline
from transkern.frontend.sources.source import live_function
from transkern.frontend.specialise import specialise
from transkern.frontend.values.types import parse_signature
from transkern.ir import nodes as n
from transkern.ir.traverse import walk


def mean_of_squares(x: Any, size: int) -> Any:
    return x / size**2


def of_two(x: Any, size: int) -> Any:
    return np.outer(x, x) * (size * size * size)


def stored_before(x: Any, size: int) -> Any:
    for i in range(len(x)):
        x[i] = i
        x[i] += size**2
    return x


def stored_behind(x: Any, size: int) -> Any:
    for i in range(len(x)):
        x[i] += float(size**2)
        x[i] -= size * size * size
    return x


def in_a_branch(x: Any, size: int) -> Any:
    y = np.zeros(len(x))
    for i in range(len(x)):
        if x[i] > 1:
            y[i] = size**2
    return y


def one_place(x: Any, size: int) -> Any:
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i] = x[size] + i
    return y


def one_place_later(x: Any, size: int) -> Any:
    for i in range(len(x)):
        x[i] = 7
        x[i] = x[size] + i
    return x


def downwards(x: Any, size: int) -> Any:
    y = np.zeros(len(x))
    for i in range(len(x) - 1, 0, -1):
        for j in range(i):
            y[i] += x[size] * j
    return y


def by_a_name(x: Any, size: int) -> Any:
    y = np.zeros(len(x))
    for i in range(len(x)):
        place = size // 2
        y[i] = i + x[place]
    return y


def under_what_is_the_same(x: Any, size: int) -> Any:
    y = np.zeros(len(x))
    for i in range(len(x)):
        for _ in range(2):
            if size > -3:
                part = x[size] * 2
                if size < 2**40:
                    y[i] += i + part
    return y


def under_what_changes(x: Any, size: int) -> Any:
    y = np.zeros(len(x))
    for i in range(len(x)):
        last = size // 2 - i
        if i > 2:
            y[i] = x[last] + x[size]
    return y


FUNCTIONS = (
    mean_of_squares, of_two, stored_before, stored_behind, in_a_branch, one_place, one_place_later, downwards,
    by_a_name, under_what_is_the_same, under_what_changes,
)  # fmt: skip


@pytest.mark.parametrize("function", [mean_of_squares, of_two, one_place, by_a_name], ids=lambda f: f.__name__)
def test_loops_have_no_checks(function: Callable[..., Any]) -> None:
    signature = f"{function.__name__}(float64[n],int)"
    made = pipeline.run(specialise(live_function(function), parse_signature(signature)[1], True))
    assert any(isinstance(s, n.Guard) for s in made.body)
    loops = [s for s in walk(made.body) if isinstance(s, n.Loop)]
    assert loops and not any(isinstance(x, n.Guard) for loop in loops for x in walk((loop,)))


@pytest.mark.parametrize("size", [0, 1, 3, -2, 2**20, 2**40, -(2**40), 2**62, -(2**63), 2**63 - 1])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_they_are_as_numpys(function: Callable[..., Any], size: int) -> None:
    compiled = transkern.compile(function)
    for count in (0, 1, 2, 5):
        given = np.arange(float(count))
        wanted, got = given.copy(), given.copy()
        try:
            result = function(wanted, size)
        except IndexError as error:
            with pytest.raises(IndexError, match=str(error)):
                compiled(got, size)
        else:
            try:
                made = compiled(got, size)
            except OverflowError as error:
                assert "64 bits" in str(error) and abs(size) > 2**20  # Python's integers have no end
                continue
            np.testing.assert_array_equal(made, result)
        np.testing.assert_array_equal(got, wanted)
