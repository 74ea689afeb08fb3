"""Elements put elsewhere: rotations, insertions, products of shapes."""

from __future__ import annotations

from typing import Any

import numpy as np

from transkern.frontend.compositions.primitives import axis_of, known, refuse, spliced
from transkern.versions import NUMPY_2_5


def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    first, second = axes
    m = np.asanyarray(m)
    if first == second or abs(first - second) == m.ndim:
        raise ValueError("Axes must be different.")
    if first >= m.ndim or first < -m.ndim or second >= m.ndim or second < -m.ndim:
        raise ValueError(f"Axes={tuple(axes)} out of range for array of ndim={m.ndim}.")
    if k % 4 == 0:
        return m[...]
    if k % 4 == 2:
        return np.flip(np.flip(m, first), second)
    if k % 4 == 1:
        return np.swapaxes(np.flip(m, second), first, second)
    return np.flip(np.swapaxes(m, first, second), second)


def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    axis = axis_of(axis, a.ndim)
    start = start + a.ndim if start < 0 else start
    if start < 0 or start > a.ndim:
        text = f"'start' arg requires {-a.ndim} <= start < {a.ndim + 1}, but {int(start)} was passed in"
        raise np.exceptions.AxisError(text)
    start = start - 1 if axis < start else start
    return a[...] if axis == start else np.moveaxis(a, axis, start)


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> Any:
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = np.asarray(a), np.asarray(b)
    if a.ndim < 1 or b.ndim < 1:
        raise ValueError("At least one array has zero dimension")
    axisa, axisb = axis_of(axisa, a.ndim, "axisa"), axis_of(axisb, b.ndim, "axisb")
    kind = np.promote_types(a.dtype, b.dtype)
    a, b = np.moveaxis(a, axisa, -1).astype(kind), np.moveaxis(b, axisb, -1).astype(kind)
    m, n = known(a.shape[-1]), known(b.shape[-1])
    if NUMPY_2_5 and not (m == 3 and n == 3):
        raise ValueError(
            "Both input arrays must be (arrays of) 3-dimensional vectors, but they are "
            f"{m} and {n} dimensional instead."
        )
    if m not in (2, 3) or n not in (2, 3):
        raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")
    np.broadcast_shapes(a[..., 0].shape, b[..., 0].shape)
    z = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    if m == 2 and n == 2:
        return np.asarray(z)
    axisc = axis_of(axisc, z.ndim + 1, "axisc")
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
    axis = axis_of(axis, a.ndim)
    n = a.shape[axis]
    if isinstance(obj, bool):
        raise AttributeError("'bool' object has no attribute 'ndim'")
    if np.ndim(obj) == 0:
        if not isinstance(obj, (int, np.integer)) and np.asarray(obj).dtype.kind not in "iu":
            refuse("np.insert at a position that is no integer")
        if obj < -n or obj > n:
            raise IndexError(f"index {obj} is out of bounds for axis {axis} with size {n}")
        v = np.asarray(values, a.dtype)
        v = np.expand_dims(v, list(range(a.ndim - v.ndim)))
        return spliced(a, axis, np.where(np.less(obj, 0), obj + n, obj), np.moveaxis(v, 0, axis))
    at = np.array(obj)
    if at.dtype == bool:
        if not isinstance(obj, np.ndarray):
            raise AttributeError(f"'{type(obj).__name__}' object has no attribute 'ndim'")
        if at.ndim != 1:
            raise ValueError("boolean array argument obj to insert must be one dimensional")
        at = np.flatnonzero(at)
    elif at.ndim > 1:
        raise ValueError("index array argument obj to insert must be one dimensional or scalar")
    elif at.size == 0 and not isinstance(obj, np.ndarray):
        at = at.astype(int)
    before = (slice(None),) * axis
    several = at.size != 1
    count = at.size
    if at.size == 1:  # where all values go
        if at[0] < -n or at[0] > n:
            raise IndexError(f"index {obj} is out of bounds for axis {axis} with size {n}")
        count = np.array(values, a.dtype, ndmin=a.ndim).shape[axis]
    at = np.take(at, np.arange(count) * several)
    at = np.where(at < 0, at + n, at)
    order = np.argsort(at, kind="mergesort")
    if several:
        at[order] += np.arange(count)  # which types of positions do not take
    else:
        at = np.arange(count) + at
    made = np.zeros((*a.shape[:axis], n + count, *a.shape[axis + 1 :]), a.dtype)
    old = np.ones(n + count, bool)
    old[at] = False
    made[(*before, at)] = values
    made[(*before, np.flatnonzero(old))] = a
    return made


