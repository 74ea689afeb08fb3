"""Loops that carry something from step to step: recurrences, stencils, sorts, filters, scans, errors in the middle."""

import numpy as np
import pytest

from tests.pallas.support import check, random

IIR = """
def f(x, a):
    y = np.zeros_like(x)
    acc = np.zeros(x.shape[1], dtype=x.dtype)
    for t in range(x.shape[0]):
        acc = a * acc + x[t]
        y[t] = acc
    return y
"""
JACOBI = """
def f(u, steps):
    for t in range(steps):
        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    return u
"""
RECURRENCE = """
def f(x, a):
    y = np.zeros_like(x)
    y[0] = x[0]
    for t in range(1, len(x)):
        y[t] = a * y[t - 1] + x[t]
    return y
"""
BUBBLE = """
def f(x):
    n = len(x)
    for i in range(n):
        for j in range(n - 1):
            if x[j] > x[j + 1]:
                t = x[j]; x[j] = x[j + 1]; x[j + 1] = t
    return x
"""
LEVENSHTEIN = """
def f(a, b):
    previous = np.arange(len(b) + 1)
    current = np.zeros(len(b) + 1, dtype=np.int64)
    for i in range(len(a)):
        current[0] = i + 1
        for j in range(len(b)):
            cost = 0 if a[i] == b[j] else 1
            current[j + 1] = min(current[j] + 1, previous[j + 1] + 1, previous[j] + cost)
        previous[:] = current
    return previous[len(b)]
"""
FLOYD = """
def f(d):
    for k in range(d.shape[0]):
        d[:] = np.minimum(d, d[:, k:k + 1] + d[k:k + 1, :])
    return d
"""
GREEDY = """
def f(x, y, radius):
    alive = np.ones(len(x), dtype=bool)
    keep = []
    for i in range(len(x)):
        if alive[i]:
            keep.append(i)
            alive &= (x - x[i]) ** 2 + (y - y[i]) ** 2 > radius
    return np.array(keep)
"""
FIRST = """
def f(x, limit):
    total = 0.0
    count = 0
    for i in range(len(x)):
        if x[i] < 0:
            continue
        if total > limit:
            break
        total = total + 1.0
        count = i
    return count
"""


@pytest.mark.parametrize("shape", [(2, 3), (50, 100), (40, 1024)])
def test_recurrence_in_each_lane(shape):
    check(IIR, "f(float32[n,m],float)", random(*shape), 0.9, text=["_whole("])


@pytest.mark.parametrize("shape", [(4, 5), (30, 40), (64, 130)])
def test_stencil_over_time(shape):
    for steps in (0, 1, 5):
        check(JACOBI, "f(float32[n,m],int)", random(*shape), steps, text=["_whole("])


def test_a_large_stencil_is_left_to_xla():
    check(JACOBI, "f(float32[n,m],int)", random(600, 700), 2)


def test_recurrence_of_single_elements():
    check(RECURRENCE, "f(float32[n],float)", random(100), 0.9)
    check(RECURRENCE, "f(float32[n],float)", random(0), 0.9)


def test_sort_by_exchange():
    check(BUBBLE, "f(float32[n])", random(30))
    check(BUBBLE, "f(float32[n])", random(0))


def test_edit_distance():
    random_ = np.random.default_rng(0)
    check(
        LEVENSHTEIN,
        "f(int32[n],int32[m])",
        random_.integers(0, 4, 30).astype(np.int32),
        random_.integers(0, 4, 25).astype(np.int32),
    )


def test_all_pairs():
    check(FLOYD, "f(float32[n,n])", np.abs(random(20, 20)))


def test_continue_and_break():
    for limit in (3.0, 1e9):
        check(FIRST, "f(float32[n],float)", random(50), limit)


@pytest.mark.parametrize("n", [0, 2, 1000])
def test_filters(n):
    check("def f(x, t): return x[x > t] * 2", "f(float32[n],float)", random(n), 0.3)
    check("def f(x): return np.nonzero(x > 0)[0]", "f(float32[n])", random(n))
    check("def f(x): return np.cumsum(x)", "f(int32[n])", np.arange(n, dtype=np.int32))


def test_a_filter_and_what_follows():
    check("def f(x, t):\n    y = x[x > t]\n    return y * 2 + y.max()", "f(float32[n],float)", random(100), 0.3)


def test_gathers_and_their_errors():
    source = "def f(x, i): return x[i] * 2"
    for bad in (None, 100, -101, 2**40):
        i = np.random.default_rng(0).integers(-100, 100, 50)
        if bad is not None:
            i[7] = bad
        if bad != 2**40:
            check(source, "f(float32[n],int64[m])", random(100), i)


def test_sort_and_products():
    check("def f(x): return np.sort(x), np.argsort(x)", "f(float32[n])", random(100))
    check(
        "def f(a, b): return np.maximum(a @ b, 0)",
        "f(float32[n,k],float32[k,m])",
        random(30, 50),
        random(50, 20),
        exact=False,
        rtol=1e-5,
        atol=1e-5,
    )


def test_break_from_a_loop_that_counts_down():
    source = "def f(y, s):\n    for i in range(len(y) - 1, 0, -1):\n        if y[i] > s:\n            break\n        y[i] += 1"
    check(source, "f(float32[n],float)", np.arange(5, dtype=np.float32)[::-1].copy(), 2.5)


def test_an_index_that_leaves_its_array_in_a_loop():
    source = "def f(y, k, s):\n    for i in range(k):\n        if y[i] > s:\n            break\n        y[i] += 1"
    for k in (0, 3, 5, 7):
        check(source, "f(float32[n],int,float)", random(5), k, 9.0)


def test_an_update_that_reads_what_it_overwrites():
    source = "def f(y):\n    y[1:] -= y[:-1]\n    for i in range(1, len(y) - 1):\n        y[1:] -= y[:-1]"
    check(source, "f(float32[n])", np.array([1, 2.5, -3, 4, 0.5], np.float32))


def test_names_of_builtins():
    check(
        "def f(x):\n    max = x.max(axis=1)\n    for i in range(2, len(x) - 1):\n        max[1:] += 1\n    return max",
        "f(float32[n,m])",
        random(9, 5),
    )


def test_names_that_the_module_has_for_itself():
    source = """
def f(state, at, block, out):
    for t in range(1, len(at)):
        state[:] = 0.5 * state + block[t]
        at[t] = state[0] + out[t]
    return out
"""
    arrays = [random(k, seed=k) for k in (5, 6, 6, 6)]
    check(source, "f(float32[n],float32[m],float32[m],float32[m])", *arrays)


@pytest.mark.parametrize("then", ["x *= 2", "x += np.arange(len(x))", "x = x - out[k]", "x[x > 2] = 0", "x[:] = x[::-1]"])
@pytest.mark.parametrize("read", ["x.sum()", "x.max()", "np.count_nonzero(x > 1)", "(x * x + y).min()", "np.any(x > 6)"])
def test_a_reduction_before_what_it_reads_changes(read, then):
    """Both are one pass over the array, in which the reduction takes what is there before the store."""
    source = f"""
def f(x, y):
    x = x.copy()
    out = np.zeros(4)
    for k in range(4):
        out[k] = {read}
        {then}
    return out, x
"""
    for x in (np.arange(1.0, 6.0), np.arange(200.0) % 7):
        check(source, "f(float64[n], float64[n])", x, np.arange(float(len(x))))
