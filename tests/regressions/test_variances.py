"""Variances of complex numbers, with NaN among them and of a type of their own, and around a mean that the caller has:
`nanvar` took squares for squared distances, and types were those of the array."""

from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike

NAN = complex("nan+nanj")


def with_nan(z: Any) -> Any:
    return np.nanvar(z), np.nanstd(z, axis=0), np.nanvar(z, axis=1, ddof=1, keepdims=True), np.nanmean(z, axis=0)


def around(z: Any, m: Any) -> Any:
    return np.var(z, mean=m), np.std(z, axis=1, mean=m, ddof=1)


def of_real_type(z: Any) -> Any:
    return np.nanvar(z, axis=0, dtype=np.float64), np.nanstd(z, dtype=np.float32)


def of_integer_type(x: Any) -> Any:
    return np.nanvar(x, dtype=int)


def mean_of_integer_type(x: Any) -> Any:
    return np.nanmean(x, axis=0, dtype=np.int32)


def test_nan_among_complex_numbers() -> None:
    for dtype in (np.complex128, np.complex64):
        z = (np.arange(6) * (1 + 2j)).astype(dtype).reshape(2, 3)
        for _ in range(2):
            alike(with_nan, z)
            alike(with_nan, np.asfortranarray(z))
            alike(of_real_type, z)
            z[1, 1] = NAN


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "complex64"])
@pytest.mark.parametrize("mean", [2, 2.5, np.float32(2), np.float64(2), np.float16(2)])
def test_a_mean_has_its_own_type(dtype: str, mean: Any) -> None:
    alike(around, np.arange(6).reshape(2, 3).astype(dtype), mean)


@pytest.mark.parametrize("function", [of_integer_type, mean_of_integer_type])
def test_inexact_numbers_have_inexact_means(function: Any) -> None:
    alike(function, np.arange(6.0).reshape(2, 3))
    with pytest.raises(TypeError, match="inexact"):
        transkern.compile(function)(np.arange(6.0).reshape(2, 3))


@pytest.mark.parametrize("dtype", [np.complex64, np.float32, complex])
def test_variances_of_complex_types_are_refused(dtype: Any) -> None:
    def variance(z: Any) -> Any:
        return np.var(z, dtype=dtype)

    with pytest.raises(transkern.CompileError, match="in a variance of complex64"):
        transkern.compile(variance)(np.ones(3, np.complex64))
