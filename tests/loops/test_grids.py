"""Loops over all indices of a shape (`np.ndindex`, `np.ndenumerate`, `itertools.product` of ranges) go axis by axis."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target, require

require("cc")


def a_tuple(x):
    total = 0.0
    at = None
    for at in np.ndindex(x.shape):
        total += x[at] * at[0]
    return total, at


def rebound(n, m):
    out = np.zeros((n, m))
    for i, j in np.ndindex(n, m):
        if j == 2:
            continue
        out[i, j] = i * 10 + j
        i = 7
    return out


def with_elements(x):
    out = np.zeros(x.shape)
    for (i, j), value in np.ndenumerate(x):
        if i > 0:
            out[i, j] = value + out[i - 1, j]
        x[i, j] = 0
        if j + 1 < x.shape[1]:
            x[i, j + 1] += 1  # which the next iteration sees
    return out


def of_ranges(n):
    out = []
    for i, j in itertools.product(range(1, n), range(n, 0, -1)):
        out.append(i * j)
    return out


def left(x):
    for at in np.ndindex(x.shape):
        if x[at] > 5:
            break
        x[at] += 1
    else:
        x[0, 0] = -1
    return x


def then_else(x):
    total = 0.0
    for at, value in np.ndenumerate(x[::2, 1:]):
        total += value * at[1]
    else:
        total += 1
    return total, at


def within_itself(x):
    out = np.ones(x.shape, bool)
    for p in np.ndindex(*x.shape):
        for o in np.ndindex(x.shape):
            q = tuple((a + b - s // 2) % s for a, b, s in zip(p, o, x.shape, strict=True))
            out[p] &= x[q] <= x[p]
    return out


def last(n, m):
    for at in np.ndindex(n, m):  # noqa: B007
        pass
    return at


X = np.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize("function, args", [
    (a_tuple, (X,)), (a_tuple, (X[:0],)), (a_tuple, (X[:, :0],)), (rebound, (3, 4)), (rebound, (2, 0)),
    (of_ranges, (4,)),
    (with_elements, (X,)), (with_elements, (X[::-1, ::2],)), (left, (X,)), (left, (X - 20,)), (then_else, (X,)),
    (within_itself, (X,)), (within_itself, (X[:1, ::-1],)), (last, (2, 3)), (last, (0, 3)), (last, (3, 0)),
    (last, (-1, -2)),
])  # fmt: skip
def test_all_indices(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    alike(function, *args)


def test_in_order_on_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    alike(with_elements, X, target=on_target("cuda", monkeypatch))


def test_axes_are_parallel_and_divide_nothing() -> None:
    def doubled(x):
        out = np.empty(x.shape)
        for i, j in np.ndindex(x.shape):
            out[i, j] = 2 * x[i, j]
        return out

    code = transkern.compile(doubled, types="doubled(float64[n,m])").emit()
    assert "omp parallel" in code and "floordiv" not in code
