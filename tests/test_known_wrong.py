"""What other compilers of NumPy are known to get wrong, on every target: dtypes, branches, shapes, aliases, NaN.

Each test names the wrong answer. JAX has no float64 unless asked: on Pallas the 64-bit cases must be refused or right.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import on_target

CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
random = np.random.default_rng(3)


def wrong_elsewhere(*arguments: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        CASES.append((function, arguments))
        return function

    return register


def floats(*shape: int, dtype: str = "float32") -> np.ndarray[Any, Any]:
    return random.standard_normal(shape).astype(dtype)


@wrong_elsewhere(floats(9), floats(9))
def float32_stays_float32(x, y):
    """A chain of float32 with Python floats is computed and returned in float64."""
    return 0.5 * x * (1.0 + y * 0.044715) / 3


@wrong_elsewhere(np.array([100, 100, -128, 127], dtype=np.int8))
def int8_arithmetic(x):
    """int8 sums in int8; squares widened instead of wrapped."""
    return np.cumsum(x), x * x, x**2, x.sum(), -x, abs(x), x + x, np.prod(x)


@wrong_elsewhere(np.array([0, 1, 255], dtype=np.uint8), np.array([1, 255, 2], dtype=np.uint8))
def unsigned_arithmetic(x, y):
    """Differences of unsigned numbers become negative, or signed."""
    return x - y, x + y, x // y, -x, ~x, x >> 1, x.astype(np.int32) - y


@wrong_elsewhere(np.array([3, 2**63 + 1], dtype=np.uint64), np.array([-2, 5], dtype=np.int64))
def unsigned_beside_signed(x, y):
    """uint64 with int64 is float64."""
    return x + y, x > y


@wrong_elsewhere(floats(16))
def branch_on_data(x):
    """A branch on data is traced once, with the first call's outcome."""
    if x.sum() > 0:
        y = x * 2
    else:
        y = x - 1
    return y + 1


@wrong_elsewhere(floats(4, 1), floats(5), floats(4, 5))
def shapes_of_several_results(column, row, m):
    """All results of one fused kernel get the shape of the largest."""
    return column * 2, row + 1, column + row, m * column, column.sum(), m.mean(axis=0)


@wrong_elsewhere(floats(50), floats(50), floats(50), np.abs(floats(50)), 3)
def adam_in_place(p, g, m, v, t):
    """An update in place is lost, or reads what the same statement has just written."""
    m *= 0.9
    m += 0.1 * g
    v *= 0.999
    v += 0.001 * g * g
    p -= 0.001 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)


@wrong_elsewhere(floats(20))
def aliased_in_place(x):
    """An overlapping store reads elements that it has already changed."""
    x[1:] += x[:-1]
    x[::-1] += x
    x[:-2] = x[2:] * 2


@wrong_elsewhere(floats(6))
def swapped(x):
    """Both elements end with one of the values."""
    x[0], x[1] = x[1], x[0]
    x[[2, 3]] = x[[3, 2]]
    head, tail = x[:2], x[4:]
    head[:], tail[:] = tail.copy(), head.copy()


@wrong_elsewhere(np.array([1.0, np.nan, np.inf, -0.0], dtype=np.float32))
def nan_under_optimisation(x):
    """`isnan` is folded to False, and comparisons of NaN to anything."""
    return np.isnan(x), x != x, np.where(np.isnan(x), 0, x), np.isfinite(x), np.maximum(x, 0), np.signbit(x), x.max()


@wrong_elsewhere(np.array([7, -7, 7, -7]), np.array([2, 2, -2, -2]))
def division_of_signs(x, y):
    """C's division and remainder instead of Python's."""
    return x // y, x % y, np.fmod(x, y), x / y


@wrong_elsewhere(np.array([2**31 - 1, -(2**31)], dtype=np.int32))
def int32_wraps(x):
    """int32 grows to int64."""
    return x + x, x * 3, x - 1, x // -1, abs(x), x.sum(dtype=np.int32)


@wrong_elsewhere(floats(7, 5), np.array([True, False, True, True, False, False, True]))
def masked_rows(m, keep):
    """A mask selects from a copy, and the store is lost."""
    m[keep] *= 2
    m[~keep, 0] = 0
    return m[keep].sum(axis=0)


@wrong_elsewhere(np.array([0, 0, 1, 2, 2, 2]), floats(6))
def repeated_indices(i, w):
    """`h[i] += w` adds once for each index, `add.at` once for each occurrence."""
    h = np.zeros(3, dtype=np.float32)
    g = np.zeros(3, dtype=np.float32)
    h[i] += w
    np.add.at(g, i, w)
    return h, g


@wrong_elsewhere(floats(0), floats(0, 3))
def empty_arrays(x, m):
    """A reduction of nothing is undefined memory."""
    return x.sum(), x.prod(), m.sum(axis=0), m.sum(axis=1), x * 2, np.any(x), np.all(x)


@wrong_elsewhere(np.array([1e8, 1, -1e8] * 40, dtype=np.float32))
def order_of_a_loop(x):
    """A loop's sum is reassociated for vectors."""
    s = np.float32(0)
    for v in x:
        s += v
    return s


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.parametrize(("function", "arguments"), [pytest.param(*row, id=row[0].__name__) for row in CASES])
def test_right_here(
    function: Callable[..., Any], arguments: tuple[Any, ...], target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_target(target, monkeypatch)
    compiled = transkern.compile(function, target=target)
    mine, theirs = ([np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments] for _ in range(2))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = compiled(*mine)
        except transkern.CompileError as error:
            assert target == "pallas" and ("64" in str(error) or "float64" in str(error)), error
            pytest.skip(str(error).splitlines()[0])
        wanted = function(*theirs)
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(a, b)
    results = [(found, wanted)] if not isinstance(wanted, tuple) else list(zip(found, wanted, strict=True))
    for f, w in results:
        assert type(f) is type(w)
        if w is not None:
            assert f.dtype == w.dtype and f.shape == w.shape
            np.testing.assert_allclose(f, w, rtol=4e-7 if w.dtype.kind == "f" else 0, atol=0)
            assert np.array_equal(np.signbit(f), np.signbit(w)) if w.dtype.kind == "f" else True
