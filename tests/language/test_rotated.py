"""`queue.rotate(k)`, and parts of lists that take what has no elements before it is asked for them
(`l[i:j] = reversed(l[i:j])`)."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target, require

require("cc")


def josephus(n, k):
    ring, out = deque(range(1, n + 1)), []
    while ring:
        ring.rotate(-(k - 1))
        out.append(ring.popleft())
    return out


def rotated(values, k):
    queue = deque(values)
    queue.rotate(k)
    first = list(queue)
    queue.rotate()
    queue.rotate(np.int64(2))
    return first, list(queue), len(queue)


def of_pairs(x, k):
    queue = deque(maxlen=5)
    for i, v in enumerate(x):
        queue.append((i, v))
    queue.rotate(k)
    queue.append((7, x[0] if len(x) else 0.5))
    return list(queue)


def of_lists(n, k):
    queue = deque()
    for i in range(n):
        queue.append([i] * (i % 3))
    queue.rotate(k)
    if queue:
        queue[0].append(7)
    return [list(row) for row in queue]


@pytest.mark.parametrize("n, k", [(7, 3), (2, 1), (1, 5), (0, 2), (6, 100)])
def test_a_ring(n: int, k: int) -> None:
    alike(josephus, n, k)


@pytest.mark.parametrize("values, k", [*(([1, 2, 3, 4, 5], k) for k in (0, 1, -1, 2, 3, 5, -12)), ([], 3), ([4], 2)])
def test_either_way(values: list[int], k: int) -> None:
    alike(rotated, values, k)


@pytest.mark.parametrize("k", [1.5, "a"])
def test_by_what_is_no_integer(k: Any) -> None:
    alike(rotated, [1, 2], k)


@pytest.mark.parametrize("x", [[1.0, np.nan, -0.0, 3, 4, 5, 6], [1.0], []])
def test_pairs_and_lists(x: list[float]) -> None:
    alike(of_pairs, np.array(x), 1)
    alike(of_pairs, np.array(x), -2)
    alike(of_lists, len(x), 2)


def parts(x, i, j):
    a, b, c, d = list(x), list(x), list(x), list(x)
    a[i:j] = reversed(a[i:j])
    b[1:2] = reversed(b)
    c[:] = (v * 2 for v in c)
    d[i:j] = (-v for v in d[i:j])
    return a, b, c, d


def parts_of_known(x):
    a, b, c = [1, 2, 3, 4], [1.0, 2.0, 3.0, 4.0], [1, 2, 3]
    a[1:3] = reversed(a)
    a[:2] = (v for v in (x[0] if len(x) else 1.5, 2.5))
    b[1:3] = x
    c[len(x) :] = list(range(len(x)))
    return a, b, c


@pytest.mark.parametrize("x", [[1.0, -0.0, np.inf, 3], [1.0], [], [1.0, np.nan, 3]])
def test_parts_of_lists(x: list[float]) -> None:
    for i, j in ((1, 3), (0, 5), (-2, 9), (2, 1)):
        alike(parts, np.array(x), i, j)
    alike(parts_of_known, np.array(x))


def test_on_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    target = on_target("cuda", monkeypatch)
    alike(josephus, 7, 3, target=target)
    alike(parts, np.array([1.0, 2.0, 5.0]), 0, 2, target=target)
