"""Functions that the programs of these tests compile, in processes of their own."""

from __future__ import annotations

from typing import Any

import numpy as np


def plus(x: Any) -> Any:
    return x + 1


def wide(x: Any) -> Any:
    return np.sqrt(x) * 2 + x


def in_order(x: Any) -> Any:
    """As long as its argument, in order."""
    y = x.copy()
    for i in range(1, len(y)):
        y[i] = y[i - 1] * 0.25 + y[i]
    return y


def until(x: Any, limit: float) -> float:
    """As long as it takes, which nobody knows before."""
    k, value = 0, 0.0
    while value < limit:
        value += x[k % 3]
        k += 1
    return value


def times(x: Any, n: int) -> float:
    """As long as it is told."""
    value = 0.0
    for i in range(n):
        value += x[i % 3] * 0.5
    return value


def fails_late(x: Any, n: int) -> float:
    """Raises at its end."""
    return times(x, n) + float(x[n])


class Odd(Exception):
    pass


def user_error(x: Any, n: int) -> Any:
    if n > 2:
        raise Odd(n)
    return x


def texts(x: Any, n: float) -> Any:
    if n > 2:
        raise ValueError(f"bad {n}")
    return x


def subscript(x: Any, n: int) -> Any:
    return x[n]


def inverse(x: Any, n: int) -> Any:
    return np.linalg.inv(x.reshape(-1, 1) * x[n])


def parts(x: Any, n: int) -> Any:
    return {"a": x + n, "b": [(x * 2, float(x[0])), x.sum()]}, x[x > n]


def sorted_outer(x: Any, y: Any) -> Any:
    return np.sort(x[:, None] * y[None, :], axis=0)[0]


def outer(x: Any, y: Any) -> Any:
    return {"a": x[0] + 1, "b": [x[:, None] * y[None, :], x.sum()]}


def outer_in_turn(x: Any, y: Any) -> Any:
    total = 0.0
    for k in range(3):
        t = np.outer(x, y) + k
        t[1:] = t[:-1] * 2
        total += t[0, 0]
    return total


def outer_in_rows(x: Any, y: Any) -> Any:
    a = np.ones((200, 2))
    for i in range(200):
        t = np.outer(x, y) * a[i, 0]
        t[1:] = t[:-1] * 2 + t[1:]
        a[i, 1] = t[1, 1]
    return a
