"""Lists of many tuples or lists of numbers as arguments: one code for all lengths, the caller's own objects."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import on_target, require


def total(rows):
    found = 0
    for row in rows:
        for v in row:
            found += v
    return found, len(rows), [len(row) for row in rows]


def ranks(graph, damping):
    n = len(graph)
    rank = [1.0 / n] * n
    for _ in range(5):
        new = [(1 - damping) / n] * n
        for u in range(n):
            if graph[u]:
                share = rank[u] / len(graph[u])
                for v in graph[u]:
                    new[v] += damping * share
        rank = new
    return rank


def spanning(edges, n):
    parent = list(range(n))

    def find(x):
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    cost, chosen = 0.0, []
    for u, v, c in sorted(edges, key=lambda e: e[2]):
        if find(u) != find(v):
            parent[find(u)] = find(v)
            cost += c
            chosen.append((u, v, c))
    return cost, chosen


def hull(points):
    points = sorted(set(points))
    lower = []
    for p in points:
        while len(lower) >= 2:
            a, b = lower[-2], lower[-1]
            if (b[0] - a[0]) * (p[1] - a[1]) - (b[1] - a[1]) * (p[0] - a[0]) > 0:
                break
            lower.pop()
        lower.append(p)
    return lower


def diagonal(grid):
    found = 0
    for i in range(1, len(grid)):
        for j in range(1, len(grid[0])):
            if grid[i][j] == grid[i - 1][j - 1]:
                found += 1
    return found


def as_array(grid):
    return np.array(grid).sum(axis=0)


def itself(rows):
    return rows


def one(pairs, k):
    return pairs[k], pairs[-1]


def sort_in_place(edges):
    edges.sort(key=lambda e: e[2])
    return edges[0]


def append(edges):
    edges.append((1, 2, 3.0))
    return edges


def longest(rows):
    return max(len(row) for row in rows), max(rows, key=len)[0]


def yes(flags):
    return sum(1 for a, b in flags if a and not b)


RNG = np.random.default_rng(3)


def _rows(n, top=0, kind=int):
    return [[kind(v) for v in RNG.integers(0, top or n, RNG.integers(0, 6))] for _ in range(n)]


def _edges(n):
    return [(int(a), int(b), float(c)) for a, b, c in zip(*RNG.integers(0, 9, (2, n)), RNG.random(n), strict=True)]


CASES = [
    (total, (_rows(40),)),
    (total, (_rows(40, 9, float),)),
    (total, ([[]] * 0 + [[1]] + [[] for _ in range(30)],)),
    (ranks, (_rows(50), 0.85)),
    (spanning, (_edges(60), 9)),
    (hull, ([(int(a), int(b)) for a, b in RNG.integers(0, 20, (50, 2))],)),
    (diagonal, (RNG.integers(0, 3, (20, 30)).tolist(),)),
    (as_array, (RNG.integers(0, 3, (20, 30)).tolist(),)),
    (as_array, (RNG.random((18, 3)).tolist(),)),
    (itself, (_rows(20),)),
    (itself, (_edges(20),)),
    (one, (_edges(20), 3)),
    (sort_in_place, (_edges(20),)),
    (append, (_edges(20),)),
    (longest, ([*_rows(30), [7] * 9],)),
    (yes, ([(bool(a), bool(b)) for a, b in RNG.integers(0, 2, (30, 2))],)),
]


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.parametrize(("function", "given"), CASES, ids=[f"{f.__name__}{k}" for k, (f, _) in enumerate(CASES)])
def test_lists_of_tuples_and_lists(
    function: Any, given: tuple[Any, ...], target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_target(target, monkeypatch)
    compiled = transkern.compile(function, target=target)
    mine, its = copy.deepcopy(given), copy.deepcopy(given)
    wanted = function(*mine)
    if (function, target) == (ranks, "pallas"):
        with pytest.raises(transkern.CompileError, match="has no JAX form"):
            compiled(*its)
        return
    found = compiled(*its)
    if isinstance(wanted, np.ndarray):
        assert wanted.dtype == found.dtype
        np.testing.assert_allclose(found, wanted, rtol=1e-14)  # devices add up in another order
    else:
        assert repr(found) == repr(wanted)
    assert repr(its) == repr(mine)
    assert (found is its[0]) == (wanted is mine[0])


def test_one_code_serves_all_lengths() -> None:
    require("cc")
    compiled = transkern.compile(total)
    for n in (17, 40, 300, 18):
        rows = _rows(n)
        assert compiled(rows) == total(rows)
    assert len(compiled.cache_info().specialisations) == 1
    rows = [[float(v) for v in row] for row in rows]
    assert compiled(rows) == total(rows) and len(compiled.cache_info().specialisations) == 2


def change(rows):
    rows[2].append(4)
    return len(rows[2])


def give(rows):
    return rows[3]


def keep(rows):
    out = []
    for row in rows:
        if len(row) > 2:
            out.append(row)
    return out


@pytest.mark.parametrize("function", [change, give, keep])
def test_what_reaches_the_callers_own_lists_is_right_or_refused(function: Any) -> None:
    """Few lists are arguments of their own then; of many, the callers' lists would be others than those of the result."""
    require("cc")
    for n in (17, 700):
        mine = _rows(n) if n > 17 else [[k] * (k % 5) for k in range(n)]
        its = copy.deepcopy(mine)
        compiled = transkern.compile(function)
        try:
            found = compiled(its)
        except transkern.CompileError as error:
            assert "help:" in str(error)
            continue
        wanted = function(mine)
        assert found == wanted and its == mine
        if function is give:
            assert found is its[3]


def test_lists_that_stand_twice_are_arguments_of_their_own() -> None:
    """A change of one is one of the other."""
    require("cc")

    def first(rows):
        rows[0][0] += 1
        return rows[1][0]

    for make in (lambda: [[1]] * 20, lambda: [[1] for _ in range(20)]):
        mine, its = make(), make()
        compiled = transkern.compile(first)
        try:
            found = compiled(its)
        except transkern.CompileError:
            continue
        assert found == first(mine) and its == mine


def test_types_are_written_as_they_are_told() -> None:
    from transkern.frontend.values.types import parse_signature

    _, (rows, ragged) = parse_signature("f([(int, float), …], [[int, …], …])")
    assert str(rows) == "[(int, float), …]" and str(ragged) == "[[int, …], …]"
