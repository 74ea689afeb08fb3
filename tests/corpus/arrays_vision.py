"""Array functions as they are written for images."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.corpus.registry import Case


def to_gray(image: Any) -> Any:
    """Luma of an RGB image of bytes, as bytes."""
    weights = np.array([0.299, 0.587, 0.114])
    gray = np.dot(image[..., :3].astype(np.float64), weights)
    return np.clip(np.round(gray), 0, 255).astype(np.uint8)


def sobel(image: Any) -> Any:
    """Gradient magnitude and direction."""
    p = np.pad(image, 1, mode="edge")
    gx = (p[:-2, 2:] + 2 * p[1:-1, 2:] + p[2:, 2:]) - (p[:-2, :-2] + 2 * p[1:-1, :-2] + p[2:, :-2])
    gy = (p[2:, :-2] + 2 * p[2:, 1:-1] + p[2:, 2:]) - (p[:-2, :-2] + 2 * p[:-2, 1:-1] + p[:-2, 2:])
    return np.hypot(gx, gy), np.rad2deg(np.arctan2(gy, gx))


def equalize(image: Any) -> Any:
    """Histogram equalisation of bytes."""
    counts = np.bincount(image.ravel(), minlength=256)
    running = np.cumsum(counts)
    lowest = running[np.flatnonzero(counts)[0]]
    table = np.round((running - lowest) / max(image.size - lowest, 1) * 255)
    return np.clip(table, 0, 255).astype(np.uint8)[image]


def box_blur(image: Any, radius: int) -> Any:
    """Mean over windows, by running sums in both directions."""
    k = 2 * radius + 1
    p = np.pad(image, radius, mode="reflect")
    s = np.cumsum(p, axis=0)
    s = np.concatenate([s[k - 1 : k], s[k:] - s[:-k]], axis=0)
    s = np.cumsum(s, axis=1)
    s = np.concatenate([s[:, k - 1 : k], s[:, k:] - s[:, :-k]], axis=1)
    return s / (k * k)


def dilate(mask: Any) -> Any:
    """Binary dilation with a cross."""
    p = np.pad(mask, 1)
    return p[1:-1, 1:-1] | p[:-2, 1:-1] | p[2:, 1:-1] | p[1:-1, :-2] | p[1:-1, 2:]


def bilinear(image: Any, ys: Any, xs: Any) -> Any:
    """Samples between pixels; positions outside are moved to the edge."""
    h, w = image.shape
    y, x = np.clip(ys, 0, h - 1), np.clip(xs, 0, w - 1)
    y0, x0 = np.floor(y).astype(int), np.floor(x).astype(int)
    y1, x1 = np.minimum(y0 + 1, h - 1), np.minimum(x0 + 1, w - 1)
    fy, fx = y - y0, x - x0
    top = image[y0, x0] * (1 - fx) + image[y0, x1] * fx
    bottom = image[y1, x0] * (1 - fx) + image[y1, x1] * fx
    return top * (1 - fy) + bottom * fy


def iou_matrix(a: Any, b: Any) -> Any:
    """Intersection over union of all pairs of boxes."""
    top_left = np.maximum(a[:, None, :2], b[None, :, :2])
    bottom_right = np.minimum(a[:, None, 2:], b[None, :, 2:])
    sides = np.clip(bottom_right - top_left, 0, None)
    overlap = sides.prod(axis=2)
    area_a, area_b = np.prod(a[:, 2:] - a[:, :2], axis=1), np.prod(b[:, 2:] - b[:, :2], axis=1)
    union = area_a[:, None] + area_b - overlap
    return np.divide(overlap, union, out=np.zeros_like(overlap), where=union > 0)


def threshold_otsu(image: Any) -> Any:
    """The threshold that separates the histogram best."""
    counts, edges = np.histogram(image, bins=32, range=(0.0, 1.0))
    centers = (edges[:-1] + edges[1:]) / 2
    w1, w2 = np.cumsum(counts), np.cumsum(counts[::-1])[::-1]
    m1 = np.cumsum(counts * centers) / np.maximum(w1, 1)
    m2 = (np.cumsum((counts * centers)[::-1]) / np.maximum(w2[::-1], 1))[::-1]
    between = w1[:-1] * w2[1:] * (m1[:-1] - m2[1:]) ** 2
    return centers[np.argmax(between)]


def median_filter(image: Any) -> Any:
    """Median of 3 by 3 windows."""
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(image, 1, mode="symmetric"), (3, 3))
    return np.median(windows.reshape(*image.shape, 9), axis=-1)


def max_pool(image: Any, size: int) -> Any:
    """Maxima of tiles; what does not fill a tile is cut off."""
    h, w = image.shape[0] // size * size, image.shape[1] // size * size
    tiles = image[:h, :w].reshape(h // size, size, w // size, size)
    return tiles.max(axis=(1, 3))


def hsv_hue(rgb: Any) -> Any:
    """The hue of colours, 0 where there is none."""
    r, g, b = rgb[..., 0], rgb[..., 1], rgb[..., 2]
    high, low = rgb.max(axis=-1), rgb.min(axis=-1)
    delta = high - low
    safe = np.where(delta == 0, 1.0, delta)
    hue = np.select(
        [delta == 0, high == r, high == g],
        [np.zeros_like(r), ((g - b) / safe) % 6, (b - r) / safe + 2],
        (r - g) / safe + 4,
    )
    return hue * 60.0


def integral_sums(image: Any, boxes: Any) -> Any:
    """Sums over boxes (y0, x0, y1, x1) by an integral image."""
    table = np.zeros((image.shape[0] + 1, image.shape[1] + 1))
    table[1:, 1:] = image.cumsum(axis=0).cumsum(axis=1)
    y0, x0, y1, x1 = boxes.T
    return table[y1, x1] - table[y0, x1] - table[y1, x0] + table[y0, x0]


def rotate_and_crop(image: Any, quarter: int, margin: int) -> Any:
    """A quarter turn, flipped, with a frame."""
    turned = np.rot90(np.fliplr(image), k=1)
    inner = turned[margin:-margin, margin:-margin]
    return np.pad(inner, margin, mode="constant", constant_values=quarter), np.flipud(inner).copy()


CASES = [
    Case(to_gray, lambda r: (r.integers(0, 256, (5, 6, 3)).astype(np.uint8),)),
    Case(sobel, lambda r: (r.random((7, 9)),), ulps=4),
    Case(
        equalize,
        lambda r: (r.integers(20, 90, (8, 9)).astype(np.uint8),),
    ),
    Case(box_blur, lambda r: (r.random((9, 11)), 2), ulps=64, scale=40.0),
    Case(dilate, lambda r: (r.random((6, 8)) < 0.2,)),
    Case(bilinear, lambda r: (r.random((6, 7)), r.random(12) * 8 - 1, r.random(12) * 9 - 1), special=False),
    Case(iou_matrix, lambda r: (np.sort(r.random((5, 4))), np.sort(r.random((4, 4)))), ulps=2),
    Case(threshold_otsu, lambda r: (r.random((9, 9)),), ulps=64, special=False),
    Case(median_filter, lambda r: (r.random((6, 7)),), ulps=1),
    Case(max_pool, lambda r: (r.random((9, 8)), 2), ulps=1),
    Case(hsv_hue, lambda r: (r.random((4, 5, 3)),)),
    Case(
        integral_sums,
        lambda r: (r.random((7, 8)), np.array([[0, 0, 3, 4], [2, 1, 7, 8], [5, 5, 5, 6]])),
        ulps=128,
        scale=30.0,
        special=False,
    ),
    Case(rotate_and_crop, lambda r: (r.random((8, 9)), 3, 2)),
]
