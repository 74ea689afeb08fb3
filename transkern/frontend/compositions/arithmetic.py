"""Elementwise functions that NumPy makes of ufuncs, differences, and polynomials."""

from __future__ import annotations

from typing import Any

import numpy as np

from transkern.frontend.compositions.primitives import along, axis_of, correlation, joined, least_squares, line, refuse


def isclose(a: Any, b: Any, rtol: Any = 1.0e-5, atol: Any = 1.0e-8, equal_nan: bool = False) -> Any:
    if isinstance(b, (int, float)) and not isinstance(b, np.floating):
        b = float(b)
    else:
        b = np.asanyarray(b)
        b = b.astype(np.result_type(b, 1.0))
    close = (abs(np.subtract(a, b)) <= atol + rtol * abs(b)) & np.isfinite(b) | np.equal(a, b)
    if equal_nan:
        close = close | (np.isnan(a) & np.isnan(b))
    return close


def allclose(a: Any, b: Any, rtol: Any = 1.0e-5, atol: Any = 1.0e-8, equal_nan: bool = False) -> Any:
    return bool(np.all(isclose(a, b, rtol, atol, equal_nan)))


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    a1, a2 = np.asarray(a1), np.asarray(a2)
    if a1.shape != a2.shape:
        return False
    same = a1 == a2
    if equal_nan and a1.dtype.kind in "fc" and a2.dtype.kind in "fc":
        same = same | (np.isnan(a1) & np.isnan(a2))
    return bool(np.all(same))


def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    a = np.asanyarray(x)
    if not copy and not isinstance(x, np.ndarray):
        refuse("np.nan_to_num with copy=False of what is no array")
    if a.dtype.kind == "c":
        kept = a.copy()
        kept.real[...] = nan_to_num(a.real, True, nan, posinf, neginf)
        kept.imag[...] = nan_to_num(a.imag, True, nan, posinf, neginf)
        if copy:
            return kept if a.ndim else kept[()]
        x[...] = kept
        return x if a.ndim else x[()]
    if a.dtype.kind != "f":
        return (a.copy() if copy else a) if a.ndim else a[()]
    high = np.finfo(a.dtype).max if posinf is None else posinf
    low = np.finfo(a.dtype).min if neginf is None else neginf
    kept = _replaced(a, np.isnan(a), nan)
    kept = _replaced(kept, a == np.inf, high)
    kept = _replaced(kept, a == -np.inf, low)
    if copy:
        return kept if a.ndim else np.asarray(kept)[()]
    x[...] = kept
    return x if a.ndim else x[()]


def _replaced(a: Any, where: Any, by: Any) -> Any:
    if np.ndim(by) == 0:
        return np.where(where, np.asarray(by, a.dtype), a)
    kept = a.copy()
    np.copyto(kept, by, where=where)
    return kept


def isposinf(x: Any, out: Any = None) -> Any:
    return np.logical_and(np.isinf(x), ~np.signbit(x), out=out)


def isneginf(x: Any, out: Any = None) -> Any:
    return np.logical_and(np.isinf(x), np.signbit(x), out=out)


def isreal(x: Any) -> Any:
    return np.imag(x) == 0


def iscomplex(x: Any) -> Any:
    return np.not_equal(np.imag(x), 0)


def sort_complex(a: Any) -> Any:
    b = np.sort(np.array(a))
    if b.dtype.kind == "c":
        return b
    return b.astype(np.complex64 if b.dtype.char in "bhBH" else np.complex128)


def angle(z: Any, deg: bool = False) -> Any:
    a = np.arctan2(np.imag(z), np.real(z)) if np.iscomplexobj(z) else np.arctan2(0, z)
    return a * (180 / np.pi) if deg else a


def sinc(x: Any) -> Any:
    x = np.pi * np.asanyarray(x)
    y = np.where(x != 0, x, np.finfo(x.dtype).eps)
    return np.sin(y) / y


