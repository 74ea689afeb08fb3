"""Names that nothing has bound before a loop, and whose first values are of two types: to read one in the next iteration
is no UnboundLocalError."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target


def halves(points: Any, depth: int) -> Any:
    """A list at the ends of the recursion, an array where there is little left, and what NumPy makes of both."""
    if len(points) < 3:
        return points[:]
    middle = len(points) // 2
    if depth > 0:
        first = halves(points[: middle + 1], depth - 1)
        second = halves(points[middle:], depth - 1)
        return first[:-1] + second
    return [points[0], points[-1]]


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_a_recursion_hands_back_lists_and_arrays(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    for n, depth in ((12, 1), (4, 2), (2, 0), (8, 0)):
        alike(halves, np.arange(float(n)), depth, target=target)


def read_in_the_loop(x: Any, n: int) -> Any:
    at = 0
    kept = 0.0
    while at < n:
        if x[at] > 5:
            r = [x[at], x[at]]
        elif at > 0:
            kept += len(r[:1])
            r = x[:2]
        else:
            r = x[:]
        at += 1
    return kept


def read_behind_it(x: Any, n: int) -> Any:
    for k in range(n):
        if x[k] > 5:
            r = [x[k], x[k]]
        else:
            r = x[:2]
    return len(r)


def deleted_again(x: Any, n: int) -> Any:
    total = 0.0
    for k in range(n):
        if k > 0 and x[k] > 100:
            total += r  # noqa: F821
        r = x[k]
        del r
    return total


@pytest.mark.parametrize("function", [read_in_the_loop, read_behind_it])
def test_where_it_cannot_be_known_it_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(transkern.CompileError, match="on one path"):
        transkern.compile(function)(np.arange(12.0), 8)


def test_what_is_deleted_is_not_bound() -> None:
    alike(deleted_again, np.arange(5.0), 4)
    alike(deleted_again, np.arange(5.0) + 100, 4)
