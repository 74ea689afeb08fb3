"""Functions that fail at run time. (Not in the test itself: pytest writes assertions there anew.)"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np


class Wrong(ValueError):
    pass


def halved(x: Any, k: int) -> Any:
    if k > 5:
        raise Wrong("too large", k)
    return x[k] / 2


def all_of_it(x: Any, y: Any, k: int) -> Any:
    total = 0.0
    for i in range(k):
        total += x[i] / int(y[i])
    z = x + y
    total += halved(x, k)
    return np.linalg.inv(
        z.reshape(2, 2)
    ) * total


def filled(x: Any, k: int) -> Any:
    count = 10 // k
    x[1:] = count
    assert count != 2, f"count is {count}"
    return (lambda a: a.reshape(3, 3))(x)


def stored(x: Any, k: int) -> Any:
    x[
        k] = x[0] + 1
    x[k + 1] += x[0]
    x[:2] = x[: k + 1]
    return x


def one_more(function: Any) -> Any:
    @functools.wraps(function)
    def around(*args: Any) -> Any:
        return function(*args) + 1

    return around


@one_more
def decorated(x: Any, k: int) -> Any:
    y = x * 2
    return y[k]


def calls_decorated(x: Any, k: int) -> Any:
    return decorated(x, k) + decorated(x, k + 1)


def noted(x: Any, k: int, found: Any) -> Any:
    """What it leaves in its arguments goes there with the exception, in one of two ways."""
    found.a = x[0]
    y = x[k]
    found.b = y
    found.places.append(halved(x, k + 1))
    return 1 // k


class Found:
    def __init__(self) -> None:
        self.a = self.b = 0.0
        self.places: list[float] = []


def told_with(x: Any, k: int) -> Any:
    if k == 0:
        raise KeyError(k)
    if k == 1:
        raise Wrong("a", x[0], {"k": k}, (float(x[1]), None))
    assert k != 2, -k
    raise Wrong(x[0])
