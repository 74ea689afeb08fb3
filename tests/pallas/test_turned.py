"""Subscripts that go round (`np.roll`) or stop at edges, of all of an array: slices side by side, in kernels and in
what is left to XLA."""

import numpy as np
import pytest

from .support import check, compiled, random

ADVECTION = "def f(u):\n    return u - 0.5 * (u - np.roll(u, 1)) + np.roll(u, -3)"
LAPLACE = "def f(u):\n    return np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4 * u"
BONDS = "def f(s):\n    return np.sum(s * (np.roll(s, -1, axis=1) + np.roll(s, -1, axis=0)))"
TRUTHS = "def f(b):\n    return (np.roll(b, 1) | np.roll(b, -1)) & ~b"
BLOCKS = "def f(x):\n    return np.roll(x, (1, -2), axis=(1, 2)) - x"
EDGES = """
def f(x):
    y, n = np.empty_like(x), len(x)
    for i in range(n):
        y[i] = x[max(i - 2, 0)] + x[min(i + 1, n - 1)] * x[(i + 3) % n]
    return y
"""
LATER = """
def f(x):
    y, n = np.empty_like(x), len(x)
    for i in range(2, n + 2):
        y[i - 2] = x[(i + 1) % n] - x[(i - 2) % n]
    return y
"""


def in_a_kernel(source, types):
    text = compiled(source, types).text
    assert "left to XLA" not in text and "_moved(" in text, text


@pytest.mark.parametrize("source", [ADVECTION, EDGES, LATER])
def test_of_one_axis(source):
    for size in (0, 1, 2, 5, 1030):
        check(source, "f(float32[n])", random(size, special=1))
    if source != LATER:
        in_a_kernel(source, "f(float32[n])")


def test_tables():
    for shape in ((1, 1), (2, 300), (37, 130)):
        check(LAPLACE, "f(float32[n,m])", random(*shape))
        check(BONDS, "f(int32[n,m])", np.arange(np.prod(shape), dtype=np.int32).reshape(shape) % 7 - 3)
    check(BLOCKS, "f(float32[n,m,k])", random(3, 5, 9, special=1))
    in_a_kernel(LAPLACE, "f(float32[n,m])")


def test_truths():
    check(TRUTHS, "f(bool[n])", random(1000) > 0)
    in_a_kernel(TRUTHS, "f(bool[n])")


def test_by_as_much_as_the_run_says():
    source = "def f(x, k):\n    return np.roll(x, k) + x, np.roll(x, k, axis=0) * 2"
    for k in (0, 3, -1, 1000, -2003):
        check(source, "f(float32[n], int)", random(50), k)
    check(source, "f(float32[n], int)", random(0), 4)
    assert "_moved(x, " in compiled(source, "f(float32[n], int)").text
