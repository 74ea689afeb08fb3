"""What a call of ``np.vectorize(function)`` does: the function is called for each element, which it gets as a number of
Python's, and what it returns becomes an element of an array of the type of the first one."""

from __future__ import annotations

from typing import Any

import numpy as np


def of_one(function: Any, dtype: Any, x: Any) -> Any:
    x = np.asarray(x)
    made = np.empty(x.shape, dtype)
    found, values = made.reshape(-1), x.reshape(-1)
    for k in range(x.size):
        found[k] = function(values[k].item())
    return made


def of_two(function: Any, dtype: Any, x: Any, y: Any) -> Any:
    x, y = np.broadcast_arrays(x, y)
    made = np.empty(x.shape, dtype)
    found, first, second = made.reshape(-1), x.reshape(-1), y.reshape(-1)
    for k in range(x.size):
        found[k] = function(first[k].item(), second[k].item())
    return made


def of_three(function: Any, dtype: Any, x: Any, y: Any, z: Any) -> Any:
    x, y, z = np.broadcast_arrays(x, y, z)
    made = np.empty(x.shape, dtype)
    found, first, second, third = made.reshape(-1), x.reshape(-1), y.reshape(-1), z.reshape(-1)
    for k in range(x.size):
        found[k] = function(first[k].item(), second[k].item(), third[k].item())
    return made


def first_of(x: Any) -> Any:
    """The element whose result tells the type."""
    x = np.asarray(x)
    if x.size == 0:
        raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
    return x.flat[0]
