"""A number beside an array in NumPy's functions of sets is an array of its own type; progressions between arrays."""

from typing import Any

import numpy as np

import transkern
from tests.regressions.support import alike


def sets(x: Any) -> Any:
    return np.intersect1d(x, 2, True), np.setxor1d(x, 2, True), np.intersect1d(2, x)


def progression(x: Any) -> Any:
    return np.geomspace(2, x, 4), np.geomspace(x, 2, 3), np.geomspace(x, x[0], 3)


def percentile(x: Any) -> Any:
    return np.nanpercentile(x, 50)


def test_types_of_sets() -> None:
    for dtype in (np.int8, np.float32, np.uint16):
        alike(sets, np.array([2, 1, 3, 1], dtype))


def test_progressions_to_arrays() -> None:
    x = np.arange(1.0, 7).reshape(2, 3)
    for mine, theirs in zip(transkern.compile(progression, target="cpu")(x), progression(x), strict=True):
        assert mine.shape == theirs.shape and np.allclose(mine, theirs, rtol=4e-16, atol=0)  # powers: the last bit


def test_percentiles_are_of_real_numbers() -> None:
    alike(percentile, np.ones(3, complex))


def of_lists(x: Any) -> Any:
    return np.average(x, [0, 1]), np.average(x, axis=[1, 0], weights=x), np.vander(x[0]), np.vander(x[0], 0)


def test_axes_in_lists_and_powers() -> None:
    alike(of_lists, np.arange(1.0, 7).reshape(2, 3))
    alike(of_lists, np.arange(1, 7).reshape(2, 3))


def by_a_number(x: Any) -> Any:
    return x.dot(0), np.dot(2, x), np.inner(x, 1)


def joined_as_floats(x: Any) -> Any:
    return np.concatenate((x, x), dtype=np.float64), np.vstack((x, x), dtype=np.float32)


def joined_as_integers(x: Any) -> Any:
    return np.concatenate((x, x), dtype=int)


def parts_in_order(x: Any) -> Any:
    v = np.asfortranarray(x).imag.astype(np.complex128)
    w = v.reshape(-1)
    w[1:] = w[:-1]
    return v, w


def test_products_with_numbers_of_more_axes() -> None:
    """BLAS skips a factor of zero, and is not asked for more than two axes: NaN stays."""
    for dtype in ("float64", "float32", "complex64", "int32"):
        for shape in ((3,), (2, 3), (2, 3, 4)):
            x = np.arange(1, 1 + np.prod(shape)).reshape(shape).astype(dtype)
            x.flat[0] = -1 if dtype == "int32" else np.nan
            alike(by_a_number, x)


def test_joined_as_another_type() -> None:
    for dtype in (int, np.complex64, np.float64):
        alike(joined_as_floats, np.ones(2, dtype))
        alike(joined_as_integers, np.ones(2, dtype))


def test_order_of_parts() -> None:
    z = np.arange(6).reshape(2, 3) * (1 + 2j)
    alike(parts_in_order, z)
    alike(parts_in_order, np.asfortranarray(z))
    alike(parts_in_order, np.repeat(z, 2, axis=1)[:, ::2])
