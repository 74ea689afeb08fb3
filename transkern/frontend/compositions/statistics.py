"""Means, spreads, order statistics, and what ignores NaN."""

from __future__ import annotations

from typing import Any

import numpy as np

from transkern.frontend.compositions.primitives import (
    along,
    axes_of,
    axis_of,
    chosen,
    joined,
    reduced_last,
    refuse,
    with_ones,
)


def average(a: Any, axis: Any = None, weights: Any = None, returned: bool = False, keepdims: bool = False) -> Any:
    a = np.asanyarray(a)
    if axis is not None:
        for one in axis if isinstance(axis, (tuple, list)) else (axis,):
            axis_of(one, a.ndim, "axis")
        axis = tuple(axis) if isinstance(axis, list) else axis
    if weights is None:
        mean = np.mean(a, axis=axis, keepdims=keepdims)
        if np.size(mean) == 0:  # NumPy divides the two sizes, whoever asks for the quotient
            raise ZeroDivisionError("division by zero")
        if not returned:
            return mean
        return mean, np.full_like(mean, np.size(a) / np.size(mean))[()]
    w = np.asanyarray(weights)
    if axis is not None and w.ndim == 1 and a.ndim > 1:
        (at,) = axes_of(axis, a.ndim)
        if w.shape[0] != a.shape[at]:
            raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
        w = np.expand_dims(w, [d for d in list(range(a.ndim)) if d != at])
        if at != 0 and not keepdims:
            scale = np.sum(weights, dtype=_inexact(a, w))
        else:
            scale = np.sum(w, axis=axis, dtype=_inexact(a, w), keepdims=keepdims)
    else:
        if a.shape != w.shape:
            if axis is None:
                raise TypeError("Axis must be specified when shapes of a and weights differ.")
            raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
        scale = np.sum(w, axis=axis, dtype=_inexact(a, w), keepdims=keepdims)
    if np.any(scale == 0.0):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    total = np.sum(np.multiply(a, w, dtype=_inexact(a, w)), axis=axis, keepdims=keepdims) / scale
    if not returned:
        return total
    return total, np.full_like(total, scale)[()]


def _inexact(a: Any, w: Any) -> Any:
    return np.result_type(a, w, np.float64) if a.dtype.kind in "iub" else np.result_type(a, w)


def cov(m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None, dtype: Any = None) -> Any:
    m = np.asarray(m)
    if m.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    if dtype is None:
        dtype = np.result_type(m, np.float64) if y is None else np.result_type(m, y, np.float64)
    x = np.atleast_2d(m.astype(dtype))
    if not rowvar and m.ndim != 1:
        x = x.T
    if y is not None:
        if x.shape[0] == 0:
            raise RuntimeError("`np.cov` of no variables and others, which has another shape, is not compiled")
        other = np.atleast_2d(np.asarray(y).astype(dtype))
        x = np.concatenate((x, other if rowvar or other.shape[0] == 1 else other.T), axis=0)
    free = (0 if bias else 1) if ddof is None else ddof
    factor = np.true_divide(1, np.maximum(x.shape[1] - free, 0.0))
    if not rowvar and m.ndim != 1 and y is None:  # in the order of its memory, as NumPy leaves it
        columns = x.T - np.mean(x.T, axis=0)
        return np.squeeze(np.dot(columns.T, np.conjugate(columns)) * factor)
    centred = x - np.mean(x, axis=1)[:, None]
    return np.squeeze(np.dot(centred, np.conjugate(centred.T)) * factor)


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, dtype: Any = None) -> Any:
    c = cov(x, y, rowvar, False, None, dtype)
    if c.ndim == 0:
        return c / c
    deviation = np.sqrt(np.diagonal(c))
    c = c / deviation[:, None] / deviation[None, :]
    if c.dtype.kind == "c":
        return np.clip(c.real, -1, 1) + 1j * np.clip(c.imag, -1, 1)
    return np.clip(c, -1, 1)


# --- order


