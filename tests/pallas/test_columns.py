"""Rows of a few elements inside loops in order: held a row a column, with the same answers as NumPy's."""

import numpy as np
import pytest

from tests.pallas.support import check, compiled, random
from transkern.ir import nodes as n
from transkern.ir.traverse import buffers_used, buffers_written, walk
from transkern.pipeline import passes_for, program_of

F = np.float32
STATE = """
def f(d, sigma, low):
    d = d.copy()
    n = d.shape[0]
    left = np.ones(n, dtype=bool)
    out = np.zeros(n, dtype=np.int32)
    c = 0
    for step in range(n):
        i = np.argmax(np.where(left, d[:, 4], -1.0))
        if d[i, 4] < low:
            break
        out[c] = i
        c += 1
        left[i] = False
        w = np.maximum(0.0, np.minimum(d[i, 2], d[:, 2]) - np.maximum(d[i, 0], d[:, 0]))
        h = np.maximum(0.0, np.minimum(d[i, 3], d[:, 3]) - np.maximum(d[i, 1], d[:, 1]))
        d[:, 4] = np.where(left, d[:, 4] * np.exp(-(w * h) / sigma), d[:, 4])
    return out[:c], d
"""
MOTION = """
def f(p, v, steps):
    for _ in range(steps):
        r = np.sqrt((p ** 2).sum(axis=1))
        v -= p * (0.01 / (1 + r))[:, None]
        p += v * 0.01
"""
CENTRED = """
def f(p, v, steps):
    p = p.copy()
    for _ in range(steps):
        p += v * 0.5
        m = p.max(axis=0)
        v = np.where(np.abs(p) > 1, -v, m - p)
    return p, v
"""
TOTAL = """
def f(p, steps):
    t = 0.0
    for _ in range(steps):
        p *= 0.5
        t += np.abs(p).max()
        if not (p > 0).any():
            break
    return t, p
"""
PLAIN = """
def f(p, v, steps):
    for _ in range(steps):
        for i in range(p.shape[0]):
            s = 0.01 * p[i, 0] * p[i, 1]
            for k in range(3):
                v[i, k] -= p[i, k] * s
                p[i, k] += v[i, k]
"""
ONE_COLUMN = """
def f(p, steps):
    for s in range(steps):
        j = p[:, 1].argmin()
        p[:, 1] += p[j, 0]
"""
LAST_COLUMN = """
def f(p, steps):
    for s in range(steps):
        p[:, -1] = p[:, 0] * 0.5 + p[:, -1]
    return p
"""
ROWS_TOO = """
def f(p, steps, k):
    for s in range(steps):
        p[:, 1] += p[:, 0]
        p[s, k] = 7.0
    return p
"""
CHECKED = """
def f(p, steps):
    q = np.zeros(p.shape[0], dtype=p.dtype)
    for s in range(steps):
        q += p[:, 3] * (q.max() + 1)
    return q
"""
IN_BRANCH = """
def f(p, steps, t):
    if t > 0:
        for s in range(steps):
            p[:, 1] = p[:, 1] * 0.5 + p[:, 0]
    return p
"""
TWICE = """
def f(p, steps):
    for s in range(steps):
        p[:, 1] = p[:, 1] * 0.5 + p[:, 0]
    q = p[:, 0] + p[:, 1]
    for s in range(steps):
        p[:, 0] = p[:, 1] * 0.5 + p[:, 0] - q
    return p
"""
THREE_AXES = """
def f(x, steps):
    for s in range(steps):
        x[:, :, 1] = x[:, :, 1] * 0.5 + x[:, :, 0]
    return x
"""
FIRST_AXIS = """
def f(x, steps):
    for s in range(steps):
        j = x[2].argmax()
        x[2] = x[2] * 0.5 - x[0, j]
        x[1] += x[0] * x[2]
    return x
"""
EXCHANGED = """
def f(d, w):
    n = d.shape[0]
    for i in range(n):
        m = i + np.argmax(d[i:, 4])
        row = d[i].copy()
        d[i] = d[m]
        d[m] = row
        near = np.abs(d[i + 1 :, 0] - d[i, 0]) < np.abs(d[i + 1 :, 1] - d[i, 1])
        d[i + 1 :, 4] *= np.where(near, w, np.float32(1))
    return d
"""
EXCHANGED_BY_LOOPS = """
def f(d, w):
    n = d.shape[0]
    for i in range(n):
        m = i + np.argmax(d[i:, 4])
        for c in range(5):
            d[i, c], d[m, c] = d[m, c], d[i, c]
        for j in range(i + 1, n):
            if abs(d[j, 0] - d[i, 0]) < abs(d[j, 1] - d[i, 1]):
                d[j, 4] *= w
    return d
"""
SET_AND_SUMMED = """
def f(d, w):
    s = np.zeros(d.shape[0], d.dtype)
    for i in range(d.shape[0]):
        m = d[:, 2].argmin()
        s[i] = d[m].max()
        d[m] = w
        d[:, 0] -= d[i, 1]
    return d, s
"""
SIZES = [0, 1, 2, 129, 1500]
COUNTED = "f(float32[n,{}],int)"


def turned(source, types):
    """The arrays of the largest loop's kernel that have one axis, and those that have more."""
    program = program_of("import numpy as np\n" + source, "f", types, passes_for("pallas"))
    (kernel,) = [s for s in walk(program.body) if isinstance(s, n.Kernel) and s.placement == "block"][:1]
    of = {*buffers_used(kernel), *buffers_written(kernel)}
    return {b for b in of if len(program.buffers[b].dims) == 1}, {b for b in of if len(program.buffers[b].dims) > 1}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("width", ["5", "m"])
