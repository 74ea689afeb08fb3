"""NumPy functions that take each form a kernel can have, with arguments: what `test_forms` runs against NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

CASES: list[tuple[Callable[..., Any], list[tuple[Any, ...]], float]] = []
"""A function, argument lists for it, and the tolerance for floats."""

_RNG = np.random.default_rng(1)


def vector(n: int, dtype: str = "float32") -> Any:
    return _RNG.standard_normal(n).astype(dtype)


def matrix(n: int, m: int, dtype: str = "float32") -> Any:
    return _RNG.standard_normal((n, m)).astype(dtype)


SPECIAL = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1.5, -2.5, 1e-42, 3e38], np.float32)
VECTORS = [(vector(1000),), (vector(37, "float64"),), (vector(0),), (np.concatenate([SPECIAL, vector(40)]),)]
MATRICES = [(matrix(17, 130),), (matrix(5, 7, "float64"),), (matrix(300, 3),)]


def case(args: list[tuple[Any, ...]], tolerance: float = 0.0) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES.append((function, args, tolerance))
        return function

    return register


# --- elements


@case([(vector(1003), vector(1003))])
def words_and_rest(x, y):
    return np.where(x > y, x, y * 2), -x


@case([(matrix(9, 64), vector(64), vector(9)), (matrix(9, 67), vector(67), vector(9))])
def rows_of_words(x, g, b):
    return x * g + b[:, None]


@case([(vector(100),)])
def shifted(x):
    y = x.copy()
    y[1:-1] = (x[:-2] + x[1:-1] + x[2:]) / 3
    return y, x[::-1] * 2, np.diff(x)


@case([(matrix(20, 30),)])
def turned(x):
    return x.T + 1, x[::2, ::-3]


@case(
    [
        (np.array([-(2**31), 5, 7], np.int32), np.array([-1, 0, -2], np.int32)),
        (np.array([-128, 5, 7], np.int8), np.array([-1, 3, -2], np.int8)),
        (np.array([-(2**63), 2**62], np.int64), np.array([-1, 3], np.int64)),
        (np.array([200, 5], np.uint8), np.array([100, 7], np.uint8)),
    ]
)
def integers(x, y):
    return x // y, x % y, x * y, x - y, x + y, -x, abs(x)


@case([(np.repeat(SPECIAL, 9), np.tile(SPECIAL, 9))])
def special(x, y):
    return np.maximum(x, y), np.minimum(x, y), np.fmax(x, y), x < y, x == y, np.sign(x), np.isnan(x), np.signbit(x)


@case([(np.arange(10.0), _RNG.integers(-10, 10, 20)), (np.arange(10.0), _RNG.integers(-10, 12, 20))])
def gathered(x, index):
    return x[index]


# --- reductions


@case(VECTORS, 1e-6)
def sums(x):
    return x.sum(), (x > 0).any(), (x > -5).all(), (x > 0).sum()


@case([v for v in VECTORS if v[0].size])
def extremes(x):
    return x.max(), x.min(), x.argmax(), x.argmin()


@case(MATRICES, 1e-5)
def by_row(x):
    return x.sum(axis=1), x.max(axis=1), x.argmin(axis=1), (x > 0).any(axis=1)


@case(MATRICES, 1e-5)
def by_column(x):
    return x.sum(axis=0), x.min(axis=0), x.var(axis=0)


@case(MATRICES, 1e-5)
def both_ways(x):
    return x.sum(axis=1), x.sum(), x.max()


@case([(matrix(30, 3), matrix(20, 3)), (matrix(6, 64), matrix(7, 64))], 1e-5)
def distances(a, b):
    return ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=-1)


# --- filters and scans


@case(VECTORS)
def filtered(x):
    return x[x > 0] * 2 + 1, np.nonzero(x > 0.5)[0]


@case(MATRICES)
def filtered_rows(x):
    return x[x[:, 0] > 0]


@case(VECTORS, 1e-5)
def running(x):
    return np.cumsum(x)


@case([(_RNG.integers(-9, 9, 2000),), (np.array([-(2**63), -1, 5]),)])
def running_integers(x):
    return np.cumsum(x)


@case(MATRICES, 1e-5)
def running_rows(x):
    return np.cumsum(x, axis=1), np.cumsum(x, axis=0)


@case(VECTORS)
def listed(x):
    out = []
    for i in range(len(x)):
        if x[i] > 0:
            out.append(i)
    return out


# --- loops


@case([(vector(50), 7), (vector(1300), 3)], 1e-5)
def relaxed(x, steps):
    for _ in range(steps):
        x[1:-1] = 0.5 * (x[:-2] + x[2:])


@case([(abs(matrix(70, 70)), abs(vector(70)), 5)], 1e-4)
def powers(a, x, steps):
    for _ in range(steps):
        x = (a * x).sum(axis=1)
        x = x / np.sqrt((x * x).sum())
    return x


@case([(vector(40), vector(40)), (vector(1), vector(1)), (vector(1300)[:90], vector(90))], 1e-4)
def sums_and_elements(t, x):
    for k in range(1, x.shape[0]):
        error = 0.0
        for i in range(k):
            error += t[k - i] * x[i]
        for i in range(k + 1):
            x[i] = x[i] * 0.5 + error * t[i]
    return x


@case([(matrix(20, 33),)], 1e-5)
def recurrence_in_rows(x):
    y = np.zeros_like(x)
    y[:, 0] = x[:, 0]
    for t in range(1, x.shape[1]):
        y[:, t] = 0.5 * y[:, t - 1] + x[:, t]
    return y


@case([(vector(200),)], 1e-5)
def recurrence(x):
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = 0.5 * y[i - 1] + x[i]
    return y


@case([(matrix(200, 2), 0.3)])
def greedy(points, radius):
    keep = []
    alive = np.ones(len(points), dtype=bool)
    for i in range(len(points)):
        if not alive[i]:
            continue
        keep.append(i)
        distance = ((points - points[i]) ** 2).sum(axis=1)
        alive[distance < radius] = False
    return np.array(keep, dtype=np.int64)


@case([(matrix(100, 2), matrix(4, 2), 3)], 1e-5)
def clusters(x, centers, steps):
    for _ in range(steps):
        distance = ((x[:, None, :] - centers[None, :, :]) ** 2).sum(axis=-1)
        nearest = distance.argmin(axis=1)
        for k in range(centers.shape[0]):
            mine = nearest == k
            if mine.any():
                centers[k] = x[mine].mean(axis=0)
    return centers


@case([(vector(40),)])
def selection_sort(x):
    y = x.copy()
    for i in range(len(y)):
        j = i + np.argmin(y[i:])
        held = y[i]
        y[i] = y[j]
        y[j] = held
    return y


@case([(vector(10), _RNG.integers(-10, 10, 20)), (vector(10), np.array([3, 11, 12]))], 1e-6)
def checked_in_order(x, index):
    total = 0.0
    for i in range(len(index)):
        total += x[index[i]]
    return total


@case([(27,), (1,)])
def collatz(k):
    steps = 0
    while k != 1:
        if k % 2 == 0:
            k = k // 2
        else:
            k = 3 * k + 1
        steps += 1
    return steps


# --- work shared by threads


@case([(matrix(3, 150, "float64"),), (matrix(2, 5, "float64"),), (matrix(2, 600, "float64"),)], 1e-13)
def row_statistics(x):
    y = x - x.max(axis=1, keepdims=True)
    e = np.exp(y)
    return e / e.sum(axis=1, keepdims=True), (y * y).sum(axis=1), e.argmin(axis=1)


@case([(matrix(70, 11, "float64"),), (matrix(3, 40, "float64"),)], 1e-12)
def column_statistics(x):
    return x.max(axis=0), x.argmin(axis=0), x.mean(axis=0), ((x[:, None] - x[None]) ** 2).sum(axis=0).max()


@case([(vector(70, "float64"),), (vector(9, "float64"),)])
def sums_between_elements(r):
    y, z = r * 0.1, np.zeros(len(r))
    for k in range(1, len(r)):
        total, least = 0.0, np.inf
        for i in range(k):
            total += r[k - i] * y[i]
            least = min(least, y[i])
        for i in range(k):
            z[i] = y[i] + 0.01 * total * y[k - i - 1]
        for i in range(k):
            y[i] = z[i]
        y[k] = least
    return y


@case(
    [
        (np.arange(40.0), np.arange(30), np.arange(25)),
        (np.arange(40.0), np.arange(30) + 11, np.arange(25)),
        (np.arange(40.0), np.arange(30) + 11, np.arange(25) + 30),
        (np.arange(40.0), np.arange(30), np.arange(25) - 31),
    ]
)
def gathered_twice(x, i, j):
    y = x[i] * 2
    return (y[j] + 1).reshape(5, 5).max(axis=0), y


@case([(np.arange(1500).reshape(30, 50) % 11,), (np.arange(1500).reshape(30, 50) % 12,)])
def counts_of_blocks(x):
    h = np.zeros(11, np.int64)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            h[x[i, j]] += 2
    return h


@case([(vector(600, "float64"), 40), (np.where(np.arange(600) == 411, np.nan, 1.5), 40)])
def checked_points(x, n):
    out, rows = np.zeros((len(x) // n, n)), np.zeros(len(x) // n)
    for i in range(len(x) // n):
        for j in range(n):
            out[i, j] = int(x[i * n + j] * 10) + i
    for i in range(len(rows)):
        rows[i] = 2.0 * i
    return out, rows


@case([(matrix(3, 18, "float64"), matrix(3, 20, "float64")), (matrix(2, 17, "float64"), matrix(2, 9, "float64"))])
def tables_of_rows(x, y):
    out = np.empty(len(x))
    for s in range(len(x)):
        d = np.full((x.shape[1] + 1, y.shape[1] + 1), np.inf)
        d[0, 0] = 0.0
        for i in range(1, x.shape[1] + 1):
            for j in range(1, y.shape[1] + 1):
                d[i, j] = abs(x[s, i - 1] - y[s, j - 1]) + min(d[i - 1, j], d[i, j - 1], d[i - 1, j - 1])
        out[s] = d[x.shape[1], y.shape[1]]
    return out


@case([(matrix(20, 9, "float64"), 2)])
def directions(x, steps):
    for _ in range(steps):
        new = np.zeros((4, *x.shape))
        for k in range(4):
            t = x * (k + 1)
            t[0] = k
            new[k] = np.roll(t, k - 1, axis=0) + t[::-1]
        x = new[0] + new[1] * new[2] - new[3]
    return x


@case([(vector(2500, "float64"), 0.3), (vector(1024, "float64"), 0.5), (vector(1, "float64"), 0.5)])
def smoothed_twice(x, a):
    y, trend = x.copy(), np.empty(len(x))
    level = x[0]
    for t in range(1, len(x)):
        y[t] = a * y[t] + (1 - a) * y[t - 1]
    for t in range(len(x)):
        before = level
        level = max(a * y[t] + (1 - a) * level, -0.5)
        trend[t] = level - before
    return y, trend, level


@case([(matrix(3, 1400, "float64"), -0.4), (matrix(5, 6, "float64"), 0.5), (matrix(4, 1, "float64"), 1.0)])
def averaged_rows(x, a):
    y, level, found = x.copy(), x[0, 0] * 0, np.zeros(x.shape[1])
    for i in range(x.shape[0]):
        for t in range(2, x.shape[1]):
            y[i, t] = x[i, t] + a * y[i, t - 1] - 0.3 * y[i, t - 2]
    for t in range(x.shape[1]):
        if x[0, t] > a:
            level = level + 0.1 * (y[0, t] - level)
        else:
            level = level * 0.9
        found[t] = level
    return y, found


@case([(matrix(9, 23, "float64"),), (matrix(33, 2, "float64"),), (matrix(1, 1, "float64"),)])
def table_of_sums(x):
    n, m = x.shape
    s, most = np.zeros((n + 1, m + 1)), np.zeros((n + 1, m))
    for i in range(n):
        row, best = 0.0, x[i, 0]
        for j in range(m):
            row += x[i, j]
            best = max(best, x[i, j])
            s[i + 1, j + 1] = s[i, j + 1] + row
            twice = 2 * best
            most[i + 1, j] = twice - most[i, j] * x[i, j]
    return s, most


@case([(matrix(20, 20, "float64") @ matrix(20, 20, "float64").T, 1e-6), (matrix(3, 3, "float64"), 1.0)], 1e-9)
def strongest(a, enough):
    v, size = np.ones(len(a)) / len(a), 0.0
    for _ in range(50):
        w = a @ v
        new = np.sqrt((w * w).sum())
        v = w / new
        if abs(new - size) < enough:
            break
        size = new
    return v


_WORDS = np.arange(90) % 7, np.arange(70) ** 2 % 5
_SHORTER = [(_WORDS[0][:n], _WORDS[1][:m]) for n, m in ((33, 20), (3, 70), (90, 0))]
_SERIES = np.array([np.nan, *vector(19)]), np.append(vector(25), np.inf)


@case([_WORDS, *_SHORTER])
def rows_in_turn(a, b):
    m = len(b)
    last, row = np.arange(m + 1), np.zeros(m + 1, np.int64)
    for i in range(len(a)):
        row[0] = i + 1
        for j in range(m):
            cost = 0 if a[i] == b[j] else 1
            row[j + 1] = min(last[j + 1] + 1, row[j] + 1, last[j] + cost)
        last, row = row, last
    return last[m], last, row


@case([(vector(41, "float64"), vector(30, "float64")), _SERIES])
def warped(x, y):
    last, row = np.full(len(y) + 1, np.inf), np.empty(len(y) + 1)
    last[0] = 0.0
    for i in range(len(x)):
        row[0] = np.inf
        for j in range(len(y)):
            d = abs(x[i] - y[j])
            if d > 2.0:
                row[j + 1] = d + min(last[j], last[j + 1])
            else:
                row[j + 1] = d + min(last[j], last[j + 1], row[j])
        last, row = row, last
    return last[len(y)]


@case([_WORDS, (_WORDS[0][:21], _WORDS[1])])
def rows_in_part(a, b):
    last, row = np.zeros(len(b) + 1, np.int64), np.ones(len(b) + 1, np.int64)
    for i in range(len(a)):  # the first elements stay those of two rows ago
        for j in range(len(b)):
            row[j + 1] = max(last[j] + (a[i] == b[j]), last[j + 1], row[j])
        last, row = row, last
    return last, row


@case([(vector(90, "float64"), 60), (np.array([np.nan, np.inf, -0.0, 2.0] * 12), 40), (vector(40, "float64"), 1)])
def tree_of_options(x, steps):
    v, up = x.copy(), np.zeros(len(x), np.int64)
    up[0] = 1
    for i in range(steps - 1, -1, -1):
        for j in range(i + 1):
            hold = 0.4 * v[j + 1] + 0.6 * v[j]
            v[j] = max(hold, x[i] - j)
    for i in range(1, steps):
        for j in range(i, 0, -1):
            up[j] = up[j] + up[j - 1]
    return v, up


@case([(vector(200, "float64"), 1, 0.2), (vector(200, "float64"), 0, 0.2), (vector(40), 13, 0.5), (vector(3), 2, 0.5)])
def moved_up(x, by, least):
    for i in range(len(x) - by):
        if x[i + by] > least:
            x[i] = x[i + by] * 2
    for i in range(len(x) - 1, by - 1, -1):
        x[i] = x[i] + x[i - by]
    return x


@case([(matrix(31, 23, "float64"),), (matrix(17, 40, "float64"),), (matrix(3, 40, "float64"),)])
def swept_back(d):
    n, m = d.shape
    for i in range(n - 1, -1, -1):
        for j in range(m - 1, -1, -1):
            if i < n - 1:
                d[i, j] = min(d[i, j], d[i + 1, j] + 0.3)
            if j < m - 1:
                d[i, j] = min(d[i, j], d[i, j + 1] + 0.2)
    for i in range(1, n):
        for j in range(m - 2, -1, -1):
            d[i, j] = max(d[i, j], d[i - 1, j + 1] - 0.3, d[i, j + 1] - 0.1)
    return d


# --- results


@case([(vector(9),)])
def views(x):
    return x, x[1:-1], x[::-2], x * 1, x.size, 2.5, None


@case([(vector(12), vector(12))])
def sorted_by(x, y):
    return np.sort(x), y[np.argsort(x)]


@case([(matrix(3, 150, "float64"),), (matrix(1, 1, "float64"),), (matrix(0, 4, "float64"),)], 1e-12)
def long_rows(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    return p[:, ::-1] * (p - p.mean(axis=1, keepdims=True)), x.argmax(axis=1)
