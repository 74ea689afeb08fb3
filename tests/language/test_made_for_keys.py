"""What a dict makes for a key that it has not got yet: objects, deques, and dicts of known keys."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import Any

from tests.regressions.support import alike

VALUES = [3, 1, 2, 0, 1, 4]


class Total:
    def __init__(self) -> None:
        self.count = 0
        self.sum = 0.0

    def put(self, x: int) -> None:
        self.count += 1
        self.sum += x


def test_objects_and_deques() -> None:
    def grouped(values: list[int]) -> Any:
        totals: defaultdict[int, Total] = defaultdict(Total)
        queues: defaultdict[int, deque[int]] = defaultdict(deque)
        for i, x in enumerate(values):
            totals[x % 3].put(i)
            queues[x % 3].append(i)
        first = queues[1].popleft() + len(queues[7])
        return {k: (t.count, t.sum) for k, t in totals.items()}, first, {k: list(q) for k, q in queues.items()}

    alike(grouped, VALUES)


def test_dicts() -> None:
    def grouped(values: list[int]) -> Any:
        made: defaultdict[int, dict[str, Any]] = defaultdict(lambda: {"n": 0, "s": 0.0, "at": []})
        given: dict[int, dict[str, Any]] = {}
        for i, x in enumerate(values):
            made[x % 3]["n"] += 1
            made[x % 3]["at"].append(i)
            total = given.setdefault(x % 2, {"n": 0, "s": 0.5})
            total["n"] += 1
            total["s"] += x
        return {k: (d["n"], d["at"]) for k, d in made.items()}, given

    alike(grouped, VALUES)
