"""Distances, nearest points, kernels and forces: what pairs of points have."""

from __future__ import annotations

import numpy as np

from spelled.registry import inputs, spelling

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


# --- gravity by pairs -------------------------------------------------------------------------------------------------


@inputs("gravity by pairs")
def _(rng):
    n = 400
    return rng.random((n, 3)), rng.random(n)


@spelling("gravity by pairs")
def gravity_matrix(p, m):
    d = p[None] - p[:, None]
    r = ((d * d).sum(axis=2) + 0.01) ** -1.5
    return (d * r[:, :, None] * m[None, :, None]).sum(axis=1)


@spelling("gravity by pairs")
def gravity_rows(p, m):
    a = np.zeros_like(p)
    for i in range(len(p)):
        d = p - p[i]
        r = ((d * d).sum(axis=1) + 0.01) ** -1.5
        a[i] = (d * (r * m)[:, None]).sum(axis=0)
    return a


@spelling("gravity by pairs")
def gravity_pairs(p, m):
    a = np.zeros_like(p)
    for i in range(len(p)):
        for j in range(i + 1, len(p)):
            d = p[j] - p[i]
            g = d * ((d @ d) + 0.01) ** -1.5
            a[i] += m[j] * g
            a[j] -= m[i] * g
    return a


@spelling("gravity by pairs")
def gravity_half_loops(p, m):
    n = len(p)
    a = np.zeros((n, 3))
    for i in range(n):
        for j in range(i):
            dx, dy, dz = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1], p[j, 2] - p[i, 2]
            r = (dx * dx + dy * dy + dz * dz + 0.01) ** -1.5
            a[i, 0] += m[j] * r * dx
            a[i, 1] += m[j] * r * dy
            a[i, 2] += m[j] * r * dz
            a[j, 0] -= m[i] * r * dx
            a[j, 1] -= m[i] * r * dy
            a[j, 2] -= m[i] * r * dz
    return a


@spelling("gravity by pairs")
def gravity_full_loops(p, m):
    n = len(p)
    a = np.zeros((n, 3))
    for i in range(n):
        for j in range(n):
            if i != j:
                dx, dy, dz = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1], p[j, 2] - p[i, 2]
                r = m[j] * (dx * dx + dy * dy + dz * dz + 0.01) ** -1.5
                a[i, 0] += r * dx
                a[i, 1] += r * dy
                a[i, 2] += r * dz
    return a


# --- affine maps ------------------------------------------------------------------------------------------------------


@inputs("affine maps")
def _(rng):
    return rng.random((30000, 3)), rng.random((3, 3)), rng.random(3)


@spelling("affine maps")
def affine_product(p, r, t):
    return p @ r.T + t


@spelling("affine maps")
def affine_turned(p, r, t):
    return (r @ p.T).T + t


@spelling("affine maps")
def affine_einsum(p, r, t):
    return np.einsum("ij,nj->ni", r, p) + t


@spelling("affine maps")
def affine_rows(p, r, t):
    out = np.empty_like(p)
    for i in range(len(p)):
        out[i] = r @ p[i] + t
    return out


@spelling("affine maps")
def affine_loops(p, r, t):
    out = np.zeros((len(p), 3))
    for n in range(len(p)):
        for i in range(3):
            out[n, i] = t[i]
            for j in range(3):
                out[n, i] += r[i, j] * p[n, j]
    return out
