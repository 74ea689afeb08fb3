"""`round(x, digits)` of Python's floats, bit for bit: ties, what is next to ties, and what is too large to have any."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target, require

require("cc")


def of_all(x, out, digits):
    for i in range(len(x)):
        out[i] = round(float(x[i]), digits)


def numbers(digits: int, count: int) -> Any:
    """Of all kinds, in turn."""
    rng = np.random.default_rng(digits)
    scale = 10.0**digits
    ties = (rng.integers(-(10**6), 10**6, count) + 0.5) / scale
    kinds = [
        rng.normal(size=count), ties, np.nextafter(ties, 9.0), np.nextafter(ties, -9.0),
        rng.integers(-(10**6), 10**6, count) / 1024, np.ldexp(rng.normal(size=count), rng.integers(-60, 80, count)),
        rng.integers(2**50, 2**55, count) / scale, rng.integers(2**51, 2**54, count) / 2 / scale,
        np.frombuffer(rng.bytes(8 * count)),
        np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -1e-9, 1e300, -1e308, 5e-324, 2.675, 0.5, 1.5, -2.5, 1.005]),
    ]  # fmt: skip
    return np.concatenate(kinds)


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.parametrize("digits", [0, 1, 2, 3, 8, 15, 16, 22])
def test_all_kinds_of_numbers(digits: int, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x = numbers(digits, 5000 if target == "cpu" else 50)
    if target == "pallas":
        x = x[np.isfinite(x) & ((abs(x) > 1e-300) | (x == 0))]
    wanted, found = np.empty_like(x), np.empty_like(x)
    of_all(x, wanted, digits)
    transkern.compile(of_all, target=on_target(target, monkeypatch))(x, found, digits)
    same = (wanted.view(np.int64) == found.view(np.int64)) | (np.isnan(wanted) & np.isnan(found))
    assert same.all(), (x[~same], wanted[~same], found[~same])


def summary(x, k):
    peaks = {}
    for i, v in enumerate(x):
        peaks.setdefault(i % 2, []).append(round(float(v) * 1.5, 2))
    mean = sum(peaks[0]) / len(peaks[0])
    return peaks, round(mean, 3), round(mean if k else 7, 1), round(number=mean, ndigits=k), round(x[0], 2)


def too_many(v):
    return round(v, 30)


def negative(v):
    return round(v, -1)


def test_in_containers_and_of_numbers_of_two_types() -> None:
    x = np.array([2.675, 1.005, -0.001, 8.125])
    for k in (2, 0, 4):
        alike(summary, x, k)


@pytest.mark.parametrize("user", [too_many, negative])
def test_digits_that_are_refused(user: Callable[..., Any]) -> None:
    with pytest.raises(transkern.CompileError, match="to negative digits, or to more than 22"):
        transkern.compile(user)(2.5)
