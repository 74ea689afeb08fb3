"""What compositions say besides NumPy's functions. `handlers` translates these; here is what they mean."""

from __future__ import annotations

from typing import Any

import numpy as np


def along(a: Any, axis: int, start: Any, stop: Any) -> Any:
    """``a[start:stop]`` on an axis."""
    return a[(*[slice(None)] * (axis % a.ndim), slice(start, stop))]


def chosen(condition: Any, a: Any, position: Any, otherwise: Any) -> Any:
    """``a[..., position]`` where the condition holds, which implies that there is such a position, else `otherwise`.

    `position` may be an array over the other axes."""
    safe = np.where(condition, position, 0)
    if a.shape[-1] == 0:
        return np.broadcast_to(otherwise, a.shape[:-1]).astype(a.dtype)[()]
    at = np.broadcast_to(safe, a.shape[:-1])[..., None]
    return np.where(condition, np.take_along_axis(a, at, axis=-1)[..., 0], otherwise)[()]


def places_below(a: Any, b: Any) -> int | None:
    """What all elements of two lines are less than, of which none is negative, if the first is a part of an array that
    is as long, as far as the compiler sees; None elsewhere, as here."""
    return None


def axes_of(axis: Any, ndim: int) -> tuple[int, ...]:
    """An `axis=` as a tuple of axes from 0; None stands for all of them."""
    if axis is None:
        return tuple(range(ndim))
    return tuple(a % ndim for a in (axis if isinstance(axis, (tuple, list)) else (axis,)))


def axis_of(axis: Any, ndim: int, prefix: str = "") -> int:
    """An `axis=` counted from 0; an AxisError's text begins with `prefix`."""
    return np.lib.array_utils.normalize_axis_index(axis, ndim, prefix or None)


def reduced_last(a: Any, axis: Any) -> Any:
    """`a` with the axes of a reduction as its last one."""
    axes = axes_of(axis, a.ndim)
    kept = [d for d in range(a.ndim) if d not in axes]
    turned = a.transpose((*kept, *axes))
    return turned.reshape((*turned.shape[: len(kept)], -1))


def with_ones(result: Any, a: Any, axis: Any, keepdims: bool) -> Any:
    """The result of a reduction of `a`, with `keepdims`: axes of length 1 where it was reduced."""
    return np.expand_dims(result, axes_of(axis, a.ndim)) if keepdims else result


def joined(parts: Any, axis: int) -> Any:
    """``np.concatenate`` of parts of which None are left out; a number is as long on `axis` as it must be."""
    shape = next(p.shape for p in parts if isinstance(p, np.ndarray) and p.ndim)
    one = tuple(1 if d == axis % len(shape) else n for d, n in enumerate(shape))
    arrays = [np.broadcast_to(p, one) if np.ndim(p) == 0 else p for p in parts if p is not None]
    return np.concatenate(arrays, axis=axis)


def known(size: Any) -> Any:
    """A size on whose value the function depends: it is specialised for it."""
    return size


def spliced(a: Any, axis: int, at: Any, values: Any) -> Any:
    """`a` with `values`, an array of as many dimensions, put before position `at` of an axis."""
    shape = tuple(values.shape[d] if d == axis % a.ndim else n for d, n in enumerate(a.shape))
    middle = np.broadcast_to(values, shape)
    return np.concatenate((along(a, axis, None, at), middle, along(a, axis, at, None)), axis=axis)


def line(values: Any) -> Any:
    """An array of one dimension, as NumPy's functions in C take it, with their errors for others."""
    return np.asarray(values) if np.ndim(values) == 1 else np.bincount(values)  # which raises them


def correlation(a: Any, v: Any, mode: str, swapped: bool) -> Any:
    """``sum(a[i + s + j] * v[j] for j)`` for as many `i` as `mode` says. Where `a` is shorter, `np.correlate` (and not
    `np.convolve`, which has `swapped`) centres its result on the other side."""
    return np.convolve(a, v[::-1], mode) if swapped else np.correlate(a, v, mode)


def require(condition: Any, error: str, message: str) -> None:
    """Raise an error of NumPy's own unless the condition holds."""
    if not condition:
        raise eval(error, {"np": np})(message)


def refuse(problem: str, help: str = "", code: str = "TK1202") -> Any:
    """What is not compiled, and the code of its kind."""
    raise NotImplementedError(problem)


def least_squares(a: Any, b: Any, rcond: Any) -> Any:
    """``np.linalg.lstsq(a, b, rcond)[0]``."""
    return np.linalg.lstsq(a, b, rcond)[0]


def positions(mask: Any) -> Any:
    """``np.nonzero``, in memory: all of its arrays have one length."""
    return np.nonzero(mask)


def element(a: Any, at: Any) -> Any:
    """``a[at]`` of a line, for one place or many, which are there: nobody asks."""
    return a[at]


def places_in_memory(count: Any, size: Any) -> Any:
    """An array for as many places in a line of `size`, or behind it, of which none is known yet."""
    return np.empty(count, np.int64)


def places(a: Any, v: Any, side: str, order: str = "known") -> Any:
    """``np.searchsorted(a, v, side)``, of what is in order unless that is "unknown"."""
    return np.searchsorted(a, v, side=side)


def fit_together(a: Any, b: Any, matrix: int) -> None:
    """Raise NumPy's error if matrices, in operand number `matrix`, and vectors do not broadcast by their numbers."""
    np.broadcast_shapes(a.shape[: matrix - 2], b.shape[: -1 - matrix])
