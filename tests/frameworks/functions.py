"""Functions that graphs and traces are to hold, and values to call them with."""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import numpy as np

import transkern

SPECIAL = [np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, -1.5, 3.25]


def values(dtype: str, n: int) -> np.ndarray[Any, Any]:
    """Numbers of a dtype, special ones first."""
    if dtype == "bool":
        return np.arange(n) % 3 == 0
    if dtype.startswith("int"):
        return (np.arange(n) * 7 % 11 - 5).astype(dtype)
    return np.resize(np.array(SPECIAL), n).astype(dtype)


class Pair(NamedTuple):
    doubled: Any
    total: Any


@dataclasses.dataclass
class Fit:
    slope: Any
    rest: Any


def chain(x: Any, y: Any) -> Any:
    return np.where(x > y, x * 2, y - 1) + x


def total(x: Any) -> Any:
    return x.sum()


def several(x: Any, k: int) -> Any:
    return x[k:], {"sum": x.sum(), "none": None, "k": k}, [x > 0, (3, x)]


def paired(x: Any) -> Any:
    return Pair(x * 2, x.sum())


def fitted(x: Any) -> Any:
    return Fit(x.mean(), x - x.mean())


def recurrence(x: Any, a: float) -> Any:
    y = x.copy()
    for i in range(1, len(x)):
        y[i] += a * y[i - 1]
    return y


def joined(x: Any, y: Any, k: int) -> Any:
    return np.concatenate([x[::2], np.zeros(k, x.dtype), y[:-1]])


def outer(x: Any, y: Any) -> Any:
    return x[:, None] * y


def folded(x: Any) -> Any:
    return x.reshape(2, -1).T


def positive(x: Any) -> Any:
    return x[x > 0] * 2


def both_positive(x: Any, y: Any) -> Any:
    m = (x > 0) & (y > 0)
    return x[m], np.flatnonzero(m)


def along(x: Any, axis: int) -> Any:
    return np.cumsum(x, axis=axis), x.max(axis=axis)


def raised(x: Any, k: int) -> Any:
    x[:k] += 1
    return x


def raised_beside(a: Any, b: Any) -> Any:
    a += 1
    return b.sum()


class Scale:
    """An object with a compiled method."""

    def __init__(self, by: float) -> None:
        self.by = by

    @transkern.compile
    def scaled(self, x: Any) -> Any:
        return x * self.by


def chosen(x: Any, how: str, last: bool = False) -> Any:
    if how == "sum":
        return x.sum()
    return x[-1] if last else x[0]


def weighted(layer: Any, x: Any) -> Any:
    return x @ layer["w"] + layer["b"][0]


def looked_up(x: Any, at: Any) -> Any:
    return x[at]


def swish(x: Any, beta: float) -> Any:
    return x / (1 + np.exp(-beta * x))


def swish_gradient(g: Any, x: Any, beta: float) -> Any:
    s = 1 / (1 + np.exp(-beta * x))
    return g * s * (1 + beta * x * (1 - s)), None


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def softmax_gradient(g: Any, y: Any, x: Any) -> Any:
    return y * (g - (g * y).sum(axis=-1, keepdims=True))


def dense(layer: Any, x: Any) -> Any:
    return {"y": x @ layer["w"] + layer["b"], "square": (x * x).sum()}


def dense_gradient(g: Any, layer: Any, x: Any) -> Any:
    given = {"w": np.outer(x, g["y"]), "b": g["y"]}
    return given, layer["w"] @ g["y"] + 2 * x * g["square"]


def cube(x: Any) -> Any:
    return x * x * x


def cube_gradient(g: Any, x: Any) -> Any:
    return g * 3 * x * x


def cube_second(h: Any, g: Any, x: Any) -> Any:
    return h * 3 * x * x, h * g * 6 * x


def doubled(x: Any) -> Any:
    return x + x


def one_of_two(x: Any, k: int) -> Any:
    if x[0] > 0:
        return x + k
    return np.zeros(len(x) + k, x.dtype)


def listed(x: Any) -> Any:
    found = []
    for v in x:
        if v > 0:
            found.append(v)
    return found


def number_or_array(x: Any) -> Any:
    if x[0] > 0:
        return x
    return 0.0


def prints(x: Any) -> Any:
    print(x.sum())
    return x + 1


def draws(x: Any) -> Any:
    return x + np.random.random(len(x))


def appends(x: Any, found: Any) -> Any:
    found.append(x[0])
    return x + 1
