"""Polynomials as the lists of their coefficients."""

from __future__ import annotations

from typing import Any

import numpy as np

from transkern.frontend.compositions.primitives import least_squares, refuse


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
    one, two = _of_one_length(a1, a2, "np.polyadd of more than one dimension")
    return one + two


def polysub(a1: Any, a2: Any) -> Any:
    one, two = _of_one_length(a1, a2, "np.polysub of more than one dimension")
    return one - two


def _of_one_length(a1: Any, a2: Any, problem: str) -> Any:
    """Two polynomials, the shorter with zeros before it."""
    a1, a2 = np.atleast_1d(a1), np.atleast_1d(a2)
    if a1.ndim > 1 or a2.ndim > 1:
        refuse(problem)
    n = max(a1.shape[0], a2.shape[0])
    one = np.concatenate((np.zeros(n - a1.shape[0], a1.dtype), a1))
    return one, np.concatenate((np.zeros(n - a2.shape[0], a2.dtype), a2))


def polydiv(u: Any, v: Any) -> Any:
    u, v = np.atleast_1d(u) + 0.0, np.atleast_1d(v) + 0.0
    if u.ndim > 1 or v.ndim > 1:
        refuse("np.polydiv of more than one dimension")
    if u.shape[0] == 0 or v.shape[0] == 0:
        raise IndexError("index 0 is out of bounds for axis 0 with size 0")
    kind = np.result_type(u, v)
    steps, size = u.shape[0] - v.shape[0] + 1, v.shape[0]
    scale = 1.0 / v[0]
    quotient = np.zeros(max(steps, 1), kind)
    rest = u.astype(kind)
    for k in range(steps):
        d = scale * rest[k]
        quotient[k] = d
        rest[k : k + size] -= d * v
    gone = np.isclose(rest[:-1], 0, rtol=1e-14)
    return quotient, rest[np.argmin(np.concatenate((gone, [False]))) :]


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
