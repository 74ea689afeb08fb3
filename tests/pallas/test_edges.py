"""Neighbours at the ends of rows and columns: an array that is moved, whose last elements stay, not a gather."""

import numpy as np
import pytest

from tests.pallas.support import check, compiled, random
from transkern.targets.pallas.helpers.whole import HELPERS

SEAM = """
def f(e):
    h, w = e.shape
    m = e.copy()
    for i in range(1, h):
        for j in range(w):
            m[i, j] += min(m[i - 1, max(j - 1, 0)], m[i - 1, j], m[i - 1, min(j + 1, w - 1)])
    return m
"""
SEAM_OF_ROWS = """
def f(e):
    m = e.copy()
    for i in range(1, len(m)):
        up = m[i - 1]
        left = np.concatenate(([np.float32(np.inf)], up[:-1]))
        right = np.concatenate((up[1:], [np.float32(np.inf)]))
        m[i] += np.minimum(np.minimum(left, right), up)
    return m
"""
DIFFUSION = """
def f(u, steps):
    n, m = u.shape
    u, v = u.copy(), np.empty_like(u)
    for t in range(steps):
        for i in range(n):
            for j in range(m):
                v[i, j] = np.float32(0.25) * (
                    u[max(i - 1, 0), j] + u[min(i + 1, n - 1), j] + u[i, max(j - 1, 0)] + u[i, min(j + 1, m - 1)]
                )
        u[:] = v
    return u
"""


@pytest.mark.parametrize("source", [SEAM, SEAM_OF_ROWS])
def test_rows_of_a_table_that_look_at_three_above(source):
    for shape in ((5, 2), (3, 130)):
        check(source, "f(float32[h,w])", random(*shape, special=3))
    text = compiled(source, "f(float32[h,w])").text
    assert text.count("pl.pallas_call(") == 1 and "_whole(" in text and "_moved(" in text


def test_a_stencil_whose_edges_are_repeated():
    for shape in ((3, 5), (200, 9)):
        check(DIFFUSION, "f(float32[n,m],int)", random(*shape), 2)
    text = compiled(DIFFUSION, "f(float32[n,m],int)").text
    assert text.count("pl.pallas_call(") == 1 and "(False, True))" in text and "(True, False))" in text


def test_moves():
    space: dict = {}
    exec("import jax.numpy as jnp\nfrom jax import lax\n" + HELPERS["_moved"], space)
    x = np.arange(12).reshape(3, 4)
    for shift in range(-6, 7):
        at = np.arange(4) + shift
        assert np.array_equal(space["_moved"](x, shift, True), x[:, np.clip(at, 0, 3)])
        assert np.array_equal(space["_moved"](x, shift, False), x[:, at % 4])
        down = np.arange(3) + shift
        assert np.array_equal(space["_moved"](x, shift, True, 0), x[np.clip(down, 0, 2)])
        assert np.array_equal(space["_moved"](x, shift, False, 0), x[down % 3])
