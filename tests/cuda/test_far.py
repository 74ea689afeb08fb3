"""Loops that begin near the ends of the integers of 64 bits, on all threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target

FIRST, LAST = -(2**63), 2**63 - 1


def shifted(x, c):
    for i in range(c, c + x.shape[0]):
        x[i - c] += i % 7
    return x


def summed(x, c):
    s = 0.0
    for i in range(c, c + x.shape[0]):
        s = 0.5 * s + x[i - c]
    return s


def again(x, c):
    for t in range(3):
        for i in range(c, c + x.shape[0]):
            x[i - c] = 0.5 * x[i - c] + t
    return x


def rows(x, c):
    for i in range(c, c + x.shape[0] // 8):
        for j in range(8):
            x[8 * (i - c) + j] += 1
    return x


def down(x, c):
    for i in range(c, c - x.shape[0], -1):
        x[c - i] = 0.5 * x[c - i] + 1
    return x


def total(x, c):
    count = 0
    for i in range(c, c + x.shape[0]):
        if x[i - c] > 0.5:
            count += i % 5
    return count


def told(x, c):
    k = np.array([c])
    for i in range(k[0], k[0] + x.shape[0]):
        x[i - k[0]] += 1
    return x


@pytest.mark.parametrize("function", [shifted, summed, again, rows, down, total, told])
def test_far_begins(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    on_target("cuda", monkeypatch)
    compiled = transkern.compile(function, target="cuda")
    x = np.random.default_rng(2).random(40)
    for c in (5, -7, LAST - 40, LAST - 50, FIRST + 60, FIRST):
        if function is not down or c - 40 >= FIRST:
            alike(function, x, c, compiled=compiled)


def test_a_loop_that_accesses_its_own_element_stays() -> None:
    def ahead(x, k):
        for i in range(k, x.shape[0]):
            x[i] = x[i] * 0.5
        return x

    text = transkern.compile(ahead, target="cuda").emit(types="ahead(float64[n], int)")
    assert "k + " in text and "imax" not in text.partition("__global__")[2]
