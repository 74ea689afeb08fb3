"""Positions among elements that are stored first, and loops that come down to those which need what they store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from transkern import pipeline
from transkern.frontend.sources.source import live_function
from transkern.frontend.specialise import specialise
from transkern.frontend.values.types import parse_signature
from transkern.ir import nodes as n
from transkern.ir.traverse import walk


def ratios(a: Any, b: Any) -> Any:
    inter = np.minimum(a[:, None], b[None, :])
    total = a * a + 1
    other = b * b + 1
    r = inter / (total[:, None] + other[None, :] - inter)
    return r, r.argmax(axis=1)


def both_ends(a: Any, b: Any) -> Any:
    d = np.abs(a[:, None] - b)
    return d.argmin(axis=1), d, d.argmax(axis=1), d.max(axis=1)


def of_one_array(a: Any, b: Any) -> Any:
    y = np.sqrt(np.abs(a)) - 1
    k = y.argmax() if len(a) else -1
    return y, k


def along_the_first(a: Any, b: Any) -> Any:
    d = np.abs(a[:, None] - b)
    return d, d.argmin(axis=0)


def by_loops(a: Any, b: Any) -> Any:
    d = np.empty((len(a), len(b)))
    at = np.full(len(a), -1)
    for i in range(len(a)):
        best = np.inf
        for j in range(len(b)):
            d[i, j] = abs(a[i] - b[j])
            if d[i, j] < best:
                best = d[i, j]
                at[i] = j
    return d, at


def changed_behind(a: Any, b: Any) -> Any:
    d = a[:, None] * b
    at = d.argmax(axis=1)
    d[:, 0] = 7
    return d, at, d.argmax(axis=1)


def of_its_own_argument(a: Any, b: Any) -> Any:
    a += 1
    k = a.argmax() if len(a) else 0
    a *= 2
    return k, a


FUNCTIONS = (ratios, both_ends, of_one_array, along_the_first, by_loops, changed_behind, of_its_own_argument)


def _made(function: Callable[..., Any]) -> n.Program:
    signature = f"{function.__name__}(float64[n],float64[m])"
    return pipeline.run(specialise(live_function(function), parse_signature(signature)[1], True))


@pytest.mark.parametrize("function", [ratios, both_ends, of_one_array, of_its_own_argument], ids=lambda f: f.__name__)
def test_loops_that_store_remember_nothing(function: Callable[..., Any]) -> None:
    loops = [s for s in walk(_made(function).body) if isinstance(s, n.Loop)]
    searches = [s for s in loops if any(isinstance(x, n.Accumulate) and x.position is not None for x in s.body)]
    assert searches
    assert not any(isinstance(x, n.Store) for s in searches for x in s.body)


def test_pairs_are_one_pass() -> None:
    made = _made(ratios)
    sizes = [len(made.buffers[s.buffer].dims) for s in walk(made.body) if isinstance(s, n.Alloc)]
    assert sizes.count(2) == 1  # the result


@pytest.mark.parametrize("sizes", [(0, 3), (1, 1), (3, 1), (2, 15), (5, 16), (4, 700), (3, 5000), (9, 64)])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_they_are_as_numpys(function: Callable[..., Any], sizes: tuple[int, int]) -> None:
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 9, size).astype(float) for size in sizes)
    alike(function, a, b)
    b[-1] = np.nan
    alike(function, a[::-1], b)
    a[:1] = -np.inf
    alike(function, a, b[::-1])
    alike(function, a.astype(np.float32), b.astype(np.float32))


def gathered(a: Any, b: Any) -> Any:
    i = np.floor(a).astype(int)
    j = i + 1
    return b[i] + b[j], i


def of_a_changing_limit(a: Any, b: Any) -> Any:
    k = (a * 2).astype(int)
    total = b[k].sum()
    k[:] = 0
    return total, b[k]


def test_subscripts_are_made_in_vectors() -> None:
    """No loop that makes subscripts remembers the first that is beyond an array."""
    made = _made(gathered)
    asking = [s for s in walk(made.body) if isinstance(s, n.Loop) and any(_asks(x) for x in s.body)]
    assert asking
    assert not any(isinstance(x, n.Store) for s in asking for x in s.body)


def _asks(s: n.Stmt) -> bool:
    return isinstance(s, n.Accumulate) and s.op == "first"


@pytest.mark.parametrize("function", [gathered, of_a_changing_limit], ids=lambda f: f.__name__)
def test_the_first_that_is_beyond_raises(function: Callable[..., Any]) -> None:
    rng = np.random.default_rng(3)
    b = rng.integers(-4, 5, 20) / 4
    for size in (0, 1, 63, 200):
        a = rng.random(size) * 9
        alike(function, a, b)
        a[size // 2 :: 7] = 31.0
        a[size // 3 :: 9] = -40.0
        alike(function, a, b)
        alike(function, a[::-1], b)
