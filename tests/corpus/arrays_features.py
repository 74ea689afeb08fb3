"""Vision: thresholds, corners, overlapping boxes."""

# ruff: noqa: E501, PERF401
from __future__ import annotations

import numpy as np

from tests.corpus.registry import Case


def _pad(image, k, mode="reflect"):
    return np.pad(image, ((k, k), (k, k)), mode=mode)


def otsu(image, nbins=32):
    hist, edges = np.histogram(image.ravel(), bins=nbins, range=(0.0, 1.0))
    centers = (edges[:-1] + edges[1:]) / 2.0
    hist = hist.astype(float)
    weight1 = np.cumsum(hist)
    weight2 = np.cumsum(hist[::-1])[::-1]
    mean1 = np.cumsum(hist * centers) / weight1
    mean2 = (np.cumsum((hist * centers)[::-1]) / weight2[::-1])[::-1]
    variance12 = weight1[:-1] * weight2[1:] * (mean1[:-1] - mean2[1:]) ** 2
    idx = np.nanargmax(variance12) if np.any(np.isfinite(variance12)) else 0
    return centers[idx]


def canny_hysteresis(mag, low, high):
    h, w = mag.shape
    strong = mag >= high
    weak = (mag >= low) & ~strong
    out = strong.copy()
    stack = list(zip(*np.where(strong)))
    while stack:
        y, x = stack.pop()
        for dy in (-1, 0, 1):
            for dx in (-1, 0, 1):
                ny, nx = y + dy, x + dx
                if 0 <= ny < h and 0 <= nx < w and weak[ny, nx] and not out[ny, nx]:
                    out[ny, nx] = True
                    stack.append((ny, nx))
    return out


def harris_peaks(img, k=0.04, n=5, min_distance=2):
    Iy, Ix = np.gradient(img)
    def box(a):
        p = _pad(a, 1, "edge")
        return sum(p[i:i + a.shape[0], j:j + a.shape[1]] for i in range(3) for j in range(3))
    Sxx, Syy, Sxy = box(Ix * Ix), box(Iy * Iy), box(Ix * Iy)
    R = Sxx * Syy - Sxy ** 2 - k * (Sxx + Syy) ** 2
    order = np.argsort(R, axis=None)[::-1]
    peaks = []
    for flat in order:
        y, x = np.unravel_index(flat, R.shape)
        if all(max(abs(y - py), abs(x - px)) > min_distance for py, px in peaks):
            peaks.append((y, x))
        if len(peaks) == n:
            break
    return np.array(peaks)


def soft_nms(boxes, scores, sigma=0.5, thresh=0.1):
    boxes, scores = boxes.copy(), scores.copy()
    N = boxes.shape[0]
    indexes = np.array([np.arange(N)])
    boxes = np.concatenate((boxes, indexes.T), axis=1)
    y1, x1, y2, x2 = boxes[:, 0], boxes[:, 1], boxes[:, 2], boxes[:, 3]
    areas = (x2 - x1 + 1) * (y2 - y1 + 1)
    for i in range(N):
        tBD = boxes[i, :].copy()
        tscore = scores[i].copy()
        tarea = areas[i].copy()
        pos = i + 1
        if i != N - 1:
            maxscore = np.max(scores[pos:], axis=0)
            maxpos = np.argmax(scores[pos:], axis=0)
        else:
            maxscore = scores[-1]
            maxpos = 0
        if tscore < maxscore:
            boxes[i, :] = boxes[maxpos + i + 1, :]
            boxes[maxpos + i + 1, :] = tBD
            scores[i] = scores[maxpos + i + 1]
            scores[maxpos + i + 1] = tscore
            areas[i] = areas[maxpos + i + 1]
            areas[maxpos + i + 1] = tarea
        xx1 = np.maximum(boxes[i, 1], boxes[pos:, 1])
        yy1 = np.maximum(boxes[i, 0], boxes[pos:, 0])
        xx2 = np.minimum(boxes[i, 3], boxes[pos:, 3])
        yy2 = np.minimum(boxes[i, 2], boxes[pos:, 2])
        w = np.maximum(0.0, xx2 - xx1 + 1)
        h = np.maximum(0.0, yy2 - yy1 + 1)
        inter = w * h
        ovr = inter / (areas[i] + areas[pos:] - inter)
        weight = np.exp(-(ovr * ovr) / sigma)
        scores[pos:] = weight * scores[pos:]
    inds = boxes[:, 4][scores > thresh]
    return inds.astype(int)


def _boxes(r, n):
    b = r.uniform(0, 20, (n, 4)); b[:, 2:] = b[:, :2] + r.uniform(3, 12, (n, 2))
    return b


CASES = [
    Case(otsu, lambda r: (r.random((9, 9)),), ulps=16, special=False),
    Case(canny_hysteresis, lambda r: (r.random((10, 10)), 0.4, 0.9)),
    Case(harris_peaks, lambda r: (r.random((12, 12)),), special=False),
    Case(soft_nms, lambda r: (_boxes(r, 8), r.random(8)), special=False),
]
