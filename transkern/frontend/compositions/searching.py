"""Searches and sets: sorts and binary searches by the library, the rest over their results."""

from __future__ import annotations

from typing import Any

import numpy as np

from transkern.frontend.compositions.primitives import (
    axis_of,
    element,
    line,
    places,
    places_below,
    places_in_memory,
    refuse,
)

_FEW = 32
"""Numbers that are asked one and all before a search by halves is over."""


def digitize(x: Any, bins: Any, right: bool = False) -> Any:
    if np.iscomplexobj(x):
        raise TypeError("x may not be complex")
    bins = line(np.asarray(bins))
    if np.iscomplexobj(bins):
        rule = "according to the rule 'safe'"
        raise TypeError(f"Cannot cast array data from dtype('complex128') to dtype('float64') {rule}")
    falling = _is_falling(bins)
    if np.any(bins[1:] > bins[:-1]) if falling else np.any(bins[1:] < bins[:-1]):
        raise ValueError("bins must be monotonically increasing or decreasing")
    side = "left" if right else "right"
    if falling:
        found = bins.shape[0] - places(bins[::-1], x, side)
    else:
        found = places(bins, x, side)
    return found


def _place_of(a: Any, v: Any, behind: Any) -> Any:
    """`np.searchsorted` of one number, as NumPy looks for it (in what is not in order, too); `behind`: side="right"."""
    size = np.int64(a.shape[0])
    low, high = np.int64(0), size
    while low < high:
        middle = (low + high) >> 1
        here = a[np.minimum(np.maximum(middle, 0), size - 1)]  # where it is anyway; the compiler sees that it is
        if behind:
            before = not (v < here or (here != here and v == v))
        else:
            before = here < v or (v != v and here == here)
        if before:
            low = middle + 1
        else:
            high = middle
    return np.minimum(np.maximum(low, 0), size)


def _places_in_order(a: Any, v: Any, behind: Any) -> Any:
    """`np.searchsorted` of many numbers, in what is in order: between the places of the least and the largest of some
    that follow each other, which is little where they are in order as well, by as many halvings for each of them; of a
    few numbers all are asked, in vectors, whether they stand before."""
    if a.shape[0] <= _FEW and np.all(a[:-1] <= a[1:]):  # bins with a NaN may be in any order
        return np.sum(_stands_before(a, v[..., None], behind), axis=-1)
    keys = v.reshape(-1)
    count, size = keys.shape[0], np.int64(a.shape[0])
    found = places_in_memory(count, a.shape[0])
    for start in range(0, count, 64):
        stop = min(start + 64, count)
        turns = _halvings(size)
        first = _place_in_order(a, np.fmin.reduce(keys[start:stop]), np.int64(0), size, turns, behind)
        last = _place_in_order(a, np.max(keys[start:stop]), np.int64(0), size, turns, behind)
        turns = _halvings(last - first)
        for i in range(start, stop):
            found[i] = _place_in_order(a, keys[i], first, last - first, turns, behind)
    return found.reshape(v.shape)


def _places_where_in_order(a: Any, v: Any, behind: Any) -> Any:
    if a.shape[0] <= v.size and np.all(a[:-1] <= a[1:]):
        return _places_in_order(a, v, behind)
    return places(a, v, "right" if behind else "left", "unknown")


def _halvings(size: Any) -> Any:
    turns = np.int64(0)
    while np.int64(1) << turns <= size:
        turns += 1
    return turns


def _place_in_order(a: Any, key: Any, first: Any, left: Any, turns: Any, behind: Any) -> Any:
    """The place of a number that is known to be one of `left` behind `first`, or that: no branch depends on it."""
    low, left = first + 0, left + 0
    for _ in range(turns):
        half = (left + 1) >> 1
        low = low + half * _stands_before(element(a, np.maximum(low + half - 1, 0)), key, behind)
        left = left - half
    return low


def _stands_before(here: Any, key: Any, behind: Any) -> Any:
    return (here <= key) | (key != key) if behind else (here < key) | ((key != key) & (here == here))


