"""Loops that look for what is most or least, and where (`fuse/loops/arg_reductions.py`): what Python finds, the sign of
a zero and NaN included, in every spelling; and no such loop is left in order."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tests.fuzz.stages import function_of
from tests.regressions.support import alike
from tests.tools import on_target
from transkern import pipeline
from transkern.frontend.sources.source import live_function
from transkern.frontend.specialise import specialise
from transkern.frontend.values.types import parse_signature
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import walk

TARGETS = ("cpu", "cuda", "pallas")


def nearest_pair(p: Any) -> Any:
    best, a, b = np.inf, -1, -1
    for i in range(len(p)):
        for j in range(i + 1, len(p)):
            d = 0.0
            for k in range(p.shape[1]):
                d += (p[i, k] - p[j, k]) ** 2
            if d < best:
                best, a, b = d, i, j
    return best, a, b


def last_of_the_most(x: Any) -> Any:
    best, at = x[0], 0
    for i in range(1, len(x)):
        if x[i] >= best:
            best = x[i]
            at = i
    return best, at


def both_ends(x: Any) -> Any:
    low, high, at = np.inf, -np.inf, -1
    for i, v in enumerate(x):
        if v < low:
            low = v
        if high < v:
            high, at = v, i
    return low, high, at


def by_place(x: Any) -> Any:
    k = 0
    for i in range(1, x.shape[0]):
        if x[k] < x[i]:
            k = i
    return k, x[k]


def under_a_condition(x: Any) -> Any:
    best, at = 0.0, -1
    for i in range(len(x)):
        if i % 3:
            v = abs(x[i])
            if v > best and x[i] < 2:
                best, at = v, i
    return best, at


def in_a_table(x: Any) -> Any:
    best, where = 0.0, (0, 0)
    a = x[:, None] * np.ones(3)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > best:
                best, where = a[i, j], (i, j)
    return best, where


def beside_a_table(x: Any) -> Any:
    m = len(x) + 1
    h = np.zeros((m, m))
    best, end = 0.0, (0, 0)
    for i in range(1, m):
        for j in range(1, m):
            h[i, j] = max(0.0, h[i - 1, j - 1] + x[i - 1] * x[j - 1], h[i - 1, j] - 1, h[i, j - 1] - 1)
            if h[i, j] > best:
                best, end = h[i, j], (i, j)
    return best, end, h


def of_what_is_left(x: Any) -> Any:
    taken, order = np.zeros(len(x), dtype=bool), np.zeros(len(x), dtype=np.int64)
    for k in range(len(x)):
        best, at = np.inf, -1
        for i in range(len(x)):
            if not taken[i] and x[i] < best:
                best, at = x[i], i
        if at < 0:
            break
        taken[at], order[k] = True, at
    return order


def selection(x: Any) -> Any:
    x = x.copy()
    for i in range(len(x)):
        m = i
        for j in range(i + 1, len(x)):
            if x[j] < x[m]:
                m = j
        t = x[i]
        x[i] = x[m]
        x[m] = t
    return x


FUNCTIONS: tuple[Callable[..., Any], ...] = (
    last_of_the_most, both_ends, by_place, under_a_condition, in_a_table, beside_a_table, of_what_is_left, selection,
)  # fmt: skip


def arrays(*counts: int) -> Iterator[Any]:
    rng = np.random.default_rng(7)
    for count in counts:
        yield rng.standard_normal(count)
        yield rng.integers(-2, 3, count) * 0.5
        yield np.where(rng.random(count) < 0.5, 0.0, -0.0)
        yield np.where(rng.random(count) < 0.2, np.nan, rng.standard_normal(count))
        yield np.full(count, np.nan)
        yield np.full(count, -np.inf)
        yield np.where(rng.random(count) < 0.3, np.inf, -np.inf)[::-1]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("target", TARGETS)
def test_it_is_what_python_finds(
    function: Callable[..., Any], target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_target(target, monkeypatch)
    for x in arrays(1, 70) if target == "cpu" else (*arrays(1), *itertools.islice(arrays(70), 4)):
        alike(function, x, target=target)


@pytest.mark.parametrize("target", TARGETS)
def test_pairs(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    rng = np.random.default_rng(3)
    for count in (0, 1, 2, 90):
        p = np.round(rng.random((count, 3)), 1)
        alike(nearest_pair, p, target=target)
        p[rng.random((count, 3)) < 0.05] = np.nan
        alike(nearest_pair, p, target=target)


def two_spreads(x: Any, w: Any) -> Any:
    low, high, p, q = np.inf, -np.inf, -1, -1
    for i in range(x.shape[0]):
        a = x[i] * w
        c = x[i] - w
        d = ((a - a.mean()) ** 2).sum()
        e = ((c - c.mean()) ** 2).sum()
        if d < low:
            low, p = d, i
        if e > high:
            high, q = e, i
    return low, high, p, q


def test_what_one_search_needs_is_made_with_what_another_one_needs() -> None:
    """One loop sums up for both: the iterations that are found run with all that it sets."""
    rng = np.random.default_rng(5)
    for rows in (1, 80):  # of 64 small integers, whose means and squares are exact
        alike(two_spreads, rng.integers(0, 9, (rows, 64)) * 1.0, rng.integers(0, 9, 64) * 1.0)


COMPARED = ("{v} < {b}", "{b} > {v}", "{v} <= {b}", "{b} >= {v}", "{v} > {b}", "{b} < {v}", "{v} >= {b}", "{b} <= {v}")
KINDS = {"float64": np.inf, "float32": np.inf, "int64": 2**62, "uint8": 255, "int8": 127}


@pytest.mark.parametrize("compared", COMPARED)
@pytest.mark.parametrize("dtype", KINDS)
def test_every_comparison_of_every_type(compared: str, dtype: str) -> None:
    lines = ["import numpy as np", "", "", "def f(x, best):", "    at = -1"]
    lines += ["    for i in range(x.shape[0]):", f"        if {compared.format(v='x[i]', b='best')}:"]
    lines += ["            best = x[i]", "            at = i * 2 + 1", "    return best, at"]
    function = function_of("\n".join(lines) + "\n")
    rng = np.random.default_rng(1)
    kind = np.dtype(dtype).type
    for count in (0, 1, 5, 200):
        x = rng.integers(0, 5, count).astype(dtype)
        for start in (kind(0), kind(3), kind(KINDS[dtype])):
            alike(function, x, start)
            alike(function, x[::-1], start)


@pytest.mark.parametrize("function", (nearest_pair, both_ends, by_place, in_a_table, of_what_is_left, selection))
def test_the_search_is_in_no_order(function: Callable[..., Any]) -> None:
    types = "float64[n,k]" if function is nearest_pair else "float64[n]"
    program = pipeline.run(
        specialise(live_function(function), parse_signature(f"{function.__name__}({types})")[1]), PASSES
    )
    found = [s.op for s in walk(program.body) if isinstance(s, n.Accumulate)]
    assert any(op.startswith("arg") for op in found)


def test_what_other_iterations_change_is_left_in_order() -> None:
    """An element that is stored again, and a value that goes from one iteration to the next."""

    def stored_twice(x: Any) -> Any:
        y, best = np.zeros(len(x) + 1), 0.0
        for i in range(len(x)):
            y[i] = x[i]
            if y[i] > best:
                best = y[i]
            y[i + 1] = best
        return best, y

    def handed_on(x: Any) -> Any:
        best, at, s = 0.0, -1, 0.0
        for i in range(len(x)):
            s = s * 0.5 + x[i]
            if s > best:
                best, at = s, i
        return best, at

    def read_meanwhile(x: Any) -> Any:
        best, y = 0.0, np.zeros(len(x))
        for i in range(len(x)):
            if x[i] > best:
                best = x[i]
            y[i] = best
        return best, y

    def one_of_two(x: Any) -> Any:
        low, high = np.inf, -np.inf
        for v in x:
            if v < low:
                low = v
            elif v > high:
                high = v
        return low, high

    for function in (stored_twice, handed_on, read_meanwhile, one_of_two):
        for x in arrays(1, 70):
            alike(function, x)
