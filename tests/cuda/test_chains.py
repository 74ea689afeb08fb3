"""Loops that read what they stored some number of steps before, which the run knows: as many chains."""

from typing import Any

import numpy as np
import pytest

from tests.cuda.support import compiled_for
from tests.regressions.support import alike
from tests.tools import on_target


def ways(coins: Any, n: int) -> Any:
    w = np.zeros(n + 1, np.int64)
    w[0] = 1
    for c in coins:
        c = int(c)
        for s in range(c, n + 1):
            w[s] += w[s - c]
    return w


def again_and_again(weights: Any, n: int) -> Any:
    """The best of things that may be taken often."""
    best = np.zeros(n + 1)
    for k in range(len(weights)):
        c = int(weights[k])
        for j in range(c, n + 1):
            if best[j - c] + 1.5 * k > best[j]:
                best[j] = best[j - c] + 1.5 * k
    return best


def of_numpy_s(coins: Any, n: int) -> Any:
    """Coins that are numbers of NumPy's, whose differences may wrap."""
    w = np.zeros(n + 1, np.int64)
    w[0] = 1
    for c in coins:
        for s in range(c, n + 1):
            w[s] += w[s - c]
    return w


def comb(x: Any, delay: int) -> Any:
    y = x.copy()
    for k in range(delay, len(y)):
        y[k] = y[k] - 0.7 * y[k - delay]
    return y


def two_at_once(x: Any, d: int) -> Any:
    """Each of two arrays goes on with what the other one had."""
    a, b = x.copy(), x * 2
    for k in range(len(x) - d):
        a[k + d] = b[k] + 1
        b[k + d] = a[k] * 0.5
    return a, b


_COINS = np.array([3, 1, 7, 2, 60, 400, 3])
_X = np.random.default_rng(0).standard_normal(300)
CALLS: dict[Any, list[tuple[Any, ...]]] = {
    ways: [(_COINS, 300), (_COINS[:1], 3), (np.array([5, -2]), 30), (np.array([0, 3]), 10), (_COINS, 0)],
    of_numpy_s: [
        (_COINS, 300), (np.array([3, -2]), 30), (np.array([2, -(2**63)]), 10), (np.array([0, 2**63 - 1]), 9),
    ],
    again_and_again: [(_COINS, 200), (_COINS, 1)],
    comb: [(_X, 7), (_X, 1), (_X, 299), (_X, 500), (_X, 0), (_X, -3)],
    two_at_once: [(_X, 4), (_X, 1), (_X, 200), (_X, 0), (_X, -1)],
}


@pytest.mark.parametrize("function", CALLS)
def test_like_numpy(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target("cuda", monkeypatch)
    compiled, text = compiled_for(function, *CALLS[function][0])
    assert "chain" in text.partition("__global__")[2]
    for arguments in CALLS[function]:
        alike(function, *arguments, compiled=compiled)