def _is_falling(bins: Any) -> Any:
    """Whether the first of the bins that differs from those before it is not larger: smaller, or either one is NaN."""
    if bins.shape[0] < 2:
        return False
    differs = bins[1:] != bins[0]
    return np.any(differs) and not bins[0] < bins[1:][np.argmax(differs)]


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    if np.iscomplexobj(fp):
        refuse("np.interp of complex values", "interpolate their real and imaginary parts")
    if period is not None:
        if period == 0:
            raise ValueError("period must be a non-zero value")
        if np.ndim(xp) != 1 or np.ndim(fp) != 1:
            raise ValueError("Data points must be 1-D sequences")
    fp, xp = np.asarray(line(np.asarray(fp)), np.float64), np.asarray(line(xp), np.float64)
    x = np.asarray(x, dtype=np.float64)
    if period is not None:
        if xp.shape[0] != fp.shape[0]:
            raise ValueError("fp and xp are not of the same length")
        period = abs(period)
        x, xp = x % period, xp % period
        order = np.argsort(xp)
        xp, fp = xp[order], fp[order]
        xp = np.concatenate((xp[-1:] - period, xp, xp[0:1] + period))
        fp = np.concatenate((fp[-1:], fp, fp[0:1]))
        left = right = None
    if (left is not None and np.iscomplexobj(left)) or (right is not None and np.iscomplexobj(right)):
        raise TypeError("must be real number, not complex")
    if xp.shape[0] == 0:
        raise ValueError("array of sample points is empty")
    if xp.shape[0] != fp.shape[0]:
        raise ValueError("fp and xp are not of the same length.")
    behind = places(xp, x, "right")
    if 1 < xp.shape[0] <= x.size and np.all(np.isfinite(np.diff(xp)) & np.isfinite(np.diff(fp) / np.diff(xp))):
        return _outside(x, xp, fp, _on_slopes(x, xp, fp, behind), left, right)
    return _outside(x, xp, fp, _between(x, xp, fp, behind - 1), left, right)


def _on_slopes(x: Any, xp: Any, fp: Any, behind: Any) -> Any:
    """Before points `behind`, where all distances and slopes are finite: a slope of 0 to a point at -inf is NaN."""
    slopes = np.append(np.diff(fp) / np.diff(xp), 0.0)
    low = np.maximum(behind - 1, 0)
    x0, y0 = element(xp, low), element(fp, low)
    return np.where(x0 == x, y0, element(slopes, low) * (x - x0) + y0)


def _between(x: Any, xp: Any, fp: Any, j: Any) -> Any:
    """Between points `j` and the next, of which any may be infinite, NaN or the same."""
    n = xp.shape[0]
    low = np.minimum(np.maximum(j, 0), n - 1)
    high = np.minimum(low + 1, n - 1)
    x0, x1, y0, y1 = element(xp, low), element(xp, high), element(fp, low), element(fp, high)
    slope = (y1 - y0) / (x1 - x0)
    y = slope * (x - x0) + y0
    y = np.where(np.isnan(y), slope * (x - x1) + y1, y)
    y = np.where(np.isnan(y) & (y0 == y1), y0, y)
    y = np.where((j == n - 1) | (x0 == x), y0, y)
    return np.where(np.isnan(x) & (n != 1), x, y)  # of a single point the comparisons with a NaN are all false


def _outside(x: Any, xp: Any, fp: Any, y: Any, left: Any, right: Any) -> Any:
    y = np.where(x < xp[0], fp[0] if left is None else left, y)
    return np.where(x > xp[-1], fp[-1] if right is None else right, y)[()]


def _values_of(dtype: Any) -> int:
    """How many values elements of such a type have, where they are few and none is negative."""
    if dtype.kind == "b":
        return 2
    return 1 << 8 * dtype.itemsize if dtype.kind == "u" and dtype.itemsize <= 2 else 0


