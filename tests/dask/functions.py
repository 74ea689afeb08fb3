"""Functions of arrays, and which of their first argument's axes may be cut: with how much overlap at each end."""

from __future__ import annotations

from typing import Any

import numpy as np

CASES: list[tuple[Any, tuple[Any, ...], dict[int, tuple[int, int]]]] = []
"""A function, its other arguments by shape or value, and the axes of its first argument that may be cut."""

TWO, ONE = (17, 14), (40,)


def _case(shape: tuple[int, ...], *others: Any, cut: dict[int, tuple[int, int]]) -> Any:
    def add(function: Any) -> Any:
        CASES.append((function, (shape, *others), cut))
        return function

    return add


@_case(TWO, cut={0: (0, 0), 1: (0, 0)})
def pointwise(x):
    return np.where(x > 0, np.sqrt(np.abs(x)), x) * 2 + 1


@_case(TWO, TWO, cut={0: (0, 0), 1: (0, 0)})
def of_two(x, y):
    return np.maximum(x, y) - x * y


@_case(TWO, (14,), cut={0: (0, 0), 1: (0, 0)})
def with_a_row(x, y):
    return x * y + 1


@_case(TWO, (17, 1), cut={0: (0, 0), 1: (0, 0)})
def with_a_column(x, y):
    return x * y + 1


@_case(TWO, cut={0: (0, 0)})
def standardised(x):
    return (x - x.mean(axis=1, keepdims=True)) / np.std(x, axis=1)[:, None]


@_case(TWO, cut={1: (0, 0)})
def along_columns(x):
    return np.cumsum(x, axis=0) - x.max(axis=0)


