"""Vision: filters, boxes, labels, colour, with the loops and options that such code has."""

# ruff: noqa: B007, B018, B905, E741, PERF401, UP031
from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from tests.corpus.registry import Case

KERNELS = {
    "box": np.ones((3, 3)) / 9, "sharpen": np.array([[0.0, -1.0, 0.0], [-1.0, 5.0, -1.0], [0.0, -1.0, 0.0]]),
    "sobel": np.array([[-1.0, 0.0, 1.0], [-2.0, 0.0, 2.0], [-1.0, 0.0, 1.0]]),
}  # fmt: skip
GAMMA = (np.arange(256) / 255.0) ** 2.2


class Box(NamedTuple):
    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def area(self) -> float:
        return max(self.x1 - self.x0, 0.0) * max(self.y1 - self.y0, 0.0)

    def intersect(self, other: Box) -> Box:
        return Box(
            max(self.x0, other.x0), max(self.y0, other.y0), min(self.x1, other.x1), min(self.y1, other.y1),
        )  # fmt: skip


def iou(a: Box, b: Box) -> float:
    """Methods and properties of a named tuple."""
    inter = a.intersect(b).area
    union = a.area + b.area - inter
    return inter / union if union > 0 else 0.0


def filter_image(image: Any, name: str = "box", border: str = "skip") -> Any:
    """A kernel chosen by name from a dict of the module; borders by a flag."""
    kernel = KERNELS[name]
    h, w = image.shape
    out = image.copy() if border == "keep" else np.zeros_like(image)
    for i in range(1, h - 1):
        for j in range(1, w - 1):
            out[i, j] = sum(
                image[i + di, j + dj] * kernel[di + 1, dj + 1] for di in (-1, 0, 1) for dj in (-1, 0, 1)
            )
    return out


def threshold(image: Any, method: str | float = "mean") -> Any:
    """A string or a number: isinstance decides."""
    if isinstance(method, str):
        if method == "mean":
            level = image.mean()
        elif method == "middle":
            level = (image.max() + image.min()) / 2
        else:
            raise NotImplementedError(method)
    else:
        level = method
    return image > level, float(level)


def connected(mask: Any) -> Any:
    """Labels by repeated sweeps until nothing changes."""
    h, w = mask.shape
    labels = np.zeros((h, w), dtype=np.int32)
    count = 0
    for i in range(h):
        for j in range(w):
            if mask[i, j]:
                count += 1
                labels[i, j] = count
    changed = True
    while changed:
        changed = False
        for i in range(h):
            for j in range(w):
                if not labels[i, j]:
                    continue
                for di, dj in ((-1, 0), (0, -1), (1, 0), (0, 1)):
                    r, c = i + di, j + dj
                    if 0 <= r < h and 0 <= c < w and 0 < labels[r, c] < labels[i, j]:
                        labels[i, j] = labels[r, c]
                        changed = True
    return labels, count


def histogram_equalise(image: Any) -> Any:
    """Integer counts, a cumulative loop, a table as subscripts."""
    counts = [0] * 16
    for v in image.ravel():
        counts[int(v)] += 1
    table = np.zeros(16, dtype=np.uint8)
    seen = 0
    for level, c in enumerate(counts):
        seen += c
        table[level] = 15 * seen // image.size
    return table[image], counts


def to_linear(pixels: Any) -> Any:
    """A lookup in a large table of the module."""
    if pixels.dtype != np.uint8:
        raise TypeError(f"expected uint8, got {pixels.dtype}")
    return GAMMA[pixels]


def rgb_to_hsv(pixel: Any) -> tuple:
    """Branches on data, floats by name, the remainder of a negative."""
    r, g, b = (float(v) for v in pixel)
    high, low = max(r, g, b), min(r, g, b)
    delta = high - low
    if delta == 0:
        hue = 0.0
    elif high == r:
        hue = (g - b) / delta % 6
    elif high == g:
        hue = (b - r) / delta + 2
    else:
        hue = (r - g) / delta + 4
    return hue * 60, 0.0 if high == 0 else delta / high, high