def bincount(x: Any, weights: Any = None, minlength: Any = 0) -> Any:
    given = x
    x = line(x)
    if not isinstance(given, np.ndarray) and (x.size == 0 or x.dtype.kind == "f"):
        x = np.asarray(given, int)
    if x.dtype.kind not in "iub":
        raise TypeError(
            f"Cannot cast array data from dtype('{x.dtype}') to dtype('int64') according to the rule 'safe'"
        )
    if isinstance(minlength, (bool, np.bool_)):
        raise TypeError("an integer is required")
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    values = _values_of(x.dtype)
    negative = x.dtype.kind == "i"
    x = x.astype(np.int64)
    if values and minlength >= values:  # nothing has to be looked for
        length = minlength
    elif negative:
        least, most = np.min(x, initial=0), np.max(x, initial=-1)  # in one pass
        if least < 0:
            raise ValueError("'list' argument must have no negative elements")
        length = max(int(most) + 1, minlength)
    else:
        length = max(int(np.max(x, initial=-1)) + 1, minlength)
    if weights is None:
        counts = np.zeros(length, np.int64)
        np.add.at(counts, x, 1)
        return counts
    if x.shape[0] == 0:
        raise RuntimeError("`np.bincount` of nothing with weights, which gives integers then, is not compiled")
    w = np.asarray(line(weights), np.float64)
    if w.shape[0] != x.shape[0]:
        raise ValueError("The weights and list don't have the same length.")
    totals = np.zeros(length, np.float64)
    np.add.at(totals, x, w)
    return totals


# --- sets


def _is_new(s: Any, equal_nan: bool) -> Any:
    """Where an element of a sorted array is another than the one before it; all NaN are one, if they are equal."""
    new = np.ones(s.shape[0], bool)
    new[1:] = s[1:] != s[:-1]
    if equal_nan and s.dtype.kind in "fc":
        new[1:] = new[1:] & ~(np.isnan(s[1:]) & np.isnan(s[:-1]))
    return new


def unique(
    ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False, axis: Any = None,
    *, equal_nan: bool = True,
) -> Any:  # fmt: skip
    a = np.asanyarray(ar)
    if axis is not None:
        axis_of(axis, a.ndim)
        if a.ndim != 1:
            refuse("np.unique with axis=")
    flat = np.ravel(a)
    if not return_index and not return_inverse:
        s = np.sort(flat)
        new = _is_new(s, equal_nan)
        if not return_counts:
            return s[new]
        return s[new], _counts(new)
    # of equal integers nobody sees which is first, and the stable order of bytes takes a tenth of the time
    order = np.argsort(flat, kind="mergesort" if return_index or flat.dtype.kind in "iub" else "quicksort")
    s = flat[order]
    new = _is_new(s, equal_nan)
    results = (s[new],)
    if return_index:
        results = results + (order[new],)
    if return_inverse:
        inverse = np.zeros(flat.shape[0], np.int64)
        inverse[order] = np.cumsum(new) - 1
        results = results + (inverse.reshape(a.shape),)
    if return_counts:
        results = results + (_counts(new),)
    return results


def _counts(new: Any) -> Any:
    """How long the runs are that begin where `new` holds."""
    last = np.ones(new.shape[0], bool)
    last[:-1] = new[1:]
    return np.flatnonzero(last) - np.flatnonzero(new) + 1


def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, kind: Any = None
) -> Any:
    a = np.asarray(element)
    if isinstance(test_elements, (list, tuple)) and np.ndim(test_elements) == 1:
        found = np.zeros(a.shape, bool)
        for value in test_elements:
            found = found | (a == value)
        return np.asarray(~found if invert else found)
    b = np.asarray(test_elements)
    found = np.reshape(_found(np.ravel(a), np.ravel(b), assume_unique), a.shape)
    return np.asarray(~found if invert else found)