def array_equiv(a1: Any, a2: Any) -> Any:
    a1, a2 = np.asarray(a1), np.asarray(a2)
    for m, n in zip(a1.shape[::-1], a2.shape[::-1], strict=False):
        if m != n and m != 1 and n != 1:
            return False
    return bool(np.all(a1 == a2))


def unwrap(p: Any, discont: Any = None, axis: int = -1, period: Any = 2 * np.pi) -> Any:
    p = np.asarray(p)
    if discont is not None and np.ndim(discont):
        refuse("np.unwrap with an array of discontinuities")
    dd = np.diff(p, axis=axis)
    kind = np.result_type(dd, period)
    if kind.kind in "iu":
        high, rest = divmod(period, 2)
    else:
        high, rest = period / 2, 0
    low = -high
    wrapped = np.mod(dd - low, period) + low
    wrapped = np.where((wrapped == low) & (dd > 0) & (rest == 0), high, wrapped)
    correction = np.where(np.abs(dd) < (period / 2 if discont is None else discont), 0, wrapped - dd)
    further = along(p, axis, 1, None) + np.cumsum(correction, axis=axis)
    return np.concatenate((along(p, axis, None, 1).astype(kind), further.astype(kind)), axis=axis)


# --- differences


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    if n == 0:
        return a
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    a = np.asanyarray(a)
    if a.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    if prepend is not None or append is not None:
        a = joined((prepend, a, append), axis_of(axis, a.ndim))
    for _ in list(range(n)):
        if a.dtype.kind == "b":
            a = along(a, axis, 1, None) != along(a, axis, None, -1)
        else:
            a = along(a, axis, 1, None) - along(a, axis, None, -1)
    return a


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    a = np.ravel(ary)
    before = [] if to_begin is None else [_end("to_begin", np.asanyarray(to_begin), a.dtype)]
    behind = [] if to_end is None else [_end("to_end", np.asanyarray(to_end), a.dtype)]
    parts = before + [a[1:] - a[:-1]] + behind
    return np.concatenate(parts) if len(parts) > 1 else parts[0]


