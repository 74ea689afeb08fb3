"""What goes from element to element: methods of ufuncs (`op` is the ufunc, the axis is the first one), extremes."""

from __future__ import annotations

from typing import Any

import numpy as np

from transkern.frontend.compositions.primitives import places


def folded(op: Any, a: Any, identity: Any, name: str) -> Any:
    if identity is None and a.shape[0] == 0:
        raise ValueError(f"zero-size array to reduction operation {name} which has no identity")
    if a.ndim == 1:
        total = a.dtype.type(0 if identity is None else identity)
        start = 0
        if identity is None:
            total = a[0]
            start = 1
    else:
        total = np.full(a.shape[1:], 0 if identity is None else identity, a.dtype)
        start = 0
        if identity is None:
            total[...] = a[0]
            start = 1
    if a.ndim == 1:
        for k in range(start, a.shape[0]):
            total = op(total, a[k])
    else:
        for k in range(start, a.shape[0]):
            total[...] = op(total, a[k])
    return total


def best(a: Any, largest: bool) -> Any:
    """The positions of the largest (smallest) complex numbers along the first axis; the first NaN wins."""
    if a.ndim == 1:
        at, top = 0, a[0]
        for k in range(1, a.shape[0]):
            better = a[k] > top if largest else a[k] < top
            if better or (np.isnan(a[k]) and not np.isnan(top)):
                at, top = k, a[k]
        return np.int64(at)
    where = np.zeros(a.shape[1:], np.int64)
    best_yet = a[0].copy()
    for k in range(1, a.shape[0]):
        row = a[k]
        better = row > best_yet if largest else row < best_yet
        better = better | (np.isnan(row) & ~np.isnan(best_yet))
        where[...] = np.where(better, k, where)
        best_yet[...] = np.where(better, row, best_yet)
    return where


def accumulated(op: Any, a: Any, identity: Any, name: str) -> Any:
    made = a.copy()
    for k in range(1, a.shape[0]):
        made[k] = op(made[k - 1], a[k])
    return made


def reduced_at(op: Any, a: Any, indices: Any, name: str) -> Any:
    n, m = a.shape[0], indices.shape[0]
    for k in range(m):
        if indices[k] < 0 or indices[k] >= n:
            raise IndexError(f"index {indices[k]} out-of-bounds in {name}.reduceat [0, {n})")
    made = a[indices]
    for k in range(m):
        stop = indices[k + 1] if k + 1 < m else n
        for j in range(indices[k] + 1, stop):
            made[k] = op(made[k], a[j])
    return made


def joined(values: Any, start: Any) -> Any:
    """``sum(values, start)`` of lists or tuples."""
    total = start
    for value in values:
        total = total + value
    return total


def repeated(a: Any, counts: Any) -> Any:
    if np.any(counts < 0):
        raise ValueError("repeats may not contain negative values.")
    ends = np.cumsum(counts)
    return a[places(ends, np.arange(np.sum(counts)), "right")]


def repeated_in_turn(a: Any, counts: Any) -> Any:
    if np.any(counts < 0):
        raise ValueError("repeats may not contain negative values.")
    made = np.empty((np.sum(counts), *a.shape[1:]), a.dtype)
    at = 0
    for i in range(a.shape[0]):
        for _ in range(int(counts[i])):
            made[at] = a[i]
            at += 1
    return made


def greater(one: Any, two: Any) -> Any:
    """``max(one, two)`` of tuples or lists."""
    return two if two > one else one


def lesser(one: Any, two: Any) -> Any:
    return two if two < one else one


def greatest(values: Any) -> Any:
    """``max(values)`` of tuples or lists: the first that no later one is greater than."""
    at = 0
    for k in range(1, len(values)):
        if values[k] > values[at]:
            at = k
    return values[at]


def least(values: Any) -> Any:
    at = 0
    for k in range(1, len(values)):
        if values[k] < values[at]:
            at = k
    return values[at]


def max_or(values: Any, default: Any) -> Any:
    """``max(values, default=default)``."""
    return max(values) if len(values) > 0 else default


def min_or(values: Any, default: Any) -> Any:
    return min(values) if len(values) > 0 else default


def max_from(best: Any, values: Any) -> Any:
    """``max(best, *values)``."""
    for value in values:
        if value > best:
            best = value
    return best


def min_from(best: Any, values: Any) -> Any:
    for value in values:
        if value < best:
            best = value
    return best


def vectorized_of_one(function: Any, dtype: Any, x: Any) -> Any:
    """What a call of ``np.vectorize(function)`` does: the function gets each element as a number of Python's, and what
    it returns becomes an element of an array of `dtype`."""
    x = np.asarray(x)
    made = np.empty(x.shape, dtype)
    found, values = made.reshape(-1), x.reshape(-1)
    for k in range(x.size):
        found[k] = function(values[k].item())
    return made


def vectorized_of_two(function: Any, dtype: Any, x: Any, y: Any) -> Any:
    x, y = np.broadcast_arrays(x, y)
    made = np.empty(x.shape, dtype)
    found, first, second = made.reshape(-1), x.reshape(-1), y.reshape(-1)
    for k in range(x.size):
        found[k] = function(first[k].item(), second[k].item())
    return made


def vectorized_of_three(function: Any, dtype: Any, x: Any, y: Any, z: Any) -> Any:
    x, y, z = np.broadcast_arrays(x, y, z)
    made = np.empty(x.shape, dtype)
    found, first, second, third = made.reshape(-1), x.reshape(-1), y.reshape(-1), z.reshape(-1)
    for k in range(x.size):
        found[k] = function(first[k].item(), second[k].item(), third[k].item())
    return made


def first_vectorized(x: Any) -> Any:
    """The element whose result tells the type."""
    x = np.asarray(x)
    if x.size == 0:
        raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
    return x.flat[0]
