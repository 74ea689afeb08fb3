"""Arrays that are given another shape: what XLA calls a reshape, not a place in memory for each element."""

import numpy as np
import pytest

import transkern
from tests.fuzz.stages import function_of
from tests.pallas.support import check, compiled, plain, random
from transkern.targets.pallas.helpers.arrays import HELPERS

HEADS = """
def f(x, h):
    n, t, d = x.shape
    return np.tanh(x.reshape(n, t, h, d // h).transpose(0, 2, 1, 3))
"""
POOLED = """
def f(x):
    return x.reshape(x.shape[0] // 2, 2, x.shape[1] // 2, 2).max(axis=(1, 3))
"""
LINE = """
def f(x):
    return np.exp(x).ravel() / 2
"""
BACK_AND_FORTH = """
def f(x, k):
    y = np.sqrt(np.abs(x)).reshape(x.shape[0] * k, x.shape[1] // k)
    return (y - y.min(axis=1, keepdims=True)).reshape(x.shape)
"""
PIECE = """
def f(x, v, w):
    return x[3 : 3 + len(v) * len(w)].reshape(len(v), len(w)).sum(axis=1) * v + w[0]
"""
GROUPS = """import numpy as np

def f(x, k, g):
    n, c, h, w = x.shape
    y = x.reshape(n, k, c // k, h, w)
    m = y.mean(axis=(2, 3, 4), keepdims=True)
    v = y.var(axis=(2, 3, 4), keepdims=True)
    return ((y - m) / np.sqrt(v + np.float32(1e-5))).reshape(n, c, h, w) * g[:, None, None]
"""
GROUPS_OF_A_LENGTH = """import numpy as np

def f(x, k, g):
    y = x.reshape(x.shape[0], k, -1)
    y = (y - y.mean(axis=2, keepdims=True)) / (y.std(axis=2, keepdims=True) + np.float32(1e-5))
    return y.reshape(x.shape) * g[:, None, None]
"""


@pytest.mark.parametrize(
    ("source", "types", "calls"),
    [
        (HEADS, "f(float32[n,t,d],int)", [((2, 3, 8), 4), ((1, 1, 2), 1), ((2, 0, 4), 2), ((2, 3, 5), 2)]),
        (POOLED, "f(float32[n,m])", [((4, 6),), ((2, 2),), ((6, 5),), ((0, 4),)]),
        (LINE, "f(float32[n,m])", [((4, 6),), ((1, 1),), ((0, 4),)]),
        (BACK_AND_FORTH, "f(float32[n,m],int)", [((4, 6), 3), ((1, 7), 7), ((3, 6), 4)]),
    ],
)
def test_shapes_are_no_gathers(source, types, calls):
    for shape, *rest in calls:
        check(source, types, random(*shape, special=9), *rest, exact=False, rtol=1e-5)
    text = compiled(source, types).text
    assert "_elements(" in text and "broadcasted_iota" not in text[text.index("jax.jit") :]


def test_a_piece_of_a_line():
    types = "f(float32[n],float32[h],float32[k])"
    for n, h, k in ((40, 5, 7), (13, 5, 2), (14, 5, 3), (9, 1, 6)):
        check(PIECE, types, random(n), random(h), random(k, seed=1), exact=False, rtol=1e-5, text=["_elements("])


@pytest.mark.parametrize("source", [GROUPS, GROUPS_OF_A_LENGTH])
def test_groups_of_channels_are_one_kernel_and_a_shape(source):
    types = "f(float32[n,c,h,w],int,float32[c])"
    for shape, k in (((2, 6, 3, 5), 3), ((3, 4, 1, 2), 2), ((2, 5, 2, 3), 2)):
        x, g = random(*shape), random(shape[1], seed=1)
        function = plain(source, "f")
        if shape[1] % k == 0 or "c // k" not in source:
            made = transkern.compile(function_of(source), target="pallas")(x, k, g)
            np.testing.assert_allclose(made, function(x, k, g), rtol=1e-4, atol=1e-5)
    if source is GROUPS:  # the other form has code for the sizes of each call
        text = compiled(source, types).text
        assert text.count("= _grid(") == 2  # the groups, and what is made of them in the other shape
        assert "floor_divide" not in text and "remainder" not in text


def test_walks_in_memory():
    gathers = []

    class Lax:
        @staticmethod
        def broadcasted_iota(dtype, shape, axis):
            gathers.append(axis)
            return np.arange(shape[axis]).reshape([-1 if k == axis else 1 for k in range(len(shape))])

    space = {"jnp": np, "lax": Lax}
    exec(HELPERS["_elements"], space)
    rng, sliced = np.random.default_rng(0), 0
    for _ in range(300):
        steps, stride, walks = rng.integers(1, 4, 3), 1, []
        for k in rng.permutation(3):
            stride *= int(rng.integers(1, 3))
            walks.append((stride, int(steps[k]), int(k)))
            stride *= int(steps[k])
        if rng.random() < 0.3:
            walks[0] = (walks[0][0] + 1, *walks[0][1:])
        start = int(rng.integers(0, 5))
        places = start + sum(s * Lax.broadcasted_iota(None, [count] * 3, k) for s, count, k in walks)
        x = np.arange(int(places.max()) + 1 + int(rng.integers(0, 9)))
        gathers.clear()
        assert np.array_equal(space["_elements"](x, start, walks, 3), places)
        sliced += not gathers
    assert 100 < sliced < 280