def _end(name: str, values: Any, dtype: Any) -> Any:
    if not np.can_cast(values.dtype, dtype, "same_kind"):
        raise TypeError(f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule.")
    return np.ravel(values).astype(dtype)


def _gradient(f: Any, spacings: Any, axis: Any, edge_order: int) -> Any:
    """``np.gradient(f, *spacings)``."""
    f = np.asanyarray(f)
    axes = tuple(range(f.ndim)) if axis is None else ((axis,) if isinstance(axis, int) else axis)
    axes = tuple(axis_of(d, f.ndim) for d in axes)
    if len(spacings) > 0 and len(spacings) != len(axes) and (len(spacings) > 1 or np.ndim(spacings[0]) > 0):
        raise TypeError("invalid number of arguments")
    if edge_order > 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    if f.dtype.kind == "b":
        raise TypeError(
            "numpy boolean subtract, the `-` operator, is not supported, use the bitwise_xor, the `^` operator, or "
            "the logical_xor function instead."
        )
    if f.dtype.kind not in "fc":
        f = f.astype(np.float64)
    results = []
    for k in list(range(len(axes))):
        d = 1.0 if len(spacings) == 0 else (spacings[0] if len(spacings) == 1 else spacings[k])
        made = np.empty_like(f)
        made[...] = _slope(np.moveaxis(f, axes[k], -1), d, axes[k], edge_order)
        results = results + [made]
    return results[0] if len(axes) == 1 else tuple(results)


def _slope(f: Any, d: Any, axis: int, edge_order: int) -> Any:
    """The derivative along the last axis, which stands at `axis` in the result."""
    if np.ndim(d) > 0:
        if np.ndim(d) != 1:
            raise ValueError("distances must be either scalars or 1d")
        if np.shape(d)[0] != f.shape[-1]:
            raise ValueError("when 1d, distances must match the length of the corresponding dimension")
        if np.shape(d)[0] < 2:
            raise IndexError("index 0 is out of bounds for axis 0 with size 0")
    if f.shape[-1] < edge_order + 1:
        raise ValueError(
            "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are "
            "required."
        )
    if np.ndim(d) > 0:
        x = np.asanyarray(d)
        h = np.diff(x.astype(np.float64) if x.dtype.kind in "iu" else x)
        even = np.all(h == h[0])
        u, v = h[:-1], h[1:]
        p, q, r = -v / (u * (u + v)), (v - u) / (u * v), u / (v * (u + v))
        curved = p * f[..., :-2] + q * f[..., 1:-1] + r * f[..., 2:]
        inner = np.where(even, (f[..., 2:] - f[..., :-2]) / (2.0 * h[0]), curved)
        if edge_order == 1:
            first = (f[..., 1:2] - f[..., :1]) / h[0]
            last = (f[..., -1:] - f[..., -2:-1]) / h[-1]
        else:
            a, b = h[0], h[1]
            first = _ends(f[..., :1], f[..., 1:2], f[..., 2:3], even, a, (-1.5, 2.0, -0.5),
                          -(2.0 * a + b) / (a * (a + b)), (a + b) / (a * b), -a / (b * (a + b)))  # fmt: skip
            a, b = h[-2], h[-1]
            last = _ends(f[..., -3:-2], f[..., -2:-1], f[..., -1:], even, h[0], (0.5, -2.0, 1.5),
                         b / (a * (a + b)), -(b + a) / (a * b), (2.0 * b + a) / (b * (a + b)))  # fmt: skip
    else:
        inner = (f[..., 2:] - f[..., :-2]) / (2.0 * d)
        if edge_order == 1:
            first = (f[..., 1:2] - f[..., :1]) / d
            last = (f[..., -1:] - f[..., -2:-1]) / d
        else:
            first = (-1.5 / d) * f[..., :1] + (2.0 / d) * f[..., 1:2] + (-0.5 / d) * f[..., 2:3]
            last = (0.5 / d) * f[..., -3:-2] + (-2.0 / d) * f[..., -2:-1] + (1.5 / d) * f[..., -1:]
    made = np.concatenate((first, inner, last), axis=-1)
    return np.moveaxis(made.astype(f.dtype), -1, axis)


def _ends(f: Any, g: Any, h: Any, even: Any, d: Any, weights: Any, p: Any, q: Any, r: Any) -> Any:
    u, v, w = weights
    return np.where(even, u / d * f + v / d * g + w / d * h, p * f + q * g + r * h)


# --- polynomials


def poly(seq_of_zeros: Any) -> Any:
    roots = np.atleast_1d(seq_of_zeros)
    if roots.ndim != 1:
        refuse("np.poly of a matrix", "np.poly(np.linalg.eigvalsh(a)) where it is symmetric")
    if roots.dtype.kind == "c":
        problem = "np.poly of complex roots: whether the result is complex depends on the values"
        refuse(problem, "write the products", "TK1309")
    if np.ndim(seq_of_zeros) == 0:
        refuse("np.poly of a number", "give it a list of roots")
    if roots.dtype.kind not in "fc":
        roots = roots.astype(float)
    if roots.shape[0] == 0:
        return 1.0
    out = np.zeros(roots.shape[0] + 1, roots.dtype)
    out[0] = 1
    for k in range(roots.shape[0]):
        out[1 : k + 2] = out[1 : k + 2] - roots[k] * out[: k + 1]
    return out


def polyval(p: Any, x: Any) -> Any:
    p, x = np.asarray(p), np.asanyarray(x)
    if p.ndim == 0:
        raise TypeError("iteration over a 0-d array")
    if x.ndim == 0 and p.shape[0] == 0:
        raise RuntimeError("`np.polyval` of a polynomial without terms, which gives an array, is not compiled")
    value = np.zeros_like(x)
    for k in range(p.shape[0]):
        value = value * x + p[k]
    return value


def polyder(p: Any, m: int = 1) -> Any:
    m = int(m)
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    p = np.asarray(p)
    if p.ndim == 0:
        raise TypeError("len() of unsized object")
    derived = p
    for _ in list(range(m + 1)):  # one more than what is returned, which may raise
        p = derived
        derived = p[:-1] * np.arange(p.shape[0] - 1, 0, -1)
    return p


def polyadd(a1: Any, a2: Any) -> Any:
    a1, a2 = np.atleast_1d(a1), np.atleast_1d(a2)
    if a1.ndim > 1 or a2.ndim > 1:
        refuse("np.polyadd of more than one dimension")
    n = max(a1.shape[0], a2.shape[0])
    x = np.concatenate((np.zeros(n - a1.shape[0], a1.dtype), a1))
    return x + np.concatenate((np.zeros(n - a2.shape[0], a2.dtype), a2))


def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    m = int(m)
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    k = np.zeros(m, float) if k is None else np.atleast_1d(k)
    if k.shape[0] == 1 and m > 1:
        k = k[0] * np.ones(m, float)
    if k.shape[0] < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    p = np.asarray(p)
    for j in list(range(m)):
        if p.ndim == 0:
            raise TypeError("len() of unsized object")
        p = np.concatenate((p / np.arange(p.shape[0], 0, -1), [k[j]]))
    return p


def polyfit(x: Any, y: Any, deg: Any, rcond: Any = None, w: Any = None) -> Any:
    order = deg + 1
    x, y = np.asarray(x) + 0.0, np.asarray(y) + 0.0
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if x.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if x.shape[0] == 0:
        raise TypeError("expected non-empty vector for x")
    if y.ndim < 1 or y.ndim > 2:
        raise TypeError("expected 1D or 2D array for y")
    if x.shape[0] != y.shape[0]:
        raise TypeError("expected x and y to have same length")
    left = np.vander(x, order)
    if w is not None:
        weights = np.asarray(w) + 0.0
        left, y = left * weights[:, None], (y.T * weights).T
    scale = np.sqrt((left * left).sum(axis=0))
    limit = x.shape[0] * np.finfo(x.dtype).eps if rcond is None else rcond
    return (least_squares(left / scale, y, limit).T / scale).T


def polymul(a1: Any, a2: Any) -> Any:
    return np.convolve(_coefficients(a1), _coefficients(a2))


def _coefficients(p: Any) -> Any:
    """Those of an `np.poly1d`: from the first that is not 0."""
    p = np.atleast_1d(p)
    if p.ndim > 1:
        raise ValueError("Polynomial must be 1d only.")
    p = np.trim_zeros(p, "f")
    return np.concatenate((p, np.zeros(int(p.size == 0), p.dtype)))


# --- convolution


def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    a, v = np.atleast_1d(a), np.atleast_1d(v)
    if a.shape[0] == 0:
        raise ValueError("a cannot be empty")
    if v.shape[0] == 0:
        raise ValueError("v cannot be empty")
    return correlation(a, v[::-1], mode, True)


def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got '{mode}')")
    a, v = line(a), line(v)
    if a.shape[0] == 0:
        raise ValueError("first array argument cannot be empty")
    if v.shape[0] == 0:
        raise ValueError("second array argument cannot be empty")
    return correlation(a, np.conjugate(v) if v.dtype.kind == "c" else v, mode, False)


# --- methods of Python's numbers


def _bit_length(x: Any) -> Any:
    left, count = _magnitude(x), 0
    while left > 0:
        left, count = left >> np.uint64(1), count + 1
    return count


def _bit_count(x: Any) -> Any:
    left, count = _magnitude(x), 0
    while left > 0:
        left, count = left & (left - np.uint64(1)), count + 1
    return count


def _is_integer(x: Any) -> Any:
    return bool(np.isfinite(x) and np.floor(x) == x)


def _magnitude(x: Any) -> Any:
    return np.uint64(0) - np.uint64(x) if x < 0 else np.uint64(x)
