"""`heapq`: a list whose smallest element stands first."""

from __future__ import annotations

from typing import Any


def _rise(heap: Any, start: Any, pos: Any) -> None:
    item = heap[pos]
    while pos > start:
        above = (pos - 1) >> 1
        parent = heap[above]
        if not item < parent:
            break
        heap[pos] = parent
        pos = above
    heap[pos] = item


def _sink(heap: Any, pos: Any) -> None:
    end = len(heap)
    start = pos
    item = heap[pos]
    below = 2 * pos + 1
    while below < end:
        right = below + 1
        if right < end and not heap[below] < heap[right]:
            below = right
        heap[pos] = heap[below]
        pos = below
        below = 2 * pos + 1
    heap[pos] = item
    _rise(heap, start, pos)


def heappush(heap: Any, item: Any) -> None:
    heap.append(item)
    _rise(heap, 0, len(heap) - 1)


def heappop(heap: Any) -> Any:
    if len(heap) == 0:
        raise IndexError("index out of range")
    last = heap.pop()
    if len(heap) == 0:
        return last
    smallest = heap[0]
    heap[0] = last
    _sink(heap, 0)
    return smallest


def heapreplace(heap: Any, item: Any) -> Any:
    if len(heap) == 0:
        raise IndexError("index out of range")
    smallest = heap[0]
    heap[0] = item
    _sink(heap, 0)
    return smallest


def heappushpop(heap: Any, item: Any) -> Any:
    if len(heap) == 0:
        return item
    if not heap[0] < item:
        return item
    return heapreplace(heap, item)


def heapify(x: Any) -> None:
    for i in range(len(x) // 2 - 1, -1, -1):
        _sink(x, i)
