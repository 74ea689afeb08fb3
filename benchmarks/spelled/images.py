"""Images: windows, filters and what compares them."""

from __future__ import annotations

import math

import numpy as np

from spelled.registry import inputs, spelling

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


# --- means of clipped windows -----------------------------------------------------------------------------------------


@inputs("means of clipped windows")
def _(rng):
    return rng.random((150, 150)), 3


@spelling("means of clipped windows")
def clipmean_slices(x, r):
    n, m = x.shape
    out = np.empty_like(x)
    for i in range(n):
        for j in range(m):
            out[i, j] = x[max(0, i - r) : min(n, i + r + 1), max(0, j - r) : min(m, j + r + 1)].mean()
    return out


@spelling("means of clipped windows")
def clipmean_ranges(x, r):
    n, m = x.shape
    out = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            s, c = 0.0, 0
            for a in range(max(0, i - r), min(n, i + r + 1)):
                for b in range(max(0, j - r), min(m, j + r + 1)):
                    s += x[a, b]
                    c += 1
            out[i, j] = s / c
    return out


@spelling("means of clipped windows")
def clipmean_ifs_loops(x, r):
    n, m = x.shape
    out = np.zeros((n, m))
    for i in range(n):
        for j in range(m):
            s, c = 0.0, 0
            for a in range(-r, r + 1):
                for b in range(-r, r + 1):
                    if 0 <= i + a < n and 0 <= j + b < m:
                        s += x[i + a, j + b]
                        c += 1
            out[i, j] = s / c
    return out


@spelling("means of clipped windows")
def clipmean_padded(x, r):
    n, m = x.shape
    p, o = np.pad(x, r), np.pad(np.ones_like(x), r)
    s, c = np.zeros_like(x), np.zeros_like(x)
    for a in range(2 * r + 1):
        for b in range(2 * r + 1):
            s += p[a : a + n, b : b + m]
            c += o[a : a + n, b : b + m]
    return s / c


@spelling("means of clipped windows")
def clipmean_overlaps(x, r):
    n, m = x.shape
    s, c = np.zeros((n, m)), np.zeros((n, m))
    for a in range(-r, r + 1):
        for b in range(-r, r + 1):
            i0, i1, j0, j1 = max(0, -a), min(n, n - a), max(0, -b), min(m, m - b)
            s[i0:i1, j0:j1] += x[i0 + a : i1 + a, j0 + b : j1 + b]
            c[i0:i1, j0:j1] += 1
    return s / c
