"""Histograms: the bins' edges, and counts in them."""

from __future__ import annotations

from typing import Any

import numpy as np

from transkern.frontend.compositions.primitives import known, line, places, refuse


def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    a, w = np.asarray(a), None
    if a.dtype.kind == "b":
        a = a.astype(np.uint8)
    if weights is not None:
        weights = np.asarray(weights)
        if weights.ndim != a.ndim or weights.shape != a.shape:
            raise ValueError("weights should have the same shape as a.")
        w = np.ravel(weights)
    a = np.ravel(a)
    if np.ndim(bins) > 1:
        raise ValueError("`bins` must be 1d, when an array")
    if np.ndim(bins) == 0:
        if not isinstance(bins, (int, np.integer)):
            raise TypeError("`bins` must be an integer, a string, or an array")
        edges, counts = _even(a, int(bins), range, w)
    else:
        edges = np.asarray(bins)
        if np.any(edges[:-1] > edges[1:]):
            raise ValueError("`bins` must increase monotonically, when an array")
        counts = _uneven(a, edges, w)
    if density:
        return counts / np.diff(edges).astype(float) / np.sum(counts), edges
    return counts, edges


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Any:
    a = np.ravel(a)
    if np.ndim(bins) > 1:
        raise ValueError("`bins` must be 1d, when an array")
    if np.ndim(bins) == 1:
        edges = np.asarray(bins)
        if np.any(edges[:-1] > edges[1:]):
            raise ValueError("`bins` must increase monotonically, when an array")
        return edges
    return _edges(a.astype(np.uint8) if a.dtype.kind == "b" else a, bins, range)[0]


def _edges(a: Any, bins: Any, range: Any) -> Any:
    if bins < 1:
        raise ValueError("`bins` must be positive, when an integer")
    first, last = _outer(a, range)
    if range is None and a.dtype.kind == "i":  # the type may not hold it
        span = np.subtract(last.astype("u" + a.dtype.name), first.astype("u" + a.dtype.name))
    else:
        span = np.subtract(last, first)
    narrow = np.equal(first, last)
    low = np.where(narrow, first - 0.5, first)
    high = np.where(narrow, last + 0.5, last)
    kind = np.result_type(first, last, a)
    if kind.kind in "iu":
        kind = np.result_type(kind, float)
    edges = np.linspace(low, high, bins + 1, dtype=kind)
    if np.any(edges[:-1] >= edges[1:]):
        raise ValueError(f"Too many bins for data range. Cannot create {bins} finite-sized bins.")
    return edges, low, high, np.where(narrow, 1.0, span)


def _even(a: Any, bins: Any, range: Any, w: Any) -> Any:
    edges, first, last, span = _edges(a, bins, range)
    each: Any = 1
    if w is None and a.dtype.itemsize == 1:  # the bins of the 256 values, which are counted first
        each = np.zeros(256, np.int64)
        np.add.at(each, a.astype(np.uint8), 1)
        a = np.arange(256).astype(np.uint8).astype(a.dtype)
    kept = (a >= first) & (a <= last)
    x = np.where(kept, a, first).astype(edges.dtype)
    at = (np.subtract(x, first.astype(edges.dtype)) / span * bins).astype(np.int64)
    at = np.minimum(np.maximum(at, 0), bins - 1)  # within its bins it is anyway; the compiler sees that it is
    at = np.where(x < edges[at], np.maximum(at - 1, 0), at)
    at = np.where(x >= edges[at + 1], np.minimum(at + 1, bins - 1), at)
    if w is None:
        counts = np.zeros(bins, np.int64)
        np.add.at(counts, at, np.where(kept, each, 0))
        return edges, counts
    totals = np.zeros(bins, np.float64)
    np.add.at(totals, at, np.where(kept, w, 0))
    return edges, totals.astype(w.dtype)


def _uneven(a: Any, edges: Any, w: Any) -> Any:
    if w is None:
        s = np.sort(a)
        below = np.searchsorted(s, edges[:-1], side="left")
        return np.diff(np.concatenate((below, np.searchsorted(s, edges[-1:], side="right"))))
    order = np.argsort(a)
    s, running = a[order], np.concatenate((np.zeros(1, w.dtype), np.cumsum(w[order], dtype=w.dtype)))
    below = np.searchsorted(s, edges[:-1], side="left")
    at = np.concatenate((below, np.searchsorted(s, edges[-1:], side="right")))
    return np.diff(running[at])


