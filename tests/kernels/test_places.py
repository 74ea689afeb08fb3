"""Places of many numbers in a line that is in order: `searchsorted`, `interp`, `digitize`, `isin`, `repeat`."""

from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

SIZES = (0, 1, 2, 3, 7, 64, 65, 200)
ANY_SIZE = True  # one code for all of them


def searches(a: Any, v: Any) -> Any:
    return np.searchsorted(a, v), np.searchsorted(a, v, side="right")


def bins(a: Any, v: Any) -> Any:
    return np.digitize(v, a), np.digitize(v, a, right=True), np.digitize(v, a[::-1]), np.isin(v, a)


def interpolated(v: Any, xp: Any, fp: Any) -> Any:
    return np.interp(v, xp, fp), np.interp(v, xp, fp, left=-7.0, right=np.inf)


def keys(n: int, a: Any, order: str) -> Any:
    """Numbers between those of `a`, and some of them, NaN and infinities."""
    rng = np.random.default_rng(n)
    v = np.concatenate([rng.choice(a, n // 2) if len(a) else np.ones(n // 2), rng.normal(size=n - n // 2) * 3])
    if n > 4:
        v[1], v[2], v[3] = np.nan, np.inf, -np.inf
    return {"none": rng.permutation, "rising": np.sort, "falling": lambda x: np.sort(x)[::-1]}[order](v)


@pytest.mark.slow
@pytest.mark.parametrize("order", ["none", "rising", "falling"])
def test_lines_in_order(order: str) -> None:
    rng = np.random.default_rng(0)
    for size in SIZES:
        a = np.sort(np.round(rng.normal(size=size), 1))
        for count in SIZES[size % 3 :: 3]:
            v = keys(count, a, order)
            alike(searches, a, v)
            alike(bins, a, v)
            alike(searches, a[::2], v[::-2])
            alike(searches, a.astype(np.float32), v.reshape(count, 1))
    for dtype in (np.uint8, np.int16, bool):
        alike(searches, np.sort(rng.integers(0, 9, 40)).astype(dtype), rng.integers(0, 9, 100).astype(dtype))


def test_lines_in_no_order() -> None:
    """NumPy has a way through them, too; NaN stands behind all else."""
    rng = np.random.default_rng(1)
    for a in (rng.normal(size=20), np.array([0.0, 1, np.nan, np.nan]), np.array([np.nan, 0, 1]), np.arange(9.0)[::-1]):
        for order in ("none", "rising"):
            alike(searches, a, keys(50, a, order))


def test_interpolation() -> None:
    rng = np.random.default_rng(2)
    for size in SIZES[1:]:
        xp, fp = np.sort(np.round(rng.normal(size=size), 1)), rng.normal(size=size)
        for order in ("none", "rising", "falling"):
            for count in SIZES:
                alike(interpolated, keys(count, xp, order), np.unique(xp), fp[: len(np.unique(xp))])
                alike(interpolated, keys(count, xp, order), xp, fp)  # with two points at one place
    xp = np.arange(5.0)
    for special in (np.inf, -np.inf, np.nan, -0.0):
        fp = np.array([1.0, special, -0.0, special, special])
        v = np.array([-1.0, 0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 5, np.nan, np.inf, -np.inf, -0.0])
        alike(interpolated, v, xp, fp)
        alike(interpolated, v, np.array([0.0, 1, 2, 3, special]), np.arange(5.0))
        alike(interpolated, v[:3], xp, fp)  # fewer than points
    for first in (-np.inf, np.finfo(np.float64).min):  # a slope of 0, over a distance without end
        for last in (5.0, np.inf, np.finfo(np.float64).max):
            alike(interpolated, np.append(v, [-1e308, 1e308]), np.array([first, 1, 2, 3, last]), np.arange(5.0))
    alike(interpolated, np.array([[0.5, 1.5], [7, -1]]), xp, xp * 2)
    alike(interpolated, 1.25, xp, xp * 2)


def repeated(a: Any, counts: Any) -> Any:
    return np.repeat(a, counts)


def test_repeated() -> None:
    rng = np.random.default_rng(3)
    for size in SIZES:
        counts = rng.integers(0, 4, size)
        alike(repeated, rng.normal(size=size), counts)
        alike(repeated, rng.normal(size=size), counts * 0)
        alike(repeated, rng.normal(size=size), counts * 90)
        alike(repeated, rng.normal(size=size), counts > 1)
        alike(repeated, rng.normal(size=size), counts.astype(np.uint8))


def test_no_library_is_asked_for_what_is_in_order() -> None:
    text = transkern.compile(interpolated, target="cpu").emit(types="interpolated(float64[n], float64[m], float64[m])")
    assert "searchsorted" not in text
