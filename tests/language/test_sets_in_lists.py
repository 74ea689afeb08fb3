"""Sets in lists, in dicts whose keys are known at run time, and in attributes: each is one set, wherever it stands."""

from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import require


def neighbours(edges: Any) -> Any:
    graph: Any = {}
    for a, b in edges:
        graph.setdefault(a, set()).add(b)
    return graph, [(u, len(near), 2 in near) for u, near in graph.items()]


def groups_of(x: Any, k: int) -> Any:
    groups: Any = [set() for _ in range(k)]
    for v in x:
        groups[int(v) % k].add((int(v) * 7) % 64)
    first = groups[0]
    first.discard(0)
    both = groups[0] & groups[-1]
    return (
        [sorted(s) for s in groups], max(range(k), key=lambda j: len(groups[j])), sorted(both), len(first),
        groups[0] <= groups[-1], groups[0] == first, groups[0].isdisjoint(groups[-1]), 56 in groups[0],
    )  # fmt: skip


def of_rows(x: Any) -> Any:
    made = []
    for row in x:
        s = set(row.tolist())
        made.append(s)
    made[0].add(99)
    made[-1].clear()
    return made, [len(s) for s in made]


def named(x: Any) -> Any:
    a: Any = set()
    pair: Any = [a, set()]
    for v in x:
        pair[int(v) % 2].add(int(v))
    a.add(50)
    pair[0].discard(4)
    out = []
    for v in x:
        s: Any = set()
        out.append(s)
        s.add(int(v))
    return sorted(a), [len(p) for p in pair], 4 in a, out


def popped(k: int) -> Any:
    made: Any = [{1, 2, 3}, {5}]
    got = made[k].pop()
    made[1 - k].remove(5)
    return got, made


EDGES = [[0, 1], [1, 2], [2, 0], [3, 4]]


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (neighbours, (EDGES,)), (groups_of, (np.arange(0, 100, 3), 4)), (groups_of, (np.arange(0), 1)),
        (of_rows, (np.arange(8).reshape(2, 4) % 3,)), (named, (np.array([3.0, 1, 4]),)), (popped, (0,)), (popped, (1,)),
    ],
)  # fmt: skip
def test_sets(function: Any, args: Any) -> None:
    require("cc")
    alike(function, *args)
