"""Geometry: spheres, rotations, nearest points, distances on the Earth, boxes."""

from __future__ import annotations

from math import asin, cos, sin, sqrt

import numpy as np

from .registry import jnp, ne, prange, register

# ---- haversine -------------------------------------------------------------------------------------------------------


def haversine(lat1, lon1, lat2, lon2):
    """Great-circle distances of all pairs of places, in kilometres; latitudes and longitudes in degrees."""
    lat1, lon1, lat2, lon2 = map(np.radians, (lat1, lon1, lat2, lon2))
    dlat = lat2[None, :] - lat1[:, None]
    dlon = lon2[None, :] - lon1[:, None]
    a = np.sin(dlat / 2) ** 2 + np.cos(lat1)[:, None] * np.cos(lat2)[None, :] * np.sin(dlon / 2) ** 2
    return 2 * 6371.0 * np.arcsin(np.sqrt(a))


def haversine_loops(lat1, lon1, lat2, lon2):
    lat1, lon1, lat2, lon2 = np.radians(lat1), np.radians(lon1), np.radians(lat2), np.radians(lon2)
    out = np.empty((lat1.size, lat2.size))
    cosines = np.cos(lat2)
    for i in prange(lat1.size):
        own = cos(lat1[i])
        for j in range(lat2.size):
            s, t = sin((lat2[j] - lat1[i]) / 2), sin((lon2[j] - lon1[i]) / 2)
            out[i, j] = 12742.0 * asin(sqrt(s * s + own * cosines[j] * t * t))
    return out


def haversine_expressions(lat1, lon1, lat2, lon2):
    p, q = np.radians(lat1)[:, None], np.radians(lon1)[:, None]
    r, s = np.radians(lat2)[None, :], np.radians(lon2)[None, :]
    c, d = np.cos(p), np.cos(r)
    return ne.evaluate("12742.0 * arcsin(sqrt(sin((r - p) / 2) ** 2 + c * d * sin((s - q) / 2) ** 2))")


def haversine_jax(lat1, lon1, lat2, lon2):
    lat1, lon1, lat2, lon2 = map(jnp.radians, (lat1, lon1, lat2, lon2))
    dlat = lat2[None, :] - lat1[:, None]
    dlon = lon2[None, :] - lon1[:, None]
    a = jnp.sin(dlat / 2) ** 2 + jnp.cos(lat1)[:, None] * jnp.cos(lat2)[None, :] * jnp.sin(dlon / 2) ** 2
    return 12742.0 * jnp.arcsin(jnp.sqrt(a))


