"""Queues of short lists, whose items change: a list is a row of the queue's memory, which does not begin at its start."""

from collections import deque
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target


def oldest_first(x: Any) -> Any:
    """What is bought is sold in the order in which it was bought."""
    lots: Any = deque()
    gained = 0.0
    for k in range(len(x)):
        if x[k, 0] > 0:
            lots.append([x[k, 0], x[k, 1]])
        else:
            left = -x[k, 0]
            while left > 1e-9 and lots:
                lot = lots[0]
                part = min(left, lot[0])
                gained += part * (x[k, 1] - lot[1])
                lot[0] -= part
                left -= part
                if lot[0] <= 1e-9:
                    lots.popleft()
    return gained, [tuple(lot) for lot in lots]


def few_and_branches(a: float, b: float) -> Any:
    lots: Any = deque()
    if a > 0:
        lots.append([a, 2.0])
    if b > 0:
        lots.append([b, 3.0])
    lots[-1][0] -= 1.0
    lots[0][1] += a
    return [list(lot) for lot in lots]


def named_while_taken(x: Any) -> Any:
    rows: Any = deque()
    for k in range(len(x)):
        rows.append([x[k, 0], x[k, 1]])
    first = rows[0]
    rows.popleft()
    rows.appendleft([7.0, 8.0])
    first[0] -= 1
    return first, [tuple(r) for r in rows]


def at_most_two(x: Any) -> Any:
    rows: Any = deque(maxlen=2)
    for k in range(len(x)):
        rows.append([x[k, 0], 1.0])
    first = rows[0]
    rows.append([5.0, 6.0])
    rows.appendleft([7.0, 8.0])
    first[0] += 1
    return first, [tuple(r) for r in rows]


def turned(x: Any) -> Any:
    rows: Any = deque()
    for k in range(len(x)):
        rows.append([x[k, 0], 0.0])
    n = 0.0
    while len(rows) > 1:
        a = rows.popleft()
        b = rows.popleft()
        a[1] += b[0]
        b[1] += 1
        n += b[1]
        rows.append(a if a[1] < 20 else b)
    return n, list(rows)


def starred(x: Any) -> Any:
    rows: Any = deque()
    for k in range(len(x)):
        rows.append(x[k, 0])
    first, *others, last = rows
    return first - last, others


def begun_with_more(x: Any) -> Any:
    delayed: Any = deque([0.0] * len(x), maxlen=len(x))
    rows: Any = deque([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], maxlen=2)
    last: Any = deque(x[:, 0], maxlen=5)
    for v in x[1:, 1]:
        rows.append([delayed[0], v])
        delayed.append(v)
        last.appendleft(v)
    return list(delayed), [tuple(r) for r in rows], list(last), list(deque(last, maxlen=0))


@pytest.mark.parametrize("target", ["cpu", "cuda"])
@pytest.mark.parametrize("function", [oldest_first, named_while_taken, at_most_two, turned, starred, begun_with_more])
def test_rows(function: Any, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    rng = np.random.default_rng(0)
    x = np.round(rng.normal(size=(12, 2)), 2)
    for n in (12, 3, 2):
        alike(function, x[:n], target=target)


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_few(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    for a, b in ((2.0, 3.0), (-1.0, 3.0), (2.0, -3.0), (-2.0, -3.0)):
        alike(few_and_branches, a, b, target=target)
