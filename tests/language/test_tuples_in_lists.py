"""Arrays and lists of their own lengths in tuples in lists: stacks of parts, paths with costs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target

POINTS = np.round(np.random.default_rng(0).random((30, 2)) * 64) / 64
IDS = np.array([3, 1, 4, 1, 5, 0, 2, 4, 3, 3])


def tree(points, ids):
    stack, nodes = [(np.arange(len(points)), 0, -1)], []
    while stack:
        part, depth, parent = stack.pop()
        nodes.append((parent, depth, part))
        if len(part) <= 4:
            continue
        middle = len(nodes) - 1
        chosen = points[part, depth % 2] < np.median(points[part, depth % 2])
        stack.append((part[chosen], depth + 1, middle))
        stack.append((part[~chosen], depth + 1, middle))
    return [(p, d, len(part)) for p, d, part in nodes], nodes[1][2], nodes


def paths(points, ids):
    stack, found = [([0], 0)], []
    while stack:
        path, cost = stack.pop()
        if len(path) >= 3:
            found.append((path, cost))
            continue
        for step in (1, 2):
            stack.append((path + [step], cost + step))  # noqa: RUF005
    rows = []
    for i in range(len(ids)):
        row = []
        for j in range(ids[i]):
            row.append(j * i)
        rows.append((i, row))
    rows[2][1].append(7)
    return found, rows, sum(len(row) for _, row in rows)


def named(points, ids):
    queue, held = [(ids * 1, "a"), (ids[:2] * 1, "b")], {}
    for i in range(len(ids)):
        if ids[i] > 2:
            queue.append((ids[:i] * 2, "b" if i % 2 else "a"))
        held[int(ids[i])] = (ids[:i] * 1, i)
    return queue, [name for _, name in queue], held


def merged(points, ids):
    a, width = ids.tolist(), 1
    while width < len(ids):
        out = []
        for i in range(0, len(ids), 2 * width):
            left, right, p, q = a[i : i + width], a[i + width : i + 2 * width], 0, 0
            while p < len(left) and q < len(right):
                if left[p] <= right[q]:
                    out.append(left[p])
                    p += 1
                else:
                    out.append(right[q])
                    q += 1
            out += left[p:]
            out += right[q:]
        a = out
        width *= 2
    return a


def least_recently_used(points, ids):
    cache, hits, known = [], 0, [1, 2, 3]
    for v in ids:
        if v in cache:
            hits += 1
            cache.remove(v)
        elif len(cache) >= 3:
            cache.pop(0)
        cache.append(v)
    known.remove(ids[1])
    return hits, cache, known


@pytest.mark.parametrize("user", [tree, paths, named, merged, least_recently_used])
def test_tuples_in_lists(user: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    alike(user, POINTS, IDS)
    alike(user, POINTS[:9], IDS[1:])
    if user is merged:
        alike(user, POINTS, IDS, target=on_target("cuda", monkeypatch))


def one_or_many(points, ids):
    near = []
    for i in range(len(ids)):
        if ids[0] > 1:
            near.append([i])
        else:
            near.append([j for j in range(len(ids)) if abs(ids[i] - ids[j]) < 2])
    near[1].append(7)
    return near


def test_lists_of_one_element_or_many() -> None:
    alike(one_or_many, POINTS, IDS)
    alike(one_or_many, POINTS, IDS[1:])


def orders_counted(points, ids):
    orders, pairs = [(0, 1, 2), (2, 1, 0), (1, 2, 0)], [(0, 1), (7, 2), (7, 2)]
    found = [0] * 3
    for k in range(len(points) - 2):
        order = tuple(np.argsort(points[k : k + 3, 0]).tolist())
        if order in orders:
            found[orders.index(order)] += 1
    at = [pairs.index((i, 2)) if (i, 2) in pairs else -1 for i in ids]
    return found, at, pairs.count((ids[0], 2)), pairs.index((int(ids[-1]), 5))


def test_tuples_are_found_in_known_lists() -> None:
    alike(orders_counted, POINTS, np.array([7, 3, 0]))
    alike(orders_counted, POINTS[:2], IDS)


def missing(points, ids):
    known = [7, 8]
    known.remove(ids[0])
    return known


def test_what_is_not_there_is_not_removed() -> None:
    alike(missing, POINTS, IDS)