register(
    "haversine", haversine,
    lambda rng, n: tuple(rng.uniform(-80, 80, k) for k in (n, n, n + n // 3, n + n // 3)), 500, 9,
    loops=haversine_loops, expressions=haversine_expressions, arrays=haversine_jax,
)  # fmt: skip

# ---- rays and spheres ------------------------------------------------------------------------------------------------


def ray_spheres(directions, centres, radii, light):
    """Shades of the nearest of some spheres that rays from the origin meet."""
    b = directions @ centres.T
    c = np.sum(centres**2, axis=1) - radii**2
    disc = b**2 - c
    t = np.where(disc > 0, b - np.sqrt(np.maximum(disc, 0)), np.inf)
    t = np.where(t > 0.001, t, np.inf)
    nearest = t.argmin(axis=1)
    depth = t[np.arange(len(t)), nearest]
    hit = np.isfinite(depth)
    points = directions * np.where(hit, depth, 0)[:, None]
    normals = (points - centres[nearest]) / radii[nearest][:, None]
    shade = np.maximum(normals @ light, 0) * 0.9 + 0.1
    return np.where(hit, shade, 0), hit


def ray_spheres_loops(directions, centres, radii, light):
    n = len(directions)
    shade, hit = np.zeros(n), np.zeros(n, np.bool_)
    c = np.empty(len(radii))
    for k in range(len(radii)):
        c[k] = centres[k, 0] ** 2 + centres[k, 1] ** 2 + centres[k, 2] ** 2 - radii[k] ** 2
    for i in prange(n):
        x, y, z = directions[i, 0], directions[i, 1], directions[i, 2]
        depth, nearest = np.inf, 0
        for k in range(len(radii)):
            b = x * centres[k, 0] + y * centres[k, 1] + z * centres[k, 2]
            disc = b * b - c[k]
            if disc > 0:
                t = b - sqrt(disc)
                if t > 0.001 and t < depth:
                    depth, nearest = t, k
        if depth < np.inf:
            facing = (x * depth - centres[nearest, 0]) * light[0]
            facing += (y * depth - centres[nearest, 1]) * light[1]
            facing += (z * depth - centres[nearest, 2]) * light[2]
            shade[i] = max(facing / radii[nearest], 0.0) * 0.9 + 0.1
            hit[i] = True
    return shade, hit


def ray_spheres_jax(directions, centres, radii, light):
    b = directions @ centres.T
    disc = b**2 - ((centres**2).sum(axis=1) - radii**2)
    t = jnp.where(disc > 0, b - jnp.sqrt(jnp.maximum(disc, 0)), jnp.inf)
    t = jnp.where(t > 0.001, t, jnp.inf)
    nearest = t.argmin(axis=1)
    depth = t.min(axis=1)
    hit = jnp.isfinite(depth)
    points = directions * jnp.where(hit, depth, 0)[:, None]
    normals = (points - centres[nearest]) / radii[nearest][:, None]
    return jnp.where(hit, jnp.maximum(normals @ light, 0) * 0.9 + 0.1, 0), hit


def _rays(rng, n):
    y, x = np.mgrid[-1 : 1 : n * 1j, -1 : 1 : n * 1j]
    rays = np.stack([x, y, np.ones_like(x)], axis=-1).reshape(-1, 3)
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    centres = rng.uniform(-3, 3, (6, 3)) + [0, 0, 6]
    return rays, centres, rng.uniform(0.5, 1.5, 6), np.array([0.6, -0.64, -0.48])


register("ray spheres", ray_spheres, _rays, 200, 10, loops=ray_spheres_loops, arrays=ray_spheres_jax)

# ---- quaternions -----------------------------------------------------------------------------------------------------


def rotate(quaternions, vectors):
    """Vectors rotated by quaternions, real part first, which need not have length one."""
    q = quaternions / np.linalg.norm(quaternions, axis=1, keepdims=True)
    w, u = q[:, :1], q[:, 1:]
    t = 2 * np.cross(u, vectors)
    return vectors + w * t + np.cross(u, t)


def rotate_loops(quaternions, vectors):
    out = np.empty_like(vectors)
    for i in prange(len(vectors)):
        w, x, y, z = quaternions[i, 0], quaternions[i, 1], quaternions[i, 2], quaternions[i, 3]
        by = 1.0 / sqrt(w * w + x * x + y * y + z * z)
        w, x, y, z = w * by, x * by, y * by, z * by
        a, b, c = vectors[i, 0], vectors[i, 1], vectors[i, 2]
        p, q, r = 2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a)
        out[i, 0] = a + w * p + y * r - z * q
        out[i, 1] = b + w * q + z * p - x * r
        out[i, 2] = c + w * r + x * q - y * p
    return out


def rotate_jax(quaternions, vectors):
    q = quaternions / jnp.linalg.norm(quaternions, axis=1, keepdims=True)
    w, u = q[:, :1], q[:, 1:]
    t = 2 * jnp.cross(u, vectors)
    return vectors + w * t + jnp.cross(u, t)


register(
    "rotate", rotate, lambda rng, n: (rng.standard_normal((n, 4)), rng.standard_normal((n, 3))), 60_000, 30,
    loops=rotate_loops, arrays=rotate_jax,
)  # fmt: skip

# ---- nearest points --------------------------------------------------------------------------------------------------


def nearest_points(a, b):
    """The nearest of `b` for each of `a`, and how far away it is; squared lengths and one product of matrices."""
    squares = np.sum(a**2, axis=1)[:, None] + np.sum(b**2, axis=1)[None, :] - 2 * a @ b.T
    nearest = squares.argmin(axis=1)
    return nearest, np.sqrt(np.maximum(squares[np.arange(len(a)), nearest], 0))


def nearest_points_loops(a, b):
    n, width = a.shape
    nearest, distance = np.empty(n, np.int64), np.empty(n)
    turned = b.T.copy()
    block = 16
    for part in prange((n + block - 1) // block):
        squares = np.empty(len(b))
        for i in range(part * block, min(part * block + block, n)):
            squares[:] = 0
            for k in range(width):
                x = a[i, k]
                for j in range(len(b)):
                    squares[j] += (x - turned[k, j]) * (x - turned[k, j])
            best, at = np.inf, 0
            for j in range(len(b)):
                if squares[j] < best:
                    best, at = squares[j], j
            nearest[i], distance[i] = at, sqrt(best)
    return nearest, distance


def nearest_points_jax(a, b):
    squares = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1)[None, :] - 2 * a @ b.T
    return squares.argmin(axis=1), jnp.sqrt(jnp.maximum(squares.min(axis=1), 0))


register(
    "nearest points", nearest_points, lambda rng, n: (rng.random((n, 16)), rng.random((n - n // 4, 16))), 1200, 16,
    loops=nearest_points_loops, arrays=nearest_points_jax,
)  # fmt: skip

# ---- polygons --------------------------------------------------------------------------------------------------------


def inside_polygon(points, corners):
    """Which points are within a polygon, by crossings of a ray; all edges at once."""
    x, y = points[:, 0, None], points[:, 1, None]
    x1, y1 = corners[:, 0], corners[:, 1]
    x2, y2 = np.roll(x1, -1), np.roll(y1, -1)
    crosses = (y1 > y) != (y2 > y)
    at = (x2 - x1) * (y - y1) / (y2 - y1) + x1
    return np.sum(crosses & (x < at), axis=1) % 2 == 1


def inside_polygon_loops(points, corners):
    n, edges = len(points), len(corners)
    out = np.empty(n, np.bool_)
    slopes = np.empty(edges)
    for k in range(edges):
        m = (k + 1) % edges
        slopes[k] = (corners[m, 0] - corners[k, 0]) / (corners[m, 1] - corners[k, 1])
    for i in prange(n):
        x, y = points[i, 0], points[i, 1]
        inside = False
        for k in range(edges):
            m = k + 1 if k + 1 < edges else 0
            if (corners[k, 1] > y) != (corners[m, 1] > y):
                inside ^= x < slopes[k] * (y - corners[k, 1]) + corners[k, 0]
        out[i] = inside
    return out


def inside_polygon_expressions(points, corners):
    x, y = points[:, 0, None], points[:, 1, None]
    p, q = corners[:, 0], corners[:, 1]
    r, s = np.roll(p, -1), np.roll(q, -1)
    crossed = ne.evaluate("((q > y) != (s > y)) & (x < (r - p) * (y - q) / (s - q) + p)")
    return np.count_nonzero(crossed, axis=1) % 2 == 1


def inside_polygon_jax(points, corners):
    x, y = points[:, 0, None], points[:, 1, None]
    x1, y1 = corners[:, 0], corners[:, 1]
    x2, y2 = jnp.roll(x1, -1), jnp.roll(y1, -1)
    crosses = (y1 > y) != (y2 > y)
    at = (x2 - x1) * (y - y1) / (y2 - y1) + x1
    return jnp.sum(crosses & (x < at), axis=1) % 2 == 1


def _star(rng, n):
    angles = np.linspace(0, 2 * np.pi, 40, endpoint=False) + 0.01
    radii = rng.uniform(0.3, 1.0, 40)
    return rng.uniform(-1, 1, (n, 2)), np.stack([radii * np.cos(angles), radii * np.sin(angles)], axis=1)


register(
    "inside polygon", inside_polygon, _star, 20_000, 50, exact=True,
    loops=inside_polygon_loops, expressions=inside_polygon_expressions, arrays=inside_polygon_jax,
)  # fmt: skip

# ---- boxes -----------------------------------------------------------------------------------------------------------


def iou_matrix(a, b):
    """Intersection over union of all pairs of boxes, and the best partner of each of the first."""
    corner = np.maximum(a[:, None, :2], b[None, :, :2])
    size = np.clip(np.minimum(a[:, None, 2:], b[None, :, 2:]) - corner, 0, None)
    inter = size[..., 0] * size[..., 1]
    area_a = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])
    area_b = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    iou = inter / (area_a[:, None] + area_b[None, :] - inter)
    return iou, iou.argmax(axis=1)


def iou_matrix_loops(a, b):
    out, best = np.empty((len(a), len(b)), np.float32), np.empty(len(a), np.int64)
    zero = np.float32(0)
    area_b = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    x1, y1, x2, y2 = b[:, 0].copy(), b[:, 1].copy(), b[:, 2].copy(), b[:, 3].copy()
    for i in prange(len(a)):
        l, t, r, u = a[i, 0], a[i, 1], a[i, 2], a[i, 3]  # noqa: E741
        area = (r - l) * (u - t)
        for j in range(len(b)):
            w = max(min(r, x2[j]) - max(l, x1[j]), zero)
            h = max(min(u, y2[j]) - max(t, y1[j]), zero)
            out[i, j] = w * h / (area + area_b[j] - w * h)
        top, at = out[i, 0], 0
        for j in range(1, len(b)):
            if out[i, j] > top:
                top, at = out[i, j], j
        best[i] = at
    return out, best


def iou_matrix_jax(a, b):
    corner = jnp.maximum(a[:, None, :2], b[None, :, :2])
    size = jnp.clip(jnp.minimum(a[:, None, 2:], b[None, :, 2:]) - corner, 0, None)
    inter = size[..., 0] * size[..., 1]
    area_a = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])
    area_b = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    iou = inter / (area_a[:, None] + area_b[None, :] - inter)
    return iou, iou.argmax(axis=1)


def _boxes(rng, n):
    corners = rng.random((2 * n, 2), np.float32) * 100
    boxes = np.concatenate([corners, corners + 5 + 20 * rng.random((2 * n, 2), np.float32)], axis=1)
    return boxes[:n].copy(), boxes[n:].copy()


register("iou matrix", iou_matrix, _boxes, 500, 12, loops=iou_matrix_loops, arrays=iou_matrix_jax)
