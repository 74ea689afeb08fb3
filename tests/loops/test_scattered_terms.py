"""Loops that change elements which data choose: places and values are computed side by side, changes made in order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import source_of
from transkern.fuse.loops.distribute import distribute_rows
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of


def bins(x: Any, w: Any) -> Any:
    out = np.zeros(8)
    for i in range(len(x)):
        out[int(np.sqrt(abs(x[i])) * 4) % 8] += w[i] / (1 + abs(x[i]))
    return out


def with_a_condition(x: Any, w: Any) -> Any:
    out = np.zeros(9, np.int64)
    for v in x:
        k = int((v + 2) / 4 * 8)
        if 0 <= k < 9:
            out[k] += 2
    return out


def edges(x: Any, w: Any) -> Any:
    out = np.zeros(5, np.int64)
    for v in x:
        k = int(v / 3.0)
        if k == 5:
            k = 4
        out[k] += 1
    return out


def of_a_running_number(x: Any, w: Any) -> Any:
    out, total = np.zeros(8), 0.0
    for i in range(len(x)):
        total += np.exp(-abs(x[i]))
        out[i % 8] += total / (1 + w[i] * w[i])
    return out


def read_again(x: Any, w: Any) -> Any:
    out = np.zeros(8)
    for i in range(len(x)):
        k = int(abs(w[i]) / 0.7) % 8
        out[k] += x[i] / (2 + out[(k + 1) % 8])
    return out


def of_an_argument(x: Any, w: Any) -> Any:
    for i in range(1, len(x)):
        x[i] += x[i - 1] * 0.5 + w[i] / (1 + w[i] * w[i])
    return x


def in_place(x: Any, w: Any) -> Any:
    for i in range(len(x)):
        x[int(w[i] / 3.0)] += 1 / w[i]
    return x


def with_a_state_that_may_fail(x: Any, w: Any) -> Any:
    y, out = 1.0, np.zeros(len(x))
    for i in range(len(x)):
        y = 1.0 / (y - 3.0) + x[i] / w[i]
        out[i] = y
    return out


FUNCTIONS = (bins, with_a_condition, edges, of_a_running_number, read_again, of_an_argument, in_place,
             with_a_state_that_may_fail)  # fmt: skip


APART = (bins, of_a_running_number, of_an_argument, with_a_state_that_may_fail)


@pytest.mark.parametrize("function", APART, ids=lambda f: f.__name__)
def test_terms_are_computed_beforehand(function: Any) -> None:
    passes = PASSES[: PASSES.index(distribute_rows) + 1]
    program = program_of(source_of(function), function.__name__, f"{function.__name__}(float64[n], float64[n])", passes)
    assert any("i_block" in s.axis for s in walk(program.body) if isinstance(s, n.Loop))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_pythons_bits(function: Any) -> None:
    compiled = transkern.compile(function, target="cpu")
    rng = np.random.default_rng(4)
    for size in (0, 1, 40, 1023, 1024, 2500):
        x, w = rng.standard_normal(size), rng.random(size) * 4 + 0.5
        if function is edges:
            x = rng.random(size) * 15
        mine, theirs = x.copy(), x.copy()
        want, got = function(theirs, w), compiled(mine, w)
        np.testing.assert_allclose(got, want, rtol=4e-16 if function is of_a_running_number else 0, atol=0)
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("function, error", [(edges, IndexError), (edges, ValueError), (in_place, IndexError)])
def test_the_first_that_fails_raises(function: Any, error: type[Exception]) -> None:
    compiled = transkern.compile(function, target="cpu")
    x, w = np.full(2000, 2.0), np.full(2000, 1.5)
    if error is ValueError:
        x[1500], x[1600] = np.nan, 1e300
    else:
        x[1500] = 1e6
        w[1500] = 1e6
        x[1700] = np.nan
    said = []
    for call in (function, compiled):
        given = x.copy()
        with pytest.raises(error) as caught:
            call(given, w)
        said.append((str(caught.value), given.tobytes()))
    assert said[0] == said[1]
