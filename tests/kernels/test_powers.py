"""Powers by small whole exponents are products in vectors, as exact as the C library's, special values included."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
EXPONENTS = (3, 4, 5, 8)


def powers(x: Any) -> Any:
    return x**3, np.power(x, 4.0), x**5, x**8


def ratios(x: Any, y: Any) -> Any:
    return (x / y) ** 6 - (x / y) ** 3


def one_by_one(x: Any) -> Any:
    total = 0.0
    for v in x:
        total = total * 0.5 + v**3
    return total


def single(x: Any) -> Any:
    return x**3.0


def others(x: Any) -> Any:
    return x**9, x**0.25, x**-9, x**4.5


def products(function: Callable[..., Any], *arguments: Any, **options: Any) -> bool:
    """Whether the kernels of a function compute powers as products."""
    compiled = transkern.compile(function, target="cpu", **options)
    compiled(*arguments)
    return " power_" in compiled.emit(target="cpu")


def test_products_are_of_vectors_alone() -> None:
    x = np.linspace(0.5, 2, 50)
    assert products(powers, x) and products(ratios, x, x) and products(one_by_one, x)
    assert not products(others, x) and not products(single, 1.5)


def test_flags_are_those_of_powers() -> None:
    assert not products(powers, np.linspace(0.5, 2, 50), warnings="numpy")


def quotients(x: Any) -> Any:
    return x**-2, x**-3, np.power(x, -4.0), x**-8


def halves(x: Any) -> Any:
    return x**1.5, x**2.5, x**3.5, x**-1.5, x**-2.5, x**-3.5


_QUOTIENTS, _HALVES = (-2, -3, -4, -8), (1.5, 2.5, 3.5, -1.5, -2.5, -3.5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("function, exponents", [(quotients, _QUOTIENTS), (halves, _HALVES)])
def test_special_values_of_quotients_and_roots_are_numpys(
    function: Callable[..., Any], exponents: tuple[float, ...], dtype: str
) -> None:
    info = np.finfo(dtype)
    edges = [float(info.max) ** (1 / abs(k)) * s for k in exponents for s in (1 - 1e-4, 1 + 1e-4)]
    edges += [float(info.max) ** (1 / -abs(k)) * s for k in exponents for s in (1 - 1e-4, 1 + 1e-4)]
    some = [0.0, 1.0, 2.0, 4.0, 0.1, 10.0, np.inf, info.max, info.tiny, info.smallest_subnormal, *edges]
    x = np.array([np.nan, *some, *(-v for v in some)], dtype)
    assert products(function, x)
    for k, mine, theirs in zip(exponents, transkern.compile(function)(x), function(x), strict=True):
        assert mine.dtype == theirs.dtype
        finite = np.isfinite(theirs)
        np.testing.assert_array_equal(mine[~finite], theirs[~finite], err_msg=str(k))
        numbers = ~np.isnan(theirs)
        np.testing.assert_array_equal(np.signbit(mine[numbers]), np.signbit(theirs[numbers]), err_msg=str(k))
        np.testing.assert_allclose(mine[finite], theirs[finite], rtol=2 * info.eps, atol=float(info.smallest_subnormal))


@pytest.mark.parametrize("function, exponents", [(quotients, _QUOTIENTS), (halves, _HALVES)])
def test_quotients_and_roots_are_as_exact_as_powers(
    function: Callable[..., Any], exponents: tuple[float, ...]
) -> None:
    rng = np.random.default_rng(1)
    x = np.exp2(rng.uniform(-90, 90, 50_000))
    for k, mine in zip(exponents, transkern.compile(function)(x), strict=True):
        wide = x.astype(np.longdouble)
        exact = wide ** int(abs(k)) * (np.sqrt(wide) if k % 1 else 1)
        exact = exact if k > 0 else 1 / exact
        assert np.max(np.abs(mine - exact) / np.spacing(np.abs(mine))) < 0.51, k


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_special_values_are_numpys(dtype: str) -> None:
    info = np.finfo(dtype)
    edges = [float(info.max) ** (1 / k) * s for k in EXPONENTS for s in (1 - 1e-4, 1 + 1e-4)]
    edges += [float(info.smallest_subnormal) ** (1 / k) * s for k in EXPONENTS for s in (0.5, 2.0)]
    some = [0.0, 1.0, 2.0, 0.1, 10.0, np.inf, info.max, info.tiny, info.smallest_subnormal, *edges]
    x = np.array([np.nan, *some, *(-v for v in some)], dtype)
    for k, mine, theirs in zip(EXPONENTS, transkern.compile(powers)(x), powers(x), strict=True):
        assert mine.dtype == theirs.dtype
        finite = np.isfinite(theirs)
        np.testing.assert_array_equal(mine[~finite], theirs[~finite], err_msg=str(k))
        np.testing.assert_array_equal(np.signbit(mine[1:]), np.signbit(theirs[1:]))
        np.testing.assert_allclose(mine[finite], theirs[finite], rtol=2 * info.eps, atol=float(info.smallest_subnormal))


def test_they_are_as_exact_as_powers() -> None:
    rng = np.random.default_rng(0)
    x = np.exp2(rng.uniform(-100, 100, 50_000)) * rng.choice([-1, 1], 50_000)
    for k, mine in zip(EXPONENTS, transkern.compile(powers)(x), strict=True):
        exact = x.astype(np.longdouble) ** k
        assert np.max(np.abs(mine - exact) / np.spacing(np.abs(mine))) < 0.51
