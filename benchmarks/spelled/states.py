"""States that steps change: motion, escape, paths in graphs."""

from __future__ import annotations

import numpy as np

from spelled.registry import inputs, spelling

# --- shortest paths


@inputs("shortest paths")
def _(rng):
    return (rng.random((200, 200)) * 10,)


@spelling("shortest paths")
def paths_loops(d):
    d = d.copy()
    for k in range(len(d)):
        for i in range(len(d)):
            for j in range(len(d)):
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])
    return d


@spelling("shortest paths")
def paths_whole(d):
    for k in range(len(d)):
        d = np.minimum(d, d[:, k, None] + d[None, k, :])
    return d


@spelling("shortest paths")
def paths_in_place(d):
    d = d.copy()
    for k in range(len(d)):
        d[:] = np.minimum(d, d[:, k : k + 1] + d[k])
    return d


@spelling("shortest paths")
def paths_out(d):
    d = d.copy()
    for k in range(len(d)):
        np.minimum(d, np.add.outer(d[:, k], d[k, :]), out=d)
    return d


@spelling("shortest paths")
def paths_a_row_at_a_time(d):
    d = d.copy()
    for k in range(len(d)):
        for i in range(len(d)):
            d[i] = np.minimum(d[i], d[i, k] + d[k])
    return d


# --- escape times


@inputs("escape times")
def _(rng):
    y, x = np.mgrid[-1.2:1.2:300j, -2:0.6:300j]
    return x, y, 60


@spelling("escape times")
def escape_points(x, y, most):
    out = np.zeros(x.shape, np.int64)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            a = b = 0.0
            n = 0
            while n < most and a * a + b * b <= 4.0:
                a, b = a * a - b * b + x[i, j], 2 * a * b + y[i, j]
                n += 1
            out[i, j] = n
    return out


@spelling("escape times")
def escape_breaks(x, y, most):
    out = np.full(x.shape, most)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            a = b = 0.0
            for n in range(most):
                if a * a + b * b > 4.0:
                    out[i, j] = n
                    break
                a, b = a * a - b * b + x[i, j], 2 * a * b + y[i, j]
    return out


@spelling("escape times")
def escape_masked(x, y, most):
    a, b = np.zeros_like(x), np.zeros_like(x)
    out = np.zeros(x.shape, np.int64)
    live = np.ones(x.shape, bool)
    for _ in range(most):
        live = live & (a * a + b * b <= 4.0)
        a[live], b[live] = a[live] ** 2 - b[live] ** 2 + x[live], 2 * a[live] * b[live] + y[live]
        out[live] += 1
    return out


@spelling("escape times")
def escape_where(x, y, most):
    a, b = np.zeros_like(x), np.zeros_like(x)
    out = np.zeros(x.shape, np.int64)
    live = np.ones(x.shape, bool)
    for _ in range(most):
        live = live & (a * a + b * b <= 4.0)
        a, b = np.where(live, a * a - b * b + x, a), np.where(live, 2 * a * b + y, b)
        out += live
    return out


# --- an equation of motion for many particles


@inputs("particles")
def _(rng):
    return rng.standard_normal(20_000), rng.standard_normal(20_000), 40


@spelling("particles")
def particles_whole(x, v, steps):
    x, v = x.copy(), v.copy()
    for _ in range(steps):
        v -= 0.01 * (x + 0.1 * x**3)
        x += 0.01 * v
    return x, v


@spelling("particles")
def particles_one_at_a_time(x, v, steps):
    x, v = x.copy(), v.copy()
    for i in range(len(x)):
        for _ in range(steps):
            v[i] -= 0.01 * (x[i] + 0.1 * x[i] ** 3)
            x[i] += 0.01 * v[i]
    return x, v


@spelling("particles")
def particles_new_arrays(x, v, steps):
    for _ in range(steps):
        v = v - 0.01 * (x + 0.1 * x**3)
        x = x + 0.01 * v
    return x, v


@spelling("particles")
def particles_loops(x, v, steps):
    x, v = x.copy(), v.copy()
    for _ in range(steps):
        for i in range(len(x)):
            v[i] = v[i] - 0.01 * (x[i] + 0.1 * x[i] ** 3)
            x[i] = x[i] + 0.01 * v[i]
    return x, v


# --- labels of a graph ------------------------------------------------------------------------------------------------


@inputs("labels of a graph")
def _(rng):
    n, e = 3000, 6000
    return n, rng.integers(0, n, e), rng.integers(0, n, e), 10


@spelling("labels of a graph")
def labels_at(n, a, b, steps):
    least = np.arange(n)
    for _ in range(steps):
        new = least.copy()
        np.minimum.at(new, a, least[b])
        np.minimum.at(new, b, least[a])
        least = new
    return least


@spelling("labels of a graph")
def labels_loops(n, a, b, steps):
    least = np.arange(n)
    for _ in range(steps):
        new = least.copy()
        for e in range(len(a)):
            new[a[e]] = min(new[a[e]], least[b[e]])
        for e in range(len(a)):
            new[b[e]] = min(new[b[e]], least[a[e]])
        least = new
    return least


@spelling("labels of a graph")
def labels_one_loop(n, a, b, steps):
    least = np.arange(n)
    for _ in range(steps):
        new = least.copy()
        for i, j in zip(a, b):
            if least[j] < new[i]:
                new[i] = least[j]
            if least[i] < new[j]:
                new[j] = least[i]
        least = new
    return least


@spelling("labels of a graph")
def labels_copied_loop(n, a, b, steps):
    least = np.arange(n)
    new = least.copy()
    for _ in range(steps):
        for e in range(len(a)):
            i, j = a[e], b[e]
            new[i] = min(new[i], least[j])
            new[j] = min(new[j], least[i])
        least[:] = new
    return least
