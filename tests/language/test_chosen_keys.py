"""Dicts whose keys are known, with a key that is one of several texts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target


def counted(x: Any) -> Any:
    found = {"up": 0, "down": 0}
    for v in x:
        found["up" if v > 0 else "down"] += 1
    return found


def three(x: Any) -> Any:
    found = {"up": 0, "down": 0, "flat": 0}
    for v in x:
        if v > 0:
            k = "up"
        elif v < 0:
            k = "down"
        else:
            k = "flat"
        found[k] += 1
        last = k
    return found, last


def means(x: Any) -> Any:
    total, n = {"gain": 0.0, "loss": 0.0}, {"gain": 0, "loss": 0}
    for v in x:
        side = "gain" if v > 0 else "loss"
        total[side] += v
        n[side] = n[side] + 1
    return {k: total[k] / n[k] for k in total}


def read(x: Any) -> Any:
    price = {"low": 2.0, "high": 3.0, None: 1.0}
    s = 0.0
    for v in x:
        s += price["high" if v > 1 else "low" if v > 0 else None] * v
    return s


def list_of_one(x: Any) -> Any:
    k = "left" if x.sum() > 0 else "right"
    d = {"left": [1.0], "right": [2.0]}
    d[k].append(x[0])
    return d, k


def asked(x: Any) -> Any:
    d = {"seen": 1}
    for v in x:
        k = "seen" if v > 0 else "other"
        if k in d:
            d[k] += 1
    return d


def in_tuple(x: Any) -> Any:
    d = {(0, "even"): 1, (0, "odd"): 3}
    for i, v in enumerate(x):
        k = "odd" if i % 2 else "even"
        d[0, k] += int(v > 0)
    return d


def missing(x: Any) -> Any:
    d = {"up": 1}
    for v in x:
        k = "up" if v > 0 else "down"
        d[k] += 1
    return d


STEPS = {"up": (-1, 0), "down": (1, 0), "stay": (0, 0)}


def walked(x: Any) -> Any:
    names = list(STEPS)
    r, c = 0, 5
    price = {"up": 2.0, "stay": 0.5, "down": 1.0}
    s = 0.0
    for v in x:
        move = names[int(v) % 3]
        dr, dc = STEPS[move]
        r, c = r + dr, c - dc
        s += price[move] * v
    return r, c, s


def walked_away(x: Any) -> Any:
    s = 0
    for v in x:
        s += STEPS[["up", "{left}", "down"][int(v) % 3]][0]
    return s


FUNCTIONS = (walked, walked_away, counted, three, means, read, list_of_one, asked, in_tuple)


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_chosen_keys_are_pythons(function: Any, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    for x in (np.array([1.0, 2.0, -1.0, 3.0, 0.0, -2.0]), np.array([-1.0, 5.0])):
        alike(function, x, target=target)


def test_keys_that_are_not_there_raise() -> None:
    alike(missing, np.array([1.0, 2.0]))
    alike(missing, np.array([1.0, -2.0]))
