# ruff: noqa: B007, RUF005
"""Lists of lists that loops bind anew, store into, and make longer; lists that have two names before a loop."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target


def new(x):
    level = [[0]]
    for v in x:
        nxt = []
        for p in level:
            nxt.append(p + [int(v * 10)])
            if v > 0.5:
                nxt.append(p)
        level = nxt
    return level


def empty(x):
    rows = []
    for v in x:
        rows = [r + [v] for r in rows if len(r) < 3] + [[v]]
    return rows


def swap(x):
    a = [[1.0]]
    b = [[2.0], [3.0, 4.0]]
    for v in x:
        a, b = (b, a)
        a.append([v, v])
        b[0].append(v)
    return (a, b)


def best(x):
    best = []
    cur = []
    for v in x:
        cur = cur + [[v, v * 2]] if v > 0.4 else []
        if len(cur) > len(best):
            best = cur
    return best


def ragged_best(x):
    best = []
    cur = []
    for i, v in enumerate(x):
        cur = cur + [[v] * (i % 3)] if v > 0.4 else []
        if len(cur) > len(best):
            best = cur
    return (best, len(best))


def until_short(x):
    todo = [list(range(len(x)))]
    done = []
    while todo:
        nxt = []
        for part in todo:
            if len(part) <= 2:
                done.append(part)
            else:
                p = x[part[0]]
                lo = [i for i in part[1:] if x[i] < p]
                hi = [i for i in part[1:] if x[i] >= p]
                nxt.append(lo + [part[0]])
                nxt.append(hi)
        todo = nxt
    return done


def arrays(x):
    parts = [x]
    for k in range(3):
        new = []
        for p in parts:
            m = p.mean()
            new.append(p[p < m])
            new.append(p[p >= m])
        parts = new
    return parts


def returned(x):
    rows = [[i] for i in range(len(x))]
    while True:
        nxt = []
        for r in rows:
            if len(r) < 3:
                nxt.append(r + [r[-1] + 1])
        if not nxt:
            return rows
        rows = nxt


def under_conditions(x):
    rows = [[1], [2]]
    for v in x:
        if v > 0.5:
            rows = rows + [[len(rows)] * len(rows)]
        elif v < 0.2:
            rows = rows[1:]
    return rows


def alias_plain2(x):
    rows = []
    other = rows
    for v in x:
        rows.append(v)
        rows = [r for r in rows if r > 0.3]
    return (rows, other)


def alias_pairs(x):
    rows = [(1, 2.0)]
    other = rows
    for i in range(len(x)):
        rows.append((i, x[i]))
        rows = [r for r in rows if r[1] > 0.3]
    return (rows, other)


def alias_lists(x):
    rows = [[1.0], [2.0, 3.0]]
    other = rows
    for i in range(len(x)):
        rows.append([x[i]])
        rows = rows[1:] + [[2.0]]
    return (rows, other)


def alias_inner(x):
    rows = [[1.0], [2.0, 3.0]]
    other = rows[0]
    for i in range(len(x)):
        rows = [list(r) for r in rows] + [[2.0, x[i], 1.0]]
        rows[0].append(x[i])
    return (rows, other)


def alias_inner2(x):
    rows = [[1.0], [2.0, 3.0]]
    other = rows[0]
    for i in range(len(x)):
        rows[0].append(x[i])
        rows = [list(r) for r in rows] + [[2.0, x[i], 1.0]]
    return (rows, other)


def alias_no_loop(x, n):
    rows = [[1.0], [2.0, 3.0]]
    other = rows[0]
    for i in range(n):
        rows[0].append(x[i])
        rows = [list(r) for r in rows] + [[2.0, x[i], 1.0]]
    other.append(5.0)
    return (rows, other)


def alias_in_loop(x):
    rows = [[1.0], [2.0, 3.0]]
    first = rows[1]
    for v in x:
        rows = [[v]] + rows
        first.append(v)
        first = rows[0]
    return (rows, first)


def alias_dict(x):
    d = {'rows': [(1, 2.0)], 'n': 0}
    rows = d['rows']
    for v in x:
        rows.append((0, v))
        rows = [r for r in rows if r[1] > 0.3]
    return (rows, d)


def stored_longer(x, k):
    clusters = [[i] for i in range(len(x))]
    clusters[0] = clusters[0] + clusters[1]
    return clusters


def merged(x, k):
    clusters = [[i] for i in range(len(x))]
    while len(clusters) > k:
        i = len(clusters) // 2
        clusters[i] = clusters[i] + clusters[i - 1]
        del clusters[i - 1]
    return clusters


def merged_anew(x, k):
    clusters = [[i] for i in range(len(x))]
    while len(clusters) > k:
        i = len(clusters) // 2
        new = clusters[i] + clusters[i - 1]
        clusters = [c for j, c in enumerate(clusters) if j not in (i, i - 1)]
        clusters.append(new)
    return clusters


def of_python_and_numpy(x):
    rows = [[1.0]]
    for i in range(len(x)):
        rows.append([x[i]])
        rows = rows[1:]
        rows.append([2.0, 3.0])
    return rows


def keep(x):
    todo = [[0], [1, 2]]
    done = []
    for v in x:
        nxt = []
        for part in todo:
            if v > 0.5:
                done.append(part)
            nxt.append(part + [int(v * 10)])
        todo = nxt
    return (done, todo)


def last(x):
    todo = [[0], [1, 2]]
    last = todo[0]
    for v in x:
        nxt = []
        for part in todo:
            nxt.append([int(v * 10)] + part)
        if v > 0.5:
            last = todo[-1]
        todo = nxt
    return (last, todo)


def pair(x):
    todo = [[0], [1, 2]]
    best = (todo[0], 0.0)
    for v in x:
        nxt = [[int(v * 10)] + part for part in todo]
        if v > best[1]:
            best = (nxt[-1], v)
        todo = nxt
    return (best, todo)


def in_dict(x):
    todo = [[0], [1, 2]]
    d = {'a': todo[0], 'all': todo}
    for v in x:
        todo = [[int(v * 10)] + part for part in todo]
        if v > 0.6:
            d['a'] = todo[1]
    return (d, todo)


def history(x):
    todo = [[0], [1, 2]]
    h = []
    for v in x:
        todo = [[int(v * 10)] + part for part in todo if len(part) < 3] + [[1]]
        h.append(len(todo))
        h.extend(todo[0])
    return (h, todo)


def two(x):
    a = [[0], [1, 2]]
    b = [[3]]
    for v in x:
        a, b = ([p + [1] for p in b], [p + p[:1] for p in a])
    return (a, b)


def prev(x):
    cur = [[0], [1, 2]]
    prev = cur
    for v in x:
        prev = cur
        cur = [p + [int(9 * v)] for p in prev]
    return (prev, cur)


def clustered(x, k):
    clusters = [np.array([i]) for i in range(len(x))]
    while len(clusters) > k:
        means = np.array([x[c].mean() for c in clusters])
        d = np.abs(means[:, None] - means[None, :])
        np.fill_diagonal(d, np.inf)
        i, j = np.unravel_index(d.argmin(), d.shape)
        i, j = (min(i, j), max(i, j))
        clusters[i] = np.concatenate([clusters[i], clusters[j]])
        clusters.pop(j)
    return clusters


def binned(x, n):
    parts = [np.zeros(0) for _ in range(n)]
    for v in x:
        k = int(v * n)
        parts[k] = np.append(parts[k], v)
    return ([len(p) for p in parts], parts)


def stacked(x, n):
    parts = [np.ones((1, 3)) * i for i in range(n)]
    for i in range(1, n):
        parts[i] = np.vstack([parts[i - 1], parts[i]])
    return parts[-1]


def beams(x):
    paths = [([], 0.0)]
    for row in x:
        new = []
        for path, score in paths:
            for k in range(len(row)):
                new.append((path + [k], score + row[k]))
        new.sort(key=lambda one: -one[1])
        paths = new[:3]
    return paths


def of_tuples(x):
    rows = [(1, 2.0), (3, 4.0)]
    for i in range(len(x)):
        rows = rows + [(i, x[i, 0])]
    return rows


def of_numbers(x):
    rows = [1.0]
    for v in x[:, 0]:
        rows = [r for r in rows if r > 0.3] + [v]
    return rows


def of_ints(x):
    rows = [(0, 1)]
    for i in range(len(x)):
        rows = [(a + 1, c) for a, c in rows if a < 5]
        rows.append((x[i, 0], i))
    return rows


def of_the_best(x):
    best = [(0.0, -1)]
    for i in range(len(x)):
        if x[i, 0] > best[0][0]:
            best = [(x[i, 0], i)] + best[:2]
    return best


def of_lists(x):
    groups = [[0.0], [1.0, 2.0]]
    for v in x[:, 0]:
        groups = [g + [v] for g in groups if len(g) < 4] + [[0.5]]
    return groups


def of_two(x):
    a = [1]
    c = [2.5]
    for v in x[:, 0]:
        a, c = (c, a + [v])
    return (a, c)


def in_tuples(x):
    todo = [(0, ([1], 2.0))]
    for v in x:
        todo = [(k + 1, (p + [k], s + v)) for k, (p, s) in todo] + [(5, ([], v))]
    return todo


def in_tuples_at_first(x):
    todo = [((0, [1]), 2.0)]
    out = []
    for v in x:
        new = []
        for (k, p), s in todo:
            new.append(((k + 1, p + [k]), s + v))
        new.append(((3, [7, 8]), v))
        todo = new
        out.append(len(todo[0][0][1]))
    return (todo, out)


X = np.random.default_rng(3).random(9)
ROWS = X[:8].reshape(4, 2)
OF_ROWS = [beams, of_tuples, of_numbers, of_ints, of_the_best, of_lists, of_two]
COUNTS = {stored_longer: 3, merged: 3, merged_anew: 3, alias_no_loop: 0, clustered: 3, binned: 4, stacked: 4}
WRITTEN_OUT = [alias_inner, alias_inner2, alias_no_loop, alias_in_loop]
FOR_ANY_LENGTH = [
    stored_longer, merged, merged_anew, new, empty, swap, best, ragged_best, until_short, arrays, returned,
    under_conditions, of_python_and_numpy, alias_plain2, alias_pairs, alias_lists, alias_dict, keep, last, pair,
    in_dict, history, two, prev, clustered, binned, stacked,
    in_tuples, in_tuples_at_first, *OF_ROWS,
]  # fmt: skip


def arguments(function: Callable[..., Any]) -> tuple[Any, ...]:
    return (X, COUNTS[function]) if function in COUNTS else (ROWS if function in OF_ROWS else X,)


@pytest.mark.parametrize("function", [*FOR_ANY_LENGTH, *WRITTEN_OUT])
def test_lists_are_pythons(function: Callable[..., Any]) -> None:
    compiled = transkern.compile(function, target="cpu")
    alike(function, *arguments(function), compiled=compiled)
    assert function in WRITTEN_OUT or not re.search(r"\[\d", compiled.signature)


@pytest.mark.parametrize("target", ["cuda", "pallas"])
@pytest.mark.parametrize("function", [merged_anew, new, alias_pairs, two])
def test_lists_are_pythons_on_devices(
    function: Callable[..., Any], target: str, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    on_target(target, monkeypatch)
    alike(function, *arguments(function), target=target)


def in_branches(x, n):
    out = []
    if n > 0:
        rows = [[v] * k for k, v in enumerate(x)]
        out.append(rows[3])
    out.append([1.0, 2.0])
    for i in range(n):
        rows = [[v] * (k % 3) for k, v in enumerate(x)]
        for row in rows:
            if len(row) > 1:
                out.append(row)
    return out


@pytest.mark.parametrize("n", [0, 2])
def test_lists_outlive_the_block_that_makes_them(n: int) -> None:
    alike(in_branches, X, n)


def changed_once(rows, x):
    rows[0].append(x[0])
    rows = [r for r in rows if len(r) < 4]
    rows[0].append(x[1])
    return rows


def changed_in_a_loop(rows, x):
    for v in x:
        rows[0].append(v)
        rows = [r for r in rows if len(r) < 4] + [[v]]
    return rows


@pytest.mark.parametrize("function", [changed_once, changed_in_a_loop])
def test_a_list_of_the_callers_is_not_changed_by_a_copy_that_stands_for_it(function: Callable[..., Any]) -> None:
    rows = [[1.0], [2.0, 3.0]]
    with pytest.raises(transkern.CompileError, match="which is an argument's, too"):
        transkern.compile(function, target="cpu")(rows, X)
    assert rows == [[1.0], [2.0, 3.0]]


def swapped(x):
    one = [v + 0.0 for v in x]
    two = [1.0, 2.0]
    other = one
    for _v in x:
        one, two = two, one
        if len(two) > 1:
            two.pop()
    return one, two, other


def filtered_and_shortened(x):
    rows = [[v] for v in x]
    other = rows
    for _v in x:
        if len(rows) > 2:
            rows.pop()
        rows = [r for r in rows if len(r) < 3]
    return rows, other


def test_lists_that_are_handed_on_and_changed_are_not_copies_of_what_is_seen_elsewhere() -> None:
    with pytest.raises(transkern.CompileError, match="seen elsewhere"):
        transkern.compile(swapped, target="cpu")(X)
    alike(filtered_and_shortened, X)


def made_inside(x):
    rows = [[1, 2], [3, 4]]
    for v in x:
        rows[-1] = list(rows[0])
        new = []
        for r in rows:
            new.append(r if len(r) < 3 else [v])
        rows = new
    return rows


def test_a_loop_carries_no_list_that_an_earlier_translation_has_made() -> None:
    alike(made_inside, X)
