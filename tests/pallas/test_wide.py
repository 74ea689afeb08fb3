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


@pytest.mark.parametrize("source", [PICKED, NUMBERED, COUNTED])
def test_values(source):
    rng = np.random.default_rng(0)
    for size in (0, 1, 300):
        check(source, "f(float32[n],float)", rng.permutation(size).astype(np.float32), 1.5)


def test_held_where_nothing_is_computed():
    assert compiled(PICKED, "f(float32[n],float)").text.count("= _block(") == 1
    assert "in a TPU kernel" in compiled(COUNTED, "f(float32[n],float)").text  # computed with: in its own type
