"""Counts of what is in each of many intervals of one, in one pass."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import source_of
from transkern.fuse.filters.by_keys import count_by_keys
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of


def masks(x: Any, y: Any, k: int) -> Any:
    return np.array([np.count_nonzero((x >= i) & (x < i + 1)) for i in range(k)])


def turned_round(x: Any, y: Any, k: int) -> Any:
    out = np.zeros(k)
    for i in range(k):
        out[i] = ((i + 3 > x) & (y > 0) & (i + 2 <= x)).sum() / len(x)
    return out


def chained(x: Any, y: Any, k: int) -> Any:
    out = np.zeros(k, np.int64)
    for i in range(-4, k - 4):
        for v in x:
            if i <= v < i + 1:
                out[i + 4] += 1
    return out


def of_two(x: Any, y: Any, k: int) -> Any:
    out = np.zeros((k, k), np.int64)
    for i in range(k):
        for j in range(k):
            out[i, j] = np.sum((x >= i) & (x < i + 1) & (y >= j - 2) & (y < j - 1))
    return out


def of_two_that_count(x: Any, y: Any, k: int) -> Any:
    out = np.zeros((k, k), np.int64)
    for i in range(k):
        for j in range(k):
            out[i, j] = np.sum((x >= i) & (x < i + 1) & (y == j))
    return out


def closed_above(x: Any, y: Any, k: int) -> Any:
    return np.array([np.sum((x > i - 1) & (x <= i)) for i in range(k)])


def twice_as_wide(x: Any, y: Any, k: int) -> Any:
    return np.array([np.sum((x >= i) & (x < i + 2)) for i in range(k)])


def of_different_numbers(x: Any, y: Any, k: int) -> Any:
    return np.array([np.sum((x >= i) & (y < i + 1)) for i in range(k)])


def beyond_what_floats_hold(x: Any, y: Any, k: int) -> Any:
    start = 2**24 - 8
    return np.array([np.sum((x >= start + i) & (x < start + i + 1)) for i in range(k)])


def made_before(x: Any, y: Any, k: int) -> Any:
    z = np.minimum(x * 2 - y, k - 1)
    return np.array([np.sum((z >= i) & (z < i + 1)) for i in range(k)])


def made_and_kept(x: Any, y: Any, k: int) -> Any:
    z = x * 2 - y
    return np.array([np.sum((z >= i) & (z < i + 1)) for i in range(k)]), z


def made_of_what_changes(x: Any, y: Any, k: int) -> Any:
    out = []
    for _ in range(3):
        z = x * 2
        x += y
        out.append(np.array([np.sum((z >= i) & (z < i + 1)) for i in range(k)]))
    return np.array(out)


FLOATS = (made_before, made_and_kept, made_of_what_changes, masks, turned_round, chained, of_two)
INTEGERS = (*FLOATS, closed_above)
ALL = (*INTEGERS, of_two_that_count, twice_as_wide, of_different_numbers, beyond_what_floats_hold)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
def test_one_pass(dtype: str) -> None:
    passes = PASSES[: PASSES.index(count_by_keys) + 1]
    for function in ALL:
        types = f"{function.__name__}({dtype}[n], {dtype}[n], int)"
        program = program_of(source_of(function), function.__name__, types, passes)
        found = any("by_key" in s.buffer for s in walk(program.body) if isinstance(s, n.Alloc))
        floats = dtype.startswith("float")
        wanted = (FLOATS if floats else INTEGERS) + (beyond_what_floats_hold,)
        assert found == (function in wanted or (function is of_two_that_count and not floats)), function.__name__


@pytest.mark.parametrize("function", ALL, ids=lambda f: f.__name__)
def test_numpys_answer(function: Any) -> None:
    rng = np.random.default_rng(3)
    x = rng.uniform(-6, 24, 1500)
    x[::9] = np.floor(x[::9])
    x[:12] = np.nan, np.inf, -np.inf, -0.0, 0.0, 2.0**63, -(2.0**63), 1e300, 16, -1, np.nextafter(16, 0), 2.0**24
    x[12:30] = 2.0**24 + np.arange(-9, 9)
    for k in (3, 20):
        alike(function, x, x[::-1].copy(), k)
    whole = np.concatenate((rng.integers(-6, 24, 500), [2**31 - 1, -(2**31)])).astype(np.int32)
    alike(function, whole, whole[::-1].copy(), 20)
    with np.errstate(over="ignore"):
        narrow = x.astype(np.float32)
    alike(function, narrow, narrow[::-1].copy(), 20)
    alike(function, x[:0], x[:0], 20)
