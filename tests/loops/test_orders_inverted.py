"""The order of an order is where its elements stand: no second sort (`fuse/sorts/inverse.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import require, source_of
from transkern.debug.staged import Staged
from transkern.fuse.passes import PASSES
from transkern.fuse.sorts.inverse import invert_orders
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of

require("cc")

STAGE = PASSES.index(invert_orders) + 1


def ranks(x: Any) -> Any:
    return x.argsort().argsort()


def ranks_of_columns(x: Any) -> Any:
    order = np.argsort(x, axis=0, kind="stable")
    place = np.argsort(order, axis=-2)
    return place * 2.0 - len(x), order


def ranks_of_rows(x: Any) -> Any:
    place = np.argsort(np.argsort(x, axis=1), axis=1).astype(float)
    place -= place.mean(axis=1, keepdims=True)
    return (place**2).sum(axis=1), place


def in_turn(x: Any, k: int) -> Any:
    place = np.argsort(x)
    for _ in range(k):
        place = np.argsort(place)
    return place


def of_other_axes(x: Any) -> Any:
    order = np.argsort(x, axis=0)
    return np.argsort(order, axis=1), np.argsort(order.T, axis=1), np.argsort(order[::-1], axis=0)


def changed_between(x: Any) -> Any:
    order = np.argsort(x)
    order[0] = 5
    return np.argsort(order)


def changed_by_loops(x: Any) -> Any:
    order = np.argsort(x)
    out = np.zeros(len(x), np.int64)
    for k in range(3):
        out += np.argsort(order)
        order[k % len(x)] += 7
    return out


def _sorts(function: Any, types: str) -> int:
    program = program_of(source_of(function), function.__name__, f"{function.__name__}({types})", PASSES[:STAGE])
    return sum(isinstance(s, n.Library) and s.name == "argsort" for s in walk(program.body))


@pytest.mark.parametrize(
    ("function", "sorts"), [(ranks, 1), (changed_between, 2), (changed_by_loops, 2)], ids=lambda f: str(f)[:20]
)
def test_one_sort_tells_ranks(function: Any, sorts: int) -> None:
    assert _sorts(function, "float64[n]") == sorts


def test_one_sort_tells_ranks_along_an_axis() -> None:
    assert _sorts(ranks_of_columns, "float64[n,m]") == _sorts(ranks_of_rows, "float64[n,m]") == 1
    assert _sorts(of_other_axes, "float64[n,m]") == 4


def test_ranks() -> None:
    for x in ([], [2.0], [3.0, np.nan, 1.0, 1.0, -0.0, 0.0, np.inf, 1.0]):
        values = np.array(x)
        for function in (ranks, changed_between, changed_by_loops)[: 3 if len(x) else 1]:
            alike(function, values, compiled=Staged(function, STAGE))
        alike(in_turn, values, 2, compiled=Staged(in_turn, STAGE))


def test_ranks_along_an_axis() -> None:
    for shape in [(0, 3), (3, 0), (1, 5), (7, 4)]:
        x = np.random.default_rng(0).choice([0.5, 1.5, np.nan, -2.0], shape)
        alike(ranks_of_columns, x, compiled=Staged(ranks_of_columns, STAGE))
        alike(of_other_axes, x, compiled=Staged(of_other_axes, STAGE))


def test_ranks_of_rows_compiled() -> None:
    for shape in [(0, 3), (3, 4), (70, 40)]:
        alike(ranks_of_rows, np.random.default_rng(0).random(shape))