def median(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    a = np.asanyarray(a)
    s = np.sort(reduced_last(a, axis), axis=-1)
    n = s.shape[-1]
    result = with_ones(_middle(s, n, a.dtype.kind in "fc"), a, axis, keepdims)
    if out is None:
        return result[()]
    out[...] = result
    return out


def _middle(s: Any, n: Any, may_be_nan: bool) -> Any:
    """The mean of the two elements in the middle of the first `n` of sorted ones; NaN where the last of them is."""
    work = np.result_type(s, np.float32) if s.dtype.kind in "fc" else np.float64
    low = chosen(n > 0, s, (n - 1) // 2, np.zeros((), s.dtype)).astype(work)
    high = chosen(n > 0, s, n // 2, np.zeros((), s.dtype)).astype(work)
    result = np.where(n % 2 == 1, high, (low + high) / 2) + 0.0  # a mean begins with 0.0: no negative zero
    wrong = n == 0
    if may_be_nan:
        wrong = wrong | np.isnan(chosen(n > 0, s, n - 1, np.zeros((), s.dtype)))
    result = np.where(wrong, np.nan, result)
    return result.astype(s.dtype) if s.dtype.kind in "fc" else result[()]


def _of_reals(a: Any) -> Any:
    a = np.asanyarray(a)
    if a.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    return a


def percentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False,
) -> Any:  # fmt: skip
    a = _of_reals(a)
    fraction = np.true_divide(q, 100)
    if not np.all((fraction >= 0) & (fraction <= 1)):
        raise ValueError("Percentiles must be in the range [0, 100]")
    return _quantile(a, fraction, axis, out, method, keepdims, isinstance(q, (int, float)), False)


def quantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False,
) -> Any:  # fmt: skip
    a = _of_reals(a)
    fraction = np.asanyarray(q)
    if not np.all((fraction >= 0) & (fraction <= 1)):
        raise ValueError("Quantiles must be in the range [0, 1]")
    return _quantile(a, fraction, axis, out, method, keepdims, isinstance(q, (int, float)), False)


def nanpercentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False,
) -> Any:  # fmt: skip
    a = _of_reals(a)
    fraction = np.true_divide(q, 100)
    if not np.all((fraction >= 0) & (fraction <= 1)):
        raise ValueError("Percentiles must be in the range [0, 100]")
    return _quantile(a, fraction, axis, out, method, keepdims, isinstance(q, (int, float)), True)


def nanquantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, method: str = "linear",
    keepdims: bool = False,
) -> Any:  # fmt: skip
    a = _of_reals(a)
    fraction = np.asanyarray(q)
    if not np.all((fraction >= 0) & (fraction <= 1)):
        raise ValueError("Quantiles must be in the range [0, 1]")
    return _quantile(a, fraction, axis, out, method, keepdims, isinstance(q, (int, float)), True)


def _quantile(
    a: Any, q: Any, axis: Any, out: Any, method: str, keepdims: bool, weak: bool, skip_nan: bool
) -> Any:
    """Over sorted elements, with NumPy's interpolation; `weak`: q was a number of Python's."""
    if np.ndim(q) > 1:
        refuse("quantiles for `q` of more than one dimension", "give q.ravel()")
    s = np.sort(reduced_last(a, axis), axis=-1)
    if np.ndim(q) == 1 and a.size == 0 and (skip_nan or q.size == 0):
        raise RuntimeError("several quantiles of nothing, which are of no one shape and type, are not compiled")
    if not skip_nan and s.shape[-1] == 0:
        _refuse_no_elements(s, q, method)
    of_none = skip_nan and a.dtype.kind not in "fc" and q.dtype.kind == "f"
    if skip_nan and a.dtype.kind not in "fc" and q.dtype.kind != "f" and s.shape[-1] == 0:
        raise RuntimeError("a quantile of no integers, which has another type than one of some, is not compiled")
    skip_nan = skip_nan and a.dtype.kind in "fc"
    if np.ndim(q) == 1:
        s = np.broadcast_to(s, (*np.shape(q), *s.shape))
        q = np.expand_dims(q, list(range(1, s.ndim - 1)))
    count = np.sum(~np.isnan(s), axis=-1) if skip_nan else s.shape[-1]
    result = _interpolated(s, count, q, method, weak)
    if a.dtype.kind in "fc":
        empty = np.isnan(chosen(s.shape[-1] > 0, s, s.shape[-1] - 1, np.zeros((), s.dtype)))
        if skip_nan:
            empty = count == 0
        result = np.where(empty, np.array(np.nan, result.dtype), result)
    if of_none:
        result = np.where(s.shape[-1] == 0, np.nan, result)
    if keepdims:
        axes = axes_of(axis, a.ndim)
        extra = result.ndim - (a.ndim - len(axes))
        result = np.expand_dims(result, [d + extra for d in axes])
    if out is None:
        return result[()]
    out[...] = result
    return out


def _refuse_no_elements(s: Any, q: Any, method: str) -> None:
    """What NumPy comes to first, where it looks for an element."""
    if s.dtype.kind in "fc":
        raise IndexError("index -1 is out of bounds for axis 0 with size 0")
    if method in ("lower", "higher", "nearest") or (method == "linear" and q.dtype.kind in "biu"):
        raise IndexError("cannot do a non-empty take from an empty axes.")
    if (q if q.ndim == 0 else q[0]) > 0:
        raise IndexError("index 0 is out of bounds for axis 0 with size 0")
    raise IndexError("index -1 is out of bounds for axis 0 with size 0")


