"""Arrays that shrink together in a loop, results put where a ufunc's last argument says, sizes that must agree."""

# ruff: noqa: E501
from __future__ import annotations

import numpy as np

from tests.language.registry import case

rng = np.random.default_rng(9)
X, Y = rng.standard_normal((3, 4)), rng.standard_normal((3, 4))
SQUARE = X[:, :3] + 4 * np.eye(3)


@case(5, 4, 4)
@case(1, 1, 2)
@case(0, 3, 2)
def reshaped_and_filtered(n, m, steps):
    c = np.ones((n, m)) + np.arange(m)
    c = c.reshape(n * m)
    z = np.zeros(n * m)
    for _ in range(steps):
        z = z + c
        inside = abs(z) < 6
        z = z[inside]
        c = c[inside]
    return z, c


@case(9, 7, 30)
@case(2, 1, 3)
def escape_times(n, m, steps):
    xi, yi = np.mgrid[0:n, 0:m]
    c = np.linspace(-2, 1, n)[xi] + np.linspace(-1, 1, m)[yi] * 1j
    times = np.zeros(c.shape, dtype=np.int64)
    xi.shape = yi.shape = c.shape = n * m
    z = np.zeros(c.shape, np.complex128)
    for k in range(steps):
        if not len(z):
            break
        np.multiply(z, z, z)
        np.add(z, c, z)
        out = abs(z) > 2.0
        times[xi[out], yi[out]] = k + 1
        np.logical_not(out, out)
        z = z[out]
        xi, yi = xi[out], yi[out]
        c = c[out]
    return times.T


@case(X, Y)
def into_its_operands(a, b):
    np.add(a, b, a)
    np.multiply(a[1:], b[1:], b[:-1])
    c = a + b
    d = c
    np.negative(c, c)
    np.sqrt(np.abs(a), a)
    return c, d


@case(3, 4)
@case(-3, 39)
@case(1, 0)
@case(0, 0)
def powers(r, k):
    total = 0
    for i in range(k):
        total += r ** (i % 5)
    return r**k, total, [r ** (j % 3) for j in range(4)]


@case(3, 40)
@case(3, -1)
def power_of_a_float(r, k):
    return float(r) ** k


@case(SQUARE, Y[:, :3], True)
@case(SQUARE, Y[:, :3], False)
@case(SQUARE, Y[:, :2], False)
def solved(t, y, inverted):
    made = np.zeros((3, 3)) if inverted else np.zeros((3, y.shape[1]))
    if inverted:
        found = np.linalg.inv(t)
    else:
        found = np.linalg.solve(t, y)
    if inverted:
        found = -found
    made += found
    return made


@case((2, 3, 4))
def new_and_turned(shape):
    made = np.ndarray(shape, dtype=np.float32)
    made[:] = np.arange(4)
    return np.transpose(made, axes=(1, 0, 2)), np.transpose(made), made.transpose(2, 0, 1)


@case(SQUARE, 2)
def last_of_a_loop(a, n):
    for i in range(n):
        rest = a[i + 1:, 0]
        for j in range(n):
            below = a[j + 1:, i]
            block = np.full((j + 1, 2), a[i, j])
    return rest, below, block


GROWS = np.array([0.5, -0.0, np.nan, 3.0, np.inf, 0.6, -2.0, 3.1])


@case(GROWS, 40.0)
@case(GROWS[:1], 40.0)
@case(GROWS[3:4], 2.0)
def appended_until(x, limit):
    out = np.array([x[0]])
    while out[-1] < limit:
        out = np.append(out, out[-1] * 2 + 1)
    return out, np.sort(out)[::-1][:2], out[out > 2].sum()


@case(GROWS, 0.2)
@case(GROWS[:0], 0.2)
def appended_where(x, least):
    kept = np.zeros(0, x.dtype)
    for v in x:
        for w in (v, v + 1):
            if w > 0 and not np.any(np.abs(kept - w) < least):
                kept = np.append(kept, w)
    return kept, len(kept)


@case(np.array([4.0, 2.0, -1.0]), 0.1)
@case(np.array([-0.0]), -1.0)
def rows_put_below(x, tolerance):
    path = np.zeros((0, len(x)))
    steps = 0
    while np.abs(x).sum() > tolerance and steps < 9:
        path = np.vstack([path, x * 1.5])
        x = x * 0.5
        steps += 1
    return path, np.diff(path, axis=0), path.T @ path


@case(np.array([[0, 1, 1, 0], [0, 0, 0, 1], [1, 0, 0, 1], [0, 0, 0, 0]], bool), 0)
@case(np.zeros((1, 1), bool), 0)
def reached_in_order(edges, start):
    seen = np.zeros(len(edges), bool)
    seen[start] = True
    order = front = np.array([start])
    while len(front):
        front = np.flatnonzero(edges[front].any(axis=0) & ~seen)
        seen[front] = True
        order = np.concatenate([order, front])
    return order
