"""`np.searchsorted` of one number is a loop of the kernel that it stands in, and finds what NumPy finds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike

random = np.random.default_rng(6)
NAN, INF = float("nan"), float("inf")


def both_sides(a: Any, v: Any) -> Any:
    return np.searchsorted(a, v), np.searchsorted(a, v, side="right"), a.searchsorted(v, "right")


def each(a: Any, v: Any) -> Any:
    found = []
    for x in v:
        k = np.searchsorted(a, x, "right")
        found.append((k, a[k - 1] if k else a[0]))
    return found


def of_computed(a: Any, v: Any) -> Any:
    total = np.cumsum(a)
    out = np.empty(len(v), np.int64)
    for i in range(len(v)):
        out[i] = np.searchsorted(total / total[-1], v[i]) + np.searchsorted(a, v[i], sorter=np.argsort(a))
    return out


def until(a: Any, v: Any) -> Any:
    k, steps = 0, 0
    while k < len(a) and steps < 50:
        k = np.searchsorted(a, a[k] + v)
        steps += 1
    return k, steps


DTYPES = ("bool", "int8", "uint8", "int64", "uint64", "float16", "float32", "float64", "complex128")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", [0, 1, 2, 17, 300])
def test_of_every_type(dtype: str, size: int) -> None:
    a = np.sort(random.integers(0, 100, size)).astype(dtype)
    for v in (3, 0, -1, 2**40, 2.5, -0.0, NAN, INF, True, np.int8(7), np.uint64(2**63 + 5), np.float32(1.1), 1 + 2j):
        alike(both_sides, a, v)


def test_what_is_not_in_order() -> None:
    for a in (np.array([3.0, NAN, 1.0, 2.0, NAN, -INF, 5.0]), np.array([NAN] * 4), random.standard_normal(40)):
        for v in (*a, 0.0, NAN, INF, -INF):
            alike(both_sides, a, v)
            alike(both_sides, a[::-1], v)


def test_in_loops() -> None:
    a, v = np.sort(random.random(30)), random.random(20)
    alike(each, a, v)
    alike(each, a.astype(np.float32), v)
    alike(each, (a * 99).astype(np.int32), v * 99)
    alike(of_computed, a, v)
    for step in (0.01, 0.3, 2.0, NAN):
        alike(until, a, step)
    assert "np.searchsorted(a0" not in transkern.compile(each, target="cpu").emit(types="each(float64[n], float64[m])")
