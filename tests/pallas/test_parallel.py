"""Loops that the user wrote, as parallel loops: variables of each iteration, loops in order inside, branches."""

import functools
from dataclasses import replace

import numpy as np
import pytest

from tests.pallas.support import plain, random, same
from transkern.fuse.checks.guards import unify_sizes
from transkern.fuse.passes import DEVICE_PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import with_bodies
from transkern.pipeline import program_of
from transkern.targets.pallas.module.load import load, printed

MATMUL = """
def f(a, b):
    c = np.zeros((a.shape[0], b.shape[1]), dtype=a.dtype)
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total
    return c
"""
FLOYD = """
def f(d):
    for k in range(d.shape[0]):
        for i in range(d.shape[0]):
            for j in range(d.shape[0]):
                if i != k and j != k:
                    through = d[i, k] + d[k, j]
                    if through < d[i, j]:
                        d[i, j] = through
"""
TRIANGLE = """
def f(x):
    y = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        s = 0.0
        largest = x[i, 0]
        for k in range(min(i + 1, x.shape[1])):
            s += x[i, k]
            if x[i, k] > largest:
                largest = x[i, k]
        y[i] = s * largest
    return y
"""
BY_STEPS = """
def f(first, last, y):
    for i in range(len(first)):
        s = 1.0
        for k in range(first[i], last[i], 3):
            s = s * 0.5 + k
        for k in range(last[i] - 1, first[i] - 1, -2):
            s = s * 0.5 - k
        y[i] = s
"""
INDEXED = """
def f(first, last, x, y):
    for i in range(len(first)):
        s = 1.0
        for k in range(first[i], last[i]):
            s = s * 0.5 + x[k]
        y[i] = s
"""
ESCAPE = """
def f(c, y):
    for i in range(len(c)):
        z = 0.0
        count = 0
        while z < 4.0 and count < 50:
            z = z * z + c[i]
            count += 1
        y[i] = count + z
"""
FIRST = """
def f(x, y):
    for i in range(x.shape[0]):
        found = -1
        for j in range(x.shape[1]):
            if x[i, j] > 1.0:
                found = j
                break
        y[i] = found
"""
BACKWARDS = """
def f(x, y):
    for i in range(len(x) - 1, -1, -1):
        y[i] = x[i] * 2
    for i in range(len(x) - 1, 0, -3):
        y[i] = y[i] + x[i - 1]
"""
PHASES = """
def f(x, y, rounds):
    for r in range(rounds):
        for i in range(r % 2, len(x) - 1, 2):
            y[i] = y[i] + x[i + 1] * r
        for j in range(r, rounds):
            y[j // 2] = y[j // 2] + 1.0
"""
HISTORY = """
def f(x, table):
    for t in range(1, table.shape[0]):
        for i in range(x.shape[0]):
            best = table[t - 1, i]
            if best < x[i]:
                best = x[i] + t
            else:
                best = best * 0.5
            table[t, i] = best
    return table
"""
SIDE = """
def f(x, y, z, low, high):
    for i in range(low, high):
        if i < len(x):
            y[i] = x[i]
        z[0, i - low] = i
"""


def parallel(axes):
    def in_any_order(program):
        def block(statements):
            return tuple(
                replace(s, kind="parallel", body=block(s.body))
                if isinstance(s, n.Loop) and s.axis.split("_")[0] in axes
                else with_bodies(s, block)
                for s in statements
            )

        return replace(program, body=block(program.body))

    return in_any_order


@functools.cache
def compiled(source, types, axes):
    """The function with its loops over `axes` marked as parallel, whatever the analysis says."""
    passes = list(DEVICE_PASSES)
    passes.insert(passes.index(unify_sizes) + 1, parallel(axes.split()))
    return load(printed(program_of("import numpy as np\n" + source, "f", types, tuple(passes))))


def check(source, types, axes, *args, exact=True, text=()):
    function = compiled(source, types, axes)
    for part in text:
        assert part in function.text, function.text
    assert (": in order (" in function.text) == (source == INDEXED), function.text
    first, second = ([np.copy(a) if isinstance(a, np.ndarray) else a for a in args] for _ in range(2))
    expected, found = plain(source, "f")(*first), function(*second)
    same(found, expected, exact, 1e-5, 1e-6)
    same(second, first, exact, 1e-5, 1e-6)


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 4, 5), (20, 7, 130)])
def test_products(shape):
    n_, k, m = shape
    check(MATMUL, "f(float32[n,k],float32[k,m])", "i j", random(n_, k), random(k, m, seed=1), exact=False)
    assert compiled(MATMUL, "f(float32[n,k],float32[k,m])", "i j").text.count("= _whole(") == 1


def test_products_without_terms():
    check(MATMUL, "f(float32[n,k],float32[k,m])", "i j", random(3, 0), random(0, 4))


@pytest.mark.parametrize("size", [1, 5, 40])
def test_a_parallel_nest_in_each_step(size):
    check(FLOYD, "f(float32[n,n])", "i j", np.abs(random(size, size)), text=["= _whole("])


@pytest.mark.parametrize("size", [0, 1, 9, 140])
def test_loops_of_different_length(size):
    check(TRIANGLE, "f(float64[n,m])", "i", random(size, size + 1, dtype=np.float64))


def test_different_starts_and_steps():
    first, last = np.array([0, 3, 5, 2, 4]), np.array([7, 3, 4, 9, 5])
    check(BY_STEPS, "f(int64[n],int64[n],float64[n])", "i", first, last, np.zeros(5))


def test_what_may_raise_runs_in_order():
    first, last = np.array([0, 3, 5, 2, 4]), np.array([7, 3, 4, 9, 5])
    args = "f(int64[n],int64[n],float64[m],float64[n])", "i", first, last
    check(INDEXED, *args, random(10, dtype=np.float64), np.zeros(5))
    with pytest.raises(IndexError, match="index 6 is out of bounds for axis 0 with size 6"):
        compiled(INDEXED, *args[:2])(first, last, np.zeros(6), np.zeros(5))


def test_a_while_loop_in_each_iteration():
    check(ESCAPE, "f(float64[n],float64[n])", "i", np.linspace(-2, 2, 37), np.zeros(37))


def test_an_inner_loop_that_is_left():
    for size in (1, 6, 30):
        check(FIRST, "f(float64[n,m],float64[n])", "i", random(size, 9, dtype=np.float64), np.zeros(size))


@pytest.mark.parametrize("size", [0, 1, 2, 3, 10])
def test_loops_that_count_down(size):
    check(BACKWARDS, "f(float32[n],float32[n])", "i", random(size), random(size, seed=1))


def test_ranges_that_move_by_steps_and_one_that_nothing_bounds():
    check(PHASES, "f(float64[n],float64[n],int)", "i", random(11, dtype=np.float64), np.zeros(11), 7)


@pytest.mark.parametrize("size", [1, 7, 200])
def test_branches_set_the_variables_of_each_lane(size):
    x, table = random(size, seed=2), random(5, size)
    check(HISTORY, "f(float32[n],float32[m,n])", "i", x, table, text=["= _whole("])


def test_an_array_bounds_a_loop_only_where_all_effects_touch_it():
    check(SIDE, "f(float64[n],float64[n],float64[k,m],int,int)", "i", random(4, dtype=np.float64),
          np.zeros(4), np.zeros((1, 9)), 2, 10)  # fmt: skip