def convert(image: Any) -> Any:
    """A call of the above for each pixel, the results unpacked into a slice."""
    out = np.empty_like(image)
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            out[i, j, 0], out[i, j, 1], out[i, j, 2] = rgb_to_hsv(image[i, j])
    return out


def draw_line(image: Any, start: tuple, end: tuple, value: float = 1.0) -> int:
    """Bresenham's line: a loop that breaks at the end point."""
    (x0, y0), (x1, y1) = start, end
    dx, dy = abs(x1 - x0), -abs(y1 - y0)
    sx, sy = (1 if x0 < x1 else -1), (1 if y0 < y1 else -1)
    error, drawn = dx + dy, 0
    while True:
        image[y0, x0] = value
        drawn += 1
        if x0 == x1 and y0 == y1:
            break
        twice = 2 * error
        if twice >= dy:
            error += dy
            x0 += sx
        if twice <= dx:
            error += dx
            y0 += sy
    return drawn


def non_maximum(boxes: Any, scores: Any, limit: float = 0.3) -> list:
    """Greedy suppression with objects made in the loop."""
    order = np.argsort(-scores)
    keep = []
    dropped = np.zeros(len(order), dtype=bool)
    for a in range(len(order)):
        if dropped[a]:
            continue
        keep.append(int(order[a]))
        first = boxes[order[a]]
        for b in range(a + 1, len(order)):
            second = boxes[order[b]]
            w = max(0.0, min(first[2], second[2]) - max(first[0], second[0]))
            h = max(0.0, min(first[3], second[3]) - max(first[1], second[1]))
            area = (first[2] - first[0]) * (first[3] - first[1]) + (second[2] - second[0]) * (second[3] - second[1])
            if w * h > limit * (area - w * h):
                dropped[b] = True
    return keep


def bilinear(image: Any, y: float, x: float) -> Any:
    """Conversions to int, clamping with min and max."""
    i, j = int(math.floor(y)), int(math.floor(x))
    fy, fx = y - i, x - j
    i0, i1 = max(0, min(i, image.shape[0] - 1)), max(0, min(i + 1, image.shape[0] - 1))
    j0, j1 = max(0, min(j, image.shape[1] - 1)), max(0, min(j + 1, image.shape[1] - 1))
    top = image[i0, j0] * (1 - fx) + image[i0, j1] * fx
    bottom = image[i1, j0] * (1 - fx) + image[i1, j1] * fx
    return top * (1 - fy) + bottom * fy


def warp(image: Any, angle: float, scale: float = 1.0, shape: tuple | None = None) -> Any:
    """A default made of an argument; calls in a double loop."""
    h, w = shape or image.shape
    out = np.zeros((h, w))
    c, s = math.cos(angle) / scale, math.sin(angle) / scale
    for i in range(h):
        for j in range(w):
            out[i, j] = bilinear(image, c * i - s * j, s * i + c * j)
    return out


def pyramid(image: Any, levels: int = 3) -> list:
    """A list of arrays of different sizes."""
    result = [image]
    for _ in range(levels - 1):
        last = result[-1]
        half = (last[::2, ::2] + last[1::2, ::2] + last[::2, 1::2] + last[1::2, 1::2]) / 4
        result.append(half)
    return result


def crop(image: Any, box: Any = None, *, pad: int = 0) -> Any:
    """A view by default, a slice object in a variable, an Ellipsis."""
    if box is None:
        return image[..., :2]
    rows = slice(max(box[0] - pad, 0), box[1] + pad)
    columns = slice(max(box[2] - pad, 0), box[3] + pad)
    if rows.start >= rows.stop:
        raise IndexError(f"empty rows {rows.start}:{rows.stop}")
    return image[rows, columns]


