"""Lists that a loop binds anew, and lists that are returned from inside of one."""

from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target


def levels(m: Any) -> Any:
    distance = np.full(len(m), -1)
    distance[0] = 0
    frontier, depth = [0], 0
    while frontier:
        depth += 1
        following = []
        for u in frontier:
            for v in np.nonzero(m[u])[0]:
                if distance[v] < 0:
                    distance[v] = depth
                    following.append(v)
        frontier = following
    return distance, depth


def of_python(m: Any) -> Any:
    now, seen = [len(m) - 1, 0], 0
    while now and seen < 20:
        more = []
        for u in now:
            for v in range(len(m)):
                if m[u, v]:
                    more.append(v)
            seen += 1
        now = more
    return now, seen


def line(x0: Any, x1: Any) -> Any:
    cells = []
    while True:
        cells.append((x0, x0 + 1))
        if x0 >= x1:
            return cells
        x0 += 2


def along(m: Any) -> Any:
    total = 0
    for i in range(len(m)):
        for a, b in line(i, i + 4)[:-1]:
            total += a * b
    return total, len(line(0, len(m)))


def halved(n: Any) -> Any:
    steps = [n]
    while True:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps.append(n)
        if n == 4:
            return steps
        try:
            if 10 // (n - 1) < 0:
                break
        except ZeroDivisionError:
            break
    return steps[1:]


def sums(m: Any) -> Any:
    steps = halved(len(m) + 2)
    return sum(steps), max(halved(7)), steps, np.array(halved(3)).sum()


@pytest.mark.parametrize("target", ["cpu", "cuda"])
@pytest.mark.parametrize("function", [levels, of_python, along, sums])
def test_lists_left_by_loops(function: Any, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    rng = np.random.default_rng(4)
    for size in (6, 2) if target == "cpu" else (6,):
        alike(function, rng.random((size, size)) < 0.3, target=target)
