"""`choice` of one element: drawn where it is asked for, the same as NumPy's, with NumPy's complaints."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern

MAKERS = [np.random.default_rng, np.random.RandomState]


def states(rng: Any, likely: Any, n: int) -> Any:
    out = np.zeros(n, dtype=np.int64)
    s = rng.choice(len(likely), p=likely[0])
    for t in range(n):
        out[t] = s
        s = rng.choice(likely.shape[1], p=likely[s])
    return out, rng.random()


def elements(rng: Any, values: Any, p: Any, n: int) -> Any:
    total = values[0] * 0
    for _ in range(n):
        total += rng.choice(values, p=p) * 2 + rng.choice(values)
    return total, rng.choice(n + 3), rng.choice(values, 3), rng.choice(values, p=p, size=(2, 2)), rng.random()


def of_list(rng: Any, n: int) -> Any:
    return [rng.choice([3, 1, 2]) for _ in range(n)], rng.choice(5, replace=False), rng.choice(5)


def one(rng: Any, given: Any, p: Any) -> Any:
    return rng.choice(given, p=p)


def same(function: Callable[..., Any], make: Callable[..., Any], *arguments: Any) -> None:
    """The same result or error, of the same types, and the generator left in the same state."""
    outcomes = []
    for called in (transkern.compile(target="cpu")(function), function):
        rng = make(7)
        try:
            found = called(rng, *copy.deepcopy(arguments))
        except ValueError as error:
            found = str(error)
        outcomes.append((found, rng.random()))
    np.testing.assert_equal(outcomes[0], outcomes[1])
    assert type(outcomes[0][0]) is type(outcomes[1][0])


@pytest.mark.parametrize("make", MAKERS)
def test_is_numpys(make: Callable[..., Any]) -> None:
    random = np.random.default_rng(0)
    likely = random.random((7, 7))
    likely[:, 3] = 0.0
    likely /= likely.sum(axis=1, keepdims=True)
    same(states, make, likely, 500)
    for dtype in (np.float64, np.float32, np.int32):
        same(elements, make, (random.random(6) * 50).astype(dtype), np.full(6, 1 / 6), 40)
    p = np.array([0.25, 0.5, 0.25], dtype=np.float32)
    same(elements, make, np.array([1.5, -0.0, np.inf]), p, 5)
    same(of_list, make, 20)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize(
    ("given", "p"),
    [
        (3, np.array([0.5, 0.5])), (2, np.array([np.nan, 1.0])), (2, np.array([-0.5, 1.5])), (2, np.array([0.5, 0.4])),
        (2, np.array([0.5, 0.5 + 1e-9])), (2, np.array([0.5, 0.5 + 1e-7])), (np.zeros(0), np.zeros(0)),
        (0, np.zeros(0)), (1, np.array([1.0])), (2, np.array([np.inf, 0.5])), (2, np.array([[0.5, 0.5]])),
        (-3, np.array([1.0])), (2, np.array([0.0, 1.0])), (np.array([7, 8]), np.array([1.0, 0.0])),
        (2, np.array([1, 0])),
    ],
)  # fmt: skip
def test_complaints_are_numpys(make: Callable[..., Any], given: Any, p: Any) -> None:
    same(one, make, given, p)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
@pytest.mark.parametrize("seed", range(6))
def test_how_far_a_sum_may_be_from_one_depends_on_the_type(make: Callable[..., Any], dtype: Any, seed: int) -> None:
    p = np.random.default_rng(seed).random(9).astype(dtype)
    p /= p.sum()
    same(one, make, 9, p)
    same(one, make, 9, p.tolist())


def test_one_is_chosen_without_a_call_of_python() -> None:
    likely = np.array([[0.9, 0.1], [0.2, 0.8]])
    compiled = transkern.compile(target="cpu")(states)
    compiled(np.random.RandomState(0), likely, 10)
    began = time.perf_counter()
    compiled(np.random.RandomState(0), likely, 20_000)
    assert time.perf_counter() - began < 0.2  # NumPy's own takes 0.3 s, a call from compiled code did 2 s
