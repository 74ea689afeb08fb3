"""Running extremes, four iterations at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import source_of
from transkern.fuse.lanes.running import run_in_fours
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of


def accumulated(x: Any) -> Any:
    return np.maximum.accumulate(x), np.minimum.accumulate(x)


def by_max(x: Any) -> Any:
    top, out = x[0], np.empty_like(x)
    for i in range(len(x)):
        top = max(top, x[i])
        out[i] = top
    return out, top


def the_later_of_equals(x: Any) -> Any:
    low, out = x[0], np.empty_like(x)
    for i in range(len(x)):
        if x[i] <= low:
            low = x[i]
        out[i] = low
    return out


def kept_unless_less(x: Any) -> Any:
    top, out = x[0], np.empty_like(x)
    for i in range(1, len(x)):
        top = top if top > x[i] else x[i]
        out[i - 1] = top - x[i]
    return out[:-1]


def of_numpy_in_a_loop(x: Any) -> Any:
    top, low, out = x[0], x[0], np.empty_like(x)
    for i in range(len(x)):
        top = np.maximum(x[i], top)
        low = np.minimum(low, x[i] * 2)
        out[i] = top - low
    return out


def one_of_another(x: Any) -> Any:
    top, worst = x[0], x[0] - x[0]
    for v in x:
        top = max(v, top)
        worst = max(worst, top - v)
    return worst


def in_an_array(x: Any) -> Any:
    top = np.empty_like(x)
    top[0] = x[0]
    for i in range(1, len(x)):
        top[i] = min(top[i - 1], x[i])
    return top


def as_it_was_before(x: Any) -> Any:
    top, out = x[0], np.empty_like(x)
    for i in range(len(x)):
        out[i] = top
        top = max(top, x[i])
    return out


def of_what_it_stores(x: Any) -> Any:
    top, out = x[0], x.copy()
    for i in range(1, len(x)):
        top = max(top, out[i - 1])
        out[i] = top - x[i]
    return out


def beside_a_sum(x: Any) -> Any:
    top, total, out = x[0], x[0], np.empty_like(x)
    for i in range(len(x)):
        top = max(top, x[i])
        total = total / 2 + top if x.dtype.kind == "f" else total + top
        out[i] = total
    return out


ODD = np.array([0.0, -0.0, np.inf, -np.inf, 1.0, np.nan, -np.nan])
FUNCTIONS = {
    accumulated: 1, by_max: 1, the_later_of_equals: 1, kept_unless_less: 1, of_numpy_in_a_loop: 1, one_of_another: 1,
    in_an_array: 1, as_it_was_before: 0, of_what_it_stores: 0, beside_a_sum: 0,
}  # fmt: skip


def _fours(function: Any, passes: Any) -> int:
    program = program_of(source_of(function), function.__name__, f"{function.__name__}(float64[n])", passes)
    return sum(isinstance(s, n.Loop) and getattr(s.step, "value", 1) == 4 for s in walk(program.body))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_loops(function: Any) -> None:
    assert _fours(function, PASSES[: PASSES.index(run_in_fours) + 1]) == FUNCTIONS[function]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_numpys_answer(function: Any) -> None:
    rng = np.random.default_rng(4)
    for size in (1, 4, 5, 9, 22, 23):
        alike(function, rng.standard_normal(size).round(1))
        for first in range(4):
            for number in (2, 4, 7):
                z = ODD[rng.integers(0, number, size)]
                alike(function, np.concatenate((rng.standard_normal(first), z)))


@pytest.mark.parametrize("dtype", ["float32", "int64", "int8", "uint8"])
def test_other_numbers(dtype: str) -> None:
    rng = np.random.default_rng(5)
    for function in (in_an_array, the_later_of_equals):
        if dtype.startswith("float"):
            alike(function, ODD[rng.integers(0, 7, 50)].astype(dtype))
        else:
            bounds = np.iinfo(dtype)
            alike(function, rng.integers(bounds.min, bounds.max, 50, dtype, endpoint=True))
    alike(by_max, np.arange(100.0)[::-3])
