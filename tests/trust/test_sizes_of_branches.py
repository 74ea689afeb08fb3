"""Arrays that are of another size on each path of a branch, where the sizes are found on the paths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import on_target


def frequencies(n: int, positive: bool) -> Any:
    if positive:
        f = np.linspace(0, 0.5, 1 + n // 2, endpoint=True)
    else:
        left, right = n // 2, -(n // 2)
        f = np.hstack([np.arange(left), np.arange(right, 0)]) / n
    return f


def ricker(s: float, c: float) -> Any:
    x = np.arange(int(-s * c), int(s * c) + 1).astype(float)
    if len(x) % 2 == 0:
        x = np.arange(int(-s * c) - 1, int(s * c) + 1).astype(float)
    return np.exp(-x * x)


def finite_columns(f: Any, o: Any) -> Any:
    f = np.vstack([f[i, :].flatten() for i in range(f.shape[0])]).T
    keep = np.all(np.isfinite(f), axis=1)
    f = f[keep, :].copy()
    f.sort(axis=1)
    return f[:, 1] - o[keep]


def finite_columns_of_few(f: Any, o: Any) -> Any:
    f = np.stack([row * 2 for row in f], axis=1)
    keep = np.isfinite(f).all(axis=1)
    f = f[keep]
    f = np.sort(f, axis=1)
    o = o[keep]
    return f[:, 0] + o, f


def in_a_loop(x: Any, k: int) -> Any:
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0:
            m = int(x[i] * k) + 1
            v = np.arange(m) * x[i]
        else:
            v = np.linspace(x[i], 1.0, int(-x[i]) + 2)
        total += v.sum() + len(v)
        v[0] = total
        total -= v[0] * 0.5
    return total


def _window(s: float, wide: bool) -> Any:
    if wide:
        w = np.ones(int(s * 3) + 1)
    elif s > 2:
        w = np.arange(float(int(s)))
    else:
        w = np.zeros(2)
    return w / max(len(w), 1)


def through_a_function(x: Any, s: float, wide: bool) -> Any:
    w = _window(s, wide)
    return np.convolve(x, w), len(w)


def both_ways(n: int, m: int, up: bool) -> Any:
    if up:
        v, w = np.arange(int(n * 1.5)) ** 2, np.zeros(m // 2)
    else:
        w, v = np.arange(float(n)), np.arange(int(m / 2.5), 0, -1)
    v[:2] = 7
    return v, w, v[::-1]


def overwritten_condition(s: float, c: float) -> Any:
    if s > c:
        x = np.arange(int(s) + 2.0)
        s, c = 0.0, 1.0
    else:
        x = np.arange(int(c) + 1.0) * 3
    return x, s + c


def leaves_early(s: float, t: float) -> Any:
    if s > 3:
        if t > 0:
            return np.zeros(1)
        x = np.arange(int(s * 2) * 1.0)
    else:
        x = np.ones(int(t) + 1)
    return x * 2


F = np.array([[1.0, np.nan, 5, 2, 8], [3, 3, 3, -1, np.inf], [0, 1, 2, 3, 4]])
CALLS = [
    (frequencies, (8, True)),
    (frequencies, (8, False)),
    (frequencies, (9, False)),
    (frequencies, (0, True)),
    (ricker, (1.3, 4.0)),
    (ricker, (2.0, 5.2)),
    (ricker, (np.nan, 1.0)),
    (finite_columns, (F, np.arange(5.0))),
    (finite_columns, (F[:, :2], np.arange(2.0))),
    (finite_columns_of_few, (F, np.arange(5.0))),
    (through_a_function, (np.arange(5.0), 1.7, True)),
    (through_a_function, (np.arange(5.0), 3.7, False)),
    (through_a_function, (np.arange(5.0), 1.7, False)),
    (both_ways, (5, 9, True)),
    (both_ways, (5, 9, False)),
    (overwritten_condition, (2.5, 1.0)),
    (overwritten_condition, (2.5, 4.0)),
    (leaves_early, (5.0, -1.0)),
    (leaves_early, (5.0, 1.0)),
    (leaves_early, (1.0, 6.0)),
]


def same(function: Callable[..., Any], arguments: tuple[Any, ...], target: str = "cpu") -> None:
    """The same exception, or the same results, of the same shapes."""
    try:
        wanted = function(*arguments)
    except (ValueError, OverflowError, IndexError) as error:
        with pytest.raises(type(error)):
            transkern.compile(function, target=target)(*arguments)
        return
    found = transkern.compile(function, target=target)(*arguments)
    for a, b in zip(*((x if isinstance(x, tuple) else (x,)) for x in (found, wanted)), strict=True):
        assert np.shape(a) == np.shape(b) and np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("function", list(dict.fromkeys(f for f, _ in CALLS)), ids=lambda f: f.__name__)
def test_each_path_has_a_size_of_its_own(function: Callable[..., Any]) -> None:
    for f, arguments in CALLS:
        if f is function:
            same(f, arguments)


@pytest.mark.parametrize("target", ["cuda", "pallas"])
def test_on_devices_too(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    for function, arguments in [*CALLS[1:3], *CALLS[4:6]]:
        try:
            same(function, arguments, target)
        except transkern.CompileError as error:
            assert target == "pallas" and "depends on data" in str(error)


def local_memory(s: float, c: bool) -> Any:
    if c:
        x = np.cumsum(np.arange(int(s) * 1.0))
    else:
        x = np.zeros(int(s * 2))
    return x


@pytest.mark.parametrize(
    "function, arguments",
    [(local_memory, (5.5, True)), (local_memory, (5.5, False)), (in_a_loop, (np.array([1.5, -2.5, 0.0]), 3))],
    ids=["one", "other", "in a loop"],
)
def test_memory_of_a_path_alone(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """What cannot be carried out of a path is computed or refused, and never text that does not compile."""
    try:
        same(function, arguments)
    except transkern.CompileError as error:
        assert "different sizes on two paths" in str(error)
