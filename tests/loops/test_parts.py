"""Sums of narrow integers are added up in narrow parts, and are NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from transkern import pipeline
from transkern.frontend.sources.source import live_function
from transkern.frontend.specialise import specialise
from transkern.frontend.values.types import parse_signature
from transkern.ir import nodes as n
from transkern.ir.traverse import walk

SIZES = (0, 1, 511, 512, 513, 70_000)


def total(x: Any) -> Any:
    return x.sum()


def rows(x: Any) -> Any:
    return x.reshape(1, -1).sum(axis=1), np.count_nonzero(x), (x > 1).sum(), np.sum(x, dtype=np.int64)


def compared(x: Any) -> Any:
    return np.count_nonzero(x > x[::-1]), (x != x[::-1]).sum(), np.mean(x > 1), ((x > 0) & (x < 3)).sum()


def by_loop(x: Any) -> Any:
    count = least = 0
    for v in x:
        if v > 1:
            count += 1
        least += int(v)
    return count, least


def beside_each_other(x: Any) -> Any:
    equal, rows = 0, np.zeros(len(x) // 3, np.int64)
    for i in range(len(x) - 1):
        if x[i] == x[i + 1] and x[i] >= 0:
            equal += 1
    for i in range(len(rows)):
        for j in range(3):
            if x[3 * i + j] > 1:
                rows[i] += 1
    return equal, rows


FUNCTIONS = (total, rows, compared, by_loop, beside_each_other)
LOOPS = (by_loop, beside_each_other)
EXTREMES = [("int8", -128), ("int8", 127), ("uint8", 255), ("int16", -32768), ("uint16", 65535), ("bool", 1)]


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float32"])
def test_they_are_in_parts(dtype: str) -> None:
    function = total if dtype != "float32" else compared
    made = pipeline.run(specialise(live_function(function), parse_signature(f"f({dtype}[n])")[1], True))
    parts = {s.dtype for s in walk(made.body) if isinstance(s, n.Accumulator) and s.name.endswith("_part")}
    assert parts == {"int16" if dtype == "bool" else "int32"}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype, value", EXTREMES)
def test_no_part_is_too_large(function: Callable[..., Any], dtype: str, value: int) -> None:
    for size in SIZES[2:] if function not in LOOPS else SIZES[2:5]:
        alike(function, np.full(size, value, dtype))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int32", "float32", "float64"])
def test_they_are_as_numpys(function: Callable[..., Any], dtype: str) -> None:
    rng = np.random.default_rng(0)
    if function is by_loop and dtype == "bool":
        return
    for size in SIZES if function not in LOOPS else SIZES[:5]:
        x = rng.integers(0, 5, 2 * size).astype(dtype)
        alike(function, x[:size])
        alike(function, x[::-2])


def test_what_is_counted_under_a_condition_is_in_parts() -> None:
    made = pipeline.run(specialise(live_function(by_loop), parse_signature("f(uint8[n])")[1], True))
    parts = {s.dtype for s in walk(made.body) if isinstance(s, n.Accumulator) and s.name.endswith("_part")}
    assert parts == {"int16", "int32"}
    assert not any(isinstance(s, n.If) and isinstance(s.then[0], n.Accumulate) for s in walk(made.body))


def test_what_is_no_number_is_not_counted() -> None:
    x = np.array([np.nan, 2, -np.inf, np.inf, -0.0, 5] * 200, np.float32)
    alike(compared, x)