def _found(a: Any, b: Any, assume_unique: bool) -> Any:
    """Which elements of one line are in another; integers of 64 bits among numbers of other types as NumPy finds them:
    by a table, one after the other, or sorted as floats, by how many there are."""
    common = np.result_type(a, b)
    exact = common.kind in "iub" or not (_is_long(a) or _is_long(b))
    if exact and not assume_unique:  # which need not be so, and NumPy does not look
        return _is_among(a, b)
    if _has_table(a, b) or b.shape[0] < 10 * a.shape[0] ** 0.145:
        if a.dtype.kind == "u" and b.dtype.kind in "ib":
            return _is_among(a, b[b >= 0].astype(np.uint64))
        if a.dtype.kind in "ib" and b.dtype.kind == "u":
            return (a >= 0) & _is_among(a.astype(np.uint64), b)
        return _is_among(a.astype(common), b.astype(common))
    first, inverse = unique(a, return_inverse=True)
    both = np.concatenate((a if assume_unique else first, unique(b) if not assume_unique else b))
    order = np.argsort(both, kind="mergesort")
    s = both[order]
    found = np.zeros(both.shape[0], bool)
    found[order[:-1]] = s[1:] == s[:-1]
    return found[: a.shape[0]] if assume_unique else found[inverse]


def _is_long(a: Any) -> bool:
    return a.dtype.kind in "iu" and a.dtype.itemsize == 8


def _has_table(a: Any, b: Any) -> bool:
    """Whether NumPy looks integers up in a table of all between the least and the largest one."""
    if a.dtype.kind not in "iub" or b.dtype.kind not in "iub" or b.shape[0] == 0:
        return False
    between = np.max(b).astype(np.uint64) - np.min(b).astype(np.uint64)
    largest = 255 if b.dtype.kind == "b" else np.iinfo(b.dtype).max
    return bool(between <= np.uint64(min(6 * (a.shape[0] + b.shape[0]), largest)))


def _is_among(a: Any, b: Any) -> Any:
    size = places_below(a, b)
    if size is not None:  # a table of what is there, as NumPy has it for integers side by side
        there = np.zeros(size, bool)
        there[b] = True
        return there[a]
    if b.shape[0] == 0:
        return np.zeros(a.shape[0], bool)
    s = np.sort(b)
    return s[np.minimum(places(s, a, "left"), s.shape[0] - 1)] == a


def union1d(ar1: Any, ar2: Any) -> Any:
    return unique(np.concatenate((ar1, ar2), axis=None))


def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    if return_indices:
        return _common_and_where(np.asarray(ar1), np.asarray(ar2), assume_unique)
    both = _sorted_together(np.asarray(ar1), np.asarray(ar2), assume_unique)  # a number has its own type, too
    return both[:-1][both[1:] == both[:-1]]


def _common_and_where(ar1: Any, ar2: Any, assume_unique: bool) -> Any:
    """The common elements, and where each stands first in either array."""
    if assume_unique:
        a, b = np.ravel(ar1), np.ravel(ar2)
        both = np.concatenate((a, b))
        order = np.argsort(both, kind="mergesort")
        both = both[order]
        common = both[1:] == both[:-1]
        return both[:-1][common], order[:-1][common], order[1:][common] - a.shape[0]
    a, first = unique(ar1, return_index=True)
    b, second = unique(ar2, return_index=True)
    found, ours, others = _common_and_where(a, b, True)
    return found, first[ours], second[others]


def _sorted_together(ar1: Any, ar2: Any, assume_unique: bool) -> Any:
    """All elements of two arrays, each once of each array; what is there twice in one of them is taken for common."""
    if assume_unique:
        return np.sort(np.concatenate((ar1, ar2), axis=None))
    return np.sort(np.concatenate((unique(ar1), unique(ar2))))


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    values = np.ravel(ar1) if assume_unique else unique(ar1)
    return values[~_found(values, np.ravel(ar2), assume_unique)]


def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Any:
    both = _sorted_together(ar1, ar2, assume_unique)
    edge = np.concatenate((np.ones(1, bool), both[1:] != both[:-1], np.ones(1, bool)))
    return both[edge[1:] & edge[:-1]] if both.shape[0] > 0 else both
