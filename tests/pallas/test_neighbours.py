"""Windows of a few neighbours that a loop goes through, written out, and loops that compute before they store: passes
over whole arrays instead of steps of one element."""

import numpy as np

from tests.pallas.support import SPECIAL, check, compiled, random

OPENING = """
def f(x):
    n, m = x.shape
    low, high = np.zeros_like(x), np.zeros_like(x)
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            least = x[i, j]
            for a in range(-1, 2):
                for b in range(-1, 2):
                    least = min(least, x[i + a, j + b])
            low[i, j] = least
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            most = low[i, j]
            for a in range(-1, 2):
                for b in range(-1, 2):
                    if low[i + a, j + b] > most:
                        most = low[i + a, j + b]
            high[i, j] = most
    return high
"""
LIFE = """
def f(g, steps):
    n, m = g.shape
    a, b = g.copy(), np.zeros_like(g)
    for t in range(steps):
        for i in range(n):
            for j in range(m):
                c = 0
                for di in range(-1, 2):
                    for dj in range(-1, 2):
                        if di != 0 or dj != 0:
                            c += a[(i + di) % n, (j + dj) % m]
                b[i, j] = 1 if c == 3 or (c == 2 and a[i, j] == 1) else 0
        a, b = b, a
    return a
"""
TREE = """
def f(v, x, steps):
    for i in range(steps - 1, -1, -1):
        for j in range(i + 1):
            v[j] = max(0.5 * v[j + 1] + 0.25 * v[j], x[i] - v[j])
    return v
"""
PASCAL = """
def f(row, n):
    for i in range(1, n + 1):
        for j in range(i, 0, -1):
            row[j] = row[j] + row[j - 1]
    return row
"""


def test_windows():
    rng = np.random.default_rng(3)
    for shape in ((12, 9), (3, 3), (2, 5), (5, 1), (0, 4)):
        check(OPENING, "f(float32[n,m])", random(*shape))
        check(OPENING, "f(float64[n,m])", rng.standard_normal(shape))
    special = np.resize(np.array(SPECIAL, np.float32), (9, 11))
    check(OPENING, "f(float32[n,m])", special)
    assert "fori_loop" not in compiled(OPENING, "f(float32[n,m])").text


def test_windows_that_go_round():
    rng = np.random.default_rng(4)
    for shape in ((8, 11), (3, 4), (1, 5), (2, 2)):
        for steps in (0, 1, 2, 5):
            check(LIFE, "f(int32[n,m],int)", (rng.random(shape) < 0.4).astype(np.int32), steps)
            check(LIFE, "f(int64[n,m],int)", (rng.random(shape) < 0.4).astype(np.int64), steps)


def test_what_is_computed_before_it_is_stored():
    special = np.resize(np.array(SPECIAL, np.float32), 40)
    for steps in (0, 1, 5, 39):
        check(TREE, "f(float32[n],float32[m],int)", random(40), random(40, seed=2), steps)
        check(TREE, "f(float32[n],float32[m],int)", special.copy(), random(40), steps)
        check(PASCAL, "f(int32[n],int)", np.eye(1, 41, dtype=np.int32)[0], min(steps, 25))
    check(TREE, "f(float32[n],float32[m],int)", random(10), random(40), 12)  # beyond the array


ROLLING = """
def f(x, k):
    w = np.lib.stride_tricks.sliding_window_view(x, k)
    return w.sum(axis=1), w.min(axis=1)
"""


def test_windows_of_one_length_go_a_tap_at_a_time():
    """Not each of them through all of the array under a mask."""
    types = "f(float64[n], int)"
    assert "chosen" not in compiled(ROLLING, types).text
    for size, k in ((9, 3), (9, 8), (70, 66), (5, 2)):
        x = random(size, dtype=np.float64, special=2)
        check(ROLLING, types, x, k, exact=False, rtol=1e-13)
