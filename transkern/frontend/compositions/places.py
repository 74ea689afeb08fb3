"""Where a value belongs in a list that is in order: the module `bisect`."""

from __future__ import annotations

from typing import Any


def bisect_right(a: Any, x: Any, lo: Any = 0, hi: Any = None) -> Any:
    if lo < 0:
        raise ValueError("lo must be non-negative")
    low = lo
    high = len(a) if hi is None else hi
    while low < high:
        middle = (low + high) // 2
        if x < a[middle]:
            high = middle
        else:
            low = middle + 1
    return low


def bisect_left(a: Any, x: Any, lo: Any = 0, hi: Any = None) -> Any:
    if lo < 0:
        raise ValueError("lo must be non-negative")
    low = lo
    high = len(a) if hi is None else hi
    while low < high:
        middle = (low + high) // 2
        if a[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


def bisect(a: Any, x: Any, lo: Any = 0, hi: Any = None) -> Any:
    return bisect_right(a, x, lo, hi)


def insort_right(a: Any, x: Any, lo: Any = 0, hi: Any = None) -> None:
    a.insert(bisect_right(a, x, lo, hi), x)


def insort_left(a: Any, x: Any, lo: Any = 0, hi: Any = None) -> None:
    a.insert(bisect_left(a, x, lo, hi), x)


def insort(a: Any, x: Any, lo: Any = 0, hi: Any = None) -> None:
    a.insert(bisect_right(a, x, lo, hi), x)