def trim_zeros(filt: Any, trim: str = "fb") -> Any:
    if not isinstance(filt, np.ndarray) or filt.ndim != 1:
        refuse("np.trim_zeros of what is no array of one dimension", "make it an array")
    if trim.lower() not in ("f", "b", "fb", "bf"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    begin, end = 0, filt.shape[0]
    if "f" in trim.lower():
        begin = np.argmax(np.concatenate((filt != 0, [True])))
    if "b" in trim.lower():
        end = end - np.argmax(np.concatenate((filt[::-1] != 0, [True])))
    return filt[begin:end]


def resize(a: Any, new_shape: Any) -> Any:
    flat = np.ravel(a)
    shape = (new_shape,) if np.ndim(new_shape) == 0 else tuple(new_shape)
    if np.ndim(new_shape) > 0 and len(new_shape) > 0 and np.asarray(new_shape).dtype.kind not in "iub":
        refuse("np.resize to a shape of numbers that are no integers")
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
    axis = axis_of(axis, arr.ndim)
    _whole(indices)
    if arr.ndim != indices.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    return arr[_grid(arr, indices, axis)]


def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    if axis is None:
        flat = arr.reshape(-1)
        flat[_whole(indices)] = values
    else:
        axis = axis_of(axis, arr.ndim)
        if np.asarray(indices).dtype.kind not in "iu":
            raise IndexError("`indices` must be an integer array")
        if np.ndim(indices) != arr.ndim:
            raise ValueError("`indices` and `arr` must have the same number of dimensions")
        arr[_grid(arr, indices, axis)] = values


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
    arr = np.asarray(arr)
    axis = axis_of(axis, arr.ndim)
    moved = np.moveaxis(arr, axis, -1)
    count = 1
    for extent in moved.shape[:-1]:
        count = count * extent
    if count == 0:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    lines = moved.reshape(count, moved.shape[-1])
    found = []
    for k in range(lines.shape[0]):
        found.append(func1d(lines[k], *args))
    made = np.array(found)
    if made.ndim == 1:
        return made.reshape(moved.shape[:-1])
    return np.moveaxis(made.reshape(moved.shape[:-1] + made.shape[1:]), -1, axis)


def apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    dimensions, value = a.ndim, np.asarray(a)
    for axis in (axes,) if np.ndim(axes) == 0 else axes:
        axis = dimensions + axis if axis < 0 else axis
        found = func(value, axis)
        if found.ndim != value.ndim:
            found = np.expand_dims(found, axis)
        if found.ndim != value.ndim:
            raise ValueError("function is not returning an array of the correct shape")
        value = found
    return value


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any | None = None) -> Any:
    if not (isinstance(x, np.ndarray) or np.isscalar(x)):
        raise TypeError(f"Input should be a NumPy array or scalar. It is a {type(x)} instead.")
    if device is not None and device != "cpu":
        raise ValueError(f'Device not understood. Only "cpu" is allowed, but received: {device}')
    given: Any = x
    return given.astype(dtype, copy=copy)


def asarray_chkfinite(a: Any, dtype: Any = None, order: Any = None) -> Any:
    a = np.asarray(a, dtype=dtype, order=order)
    if a.dtype.kind in "fc" and not np.all(np.isfinite(a)):
        raise ValueError("array must not contain infs or NaNs")
    return a


# --- bits


def packbits(a: Any, /, axis: Any = None, bitorder: str = "big") -> Any:
    _check_integer(axis)
    a = np.asarray(a)
    if bitorder != "big" and bitorder != "little":
        raise ValueError("'order' must be either 'little' or 'big'")
    if a.dtype.kind not in "biu":
        raise TypeError("Expected an input array of integer or boolean data type")
    a, axis, most = _bits_last(a, axis, bitorder)
    n = a.shape[-1]
    bits = np.zeros((*a.shape[:-1], (n + 7) // 8 * 8), np.uint8)
    bits[..., :n] = a != 0
    packed = np.zeros((*a.shape[:-1], (n + 7) // 8), np.uint8)
    for k in list(range(8)):
        packed = packed | (bits[..., k::8] << np.uint8(7 - k if most else k))
    return np.moveaxis(packed, -1, axis)


def unpackbits(a: Any, /, axis: Any = None, count: Any | None = None, bitorder: str = "big") -> Any:
    _check_integer(axis)
    a = np.asarray(a)
    if bitorder[:1] != "b" and bitorder[:1] != "l":
        raise ValueError("'order' must begin with 'l' or 'b'")
    if a.dtype != np.uint8:
        raise TypeError("Expected an input array of unsigned byte data type")
    a, axis, most = _bits_last(a, axis, bitorder)
    _check_integer(count)
    at = np.arange(8 * a.shape[-1])
    shift = (7 - at % 8 if most else at % 8).astype(np.uint8)
    bits = (np.take(a, at // 8, axis=-1) >> shift) & np.uint8(1)
    if count is not None and count < 0:
        if -count > 8 * a.shape[-1]:
            raise ValueError("-count larger than number of elements")
        bits = bits[..., : 8 * a.shape[-1] + count]
    elif count is not None:
        kept = np.zeros((*a.shape[:-1], count), np.uint8)
        n = min(count, 8 * a.shape[-1])
        kept[..., :n] = bits[..., :n]
        bits = kept
    return np.moveaxis(bits, -1, axis)


def _check_integer(value: Any) -> None:
    if value is not None and not isinstance(value, (int, np.integer)):
        raise TypeError(f"'{type(value).__name__}' object cannot be interpreted as an integer")


def _bits_last(a: Any, axis: Any, bitorder: str) -> Any:
    """The array with the axis of bits as its last one, where that stands, and whether the first bit is the highest."""
    a = np.ravel(a) if axis is None or a.ndim == 0 else a
    axis = 0 if axis is None else axis
    axis = axis_of(axis, a.ndim)
    return np.moveaxis(a, axis, -1), axis, bitorder[0] == "b"
