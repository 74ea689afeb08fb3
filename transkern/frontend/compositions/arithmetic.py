"""Elementwise functions that NumPy makes of ufuncs, differences, products with vectors, and convolution."""

from __future__ import annotations

from typing import Any

import numpy as np

from transkern.frontend.compositions.primitives import along, axis_of, correlation, fit_together, joined, line, refuse

_NEAR = (
    -4.4153416464793395e-18, 3.3307945188222384e-17, -2.431279846547955e-16, 1.715391285555133e-15,
    -1.1685332877993451e-14, 7.676185498604936e-14, -4.856446783111929e-13, 2.95505266312964e-12,
    -1.726826291441556e-11, 9.675809035373237e-11, -5.189795601635263e-10, 2.6598237246823866e-09,
    -1.300025009986248e-08, 6.046995022541919e-08, -2.670793853940612e-07, 1.1173875391201037e-06,
    -4.4167383584587505e-06, 1.6448448070728896e-05, -5.754195010082104e-05, 0.00018850288509584165,
    -0.0005763755745385824, 0.0016394756169413357, -0.004324309995050576, 0.010546460394594998,
    -0.02373741480589947, 0.04930528423967071, -0.09490109704804764, 0.17162090152220877,
    -0.3046826723431984, 0.6767952744094761,
)  # fmt: skip
_FAR = (
    -7.233180487874754e-18, -4.830504485944182e-18, 4.46562142029676e-17, 3.461222867697461e-17,
    -2.8276239805165836e-16, -3.425485619677219e-16, 1.7725601330565263e-15, 3.8116806693526224e-15,
    -9.554846698828307e-15, -4.150569347287222e-14, 1.54008621752141e-14, 3.8527783827421426e-13,
    7.180124451383666e-13, -1.7941785315068062e-12, -1.3215811840447713e-11, -3.1499165279632416e-11,
    1.1889147107846439e-11, 4.94060238822497e-10, 3.3962320257083865e-09, 2.266668990498178e-08,
    2.0489185894690638e-07, 2.8913705208347567e-06, 6.889758346916825e-05, 0.0033691164782556943,
    0.8044904110141088,
)  # fmt: skip
"""The coefficients of Bessel's function up to 8, and behind it."""


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


# --- Bessel's function


def i0(x: Any) -> Any:
    """By the Chebyshev series of Cephes (Moshier, 1989), as NumPy does it."""
    x = np.asanyarray(x)
    if x.dtype.kind == "c":
        raise TypeError("i0 not supported for complex values")
    if x.dtype.kind != "f":
        x = x.astype(float)
    x = np.abs(x)
    near, far = np.minimum(x, 8.0), np.maximum(x, 8.0)
    small = np.exp(near) * _chebyshev(near / 2.0 - 2, _NEAR)
    large = np.exp(far) * _chebyshev(32.0 / far - 2.0, _FAR) / np.sqrt(far)
    return np.where(x <= 8.0, small, large)


def _chebyshev(x: Any, coefficients: Any) -> Any:
    b0, b1, b2 = x * 0.0 + coefficients[0], x * 0.0, x * 0.0
    for c in coefficients[1:]:
        b2, b1 = b1, b0
        b0 = x * b1 - b2 + c
    return 0.5 * (b0 - b2)


# --- products with vectors


def matvec(x1: Any, x2: Any) -> Any:
    return _times_vectors("matvec", "(m,n),(n)->(m)", np.asarray(x1), np.asarray(x2), 0)


def vecmat(x1: Any, x2: Any) -> Any:
    return _times_vectors("vecmat", "(n),(n,m)->(m)", np.asarray(x1), np.asarray(x2), 1)


def _times_vectors(name: str, signature: str, a: Any, b: Any, matrix: int) -> Any:
    """The product of matrices, the operand of number `matrix`, and vectors, from the left or from the right."""
    for number, given, least in ((0, a, 2 - matrix), (1, b, 1 + matrix)):
        if given.ndim < least:
            raise ValueError(
                f"{name}: Input operand {number} does not have enough dimensions (has {given.ndim}, gufunc core with "
                f"signature {signature} requires {least})"
            )
    m, n = a.shape[-1], b.shape[-1 - matrix]
    if m != n:
        raise ValueError(
            f"{name}: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature {signature} "
            f"(size {n} is different from {m})"
        )
    fit_together(a, b, matrix)
    if matrix == 0:
        return np.matmul(a, b[..., None])[..., 0]
    return np.matmul(np.conjugate(a)[..., None, :] if a.dtype.kind == "c" else a[..., None, :], b)[..., 0, :]


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
