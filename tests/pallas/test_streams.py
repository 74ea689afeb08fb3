"""Loops in order along arrays of any length: blocks in scalar memory, with what the loop carries handed on."""

import numpy as np
import pytest

from .support import check, compiled, random

DECAY = """
def f(x, y, a):
    for i in range(1, len(y)):
        y[i] = a * y[i - 1] + x[i]
    return y[len(y) - 1]
"""
RESERVOIR = """
def f(inflow, demand):
    level, spilt = np.float32(0), np.zeros_like(inflow)
    dry = 0
    for t in range(len(inflow)):
        level = level + inflow[t] - demand[t]
        if level < 0:
            level = np.float32(0)
            dry += 1
        elif level > 2:
            spilt[t] = level - np.float32(2)
            level = np.float32(2)
    return spilt, level, dry
"""
BACKWARD = """
def f(x):
    y, n = np.empty_like(x), len(x)
    following = -1
    for i in range(n - 1, -1, -1):
        y[i] = following
        if x[i] > 2:
            following = i
    return y, following
"""
NEIGHBOURS = """
def f(x, y):
    c = 0
    for i in range(3, len(y) - 3):
        y[i] = y[i - 3] % 7 + x[i - 2] * x[i + 3] - y[i]
        c += x[i + 1] > x[i]
    return c
"""
SHIFTED = """
def f(x):
    y = np.zeros(len(x) + 1, x.dtype)
    for i in range(len(x)):
        y[i + 1] = max(y[i] - 1, 0) + x[i]
    return y
"""
TRUTHS = """
def f(b):
    out, on = np.empty(len(b), np.bool_), False
    for i in range(len(b)):
        on = on != b[i]
        out[i] = on
    return out, on
"""
TABLE = """
def f(states, symbols, costs):
    state, total = 0, 0.0
    for i in range(len(symbols)):
        total += costs[state]
        state = states[(state + symbols[i]) % len(states)]
    return state, total
"""
INNER = """
def f(x):
    out, level = np.empty_like(x), 5
    for i in range(len(x)):
        steps = 0
        while level > x[i] and steps < 3:
            level -= 2
            steps += 1
        for k in range(2):
            level = level * 3 % 17 + x[i] - k
        level = level % 1000
        out[i] = level
    return out
"""
CHECKED = """
def f(x, y):
    total = 0
    for i in range(len(x)):
        if x[i] < 0:
            raise ValueError("a negative number")
        total += x[i] - y[i]
        y[i] = total
    return total
"""
FOUND = """
def f(x, most):
    total = np.float32(0)
    for i in range(len(x)):
        total += x[i]
        if total > most:
            return i
    return -1
"""
PLACES = """
def f(x):
    most, at, fell = x[0], 0, 0
    for i, v in enumerate(x):
        if v > most:
            most, at = v, i
        if most - v > 2:
            fell = i - at
    return most, at, fell
"""
SIZES = (0, 1, 2, 7, 9000)


def whole(size, seed=0):
    return np.random.default_rng(seed).integers(-5, 6, size).astype(np.int32)


def streams(source, types):
    assert "= _stream(" in compiled(source, types).text, compiled(source, types).text


@pytest.mark.parametrize("source, types, inputs", [
    (RESERVOIR, "f(float32[n], float32[n])", lambda n: (random(n), random(n, seed=1))),
    (BACKWARD, "f(int32[n])", lambda n: (whole(n),)),
    (NEIGHBOURS, "f(int32[n], int32[n])", lambda n: (whole(n), whole(n, 1))),
    (SHIFTED, "f(int32[n])", lambda n: (whole(n),)),
    (TRUTHS, "f(bool[n])", lambda n: (whole(n) > 0,)),
    (INNER, "f(int32[n])", lambda n: (whole(n),)),
    (TABLE, "f(int32[n], int32[m], float32[n])", lambda n: (whole(7) % 7, np.abs(whole(n)), random(7))),
], ids=["reservoir", "backward", "neighbours", "shifted", "truths", "inner", "table"])  # fmt: skip
def test_loops(source, types, inputs):
    for size in SIZES:
        check(source, types, *inputs(size))
    streams(source, types)


def test_special_values():
    for size in (2, 20_000):
        x, y = random(size, special=1), random(size, seed=1)
        x[size // 2 :] = np.abs(x[size // 2 :])
        check(DECAY, "f(float32[n], float32[n], float32)", x, y, np.float32(0.5))
    streams(DECAY, "f(float32[n], float32[n], float32)")


def test_places_that_are_carried():
    check(PLACES, "f(int32[n])", whole(9000))
    check(PLACES, "f(float64[n])", random(50, dtype=np.float64))
    streams(PLACES, "f(int32[n])")


def test_errors():
    x = np.abs(whole(9000))
    check(CHECKED, "f(int32[n], int32[n])", x, whole(9000, 1))


def test_left_early():
    for most in (-1, 5.0, 1e9):
        check(FOUND, "f(float32[n], float32)", np.abs(random(9000)), np.float32(most))


FILTER = """
def f(x, a):
    y = np.empty_like(x)
    y[0] = x[0]
    y[1] = x[1]
    for i in range(2, len(x)):
        y[i] = a * y[i - 1] - y[i - 2] + x[i]
    return y
"""
SUBSTITUTED = """
def f(a, c):
    n = len(c)
    x = np.zeros_like(c)
    x[n - 1] = c[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = c[i] - a[i] * x[i + 1]
    return x
"""


def test_elements_before_a_loop_are_set_in_its_kernel():
    for size in (1, 2, 3, 9000):
        check(FILTER, "f(float32[n], float32)", random(size, special=1), np.float32(0.25))
        check(SUBSTITUTED, "f(float32[n], float32[n])", 0.1 * random(size), random(size, seed=1))
    for source, types in ((FILTER, "f(float32[n], float32)"), (SUBSTITUTED, "f(float32[n], float32[n])")):
        text = compiled(source, types).text
        assert text.count("_stream(") == 2 and ".start(" in text and "(None, n, jnp.float32, True)" in text, text


def test_under_vmap():
    import jax

    function = compiled(FILTER, "f(float32[n], float32)")
    x = random(3, 50)
    made = jax.vmap(lambda row: function(row, np.float32(0.5)))(x)
    np.testing.assert_array_equal(made, np.stack([function(row, np.float32(0.5)) for row in x]))
