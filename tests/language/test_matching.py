"""`match` statements: what patterns ask, in order, and the names that they bind, as Python does."""

from collections import deque, namedtuple
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import require

Point = namedtuple("Point", "x y")


@dataclass
class Move:
    steps: int
    by: float


def of_many_kinds(program: Any) -> Any:
    total, out = 0, []
    for step in program:
        match step:
            case ("add", n):
                total += n
            case ("add", n, k) if n > k:
                total += n * k
            case ("add", n, k):
                total -= n * k
            case ["push"]:
                out.append(total)
            case (a, [b, *rest], *more):
                out.append(a + b + sum(rest) + len(more))
            case [] | [[]]:
                out.append(-7)
            case int(v):
                out.append(v * 100)
            case str():
                out.append(-3)
            case None:
                out.append(-9)
            case {"op": "neg", "value": w}:
                out.append(-w)
            case Point(x=0, y=y):
                out.append(y)
            case Move(1, by):
                out.append(by * 1000)
            case [_, *_, _] as whole if len(whole) > 3:
                out.append(len(whole))
            case [*everything]:
                out.append(-len(everything))
            case _:
                out.append(-1)
    return total, out


def of_the_run(x: Any, n: int) -> Any:
    out, stack = [], [(1, 2), (0, 5)]
    while stack:
        match stack.pop():
            case (0, k) if k > n:
                out.append(k)
                stack.append((1, n))
            case (0, k):
                out.append(-k)
            case (d, k):
                out.append(d * k)
    for row in x:
        match tuple(row):
            case (0.0, 0.0):
                out.append(0)
            case (0.0, _) | (_, 0.0):
                out.append(1)
            case (a, b) if a == b:
                out.append(3)
            case _:
                out.append(4)
    match x:
        case [a, b]:  # an array is no sequence
            out.append(99)
        case _:
            out.append(98)
    match deque([1, 2]):
        case [a, b]:
            out.append(a + b)
    match "ab":
        case [a, b]:  # nor is a text
            out.append(99)
    return out


def bound_where_the_condition_fails(k: int) -> Any:
    n = -1
    match (k, k + 1):
        case (n, m) if n > 3:
            found = 1
        case (m, _):
            found = 2
    return n, m, found


STEPS: Any = [
    ("add", 3), ("add", 4, 2), ("add", 1, 9), ("push",), (1, [2, 3, 4], 8, 8), [], [[]], 5, "hello", None,
    {"op": "neg", "value": 3, "z": 1}, Point(0, 8), Point(3, 4), Move(1, 2.5), Move(2, 1.0), 2.5, True, (1, 2, 3, 4, 5),
    range(2),
]  # fmt: skip


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (of_many_kinds, (STEPS,)), (of_many_kinds, ([],)),
        (of_the_run, (np.array([[0, 0], [0, 1], [1, 0], [2, 2], [1, 2.0]]), 3)), (of_the_run, (np.zeros((0, 2)), 7)),
        (bound_where_the_condition_fails, (2,)), (bound_where_the_condition_fails, (4,)),
    ],
)  # fmt: skip
def test_patterns(function: Any, args: Any) -> None:
    require("cc")
    alike(function, *args)
