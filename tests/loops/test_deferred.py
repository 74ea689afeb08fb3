"""Updates of a matrix by rows that an iteration makes: they wait for a block of iterations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import source_of
from transkern.fuse.passes import PASSES
from transkern.fuse.states.deferred import defer_updates
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of

_TYPES = "(float64[n,d], float64[n])"


def named(x: Any, w: Any) -> Any:
    c = np.zeros((x.shape[1], x.shape[1]))
    for i in range(len(x)):
        d = x[i] - w[0]
        c += w[i] * np.outer(d, d)
    return c


def means_that_follow(x: Any, w: Any) -> Any:
    mean, m2 = np.zeros(x.shape[1]), np.zeros((x.shape[1], x.shape[1]))
    for k, v in enumerate(x, 1):
        d = v - mean
        mean = mean + d / k
        m2 += d[:, None] * (v - mean)
    return mean, m2


def gradients_through_time(x: Any, w: Any) -> Any:
    dh, g = np.zeros(x.shape[1]), np.zeros((x.shape[1], x.shape[1]))
    t = 0.0
    for i in range(len(x) - 1, -1, -1):
        t = t * 0.5 + w[i]
        dz = (dh + t) * (1 - x[i] * x[i])
        g += np.outer(dz, x[i - 1])
        dh = dz * 0.25
        t += dz[0]
    return g, dh, t


def by_loops(x: Any, w: Any) -> Any:
    n, d = x.shape
    c, low = np.zeros((d, d)), np.full((d, d), np.inf)
    for i in range(n):
        row = np.zeros(d)
        total = 0.0
        for j in range(d):
            total += x[i, j]
            row[j] = total
        for a in range(d):
            for b in range(d):
                c[a, b] += row[a] * row[b]
        for a in range(d):
            for b in range(d):
                low[a, b] = min(low[a, b], row[a] - row[b] * total)
    return c, low


WAITING = [named, means_that_follow, by_loops]


@pytest.mark.parametrize("function", WAITING)
def test_updates_wait(function: Callable[..., Any]) -> None:
    assert _blocks(function)


def seen_each_time(x: Any, w: Any) -> Any:
    c = np.zeros((x.shape[1], x.shape[1]))
    s = 0.0
    for i in range(len(x)):
        d = x[i] - w[0]
        c += np.outer(d, d)
        s += c[0, 0]
    return c, s


def read_by_what_is_made(x: Any, w: Any) -> Any:
    p = np.eye(x.shape[1])
    for i in range(len(x)):
        k = p[0] * x[i]
        p = p - np.outer(k, k)
    return p


def reset(x: Any, w: Any) -> Any:
    c = np.zeros((x.shape[1], x.shape[1]))
    for i in range(len(x)):
        d = x[i] * 2
        if w[i] > 0.5:
            c[:] = 0
        c += np.outer(d, d)
    return c


def left(x: Any, w: Any) -> Any:
    c = np.zeros((x.shape[1], x.shape[1]))
    for i in range(len(x)):
        d = x[i] - w[0]
        c += np.outer(d, d)
        if w[i] > 0.9:
            break
    return c


def seen_where_it_fails(x: Any, w: Any, c: Any) -> None:
    for i in range(len(x)):
        d = x[i] - w[int(w[i] * 100)]
        c += np.outer(d, d)


def updated_twice(x: Any, w: Any) -> Any:
    c = np.zeros((x.shape[1], x.shape[1]))
    for i in range(len(x)):
        d = x[i] - w[0]
        c += np.outer(d, d)
        c = c + c.T * 0.5
    return c


def triangles(x: Any, w: Any) -> Any:
    c = np.zeros((x.shape[1], x.shape[1]))
    for i in range(len(x)):
        d = x[i] - w[0]
        k = i % x.shape[1]
        c[:k, :k] += np.outer(d[:k], d[:k])
    return c


AT_ONCE = [seen_each_time, read_by_what_is_made, reset, left, updated_twice, triangles]


@pytest.mark.parametrize("function", AT_ONCE)
def test_updates_do_not_wait_where_that_is_seen(function: Callable[..., Any]) -> None:
    assert not _blocks(function)


def test_what_the_caller_sees_does_not_wait_where_an_iteration_may_raise() -> None:
    assert not _blocks(seen_where_it_fails, "(float64[n,d], float64[n], float64[d,d])")


def _blocks(function: Callable[..., Any], types: str = _TYPES) -> bool:
    passes = PASSES[: PASSES.index(defer_updates) + 1]
    program = program_of(source_of(function), function.__name__, function.__name__ + types, passes)
    return any("_block" in s.axis for s in walk(program.body) if isinstance(s, n.Loop))


@pytest.mark.parametrize("function", [means_that_follow, by_loops, gradients_through_time])
def test_all_have_numpys_bits(function: Callable[..., Any]) -> None:
    for rows in (0, 65, 130):
        rng = np.random.default_rng(rows)
        x, w = rng.standard_normal((rows, 9)), rng.random(rows)
        alike(function, x, w)
        if rows:
            x[rows // 2] = np.nan
            x[rows // 3, 0], x[0] = np.inf, -0.0
            alike(function, x, w)


def test_what_was_done_before_an_error_is_seen() -> None:
    rng = np.random.default_rng(3)
    x, w, c = rng.standard_normal((90, 5)), rng.random(90), rng.standard_normal((5, 5))
    alike(seen_where_it_fails, x, np.where(np.arange(90) == 70, 5.0, w * 0.5), c)


def of_long_rows(x: Any, w: Any) -> Any:
    c = np.zeros((2, x.shape[1]))
    for i in range(len(w)):
        d = x[0] * w[i]
        c += d[:2, None] * d
    return c


@pytest.mark.parametrize("columns", [20, 20_000])
def test_rows_that_are_long_or_short(columns: int) -> None:
    rng = np.random.default_rng(4)
    alike(of_long_rows, rng.standard_normal((1, columns)), rng.random(66))
