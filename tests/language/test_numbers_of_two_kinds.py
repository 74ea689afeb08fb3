"""A number that has one type of NumPy's or Python's on one path, and another on the other: each is computed with in the
type that it has, and the caller sees which."""

from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from transkern.errors import CompileError


def find(parent: Any, i: Any) -> Any:
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


def union(parent: Any, pairs: Any, names: Any) -> Any:
    for one, two in pairs:
        p, q = find(parent, one), find(parent, int(two))
        if p != q:
            parent[max(p, q)] = min(p, q)
    named: dict[Any, int] = {}
    for i in range(len(parent)):
        root = find(parent, i)
        if root not in named:
            named[root] = len(named) + 1
        names[i] = named[root]
    return find(parent, 3), names, [find(parent, k) for k in range(len(parent))]


def branches(a: Any, b: Any, p: Any, c: Any) -> Any:
    x = b[1]
    if c:
        x = p
    y = a[0] if c else b[0]
    return x, x + 1, y, y * y, a[x % 3], x == 4, x // 3, -y, max(x, y)


def loops(a: Any, b: Any, p: Any, c: Any) -> Any:
    x, y = b[1], p
    for i in range(p % 4):
        x = a[i % 3]
        if a[i % 3] > 2:
            y = b[2]
            break
    kept = [x]
    for i in range(p % 3):
        kept.append(x + i)
    return x, y, x + 1, y + 2, kept, np.sqrt(y)


def stored(a: Any, b: Any, p: Any, c: Any) -> Any:
    x = b[1] if c else p
    a[0], b[0] = x, x
    return a, b, float(x), int(x), x & 3


@pytest.mark.parametrize("function", [branches, loops, stored])
def test_two_kinds(function: Any) -> None:
    for other in (np.int32, np.uint8, np.int64):
        for p in (4, 7, 300):
            for c in (True, False):
                alike(function, np.array([2, 5, 3]), np.array([1, 9, 4], other), p, c)


def test_union_find() -> None:
    pairs = np.random.default_rng(0).integers(0, 20, (12, 2))
    for kind in (np.int32, np.int64):
        alike(union, np.arange(20, dtype=kind), pairs.astype(np.int32), np.zeros(20, np.int16))


def test_where_the_type_would_be_another() -> None:
    """An array's type cannot depend on it: refused, not guessed."""

    def made(a: Any, b: Any, p: Any, c: Any) -> Any:
        x = b[1] if a[0] > 1 else p
        return np.full(2, x)

    with pytest.raises(CompileError, match="a number that is"):
        alike(made, np.array([2]), np.array([1, 9], np.int32), 4, True)
