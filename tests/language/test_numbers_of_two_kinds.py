"""A number that has one type of NumPy's or Python's on one path, and another on the other: each is computed with in the
type that it has, and the caller sees which."""

from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target
from transkern import compile as compile_it
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


# ---- into arrays, and among numbers of three types -------------------------------------------------------------------


def in_place(x: Any, n: Any, kind: Any) -> Any:
    box, whole, confidence, kept = np.ones(3, kind), np.ones(2, np.int32), 0, []
    for i in range(n):
        if x[i] > 0:
            kept.append(x[i : i + 3])
    for b in kept:
        box += 0.1 * b
        confidence += b[0]
        box[1:] -= confidence
    half = 0.1 if x[0] > 0 else x[1]
    box /= confidence
    box[0] -= half
    box[1:] += half
    box **= half
    whole *= len(kept) if x[0] > 0 else np.int8(2)
    return box, box < confidence, box == half, np.maximum(box, 1) > half, whole


def cast_on_one_path(x: Any, n: Any) -> Any:
    box, factor = np.ones(3, np.int32), 2
    for i in range(n):
        if x[i] > 0:
            factor = x[i]
    box *= factor
    return box


def test_arrays_in_place() -> None:
    x = np.array([0.1, -2.5, 3.0, np.nan, 1e300, -0.0, 0.3, 0.7])
    for values in (x, -x, x[::-1].copy()):
        for n in (0, 5):
            alike(in_place, values, n, np.float32)
            alike(cast_on_one_path, values, n)
    alike(in_place, x, 5, np.float64)


def test_arrays_in_place_on_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    for target in ("cuda", "pallas"):
        for n in (0, 3):
            alike(cast_on_one_path, np.array([0.1, -2.5, 3.0]), n, target=on_target(target, monkeypatch))


def potentials(a: Any) -> Any:
    m = len(a)
    u, v, p = [0] * (m + 1), [0] * (m + 1), [0] * (m + 1)
    for i in range(1, m + 1):
        p[0], j0 = i, 0
        least, used = [float("inf")] * (m + 1), [False] * (m + 1)
        while True:
            used[j0] = True
            delta, j1 = float("inf"), 0
            for j in range(1, m + 1):
                if not used[j]:
                    least[j] = min(least[j], a[p[j0] - 1][j - 1] - u[p[j0]] - v[j])
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
        p[j0] = i
    return p, u, v


def of_three(x: Any) -> Any:
    many = [0] * len(x)
    for i in range(len(x)):
        if x[i] > 0:
            many[i] += x[i]
        elif x[i] < -1:
            many[i] = 0.5 * i
        else:
            many[i] = i
    sums = [many[i] + 0.5 for i in range(len(x))]
    large = [v > 1 for v in many]
    for i in range(len(x)):
        many[i] *= 3
    for i in range(1, len(x)):
        many[i] -= many[0]
    return many, sums, large, many[1], many[2] - 1


def test_three_kinds() -> None:
    alike(potentials, np.random.default_rng(0).integers(0, 64, (5, 5)) / 8)
    x = np.array([1.5, -0.3, 1e300, -5, np.inf, -0.0, np.nan, -4.5])
    alike(of_three, x)
    alike(of_three, x[::-1].copy())


# ---- NumPy's integers or floats --------------------------------------------------------------------------------------


def shortest(g: Any, source: Any) -> Any:
    n = len(g)
    dist, done = [float("inf")] * n, [False] * n
    dist[source] = 0
    for _ in range(n):
        u = -1
        for v in range(n):
            if not done[v] and (u < 0 or dist[v] < dist[u]):
                u = v
        done[u] = True
        for v in range(n):
            if g[u][v] > 0 and dist[u] + g[u][v] < dist[v]:
                dist[v] = dist[u] + g[u][v]
    last = dist[1] + g[1, 1]
    return dist, last, last * 2, last / 2, last > 3, max(dist[0] + g[0, 0], last)


def put_together(g: Any, x: Any) -> Any:
    column, floats = [v for v in g[0] if v > 5], [v for v in x if v > 0.6]
    row = [0] * (len(g) - len(column)) + column
    g[1] = row
    whole = [i for i in range(len(x)) if x[i] > 0.5]
    return row, sum(row), row[::-1], row + row, whole + floats, floats + whole, sorted(whole + floats)


def test_integers_or_floats() -> None:
    g = np.random.default_rng(0).integers(0, 20, (6, 6))
    for values in (g, g * 0, g.astype(np.int32)):
        for source in (0, 1):
            alike(shortest, values, source)
    alike(put_together, g, np.arange(6) * 0.5)
    alike(put_together, g * 0, np.arange(6) * 0.5)
    with pytest.raises(OverflowError, match="2\\*\\*53"):
        compile_it(shortest, target="cpu")((g + 1) * (1 << 55), 0)


def best_of_mixed(x: Any, at: int) -> Any:
    around = [-1, -1, -1]
    if at > 0:
        around[0] = x[at - 1]
    if at + 1 < len(x):
        around[1] = x[at + 1]
    return np.argmax(around), np.argmin(around), np.any(around), np.all(around)


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_the_order_of_ints_or_floats_has_one_type(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    for at in (0, 2, 4):
        alike(best_of_mixed, np.array([0.5, -3.0, np.nan, 0.0, 2.0]), at, target=target)
