"""Loops run as one across a check between them, where nobody can tell: what the second changes lives in the call."""

from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from transkern.errors import TranskernError


def extremes(k: Any) -> Any:
    low = k.min()
    if low < 0:
        raise ValueError("negative")
    return low, k.max(), (k * 2).sum()


def counts(k: Any, w: Any) -> Any:
    return np.bincount(k, weights=w, minlength=4)


def stored(k: Any, out: Any) -> Any:
    total = k.sum()
    if total > 100:
        raise ValueError("too many")
    out[:] = k * 2
    return total


def rows(k: Any, n: Any) -> Any:
    total = k.sum()
    if n > len(k):
        raise IndexError("no such row")
    part = 0
    for i in range(n):
        part += k[i]
    return total, part


def divided(k: Any, x: Any) -> Any:
    total = k.sum()
    n = len(x)
    if n == 0:
        raise ValueError("nothing to divide by")
    t = np.zeros(len(k))
    for i in range(len(k)):
        t[i] = k[i] * (i // n + i % n)
    return total, t


def test_nothing_is_divided_by_what_a_check_keeps_out() -> None:
    for size in (2, 1, 0):
        alike(divided, np.arange(5), np.arange(size))


def loops(function: Any, *args: Any) -> int:
    """The loops over what is given, with kernels counted once."""
    compiled = transkern.compile(function, threads=1)
    compiled(*args)
    return int(compiled.kernels)


def test_one_pass() -> None:
    k = np.arange(10) % 4
    assert loops(extremes, k) == 1
    assert loops(counts, k, k * 0.5) == 3  # extremes, zeros, sums
    alike(extremes, k)
    alike(counts, k, k * 0.5)


@pytest.mark.parametrize("function", [extremes, counts, stored, rows])
def test_errors_first(function: Any) -> None:
    for k in (np.array([3, -1, 200]), np.array([5]), np.array([-4])):
        second: tuple[Any, ...] = {counts: (k * 0.5,), stored: (k * 0,), rows: (len(k) + 1,)}.get(function, ())
        compiled = transkern.compile(function)
        mine, numpys = [(k.copy(), *(np.copy(s) if isinstance(s, np.ndarray) else s for s in second)) for _ in "ab"]
        outcomes: list[Any] = []
        for f, args in ((compiled, mine), (function, numpys)):
            try:
                outcomes.append(f(*args))
            except (ValueError, IndexError) as e:
                assert not isinstance(e, TranskernError)
                outcomes.append((type(e), str(e)))
        for one, two in zip(mine, numpys, strict=True):
            assert np.array_equal(one, two)  # nothing was stored before the error
        assert type(outcomes[0]) is type(outcomes[1])
        assert np.array_equal(np.asarray(outcomes[0], object), np.asarray(outcomes[1], object))
