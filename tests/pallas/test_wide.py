"""Short integers of loops in order, which kernels hold in 32 bits: NumPy's values, cut off as their types do."""

import numpy as np
import pytest

from tests.pallas.support import check, compiled

PICKED = """
def f(x, near):
    order = np.argsort(x)
    found = np.zeros_like(x, dtype=np.int8)
    gone = np.zeros(len(x), np.uint8)
    count = 0
    for k in range(len(x)):
        i = order[k]
        if gone[i]:
            continue
        found[count] = i
        count += 1
        gone[np.abs(x - x[i]) < near] = 1
    return found[:count], gone
"""
NUMBERED = """
def f(x, near):
    found = np.full(len(x), -7, np.int16)
    other = np.zeros(len(x), np.uint16)
    for k in range(len(x)):
        if found[k] < 0 or found[k] == other[k]:
            close = np.abs(x - x[k]) < near
            found[close] = k * 300
            other = np.where(close, found, other).astype(np.uint16)
    return found, other
"""
COUNTED = """
def f(x, near):
    found = np.zeros(len(x), np.uint8)
    for k in range(len(x)):
        if x[k] > 0:
            found[np.abs(x - x[k]) < near] += 90
    return found
"""
FILTERED = """
def f(x, near):
    gone = np.zeros(len(x), np.uint8)
    for k in range(len(x)):
        if gone[k] == 1:
            continue
        gone[k + 1 :][np.abs(x[k + 1 :] - x[k]) < near] = 1
    return x[gone == 0]
"""
TURNED = """
def f(x, near):
    a = np.full(len(x), -120, np.int8)
    for k in range(len(x)):
        if a[k] < 100:
            a[k:] -= np.int8(7)
            a[:k] ^= np.int8(5)
            a[k] = np.maximum(np.abs(a[k]) // np.int8(2), np.int8(k % 100))
    return a
"""


@pytest.mark.parametrize("source", [PICKED, NUMBERED, COUNTED, FILTERED, TURNED])
def test_values(source):
    rng = np.random.default_rng(0)
    for size in (0, 1, 300):
        check(source, "f(float32[n],float)", rng.permutation(size).astype(np.float32), 1.5)


@pytest.mark.parametrize("source", [PICKED, COUNTED, FILTERED, TURNED])
def test_held(source):
    assert "in a TPU kernel" not in compiled(source, "f(float32[n],float)").text
    assert compiled(PICKED, "f(float32[n],float)").text.count("= _block(") == 1


def test_what_a_filter_keeps_is_of_its_own_type():
    source = COUNTED.replace("return found", "return found[found > 90]")
    assert "in a TPU kernel" in compiled(source, "f(float32[n],float)").text
