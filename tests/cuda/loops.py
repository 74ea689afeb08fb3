"""Plain loops whose named axes may run in any order: what `test_loops` runs in each form that a kernel can have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

CASES: list[tuple[Callable[..., Any], list[str], list[tuple[Any, ...]], float]] = []
"""A function, the variables of its parallel loops, argument lists for it, and the tolerance for floats."""

_RNG = np.random.default_rng(5)


def floats(*shape: int) -> Any:
    return _RNG.standard_normal(shape)


def below(high: int, *shape: int, low: int = 0) -> Any:
    return _RNG.integers(low, high, shape)


def bad(count: int, high: int, *at: int) -> Any:
    """Subscripts of a vector of `high` elements, out of range at the positions `at`."""
    found = below(high, count, low=-high)
    found[list(at)] = [high + 1, -high - 1, high][: len(at)]
    return found


def parallel(
    axes: str, *calls: tuple[Any, ...], tolerance: float = 0.0
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES.append((function, axes.split(), list(calls), tolerance))
        return function

    return register


@parallel("i j", (floats(7, 40), floats(40, 33)), (floats(1, 1), floats(1, 1)), (floats(0, 3), floats(3, 4)))
def matmul(a, b):
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s
    return c


@parallel("i j", (floats(33, 33),), (floats(70, 70),))
def lu(a):
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]


@parallel("i j", (np.abs(floats(40, 40)),), (np.abs(floats(3, 3)),))
def floyd(d):
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if d[i, k] + d[k, j] < d[i, j]:
                    d[i, j] = d[i, k] + d[k, j]


@parallel("b", (floats(20, 300),), (floats(3, 1),), (floats(5, 70)[::2, ::-3],))
def lanes(x):
    y = np.empty_like(x)
    for b in range(x.shape[1]):
        s = 0.0
        for t in range(x.shape[0]):
            s = 0.5 * s + x[t, b]
            y[t, b] = s
    return y


@parallel("i", (floats(50), below(50, 300, low=-50)), (floats(50), bad(700, 50, 433, 600)))
def gather(x, idx):
    y = np.empty(idx.shape)
    for i in range(idx.shape[0]):
        t = x[idx[i]]
        if t > 0:
            t = t * 2
        y[i] = t
    return y


@parallel("i", (floats(50), below(50, 300, 4, low=-50)), (floats(50), bad(1200, 50, 433, 1000).reshape(300, 4)))
def gather_inner(x, idx):
    y = np.zeros(idx.shape[0])
    for i in range(idx.shape[0]):
        s = 0.0
        for j in range(idx.shape[1]):
            s += x[idx[i, j]]
        y[i] = s
    return y


@parallel("i j", (floats(50), below(50, 30, 40, low=-50)), (floats(50), bad(1200, 50, 433, 1000).reshape(30, 40)))
def gather_two(x, idx):
    y = np.zeros(idx.shape)
    for i in range(idx.shape[0]):
        for j in range(idx.shape[1]):
            y[i, j] = x[idx[i, j]]
    return y


@parallel("i", (floats(300),))
def skipping(x):
    y = np.zeros_like(x)
    for i in range(len(x)):
        if x[i] < 0:
            continue
        y[i] = np.sqrt(x[i])
    return y


@parallel(
    "i j",
    (floats(40),),
)
def triangular(x):
    n = len(x)
    a = np.zeros((n, n))
    for i in range(n):
        for j in range(i, n):
            a[i, j] = x[i] * x[j]
    return a


@parallel(
    "i j",
    (floats(20, 31), 4),
)
def jacobi(x, steps):
    y = x.copy()
    for _ in range(steps):
        for i in range(1, x.shape[0] - 1):
            for j in range(1, x.shape[1] - 1):
                y[i, j] = 0.25 * (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1])
        for i in range(1, x.shape[0] - 1):
            for j in range(1, x.shape[1] - 1):
                x[i, j] = y[i, j]
    return y


@parallel("i", (300,), (0,), (1,))
def collatz(n):
    steps = np.zeros(n, dtype=np.int64)
    for i in range(n):
        k = i + 1
        s = 0
        while k != 1:
            if k % 2 == 0:
                k = k // 2
            else:
                k = 3 * k + 1
            s += 1
            if s > 100:
                break
        steps[i] = s
    return steps


@parallel("i", (floats(300), 3), (floats(301), -2), (floats(10), -20))
def stepped(x, k):
    y = np.zeros_like(x)
    for i in range(0, len(x), 3):
        y[i] = x[i] * 2
    for i in range(len(x) - 1, -1, -2):
        y[i] += x[i]
    return y


@parallel("i", (floats(300),))
def used_twice(x):
    y = np.zeros_like(x)
    for i in range(len(x)):
        t = x[i]
        if t < 0:
            t = -t
        y[i] = t
    z = np.zeros_like(x)
    for i in range(len(x)):
        t = y[i]
        if t > 1:
            t = 1.0
        z[i] = t
    return y, z


@parallel("i", (floats(30, 50), below(30, 17)), tolerance=1e-12)
def permuted_rows(x, idx):
    y = np.zeros((17, x.shape[1]))
    for i in range(17):
        y[i] = x[idx[i]] * 2
        s = y[i].sum()
        if s > 0:
            y[i] /= s
    return y


@parallel(
    "i",
    (
        below(9, 500),
        10,
    ),
)
def histogram(x, bins):
    h = np.zeros(bins, dtype=np.int64)
    for i in range(bins):
        for j in range(len(x)):
            if x[j] == i:
                h[i] += 1
    return h


@parallel("b", (below(30, 25, 12), below(30, 25, 13)))
def levenshtein_batch(a, c):
    out = np.zeros(a.shape[0], dtype=np.int64)
    for b in range(a.shape[0]):
        row = np.zeros(c.shape[1] + 1, dtype=np.int64)
        for j in range(c.shape[1] + 1):
            row[j] = j
        for i in range(a.shape[1]):
            before = row[0]
            row[0] = i + 1
            for j in range(c.shape[1]):
                cost = before if a[b, i] == c[b, j] else before + 1
                before = row[j + 1]
                row[j + 1] = min(cost, row[j] + 1, before + 1)
        out[b] = row[c.shape[1]]
    return out


@parallel("i", (floats(37, 5).astype(np.float32),))
def first_positive(x):
    out = np.full(x.shape[0], -1, dtype=np.int32)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > 0.3:
                out[i] = j
                break
    return out


@parallel(
    "i",
    (floats(30, 50), below(30, 17)),
    (floats(30, 5000), below(30, 17)),
    (floats(30, 50), bad(40, 30, 17, 25)),
    tolerance=1e-12,
)
def rows_gathered(x, idx):
    y = np.zeros((len(idx), x.shape[1]))
    for i in range(len(idx)):
        y[i] = x[idx[i]] * 2
    return y


@parallel("i", (floats(30, 50), below(30, 17), 0.5), (floats(30, 50), bad(40, 30, 17, 25), 0.0), tolerance=1e-12)
def rows_gathered_sometimes(x, idx, limit):
    y = np.zeros((len(idx), x.shape[1]))
    for i in range(len(idx)):
        if x[i % 7, 0] > limit:
            y[i] = x[idx[i]] * 2
        else:
            y[i] = -1
    return y


@parallel("i", (floats(30, 50), 0.5), tolerance=1e-12)
def rows_skipped(x, limit):
    y = np.zeros_like(x)
    for i in range(x.shape[0]):
        if x[i, 0] > limit:
            continue
        y[i] = x[i] - x[i].max()
    return y


@parallel("i", (floats(30, 50), 3, 0.5), tolerance=1e-12)
def rows_skipped_in_steps(x, steps, limit):
    for _ in range(steps):
        for i in range(x.shape[0]):
            if x[i, 0] > limit:
                continue
            x[i] = x[i] - x[i].max()


@parallel("i", (floats(300), 4))
def private_in_steps(x, steps):
    y = np.zeros_like(x)
    for _ in range(steps):
        for i in range(len(x)):
            v = x[i]
            if v < 0:
                v = -v * 0.5
            y[i] = v
        for i in range(1, len(x)):
            v = y[i - 1] + y[i]
            if v > 1:
                v = 1 / v
            x[i] = v - 0.3
    return y


@parallel("i", (floats(300), below(300, 300), 4), (floats(300), bad(300, 300, 77, 200), 2))
def checked_in_steps(x, idx, steps):
    y = np.zeros_like(x)
    for _ in range(steps):
        for i in range(len(x)):
            k = idx[i]
            s = 0.0
            for j in range(3):
                s += x[(k + j) // 2 * 2]
            y[i] = s
        for i in range(len(x)):
            x[i] = y[i] * 0.3
    return y


@parallel("i", (below(60, 60), 25), (bad(60, 60, 41), 25))
def chase(nxt, limit):
    out = np.zeros(len(nxt), dtype=np.int32)
    for i in range(len(nxt)):
        k = i
        count = 0
        while nxt[k] != i and count < limit:
            k = nxt[k]
            count += 1
        out[i] = count
    return out


@parallel("i", (below(2, 60, 7) > 0,))
def any_true(m):
    out = np.zeros(m.shape[0], dtype=bool)
    for i in range(m.shape[0]):
        found = False
        for j in range(m.shape[1]):
            if m[i, j]:
                found = True
                break
        out[i] = found
    return out


@parallel("i", (floats(200)[::3], floats(100)[::-2]))
def strided_in_place(x, y):
    for i in range(1, min(len(x), len(y))):
        x[i] = x[i] + y[i - 1]


@parallel("i", (floats(60, 41), 2), tolerance=1e-12)
def rows_of_warps(x, steps):
    for _ in range(steps):
        for i in range(x.shape[0]):
            s = 0.0
            if x[i, 0] > 0:
                s = x[i, 1]
            m = x[i].max() + s
            x[i] = x[i] / m
    return x


@parallel("i", (floats(50), below(50, 300, low=-50)), (floats(50), bad(700, 50, 433, 600)), tolerance=1e-12)
def gathered_sum(x, idx):
    return x[idx].sum(), x[idx].max()


@parallel("i j", (floats(5, 6), floats(5, 6)))
def conditional_private(x, y):
    out = np.zeros_like(x)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            if x[i, j] > 0:
                t = x[i, j]
                u = 1
            elif y[i, j] > 0:
                t = y[i, j]
                u = 2
            else:
                t = 0.5
                u = 3
            out[i, j] = t * u
    return out


@parallel(
    "i",
    (floats(40), below(40, 40)),
)
def memory_of_its_own(x, idx):
    out = np.zeros((len(x), 40))
    for i in range(len(x)):
        t = np.zeros(40)
        for j in range(40):
            t[j] = x[(i + j) % len(x)]
        for j in range(40):
            out[i, j] = t[idx[j]]
    return out


@parallel("i j k", (floats(3, 4, 5),), (floats(3, 4, 5)[::-1, :, ::2],), (floats(3, 40, 50),))
def three_deep(x):
    y = np.zeros((x.shape[2], x.shape[1], x.shape[0]))
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            for k in range(x.shape[2]):
                y[k, j, i] = x[i, j, k] + i * 100 + j * 10 + k
    return y


@parallel("b j", (floats(5, 30, 40), floats(5, 40)), (floats(2, 3, 300), floats(2, 300)))
def steps_in_rows(x, h):
    for b in range(x.shape[0]):
        for t in range(x.shape[1]):
            for j in range(x.shape[2]):
                h[b, j] = 0.5 * h[b, j] + x[b, t, j]
            s = h[b, 0]
            if s > 0:
                for j in range(x.shape[2]):
                    h[b, j] -= 0.1 * s


@parallel("b", (floats(5, 30, 40), floats(5, 40)), (floats(2, 3, 300), floats(2, 300)), tolerance=1e-12)
def whole_rows_in_steps(x, h):
    out = np.zeros((x.shape[0], x.shape[1]))
    for b in range(x.shape[0]):
        state = h[b].copy()
        for t in range(x.shape[1]):
            state = np.tanh(state * 0.5 + x[b, t])
            out[b, t] = state.max()
        h[b] = state
    return out


@parallel(
    "b",
    (floats(5, 30, 40), below(40, 5, 30)),
    (floats(5, 30, 40), bad(150, 40, 77, 130).reshape(5, 30)),
    tolerance=1e-12,
)
def checked_rows_in_steps(x, idx):
    out = np.zeros((x.shape[0], x.shape[2]))
    for b in range(x.shape[0]):
        for t in range(x.shape[1]):
            k = idx[b, t]
            out[b] = out[b] * 0.5 + x[b, t] * x[b, t, k]
    return out


@parallel(
    "b",
    (floats(5, 30, 40), below(30, 5, 40)),
    (floats(5, 30, 40), bad(200, 30, 77, 178).reshape(5, 40)),
    tolerance=1e-12,
)
def checked_elements_of_rows(x, idx):
    out = np.zeros((x.shape[0], x.shape[2]))
    for b in range(x.shape[0]):
        m = x[b, 0].max()
        for j in range(x.shape[2]):
            out[b, j] = x[b, idx[b, j], j] * m
    return out


@parallel("b", (floats(5, 30, 40),), tolerance=1e-12)
def viterbi_like(x):
    out = np.zeros((x.shape[0], x.shape[2]))
    for b in range(x.shape[0]):
        t = 0
        while t < x.shape[1]:
            m = out[b].max()
            if m > 3:
                t += 5
                continue
            out[b] = np.maximum(out[b], m * 0.5) + x[b, t]
            t += 1
    return out


@parallel(
    "i j",
    (floats(40), below(40, 40)),
)
def lists_in_rows(x, idx):
    out = np.zeros((len(x), 40))
    for i in range(len(x)):
        t = np.zeros(40)
        for j in range(40):
            t[j] = x[(i + j) % len(x)]
        for j in range(40):
            out[i, j] = t[idx[j]]
    return out


@parallel(
    "i j",
    (floats(12, 40),),
)
def turned_in_rows(x):
    out = np.zeros((len(x), 40))
    for i in range(len(x)):
        t = np.zeros(40)
        for j in range(40):
            t[j] = x[i, j] * 2
        for j in range(40):
            out[i, j] = t[39 - j]
    return out


@parallel(
    "i j",
    (floats(12, 40), 3),
)
def turned_in_warps(x, steps):
    for _ in range(steps):
        for i in range(len(x)):
            t = np.zeros(40)
            for j in range(40):
                t[j] = x[i, j] * 2
            for j in range(40):
                x[i, j] = t[39 - j]


@parallel(
    "i j",
    (floats(20, 31), floats(20, 31), 3),
)
def shifted_ranges(x, y, steps):
    for _ in range(steps):
        for i in range(1, x.shape[0]):
            for j in range(1, x.shape[1]):
                y[i, j] = x[i, j] * 0.5
        for i in range(x.shape[0] - 1):
            for j in range(x.shape[1] - 1):
                x[i, j] = y[i, j] + 1


@parallel(
    "i j",
    (floats(20, 31),),
)
def growing_ranges(x):
    for k in range(1, min(x.shape[0], x.shape[1])):
        for i in range(k):
            for j in range(k):
                x[i, j] = x[i, j] * 0.5 + 1


@parallel(
    "i j",
    (floats(20, 64), 3),
)
def shifted_rows(x, steps):
    for _ in range(steps):
        for i in range(x.shape[0]):
            m = x[i].max()
            x[i] = x[i] - m
        for i in range(3, x.shape[0]):
            m = x[i].min()
            x[i] = x[i] * m


@parallel(
    "i",
    (floats(1000), 3),
)
def shifted_elements(x, steps):
    for k in range(steps):
        for i in range(len(x)):
            x[i] = x[i] - 1
        for i in range(k + 3, len(x)):
            x[i] = x[i] * 0.5
        for i in range(len(x) - 1, k, -1):
            x[i] = x[i] + 0.5
        for i in range(k, len(x), 3):
            x[i] = x[i] + 0.5


@parallel("i", (floats(60, 40), floats(60)), tolerance=1e-12)
def skipped_in_branches(x, y):
    out = np.zeros_like(x)
    for i in range(x.shape[0]):
        if y[i] > 0.5:
            out[i] = x[i] * 2
            continue
        s = y[i]
        if s > 0:
            if s > 0.2:
                continue
            s = s * 3
        else:
            s = -s
            if x[i, 0] > 0:
                out[i] = -1
                continue
            out[i] = x[i].max()
        out[i] += s
    return out


@parallel("i", (floats(60, 40), floats(60)), tolerance=1e-12)
def skipped_otherwise(x, y):
    out = np.zeros_like(x)
    for i in range(x.shape[0]):
        if y[i] > 0:
            out[i] = x[i] - x[i].min()
        else:
            continue
        if y[i] > 1:
            continue
        out[i] *= y[i]
    return out
