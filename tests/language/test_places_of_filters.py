"""`np.add.at` where the places, or what is added, are what a mask leaves: the elements of each beside the other's."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target


def same_mask(k: Any, v: Any, m: Any) -> Any:
    h = np.zeros(12)
    np.add.at(h, k[m], v[m])
    np.subtract.at(h, k[m], v[m] * v[m] - 1)
    return h


def two_masks(k: Any, v: Any, m: Any) -> Any:
    h = np.zeros(12)
    few = v > 0.5
    least = min(m.sum(), few.sum())
    np.add.at(h, k[m][:least], v[few][:least])
    return h


def not_a_filter(k: Any, v: Any, m: Any) -> Any:
    h = np.zeros(12)
    np.add.at(h, k[m], v[: m.sum()])
    np.add.at(h, k[: m.sum()], v[m])
    np.add.at(h, k[m], v[m][::-1])
    return h


def two_places(k: Any, v: Any, m: Any) -> Any:
    h = np.zeros((12, 3))
    np.add.at(h, (k[m], k[m] % 3), v[m])
    np.maximum.at(h, (k[m], 1), v[:1])
    np.add.at(h, (k[m], slice(1, 3)), v[m][:, None])
    return h


def of_planes(k: Any, v: Any, m: Any) -> Any:
    h = np.zeros((12, 3))
    i, j = np.indices((4, 5)) % 3
    planes = (k[:20].reshape(4, 5), v[:20].reshape(4, 5), m[:20].reshape(4, 5))
    inside = planes[2] & (i + j > 0)
    np.add.at(h, (planes[0][inside], j[inside]), (planes[1] * (1 - v[0]))[inside])
    return h


def itself(k: Any, v: Any, m: Any) -> Any:
    h = v.copy()
    np.add.at(h, k[h[: len(k)] > 0.5], h[h > 0.5])
    np.add.at(h, h > 0.5, h[h > 0.5] * 2)
    np.add.at(h, h < 0.1, 1)
    return h


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.parametrize("function", [same_mask, two_masks, not_a_filter, two_places, of_planes, itself])
def test_places_of_filters(
    function: Callable[..., Any], target: str, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    on_target(target, monkeypatch)
    rng = np.random.default_rng(1)
    for keep in (0.5, 0.0) if target == "cpu" else (0.5,):
        k, v = rng.integers(-12, 12, 30), rng.integers(0, 8, 30) / 4
        alike(function, k, v, rng.random(30) < keep, target=target)
