"""What `and` and `or` do not evaluate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target, require

require("cc")


def compared_in_turn(x: Any, y: Any, z: Any) -> Any:
    if z < 2.0 or 1 > x[0] > y[0]:
        y[1] = 1
    return y


def chosen_where_needed(x: Any, y: Any, z: Any) -> Any:
    if z < 2.0 or (x[0] if x[1] > 2 else x[x[2]]) > 1:
        y[1] = 1
    return y


def said_by_a_loop(x: Any, y: Any, z: Any) -> Any:
    if z > 1 and (y[0] > 1 or any(v > 3 for v in x)):
        y[1] = 7
    return y


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.parametrize("function", [compared_in_turn, chosen_where_needed, said_by_a_loop])
def test_what_is_not_evaluated_has_a_value(function: Any, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a statement inside the operand set was handed to kernels unset: UnboundLocalError (fuzz, seed 100000312)."""
    on_target(target, monkeypatch)
    for z in (np.uint32(1), np.uint32(3)):
        for x in (np.arange(4), np.array([5, 3, 1, 0]), np.array([-1, -3, 0, 2])):
            alike(function, x, np.array([-4, 0, 2, 1]), z, target=target)


class Counting:
    def __init__(self, v: Any) -> None:
        self.v = v

    def __bool__(self) -> bool:
        self.v[0] += 1
        return bool(self.v[0] > 3)


def asked_behind_or(x: Any, flag: Any) -> Any:
    o = Counting(x)
    if flag or o:
        return x
    return x * 2


def asked_behind_and(x: Any, flag: Any) -> Any:
    o = Counting(x)
    while (flag and o) or (len(x) > 3 and x[0] < 2):
        x[0] += 5
        flag = not o
    return x


def asked_for_a_number(x: Any, flag: Any) -> Any:
    o = Counting(x)
    a = 1 if o else 2
    if (not o and not flag) or o:
        a += 1
    return x * a + (3 if flag and o else 4)


@pytest.mark.parametrize("function", [asked_behind_or, asked_behind_and, asked_for_a_number])
def test_objects_are_asked_where_it_matters(function: Any) -> None:
    """The `__bool__` of an operand was called whether the operands before it decide or not."""
    for flag in (True, False):
        alike(function, np.arange(5.0), flag)
        alike(function, np.array([3.0]), flag)
