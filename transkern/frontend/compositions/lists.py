"""Methods of lists that look for a value."""

from __future__ import annotations

from typing import Any

import numpy as np


def _first(values: Any, wanted: Any) -> Any:
    at = -1
    for i in range(len(values)):
        if values[i] == wanted:
            at = i
            break
    return at


def index(values: Any, wanted: Any) -> Any:
    at = _first(values, wanted)
    if at < 0:
        raise ValueError(f"{wanted!r} is not in list")
    return at


def count(values: Any, wanted: Any) -> Any:
    found = 0
    for i in range(len(values)):
        if values[i] == wanted:
            found += 1
    return found


def remove(values: Any, wanted: Any) -> Any:
    at = _first(values, wanted)
    if at < 0:
        raise ValueError("list.remove(x): x not in list")
    values.pop(at)


def concatenated(arrays: Any) -> Any:
    found: list[Any] = []
    for one in arrays:
        found.extend(one)
    if len(arrays) == 0:
        raise ValueError("need at least one array to concatenate")
    return np.array(found)
