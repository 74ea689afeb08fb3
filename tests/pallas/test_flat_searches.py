"""The best element of a matrix in a loop in order (peaks of a heat map, one after the other): one kernel, by its axes."""

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target


def squares(h, k, r):
    h = h.copy()
    out = np.zeros((k, 3), h.dtype)
    for n in range(k):
        p = h.argmax()
        y, x = p // h.shape[1], p % h.shape[1]
        out[n] = x, y, h[y, x]
        h[max(0, y - r) : y + r + 1, max(0, x - r) : x + r + 1] = -np.inf
    return out


def discs(h, low, r):
    h = h.copy()
    yy, xx = np.mgrid[: h.shape[0], : h.shape[1]]
    found = np.zeros((9, 2), np.int32)
    count = 0
    while count < 9:
        y, x = np.unravel_index(np.argmax(h), h.shape)
        if h[y, x] < low:
            break
        found[count] = y, x
        count += 1
        h[(yy - y) ** 2 + (xx - x) ** 2 <= r**2] = -1.0
    return found[:count]


def lowest(h, k, r):
    h = h.copy()
    out = np.zeros(k, np.int64)
    for n in range(k):
        p = h.argmin()
        out[n] = p
        h[p // h.shape[1]] += r
        h[:, p % h.shape[1]] += r
    return out, h


def both(h, k, r):
    h = h.copy()
    out = np.zeros((k, 2), np.int64)
    for n in range(k):
        a, z = np.argmin(h), np.argmax(h)
        out[n] = a, z
        h += r * (np.arange(h.shape[1]) == (a + z) % h.shape[1])
    return out


FUNCTIONS = [squares, discs, lowest, both]


def maps():
    rng = np.random.default_rng(1)
    h = rng.uniform(0, 1, (17, 23)).astype(np.float32)
    yield h
    yield np.floor(h * 3)  # many of them are equal
    with_nans = h.copy()
    with_nans[3, 5] = with_nans[9, 2] = np.nan
    yield with_nans
    zeros = np.zeros((5, 130), np.float32)
    zeros[::2] = -0.0
    yield zeros


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_first_of_the_best(function, monkeypatch):
    compiled = transkern.compile(function, target=on_target("pallas", monkeypatch))
    for h in maps():
        alike(function, h, 5, 2, compiled=compiled)
    text = compiled.emit()
    loop = next(line for line in text.splitlines() if f"# {function.__name__}_" in line and "VMEM" in line)
    assert "a kernel where VMEM holds its arrays" in loop


def test_integers(monkeypatch):
    compiled = transkern.compile(lowest, target=on_target("pallas", monkeypatch))
    h = np.random.default_rng(2).integers(-9, 9, (6, 11)).astype(np.int32)
    h[2, 3], h[4, 4] = np.iinfo(np.int32).min, np.iinfo(np.int32).max
    alike(lowest, h, 4, 0, compiled=compiled)