def test_a_state_in_columns(size, width):
    if size:
        d = np.abs(random(size, 5))
        d[:, 2:4] += d[:, :2]
        check(STATE, f"f(float32[n,{width}],float,float)", d, 0.5, 0.01, exact=False)
    columns, rows = turned(STATE, f"f(float32[n,{width}],float,float)")
    assert len(columns) >= 6 and not rows


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("k", [2, 3])
def test_points_that_move(size, k):
    p, v = random(size, k, special=size > 2), random(size, k, seed=1)
    check(MOTION, f"f(float32[n,{k}],float32[n,{k}],int)", p, v, 7, exact=False, rtol=1e-5)
    assert not turned(MOTION, f"f(float32[n,{k}],float32[n,{k}],int)")[1]


@pytest.mark.parametrize("size", [1, 129, 1500])
def test_reductions_of_columns(size):
    p, v = random(size, 3), random(size, 3, seed=1)
    check(CENTRED, "f(float32[n,3],float32[n,3],int)", p, v, 5, exact=False)
    check(TOTAL, "f(float32[n,3],int)", p, 60, exact=False)


@pytest.mark.parametrize("size", SIZES)
def test_plain_loops(size):
    p, v = random(size, 3, special=size > 2), random(size, 3, seed=1)
    check(PLAIN, "f(float32[n,3],float32[n,3],int)", p, v, 5, exact=False, rtol=1e-5)
    assert not turned(PLAIN, "f(float32[n,3],float32[n,3],int)")[1]


@pytest.mark.parametrize("steps", [0, 1, 4])
@pytest.mark.parametrize("layout", ["C", "F", "back", "wide"])
def test_one_column_of_arguments(steps, layout):
    p = random(300, 4)
    p = {"C": p, "F": np.asfortranarray(p), "back": p[::-1, ::-1], "wide": random(300, 8)[:, ::2]}[layout]
    for width in "4m":
        check(ONE_COLUMN, COUNTED.format(width), p, steps)
        check(LAST_COLUMN, COUNTED.format(width), p, steps)
        check(TWICE, COUNTED.format(width), p, steps, exact=False)
    check(THREE_AXES, "f(float32[n,m,2],int)", random(20, 30, 2), steps, exact=False)
    check(FIRST_AXIS, "f(float32[3,n],int)", random(3, 300), steps, exact=False)


@pytest.mark.parametrize("size", [1, 130])
@pytest.mark.parametrize("source", [EXCHANGED, EXCHANGED_BY_LOOPS, SET_AND_SUMMED])
def test_rows_that_are_exchanged_or_set(source, size):
    d = random(size, 5)  # numbers too small for normal ones are zeros to XLA: none comes to be
    if size > 2:
        d[7, 4], d[3, 4], d[90, 2], d[91, 2], d[5, 0] = np.nan, -0.0, np.nan, -np.inf, np.inf
    check(source, "f(float32[n,5],float32)", d, F(0.875))
    assert not turned(source, "f(float32[n,5],float32)")[1]


def test_special_values_in_a_column():
    p = random(300, 4, special=3)
    check(ONE_COLUMN, COUNTED.format("m"), p, 2)
    p[5, 1], p[77, 1], p[3, 1] = np.nan, np.nan, np.inf
    for source in (ONE_COLUMN, ONE_COLUMN.replace("argmin", "argmax")):
        check(source, COUNTED.format("m"), p, 3)


def test_an_element_anywhere_keeps_rows():
    check(ROWS_TOO, "f(float32[n,4],int,int)", random(300, 4), 3, 1)
    assert turned(ROWS_TOO, "f(float32[n,4],int,int)")[1]


@pytest.mark.parametrize("steps", [0, 3])
def test_a_column_that_there_may_not_be(steps):
    check(CHECKED, "f(float32[n,m],int)", random(40, 4), steps)
    check(CHECKED, "f(float32[n,m],int)", random(40, 3), steps)
    check(CHECKED, "f(float32[n,m],int)", random(0, 3), steps)


@pytest.mark.parametrize("t", [-1.0, 1.0])
def test_a_loop_in_a_branch(t):
    check(IN_BRANCH, "f(float32[n,3],int,float)", random(200, 3), 3, t, exact=False)


@pytest.mark.parametrize("dtype", ["bool", "int32", "float32"])
def test_types(dtype):
    source = "def f(p, steps):\n    for s in range(steps):\n        p[:, 1] = p[:, 1] | p[:, 0] if s == 0 else p[:, 2]\n"
    if dtype == "float32":
        source = source.replace("|", "*")
    p = random(300, 3)
    check(source, f"f({dtype}[n,3],int)", (p > 0) if dtype == "bool" else (p * 9).astype(dtype), 2)


EXTREME = """
def f(x, steps):
    at = np.zeros(steps, dtype=np.int32)
    for s in range(steps):
        j = x.{op}()
        at[s] = j
        x[j] = {new}
    return at, x
"""


@pytest.mark.parametrize("op, new", [("argmax", -9), ("argmin", 9), ("argmax", 1), ("argmin", 0)])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("size", [1, 130, 9000])
def test_first_extremes_in_lanes(op, new, dtype, size):
    x = np.round(random(size) * 3).astype(dtype)
    source = EXTREME.format(op=op, new=new)
    check(source, f"f({dtype}[n],int)", x, 20)
    if dtype == "float32":
        x = random(size, special=2)
        check(source, f"f({dtype}[n],int)", x, 20)
        check(source, f"f({dtype}[n],int)", np.full(size, -np.inf, F), 5)
        check(source, f"f({dtype}[n],int)", np.full(size, np.inf, F), 5)
    assert "_over(" in compiled(source, f"f({dtype}[n],int)").text
