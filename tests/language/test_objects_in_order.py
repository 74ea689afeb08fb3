"""Objects that are ordered: by `__lt__`, as dataclasses with ``order=True``, in heaps, sorts and extremes."""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import Any

from tests.regressions.support import alike

VALUES = [3, 1, 2, 5, 4, 2]


@dataclass(order=True)
class Job:
    priority: int
    name: int = field(compare=False)


@dataclass(order=True)
class Full:
    a: int
    b: float


class Event:
    def __init__(self, time: int, kind: int) -> None:
        self.time = time
        self.kind = kind

    def __lt__(self, other: Event) -> bool:
        return self.time < other.time


def test_heaps() -> None:
    def jobs(values: list[int]) -> Any:
        heap: list[Job] = []
        for i, p in enumerate(values):
            heapq.heappush(heap, Job(p, i))
        out = []
        while heap:
            job = heapq.heappop(heap)
            out.append((job.priority, job.name))
            if job.priority == 2:
                heapq.heappush(heap, Job(9, len(out)))
        return out

    def events(values: list[int]) -> Any:
        heap: list[tuple[int, Event]] = []
        for i, p in enumerate(values):
            heapq.heappush(heap, (p % 3, Event(-p, i)))
        return [heapq.heappop(heap)[1].kind for _ in values]

    alike(jobs, VALUES)
    alike(events, VALUES)


def test_sorts_and_extremes() -> None:
    def of_dataclasses(values: list[int]) -> Any:
        found = [Full(p % 3, i * 0.5) for i, p in enumerate(values)]
        found.sort(reverse=True)
        return [(x.a, x.b) for x in found], [x.b for x in sorted(found)], min(found).b, max(found).b, found[0] < found[1]

    def of_less(values: list[int]) -> Any:
        found = [Event(p % 2, i) for i, p in enumerate(values)]
        down = [e.kind for e in sorted(found, reverse=True)]
        return down, [e.kind for e in sorted(found)], min(Event(1, 1), Event(0, 5)).kind, max(found).kind

    alike(of_dataclasses, VALUES)
    alike(of_less, VALUES)


def test_fields_that_are_not_compared() -> None:
    def equal(values: list[int]) -> Any:
        one, two = Job(values[0], 1), Job(values[0], 2)
        return one == two, one != two, one < two, one <= two, Job(values[1], 1) < one

    alike(equal, VALUES)


def test_tuples_of_numbers_and_texts() -> None:
    def visited(graph: dict[str, list[tuple[str, int]]]) -> Any:
        heap, out = [(0, "a")], []
        while heap:
            far, name = heapq.heappop(heap)
            out.append(name)
            if far < 9:
                heapq.heappush(heap, (far + 3, "b" if name == "a" else "c"))
                if name == "b":
                    heapq.heappush(heap, (far + 1, "a"))
        return out, len(graph)

    alike(visited, {"a": [("b", 1)]})
