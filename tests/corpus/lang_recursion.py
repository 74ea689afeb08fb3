"""Functions that call themselves, as the scripts and courses have them that trees, searches and fractals come from."""

# ruff: noqa: B905, E741, PLR0913
from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from tests.corpus.registry import Case


def build_tree(points: Any, order: Any, lo: int, hi: int, axis: int, left: Any, right: Any, at: Any, count: Any) -> int:
    """A k-d tree over indices, in arrays."""
    if lo >= hi:
        return -1
    part = order[lo:hi]
    order[lo:hi] = part[np.argsort(points[part, axis], kind="stable")]
    middle = (lo + hi) // 2
    me = count[0]
    count[0] += 1
    at[me] = order[middle]
    left[me] = build_tree(points, order, lo, middle, 1 - axis, left, right, at, count)
    right[me] = build_tree(points, order, middle + 1, hi, 1 - axis, left, right, at, count)
    return me


def nearest(points: Any, query: Any, node: int, axis: int, left: Any, right: Any, at: Any, best: Any) -> Any:
    if node < 0:
        return best
    p = points[at[node]]
    d = (p[0] - query[0]) ** 2 + (p[1] - query[1]) ** 2
    if d < best[1]:
        best = (at[node], d)
    gap = query[axis] - p[axis]
    near, far = (left[node], right[node]) if gap < 0 else (right[node], left[node])
    best = nearest(points, query, near, 1 - axis, left, right, at, best)
    if gap * gap < best[1]:
        best = nearest(points, query, far, 1 - axis, left, right, at, best)
    return best


def kd_neighbours(points: Any, queries: Any) -> Any:
    n = len(points)
    left, right, at, count = np.full(n, -1), np.full(n, -1), np.zeros(n, int), np.zeros(1, int)
    root = build_tree(points, np.arange(n), 0, n, 0, left, right, at, count)
    found, distance = np.zeros(len(queries), int), np.zeros(len(queries))
    for i in range(len(queries)):
        found[i], distance[i] = nearest(points, queries[i], root, 0, left, right, at, (-1, np.inf))
    return found, distance


