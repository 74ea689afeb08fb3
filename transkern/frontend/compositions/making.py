"""Arrays made from numbers: ranges, triangles, windows, indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from transkern.frontend.compositions.primitives import positions, refuse


def logspace(
    start: Any, stop: Any, num: Any = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> Any:
    y = np.power(base, np.linspace(start, stop, num=num, endpoint=endpoint, axis=axis))
    return y if dtype is None else y.astype(dtype)


def geomspace(start: Any, stop: Any, num: Any = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    start, stop = np.asanyarray(start), np.asanyarray(stop)
    if np.any(start == 0) or np.any(stop == 0):
        raise ValueError("Geometric sequence cannot include zero")
    kind = np.result_type(start, stop, 1.0, np.float64 if dtype is None else dtype)
    start, stop = start.astype(kind), stop.astype(kind)
    sign = np.sign(start)
    start, stop = start / sign, stop / sign
    made = np.power(10.0, np.linspace(np.log10(start), np.log10(stop), num=num, endpoint=endpoint)).astype(kind)
    at = np.expand_dims(np.arange(num), list(range(1, made.ndim)))
    if endpoint:
        made = np.where((at == num - 1) & (num > 1), stop, made)
    made = np.where(at == 0, start, made) * sign
    made = made if axis == 0 else np.moveaxis(made, 0, axis)
    return made if dtype is None else made.astype(dtype)


def tri(N: Any, M: Any = None, k: Any = 0, dtype: Any = float) -> Any:
    if "u" in (np.asarray(k).dtype.kind, np.asarray(N).dtype.kind, np.asarray(0 if M is None else M).dtype.kind):
        refuse("a triangle of unsigned integers, which NumPy computes with in its type", "take int(…)")
    if np.asarray(k).dtype.kind in "fc":
        refuse("a diagonal counted by a number that is no integer", "take int(k)")
    columns = np.arange(-k, (N if M is None else M) - k)
    return (np.arange(N)[:, None] >= columns).astype(dtype)


def tril_indices(n: Any, k: Any = 0, m: Any = None) -> Any:
    return positions(tri(n, m, k, bool))


def triu_indices(n: Any, k: Any = 0, m: Any = None) -> Any:
    return positions(~tri(n, m, k - 1, bool))


def tril_indices_from(arr: Any, k: Any = 0) -> Any:
    if np.ndim(k):
        refuse("np.tril_indices_from with several diagonals")
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return tril_indices(arr.shape[-2], k, arr.shape[-1])


def triu_indices_from(arr: Any, k: Any = 0) -> Any:
    if np.ndim(k):
        refuse("np.triu_indices_from with several diagonals")
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return triu_indices(arr.shape[-2], k, arr.shape[-1])


def diag_indices(n: Any, ndim: int = 2) -> Any:
    return (np.arange(n),) * ndim


def diag_indices_from(arr: Any) -> Any:
    if arr.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    for extent in arr.shape:
        if extent != arr.shape[0]:
            raise ValueError("All dimensions of input must be of equal length")
    return (np.arange(arr.shape[0]),) * arr.ndim


def mask_indices(n: Any, mask_func: Any, k: Any = 0) -> Any:
    return positions(np.asarray(mask_func(np.ones((n, n), int), k) != 0))


def diagflat(v: Any, k: int = 0) -> Any:
    return np.diag(np.ravel(v), k)


def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    x = np.asarray(x)
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    factors = np.ones((x.shape[0], x.shape[0] if N is None else N), np.promote_types(x.dtype, int))
    factors[:, 1:] = x[:, None]
    factors[:, 1:] = np.cumprod(factors[:, 1:], axis=1)
    return factors if increasing else factors[:, ::-1]


# --- windows


def _whole(M: Any) -> Any:
    """A length as a number that no small type of NumPy's overflows."""
    if M is None:
        raise TypeError("'<' not supported between instances of 'NoneType' and 'int'")
    return int(M) if isinstance(M, (int, np.integer)) else M


def bartlett(M: Any) -> Any:
    M = _whole(M)
    n = np.arange(1 - M, M, 2)
    return np.where(M == 1, 1.0, np.where(n <= 0, 1 + n / (M - 1.0), 1 - n / (M - 1.0)))


def blackman(M: Any) -> Any:
    M = _whole(M)
    n = np.arange(1 - M, M, 2)
    wave = 0.42 + 0.5 * np.cos(np.pi * n / (M - 1.0)) + 0.08 * np.cos(2.0 * np.pi * n / (M - 1.0))
    return np.where(M == 1, 1.0, wave)


def hamming(M: Any) -> Any:
    M = _whole(M)
    n = np.arange(1 - M, M, 2)
    return np.where(M == 1, 1.0, 0.54 + 0.46 * np.cos(np.pi * n / (M - 1.0)))


def hanning(M: Any) -> Any:
    M = _whole(M)
    n = np.arange(1 - M, M, 2)
    return np.where(M == 1, 1.0, 0.5 + 0.5 * np.cos(np.pi * n / (M - 1.0)))


def kaiser(M: Any, beta: Any) -> Any:
    if np.iscomplexobj(beta):
        refuse("np.kaiser with a complex beta")
    M, beta = _whole(M), np.float64(beta)
    n, half = np.arange(0, M), (M - 1) / 2.0
    return np.where(M == 1, 1.0, np.i0(beta * np.sqrt(1 - ((n - half) / half) ** 2.0)) / np.i0(beta))
