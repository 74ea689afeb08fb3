"""Computations in several spellings each: what `spellings.py` times and compares.

A group is a set of functions of the same arguments with the same results; how fast they are should not depend on which
one was written. `@spelling("group")` puts a function into its group, `@inputs("group")` says what they are called with.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

GROUPS: dict[str, list[Callable[..., Any]]] = {}
INPUTS: dict[str, Callable[[np.random.Generator], tuple[Any, ...]]] = {}


def spelling(group: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        GROUPS.setdefault(group, []).append(function)
        return function

    return register


def inputs(group: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        INPUTS[group] = function
        return function

    return register


# --- distances of all pairs


@inputs("distances")
def _(rng):
    return rng.standard_normal((1024, 6)), rng.standard_normal((1024, 6))


@spelling("distances")
def distances_loops(x, y):
    out = np.empty((len(x), len(y)))
    for i in range(len(x)):
        for j in range(len(y)):
            total = 0.0
            for k in range(x.shape[1]):
                d = x[i, k] - y[j, k]
                total += d * d
            out[i, j] = np.sqrt(total)
    return out


@spelling("distances")
def distances_broadcast(x, y):
    return np.sqrt(((x[:, None, :] - y[None, :, :]) ** 2).sum(axis=-1))


@spelling("distances")
def distances_named(x, y):
    d = x[:, np.newaxis] - y
    return np.sqrt(np.sum(d * d, axis=2))


@spelling("distances")
def distances_einsum(x, y):
    d = x[:, None] - y[None]
    return np.sqrt(np.einsum("ijk,ijk->ij", d, d))


@spelling("distances")
def distances_a_row_at_a_time(x, y):
    out = np.zeros((len(x), len(y)))
    for i in range(len(x)):
        out[i] = np.sqrt(((y - x[i]) ** 2).sum(axis=1))
    return out


@spelling("distances")
def distances_a_dimension_at_a_time(x, y):
    total = np.zeros((len(x), len(y)))
    for k in range(x.shape[1]):
        total += (x[:, k, None] - y[None, :, k]) ** 2
    return np.sqrt(total)


# --- a limiter between neighbours


@inputs("limiter")
def _(rng):
    return (rng.standard_normal((130, 130, 40)),)


@spelling("limiter")
def limiter_slices(u):
    left = u[1:-1] - u[:-2]
    right = u[2:] - u[1:-1]
    return np.where(left * right > 0, 2 * left * right / (left + right), 0.0)


@spelling("limiter")
def limiter_parts(u):
    slope = np.zeros((u.shape[0] - 2, u.shape[1], u.shape[2]))
    d = np.zeros((u.shape[0] - 1, u.shape[1], u.shape[2]))
    d[:] = u[1:] - u[:-1]
    product = d[1:] * d[:-1]
    slope[:] = np.where(product > 0, 2 * product / (d[:-1] + d[1:]), 0.0)
    return slope


@spelling("limiter")
def limiter_diff(u):
    d = np.diff(u, axis=0)
    left, right = d[:-1], d[1:]
    return np.where(left * right > 0, 2 * left * right / (left + right), 0.0)


@spelling("limiter")
def limiter_loops(u):
    out = np.zeros((u.shape[0] - 2, u.shape[1], u.shape[2]))
    for i in range(1, u.shape[0] - 1):
        for j in range(u.shape[1]):
            for k in range(u.shape[2]):
                left = u[i, j, k] - u[i - 1, j, k]
                right = u[i + 1, j, k] - u[i, j, k]
                if left * right > 0:
                    out[i - 1, j, k] = 2 * left * right / (left + right)
    return out


# --- the nearest of some centres


@inputs("nearest")
def _(rng):
    return rng.standard_normal((20000, 4)), rng.standard_normal((16, 4))


@spelling("nearest")
def nearest_loops(x, centres):
    label = np.zeros(len(x), np.int64)
    for i in range(len(x)):
        best = np.inf
        for c in range(len(centres)):
            total = 0.0
            for k in range(x.shape[1]):
                total += (x[i, k] - centres[c, k]) ** 2
            if total < best:
                best = total
                label[i] = c
    return label


@spelling("nearest")
def nearest_broadcast(x, centres):
    return ((x[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)


@spelling("nearest")
def nearest_a_row_at_a_time(x, centres):
    label = np.zeros(len(x), np.int64)
    for i in range(len(x)):
        label[i] = np.argmin(np.sum((centres - x[i]) ** 2, axis=1))
    return label


@spelling("nearest")
def nearest_a_centre_at_a_time(x, centres):
    best = np.full(len(x), np.inf)
    label = np.zeros(len(x), np.int64)
    for c in range(len(centres)):
        d = ((x - centres[c]) ** 2).sum(axis=1)
        closer = d < best
        best = np.where(closer, d, best)
        label = np.where(closer, c, label)
    return label


@spelling("nearest")
def nearest_masked_stores(x, centres):
    best = np.full(len(x), np.inf)
    label = np.zeros(len(x), np.int64)
    for c in range(len(centres)):
        d = ((x - centres[c]) ** 2).sum(axis=1)
        closer = d < best
        best[closer] = d[closer]
        label[closer] = c
    return label


# --- heat on a plate


@inputs("heat")
def _(rng):
    return rng.standard_normal((400, 400)), 20


@spelling("heat")
def heat_changing_places(u, steps):
    u, v = u.copy(), u.copy()
    for _ in range(steps):
        v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u, v = v, u
    return u


@spelling("heat")
def heat_copy(u, steps):
    for _ in range(steps):
        new = u.copy()
        new[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u = new
    return u


@spelling("heat")
def heat_copy_of_the_last(u, steps):
    u = u.copy()
    for _ in range(steps):
        un = u.copy()
        u[1:-1, 1:-1] = 0.25 * (un[:-2, 1:-1] + un[2:, 1:-1] + un[1:-1, :-2] + un[1:-1, 2:])
    return u


@spelling("heat")
def heat_in_place(u, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return u


@spelling("heat")
def heat_loops(u, steps):
    u = u.copy()
    v = u.copy()
    for _ in range(steps):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
        u, v = v, u
    return u


@spelling("heat")
def heat_copied_back(u, steps):
    u = u.copy()
    for _ in range(steps):
        inner = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u[1:-1, 1:-1] = inner
    return u


# --- softmax of rows


@inputs("softmax")
def _(rng):
    return (rng.standard_normal((1000, 300)),)


@spelling("softmax")
def softmax_whole(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


@spelling("softmax")
def softmax_a_row_at_a_time(x):
    out = np.empty_like(x)
    for i in range(len(x)):
        e = np.exp(x[i] - np.max(x[i]))
        out[i] = e / np.sum(e)
    return out


@spelling("softmax")
def softmax_turned(x):
    t = x.T
    e = np.exp(t - t.max(axis=0))
    return (e / e.sum(axis=0)).T.copy()


@spelling("softmax")
def softmax_newaxis(x):
    shifted = x - np.amax(x, 1)[:, None]
    e = np.exp(shifted)
    return e / np.sum(e, 1)[:, None]


# --- a histogram with weights


@inputs("histogram")
def _(rng):
    return rng.integers(0, 256, 500_000), rng.standard_normal(500_000)


@spelling("histogram")
def histogram_loop(k, w):
    out = np.zeros(256)
    for i in range(len(k)):
        out[k[i]] += w[i]
    return out


@spelling("histogram")
def histogram_bincount(k, w):
    return np.bincount(k, weights=w, minlength=256)


@spelling("histogram")
def histogram_add_at(k, w):
    out = np.zeros(256)
    np.add.at(out, k, w)
    return out


@spelling("histogram")
def histogram_zip(k, w):
    out = np.zeros(256)
    for at, weight in zip(k, w):
        out[at] = out[at] + weight
    return out


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


# --- a filter over a batch


@inputs("filter")
def _(rng):
    return rng.standard_normal((2000, 256)), 0.3, 0.2


@spelling("filter")
def filter_a_step_at_a_time(x, a, b):
    y = np.zeros_like(x)
    y[0] = b * x[0]
    for t in range(1, len(x)):
        y[t] = b * x[t] + a * y[t - 1]
    return y


@spelling("filter")
def filter_a_state(x, a, b):
    y = np.empty_like(x)
    state = np.zeros(x.shape[1])
    for t in range(len(x)):
        state = b * x[t] + a * state
        y[t] = state
    return y


@spelling("filter")
def filter_a_column_at_a_time(x, a, b):
    y = np.empty_like(x)
    for j in range(x.shape[1]):
        state = 0.0
        for t in range(x.shape[0]):
            state = b * x[t, j] + a * state
            y[t, j] = state
    return y


@spelling("filter")
def filter_loops(x, a, b):
    y = np.zeros_like(x)
    for t in range(x.shape[0]):
        for j in range(x.shape[1]):
            before = y[t - 1, j] if t > 0 else 0.0
            y[t, j] = b * x[t, j] + a * before
    return y


@spelling("filter")
def filter_in_place(x, a, b):
    y = b * x
    for t in range(1, len(y)):
        y[t] += a * y[t - 1]
    return y


# --- sums of each label: the update of k-means


@inputs("sums of labels")
def _(rng):
    return rng.standard_normal((50_000, 4)), rng.integers(0, 16, 50_000)


@spelling("sums of labels")
def labels_loops(x, label):
    total = np.zeros((16, x.shape[1]))
    count = np.zeros(16)
    for i in range(len(x)):
        count[label[i]] += 1
        for k in range(x.shape[1]):
            total[label[i], k] += x[i, k]
    return total / count[:, None]


@spelling("sums of labels")
def labels_rows(x, label):
    total = np.zeros((16, x.shape[1]))
    count = np.zeros(16)
    for i in range(len(x)):
        total[label[i]] += x[i]
        count[label[i]] += 1
    return total / count[:, None]


@spelling("sums of labels")
def labels_add_at(x, label):
    total = np.zeros((16, x.shape[1]))
    count = np.zeros(16)
    np.add.at(total, label, x)
    np.add.at(count, label, 1)
    return total / count[:, None]


@spelling("sums of labels")
def labels_bincount(x, label):
    count = np.bincount(label, minlength=16)
    total = np.zeros((16, x.shape[1]))
    for k in range(x.shape[1]):
        total[:, k] = np.bincount(label, weights=x[:, k], minlength=16)
    return total / count[:, None]


# --- accelerations of bodies


@inputs("bodies")
def _(rng):
    return rng.standard_normal((600, 3)), rng.random(600)


@spelling("bodies")
def bodies_loops(p, m):
    a = np.zeros_like(p)
    for i in range(len(p)):
        ax = ay = az = 0.0
        for j in range(len(p)):
            dx, dy, dz = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1], p[j, 2] - p[i, 2]
            f = m[j] * (dx * dx + dy * dy + dz * dz + 0.01) ** -1.5
            ax += f * dx
            ay += f * dy
            az += f * dz
        a[i, 0], a[i, 1], a[i, 2] = ax, ay, az
    return a


@spelling("bodies")
def bodies_broadcast(p, m):
    d = p[None, :, :] - p[:, None, :]
    f = m * ((d**2).sum(axis=-1) + 0.01) ** -1.5
    return (f[:, :, None] * d).sum(axis=1)


@spelling("bodies")
def bodies_a_body_at_a_time(p, m):
    a = np.zeros_like(p)
    for i in range(len(p)):
        d = p - p[i]
        f = m * (np.sum(d * d, axis=1) + 0.01) ** -1.5
        a[i] = (f[:, None] * d).sum(axis=0)
    return a


@spelling("bodies")
def bodies_components(p, m):
    x, y, z = p[:, 0], p[:, 1], p[:, 2]
    dx, dy, dz = x[None] - x[:, None], y[None] - y[:, None], z[None] - z[:, None]
    f = m * (dx**2 + dy**2 + dz**2 + 0.01) ** -1.5
    return np.stack([(f * dx).sum(axis=1), (f * dy).sum(axis=1), (f * dz).sum(axis=1)], axis=1)


# --- running sums


@inputs("running sums")
def _(rng):
    return (rng.standard_normal((500, 1000)),)


@spelling("running sums")
def running_cumsum(x):
    return np.cumsum(x, axis=1)


@spelling("running sums")
def running_accumulate(x):
    return np.add.accumulate(x, axis=1)


@spelling("running sums")
def running_loops(x):
    out = np.empty_like(x)
    for i in range(x.shape[0]):
        total = 0.0
        for j in range(x.shape[1]):
            total += x[i, j]
            out[i, j] = total
    return out


@spelling("running sums")
def running_rows(x):
    out = np.empty_like(x)
    for i in range(len(x)):
        out[i] = x[i].cumsum()
    return out


@spelling("running sums")
def running_columns(x):
    out = x.copy()
    for j in range(1, x.shape[1]):
        out[:, j] += out[:, j - 1]
    return out


# --- waves on a grid (FDTD)


@inputs("waves")
def _(rng):
    return rng.standard_normal((300, 300)), np.zeros((299, 300)), np.zeros((300, 299)), 20


@spelling("waves")
def waves_slices(e, hx, hy, steps):
    e, hx, hy = e.copy(), hx.copy(), hy.copy()
    for _ in range(steps):
        hx -= 0.5 * (e[1:] - e[:-1])
        hy += 0.5 * (e[:, 1:] - e[:, :-1])
        e[1:-1, 1:-1] += 0.7 * ((hy[1:-1, 1:] - hy[1:-1, :-1]) - (hx[1:, 1:-1] - hx[:-1, 1:-1]))
    return e


@spelling("waves")
def waves_diff(e, hx, hy, steps):
    e, hx, hy = e.copy(), hx.copy(), hy.copy()
    for _ in range(steps):
        hx = hx - 0.5 * np.diff(e, axis=0)
        hy = hy + 0.5 * np.diff(e, axis=1)
        e[1:-1, 1:-1] += 0.7 * (np.diff(hy, axis=1)[1:-1] - np.diff(hx, axis=0)[:, 1:-1])
    return e


@spelling("waves")
def waves_loops(e, hx, hy, steps):
    e, hx, hy = e.copy(), hx.copy(), hy.copy()
    for _ in range(steps):
        for i in range(hx.shape[0]):
            for j in range(hx.shape[1]):
                hx[i, j] -= 0.5 * (e[i + 1, j] - e[i, j])
        for i in range(hy.shape[0]):
            for j in range(hy.shape[1]):
                hy[i, j] += 0.5 * (e[i, j + 1] - e[i, j])
        for i in range(1, e.shape[0] - 1):
            for j in range(1, e.shape[1] - 1):
                e[i, j] += 0.7 * ((hy[i, j] - hy[i, j - 1]) - (hx[i, j] - hx[i - 1, j]))
    return e


# --- normalisation of rows


@inputs("layer norm")
def _(rng):
    return rng.standard_normal((2000, 256)), rng.random(256), rng.random(256)


@spelling("layer norm")
def norm_whole(x, gain, bias):
    mean = x.mean(axis=1, keepdims=True)
    var = ((x - mean) ** 2).mean(axis=1, keepdims=True)
    return gain * (x - mean) / np.sqrt(var + 1e-5) + bias


@spelling("layer norm")
def norm_var(x, gain, bias):
    return (x - x.mean(1)[:, None]) / np.sqrt(x.var(1) + 1e-5)[:, None] * gain + bias


@spelling("layer norm")
def norm_rows(x, gain, bias):
    out = np.empty_like(x)
    for i in range(len(x)):
        mean = np.mean(x[i])
        centred = x[i] - mean
        out[i] = gain * centred / np.sqrt(np.mean(centred**2) + 1e-5) + bias
    return out


# --- normalisation of columns


@inputs("standard scores")
def _(rng):
    return (rng.standard_normal((5000, 60)),)


@spelling("standard scores")
def scores_whole(x):
    return (x - x.mean(axis=0)) / x.std(axis=0)


@spelling("standard scores")
def scores_turned(x):
    t = x.T
    return ((t - t.mean(axis=1, keepdims=True)) / t.std(axis=1, keepdims=True)).T.copy()


@spelling("standard scores")
def scores_written_out(x):
    n = len(x)
    mean = x.sum(axis=0) / n
    centred = x - mean
    return centred / np.sqrt((centred * centred).sum(axis=0) / n)


@spelling("standard scores")
def scores_a_column_at_a_time(x):
    out = np.empty_like(x)
    for j in range(x.shape[1]):
        out[:, j] = (x[:, j] - x[:, j].mean()) / x[:, j].std()
    return out


# --- gathers


@inputs("gather")
def _(rng):
    return rng.standard_normal(100_000), rng.integers(0, 100_000, 400_000)


@spelling("gather")
def gather_subscript(x, k):
    return x[k] * 2 + 1


@spelling("gather")
def gather_take(x, k):
    return np.take(x, k) * 2 + 1


@spelling("gather")
def gather_loop(x, k):
    out = np.empty(len(k))
    for i in range(len(k)):
        out[i] = x[k[i]] * 2 + 1
    return out


@spelling("gather")
def gather_before(x, k):
    y = x * 2 + 1
    return y[k]


# --- interpolation on a regular grid


@inputs("interpolation")
def _(rng):
    return rng.standard_normal((256, 256)), rng.random(200_000) * 254, rng.random(200_000) * 254


@spelling("interpolation")
def interpolation_gathers(f, x, y):
    i, j = np.floor(x).astype(int), np.floor(y).astype(int)
    u, v = x - i, y - j
    return (
        (1 - u) * (1 - v) * f[i, j] + u * (1 - v) * f[i + 1, j] + (1 - u) * v * f[i, j + 1] + u * v * f[i + 1, j + 1]
    )


@spelling("interpolation")
def interpolation_lines(f, x, y):
    i, j = x.astype(np.int64), y.astype(np.int64)
    u, v = x - i, y - j
    low, high = (1 - v) * f[i, j] + v * f[i, j + 1], (1 - v) * f[i + 1, j] + v * f[i + 1, j + 1]
    return (1 - u) * low + u * high


@spelling("interpolation")
def interpolation_loop(f, x, y):
    out = np.empty(len(x))
    for n in range(len(x)):
        i, j = int(x[n]), int(y[n])
        u, v = x[n] - i, y[n] - j
        out[n] = (
            (1 - u) * (1 - v) * f[i, j]
            + u * (1 - v) * f[i + 1, j]
            + (1 - u) * v * f[i, j + 1]
            + u * v * f[i + 1, j + 1]
        )
    return out


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


# --- a moving average


@inputs("moving average")
def _(rng):
    return rng.standard_normal(200_000), 8


@spelling("moving average")
def average_loop(x, n):
    out = np.empty(len(x) - 7)
    for i in range(len(out)):
        total = 0.0
        for k in range(8):
            total += x[i + k]
        out[i] = total / 8
    return out


@spelling("moving average")
def average_slices(x, n):
    total = np.zeros(len(x) - 7)
    for k in range(8):
        total += x[k : len(x) - 7 + k]
    return total / 8


@spelling("moving average")
def average_windows(x, n):
    return np.lib.stride_tricks.sliding_window_view(x, 8).mean(axis=1)


@spelling("moving average")
def average_convolve(x, n):
    return np.convolve(x, np.ones(8) / 8, mode="valid")


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


# --- covariances


@inputs("covariances")
def _(rng):
    return (rng.standard_normal((4000, 40)),)


@spelling("covariances")
def covariances_product(x):
    c = x - x.mean(axis=0)
    return c.T @ c / (len(x) - 1)


@spelling("covariances")
def covariances_einsum(x):
    c = x - x.mean(axis=0)
    return np.einsum("ni,nj->ij", c, c) / (len(x) - 1)


@spelling("covariances")
def covariances_cov(x):
    return np.cov(x, rowvar=False)


@spelling("covariances")
def covariances_loops(x):
    n, m = x.shape
    mean = x.sum(axis=0) / n
    out = np.zeros((m, m))
    for i in range(m):
        for j in range(m):
            total = 0.0
            for k in range(n):
                total += (x[k, i] - mean[i]) * (x[k, j] - mean[j])
            out[i, j] = total / (n - 1)
    return out


# --- products of a matrix with a vector, and with what comes of it


@inputs("matrix and vector")
def _(rng):
    return rng.standard_normal((1500, 1200)), rng.standard_normal(1200)


@spelling("matrix and vector")
def vector_product(a, x):
    return a.T @ (a @ x)


@spelling("matrix and vector")
def vector_left(a, x):
    return (a @ x) @ a


@spelling("matrix and vector")
def vector_sums(a, x):
    y = (a * x).sum(axis=1)
    return (a * y[:, None]).sum(axis=0)


@spelling("matrix and vector")
def vector_einsum(a, x):
    return np.einsum("ij,i->j", a, np.einsum("ij,j->i", a, x))


@spelling("matrix and vector")
def vector_loops(a, x):
    out = np.zeros(a.shape[1])
    for i in range(a.shape[0]):
        total = 0.0
        for j in range(a.shape[1]):
            total += a[i, j] * x[j]
        for j in range(a.shape[1]):
            out[j] += a[i, j] * total
    return out


# --- Kalman filters of many series


@inputs("kalman")
def _(rng):
    return (rng.standard_normal((500, 800)),)


@spelling("kalman")
def kalman_whole(z):
    x, p = np.zeros(z.shape[1]), np.ones(z.shape[1])
    out = np.empty_like(z)
    for t in range(len(z)):
        p = p + 0.01
        gain = p / (p + 0.5)
        x = x + gain * (z[t] - x)
        p = (1 - gain) * p
        out[t] = x
    return out


@spelling("kalman")
def kalman_one_at_a_time(z):
    out = np.empty_like(z)
    for j in range(z.shape[1]):
        x, p = 0.0, 1.0
        for t in range(z.shape[0]):
            p = p + 0.01
            gain = p / (p + 0.5)
            x = x + gain * (z[t, j] - x)
            p = (1 - gain) * p
            out[t, j] = x
    return out


@spelling("kalman")
def kalman_in_place(z):
    x, p = np.zeros(z.shape[1]), np.ones(z.shape[1])
    out = np.empty_like(z)
    for t in range(len(z)):
        p += 0.01
        gain = p / (p + 0.5)
        x += gain * (z[t] - x)
        p *= 1 - gain
        out[t] = x
    return out


# --- the correlation of two series


@inputs("correlation")
def _(rng):
    return rng.standard_normal(200_000), rng.standard_normal(200_000)


@spelling("correlation")
def correlation_written_out(x, y):
    return ((x - x.mean()) * (y - y.mean())).sum() / np.sqrt(
        ((x - x.mean()) ** 2).sum() * ((y - y.mean()) ** 2).sum()
    )


@spelling("correlation")
def correlation_named(x, y):
    dx, dy = x - x.mean(), y - y.mean()
    return (dx * dy).sum() / np.sqrt((dx**2).sum() * (dy**2).sum())


@spelling("correlation")
def correlation_products(x, y):
    dx, dy = x - np.mean(x), y - np.mean(y)
    return np.dot(dx, dy) / (np.linalg.norm(dx) * np.linalg.norm(dy))


# --- scores of one series


@inputs("scores of a series")
def _(rng):
    return (rng.standard_normal(2_000),)


@spelling("scores of a series")
def series_whole(x):
    return (x - x.mean()) / x.std()


@spelling("scores of a series")
def series_by_element(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = (x[i] - x.mean()) / x.std()
    return out


@spelling("scores of a series")
def series_of_a_list(x):
    return np.array([(v - np.mean(x)) / np.std(x) for v in x])


@spelling("scores of a series")
def series_from_squares(x):
    mean = x.sum() / len(x)
    deviation = ((x - mean) ** 2).mean() ** 0.5
    return np.divide(x - mean, deviation)


# --- paths that are added up ------------------------------------------------------------------------------------------


@inputs("paths")
def _(rng):
    return rng.standard_normal((100, 4000)), 100.0


@spelling("paths")
def paths_as_arrays(z, spot):
    x = np.zeros(z.shape[1])
    for t in range(z.shape[0]):
        x = 0.9 * x + 0.01 * z[t]
    return (spot * np.exp(x)).sum()


@spelling("paths")
def paths_at_a_time(z, spot):
    total = 0.0
    for j in range(z.shape[1]):
        x = 0.0
        for t in range(z.shape[0]):
            x = 0.9 * x + 0.01 * z[t, j]
        total += spot * np.exp(x)
    return total


@spelling("paths")
def paths_in_a_list_loop(z, spot):
    ends = []
    for j in range(z.shape[1]):
        x = 0.0
        for t in range(z.shape[0]):
            x = 0.9 * x + 0.01 * z[t, j]
        ends.append(spot * np.exp(x))
    return np.sum(ends)


# --- polynomials ------------------------------------------------------------------------------------------------------


@inputs("polynomial")
def _(rng):
    return rng.standard_normal(12), rng.standard_normal(200_000)


@spelling("polynomial")
def polynomial_of_numpy(c, x):
    return np.polyval(c, x)


@spelling("polynomial")
def polynomial_by_horner(c, x):
    y = np.zeros_like(x)
    for k in range(len(c)):
        y = y * x + c[k]
    return y


@spelling("polynomial")
def polynomial_in_place(c, x):
    y = np.zeros_like(x)
    for a in c:
        y *= x
        y += a
    return y


@spelling("polynomial")
def polynomial_at_points(c, x):
    y = np.empty_like(x)
    for i in range(x.size):
        s = 0.0
        for k in range(c.size):
            s = s * x[i] + c[k]
        y[i] = s
    return y


# --- slopes of a ring, limited ----------------------------------------------------------------------------------------


@inputs("ring")
def _(rng):
    return rng.random(5000), 0.4, 50


@spelling("ring")
def ring_rolled(u, c, steps):
    for _ in range(steps):
        left, right = u - np.roll(u, 1), np.roll(u, -1) - u
        slope = np.where(left * right > 0, np.where(np.abs(left) < np.abs(right), left, right), 0.0)
        flux = u + 0.5 * (1 - c) * slope
        u = u - c * (flux - np.roll(flux, 1))
    return u


@spelling("ring")
def ring_with_ghosts(u, c, steps):
    for _ in range(steps):
        p = np.concatenate([u[-2:], u, u[:1]])
        d = p[1:] - p[:-1]
        left, right = d[:-1], d[1:]
        slope = np.where(left * right > 0, np.where(np.abs(left) < np.abs(right), left, right), 0.0)
        flux = p[1:-1] + 0.5 * (1 - c) * slope
        u = u - c * (flux[1:] - flux[:-1])
    return u


@spelling("ring")
def ring_loops(u, c, steps):
    n, u = u.size, u.copy()
    flux = np.empty(n)
    for _ in range(steps):
        for i in range(n):
            left, right = u[i] - u[i - 1], u[(i + 1) % n] - u[i]
            slope = 0.0
            if left * right > 0:
                slope = left if abs(left) < abs(right) else right
            flux[i] = u[i] + 0.5 * (1 - c) * slope
        for i in range(n):
            u[i] -= c * (flux[i] - flux[i - 1])
    return u


# --- erosion ----------------------------------------------------------------------------------------------------------


@inputs("erosion")
def _(rng):
    return (rng.random((500, 600)) > 0.2,)


@spelling("erosion")
def erosion_shifted(m):
    p, out = np.pad(m, 1, constant_values=True), np.ones_like(m)
    for i in range(3):
        for j in range(3):
            out &= p[i : i + m.shape[0], j : j + m.shape[1]]
    return out


@spelling("erosion")
def erosion_by_axes(m):
    p = np.pad(m, 1, constant_values=True)
    r = p[:, :-2] & p[:, 1:-1] & p[:, 2:]
    return r[:-2] & r[1:-1] & r[2:]


@spelling("erosion")
def erosion_by_windows(m):
    p = np.pad(m, 1, constant_values=True)
    return np.lib.stride_tricks.sliding_window_view(p, (3, 3)).all(axis=(2, 3))


# --- deepest fall of columns ------------------------------------------------------------------------------------------


@inputs("drawdowns")
def _(rng):
    return (rng.standard_normal((1000, 50)) * 0.01,)


@spelling("drawdowns")
def drawdowns_scanned(r):
    w = np.cumprod(1 + r, axis=0)
    return w[-1] - 1, (w / np.maximum.accumulate(w, axis=0) - 1).min(axis=0)


@spelling("drawdowns")
def drawdowns_step_by_step(r):
    w = np.ones(r.shape[1])
    peak, worst = np.full(r.shape[1], -np.inf), np.full(r.shape[1], np.inf)
    for t in range(len(r)):
        w = w * (1 + r[t])
        peak = np.maximum(peak, w)
        worst = np.minimum(worst, w / peak - 1)
    return w - 1, worst

# --- gates of a recurrent layer ---------------------------------------------------------------------------------------

@inputs("gates of a recurrent layer")
def _(rng):
    return rng.standard_normal((200, 384)), rng.standard_normal((200, 384)), rng.standard_normal((200, 128))


@spelling("gates of a recurrent layer")
def gates_slices(gx, gh, h):
    n = h.shape[1]
    def sigmoid(v):
        return 1 / (1 + np.exp(-v))
    r = sigmoid(gx[:, :n] + gh[:, :n])
    z = sigmoid(gx[:, n : 2 * n] + gh[:, n : 2 * n])
    c = np.tanh(gx[:, 2 * n :] + r * gh[:, 2 * n :])
    return (1 - z) * c + z * h


@spelling("gates of a recurrent layer")
def gates_split(gx, gh, h):
    xr, xz, xn = np.split(gx, 3, axis=1)
    hr, hz, hn = np.split(gh, 3, axis=1)
    r = 1 / (1 + np.exp(-(xr + hr)))
    z = 1 / (1 + np.exp(-(xz + hz)))
    return z * h + (1 - z) * np.tanh(xn + r * hn)


@spelling("gates of a recurrent layer")
def gates_loops(gx, gh, h):
    b, n = h.shape
    out = np.empty_like(h)
    for i in range(b):
        for j in range(n):
            r = 1 / (1 + math.exp(-(gx[i, j] + gh[i, j])))
            z = 1 / (1 + math.exp(-(gx[i, n + j] + gh[i, n + j])))
            c = math.tanh(gx[i, 2 * n + j] + r * gh[i, 2 * n + j])
            out[i, j] = (1 - z) * c + z * h[i, j]
    return out


@spelling("gates of a recurrent layer")
def gates_rows(gx, gh, h):
    n = h.shape[1]
    out = np.zeros(h.shape)
    for i in range(len(h)):
        g = 1 / (1 + np.exp(-(gx[i, : 2 * n] + gh[i, : 2 * n])))
        r, z = g[:n], g[n:]
        c = np.tanh(gx[i, 2 * n :] + r * gh[i, 2 * n :])
        out[i] = (1 - z) * c + z * h[i]
    return out


# --- prices of options ------------------------------------------------------------------------------------------------

@inputs("prices of options")
def _(rng):
    return rng.random(200) * 50 + 75, rng.random(200) * 50 + 75, 0.7, 0.03, 0.25


@spelling("prices of options")
def options_broadcast(s, k, t, r, v):
    def cdf(x):
        y = 1 / (1 + 0.2316419 * np.abs(x))
        p = y * (0.319381530 + y * (-0.356563782 + y * (1.781477937 + y * (-1.821255978 + y * 1.330274429))))
        w = 0.3989422804014327 * np.exp(-0.5 * x * x) * p
        return np.where(x >= 0, 1 - w, w)
    d1 = (np.log(s[:, None] / k) + (r + v * v / 2) * t) / (v * np.sqrt(t))
    d2 = d1 - v * np.sqrt(t)
    return s[:, None] * cdf(d1) - k * np.exp(-r * t) * cdf(d2)


@spelling("prices of options")
def options_loops(s, k, t, r, v):
    def cdf(x):
        y = 1 / (1 + 0.2316419 * abs(x))
        p = y * (0.319381530 + y * (-0.356563782 + y * (1.781477937 + y * (-1.821255978 + y * 1.330274429))))
        w = 0.3989422804014327 * math.exp(-0.5 * x * x) * p
        if x >= 0:
            return 1 - w
        return w
    out = np.empty((len(s), len(k)))
    for i in range(len(s)):
        for j in range(len(k)):
            d1 = (math.log(s[i] / k[j]) + (r + v * v / 2) * t) / (v * math.sqrt(t))
            d2 = d1 - v * math.sqrt(t)
            out[i, j] = s[i] * cdf(d1) - k[j] * math.exp(-r * t) * cdf(d2)
    return out


@spelling("prices of options")
def options_masked(s, k, t, r, v):
    def cdf(x):
        y = 1 / (1 + 0.2316419 * np.abs(x))
        p = np.full_like(y, 1.330274429)
        for c in (-1.821255978, 1.781477937, -0.356563782, 0.319381530):
            p *= y
            p += c
        p *= y
        w = 0.3989422804014327 * np.exp(-0.5 * x * x) * p
        w[x >= 0] = 1 - w[x >= 0]
        return w
    spot, strike = np.meshgrid(s, k, indexing="ij")
    root = v * np.sqrt(t)
    d1 = (np.log(spot / strike) + (r + v * v / 2) * t) / root
    return spot * cdf(d1) - strike * np.exp(-r * t) * cdf(d1 - root)


@spelling("prices of options")
def options_rows(s, k, t, r, v):
    def cdf(x):
        y = 1 / (1 + 0.2316419 * np.abs(x))
        p = y * (0.319381530 + y * (-0.356563782 + y * (1.781477937 + y * (-1.821255978 + y * 1.330274429))))
        w = 0.3989422804014327 * np.exp(-0.5 * x * x) * p
        return np.where(x >= 0, 1 - w, w)
    rows = []
    for spot in s:
        d1 = (np.log(spot / k) + (r + v * v / 2) * t) / (v * np.sqrt(t))
        rows.append(spot * cdf(d1) - k * np.exp(-r * t) * cdf(d1 - v * np.sqrt(t)))
    return np.array(rows)


# --- similarity of images ---------------------------------------------------------------------------------------------

@inputs("similarity of images")
def _(rng):
    return rng.random((120, 120)), rng.random((120, 120))


@spelling("similarity of images")
def similarity_windows(x, y):
    a, b = np.lib.stride_tricks.sliding_window_view(x, (5, 5)), np.lib.stride_tricks.sliding_window_view(y, (5, 5))
    mx, my = a.mean(axis=(2, 3)), b.mean(axis=(2, 3))
    vx = (a * a).mean(axis=(2, 3)) - mx**2
    vy = (b * b).mean(axis=(2, 3)) - my**2
    cov = (a * b).mean(axis=(2, 3)) - mx * my
    return (((2 * mx * my + 1e-4) * (2 * cov + 9e-4)) / ((mx**2 + my**2 + 1e-4) * (vx + vy + 9e-4))).mean()


@spelling("similarity of images")
def similarity_shifted(x, y):
    h, w = x.shape[0] - 4, x.shape[1] - 4
    def blur(v):
        out = np.zeros((h, w))
        for i in range(5):
            for j in range(5):
                out += v[i : i + h, j : j + w]
        return out / 25
    mx, my = blur(x), blur(y)
    vx, vy, cov = blur(x * x) - mx * mx, blur(y * y) - my * my, blur(x * y) - mx * my
    return np.mean((2 * mx * my + 1e-4) * (2 * cov + 9e-4) / ((mx * mx + my * my + 1e-4) * (vx + vy + 9e-4)))


@spelling("similarity of images")
def similarity_loops(x, y):
    h, w = x.shape[0] - 4, x.shape[1] - 4
    total = 0.0
    for i in range(h):
        for j in range(w):
            sx = sy = sxx = syy = sxy = 0.0
            for a in range(5):
                for b in range(5):
                    p, q = x[i + a, j + b], y[i + a, j + b]
                    sx += p
                    sy += q
                    sxx += p * p
                    syy += q * q
                    sxy += p * q
            mx, my = sx / 25, sy / 25
            vx, vy, cov = sxx / 25 - mx * mx, syy / 25 - my * my, sxy / 25 - mx * my
            total += (2 * mx * my + 1e-4) * (2 * cov + 9e-4) / ((mx * mx + my * my + 1e-4) * (vx + vy + 9e-4))
    return total / (h * w)


@spelling("similarity of images")
def similarity_points(x, y):
    h, w = x.shape[0] - 4, x.shape[1] - 4
    s = np.empty((h, w))
    for i in range(h):
        for j in range(w):
            p, q = x[i : i + 5, j : j + 5], y[i : i + 5, j : j + 5]
            mx, my = p.mean(), q.mean()
            vx, vy, cov = (p * p).mean() - mx * mx, (q * q).mean() - my * my, (p * q).mean() - mx * my
            s[i, j] = (2 * mx * my + 1e-4) * (2 * cov + 9e-4) / ((mx * mx + my * my + 1e-4) * (vx + vy + 9e-4))
    return s.mean()


# --- bilateral filter -------------------------------------------------------------------------------------------------

@inputs("bilateral filter")
def _(rng):
    return rng.random((120, 120)), 0.1, 1.5


@spelling("bilateral filter")
def bilateral_loops(x, sr, ss):
    n, m = x.shape
    out = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            total = weight = 0.0
            for a in range(-2, 3):
                for b in range(-2, 3):
                    if 0 <= i + a < n and 0 <= j + b < m:
                        v = x[i + a, j + b]
                        w = math.exp(-(a * a + b * b) / (2 * ss * ss) - (v - x[i, j]) ** 2 / (2 * sr * sr))
                        total += w * v
                        weight += w
            out[i, j] = total / weight
    return out


@spelling("bilateral filter")
def bilateral_padded(x, sr, ss):
    n, m = x.shape
    p = np.pad(x, 2, constant_values=np.inf)
    total, weight = np.zeros((n, m)), np.zeros((n, m))
    for a in range(5):
        for b in range(5):
            v = p[a : a + n, b : b + m]
            w = np.exp(-((a - 2) ** 2 + (b - 2) ** 2) / (2 * ss * ss) - (v - x) ** 2 / (2 * sr * sr))
            total += np.where(w > 0, w * np.where(np.isinf(v), 0.0, v), 0.0)
            weight += w
    return total / weight


@spelling("bilateral filter")
def bilateral_overlaps(x, sr, ss):
    n, m = x.shape
    total, weight = np.zeros_like(x), np.zeros_like(x)
    for a in range(-2, 3):
        for b in range(-2, 3):
            i0, i1, j0, j1 = max(0, -a), min(n, n - a), max(0, -b), min(m, m - b)
            v, c = x[i0 + a : i1 + a, j0 + b : j1 + b], x[i0:i1, j0:j1]
            w = np.exp(-(a * a + b * b) / (2 * ss * ss) - (v - c) ** 2 / (2 * sr * sr))
            total[i0:i1, j0:j1] += w * v
            weight[i0:i1, j0:j1] += w
    return total / weight


# --- Lennard-Jones forces ---------------------------------------------------------------------------------------------

@inputs("Lennard-Jones forces")
def _(rng):
    grid = np.indices((8, 8, 8)).reshape(3, -1).T[:350] * 1.1
    return (grid + 0.1 * rng.random(grid.shape),)


@spelling("Lennard-Jones forces")
def forces_loops(p):
    n = len(p)
    f = np.zeros((n, 3))
    for i in range(n):
        for j in range(n):
            if i != j:
                dx, dy, dz = p[i, 0] - p[j, 0], p[i, 1] - p[j, 1], p[i, 2] - p[j, 2]
                inv = 1.0 / (dx * dx + dy * dy + dz * dz)
                i6 = inv * inv * inv
                s = 24 * inv * i6 * (2 * i6 - 1)
                f[i, 0] += s * dx
                f[i, 1] += s * dy
                f[i, 2] += s * dz
    return f


@spelling("Lennard-Jones forces")
def forces_where(p):
    d = p[:, None] - p
    r2 = np.einsum("ijk,ijk->ij", d, d)
    safe = np.where(r2 > 0, r2, 1.0)
    i6 = 1 / (safe * safe * safe)
    s = np.where(r2 > 0, 24 / safe * i6 * (2 * i6 - 1), 0.0)
    return np.einsum("ij,ijk->ik", s, d)


@spelling("Lennard-Jones forces")
def forces_a_row_at_a_time(p):
    f = np.zeros_like(p)
    for i in range(len(p)):
        d = p[i] - p
        r2 = (d**2).sum(axis=1)
        r2[i] = np.inf
        inv = 1 / r2
        i6 = inv * inv * inv
        f[i] = ((24 * inv * i6 * (2 * i6 - 1))[:, None] * d).sum(axis=0)
    return f


@spelling("Lennard-Jones forces")
def forces_components(p):
    x, y, z = p.T
    dx, dy, dz = x[:, None] - x, y[:, None] - y, z[:, None] - z
    r2 = dx**2 + dy**2 + dz**2 + np.where(np.eye(len(x), dtype=bool), np.inf, 0.0)
    i6 = r2**-3.0
    s = 24 / r2 * i6 * (2 * i6 - 1)
    return np.stack([(s * dx).sum(1), (s * dy).sum(1), (s * dz).sum(1)], axis=1)


# --- bins -------------------------------------------------------------------------------------------------------------

@inputs("bins")
def _(rng):
    return rng.standard_normal(50_000), np.linspace(-2, 2, 9)


@spelling("bins")
def bins_edges(x, e):
    out = np.zeros(len(x), np.int64)
    for edge in e:
        out += x >= edge
    return out


@spelling("bins")
def bins_counts(x, e):
    return (x[:, None] >= e).sum(axis=1)


@spelling("bins")
def bins_masks(x, e):
    out = np.zeros(len(x), np.int64)
    for k in range(len(e)):
        out[x >= e[k]] = k + 1
    return out


@spelling("bins")
def bins_loops(x, e):
    out = np.zeros(len(x), np.int64)
    for i in range(len(x)):
        k = 0
        while k < len(e) and x[i] >= e[k]:
            k += 1
        out[i] = k
    return out


# --- rolling maxima ---------------------------------------------------------------------------------------------------

@inputs("rolling maxima")
def _(rng):
    return rng.standard_normal(100_000), 11


@spelling("rolling maxima")
def rolling_loops(x, w):
    out = np.empty(len(x) - w + 1)
    for i in range(len(out)):
        m = x[i]
        for j in range(1, w):
            if x[i + j] > m:
                m = x[i + j]
        out[i] = m
    return out


@spelling("rolling maxima")
def rolling_windows(x, w):
    return np.lib.stride_tricks.sliding_window_view(x, w).max(axis=-1)


@spelling("rolling maxima")
def rolling_a_window_at_a_time(x, w):
    out = np.empty(x.size - w + 1)
    for i in range(out.size):
        out[i] = np.max(x[i : i + w])
    return out


@spelling("rolling maxima")
def rolling_in_a_list_loop(x, w):
    return np.array([x[i : i + w].max() for i in range(len(x) - w + 1)])


# --- sums of kernels --------------------------------------------------------------------------------------------------

@inputs("sums of kernels")
def _(rng):
    return rng.standard_normal((300, 5)), rng.standard_normal((300, 5)), rng.standard_normal(300), 0.3


@spelling("sums of kernels")
def kernels_loops(x, c, w, g):
    out = np.zeros(len(x))
    for i in range(len(x)):
        s = 0.0
        for j in range(len(c)):
            d = 0.0
            for k in range(x.shape[1]):
                d += (x[i, k] - c[j, k]) ** 2
            s += w[j] * np.exp(-g * d)
        out[i] = s
    return out


@spelling("sums of kernels")
def kernels_broadcast(x, c, w, g):
    d = ((x[:, None, :] - c[None, :, :]) ** 2).sum(-1)
    return (np.exp(-g * d) * w).sum(axis=1)


@spelling("sums of kernels")
def kernels_a_row_at_a_time(x, c, w, g):
    out = np.empty(len(x))
    for i in range(len(x)):
        d = x[i] - c
        out[i] = np.sum(w * np.exp(-g * np.sum(d * d, axis=1)))
    return out


@spelling("sums of kernels")
def kernels_einsum(x, c, w, g):
    d = x[:, None] - c
    return np.einsum("ij,j->i", np.exp(-g * np.einsum("ijk,ijk->ij", d, d)), w)
