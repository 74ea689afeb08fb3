"""What public code does between arrays: best ones found so far, tables of lists, stacks and queues, texts, `try`."""

# ruff: noqa: B007, B905, E741, SIM105
from __future__ import annotations

import heapq
import math
from collections import deque
from typing import Any

import numpy as np

from tests.corpus.registry import Case

_BASES = {"A": 0, "C": 1, "G": 2, "T": 3}


def smoothed(x: Any, alpha: float = 0.1) -> Any:
    """An average that begins with the first sample."""
    mean = None
    for row in x:
        mean = row if mean is None else (1 - alpha) * mean + alpha * row
    return mean


def strongest(peaks: Any, least: float) -> Any:
    """The largest above a threshold, if there is one."""
    best = None
    for i in range(len(peaks)):
        if peaks[i] > least and (best is None or peaks[i] > best[1]):
            best = (i, peaks[i])
    return best


def longest_common(a: str, b: str) -> Any:
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            if a[i - 1] == b[j - 1]:
                table[i][j] = table[i - 1][j - 1] + 1
            else:
                table[i][j] = max(table[i - 1][j], table[i][j - 1])
    return table[-1][-1]


def one_hot(sequence: str) -> Any:
    """A sequence of bases as rows of an array, and how many there are of each."""
    rows = np.zeros((len(sequence), 4), dtype=np.float32)
    counts = {"A": 0, "C": 0, "G": 0, "T": 0}
    for i, base in enumerate(sequence):
        rows[i, _BASES[base]] = 1
        counts[base] += 1
    return rows, counts


def components(image: Any) -> Any:
    """Labels of what hangs together, by a stack."""
    height, width = image.shape
    labels = np.zeros((height, width), dtype=np.int32)
    count = 0
    for i in range(height):
        for j in range(width):
            if not image[i, j] or labels[i, j]:
                continue
            count += 1
            labels[i, j] = count
            stack = [(i, j)]
            while stack:
                y, x = stack.pop()
                for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0)):
                    v, u = y + dy, x + dx
                    if 0 <= v < height and 0 <= u < width and image[v, u] and not labels[v, u]:
                        labels[v, u] = count
                        stack.append((v, u))
    return labels, count


def steps_from(free: Any, start: tuple[int, int]) -> Any:
    """How far each cell is, by a queue."""
    distance = np.full(free.shape, -1)
    distance[start] = 0
    queue = deque([start])
    while queue:
        y, x = queue.popleft()
        for dy, dx in ((0, 1), (1, 0), (0, -1), (-1, 0)):
            v, u = y + dy, x + dx
            if 0 <= v < free.shape[0] and 0 <= u < free.shape[1] and free[v, u] and distance[v, u] < 0:
                distance[v, u] = distance[y, x] + 1
                queue.append((v, u))
    return distance


