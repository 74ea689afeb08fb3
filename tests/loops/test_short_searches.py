"""Searches of few elements in lanes go through all of them backwards; what is filled before a search is not filled."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from transkern.fuse.lanes.backwards import search_backwards
from transkern.ir import nodes as n
from transkern.ir.expr import Const
from transkern.ir.traverse import walk
from transkern.pipeline import passes_for, program_of

# mypy: disable-error-code="no-untyped-def,no-untyped-call"


def edges(x, e):
    out = np.zeros(len(x), np.int64)
    for i in range(len(x)):
        k = 0
        while k < len(e) and x[i] >= e[k]:
            k += 1
        out[i] = k
    return out


def first_above(x, e):
    out = np.empty(len(x), np.int64)
    for i in range(len(x)):
        out[i] = len(e)
        for k in range(len(e)):
            if x[i] < e[k]:
                out[i] = k
                break
    return out


def with_its_value(x, e):
    rank, rest = np.empty(len(x), np.int64), np.empty(len(x))
    for i in range(len(x)):
        place, found = -1, np.nan
        for k in range(len(e)):
            d = e[k] - x[i]
            if abs(d) < 0.5 and not d > 0.25:
                place, found = k, d
                break
        rank[i], rest[i] = place, found
    return rank, rest


def otherwise(x, e):
    out = np.zeros(len(x))
    for i in range(len(x)):
        for k in range(len(e)):
            if x[i] == e[k]:
                out[i] = k + 1.5
                break
        else:
            out[i] = -x[i]
    return out


def counted_on(x, e):
    out = np.zeros(len(x))
    for i in range(len(x)):
        s = 0.0
        for k in range(len(e)):
            s += e[k]
            if s > x[i]:
                break
        out[i] = s
    return out


def looked_up(x, e):
    out = np.zeros(len(x), np.int64)
    for i in range(len(x)):
        at = 0
        for k in range(len(e)):
            if e[at] > x[i]:
                at = k
                break
        out[i] = at
    return out


def until_the_end(x, e):
    y = np.full(len(x), 7.0)
    for i in range(len(x)):
        if x[i] > 1:
            break
        y[i] = e[0]
    return y


SEARCHES = {edges: 0, first_above: 0, with_its_value: 0, counted_on: 1, looked_up: 1}


@pytest.mark.parametrize("function", SEARCHES)
def test_exits(function: Callable[..., Any]) -> None:
    source = "import numpy as np\n" + inspect.getsource(function)
    passes = passes_for("cpu")
    until = passes[: passes.index(search_backwards) + 1]
    for count, left in ((5, SEARCHES[function]), (17, 1)):
        types = f"{function.__name__}(float64[n], float64[{count}])"
        program = program_of(source, function.__name__, types, until)
        assert sum(isinstance(s, n.Break) for s in walk(program.body)) == left


def test_what_a_search_is_stored_to_is_not_filled() -> None:
    source = "import numpy as np\n" + inspect.getsource(edges)
    program = program_of(source, "edges", "edges(float64[n], float64[m])", passes_for("cpu"))
    values = {s.value for s in walk(program.body) if isinstance(s, n.Store) and s.buffer == "out"}
    assert values and not any(isinstance(v, Const) for v in values)


@pytest.mark.parametrize("function", [*SEARCHES, otherwise, until_the_end])
@pytest.mark.parametrize("count", [1, 3, 16, 17])
def test_values(function: Callable[..., Any], count: int) -> None:
    e = np.linspace(-1, 1, count)
    e[count // 2] = 0.0
    for size in (0, 1, 33, 150):
        x = np.sin(np.arange(size) * 1.7) * 1.5
        x[5::9] = np.nan
        x[2::7] = -0.0
        alike(function, x, e)
        alike(function, x[::-1], np.where(e > 0.5, np.nan, e))