def sudoku(board: Any) -> Any:
    grid = board.copy()

    def fits(r: int, c: int, v: int) -> bool:
        for k in range(4):
            if grid[r, k] == v or grid[k, c] == v:
                return False
        return not (grid[r // 2 * 2 : r // 2 * 2 + 2, c // 2 * 2 : c // 2 * 2 + 2] == v).any()

    def solve() -> bool:
        for r in range(4):
            for c in range(4):
                if grid[r, c] == 0:
                    for v in range(1, 5):
                        if fits(r, c, v):
                            grid[r, c] = v
                            if solve():
                                return True
                            grid[r, c] = 0
                    return False
        return True

    return solve(), grid


def strongly_connected(graph: list[list[int]]) -> list[list[int]]:
    """Tarjan's components."""
    n = len(graph)
    index, low, on_stack = [-1] * n, [0] * n, [False] * n
    stack: list[int] = []
    components = []
    counter = 0

    def visit(v: int) -> None:
        nonlocal counter
        index[v] = low[v] = counter
        counter += 1
        stack.append(v)
        on_stack[v] = True
        for w in graph[v]:
            if index[w] < 0:
                visit(w)
                low[v] = min(low[v], low[w])
            elif on_stack[w]:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            component = []
            while True:
                w = stack.pop()
                on_stack[w] = False
                component.append(w)
                if w == v:
                    break
            components.append(sorted(component))

    for v in range(n):
        if index[v] < 0:
            visit(v)
    return components


def largest_island(land: Any) -> Any:
    left = land.copy()
    size = 0

    def flood(r: int, c: int) -> None:
        nonlocal size
        if not (0 <= r < left.shape[0] and 0 <= c < left.shape[1]) or not left[r, c]:
            return
        left[r, c] = False
        size += 1
        for dr, dc in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            flood(r + dr, c + dc)

    sizes = []
    for r in range(left.shape[0]):
        for c in range(left.shape[1]):
            if left[r, c]:
                size = 0
                flood(r, c)
                sizes.append(size)
    return max(sizes) if sizes else 0


def simplified(points: Any, first: int, last: int, tolerance: float, keep: Any) -> None:
    """Douglas and Peucker's."""
    worst, place = 0.0, -1
    (x1, y1), (x2, y2) = points[first], points[last]
    for k in range(first + 1, last):
        x, y = points[k]
        gap = abs((x2 - x1) * (y1 - y) - (x1 - x) * (y2 - y1)) / math.sqrt((x2 - x1) ** 2 + (y2 - y1) ** 2)
        if gap > worst:
            worst, place = gap, k
    if worst > tolerance:
        simplified(points, first, place, tolerance, keep)
        simplified(points, place, last, tolerance, keep)
        keep[place] = True


def line(points: Any, tolerance: float) -> Any:
    keep = np.zeros(len(points), dtype=bool)
    keep[0] = keep[-1] = True
    simplified(points, 0, len(points) - 1, tolerance, keep)
    return points[keep]


def adaptive(a: float, b: float, whole: float, tolerance: float) -> float:
    def rule(a: float, b: float) -> float:
        return (b - a) / 6 * (a / (1 + a * a) + 4 * ((a + b) / 2) / (1 + ((a + b) / 2) ** 2) + b / (1 + b * b))

    c = (a + b) / 2
    left, right = rule(a, c), rule(c, b)
    if abs(left + right - whole) < 15 * tolerance:
        return left + right + (left + right - whole) / 15
    return adaptive(a, c, left, tolerance / 2) + adaptive(c, b, right, tolerance / 2)


@cache
def ways(coins_left: int, amount: int) -> int:
    coins = (1, 2, 5, 10, 20)
    if amount == 0:
        return 1
    if amount < 0 or coins_left < 0:
        return 0
    return ways(coins_left - 1, amount) + ways(coins_left, amount - coins[coins_left])


def change(amount: int) -> int:
    return ways(4, amount)


def alpha_beta(leaves: Any, node: int, depth: int, maximise: bool, alpha: float, beta: float) -> Any:
    if depth == 0:
        return leaves[node]
    best = -np.inf if maximise else np.inf
    for k in range(2):
        value = alpha_beta(leaves, 2 * node + k, depth - 1, not maximise, alpha, beta)
        if maximise:
            best = max(best, value)
            alpha = max(alpha, best)
        else:
            best = min(best, value)
            beta = min(beta, best)
        if beta <= alpha:
            break
    return best


def transform(x: Any) -> Any:
    """Cooley and Tukey's, of slices."""
    n = len(x)
    if n == 1:
        return x
    even, odd = transform(x[::2]), transform(x[1::2])
    turned = np.exp(-2j * np.pi * np.arange(n) / n)
    return np.concatenate([even + turned[: n // 2] * odd, even + turned[n // 2 :] * odd])


class Node:
    def __init__(self, key: float) -> None:
        self.key = key
        self.left = None
        self.right = None


def insert(node: Any, key: float) -> Any:
    if node is None:
        return Node(key)
    if key < node.key:
        node.left = insert(node.left, key)
    else:
        node.right = insert(node.right, key)
    return node


def height(node: Any) -> int:
    return 0 if node is None else 1 + max(height(node.left), height(node.right))


def in_order(node: Any, keys: list) -> None:
    if node is not None:
        in_order(node.left, keys)
        keys.append(node.key)
        in_order(node.right, keys)


def search_tree(keys: list[float]) -> Any:
    root = None
    for key in keys:
        root = insert(root, key)
    ordered: list[float] = []
    in_order(root, ordered)
    return ordered, height(root)


def koch(depth: int, x1: float, y1: float, x2: float, y2: float, points: list) -> None:
    if depth == 0:
        points.append((x1, y1))
        return
    dx, dy = (x2 - x1) / 3, (y2 - y1) / 3
    cx, cy = x1 + 1.5 * dx - dy * 0.8660254037844386, y1 + 1.5 * dy + dx * 0.8660254037844386
    corners = [(x1, y1), (x1 + dx, y1 + dy), (cx, cy), (x2 - dx, y2 - dy), (x2, y2)]
    for (a, b), (c, d) in zip(corners, corners[1:]):
        koch(depth - 1, a, b, c, d, points)


def snowflake(depth: int) -> Any:
    points: list = []
    koch(depth, 0.0, 0.0, 1.0, 0.0, points)
    return np.array(points)


def queens(n: int) -> Any:
    solutions = []
    columns = [-1] * n

    def place(row: int) -> None:
        if row == n:
            solutions.append(columns[:])
            return
        for c in range(n):
            if all(columns[r] != c and abs(columns[r] - c) != row - r for r in range(row)):
                columns[row] = c
                place(row + 1)

    place(0)
    return solutions


_SUDOKU = np.array([[1, 0, 0, 0], [0, 0, 3, 0], [0, 4, 0, 0], [0, 0, 0, 2]])
_DEEP = {"pallas": "calls itself too deeply"}

CASES = [
    Case(kd_neighbours, lambda r: (r.random((20, 2)), r.random((6, 2))), special=False, refused=_DEEP),
    Case(sudoku, lambda r: (np.where(r.random((4, 4)) < 0.9, _SUDOKU, 0),), refused=_DEEP),
    Case(strongly_connected, lambda r: ([[int(v) for v in r.permutation(7)[:2]] for _ in range(7)],), refused=_DEEP),
    Case(largest_island, lambda r: (r.random((7, 8)) < 0.5,), refused=_DEEP),
    Case(line, lambda r: (r.normal(size=(25, 2)), 0.3), ulps=2, special=False, refused=_DEEP),
    Case(adaptive, lambda r: (0.0, 1.0 + float(r.random()), 0.4, 1e-7), refused=_DEEP),
    Case(change, lambda r: (int(r.integers(10, 60)),), refused=_DEEP),
    Case(alpha_beta, lambda r: (r.normal(size=16), 0, 4, True, -np.inf, np.inf), special=False),
    Case(transform, lambda r: (r.normal(size=8) + 0j,), ulps=8, scale=8.0, special=False,
        refused={"cuda": "with a size that is known only there"}),
    Case(search_tree, lambda r: (r.normal(size=9).tolist(),), special=False, refused={"pallas": "translated in place"}),
    Case(snowflake, lambda r: (int(r.integers(1, 4)),), ulps=4),
    Case(queens, lambda r: (5,)),
]