def _interpolated(s: Any, n: Any, q: Any, method: str, weak: bool) -> Any:
    zero = np.zeros((), s.dtype)
    last = np.asarray(n - 1).astype(q.dtype) if q.dtype.kind == "f" else n - 1
    at = last * q
    if method == "linear":
        if q.dtype.kind in "biu":  # the first or the last
            return chosen(n > 0, s, at, zero)
        low = np.floor(at)
        inside = at < n - 1
        gamma = np.where(inside, at - low, at + 1)
        below = chosen(n > 0, s, np.where(inside, low, n - 1).astype(np.int64), zero)
        above = chosen(n > 0, s, np.where(inside, low + 1, n - 1).astype(np.int64), zero)
        return _between(below, above, gamma, weak)
    if method == "lower":
        return chosen(n > 0, s, np.floor(at).astype(np.int64), zero)
    if method == "higher":
        return chosen(n > 0, s, np.ceil(at).astype(np.int64), zero)
    if method == "nearest":
        return chosen(n > 0, s, np.rint(at).astype(np.int64), zero)
    if method == "midpoint":
        low, high = np.floor(at), np.ceil(at)
        below = chosen(n > 0, s, low.astype(np.int64), zero)
        above = chosen(n > 0, s, high.astype(np.int64), zero)
        return _between(below, above, np.where(high == low, 0.0, 0.5), weak)
    return refuse("np.quantile with this method=", "supported: linear, lower, higher, nearest, midpoint")


def _between(below: Any, above: Any, gamma: Any, weak: bool) -> Any:
    """Between two elements; what Python's number leaves of 1 is rounded once, after the difference."""
    step = np.subtract(above, below)
    rest = 1 - gamma
    if weak:
        return np.where(gamma >= 0.5, above - step * _as_weak(rest, step), below + step * _as_weak(gamma, step))
    return np.where(gamma >= 0.5, above - step * rest, below + step * gamma)


def _as_weak(number: Any, other: Any) -> Any:
    """A number that takes part in arithmetic as one of Python's does: in the dtype of the other operand."""
    return number.astype(other.dtype) if other.dtype.kind in "fc" else number


