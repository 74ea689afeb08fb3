"""Subscripts beyond arrays, in code that may not run: JAX traces it all the same, with the shapes that the arrays have."""

import numpy as np
import pytest

from tests.pallas.support import check

COLUMN = """
def f(x, k):
    y = np.zeros(x.shape[0], x.dtype)
    for i in range(k):
        y += x[:, 5]
    return y
"""
STORED = """
def f(x, k):
    y = x.copy()
    for i in range(k):
        y[:, 4] = y[:, 3] * 2
        y[:, 0] += y[:, 4]
    return y
"""
ROW = """
def f(x, k):
    for i in range(k):
        x[5, :] = x[6, :] * 0.5 + x[5, :]
        x[:, 0] = x[:, 1] * 2
    return x
"""
PART = """
def f(x, k):
    y = x.copy()
    for i in range(k):
        y[2:6, 2:6] = y[1:5, 1:5] * 0.5
    return y
"""
WHILE = """
def f(x, k):
    while k > 0:
        x[1:, 4] = x[:-1, 5] * 0.5
        k -= 1
    return x
"""
BRANCH = """
def f(x, k):
    if k > 0:
        x[:, 5] = x[:, 6] + 1
    return x
"""


@pytest.mark.parametrize("text", (COLUMN, STORED, ROW, PART, WHILE, BRANCH))
@pytest.mark.parametrize("shape", ((4, 3), (1, 3), (0, 3), (0, 0), (9, 9)))
def test_places_that_are_not_there(text: str, shape: tuple[int, int]) -> None:
    x = np.linspace(-1, 1, shape[0] * shape[1], dtype=np.float32).reshape(shape)
    for k in (0, 2):
        check(text, "f(float32[n,m],int)", x, k)
