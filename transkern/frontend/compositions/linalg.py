"""What of `numpy.linalg` is arithmetic, not a decomposition."""

from __future__ import annotations

from typing import Any

import numpy as np

from transkern.frontend.compositions.primitives import axes_of, axis_of, known, refuse, require


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    x = np.asarray(x)
    if x.dtype.kind in "iub":
        x = x.astype(float)
    if axis is None and (ord is None or (ord in ("f", "fro") and x.ndim == 2) or (ord == 2 and x.ndim == 1)):
        flat = np.ravel(x)
        if x.dtype.kind == "c":
            squares = np.dot(flat.real, flat.real) + np.dot(flat.imag, flat.imag)
        else:
            squares = np.dot(flat, flat)
        return _kept(np.sqrt(squares), axes_of(None, x.ndim), keepdims)
    if isinstance(ord, str) and (x.ndim == 1 if axis is None else np.ndim(axis) == 0):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    if axis is not None and x.ndim == 0:
        axis_of(axis[0] if isinstance(axis, tuple) else axis, 0)
    axes = axes_of(axis, x.ndim)
    if len(axes) == 1:
        return _of_vectors(x, ord, axes, keepdims)
    if len(axes) == 2:
        return _of_matrices(x, ord, axes, keepdims)
    raise ValueError("Improper number of dimensions to norm.")


def _kept(result: Any, axes: Any, keepdims: bool) -> Any:
    return np.expand_dims(result, axes) if keepdims else result


def _squares(x: Any) -> Any:
    return (x.conj() * x).real if x.dtype.kind == "c" else x * x


def _of_vectors(x: Any, ord: Any, axis: Any, keepdims: bool) -> Any:
    if ord is None or ord == 2:
        return np.sqrt(np.sum(_squares(x), axis=axis, keepdims=keepdims))
    if isinstance(ord, str):
        raise ValueError(f"Invalid norm order '{ord}' for vectors")
    if ord == np.inf:
        return np.max(np.abs(x), axis=axis, keepdims=keepdims, initial=0)
    if ord == -np.inf:
        return np.min(np.abs(x), axis=axis, keepdims=keepdims)
    if ord == 0:
        return np.sum((x != 0).astype(x.real.dtype), axis=axis, keepdims=keepdims)
    if ord == 1:
        return np.sum(np.abs(x), axis=axis, keepdims=keepdims)
    total = np.sum(np.power(np.abs(x), ord), axis=axis, keepdims=keepdims)
    return np.power(total, np.reciprocal(np.array(ord, total.dtype)))


def _of_matrices(x: Any, ord: Any, axes: Any, keepdims: bool) -> Any:
    row, column = axes
    if row == column:
        raise ValueError("Duplicate axes given.")
    if ord is None or ord in ("fro", "f"):
        return np.sqrt(np.sum(_squares(x), axis=axes, keepdims=keepdims))
    if ord == 2 or ord == -2 or ord == "nuc":
        values = np.linalg.svdvals(np.moveaxis(x, axes, (-2, -1)))
        if ord == "nuc":
            result = np.sum(values, axis=-1)
        else:
            result = np.max(values, axis=-1, initial=0) if ord == 2 else np.min(values, axis=-1)
        return _kept(result, axes, keepdims)
    if ord == 1 or ord == -1:
        sums = np.sum(np.abs(x), axis=row)
        at = column - 1 if column > row else column
        result = np.max(sums, axis=at, initial=0) if ord == 1 else np.min(sums, axis=at)
        return _kept(result, axes, keepdims)
    if ord == np.inf or ord == -np.inf:
        sums = np.sum(np.abs(x), axis=column)
        at = row - 1 if row > column else row
        result = np.max(sums, axis=at, initial=0) if ord == np.inf else np.min(sums, axis=at)
        return _kept(result, axes, keepdims)
    raise ValueError("Invalid norm order for matrices.")


