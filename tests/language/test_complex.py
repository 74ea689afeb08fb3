"""Complex arithmetic bit for bit as NumPy's: NaN, infinities, zeros' signs, subnormals, overflow."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern

PARTS = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1.0, -1.5, 2.0, 5e-324, 1e308, -1e200])
SPECIAL = (PARTS[:, None] + np.zeros(11)).astype(complex).ravel()
SPECIAL.imag = np.tile(PARTS, 11)
_rng = np.random.default_rng(0)
_PLAIN = _rng.standard_normal(103) + 1j * _rng.standard_normal(103)
ONE = np.concatenate([SPECIAL, _PLAIN])
LEFT = np.concatenate([np.repeat(SPECIAL, len(SPECIAL)), _PLAIN])
RIGHT = np.concatenate([np.tile(SPECIAL, len(SPECIAL)), _PLAIN[::-1]])


def arithmetic(x: Any) -> Any:
    return (
        -x, +x, np.conj(x), x.conj(), np.square(x), np.reciprocal(x), np.sign(x), x.real, x.imag, np.rint(x),
        np.round(x, 2), 1 / x, 2 * x, x + 1, 1j * x, x / 2, x / (1 + 2j), x * 1j, x * x.real, x.real - x,
        np.isnan(x), np.isinf(x), np.isfinite(x), np.isreal(x), np.logical_not(x), x.astype(bool),
        x.astype(np.complex64), x.astype(np.float64), np.nan_to_num(x), np.abs(x) > 1,
    )  # fmt: skip


def powers(x: Any) -> Any:
    return x**0, x**1, x**2, x**3, x**-1, x**-2, x**4, x**0.5, x**1.5, x ** (1 + 2j)


def functions(x: Any) -> Any:
    return (
        np.sqrt(x), np.exp(x), np.log(x), np.sin(x), np.cos(x), np.tan(x), np.sinh(x), np.cosh(x), np.tanh(x),
        np.log2(x), np.log10(x), np.exp2(x), np.log1p(x), np.expm1(x),
    )  # fmt: skip


def inverse_functions(x: Any) -> Any:
    return np.arcsin(x), np.arccos(x), np.arctan(x), np.arcsinh(x), np.arccosh(x), np.arctanh(x)


def pairs(x: Any, y: Any) -> Any:
    return (
        x + y, x - y, x * y, x / y, np.maximum(x, y), np.minimum(x, y), np.fmax(x, y), np.fmin(x, y), x == y, x != y,
        x < y, x <= y, x > y, x >= y, np.logical_and(x, y), np.logical_or(x, y), np.logical_xor(x, y), np.power(x, y),
        np.where(x.real > 0, x * y, y / x),
    )  # fmt: skip


def differing(got: Any, wanted: Any) -> Any:
    """Where bits differ (any NaN is as good as another)."""
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    if wanted.dtype.kind == "c":
        parts = (differing(getattr(got, p).copy(), getattr(wanted, p).copy()) for p in ("real", "imag"))
        return np.logical_or(*parts)
    if wanted.dtype.kind != "f":
        return got != wanted
    bits = np.uint64 if wanted.dtype == np.float64 else np.uint32
    return (got.view(bits) != wanted.view(bits)) & ~(np.isnan(got) & np.isnan(wanted))


@pytest.mark.parametrize("dtype", [np.complex128, np.complex64])
@pytest.mark.parametrize("function", [arithmetic, powers, functions, inverse_functions, pairs])
def test_bits_are_numpys(function: Callable[..., Any], dtype: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        args = [a.astype(dtype) for a in ((LEFT, RIGHT) if function is pairs else (ONE,))]
        wanted = function(*args)
        got = transkern.compile(function, target="cpu")(*args)
        for position, (g, w) in enumerate(zip(got, wanted, strict=True)):
            bad = np.flatnonzero(differing(g, w))
            assert not len(bad), (position, [(*(a[k] for a in args), g[k], w[k]) for k in bad[:5]])


def test_absolute_is_hypot_to_the_last_bit() -> None:
    def size(x: Any) -> Any:
        return np.abs(x), np.hypot(x.real, x.imag)

    got = transkern.compile(size, target="cpu")(ONE)
    assert not differing(*got).any()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_allclose(got[0], np.abs(ONE), rtol=5e-16)


def test_a_view_of_a_part_is_a_view() -> None:
    def part(z: Any) -> Any:
        return z.imag[1:], z.T.real

    z = np.arange(12).reshape(3, 4) * (1 + 2j)
    imag, real = transkern.compile(part, target="cpu")(z)
    assert np.shares_memory(imag, z) and np.shares_memory(real, z)
    np.testing.assert_array_equal(imag, z.imag[1:])
    np.testing.assert_array_equal(real, z.T.real)
    z[2, 1] = 100 + 200j
    assert (imag[1, 1], real[1, 2]) == (200, 100)


def test_discarded_parts_are_told() -> None:
    def real(x: Any, z: Any) -> Any:
        x[:] = z
        return z.astype(float)

    def all_parts(x: Any, z: Any) -> Any:
        return z.astype(bool), x.astype(complex)

    arguments = np.zeros(3), np.arange(3) * (1 + 1j)
    with pytest.warns(np.exceptions.ComplexWarning, match="Casting complex values to real discards"):
        transkern.compile(real, target="cpu")(*arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        transkern.compile(all_parts, target="cpu")(*arguments)


def products(a: Any, x: Any) -> Any:
    return a @ x, a[None] @ x, np.dot(a, x), np.einsum("ij,j...->i...", a, x), (a * x[0]).sum(axis=1)


def test_zeros_of_products_of_one_term() -> None:
    """NumPy and BLAS begin some of these with a zero, and some not."""
    left = ([[1.0]], [[True], [False]], [[1 + 0j]], [[-0.0]], [[1], [0]])
    right = ([-0.0], [-1 + 0j], [complex(-0.0, -0.0)], [[-1 + 0j, 2j]])
    compiled = transkern.compile(products, target="cpu")
    for a in map(np.array, left):
        for x in map(np.array, right):
            if "c" in a.dtype.kind + x.dtype.kind and not (a.size > 1 and x.ndim > 1):
                assert repr(compiled(a, x)) == repr(products(a, x)), (a, x)