def moments(mask: Any) -> dict:
    """ndenumerate, nested dicts."""
    m = {"00": 0, "10": 0.0, "01": 0.0}
    for (i, j), on in np.ndenumerate(mask):
        if on:
            m["00"] += 1
            m["10"] += i
            m["01"] += j
    centre = (m["10"] / m["00"], m["01"] / m["00"]) if m["00"] else (math.nan, math.nan)
    return {"moments": m, "centre": centre}


def run_lengths(row: Any) -> Any:
    """Lists of two kinds that grow together."""
    values, lengths = [], []
    previous, run = row[0], 0
    for v in row:
        if v == previous:
            run += 1
            continue
        values.append(previous)
        lengths.append(run)
        previous, run = v, 1
    values.append(previous)
    lengths.append(run)
    return np.array(values), lengths, len(values) == len(lengths)


def median3(image: Any) -> Any:
    """sorted of a few run-time numbers."""
    out = image.copy()
    for i in range(1, len(image) - 1):
        out[i] = sorted([image[i - 1], image[i], image[i + 1]])[1]
    return out


def score(image: Any, templates: Iterable, normalise: bool = True) -> Any:
    """A tuple of templates, enumerate, several results by a running best."""
    best, where = -math.inf, (-1, -1, -1)
    for k, t in enumerate(templates):
        th, tw = t.shape
        for i in range(image.shape[0] - th + 1):
            for j in range(image.shape[1] - tw + 1):
                value = float((image[i : i + th, j : j + tw] * t).sum())
                if normalise:
                    value /= t.size
                if value > best:
                    best, where = value, (k, i, j)
    return best, where


def iou_pair(a: Box, b: Box) -> Any:
    return iou(a, b), a.intersect(b), b.area >= 0.5


def _boxes(r: Any, n: int) -> Any:
    corner = r.random((n, 2)) * 4
    return np.concatenate([corner, corner + 0.5 + r.random((n, 2)) * 2], axis=1)


# fmt: off
CASES = [
    Case(iou_pair, lambda r: (Box(*_boxes(r, 1)[0].tolist()), Box(*_boxes(r, 1)[0].tolist()))),
    Case(filter_image, lambda r: (r.normal(size=(6, 7)), "sharpen", "keep"), 8),
    Case(filter_image, lambda r: (r.normal(size=(6, 7)), "emboss")),
    Case(threshold, lambda r: (r.random((4, 5)), "middle")),
    Case(threshold, lambda r: (r.random((4, 5)), 0.5)),
    Case(threshold, lambda r: (r.random((4, 5)), "otsu")),
    Case(connected, lambda r: (r.random((6, 6)) < 0.5,)),
    Case(histogram_equalise, lambda r: (r.integers(0, 16, (6, 5)).astype(np.uint8),)),
    Case(to_linear, lambda r: (r.integers(0, 256, (3, 4)).astype(np.uint8),)),
    Case(to_linear, lambda r: (r.integers(0, 256, (3, 4)),)),
    Case(convert, lambda r: (r.random((3, 4, 3)),)),
    Case(draw_line, lambda r: (np.zeros((9, 9)), (1, 7), (int(r.integers(0, 9)), 2))),
    Case(non_maximum, lambda r: (_boxes(r, 8), r.random(8))),
    Case(warp, lambda r: (r.random((6, 6)), 0.3), 8),
    Case(warp, lambda r: (r.random((6, 6)), -0.3, 1.5, (4, 3)), 8),
    Case(pyramid, lambda r: (r.random((8, 8)),)),
    Case(crop, lambda r: (r.random((5, 6)),)),
    Case(crop, lambda r: (r.random((5, 6)), (1, 3, 2, 5))),
    Case(crop, lambda r: (r.random((5, 6)), (4, 1, 2, 5))),
    Case(moments, lambda r: (r.random((4, 5)) < 0.5,)),
    Case(run_lengths, lambda r: (r.integers(0, 3, 12),)),
    Case(median3, lambda r: (r.random(9),), special=False),
    Case(score, lambda r: (r.normal(size=(6, 6)), (r.normal(size=(2, 2)), r.normal(size=(3, 2)))), 64, special=False),
]
# fmt: on
