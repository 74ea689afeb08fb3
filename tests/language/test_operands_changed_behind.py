"""`not s or s.pop() > v`: what an operand has decided stays, whatever the next one changes of what it has read."""

from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike


def balanced(codes: Any) -> Any:
    open_ones = []
    ok = True
    for c in codes:
        if c < 3:
            open_ones.append(c)
        elif not open_ones or open_ones.pop() != c - 3:
            ok = False
            break
    return ok and not open_ones


def while_one_is_left(x: Any) -> Any:
    left = list(x)
    n = 0
    while not (len(left) == 1 or left.pop() > 0.9 or len(left) == 5):
        n += 1
    return n, left


def of_three(x: Any) -> Any:
    some = [1.0]
    n = 0
    for v in x:
        if len(some) == 1 or some.pop() > v or not some:
            n += 1
            some.append(v)
    return n, some


def named(x: Any) -> Any:
    some = [0.5, 0.1, 0.2]
    total = 0.0
    for v in x:
        if len(some) == 3 and (last := some.pop()) < v:
            total += last
            some.append(v)
        elif len(some) == 2:
            some.append(v / 2)
    return total, some


def counted(x: Any) -> Any:
    calls = 0

    def one_more() -> int:
        nonlocal calls
        calls += 1
        return calls

    n = 0
    for v in x:
        if calls == 0 or (one_more() > 3 and v < 0.5):
            n += 1
        if calls == 2 or one_more() == 2:
            n += 100
    return n, calls


@pytest.mark.parametrize("function", [while_one_is_left, of_three, named, counted])
def test_numbers(function: Any) -> None:
    x = np.random.default_rng(0).random(20)
    for n in (20, 3, 1):
        alike(function, x[:n])


def test_parentheses() -> None:
    for codes in ([0, 1, 4, 3], [0, 1, 3], [5], [0], []):
        alike(balanced, np.array(codes, np.int64))
