"""Iterators of `itertools`, and what `heapq` says of any iterable, as the lists of what they give.

The arguments are lists, tuples and arrays here: `calling` makes these of iterators. A loop over one of these results is
one over its elements as they are made before it.
"""

from __future__ import annotations

from typing import Any


def accumulate(values: Any, func: Any = None, initial: Any = None) -> Any:
    found = []
    start = 0
    if initial is None and len(values) > 0:
        total = values[0]
        found.append(total)
        start = 1
    if initial is not None:
        total = initial
        found.append(total)
    for i in range(start, len(values)):
        total = total + values[i] if func is None else func(total, values[i])
        found.append(total)
    return found


def pairwise(values: Any) -> Any:
    return [(values[i], values[i + 1]) for i in range(len(values) - 1)]


def groupby(values: Any, key: Any = None) -> Any:
    found = []
    start = 0
    while start < len(values):
        first = values[start] if key is None else key(values[start])
        stop = start + 1
        while stop < len(values) and (values[stop] if key is None else key(values[stop])) == first:
            stop += 1
        found.append((first, [values[i] for i in range(start, stop)]))
        start = stop
    return found


def joined(values: Any) -> Any:
    return [v for part in values for v in part]


def starmap(function: Any, values: Any) -> Any:
    return [function(*v) for v in values]


def takewhile(function: Any, values: Any) -> Any:
    found = []
    for v in values:
        if not function(v):
            break
        found.append(v)
    return found


def dropwhile(function: Any, values: Any) -> Any:
    start = 0
    while start < len(values) and function(values[start]):
        start += 1
    return [values[i] for i in range(start, len(values))]


def filterfalse(function: Any, values: Any) -> Any:
    return [v for v in values if not (v if function is None else function(v))]


def compress(data: Any, selectors: Any) -> Any:
    return [d for d, s in zip(data, selectors) if s]  # noqa: B905 - as long as the shorter


def longest(one: Any, two: Any, fillvalue: Any = None) -> Any:
    length = max(len(one), len(two))
    return [
        (one[i] if i < len(one) else fillvalue, two[i] if i < len(two) else fillvalue) for i in range(length)
    ]


def islice(values: Any, *bounds: Any) -> Any:
    """The bounds are as of a slice, and none of them is negative."""
    start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    start = 0 if start is None else start
    step = 1 if step is None else step
    if len(bounds) == 1 and stop is not None and stop < 0:
        raise ValueError("Stop argument for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    if start < 0 or (stop is not None and stop < 0):
        raise ValueError("Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.")
    if step < 1:
        raise ValueError("Step for islice() must be a positive integer or None.")
    end = len(values) if stop is None else min(stop, len(values))
    return [values[i] for i in range(start, end, step)]


def largest(n: Any, values: Any, key: Any = None) -> Any:
    ordered = sorted(values, reverse=True) if key is None else sorted(values, key=key, reverse=True)
    return ordered[: max(n, 0)]


def smallest(n: Any, values: Any, key: Any = None) -> Any:
    ordered = sorted(values) if key is None else sorted(values, key=key)
    return ordered[: max(n, 0)]


class _Cursor:
    """An iterator over what has positions: where it is, and whether it has come to the end, where it stays."""

    def __init__(self, values: Any) -> None:
        self.values = values
        self.at = 0
        self.ended = False

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        if self.ended or self.at >= len(self.values):
            self.ended = True
            raise StopIteration
        self.at += 1
        return self.values[self.at - 1]


def cursor(values: Any) -> Any:
    return _Cursor(values)
