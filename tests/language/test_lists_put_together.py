"""Arrays of a list whose length only the run knows, put together along any axis; slices kept under a name."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target


def lines(x: Any, n: int, k: int) -> Any:
    out = []
    for i in range(n):
        out.append(x[i : i + k] + i)
    both = np.column_stack(out), np.vstack(out), np.hstack(out), np.dstack(out)
    return both, np.stack(out, axis=1), np.stack(out, -1), np.concatenate(out), np.concatenate(out, axis=None)


def planes(x: Any, n: int, k: int) -> Any:
    out = [np.outer(x[:k], x[:3]) + i for i in range(n)]
    both = np.column_stack(out), np.vstack(out), np.hstack(out), np.dstack(out)
    return both, np.stack(out, 2), np.stack(out, axis=1), np.concatenate(out, 1), np.concatenate(out, axis=-1)


def bodies(x: Any, n: int, k: int) -> Any:
    out = [(x[:k, None, None] * x[:3, None] + i) * x[:2] for i in range(n)]
    return np.column_stack(out), np.vstack(out), np.hstack(out), np.dstack(out), np.concatenate(out, 2), np.stack(out, 2)


def changed_afterwards(x: Any, n: int, k: int) -> Any:
    out = [x[:3] * i for i in range(n)]
    y = np.stack(out, axis=1, dtype=np.float32)
    y[0, 0] = 7
    out[0][0] = 9
    return y, out[0], np.concatenate(out, dtype=np.float32)


def no_such_axis(x: Any, n: int, k: int) -> Any:
    return np.stack([x[:3] * i for i in range(n)], axis=2)


def of_windows(x: Any, n: int, k: int) -> Any:
    frames = (len(x) - k) // n
    weights = np.arange(k) + 1.0
    return np.stack([x[i * n : i * n + k] * weights for i in range(frames)], axis=1)


def kept_slices(x: Any, n: int, k: int) -> Any:
    at = np.s_[n : n + k]
    both = np.s_[n % 4 : k + 4, ::-1]
    y = np.outer(x[:9], x[:3])
    y[np.index_exp[k:, 1]] = 0
    return x[at], y[both], y[np.s_[k % 3, ...]]


def grids(x: Any, n: int, k: int) -> Any:
    plane = np.outer(x[:n], x[:k])
    return np.meshgrid(plane, x[:3]), np.meshgrid(plane, x[:2], indexing="ij", sparse=True)


FUNCTIONS = (lines, planes, bodies, changed_afterwards, no_such_axis, of_windows, kept_slices, grids)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_as_numpy_does(function: Callable[..., Any]) -> None:
    for n, k in ((1, 4), (2, 1), (11, 4), (5, 5), (0, 4)):
        if n or function is not of_windows:
            alike(function, np.arange(40.0), n, k)


@pytest.mark.parametrize("target", ["cuda", "pallas"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_on_other_targets(function: Callable[..., Any], target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    alike(function, np.arange(40.0), 6, 4, target=target)
