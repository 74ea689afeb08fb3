"""What a loop leaves that its iterations only set, with breaks and without (`settle_after_loop`), and searches that
lanes make together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import require, source_of
from transkern.fuse.passes import BEFORE_LOOPS, PASSES
from transkern.fuse.scalars.scalars import settle_after_loop
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of

require("cc")


def counted(x, e):
    out = np.zeros(len(x), np.int64)
    for i in range(len(x)):
        k = 0
        while k < len(e) and x[i] >= e[k]:
            k += 1
        out[i] = k
    return out


def two_ways_out(x, e):
    out = np.full((len(x), 2), -7)
    for i in range(len(x)):
        last, why = -1, 0
        for k in range(len(e)):
            if x[i] < e[k]:
                last, why = k * 2, 1
                break
            if x[i] == -e[k]:
                why = 2
                last = -k
                break
            last = k + 1
        out[i, 0], out[i, 1] = last, why
    return out


def one_way_keeps(x, e):
    """What is set before the first way out is set by the iteration before where the second one is taken."""
    out = np.zeros(len(x))
    for i in range(len(x)):
        last = 0.5
        for k in range(len(e) - 1, -1, -1):
            if e[k] > 3:
                break
            if x[i] > e[k]:
                last = 10.0 + k
                break
            last = k / 2
        out[i] = last
    return out


def backwards(x, e):
    out = np.zeros(len(x), np.int64)
    for i in range(len(x)):
        k = len(e) - 1
        while k >= 0 and not x[i] >= e[k]:
            k -= 1
        out[i] = k
    return out


def inside_and_after(x, e):
    place = seen = 0
    for k in range(3, len(e)):
        for i in range(len(x)):
            if x[i] > e[k]:
                break
            seen += 1
        if seen > 40:
            place = -seen
            break
        place = 2 * k
    return place, seen


def carried_over(x, e):
    """The bound of the loop inside is what the last iteration set."""
    stop, total = 2, 0.0
    for i in range(len(x)):
        for k in range(min(stop, len(e))):
            if x[i] < e[k]:
                stop = k + 1
                break
            total += 1
            stop = k + 2
    return stop, total


SEARCHES = [counted, two_ways_out, one_way_keeps, backwards, inside_and_after, carried_over]


@pytest.mark.parametrize("function", SEARCHES)
def test_values(function: Any) -> None:
    rng = np.random.default_rng(2)
    x = rng.uniform(-1, 4, 150)
    x[:4] = np.nan, np.inf, -np.inf, -0.0
    compiled = transkern.compile(function, target="cpu")
    for edges in (np.arange(9) / 2 - 1, np.append(rng.uniform(-1, 4, 45), np.nan), np.zeros(0)):
        for given in (x, x[:0], x[5:38]):
            alike(function, given, edges, compiled=compiled)


def test_iterations_do_not_set_what_exits_set() -> None:
    passes = PASSES[: len(PASSES) - PASSES[::-1].index(BEFORE_LOOPS[-1])]
    assert settle_after_loop in passes
    for function, left in ((counted, 1), (two_ways_out, 4), (backwards, 1)):
        program = program_of(source_of(function), function.__name__, "f(float64[n],float64[m])", passes)
        searches = [s for s in walk(program.body) if isinstance(s, n.Loop) and any(
            isinstance(x, n.If) and any(isinstance(y, n.Break) for y in walk(x.then)) for x in s.body
        )]  # fmt: skip
        assert len(searches) == 1
        assert sum(isinstance(x, n.Assign) for x in walk(searches[0].body)) == left, function.__name__
