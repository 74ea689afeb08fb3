"""Python's `sum`, which from 3.12 on adds floats by Neumaier's summation: what this Python gives, to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import on_target


def of_lists(x: Any) -> Any:
    items = []
    for v in x:
        items.append(float(v))
    return sum(items), sum(items, 1), sum(items, 0.5), sum([0.1, 1e100, 0.3, -1e100]), sum([0.1] * 10)


def of_generators(x: Any) -> Any:
    items = [float(v) for v in x]
    return sum(v * v for v in items), sum(v for v in items if v > 0), sum(len(items) for v in items), sum(v for v in x)


def of_arrays(x: Any) -> Any:
    return sum(x.tolist()), sum(x), sum(v for v in x.tolist())


def of_few(a: float, b: float, c: float) -> Any:
    items = (a, b, c)
    return sum(items), sum([a, b, 1, c]), sum([a, np.float64(b), c]), sum([1, 2, a]), sum(x * 0.1 for x in items)


def of_whole_lists(items: list) -> Any:
    return sum(items), sum(v for v in items)


def of_rows(x: Any) -> Any:
    """One in another, and names that the compiler's own must not meet."""
    lost, element = 2.0, 3.0
    rows = [[float(v) for v in x], [float(v) * 0.1 for v in x]]
    inner = sum(sum(v * lost for v in row) for row in rows)
    return inner, sum(max(v * element for v in [*row, 0.0]) for row in rows), min(sum(v for v in row) for row in rows)


WIDE = np.random.default_rng(0).normal(size=100) * 10.0 ** np.arange(-50, 50)
ARRAYS = [np.full(10, 0.1), np.array([1e100, 1.0, -1e100]), np.array([]), np.array([np.inf, 1.0]), np.array([-0.0]), WIDE]


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_sums_are_pythons(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    calls: list[tuple[Any, tuple[Any, ...]]] = [(f, (x,)) for f in (of_lists, of_generators, of_arrays) for x in ARRAYS]
    calls += [(of_rows, (x,)) for x in ARRAYS[:2]]
    calls += [(of_few, a) for a in ((0.1, 0.2, 0.3), (1e100, 1.0, -1e100), (np.inf, 1.0, 2.0), (-0.0, -0.0, -0.0))]
    calls += [(of_whole_lists, (a,)) for a in ([0.1] * 10, [1e100, 1.0, -1e100], [], [0.5], [1, 2, 3])]
    made = {f: transkern.compile(f, target=target) for f, _ in calls}
    for function, given in calls:
        assert repr(made[function](*given)) == repr(function(*given)), (function.__name__, given)
