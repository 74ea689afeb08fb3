"""Rows that are reduced over the same few numbers: lanes over the rows, counts in lanes of what is compared
(`fuse/schedule/pairs.py`, `fuse/schedule/columns.py`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import require, source_of
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of

require("cc")


def above(x: Any, e: Any) -> Any:
    return (x[:, None] >= e).sum(axis=1)


def apart(x: Any, e: Any) -> Any:
    d = np.abs(x[:, None] - e)
    return d.max(axis=1), d.argmin(axis=1)


def within(x: Any, e: Any) -> Any:
    return np.array([np.any(v == e) for v in x])


def ranks(x: Any, e: Any) -> Any:
    out = np.empty(len(x), np.int64)
    for i in range(len(x)):
        count = 0
        for j in range(len(e)):
            if e[j] < x[i]:
                count += 1
        out[i] = count
    return out


def scaled(x: Any, e: Any) -> Any:
    return (x[:, None] * e).sum(axis=1)


@pytest.mark.parametrize("function", [above, apart, within])
@pytest.mark.parametrize("dtype", ["float32", "uint8"])
def test_rows_are_numpys(function: Callable[..., Any], dtype: str) -> None:
    random = np.random.default_rng(0)
    for rows, terms in ((1, 3), (100, 1), (64, 40), (99, 130), (33, 1025)):
        x, e = (random.integers(0, 200, size).astype(dtype) for size in (rows, terms))
        if dtype.startswith("float"):
            x[::7], e[3::50] = np.nan, np.nan
            x[1::7] = -0.0
        alike(function, x, e)
        alike(function, x[::-1], e[::-1])


@pytest.mark.parametrize("dtype", ["float64", "int16"])
@pytest.mark.parametrize("function, together", [(above, True), (ranks, True), (scaled, False)])
def test_how_many_terms_lanes_over_rows_go_through(function: Callable[..., Any], dtype: str, together: bool) -> None:
    types = f"{function.__name__}({dtype}[n], {dtype}[m])"
    program = program_of(source_of(function), function.__name__, types, PASSES)
    conditions = [str(s.condition) for s in walk(program.body) if isinstance(s, n.If)]
    is_float_sum = not together and dtype.startswith("float")
    assert any("1024" in c for c in conditions) != is_float_sum
