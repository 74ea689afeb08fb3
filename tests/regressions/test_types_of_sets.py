"""A number beside an array in NumPy's functions of sets is an array of its own type; progressions between arrays."""

from typing import Any

import numpy as np

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
    alike(progression, np.arange(1.0, 7).reshape(2, 3))


def test_percentiles_are_of_real_numbers() -> None:
    alike(percentile, np.ones(3, complex))


def of_lists(x: Any) -> Any:
    return np.average(x, [0, 1]), np.average(x, axis=[1, 0], weights=x), np.vander(x[0]), np.vander(x[0], 0)


def test_axes_in_lists_and_powers() -> None:
    alike(of_lists, np.arange(1.0, 7).reshape(2, 3))
    alike(of_lists, np.arange(1, 7).reshape(2, 3))
