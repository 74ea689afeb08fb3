# ruff: noqa: RUF005
"""Lists of lists, and of tuples with lists in them, in Python's order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike


def merged_intervals(x):
    intervals = sorted(x.tolist())
    out = [intervals[0]]
    for low, high in intervals[1:]:
        if low <= out[-1][1]:
            out[-1][1] = max(out[-1][1], high)
        else:
            out.append([low, high])
    return out


def rows_turned(x):
    return sorted([list(row) for row in x], reverse=True)


def sorted_in_place(x):
    rows = [[r[1], r[0]] for r in x]
    rows.sort()
    again = [[v] * (k % 3) for k, v in enumerate(x[:, 0])]
    again.sort(reverse=True)
    return rows, again


def of_a_dict(x):
    groups = defaultdict(list)
    for low, high in x:
        groups[low % 4].append(high)
    return [(k, np.sum(v)) for k, v in sorted(groups.items())], sorted(groups.items(), reverse=True)[0][0]


def ties(x):
    found = []
    for k in range(len(x)):
        found.append((int(x[k, 0]) % 3, [int(x[k, 1])] * (k % 4)))
    return sorted(found), sorted(found, reverse=True)


def nested_lists(x):
    rows = x.tolist()
    rows.append([0, 1])
    return rows, len(rows), sum(row[0] for row in rows)


def beams(x):
    paths = [([], 0.0)]
    for row in x:
        new = []
        for path, score in paths:
            for k in range(len(row)):
                new.append((path + [k], score + row[k]))
        new.sort(key=lambda one: -one[1])
        paths = new[:3]
    return paths[0]


INTERVALS = np.sort(np.random.default_rng(3).integers(0, 30, (12, 2)), axis=1)


@pytest.mark.parametrize("x", [INTERVALS, INTERVALS[::-1], INTERVALS[:1], INTERVALS[:4]], ids=["twelve", "turned", "one", "four"])
@pytest.mark.parametrize(
    "function", [merged_intervals, rows_turned, sorted_in_place, of_a_dict, ties, nested_lists, beams]
)  # fmt: skip
def test_orders_are_pythons(function: Callable[..., Any], x: np.ndarray[Any, Any]) -> None:
    alike(function, x)


@pytest.mark.parametrize("function", [merged_intervals, ties])
def test_one_code_serves_any_number_of_rows(function: Callable[..., Any]) -> None:
    compiled = transkern.compile(function, target="cpu", types=f"{function.__name__}(int64[n, 2])")
    assert compiled.emit()


def test_nan_has_no_order() -> None:
    def found(x):
        return sorted([[v] * (k + 1) for k, v in enumerate(x)])

    alike(found, np.array([2.0, 1.0, 2.0]))
    with pytest.raises(RuntimeError, match="NaN in a list that is sorted"):
        transkern.compile(found, target="cpu")(np.array([2.0, np.nan, 1.0]))
