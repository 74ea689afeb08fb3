"""Grids: what neighbours on a plate, in space or on a ring do to each other."""

from __future__ import annotations

import numpy as np

from spelled.registry import inputs, spelling

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
def interpolation_flat(f, x, y):
    i, j = x.astype(int), y.astype(int)
    u, v, g = x - i, y - j, f.ravel()
    k = i * f.shape[1] + j
    low, high = (1 - v) * g[k] + v * g[k + 1], (1 - v) * g[k + f.shape[1]] + v * g[k + f.shape[1] + 1]
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
