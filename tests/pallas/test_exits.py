"""How a function is left: a `return` anywhere, messages with numbers of any type, and objects among the results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import require

require("jax")

_X = np.array([0.5, -1.0, 3.0, np.nan, 2.0])


class Beyond(ValueError):
    pass


class Place(NamedTuple):
    row: int
    value: float


@dataclass
class Found:
    place: Place
    count: int


def from_loops(x: Any, s: float, k: int) -> Any:
    if len(x) > 6 and k > 0:
        return x[k:] * 2
    for i in range(len(x)):
        if x[i] > s:
            return i, x[i], x[: len(x) // 2], "loop"
        for j in range(i):
            if x[j] + x[i] == 2.5:
                return x
            if x[j] < -s:
                break
        if i == k:
            return None
    x[0] = 7
    y = np.cumsum(x)
    while y[0] > s:
        y = y - 1
        if y[-1] < 0:
            return y, "while"
    return y[y > 0], -1


def from_branches(x: Any, s: float, k: int) -> Any:
    total = 0.0
    if x[0] > s:
        x[1] = 5
        if k > 1:
            return x.sum()
        total = x.max()
    elif x[1] > 0:
        if len(x) == 3:
            return x[1] * 1j
        total = 2.0
    else:
        for v in x:
            if v > 2:
                return total
            total += v
    x *= 2
    return {"total": total, "kept": x[x > s]}


def found(x: Any, s: float, k: int) -> Any:
    for i in range(len(x)):
        if x[i] > s:
            return Found(Place(i, float(x[i])), i + k), x[i:] - s
    return [Place(i, 0.5 * i) for i in range(k)]


def told(x: Any, s: float, k: int) -> Any:
    best = np.float32(0)
    for i in range(len(x)):
        best = max(best, x[i].astype(np.float32))
        if x[i] > s:
            raise Beyond(f"{x[i]:.3f} > {s} at {i}: {best} {{{x[0] > 1}}} {k / 3}")
    if k > 3:
        raise Beyond("{}")
    if x[0] < -1:
        raise Beyond
    return best


@pytest.mark.parametrize("function", [from_loops, from_branches, found, told])
def test_ways_out(function: Callable[..., Any]) -> None:
    for x in (_X, -_X, np.array([0.25, 1, 0])):  # each size is code of its own
        for s, k in ((1.0, 2), (2.5, 1), (100.0, 4)):
            alike(function, x.copy(), s, k, target="pallas")


def sized_by_data(x: Any, counts: Any, s: float) -> Any:
    every = np.repeat(x, counts)
    if len(every) > 9:
        return every[9:]
    seen = np.bincount(counts, minlength=2)
    times = np.arange(int(abs(s) * len(every))) / 4
    return np.interp(times, np.arange(len(x)), x), np.cumsum(seen), np.zeros(seen.max())[:3], np.cumsum(x[x > s])


def test_sizes_that_data_make() -> None:
    """The jitted function is called for them first; what fails before leaves nothing to be asked for."""
    for counts in ([1, 0, 2, 1, 0], [0] * 5, [3, 9, 1, 1, 0], [1, -1, 0, 0, 0], [1, 2]):
        for s in (0.5, np.nan):
            alike(sized_by_data, _X, np.array(counts), s, target="pallas")
    alike(sized_by_data, _X[:0], np.array([], int), 1.0, target="pallas")


def thinned(x: Any, by: float) -> Any:
    left, kept = np.arange(len(x)), []
    while left.size:
        first = left[0]
        kept.append(int(first))
        left = left[1:]
        left = left[np.abs(x[left] - x[first]) > by]
    return np.array(kept, dtype=int), np.unique(np.unique(x, return_counts=True)[1])


def test_compaction_of_what_is_left() -> None:
    for x in (np.round(np.random.default_rng(0).normal(size=12), 1), np.array([2.0, 2, 2]), np.zeros(0), _X):
        alike(thinned, x, 0.5, target="pallas")


def without_a_bound(x: Any, k: int) -> Any:
    todo, seen = [(0, 1.5)], {}
    while todo:
        at, so_far = todo.pop()
        if at in seen:
            continue
        seen[at] = so_far
        for step in (1, 2, 3):
            if at + step < k:
                todo.append((at + step, so_far + x[(at + step) % len(x)]))
    return seen


def counted_down(x: Any, k: int) -> Any:
    steps = []
    while k > 1:
        steps.append(k)
        k -= 2
        if len(steps) > 2000:
            raise ValueError(f"{k} and {x[0]}")
    return steps


def test_lists_without_a_bound() -> None:
    """Where one outgrows its memory the call begins anew with more of it."""
    for k in (0, 7):
        alike(without_a_bound, _X, k, target="pallas")
    for k in (9, 3000):
        alike(counted_down, _X, k, target="pallas")


def in_pairs(a: Any, b: Any, s: float) -> Any:
    both = [(v, w) for v, w in zip(a[a > s], np.outer(b, b)[b > s].ravel(), strict=False)]
    firsts, seconds = list(a[a > s]), list(b)
    return both, firsts + seconds, np.array(firsts + firsts)


def test_arrays_of_several_lengths_in_one_loop() -> None:
    for s in (-2.0, 0.75, 9.0):
        alike(in_pairs, _X, _X[:4].copy(), s, target="pallas")
