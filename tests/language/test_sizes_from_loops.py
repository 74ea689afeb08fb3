"""Arrays whose sizes only an iteration, or a path, knows, read behind it: by the next one, after the loop, by nobody."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target

RNG = np.random.default_rng(5)
WHOLE = RNG.integers(0, 20, 50)
REAL = np.round(RNG.random(40) * 5, 3)


def counted(x, k):
    for i in range(k):
        n = np.bincount(x + i)
        x = n[x % len(n)] % 7
    return n


def distinct(x, k):
    for i in range(k):
        u = np.unique(x)
        x = (x * 3 + 1) % (11 + i)
    return u, x


def best(x, k):
    most = -1.0
    found = np.zeros(0, dtype=np.int64)
    for i in range(k):
        above = np.nonzero(x > i)[0]
        if above.sum() > most:
            most = float(above.sum())
            found = above
    return found, most


def left_early(x, k):
    i = 0
    while i < k:
        y = np.repeat(x, i + 1)
        if y.size > 100:
            break
        i += 1
    return y, i


def skipped(x, k):
    for i in range(k):
        if i % 2:
            continue
        kept = x[x > i]
    return kept


def reversed_view(x, k):
    for i in range(k):
        t = np.repeat(x, x.astype(np.int64) % (i + 2))[::-1]
    return t


def of_two_loops(x, k):
    out = 0.0
    for i in range(k):
        for j in range(i + 1):
            rows = x[x > j].reshape(-1, 1) * np.ones(3)
        out += len(rows)
    return rows, out


def under_a_condition(x, k):
    for i in range(k):
        if x[i] > 1:
            some = np.arange(i * 2.0)
    return some.size, some


def two_of_one(x, k):
    for i in range(k):
        h, e = np.histogram(x, bins=i + 3)
    return h, e


def added(x, k):
    grid = np.arange(0)
    for i in range(k):
        grid = np.arange(len(grid) + i)
    return grid


def with_nothing(x, k):
    for i in range(k):
        none = x[x > 1000]
        both = np.concatenate([none, x[: i * 0]])
    return none, both


def of_filters(x, k):
    if x[0] > k:
        u = np.unique(x)
        u = u[u > 3]
    else:
        u = np.repeat(x, 2)
        u = u[u < 4]
    return u, u.size


def of_what_a_path_makes(x, k):
    y = x[x > 2]
    if k:
        w = np.sort(np.unique(y))[::-1]
    else:
        w = np.repeat(y, 2)[1:]
    return w * 2


def rows(x, k):
    for i in range(k):
        if x[i] > 2:
            w = np.unique(x)[:, None] * np.arange(2.0)
            w = w[w[:, 1] > 3]
        else:
            w = np.repeat(x, i)[:, None] * np.ones(2)
    return w


def products(x, k):
    for i in range(k):
        u = np.unique(np.round(x * (i + 1)))
        table = u[:, None] * u[None, :]
    return table


def of_one_path(x, k):
    if k > 1:
        some = np.arange(k * 2.0)
        more = x[x > k]
    return some, more


def kept_in_turn(x, k):
    keep = np.arange(len(x))
    for i in range(k):
        places = np.unique((x * (i + 1)).astype(np.int64) % 7)
        keep = np.intersect1d(keep, places)
        if keep.size == 0:
            break
    return keep, places


FUNCTIONS = (
    counted, distinct, best, left_early, skipped, reversed_view, of_two_loops, under_a_condition, two_of_one, added,
    with_nothing, of_filters, of_what_a_path_makes, rows, products, of_one_path, kept_in_turn,
)  # fmt: skip
ON_DEVICES = counted, best, of_two_loops, of_what_a_path_makes, rows


@pytest.mark.parametrize("function", FUNCTIONS)
def test_as_numpy_has_them(function: Callable[..., Any]) -> None:
    x = WHOLE if function in (counted, distinct) else REAL
    for k in (0, 1, 6):
        alike(function, x, k)


@pytest.mark.parametrize("target", ["cuda", "pallas"])
def test_on_devices(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    for function in ON_DEVICES:
        alike(function, WHOLE if function is counted else REAL, 4, target=target)