def nanmedian(a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> Any:
    a = np.asanyarray(a)
    if a.dtype.kind not in "fc":
        return median(a, axis, out, overwrite_input, keepdims)
    s = np.sort(reduced_last(a, axis), axis=-1)
    result = with_ones(_middle(s, np.sum(~np.isnan(s), axis=-1), False), a, axis, keepdims)
    if out is None:
        return result[()]
    out[...] = result
    return out


# --- without NaN


def nansum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    return np.sum(_without_nan(np.asanyarray(a), 0), axis=axis, dtype=dtype, out=out, keepdims=keepdims)


def nanprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    return np.prod(_without_nan(np.asanyarray(a), 1), axis=axis, dtype=dtype, out=out, keepdims=keepdims)


def nancumsum(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return np.cumsum(np.asarray(_without_nan(np.asanyarray(a), 0)), axis=axis, dtype=dtype, out=out)


def nancumprod(a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    return np.cumprod(np.asarray(_without_nan(np.asanyarray(a), 1)), axis=axis, dtype=dtype, out=out)


def _without_nan(a: Any, value: Any) -> Any:
    return np.where(np.isnan(a), np.array(value, a.dtype), a) if a.dtype.kind in "fc" else a


def nanmax(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    reduction = "fmax" if isinstance(a, np.ndarray) else "maximum"
    a = np.asanyarray(a)
    if a.dtype.kind not in "fc":
        if a.size == 0 and np.size(np.any(a, axis=axis, keepdims=keepdims)) != 0:
            raise ValueError(f"zero-size array to reduction operation {reduction} which has no identity")
        return np.max(a, axis=axis, out=out, keepdims=keepdims)
    nan = np.isnan(a)
    missing = np.all(nan, axis=axis, keepdims=keepdims)
    if a.size == 0 and np.size(missing) != 0:
        raise ValueError(f"zero-size array to reduction operation {reduction} which has no identity")
    high = np.max(np.where(nan, np.array(-np.inf, a.dtype), a), axis=axis, keepdims=keepdims)
    result = np.where(missing, np.array(np.nan, a.dtype), high)
    if out is None:
        return result[()]
    out[...] = result
    return out


def nanmin(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    reduction = "fmin" if isinstance(a, np.ndarray) else "minimum"
    a = np.asanyarray(a)
    if a.dtype.kind not in "fc":
        if a.size == 0 and np.size(np.any(a, axis=axis, keepdims=keepdims)) != 0:
            raise ValueError(f"zero-size array to reduction operation {reduction} which has no identity")
        return np.min(a, axis=axis, out=out, keepdims=keepdims)
    nan = np.isnan(a)
    missing = np.all(nan, axis=axis, keepdims=keepdims)
    if a.size == 0 and np.size(missing) != 0:
        raise ValueError(f"zero-size array to reduction operation {reduction} which has no identity")
    low = np.min(np.where(nan, np.array(np.inf, a.dtype), a), axis=axis, keepdims=keepdims)
    result = np.where(missing, np.array(np.nan, a.dtype), low)
    if out is None:
        return result[()]
    out[...] = result
    return out


def nanargmax(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    a = np.asanyarray(a)
    if a.dtype.kind in "fc":
        if a.size != 0 and np.any(np.all(np.isnan(a), axis=axis)):
            raise ValueError("All-NaN slice encountered")
        a = np.where(np.isnan(a), np.array(-np.inf, a.dtype), a)
    return np.argmax(a, axis=axis, out=out, keepdims=keepdims)


def nanargmin(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    a = np.asanyarray(a)
    if a.dtype.kind in "fc":
        if a.size != 0 and np.any(np.all(np.isnan(a), axis=axis)):
            raise ValueError("All-NaN slice encountered")
        a = np.where(np.isnan(a), np.array(np.inf, a.dtype), a)
    return np.argmin(a, axis=axis, out=out, keepdims=keepdims)


def _check_inexact(dtype: Any) -> None:
    if dtype is not None and np.dtype(dtype).kind not in "fc":
        raise TypeError("If a is inexact, then dtype must be inexact")


def nanmean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    a = np.asanyarray(a)
    if a.dtype.kind not in "fc":
        return np.mean(a, axis=axis, dtype=dtype, out=out, keepdims=keepdims)
    _check_inexact(dtype)
    count = np.sum(~np.isnan(a), axis=axis, dtype=np.int64, keepdims=keepdims)
    total = np.sum(_without_nan(a, 0), axis=axis, dtype=dtype, keepdims=keepdims)
    result = np.divide(total, count).astype(total.dtype)
    if out is None:
        return result[()]
    out[...] = result
    return out


def nanvar(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: bool = False
) -> Any:
    a = np.asanyarray(a)
    if a.dtype.kind not in "fc":
        return np.var(a, axis=axis, dtype=dtype, out=out, ddof=ddof, keepdims=keepdims)
    _check_inexact(dtype)
    nan = np.isnan(a)
    count = np.sum(~nan, axis=axis, dtype=np.int64, keepdims=True)
    mean = np.sum(_without_nan(a, 0), axis=axis, dtype=dtype, keepdims=True)
    mean = np.divide(mean, count).astype(mean.dtype)
    deviation = np.where(nan, np.array(0, a.dtype), (a - mean).astype(a.dtype))
    square = (deviation * np.conj(deviation)).real if a.dtype.kind == "c" else deviation * deviation
    total = np.sum(square, axis=axis, dtype=dtype, keepdims=keepdims)
    free = count - ddof
    if not keepdims:
        free = np.sum(~nan, axis=axis, dtype=np.int64) - ddof
    result = np.where(free <= 0, np.array(np.nan, total.dtype), np.divide(total, free).astype(total.dtype))
    if out is None:
        return result[()]
    out[...] = result
    return out


def nanstd(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: bool = False
) -> Any:
    return np.sqrt(nanvar(a, axis, dtype, None, ddof, keepdims), out=out)


# --- running


def cumulative_sum(x: Any, axis: Any = None, dtype: Any = None, include_initial: bool = False) -> Any:
    x = np.atleast_1d(x)
    if axis is None and x.ndim != 1:
        raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
    at = 0 if axis is None else axis
    made = np.cumsum(x, axis=at, dtype=dtype)
    return joined((np.zeros((), made.dtype), made), at) if include_initial else made


def cumulative_prod(x: Any, axis: Any = None, dtype: Any = None, include_initial: bool = False) -> Any:
    x = np.atleast_1d(x)
    if axis is None and x.ndim != 1:
        raise ValueError("For arrays which have more than one dimension ``axis`` argument is required.")
    at = 0 if axis is None else axis
    made = np.cumprod(x, axis=at, dtype=dtype)
    return joined((np.ones((), made.dtype), made), at) if include_initial else made


# --- integrals


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    y = np.asanyarray(y)
    if isinstance(axis, tuple):
        raise TypeError("list indices must be integers or slices, not tuple")
    if axis >= y.ndim or axis < -y.ndim:
        raise IndexError("list assignment index out of range")
    if x is None:
        d = dx
    else:
        x = np.asanyarray(x)
        if x.ndim == 1:
            d = np.diff(x)
            d = np.expand_dims(d, [k for k in list(range(y.ndim)) if k != axis % y.ndim])
        else:
            d = np.diff(x, axis=axis)
    return (d * (along(y, axis, 1, None) + along(y, axis, None, -1)) / 2.0).sum(axis)
