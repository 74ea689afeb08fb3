"""Deques that stand in lists and dicts of run-time length."""

from __future__ import annotations

from collections import deque
from typing import Any

import pytest

import transkern
from tests.regressions.support import alike
from transkern.errors import CompileError


def test_both_ends() -> None:
    def floors(n: int, steps: int) -> Any:
        waiting: list[deque[Any]] = [deque() for _ in range(n)]
        total = 0.0
        for t in range(steps):
            waiting[t % n].append((t, t * 0.5))
        for k in range(2 * steps):
            queue = waiting[k % n]
            if queue:
                a, b = queue.popleft()
                total += a * b * k
                if a % 3 == 0:
                    waiting[(k + 1) % n].append((a + 1, b))
            if len(waiting[0]) > 3:
                waiting[0].pop()
            if k % 7 == 0:
                queue.appendleft((k, 0.5))
        return total, [list(queue) for queue in waiting]

    alike(floors, 4, 40)
    alike(floors, 3, 5)


def test_of_two_names() -> None:
    def shared(n: int) -> Any:
        queues = [deque([k, k + 1, k + 2]) for k in range(n)]
        queues[2] = queues[0]
        queues[2].popleft()
        queues[2].extend([7, 8, 9])
        queues[0].rotate(1)
        return [list(queue) for queue in queues], queues[0][-1], 7 in queues[2]

    alike(shared, 4)


def test_errors() -> None:
    def empty(n: int, k: int) -> Any:
        queues = {i: deque([i]) for i in range(n)}
        queues[k].popleft()
        return queues[k].popleft()

    def outside(n: int, k: int) -> Any:
        queues = [deque([i]) for i in range(n)]
        return queues[k][k + 1]

    alike(empty, 3, 1)
    alike(empty, 3, 7)
    alike(outside, 3, 1)


def test_refused() -> None:
    def bounded(n: int) -> Any:
        queues: list[deque[int]] = [deque(maxlen=2) for _ in range(n)]
        for i in range(5 * n):
            queues[i % n].append(i)
        return len(queues[0])

    def returned(n: int) -> Any:
        return [deque([k]) for k in range(n)]

    for function in (bounded, returned):
        with pytest.raises(CompileError):
            transkern.compile(function)(4)
