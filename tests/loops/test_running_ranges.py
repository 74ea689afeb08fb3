"""Running extremes and sums are within what their terms tell: places made of them need no checks (`state/facts.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import require, source_of
from transkern.debug.staged import Staged
from transkern.fuse.checks.bounds import prove_bounds
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of

require("cc")


def filled_forward(x: Any) -> Any:
    places = np.where(np.isnan(x), 0, np.arange(x.shape[1]))
    places = np.maximum.accumulate(places, axis=1)
    return x[np.arange(x.shape[0])[:, None], places]


def filled_back(x: Any) -> Any:
    last = len(x) - 1
    places = np.minimum.accumulate(np.where(np.isnan(x), last, np.arange(len(x)))[::-1])[::-1]
    return x[places]


def numbered(x: Any) -> Any:
    starts = np.zeros(len(x), dtype=bool)
    starts[1:] = x[1:] != x[:-1]
    totals = np.zeros(len(x) + 1)
    for k, v in zip(np.cumsum(starts), x, strict=True):
        totals[k] += v
    return totals


def none_before(x: Any) -> Any:
    places = np.maximum.accumulate(np.where(np.isnan(x), -1, np.arange(len(x))))
    return np.where(places < 0, 7.0, x[places])


def beyond(x: Any) -> Any:
    return x[np.maximum.accumulate(np.arange(len(x)) + (x > 1.0))]


def falling(x: Any) -> Any:
    return x[np.cumsum(np.where(x > 1.0, -1, 2)) // 2]


STAGE = PASSES.index(prove_bounds) + 1


@pytest.mark.parametrize("function", [filled_forward, filled_back, numbered, none_before], ids=lambda f: f.__name__)
def test_no_place_is_checked(function: Any) -> None:
    types = "float64[n,m]" if function is filled_forward else "float64[n]"
    program = program_of(source_of(function), function.__name__, f"{function.__name__}({types})", PASSES[:STAGE])
    assert not any(isinstance(s, n.Guard) and s.error == "IndexError" for s in walk(program.body))


@pytest.mark.parametrize("function", [filled_back, numbered, none_before, beyond, falling], ids=lambda f: f.__name__)
def test_places_by_running_values(function: Any) -> None:
    compiled = Staged(function, STAGE)
    for x in ([], [np.nan], [3.0], [np.nan, 1.0, np.nan, np.nan, 2.0, 2.0], [2.0, 0.0, 0.5], [0.0] * 5):
        alike(function, np.array(x), compiled=compiled)


def test_rows_filled_forward() -> None:
    for shape in [(0, 3), (3, 0), (1, 1), (4, 9)]:
        alike(filled_forward, np.random.default_rng(0).choice([np.nan, 1.0, -0.0], shape))
