"""Elements put elsewhere: rotations, insertions, products of shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from transkern.frontend.compositions.primitives import known, refuse, spliced


def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    m = np.asanyarray(m)
    first, second = axes
    if k % 4 == 0:
        return m[...]
    if k % 4 == 2:
        return np.flip(np.flip(m, first), second)
    if k % 4 == 1:
        return np.swapaxes(np.flip(m, second), first, second)
    return np.flip(np.swapaxes(m, first, second), second)


def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    axis = axis % a.ndim
    start = start + a.ndim if start < 0 else start
    start = start - 1 if axis < start else start
    return a[...] if axis == start else np.moveaxis(a, axis, start)


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = np.asarray(a), np.asarray(b)
    if a.ndim < 1 or b.ndim < 1:
        raise ValueError("At least one array has zero dimension")
    kind = np.promote_types(a.dtype, b.dtype)
    a, b = np.moveaxis(a, axisa, -1).astype(kind), np.moveaxis(b, axisb, -1).astype(kind)
    m, n = known(a.shape[-1]), known(b.shape[-1])
    if m not in (2, 3) or n not in (2, 3):
        raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")
    np.broadcast_shapes(a[..., 0].shape, b[..., 0].shape)
    z = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    if m == 2 and n == 2:
        return z
    if m == 2:
        x, y = a[..., 1] * b[..., 2], -(a[..., 0] * b[..., 2])
    elif n == 2:
        x, y = -(a[..., 2] * b[..., 1]), a[..., 2] * b[..., 0]
    else:
        x = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
        y = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    return np.stack((x, y, z), axis=axisc)


def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    a = np.asarray(arr)
    if axis is None:
        a, axis = np.ravel(a), 0
    axis = axis % a.ndim
    v = np.asarray(values, a.dtype)
    n = a.shape[axis]
    if np.ndim(obj) == 0:
        if not isinstance(obj, (int, np.integer)) and np.asarray(obj).dtype.kind not in "iu":
            refuse("np.insert at a position that is no integer")
        if obj < -n or obj > n:
            raise IndexError(f"index {obj} is out of bounds for axis {axis} with size {n}")
        v = np.expand_dims(v, list(range(a.ndim - v.ndim)))
        return spliced(a, axis, np.where(np.less(obj, 0), obj + n, obj), np.moveaxis(v, 0, axis))
    at = np.array(obj)
    if isinstance(obj, list) and at.size == 0:
        at = at.astype(int)
    at = np.where(at < 0, at + n, at)
    order = np.argsort(at, kind="mergesort")
    at[order] = at[order] + np.arange(at.shape[0])
    turned = np.moveaxis(a, axis, 0)
    made = np.zeros((n + at.shape[0], *turned.shape[1:]), a.dtype)
    old = np.ones(n + at.shape[0], bool)
    old[at] = False
    made[np.flatnonzero(old)] = turned
    shape = (*a.shape[:axis], at.shape[0], *a.shape[axis + 1 :])
    made[at] = np.moveaxis(np.broadcast_to(v, shape), axis, 0)
    return np.moveaxis(made, 0, axis)


def resize(a: Any, new_shape: Any) -> Any:
    flat = np.ravel(a)
    shape = (new_shape,) if np.ndim(new_shape) == 0 else tuple(new_shape)
    if np.ndim(new_shape) > 0 and len(new_shape) > 0 and np.asarray(new_shape).dtype.kind not in "iu":
        raise TypeError("'numpy.float64' object cannot be interpreted as an integer")
    for size in shape:
        if size < 0:
            raise ValueError("all elements of `new_shape` must be non-negative")
    made = np.zeros(shape, flat.dtype)
    if flat.size == 0:
        return made
    return np.take(flat, np.arange(made.size) % flat.size).reshape(shape)


def take_along_axis(arr: Any, indices: Any, axis: int | None = -1) -> Any:
    if axis is None:
        if indices.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        return np.ravel(arr)[_whole(indices)]
    _whole(indices)
    if arr.ndim != indices.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    return arr[_grid(arr, indices, axis % arr.ndim)]


def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    if axis is None:
        flat = arr.reshape(-1)
        flat[_whole(indices)] = values
    else:
        arr[_grid(arr, indices, axis % arr.ndim)] = values


def _grid(arr: Any, indices: Any, axis: int) -> Any:
    return tuple([_whole(indices) if d == axis else _line(arr, d) for d in list(range(arr.ndim))])


def _whole(indices: Any) -> Any:
    if not np.issubdtype(indices.dtype, np.integer):
        raise IndexError("`indices` must be an integer array")
    return indices


def _line(arr: Any, axis: int) -> Any:
    """All positions on an axis, along it."""
    return np.expand_dims(np.arange(arr.shape[axis]), [d for d in list(range(arr.ndim)) if d != axis])


def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any) -> Any:
    moved = np.moveaxis(np.asarray(arr), axis, -1)
    lines = moved.reshape(-1, moved.shape[-1])
    found = []
    for k in range(lines.shape[0]):
        found.append(func1d(lines[k], *args))
    made = np.array(found)
    if made.ndim == 1:
        return made.reshape(moved.shape[:-1])
    return np.moveaxis(made.reshape(moved.shape[:-1] + made.shape[1:]), -1, axis)
