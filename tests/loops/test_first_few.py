"""The first or last few places of an order, found without a sort (`fuse/sorts/first_few.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import require, source_of
from transkern.debug.staged import Staged
from transkern.fuse.passes import PASSES
from transkern.fuse.sorts.first_few import select_first
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of

require("cc")

STAGE = PASSES.index(select_first) + 1


def nearest(x: Any, k: int) -> Any:
    order = np.argsort(x, axis=1)[:, :k]
    return np.take_along_axis(x, order, axis=1), order


def others(x: Any, labels: Any, k: int) -> Any:
    order = x.argsort(axis=-1)
    return labels[order[:, 1 : k + 1]].sum(axis=1)


def best(x: Any, k: int) -> Any:
    return np.argsort(-x)[:k], np.argsort(x)[::-1][:k], np.argsort(x)[-k:]


def as_given(x: Any, k: int) -> Any:
    order = np.argsort(x)
    return order[:k], list(order[:3]), order.reshape(-1, 1)[:2]


def second(x: Any) -> Any:
    order = np.argsort(x)
    return order[1], x[order[0]], order[-3]


def long_and_short(x: Any, k: int) -> Any:
    order = np.argsort(x, axis=1)
    rows = np.arange(len(x))[:, None]
    return x[rows, order[:, -k:]], x[rows, order[:, :k]]


def all_of_it(x: Any) -> Any:
    order = np.argsort(x)
    return x[order[:2]], x[order]


def in_between(x: Any, k: Any) -> Any:
    order = np.argsort(x)
    return order[k], order[:2]


def lowest_two(x: Any) -> Any:
    order = np.argsort(x, axis=-1, kind="stable")
    return x[order[0]], order[1]


def in_turn(x: Any, k: int) -> Any:
    x = x.copy()
    found = []
    for _ in range(3):
        for place in np.argsort(x)[:k]:
            found.append(place)
            x[place] += 2.0
    return np.array(found)


def _sorts(function: Any, types: str) -> tuple[int, int]:
    """Sorts that are made in any case, and where there is a doubt."""
    program = program_of(source_of(function), function.__name__, f"{function.__name__}({types})", PASSES[:STAGE])
    sorts = [s for s in walk(program.body) if isinstance(s, n.Library) and s.name == "argsort"]
    doubted = [s for x in walk(program.body) if isinstance(x, n.If) for s in sorts if s in x.then]
    return len(sorts) - len(doubted), len(doubted)


def test_sorts_are_there_for_doubts() -> None:
    assert _sorts(nearest, "float64[n,m],int") == (0, 1)
    assert _sorts(others, "float64[n,m],int64[m],int") == (0, 1)
    assert _sorts(best, "float64[n],int") == (0, 3)
    assert _sorts(lowest_two, "float32[n]") == (0, 1)
    assert _sorts(as_given, "float64[n],int") == (0, 1)
    assert _sorts(second, "float64[n]") == _sorts(long_and_short, "float64[n,m],int") == (0, 1)  # from both ends
    assert _sorts(all_of_it, "float64[n]") == _sorts(in_between, "float64[n],int64[n]") == (1, 0)
    assert _sorts(in_turn, "float64[n],int") == (0, 1)


ROWS = np.random.default_rng(3).random((6, 100))
TIED = np.round(ROWS * 9)
SPECIAL = np.random.default_rng(4).choice([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, 2.5], (5, 100))


@pytest.mark.parametrize("x", [ROWS, TIED, SPECIAL, ROWS[:, :5], ROWS[:0], ROWS[:, :0], -ROWS[::-1, ::-1]])
def test_rows(x: Any) -> None:
    one, two, three = (Staged(f, STAGE) for f in (nearest, others, long_and_short))
    for k in (0, 3, 6, 100, -98):
        alike(nearest, x, k, compiled=one)
        if k in (1, 3):
            alike(long_and_short, x, k, compiled=three)
        if x.shape[1] > 1:
            alike(others, x, np.arange(x.shape[1]), k, compiled=two)


ALL = (ROWS[0], TIED[1], SPECIAL[2], np.full(100, np.inf), np.arange(100.0), -np.arange(100.0))


@pytest.mark.parametrize("values", ALL)
def test_from_either_end(values: Any) -> None:
    compiled = Staged(best, STAGE)
    for k in (1, 4, 6, 7, 101):
        alike(best, values, k, compiled=compiled)
    partly = np.where(np.arange(100) % 33 == 5, np.nan, values)
    alike(best, partly, 4, compiled=compiled)
    alike(as_given, partly, 4, compiled=Staged(as_given, STAGE))
    alike(second, values, compiled=Staged(second, STAGE))


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8", "int16"])
def test_other_types(dtype: str) -> None:
    for values in (np.random.default_rng(5).permutation(100), np.arange(100) % 7):
        x = values.astype(dtype)
        alike(lowest_two, x, compiled=Staged(lowest_two, STAGE))
        if dtype != "float32":
            x[5], x[7:50] = np.iinfo(dtype).max, np.iinfo(dtype).max
            alike(best, x, 4, compiled=Staged(best, STAGE))


def test_in_loops() -> None:
    for x in (ROWS[0], TIED[0], SPECIAL[0]):
        alike(in_turn, x, 3, compiled=Staged(in_turn, STAGE))


def test_compiled() -> None:
    for x in (ROWS, TIED, np.vstack([ROWS, TIED]), SPECIAL):
        alike(nearest, x, 4)
