"""Arrays that iterations make shorter by lengths that have names: memory for the first length is enough."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import require

require("cc")


def doubling(x, w):
    m = x.copy()
    k = 1
    while 2 * k <= w:
        m = np.minimum(m[:-k], m[k:])
        k *= 2
    rest = w - k
    if rest > 0:
        m = np.minimum(m[:-rest], m[rest:])
    return m


def by_steps(x, w):
    m, k = x * 2.0, w
    while k > 1:
        half = k // 2
        m = m[half:] + m[: m.size - half]
        k -= half
    return m


def sums_of_pairs(x, w):
    m = x * 1.0
    while m.size > w:
        half = m.size // 2
        m = m[:half] + m[half : 2 * half]
    return m


@pytest.mark.parametrize("function", [doubling, by_steps, sums_of_pairs])
def test_no_more_memory_than_at_the_beginning(function: Any) -> None:
    compiled = transkern.compile(function, target="cpu")
    x = np.random.default_rng(2).standard_normal(300)
    for size, width in ((300, 20), (300, 7), (300, 1), (20, 20), (8, 3), (300, 2)):
        alike(function, x[:size].copy(), width, compiled=compiled)
    assert "reserve(" not in compiled.emit()


def test_what_may_get_longer_has_room() -> None:
    def grown(x, w):
        m = x * 1.0
        while m.size < w:
            half = m.size // 2
            m = np.concatenate((m, m[half:] + 1.0))
        return m

    compiled = transkern.compile(grown, target="cpu")
    for size, most in ((1, 9), (5, 300), (5, 4)):
        alike(grown, np.arange(float(size)), most, compiled=compiled)
