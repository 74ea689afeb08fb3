"""Arrays that are filled as far as data say, and then cut: JAX has a place for all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.fuzz.oracle import call, difference
from tests.tools import on_target


def _found(x: Any) -> Any:
    found = np.zeros(len(x), dtype=np.int64)
    c = 0
    for i in range(len(x)):
        if x[i] > 0:
            found[c] = i
            c += 1
    return found, c


def copied(x: Any) -> Any:
    found, c = _found(x)
    return found[:c].copy()


def doubled(x: Any) -> Any:
    found, c = _found(x)
    found = found[:c] * 2 + 1
    return found


def looked_up(x: Any) -> Any:
    found, c = _found(x)
    y = x[found[:c]]
    return y * y


def reduced(x: Any) -> Any:
    found, c = _found(x)
    y = found[:c] + 1.0
    return y.sum(), y * 2, (y > 1).any()


def from_the_end(x: Any) -> Any:
    found, c = _found(x)
    y = found[: c - 1] + found[1:c]
    return y[::-1] * 1.0


def backwards(x: Any) -> Any:
    found, c = _found(x)
    return found[:c][::-1] + 0


def rows(x: Any) -> Any:
    out = np.zeros((len(x), 2))
    c = 0
    for i in range(len(x)):
        if x[i] > 0:
            out[c, 0] = x[i]
            out[c, 1] = i
            c += 1
    return out[:c] * 2.0


def in_turn(x: Any) -> Any:
    found, c = _found(x)
    y = found[:c] * 1.0
    for k in range(1, len(y)):
        y[k] = y[k] + 0.5 * y[k - 1]
    return y


def sorted_up(x: Any) -> Any:
    found, c = _found(x)
    return np.sort(-found[:c])


def mean(x: Any) -> Any:
    found, c = _found(x)
    y = x[found[:c]] * 4.0
    return y.mean() if c > 0 else 0.0


ALL = (copied, doubled, looked_up, reduced, from_the_end, backwards, rows, in_turn, sorted_up, mean)


@pytest.mark.parametrize("function", ALL, ids=lambda f: f.__name__)
def test_filled_in_part(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = transkern.compile(function, target=on_target("pallas", monkeypatch))
    for x in ([1.0, -1.0, 2.0, 3.0, 4.0], [-1.0] * 5, [1.0, 2.0, 3.0, 4.0, 5.0], [-1.0, -1.0, -1.0, -1.0, 2.0], [1.0], []):
        given = np.array(x, dtype=np.float64)
        wanted, found = call(function, [given]), call(compiled, [given])
        assert not difference(found, wanted), (x, found, wanted)
