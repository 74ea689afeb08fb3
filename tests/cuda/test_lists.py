"""Lists, dicts and objects without a bound on a CUDA device: a call begins anew with more memory where it has to."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target, require
from transkern.targets.cuda import pieces

require("cc")


def visited(grid: Any) -> Any:
    seen, order = np.zeros(grid.shape, np.bool_), []
    stack = [(0, 0)]
    while stack:
        i, j = stack.pop()
        if 0 <= i < grid.shape[0] and 0 <= j < grid.shape[1] and grid[i, j] > 0 and not seen[i, j]:
            seen[i, j] = True
            order.append((i, j))
            stack.extend([(i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)])
    return seen, order, len(order)


def distances(grid: Any) -> Any:
    far = np.full(grid.shape, -1)
    far[0, 0] = 0
    queue = deque([(0, 0)])
    while queue:
        i, j = queue.popleft()
        for di, dj in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            u, v = i + di, j + dj
            if 0 <= u < grid.shape[0] and 0 <= v < grid.shape[1] and grid[u, v] > 0 and far[u, v] < 0:
                far[u, v] = far[i, j] + 1
                queue.append((u, v))
    return far


def longer_than_its_memory(k: int, x: Any, rows: Any) -> Any:
    """What has been stored when the room is found to be too small must not be there in the next attempt."""
    out, kept = [k], []
    x[0] += 1
    while k != 1:
        k = k // 2 if k % 2 == 0 else 3 * k + 1
        x[1] += k
        out.append(k)
        for j in range(len(x)):
            out.append(j)
        for row in rows:
            kept.append(row * k)
    return out[:5], len(out), np.array(out).sum(), x, len(kept), kept[-1]


def to_the_left(n: int) -> Any:
    queue: deque[int] = deque()
    k = 0
    while k < n:
        queue.appendleft(k)
        k += 1 + k % 2
    return queue[0], queue[-1], len(queue)


def in_order(x: Any) -> Any:
    heap: list[float] = []
    while len(heap) < len(x):
        heapq.heappush(heap, x[len(heap)])
    return [heapq.heappop(heap) for _ in range(len(x))]


def by_key(p: Any) -> Any:
    counts: dict[int, int] = {}
    places: dict[int, list[int]] = {}
    for k, v in enumerate(p):
        counts[v] = counts.get(v, 0) + 1
        places.setdefault(v, []).append(k)
    return sorted(counts.items()), counts, places, {v % 3 for v in p}


class Node:
    def __init__(self, value: float, parent: Any) -> None:
        self.value, self.parent, self.depth = value, parent, 0
        if parent is not None:
            self.depth = parent.depth + 1


def in_a_tree(x: Any) -> Any:
    nodes = [Node(x[0], None)]
    while len(nodes) < len(x):
        nodes.append(Node(x[len(nodes)], nodes[len(nodes) // 2]))
    return [node.depth for node in nodes], nodes[-1].parent.value, [(node.value, node.depth) for node in nodes]


def caught(n: int) -> Any:
    """That the room is too small is nothing that a `try` takes."""
    found = []
    try:
        while len(found) < n:
            found.append(len(found))
        return found[n]
    except Exception:
        return len(found)


RNG = np.random.default_rng(0)
GRID = (RNG.random((9, 11)) > 0.2).astype(np.int64)
GRID[0, 0] = 1
CASES: tuple[tuple[Callable[..., Any], tuple[Any, ...]], ...] = (
    (visited, (GRID,)),
    (distances, (GRID,)),
    (longer_than_its_memory, (27, np.arange(40), np.arange(12.0).reshape(4, 3))),
    (to_the_left, (900,)),
    (in_order, (np.append(RNG.random(20), np.inf),)),
    (by_key, (RNG.integers(0, 9, 40),)),
    (in_a_tree, (RNG.random(12),)),
    (caught, (700,)),
)


@pytest.mark.parametrize("case", [CASES[:3], CASES[3:6], CASES[6:]])
def test_lists_need_no_bound(case: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target("cuda", monkeypatch)
    monkeypatch.setattr(pieces, "_HELPERS", {k: v.replace(str(pieces.ROOM), "256") for k, v in pieces._HELPERS.items()})
    for function, arguments in case:
        alike(function, *arguments, target="cuda")


def drawing(rng: Any, k: int) -> Any:
    found = []
    while k != 1:
        k = k // 2 if k % 2 == 0 else 3 * k + 1
        found.append(k)
    return found, rng.normal(size=3)


def printing(k: int) -> Any:
    found = []
    while k != 1:
        k = k // 2 if k % 2 == 0 else 3 * k + 1
        found.append(k)
        print(k)
    return found


def test_what_must_not_be_done_again_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    on_target("cuda", monkeypatch)
    for function, arguments in ((drawing, (np.random.default_rng(0), 7)), (printing, (7,))):
        with pytest.raises(transkern.CompileError, match="beside what CUDA must not do again"):
            transkern.compile(function, target="cuda")(*arguments)
