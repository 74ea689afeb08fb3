"""Dicts among the arguments in which a function looks up keys that only the run knows: graphs, tables of prices."""

from __future__ import annotations

import heapq
from collections import deque
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target

GRAPH = {0: [1, 2], 1: [3], 2: [3, 4], 3: [5], 4: [5, 0], 5: []}
ROADS = {0: [(1, 2.0), (2, 0.5)], 1: [(3, 1.0)], 2: [(1, 0.25)], 3: []}
GRID = {(0, 0): [(0, 1), (1, 0)], (0, 1): [(1, 1)], (1, 0): [(1, 1)], (1, 1): []}


def distances(graph, start):
    found = {v: float("inf") for v in graph}
    found[start] = 0
    heap = [(0.0, start)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > found[u]:
            continue
        for v, w in graph[u]:
            if d + w < found[v]:
                found[v] = d + w
                heapq.heappush(heap, (d + w, v))
    return found


def breadth_first(graph, start):
    seen, queue, order = {start}, deque([start]), []
    while queue:
        u = queue.popleft()
        order.append(u)
        for v in graph[u]:
            if v not in seen:
                seen.add(v)
                queue.append(v)
    return order


def depth_first(graph, start):
    seen, order = set(), []

    def visit(u):
        seen.add(u)
        order.append(u)
        for v in graph.get(u, []):
            if v not in seen:
                visit(v)

    visit(start)
    return order


def sorted_by_edges(graph):
    entering = dict.fromkeys(graph, 0)
    for u in graph:
        for v in graph[u]:
            entering[v] += 1
    todo, order = [u for u in graph if entering[u] == 0], []
    while todo:
        u = todo.pop()
        order.append(u)
        for v in graph[u]:
            entering[v] -= 1
            if entering[v] == 0:
                todo.append(v)
    return order, len(order) == len(graph)


class Graph:
    def __init__(self, edges: Any) -> None:
        self.edges = edges

    def reached(self, start: Any) -> Any:
        todo, seen = [start], [start]
        while todo:
            for v in self.edges[todo.pop()]:
                if v not in seen:
                    seen.append(v)
                    todo.append(v)
        return seen


def of_an_object(edges, start):
    return Graph(edges).reached(start), len(edges), list(edges)


def third(graph, start):
    for _ in range(2):
        start = graph[start][0]
    return start, graph[start]


@pytest.mark.parametrize(
    "function, graph, start",
    [(breadth_first, GRID, (0, 0)), (depth_first, GRAPH, 0), (of_an_object, GRAPH, 0), (third, {7: [7]}, 7)],
)
def test_graphs(function: Any, graph: Any, start: Any) -> None:
    alike(function, graph, start)


def test_graphs_with_lengths() -> None:
    alike(distances, ROADS, 0)
    alike(sorted_by_edges, GRAPH)


def test_a_graph_on_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    alike(breadth_first, GRAPH, 0, target=on_target("cuda", monkeypatch))


def worth(prices, order):
    return sum(prices[k] * 2 for k in order), sum(1 for k in order if k in prices)


def worth_or_more(prices, order):
    total = 0
    for k in order:
        total += prices.get(k, 100)
    return total


def known(prices, order):
    return [k in prices for k in order.tolist()]


@pytest.mark.parametrize("function", [worth, worth_or_more, known])
def test_tables(function: Any) -> None:
    for order in ([5, 1, 7, 7], [5, 8], []):
        alike(function, {1: 2.5, 5: 3.5, 7: 1.0}, np.array(order, dtype=np.int64))


def gets_shorter(graph, start):
    while graph[start]:
        start = graph[start].pop(0)
    return start


def gets_another(graph, start):
    for _ in range(3):
        following = graph[start]
        graph[start] = [start]
        start = following[0]
    return start


def handed_back(graph, start):
    for _ in range(2):
        start = graph[start][0]
    return graph


@pytest.mark.parametrize("function", [gets_shorter, gets_another, handed_back])
def test_what_the_caller_would_see(function: Any) -> None:
    """A change would be one of a copy."""
    with pytest.raises(transkern.CompileError, match=r"argument|run time only"):
        transkern.compile(function, target="cpu")({0: [1, 2], 1: [0], 2: [1]}, 0)


def copied_flat(lists, k):
    """The lists in a copy are those of the argument."""
    copy = dict(lists)
    for j in range(k):
        copy[j].append(3)
        copy[j][0] += 1
    return copy


def listed(lists, k):
    copy = list(lists)
    for j in range(k):
        copy[j].append(3)
    return copy


def put_together(one, two, k):
    both = [one, two]
    for j in range(k):
        both[j].append(j)
    return len(both)


def test_a_change_of_a_list_in_a_copy() -> None:
    alike(copied_flat, {0: [1, 2], 1: [3], 2: []}, 2)
    alike(listed, [[1], [2]], 2)
    alike(put_together, [1], [2], 2)


def filled(board, k):
    """The lists of an argument are its own, and put back."""
    for j in range(k):
        board[j][j] += 1
        board[j].append(j)
    return sum(len(row) for row in board)


def begun_with(board, row, k):
    board.append(row)
    for j in range(k):
        board[-1].append(j)
    return len(board)


def test_a_change_of_lists_in_an_argument() -> None:
    alike(filled, [[1, 2], [3, 4]], 2)
    alike(begun_with, [[1, 2], [3]], [5], 2)