def shortest_paths(weights: Any, source: int) -> Any:
    """Dijkstra's algorithm with a heap."""
    n = len(weights)
    distance = np.full(n, np.inf)
    distance[source] = 0.0
    heap = [(0.0, source)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > distance[u]:
            continue
        for v in range(n):
            if weights[u, v] > 0 and d + weights[u, v] < distance[v]:
                distance[v] = d + weights[u, v]
                heapq.heappush(heap, (distance[v], v))
    return distance


def factorised(a: Any) -> Any:
    """Cholesky's factor, with as much on the diagonal as it takes."""
    shift = 0.0
    for _ in range(12):
        try:
            factor = np.linalg.cholesky(a + shift * np.eye(len(a)))
            break
        except np.linalg.LinAlgError:
            shift = max(10 * shift, 0.1)
    else:
        return None
    return factor, shift


def mean_ratio(above: list[float], below: list[float]) -> Any:
    """The mean of the ratios that there are."""
    total, count = 0.0, 0
    for i in range(len(above)):
        try:
            total += above[i] / below[i]
        except ZeroDivisionError:
            continue
        except IndexError:
            break
        count += 1
    return total / count if count else math.nan


def signals(price: Any, level: float) -> Any:
    """What a simple rule would have done, as texts."""
    position, done = None, []
    for i in range(1, len(price)):
        if price[i] > price[i - 1] + level and position is None:
            position = price[i]
            done.append((i, "buy"))
        elif price[i] < price[i - 1] - level and position is not None:
            done.append((i, "sell"))
            position = None
    return done, position


def metropolis(energies: Any, moves: Any, beta: float) -> Any:
    """A draw only where it decides."""
    rng = np.random.default_rng(3)
    at, visited = 0, []
    for k in range(len(moves)):
        to = (at + moves[k]) % len(energies)
        change = energies[to] - energies[at]
        if change <= 0 or rng.random() < np.exp(-beta * change):
            at = to
        visited.append(at)
    return visited


def pyramid(signal: Any) -> Any:
    """Halved until nothing is left to halve."""
    while len(signal) > 1:
        signal = 0.5 * (signal[0::2] + signal[1::2])
    return signal


def assigned(cost: Any) -> Any:
    """The cheapest of all ways to give each row a column: the Hungarian method by potentials."""
    n, m = cost.shape
    u, v = [0.0] * (n + 1), [0.0] * (m + 1)
    p, way = [0] * (m + 1), [0] * (m + 1)
    for i in range(1, n + 1):
        p[0], j0 = i, 0
        least, used = [math.inf] * (m + 1), [False] * (m + 1)
        while True:
            used[j0] = True
            i0, delta, j1 = p[j0], math.inf, 0
            for j in range(1, m + 1):
                if not used[j]:
                    current = cost[i0 - 1, j - 1] - u[i0] - v[j]
                    if current < least[j]:
                        least[j], way[j] = current, j0
                    if least[j] < delta:
                        delta, j1 = least[j], j
            for j in range(m + 1):
                if used[j]:
                    u[p[j]] += delta
                    v[j] -= delta
                else:
                    least[j] -= delta
            j0 = j1
            if p[j0] == 0:
                break
        while j0:
            j1 = way[j0]
            p[j0] = p[j1]
            j0 = j1
    return [(p[j] - 1, j - 1) for j in range(1, m + 1) if p[j] > 0], -v[0]


def dense_groups(points: Any, radius: float, least: int) -> Any:
    """DBSCAN: groups grow from points that have many others near them; -1: noise."""
    n = len(points)
    labels: list[Any] = [None] * n
    group = -1

    def near(p: int) -> Any:
        return [q for q in range(n) if np.sqrt(((points[p] - points[q]) ** 2).sum()) <= radius]

    for p in range(n):
        if labels[p] is not None:
            continue
        neighbours = near(p)
        if len(neighbours) < least:
            labels[p] = -1
            continue
        group += 1
        labels[p] = group
        seeds = deque(neighbours)
        while seeds:
            q = seeds.popleft()
            if labels[q] == -1:
                labels[q] = group
            if labels[q] is not None:
                continue
            labels[q] = group
            more = near(q)
            if len(more) >= least:
                seeds.extend(more)
    return np.array(labels), group + 1


def best_of_each_class(boxes: Any, scores: Any, classes: Any, most: float, at_most: int) -> Any:
    """Suppression of overlapping boxes for each class, into a dict."""
    kept = {}
    for c in np.unique(classes):
        b, s = boxes[classes == c], scores[classes == c]
        order, keep = s.argsort()[::-1], []
        areas = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
        while order.size > 0 and len(keep) < at_most:
            i, rest = order[0], order[1:]
            keep.append(i)
            w = np.maximum(0, np.minimum(b[i, 2], b[rest, 2]) - np.maximum(b[i, 0], b[rest, 0]))
            h = np.maximum(0, np.minimum(b[i, 3], b[rest, 3]) - np.maximum(b[i, 1], b[rest, 1]))
            overlap = w * h / (areas[i] + areas[rest] - w * h)
            order = rest[overlap <= most]
        kept[int(c)] = b[keep]
    return kept


def mask_of_runs(runs: str, shape: Any) -> Any:
    """A mask whose runs are told as a text, from one on, in columns."""
    words = runs.split()
    starts, lengths = (np.asarray(part, dtype=int) for part in (words[0::2], words[1::2]))
    starts -= 1
    mask = np.zeros(shape[0] * shape[1], dtype=np.uint8)
    for low, high in zip(starts, starts + lengths):
        mask[low:high] = 1
    return mask.reshape(shape).T


_SEQUENCES = ("ACGTTGCAACGTAC", "TTGACAACGGGTA", "GATTACAGATTACAGA")

CASES = [
    Case(smoothed, lambda r: (r.normal(size=(9, 3)),)),
    Case(strongest, lambda r: (r.normal(size=9), 0.3)),
    Case(strongest, lambda r: (r.normal(size=9), 30.0)),
    Case(longest_common, lambda r: (_SEQUENCES[r.integers(3)], _SEQUENCES[0])),
    Case(one_hot, lambda r: (_SEQUENCES[r.integers(3)],)),
    Case(components, lambda r: (r.random((7, 8)) > 0.4,)),
    Case(steps_from, lambda r: (r.random((7, 8)) > 0.3, (0, 0))),
    Case(shortest_paths, lambda r: (r.random((6, 6)) * (r.random((6, 6)) > 0.5), 0), special=False),
    Case(factorised, lambda r: (np.diag(r.normal(size=4)),), ulps=4, special=False,
         refused={"cuda": "CuPy has no `attempt`", "pallas": "`attempt` has no JAX form"}),
    Case(mean_ratio, lambda r: ([1.0, 2.0, float(r.random())], [2.0, 0.0, 4.0])),
    Case(mean_ratio, lambda r: ([1.0, 2.0, float(r.random())], [2.0, 4.0])),
    Case(signals, lambda r: (r.normal(size=20), 0.2)),
    Case(metropolis, lambda r: (r.normal(size=8), r.integers(-2, 3, 30), 1.5), special=False,
         refused={"pallas": "`seeded` has no JAX form"}),
    Case(pyramid, lambda r: (r.normal(size=16),)),
    Case(assigned, lambda r: (r.random((5, 7)),), special=False),
    Case(dense_groups, lambda r: (r.random((20, 2)), 0.2, 3), special=False),
    Case(best_of_each_class, lambda r: (r.random((12, 4)).cumsum(1), r.random(12), r.integers(0, 3, 12), 0.5, 3),
         special=False),
    Case(mask_of_runs, lambda r: (f"{r.integers(1, 9)} 5 {r.integers(20, 30)} 2 40 10", (10, 12))),
]
