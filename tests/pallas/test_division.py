"""Integers' `//` in kernels, whose chips have C's division only."""

import numpy as np

from .support import check, compiled

EDGES = [-(2**31), -(2**31) + 1, -7, -3, -1, 0, 1, 2, 7, 2**31 - 1]


def test_all_pairs():
    source = "def f(x, y):\n    return x // y + x // 3, (x // -7) * 2"
    x, y = (a.ravel() for a in np.meshgrid(np.array(EDGES, np.int32), np.array(EDGES, np.int32)))
    check(source, "f(int32[n], int32[n])", x.copy(), y.copy())
    assert "left to XLA" not in compiled(source, "f(int32[n], int32[n])").text


def test_other_types():
    for dtype in (np.int8, np.uint8, np.uint32, np.int64):
        numbers = np.array([v for v in EDGES if np.iinfo(dtype).min <= v <= np.iinfo(dtype).max], dtype)
        x, y = (a.ravel() for a in np.meshgrid(numbers, numbers))
        kind = np.dtype(dtype).name
        check("def f(x, y):\n    return x // y", f"f({kind}[n], {kind}[n])", x.copy(), y.copy())


def test_in_order():
    source = """
def f(x):
    digits, value = np.empty(len(x), np.int64), 1
    for i in range(len(x)):
        value = (value * 31 + x[i]) // 5 - i // 3
        digits[i] = value
    return digits
"""
    check(source, "f(int64[n])", np.arange(-200, 200, 7))
    assert "_stream(" in compiled(source, "f(int64[n])").text