@_case(TWO, 3, cut={0: (3, 3), 1: (3, 3)})
def heat(u, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
    return u


@_case(ONE, 4, cut={0: (4, 4)})
def with_borders(u, steps):
    u = u.copy()
    for _ in range(steps):
        v = u.copy()
        v[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        v[0] = v[1]
        v[-1] = u[-2]
        u = v
    return u


@_case(ONE, cut={0: (1, 0)})
def from_the_left(x):
    out = x.copy()
    out[1:] -= x[:-1]
    return out


@_case(ONE, cut={0: (0, 2)})
def from_the_right(x):
    out = np.zeros_like(x)
    out[:-2] = x[2:] * x[1:-1]
    return out


@_case(ONE, cut={0: (1, 1)})
def gradient(x):
    return np.gradient(np.where(x > 0, x, 0)), x - 1


@_case(TWO, cut={0: (1, 1), 1: (1, 1)})
def edges(x):
    p = np.pad(x, 1, mode="reflect")
    return p[:-2, 2:] - p[:-2, :-2] + 2 * (p[1:-1, 2:] - p[1:-1, :-2]) + p[2:, 2:] - p[2:, :-2]


@_case(ONE, cut={0: (1, 1)})
def padded(x):
    p = np.pad(x, 1, mode="edge")
    return (p[:-2] + p[2:] + p[1:-1]) / 3


@_case(ONE, cut={0: (3, 2)})
def ends(x):
    out = x * 2
    out[:3] = 0
    out[-2:] = x[-1]
    return out


@_case(ONE, (5,), cut={0: (2, 2)})
def window_in_loops(x, w):
    out = np.zeros_like(x)
    for i in range(2, len(x) - 2):
        s = 0.0
        for k in range(5):
            s += x[i + k - 2] * w[k]
        out[i] = s
    return out


@_case(TWO, cut={0: (1, 1), 1: (1, 1)})
def stencil_in_loops(x):
    out = x.copy()
    for i in range(1, x.shape[0] - 1):
        for j in range(1, x.shape[1] - 1):
            out[i, j] = (x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1]) / 4
    return out


@_case(TWO, 0.5, cut={0: (0, 0)})
def recurrences(x, a):
    y = np.empty_like(x)
    for i in range(x.shape[0]):
        y[i, 0] = x[i, 0]
        for t in range(1, x.shape[1]):
            y[i, t] = a * y[i, t - 1] + x[i, t]
    return y


@_case(TWO, cut={0: (0, 0)})
def largest(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        s = 0.0
        for j in range(x.shape[1]):
            if x[i, j] > s:
                s = x[i, j]
        out[i] = s
    return out


@_case(TWO, cut={0: (0, 0)})
def medians(x):
    out = np.empty(len(x))
    for i, row in enumerate(x):
        out[i] = np.median(row) + row[0]
    return out


@_case(TWO, cut={0: (0, 0), 1: (0, 0)})
def escape(c):
    out = np.zeros(c.shape, dtype=np.int64)
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            z = 0.0
            for k in range(20):
                z = z * z + c[i, j]
                if abs(z) > 2:
                    out[i, j] = k
                    break
    return out


@_case((17, 3), (11, 3), cut={0: (0, 0)})
def distances(x, y):
    return np.sqrt(((x[:, None] - y[None]) ** 2).sum(axis=2))


@_case(TWO, (14, 5), (5,), cut={0: (0, 0)})
def layer(x, w, b):
    return np.maximum(x @ w + b, 0)


@_case(TWO, cut={0: (0, 0)})
def sorted_rows(x):
    return np.sort(x, axis=1)


@_case(TWO, cut={0: (0, 0)})
def named(x):
    return {"sum": x.sum(axis=1), "x": x + 1, "both": [x.min(axis=1), x]}


@_case((12, 9, 3), cut={0: (0, 0), 1: (0, 0)})
def grey(x):
    return 0.3 * x[..., 0] + 0.6 * x[..., 1] + 0.1 * x[..., 2]


@_case(TWO, cut={0: (0, 0)})
def by_place(x):
    return x * np.arange(x.shape[1])


@_case((17, 1), cut={0: (0, 0)})
def of_one_column(x):
    return x * 2 + x[:, 0][:, None]


@_case(TWO, cut={0: (2, 2), 1: (0, 0)})
def two_passes(x):
    y = np.zeros_like(x)
    y[1:-1] = (x[2:] + x[:-2]) / 2
    z = np.zeros_like(x)
    z[1:-1] = y[2:] - y[:-2]
    return z


@_case(ONE, cut={0: (0, 0)})
def looked_up(x):
    table = np.array([1.0, 2.0, 4.0, 8.0])
    return table[np.abs(x).astype(np.int64) % 4]


@_case(ONE, 2, cut={0: (2, 2)})
def new_arrays(x, n):
    x = x.copy()
    for _ in range(n):
        new = x.copy()
        for i in range(1, len(x) - 1):
            new[i] = (x[i - 1] + x[i] + x[i + 1]) / 3
        x = new
    return x


# ---- nothing can be cut ----------------------------------------------------------------------------------------------


@_case(ONE, cut={})
def in_order(x):
    x = x.copy()
    for i in range(1, len(x)):
        x[i] = x[i - 1] * 0.5 + x[i]
    return x


@_case(ONE, cut={})
def centred(x):
    return x - x.mean()


@_case(ONE, cut={})
def from_the_first(x):
    return x - x[0]


@_case(ONE, cut={})
def turned(x):
    return x[::-1] * 2


@_case(ONE, cut={})
def rolled(x):
    return np.roll(x, 1) - x


@_case(ONE, cut={})
def shorter(x):
    return np.diff(x)


@_case((14, 14), cut={})
def diagonal(x):
    return x + np.diag(x)


@_case(ONE, cut={})
def places(x):
    return x + np.arange(len(x))


@_case(ONE, cut={})
def of_length(x):
    return x / len(x)


@_case(ONE, cut={})
def until_small(x):
    x = x.copy()
    while np.abs(x).max() > 1:
        x[1:-1] = (x[2:] + x[:-2]) / 4
        x[0] = x[-1] = 0
    return x


@_case(ONE, cut={})
def kept(x):
    return x[x > 0]


@_case(ONE, cut={})
def carried(x):
    out = np.zeros_like(x)
    last = 0.0
    for i in range(len(x)):
        if x[i] > 0:
            last = x[i]
        out[i] = last
    return out


@_case(ONE, cut={})
def counted(x):
    out = np.zeros_like(x)
    count = 0
    for i in range(len(x)):
        if x[i] > 0:
            count += 1
        out[i] = x[i] if count < 5 else 0.0
    return out


@_case(ONE, cut={})
def left_early(x):
    out = np.zeros_like(x)
    for i in range(len(x)):
        if x[i] > 1:
            break
        out[i] = x[i]
    return out


@_case(ONE, cut={})
def shared_buffer(x):
    out = np.zeros_like(x)
    held = np.zeros(2)
    for i in range(len(x)):
        held[i % 2] = x[i]
        out[i] = held[0] - held[1]
    return out


@_case(ONE, cut={})
def halves(x):
    out = x.copy()
    out[: len(x) // 2] = 0
    return out


@_case(ONE, cut={})
def mirrored_ends(x):
    out = x.copy()
    out[0] = x[-1]
    return out


@_case(ONE, cut={})
def every_second(x):
    out = x.copy()
    out[::2] = 0
    return out
