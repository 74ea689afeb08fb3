"""Arrays that a loop in order goes on with are begun in it (`fuse/scalars/begun.py`), last elements are carried in
variables (`fuse/scalars/carried.py`), and what lanes load for some of them alone is loaded before them
(`fuse/scalars/load_once.py`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import require
from transkern import pipeline
from transkern.frontend.sources.source import live_function
from transkern.frontend.specialise import specialise
from transkern.frontend.values.types import parse_signature
from transkern.fuse.passes import PASSES
from transkern.fuse.scalars.begun import begin_in_order
from transkern.ir import nodes as n
from transkern.ir.expr import Load
from transkern.ir.traverse import exprs, walk

require("cc")


def rows(x: Any) -> Any:
    y = 0.5 * x
    for t in range(1, len(y)):
        y[t] += 0.25 * y[t - 1]
    return y


def columns(x: Any) -> Any:
    y = x.copy()
    for j in range(1, x.shape[1]):
        y[:, j] = y[:, j] - y[:, j - 1]
    return y


def neighbours_before(x: Any) -> Any:
    y = np.abs(x) + 1
    for t in range(2, len(y)):
        y[t] += y[t - 2, ::-1] * 0.5 - y[t - 1]
    return y


def one_row(x: Any) -> Any:
    y = np.sqrt(np.abs(x[:, 0]))
    for t in range(1, len(y)):
        y[t] += y[t - 1] * 0.5
    return y, y.max()


def from_the_first(x: Any) -> Any:
    y = x + 1
    for t in range(len(y)):
        y[t] = y[t] * x[t, ::-1]
    return y


def summed_first(x: Any) -> Any:
    y = 2 * x
    total = y.sum()
    for t in range(1, len(y)):
        y[t] += y[t - 1] * total
    return y


def rows_behind(x: Any) -> Any:
    y = 2 * x
    for t in range(1, len(y) - 1):
        y[t] += y[t + 1] + y[t - 1]
    return y


def its_own_twice(x: Any) -> Any:
    y = 2 * x
    for t in range(1, len(y)):
        y[t] = y[t] * y[t] - y[t - 1]
    return y


def part_of_a_row(x: Any) -> Any:
    y = 2 * x
    for t in range(1, len(y)):
        y[t, 1:] += y[t - 1, 1:]
    return y


def other_in_the_row(x: Any) -> Any:
    y = 2 * x
    for t in range(1, len(y)):
        y[t] = y[t] + y[t][::-1]
    return y


def of_what_changes(x: Any) -> Any:
    y = 2 * x
    x[1:] = 0
    for t in range(1, len(y)):
        y[t] += y[t - 1]
    return y, x


def into_an_argument(x: Any) -> Any:
    x[:] = x * 2
    for t in range(1, len(x)):
        x[t] += x[t - 1]


BEGUN = [rows, columns, neighbours_before, one_row, its_own_twice]
NOT = [summed_first, rows_behind, part_of_a_row, other_in_the_row, of_what_changes, into_an_argument]


def _before(function: Callable[..., Any]) -> n.Program:
    at = PASSES.index(begin_in_order)
    signature = parse_signature(f"{function.__name__}(float64[n,m])")[1]
    return pipeline.run(specialise(live_function(function), signature, True), PASSES[:at])


@pytest.mark.parametrize("function", BEGUN, ids=lambda f: f.__name__)
def test_they_are_made_where_they_are_read(function: Callable[..., Any]) -> None:
    before = _before(function)
    after = begin_in_order(before)
    loops = [s for s in walk(after.body) if isinstance(s, n.Loop) and s.kind == "sequential"]
    assert after != before
    assert any(isinstance(e, Load) and e.buffer == "x" for s in loops for e in exprs(s.body))


@pytest.mark.parametrize("function", NOT, ids=lambda f: f.__name__)
def test_where_they_may_not_be_they_stay(function: Callable[..., Any]) -> None:
    before = _before(function)
    assert begin_in_order(before) == before


@pytest.mark.parametrize("function", [*BEGUN, *NOT, from_the_first], ids=lambda f: f.__name__)
def test_begun_values_are_numpys(function: Callable[..., Any]) -> None:
    rng = np.random.default_rng(0)
    for shape in ((0, 3), (1, 1), (2, 5), (3, 0), (7, 3), (40, 70)):
        x = rng.integers(-4, 5, shape) / 4
        if x.size > 4:
            x.flat[[1, 3, -1]] = np.nan, -0.0, np.inf
        for given in (x, x[::-1, ::-1], np.asfortranarray(x)):
            alike(function, given)


def discounted(x: Any) -> Any:
    out = np.zeros((len(x), x.shape[1] + 1))
    for j in range(1, x.shape[1] + 1):
        out[:, j] = out[:, j - 1] * 0.5 + x[:, j - 1]
    return out


def last_two(x: Any) -> Any:
    y = x.copy()
    for j in range(2, x.shape[1]):
        y[:, j] = y[:, j - 1] - y[:, j - 2]
    return y


def averages_and_share(x: Any) -> Any:
    fast, slow = x.copy(), x.copy()
    for t in range(1, len(x)):
        fast[t] = 0.5 * x[t] + 0.5 * fast[t - 1]
        slow[t] = 0.25 * x[t] + 0.75 * slow[t - 1]
    return np.sign(fast - slow), (fast > slow).sum(axis=0), fast.max(axis=0)


@pytest.mark.parametrize("function", [discounted, last_two, averages_and_share], ids=lambda f: f.__name__)
def test_recurrences_in_lanes_are_numpys(function: Callable[..., Any]) -> None:
    rng = np.random.default_rng(2)
    for shape in ((1, 1), (2, 3), (5, 2), (40, 7), (33, 70)):
        x = rng.integers(-4, 5, shape) / 4
        alike(function, x)
        x.flat[0], x.flat[-1] = -0.0, np.inf
        alike(function, x[::-1])


def _lanes(function: Callable[..., Any]) -> list[n.Loop]:
    signature = parse_signature("f(float64[n,m])")[1]
    made = pipeline.run(specialise(live_function(function), signature, True))
    return [s for s in walk(made.body) if isinstance(s, n.Loop) and s.kind == "sequential"]


@pytest.mark.parametrize("function", [columns, discounted, averages_and_share], ids=lambda f: f.__name__)
def test_recurrences_go_in_lanes(function: Callable[..., Any]) -> None:
    """A column that goes on with the one before, or a row beside a reduction: inside each step are lanes."""
    loops = _lanes(function)
    assert loops
    assert all(any(isinstance(x, n.Loop) and x.kind == "parallel" for x in walk(s.body)) for s in loops)


def weights_where_valid(x: Any, w: Any) -> Any:
    valid = ~np.isnan(x)
    return np.where(valid, w[:, None], 0.0).sum(axis=0), valid.sum(axis=0), np.where(valid, x, 0.0).sum(axis=0)


def in_loops(x: Any, w: Any) -> Any:
    out = np.zeros(x.shape[1])
    for j in range(x.shape[1]):
        for i in range(x.shape[0]):
            if x[i, j] == x[i, j]:
                out[j] += w[i] * 2
    return out


def beyond_the_end(x: Any, w: Any) -> Any:
    out = np.zeros(x.shape[1])
    for j in range(x.shape[1]):
        for i in range(x.shape[0]):
            out[j] += w[i + 1] if i + 1 < len(w) and x[i, j] > 0 else x[i, j]
    return out


@pytest.mark.parametrize("function", [weights_where_valid, in_loops, beyond_the_end], ids=lambda f: f.__name__)
def test_loads_for_some_lanes_are_numpys(function: Callable[..., Any]) -> None:
    rng = np.random.default_rng(1)
    for shape in ((0, 3), (1, 1), (5, 0), (6, 65), (600, 20)):
        x, w = rng.integers(-4, 5, shape) / 4, rng.integers(-4, 5, shape[0]) / 4
        x[rng.random(shape) < 0.2] = np.nan
        alike(function, x, w)
        alike(function, x[:, ::-1], w[::-1])


def test_a_load_for_some_lanes_stands_before_them() -> None:
    """No lane asks whether it needs an element that is the same for all."""
    signature = parse_signature("f(float64[n,m], float64[n])")[1]
    made = pipeline.run(specialise(live_function(weights_where_valid), signature, True))
    loads = [s for s in walk(made.body) if isinstance(s, n.Let) and isinstance(s.value, Load) and s.value.buffer == "w"]
    loops = [s for s in walk(made.body) if isinstance(s, n.Loop)]
    inner = [s for s in loops if not any(isinstance(x, n.Loop) for x in walk(s.body))]
    assert loads
    assert not [e for s in inner for e in exprs(s.body) if isinstance(e, Load) and e.buffer == "w"]