# --- of several dimensions


def histogram2d(x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    if len(x) != len(y):
        raise ValueError("x and y must have the same length.")
    if _are_several(bins) and len(bins) != 1 and len(bins) != 2:
        bins = [np.asarray(bins), np.asarray(bins)]
    columns = [x, y] if _are_columns(x, y) else _columns([x, y])  # which would be put side by side
    counts, edges = _counts_and_edges(columns, bins, range, density, weights)
    return counts, edges[0], edges[1]


def _are_columns(x: Any, y: Any) -> bool:
    if not isinstance(x, np.ndarray) or not isinstance(y, np.ndarray) or x.ndim != 1 or y.ndim != 1:
        return False
    return x.dtype == y.dtype and x.dtype.kind in "fiu"


def histogramdd(sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    return _counts_and_edges(_columns(sample), bins, range, density, weights)


def _counts_and_edges(columns: Any, bins: Any, range: Any, density: Any, weights: Any) -> Any:
    edges = _edges_of_all(columns, bins, range)
    counts = _counts_in_cells(columns, edges, weights)
    if density:
        total = counts.sum()
        for i, of in enumerate(edges):
            counts = counts / np.expand_dims(np.diff(of), [k for k, _ in enumerate(edges) if k != i])
        counts = counts / total
    return counts, edges


def _columns(sample: Any) -> Any:
    """The coordinates of all points, one array for each dimension."""
    if isinstance(sample, (int, float, complex)) and not isinstance(sample, np.generic):
        raise TypeError(f"'{type(sample).__name__}' object is not iterable")
    if not isinstance(sample, np.ndarray) or sample.ndim != 2:
        sample = np.atleast_2d(sample).T
    _, dimensions = sample.shape
    if sample.dtype.kind == "c":
        refuse("a histogram of complex numbers", "give their real and imaginary parts as two dimensions")
    if sample.dtype.kind == "b":
        sample = sample.astype(np.uint8)
    return [sample[:, i] for i in list(range(known(dimensions)))]


def _edges_of_all(columns: Any, bins: Any, ranges: Any) -> Any:
    count = len(columns)
    if _are_several(bins) and len(bins) != count:
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    if ranges is not None and len(ranges) != count:
        raise ValueError("range argument must have one entry per dimension")
    edges = []
    for i in list(range(count)):
        of = bins[i] if _are_several(bins) else bins
        edges = edges + [_edges_along(columns[i], of, None if ranges is None else ranges[i], i)]
    return edges


def _are_several(bins: Any) -> bool:
    """Whether bins are given for each dimension, maybe counts for some and edges for others."""
    return isinstance(bins, (list, tuple)) or np.ndim(bins) > 0


def _edges_along(a: Any, bins: Any, range: Any, dimension: int) -> Any:
    if np.ndim(bins) > 1:
        raise ValueError(f"`bins[{dimension}]` must be a scalar or 1d array")
    if np.ndim(bins) == 1:
        edges = np.asarray(bins)
        if np.any(edges[:-1] > edges[1:]):
            raise ValueError(f"`bins[{dimension}]` must be monotonically increasing, when an array")
        return edges
    if bins < 1:
        raise ValueError(f"`bins[{dimension}]` must be positive, when an integer")
    first, last = _outer(a, range)
    if range is None and np.linspace(first, last, 2).dtype.itemsize < 8 and a.shape[0] == 0:
        raise RuntimeError("the edges of no points of a small type have another type: give `range=`")
    if not isinstance(bins, (int, np.integer)):
        raise TypeError(f"`bins[{dimension}]` must be an integer, when a scalar")
    narrow = np.equal(first, last)
    return np.linspace(np.where(narrow, first - 0.5, first), np.where(narrow, last + 0.5, last), int(bins) + 1)


def _outer(a: Any, range: Any) -> Any:
    """The first edge and the last one; those of no points are 0 and 1."""
    if range is not None:
        first, last = range
        if first > last:
            raise ValueError("max must be larger than min in range parameter.")
        if not (np.isfinite(first) and np.isfinite(last)):
            raise ValueError(f"supplied range of [{first}, {last}] is not finite")
    elif a.dtype.kind in "fc":
        first = np.where(a.size == 0, np.array(0, a.dtype), np.min(a, initial=np.inf))
        last = np.where(a.size == 0, np.array(1, a.dtype), np.max(a, initial=-np.inf))
        if np.any(np.isnan(a)):
            raise ValueError("autodetected range of [nan, nan] is not finite")
        if not (np.isfinite(first) and np.isfinite(last)):
            raise ValueError(f"autodetected range of [{first}, {last}] is not finite")
    else:
        first = np.where(a.size == 0, 0, np.min(a, initial=np.iinfo(a.dtype).max))
        last = np.where(a.size == 0, 1, np.max(a, initial=np.iinfo(a.dtype).min))
    return first, last


def _counts_in_cells(columns: Any, edges: Any, weights: Any) -> Any:
    """How many points each cell has, or the sum of their weights. Cells beyond the edges, on all sides, are counted and
    left out."""
    if len(edges) == 0:
        refuse("a histogram without dimensions")
    points = columns[0].shape[0]
    regular = True
    for a, of in zip(columns, edges, strict=True):
        regular = regular and _is_regular(a, of)
    at = _in_regular_cells(columns, edges) if regular else _in_cells(columns, edges)
    shape = tuple([len(of) + 1 for of in edges])
    inner = (slice(1, -1),) * len(edges)
    cells = 1
    for size in shape:
        cells = cells * size
    if weights is None:
        counts = np.zeros(cells, np.int64)
        np.add.at(counts, at, 1)
        return counts.reshape(shape)[inner].astype(float)
    if np.iscomplexobj(weights):
        rule = "according to the rule 'safe'"
        raise TypeError(f"Cannot cast array data from dtype('{np.asarray(weights).dtype}') to dtype('float64') {rule}")
    w = np.asarray(weights)
    if w.ndim != 1 and points > 0:
        line(w)
    w = np.ravel(w).astype(np.float64)
    if points > 0 and w.shape[0] != points:
        raise ValueError("The weights and list don't have the same length.")
    totals = np.zeros(cells, np.float64)
    np.add.at(totals, at, w[:points])
    return totals.reshape(shape)[inner].copy()


def _in_cells(columns: Any, edges: Any) -> Any:
    at: Any = 0
    for a, of in zip(columns, edges, strict=True):
        behind = places(of, a, "right")
        at = at * (len(of) + 1) + behind - (a == of[-1])
    return at


def _in_regular_cells(columns: Any, edges: Any) -> Any:
    at: Any = 0
    for a, of in zip(columns, edges, strict=True):
        at = at * (len(of) + 1) + _cell(a, of)
    return at


def _is_regular(a: Any, edges: Any) -> Any:
    """Whether the quotient of distances says of each number between the edges in which bin it is, or in which it nearly
    is. It grows with the number: if it is `k` or `k - 1` for each edge `k`, it is at most one off in between."""
    if len(edges) < 2:
        return False
    kind = np.result_type(a, edges)
    if kind.kind == "f" and a.dtype.kind in "iu" and edges.dtype.kind in "iu":  # NumPy compares the last edge exactly
        return False
    e = edges.astype(kind).astype(np.float64)
    scale = (len(edges) - 1) / (e[-1] - e[0])
    off = np.arange(len(edges)) - np.floor((e - e[0]) * scale)
    return bool(np.all((off == 0) | (off == 1)) and np.all(e[:-1] <= e[1:]))


def _cell(a: Any, edges: Any) -> Any:
    """The position behind which a number stands among regular edges, from 0; of the last edge, the last bin's."""
    kind, bins = np.result_type(a, edges), len(edges) - 1
    a, edges = a.astype(kind), edges.astype(kind)
    first = edges.astype(np.float64)[0]
    scale = bins / (edges.astype(np.float64)[-1] - first)
    kept = (a >= edges[0]) & (a <= edges[-1])
    x = np.where(kept, a, edges[0])
    at = ((x.astype(np.float64) - first) * scale).astype(np.int64)
    at = np.minimum(np.maximum(at, 0), bins - 1)  # within its bins it is anyway; the compiler sees that it is
    at = np.where(x < edges[at], np.maximum(at - 1, 0), np.where(x >= edges[at + 1], np.minimum(at + 1, bins - 1), at))
    return np.where(kept, at + 1, np.where(a < edges[0], 0, bins + 1))
