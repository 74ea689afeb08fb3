"""Numbers that all blocks of a grid kernel find together: truths, and places of extremes."""

import numpy as np
import pytest

from .support import check, compiled, random

PLACES = "def f(x):\n    return np.argmax(np.abs(x)), np.argmin(x * 2)"
TRUTHS = "def f(x):\n    return np.any(x < 0), np.all(x > -5), np.any(np.isnan(x))"
WHOLE = "def f(x):\n    return np.argmin(x * x - x)"
LARGE = 600_000  # more than a block


def kernels(source, types):
    """The text of the function that JAX traces, of which nothing may be left to XLA."""
    text = compiled(source, types).text
    assert "left to XLA" not in text and "_grid(" in text, text


def test_places():
    for special in (0, 2):
        check(PLACES, "f(float32[n])", random(1025, special=special))


@pytest.mark.parametrize("tie", [(0, LARGE - 1), (262_143, 262_144)])
@pytest.mark.parametrize("value", [50.0, np.nan])
def test_places_of_several_blocks(tie, value):
    x = random(LARGE)
    x[list(tie)] = value
    check(PLACES, "f(float32[n])", x)
    kernels(PLACES, "f(float32[n])")


def test_infinities_alone():
    check(PLACES, "f(float32[n])", np.full(LARGE, -np.inf, np.float32))
    check("def f(x):\n    return np.argmax(x + 1)", "f(float32[n])", np.full(1000, -np.inf, np.float32))


def test_places_in_tables():
    check(WHOLE, "f(int32[n,m])", np.arange(1500, dtype=np.int32).reshape(3, 500) % 311)
    check(WHOLE, "f(int32[n,m])", np.full((1000, 2), 5, np.int32))


@pytest.mark.parametrize("shape", [(0,), (LARGE,)])
def test_truths(shape):
    x = np.abs(random(*shape))
    check(TRUTHS, "f(float32[n])", x)
    if x.size:
        for value in (-1, np.nan, -9):
            x[-1] = value
            check(TRUTHS, "f(float32[n])", x)
    kernels(TRUTHS, "f(float32[n])")


def test_truths_under_a_condition():
    source = "def f(x, y):\n    return np.all((x > 0) | (y > 0)), (x != y).any(), np.argmax(x == y)"
    x = np.abs(random(300, 70))
    check(source, "f(float32[n,m], float32[n,m])", x, x.copy())
    y = -x
    check(source, "f(float32[n,m], float32[n,m])", -x, y)
    y[-1, -1] = 2
    check(source, "f(float32[n,m], float32[n,m])", x, y)


def test_none():
    with pytest.raises(ValueError, match="attempt to get argmax of an empty sequence"):
        compiled(PLACES, "f(float32[n])")(np.zeros(0, np.float32))
