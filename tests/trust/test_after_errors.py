"""What arrays hold behind an error: what NumPy has stored before it, and nothing else."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import on_target

RAISING: list[Callable[..., Any]] = []


def raising(f: Callable[..., Any]) -> Callable[..., Any]:
    RAISING.append(f)
    return f


@raising
def element_by_element(x, y, k):
    for i in range(len(k)):
        y[i] = x[k[i]] * 2


@raising
def between_statements(x, y, k):
    y += 1
    for i in range(len(k)):
        y[i] = x[k[i]] * 2
    y *= 3


@raising
def gathered(x, y, k):
    y += 1
    z = x[k]
    y += z
    return z


@raising
def gathered_and_added(x, y, k):
    y += x[k] * 2
    x *= 2


@raising
def both_changed(x, y, k):
    for i in range(len(k)):
        y[i] += 1
        x[k[i]] += y[i]


@raising
def running_sum(x, y, k):
    s = 0.0
    for i in range(len(k)):
        s += x[k[i]]
        y[i] = s


@raising
def recurrence(x, y, k):
    for i in range(1, len(k)):
        y[i] = y[i - 1] * 0.5 + x[k[i]]


@raising
def scattered(x, y, k):
    y[0] = 5
    x[k] += y[1]
    y[1] = 9


@raising
def raised_by_hand(x, y, k):
    for i in range(len(k)):
        if k[i] >= len(x):
            raise ValueError("no")
        x[k[i]] = 2


@raising
def sorted_before(x, y, k):
    x[:] = np.sort(x)[::-1]
    y[:] = x[0]
    return y[k.max()]


@raising
def in_a_row(x, y, k):
    for i in range(len(k)):
        for j in range(3):
            y[j] += x[k[i]]


@raising
def array_of_its_own(x, y, k):
    t = x * 2
    y[:] = t
    for i in range(len(k)):
        t[k[i]] += 1
    x[:] = t


@raising
def singular(x, y, k):
    x += 1
    y[:2] = np.linalg.inv(np.zeros((2, 2)) * y[0])[0]


@raising
def caught_first(x, y, k):
    x[::2] = 0
    try:
        y[:] = x[k]
    except IndexError:
        y[:] = 4
    if y[0] == 4:
        raise ValueError("caught before")


@raising
def listed(x, y, k):
    out = []
    for i in range(len(k)):
        y[i] += 1
        if y[i] > 0.5:
            out.append(x[k[i]])
    return np.array(out)


@raising
def list_without_a_bound(x, y, k):
    todo = [0]
    x += 1
    while todo:
        i = todo.pop()
        y[i] += 1
        if y[i] < 3:
            todo.append(k[i])
            todo.append(k[i + 1])


def _outcome(f: Callable[..., Any], args: tuple[np.ndarray, ...]) -> tuple[str, tuple[np.ndarray, ...]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises((IndexError, ValueError, np.linalg.LinAlgError)) as caught:
            f(*args)
    return f"{caught.type.__name__}: {caught.value}", args


def _arguments(size: int, order: str) -> tuple[np.ndarray, ...]:
    random = np.random.default_rng(size)
    x, y, k = random.standard_normal(size), random.standard_normal(size), random.integers(0, size, size)
    k[size * 7 // 10], k[size * 9 // 10] = size + 5, size + 7
    x[1], x[2], x[3] = np.nan, -0.0, np.inf
    if order == "strided":
        x, y = np.repeat(x, 2)[::2], np.repeat(y, 2)[::-2]
    return x, y, k


@pytest.mark.parametrize("target", ("cpu", "cuda"))
@pytest.mark.parametrize("f", RAISING, ids=lambda f: f.__name__)
def test_what_was_stored_before_an_error_is_seen(
    f: Callable[..., Any], target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = transkern.compile(f, target=on_target(target, monkeypatch))
    for size, order in ((10, "plain"), (10, "strided"), (2000, "plain")):
        wanted, held = _outcome(f, _arguments(size, order))
        found, holds = _outcome(compiled, _arguments(size, order))
        assert found == wanted, (size, order)
        for a, b in zip(held, holds, strict=True):
            np.testing.assert_array_equal(b, a, err_msg=f"{size} {order}")
            np.testing.assert_array_equal(np.signbit(b), np.signbit(a))


def test_nothing_is_seen_of_a_call_that_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """A list on a device that outgrows its memory: the arguments are changed once, however often it is tried."""

    def f(x: Any, y: Any, k: Any) -> Any:
        x += 1
        todo = [0]
        while len(todo) < len(k):
            todo.append(k[len(todo)])
            todo.append(1)
        x[todo[-2]] += 5
        return x[len(todo)]

    compiled = transkern.compile(f, target=on_target("cuda", monkeypatch))
    random = np.random.default_rng(1)
    args = np.zeros(3000), np.zeros(1), random.integers(0, 3000, 3000)
    wanted, held = _outcome(f, tuple(a.copy() for a in args))
    found, holds = _outcome(compiled, tuple(a.copy() for a in args))
    assert found == wanted
    for a, b in zip(held, holds, strict=True):
        np.testing.assert_array_equal(b, a)
