"""What the Pallas target got wrong; found by generated programs (`make fuzz`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import require

require("jax")

_SPECIAL = np.array([0.0, -0.0, 1.5, -2.5, 3.0, -3.0, np.inf, -np.inf, np.nan, 0.1, -7.0])


def floored(x: Any, k: int) -> Any:
    """`spelling`: XLA's // and % do not give zeros NumPy's signs."""
    return x // k, x % k, x[:, None] % x, x[:, None] // x, x[0] // -2


def wrapped(x: Any, y: Any) -> Any:
    """`vector.cast`: XLA cuts a float to the range of an integer type, C's conversion wraps."""
    y[0] += x[0]
    return x.astype(np.uint8), x.astype(np.uint32), x.astype(np.uint64), x.astype(np.int8)


def chosen_by_factor(x: Any) -> Any:
    """`vector.cast`: XLA takes a product with the cast of a bool for a choice, and loses 0 * nan."""
    return np.isnan(x) * x.sum()


def sums_of_negative_zeros(x: Any) -> Any:
    """`reductions`: XLA leaves out the 0.0 that a sum begins with."""
    return x[1:2].sum(), x + 0.0, x[1].sum()


def static_truth(a: Any) -> Any:
    """`vector.apply`: operations on constants that only jax.numpy had, over Python's numbers that it does not take."""
    a[:] = np.count_nonzero(1)
    a += np.floor(True).astype(np.int16)
    return a


def first_of_checks(x: Any, a: Any) -> None:
    """`statements.guard`: a check of sizes raised before a check in an iteration before it."""
    for i in range(2):
        a[1] = x[i - 1]


def shifted(y: Any) -> Any:
    """`prelude`: a part of an array that has no elements."""
    w = y + 1.0
    w[1:] = w[:-1]
    return w


def smallest_kept(a: Any) -> Any:
    """`reductions`: JAX does not trace the minimum of an empty array, and raised an error of its own."""
    return a[a].min(), a.max(axis=1)


def smallest_along(x: Any, y: Any) -> Any:
    """`reductions`: what the smallest of nothing is has the type of the elements."""
    return x.min(axis=0), x.max(), y.min(axis=1)


def leaves_at_argmin(u: Any) -> None:
    """`reductions`: a number that a block of two axes made was no scalar."""
    for _ in range(1):
        if u.argmin():
            break


def perhaps_beyond(y: Any, u: Any) -> None:
    """`indexing`: a check that sizes decide looked at data, and what stood behind it was traced."""
    if u[2] <= 2:
        y[np.arange(len(u))] *= 1


@pytest.mark.parametrize(
    "function, arguments",
    [
        (floored, (_SPECIAL, -2)),
        (wrapped, (np.array([-3.0, 4.7, 300.0]), np.zeros(3, np.uint64))),
        (chosen_by_factor, (_SPECIAL,)),
        (sums_of_negative_zeros, (_SPECIAL,)),
        (static_truth, (np.ones((2, 3), np.int16),)),
        (first_of_checks, (np.zeros(0), np.ones((0, 2)))),
        (shifted, (np.zeros(0),)),
        (shifted, (np.zeros(4),)),
        (smallest_kept, (np.zeros((0, 2), bool),)),
        (smallest_along, (np.array([[1.0, np.nan], [2.0, -np.inf]]), np.ones((2, 2), np.uint64))),
        (leaves_at_argmin, (np.array([2.0, 1.0]),)),
        (perhaps_beyond, (np.ones(1), np.full(5, 9, np.int16))),
        (perhaps_beyond, (np.ones(1), np.ones(5, np.int16))),
    ],
    ids=lambda v: v.__name__ if callable(v) else "",
)
def test_gives_numpys_answer(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    alike(function, *arguments, target="pallas")