def vector_norm(x: Any, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Any:
    x = np.asarray(x)
    if axis is not None and np.ndim(axis) == 0:
        return norm(x, ord, axis, keepdims)
    if axis is None:
        return _kept(norm(np.ravel(x), ord), axes_of(None, x.ndim), keepdims)
    return refuse("np.linalg.vector_norm over several axes", "use np.sqrt(np.sum(x * x, axis=axes))")


def matrix_norm(x: Any, keepdims: bool = False, ord: Any = "fro") -> Any:
    return norm(x, ord, (-2, -1), keepdims)


def matrix_power(a: Any, n: int) -> Any:
    a = np.asanyarray(a)
    if a.ndim < 2:
        text = f"{a.ndim}-dimensional array given. Array must be at least two-dimensional"
        require(False, "np.linalg.LinAlgError", text)
    require(a.shape[-1] == a.shape[-2], "np.linalg.LinAlgError", "Last 2 dimensions of the array must be square")
    if not isinstance(n, (int, np.integer)):
        raise TypeError("exponent must be an integer")
    if n == 0:
        return np.broadcast_to(np.eye(a.shape[-2], dtype=a.dtype), a.shape).copy()
    if n < 0:
        a, n = np.linalg.inv(a), -n
    if n == 1:
        return a
    if n == 2:
        return np.matmul(a, a)
    if n == 3:
        return np.matmul(np.matmul(a, a), a)
    return _power(a, n)


def _power(a: Any, n: int) -> Any:
    """By repeated squaring, from the lowest bit of `n`, as NumPy does it."""
    if n == 1:
        return a
    if n % 2 == 0:
        return _power(np.matmul(a, a), n // 2)
    return _times(a, np.matmul(a, a), n // 2)


def _times(result: Any, z: Any, n: int) -> Any:
    """`result` times the powers of `z` that the bits of `n` name."""
    if n % 2 == 1:
        result = np.matmul(result, z)
    return result if n <= 1 else _times(result, np.matmul(z, z), n // 2)


def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False) -> Any:
    a = np.asarray(A)
    if a.ndim < 2:
        return int(np.any(a != 0))
    s = np.linalg.svdvals(a)
    if tol is None:
        limit = np.max(s, axis=-1, keepdims=True, initial=0) * (max(a.shape[-2], a.shape[-1]) * np.finfo(s.dtype).eps)
    else:
        if np.ndim(tol) > 0:
            refuse("np.linalg.matrix_rank with several tolerances", "call it for each")
        limit = np.asarray(tol)[..., None]
    return np.count_nonzero(s > limit, axis=-1)


def cond(x: Any, p: Any = None) -> Any:
    x = np.asarray(x)
    if p is None or p == 2 or p == -2:
        s = np.linalg.svdvals(x)
        result = s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    else:
        result = norm(x, p, (-2, -1)) * norm(np.linalg.inv(x), p, (-2, -1))
    bad = np.isnan(result) & ~np.any(np.isnan(x), axis=(-2, -1))
    return np.where(bad, np.array(np.inf, result.dtype), result)[()]


# --- products of several matrices, tensors as matrices


def multi_dot(arrays: Any, *, out: Any | None = None) -> Any:
    count = len(arrays)
    if count < 2:
        raise ValueError("Expecting at least two arrays.")
    if count == 2:
        return np.dot(arrays[0], arrays[1], out=out)
    arrays = [np.asanyarray(a) for a in arrays]
    first, last = arrays[0].ndim, arrays[-1].ndim
    left = np.atleast_2d(arrays[0]) if first == 1 else arrays[0]
    right = np.atleast_2d(arrays[-1]).T if last == 1 else arrays[-1]
    arrays = [left, *arrays[1:-1], right]
    for a in arrays:
        text = f"{a.ndim}-dimensional array given. Array must be two-dimensional"
        require(a.ndim == 2, "np.linalg.LinAlgError", text)
    if count == 3:
        result = _of_three(arrays[0], arrays[1], arrays[2], out)
    else:
        sizes = [known(a.shape[0]) for a in arrays] + [known(arrays[-1].shape[1])]
        result = _of_many(arrays, _splits(sizes), 0, count - 1, out)
    if first == 1 and last == 1:
        return result[0, 0]
    return result.ravel() if first == 1 or last == 1 else result


def _of_three(a: Any, b: Any, c: Any, out: Any) -> Any:
    if a.shape[0] * c.shape[0] * (a.shape[1] + c.shape[1]) < a.shape[1] * c.shape[1] * (a.shape[0] + c.shape[0]):
        return np.dot(np.dot(a, b), c, out=out)
    return np.dot(a, np.dot(b, c), out=out)


def _splits(sizes: Any) -> Any:
    """Where to cut each chain of matrices, for the fewest products of numbers."""
    count = len(sizes) - 1
    costs, splits = {(i, i): 0.0 for i in list(range(count))}, {}
    for length in list(range(1, count)):
        for i in list(range(count - length)):
            j = i + length
            costs[i, j] = np.inf
            for k in list(range(i, j)):
                cost = costs[i, k] + costs[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                if cost < costs[i, j]:
                    costs[i, j] = cost
                    splits[i, j] = k
    return splits


def _of_many(arrays: Any, splits: Any, i: int, j: int, out: Any) -> Any:
    if i == j:
        return arrays[i]
    k = splits[i, j]
    return np.dot(_of_many(arrays, splits, i, k, None), _of_many(arrays, splits, k + 1, j, None), out=out)


def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    a, b = np.asarray(a), np.asarray(b)
    if axes is not None:
        others = [d for d in list(range(a.ndim)) if d not in axes]
        a = a.transpose((*others, *axes))
    shape = a.shape[-(a.ndim - b.ndim) :]
    size = 1
    for n in shape:
        size = size * n
    text = "Input arrays must satisfy the requirement             prod(a.shape[b.ndim:]) == prod(a.shape[:b.ndim])"
    require(a.size == size**2, "np.linalg.LinAlgError", text)
    return np.linalg.solve(a.reshape(size, size), b.ravel()).reshape(shape)


def tensorinv(a: Any, ind: int = 2) -> Any:
    a = np.asarray(a)
    if ind <= 0:
        raise ValueError("Invalid ind argument.")
    if a.ndim == 0:
        raise TypeError("reshape() takes exactly 1 argument (0 given)")
    size = 1
    for n in a.shape[ind:]:
        size = size * n
    return np.linalg.inv(a.reshape(size, -1)).reshape(a.shape[ind:] + a.shape[:ind])
