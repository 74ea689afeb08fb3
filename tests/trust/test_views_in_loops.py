"""A name that begins as a view, and that a loop binds anew: the array behind it may be stored into meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern


def whole(x: Any, y: Any) -> Any:
    for _ in range(1):
        x[1] += 2
        y = y[::1]
    return y


def shorter(x: Any, y: Any) -> Any:
    for _ in range(2):
        x[1] += 2
        y = y[1:]
    return y


def begun_inside(x: Any, y: Any) -> Any:
    y = x
    for _ in range(2):
        x[1] += 2
        y = y[::1]
    return y


def moving(x: Any, y: Any) -> Any:
    y = x[1:]
    for k in range(2):
        x[k + 1] += 2
        y = y[1:]
    return y


def new(x: Any, y: Any) -> Any:
    for _ in range(2):
        x[1] += 2
        y = y + 0
    return y


def reversed_in_a_while(x: Any, y: Any) -> Any:
    k = 0
    while k < 2:
        x[1] += 2
        y = y[::-1]
        k += 1
    return y


def stored_behind(x: Any, y: Any) -> Any:
    for _ in range(1):
        y = y[::1]
    x[2] = 77
    return y


def maybe_stored_behind(x: Any, y: Any) -> Any:
    z = y
    for _ in range(int(x[0])):
        z = z * 2
    y[3] = 77
    return z


def stored_when_new(x: Any, y: Any) -> Any:
    y = x
    for _ in range(3):
        y = y * 2
        x[1] = 7
    x[2] = 8
    return y


def stored_elsewhere(x: Any, y: Any) -> Any:
    out = np.zeros(3, x.dtype)
    for k in range(3):
        out[k] = y[0]
        y = y[1:]
    return out


@pytest.mark.parametrize("function", [
    whole, shorter, begun_inside, moving, new, reversed_in_a_while, stored_behind, maybe_stored_behind,
])  # fmt: skip
def test_stores_are_seen_or_refused(function: Callable[..., Any]) -> None:
    compiled = transkern.compile(function, target="cpu")
    for make in (_apart, _together):
        mine, theirs = make(), make()
        wanted = function(*theirs)
        try:
            found = compiled(*mine)
        except transkern.CompileError as refusal:
            assert "stored" in str(refusal) or "stores into" in str(refusal)
            continue
        np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("function", [stored_when_new, stored_elsewhere, whole, new])
def test_stores_that_do_not_matter_are_compiled(function: Callable[..., Any]) -> None:
    mine, theirs = _apart(), _apart()
    np.testing.assert_array_equal(transkern.compile(function, target="cpu")(*mine), function(*theirs))
    np.testing.assert_array_equal(mine, theirs)


def _apart() -> tuple[Any, Any]:
    return np.arange(7), np.arange(1, 8)


def _together() -> tuple[Any, Any]:
    memory = np.arange(8)
    return memory[:-1], memory[1:]
