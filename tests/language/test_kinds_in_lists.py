"""Lists of bools and other numbers, None in lists of lists, and arrays in lists whose order only the run knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target

IDS = np.array([3, 1, 4, 1, 5, 0, 2, 4, 3])
X = np.arange(12.0) * 1.5
SOME = [IDS, IDS[:5][::-1].copy(), IDS * 0, IDS * 0 + 1, IDS * 0 + 6]


# ---- bools -----------------------------------------------------------------------------------------------------------


def marks(ids: Any) -> Any:
    seen = [False] * 7
    for i in range(len(ids)):
        if ids[i] % 2:
            seen[ids[i]] = 1
        elif ids[i] > 3:
            seen[ids[i]] = True
        elif ids[i] > 1:
            seen[ids[i]] = 7
    return seen


def computed(ids, x):
    m = marks(ids)
    sums = [v + 1 for v in m], [-v for v in m], [v * 2 for v in m], [v & 1 for v in m], ~m[0], sum(m)
    asked = [not v for v in m], [v == 1 for v in m], m.count(1), 1 in m, [isinstance(v, bool) for v in m], all(m), any(m)
    cast = [int(v) for v in m], [float(v) for v in m], [bool(v) for v in m], x[:7] + m, np.where(m), max(m), sorted(m)
    return m, sums, asked, cast, m[1] or 6, m[0] and 5, [x[i] for i in range(7) if m[i]]


def changed(ids, x):
    m = marks(ids)
    m.append(True)
    m.extend([3, False])
    m.insert(1, 2)
    first = m.pop(0)
    m.reverse()
    table, held, numbers = [[False] * 4 for _ in range(3)], {}, [0] * 5
    for v in ids:
        table[v % 3][v % 4] = 1
        numbers[v % 5] = v > 2
    held[int(ids[0])] = False
    held[int(ids[1])] = 1
    mixed = [True] * 5
    for v in ids:
        mixed[v % 5] *= x[v]
    return m, first, m[::-1], table, [sum(r) for r in table], held, numbers, mixed


@pytest.mark.parametrize("user", [computed, changed])
def test_bools_among_numbers(user: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for ids in SOME:
        alike(user, ids, X)
    if user is changed:
        alike(user, IDS, X, target=on_target("cuda", monkeypatch))


def by_one(ids, x):
    return x[marks(ids)[3]]


def by_all(ids, x):
    return x[marks(ids)]


@pytest.mark.parametrize("user", [by_one, by_all])
def test_a_bool_is_no_position(user: Callable[..., Any]) -> None:
    with pytest.raises(transkern.CompileError, match="a subscript that is"):
        transkern.compile(user, target="cpu")(IDS, X)


# ---- None ------------------------------------------------------------------------------------------------------------


def back_pointers(ids, x):
    n = len(ids)
    back, grid = [[None] * 3 for _ in range(n)], [[None for _ in range(n)] for _ in range(n)]
    for i in range(n):
        for s in range(3):
            if (ids[i] + s) % 2:
                back[i][s] = int(ids[i])
        for j in range(n):
            if ids[i] == ids[j]:
                grid[i][j] = i
    total = 0
    for row in grid:
        for v in row:
            if v is not None:
                total += v
    return back, grid, total, back[0].count(None), None in back[0]


def known_rows(ids, x):
    board, memo, flat = [[None] * 3 for _ in range(3)], [[None] * 4 for _ in range(3)], [None] * 5
    for t, v in enumerate(ids):
        r, c = v // 3 % 3, v % 3
        if board[r][c] is None:
            board[r][c] = "X" if t % 2 else "O"
        if memo[v % 3][v % 4] is None:
            memo[v % 3][v % 4] = (int(v), x[v])
        if flat[v % 5] is None:
            flat[v % 5] = t
    return board, memo, flat, board[1][1] == "X", flat[ids[0] % 5]


def copies(ids, x):
    rows = [[None] * 3 for _ in range(len(ids))]
    other = [r[:] for r in rows]
    rows[0][0] = 1
    other[ids[0] % 3][1] = 7
    rows[1] = other[ids[0] % 3]
    ragged = [[None if j % 2 else j for j in range(int(v))] for v in ids]
    ragged[1].append(3)
    del ragged[1][0]
    ragged[0].append(None)
    return rows, other, rows[0] == other[0], ragged, [len(r) for r in ragged]


def only_none(ids, x):
    rows = [[None] * 3 for _ in range(len(ids))]
    return rows, [r[:] for r in rows], rows[0][0] + 1 if ids[0] == 4 else 0


@pytest.mark.parametrize("user", [back_pointers, known_rows, copies, only_none])
def test_none_in_lists_of_lists(user: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for ids in SOME[:4]:
        for _ in range(3):  # what is handed back behind None must not be what the memory had before
            alike(user, ids, X)
    if user is back_pointers:
        alike(user, IDS, X, target=on_target("cuda", monkeypatch))


# ---- arrays ----------------------------------------------------------------------------------------------------------


def simplex(ids, x):
    points = [x[:3] * 1, x[3:6] - 9, x[6:9] / 4]
    for _ in range(6):
        values = [np.abs(p).max() for p in points]
        order = np.argsort(values)
        points = [points[i] for i in order]
        middle = (points[0] + points[1]) / 2
        reflected = middle + (middle - points[2])
        if np.abs(reflected).max() < values[order[2]]:
            points[2] = reflected
        else:
            for j in range(1, 3):
                points[j] = points[0] + 0.5 * (points[j] - points[0])
    return points[0], points


def chosen(ids, x):
    weights, ragged, lists = [x[:3] * 1, x[3:6] * 2], [np.zeros(2), np.ones(3)], [[1, 2], [3]]
    out = []
    for v in ids:
        out.append(weights[v % 2][0] + ragged[v % 2].sum())
        lists[v % 2].append(int(v))
    weights[ids[0] % 2] = weights[0] + 1
    weights[ids[1] % 2][1] = 99
    one = weights[ids[2] % 2]
    one[0] = 5
    return out, weights, one, lists, ragged[ids[0] % 2], lists[ids[0] % 2]


@pytest.mark.parametrize("user", [simplex, chosen])
def test_arrays_at_places_of_the_run(user: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for ids in SOME[:3]:
        alike(user, ids, X)
    alike(user, IDS, X, target=on_target("cuda", monkeypatch))
    if user is simplex:
        alike(user, IDS, X, target=on_target("pallas", monkeypatch))


def under_two_names(ids, x):
    one = x[:3] * 1
    both = [one, x[3:6] * 1]
    both[ids[0] % 2][1] = 99
    return one, both


def test_an_array_with_a_name_is_not_changed_in_a_list() -> None:
    with pytest.raises(transkern.CompileError, match="a store into an array in a list"):
        transkern.compile(under_two_names, target="cpu")(IDS, X)
