"""Turned copies of arrays that lanes read along their rows."""

from __future__ import annotations

import inspect
from math import sqrt
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from transkern.fuse.passes import PASSES
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.traverse import variables_read, walk
from transkern.pipeline import program_of

# mypy: disable-error-code="no-untyped-def,no-untyped-call"


def rows_by_rows(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[0]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[j, k]


def triangle(a, c):
    for i in range(c.shape[0]):
        for j in range(i + 1):
            total = 0.0
            for k in range(a.shape[1]):
                total += a[i, k] * a[j, k]
            c[i, j] = total


def factor(a):
    x = np.zeros(a.shape)
    for i in range(a.shape[0]):
        for j in range(i):
            total = a[i, j]
            for k in range(j):
                total -= x[i, k] * x[j, k]
            x[i, j] = total / x[j, j]
        total = a[i, i]
        for k in range(i):
            total -= x[i, k] * x[i, k]
        x[i, i] = sqrt(total)
    return x


def columns(a, b, c):
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]


def once(b, x, c):
    for j in range(b.shape[0]):
        for k in range(b.shape[1]):
            c[j] += b[j, k] * x[k]


def other_in_each(b, c):
    for i in range(c.shape[0]):
        for j in range(b.shape[0]):
            for k in range(1, b.shape[1] - c.shape[0]):
                c[i, j] += b[j, k + i]


def stored_as_often(a, b, c):
    for t in range(a.shape[0]):
        for j in range(b.shape[0]):
            total = 0.0
            for k in range(b.shape[1]):
                total += b[j, k] * a[t, k]
            c[t, j] = total
        for i in range(b.shape[0]):
            for j in range(b.shape[0]):
                for k in range(b.shape[1]):
                    b[i, k] += c[t, j]


MATRICES = "(float64[n,m], float64[p,m], float64[n,p])"
CASES: dict[Any, tuple[str, int]] = {
    rows_by_rows: (MATRICES, 1),
    triangle: ("(float64[n,m], float64[n,n])", 1),
    factor: ("(float64[n,n])", 1),
    columns: ("(float64[n,m], float64[m,p], float64[n,p])", 0),
    once: ("(float64[n,m], float64[m], float64[n])", 0),
    other_in_each: ("(float64[n,m], float64[p,n])", 0),
    stored_as_often: (MATRICES, 0),
}


@pytest.mark.parametrize("function", CASES)
def test_copies_are_made_where_they_pay(function: Any) -> None:
    types, count = CASES[function]
    source = "import numpy as np\nfrom math import sqrt\n" + inspect.getsource(function)
    program = program_of(source, function.__name__, function.__name__ + types, PASSES)
    assert sum(isinstance(s, n.Alloc) and "turned" in s.buffer for s in walk(program.body)) == count


@pytest.mark.parametrize("size", [0, 1, 3, 15, 16, 17, 40, 75])
@pytest.mark.parametrize("function", [rows_by_rows, triangle, factor])
def test_copies_do_not_show(function: Any, size: int) -> None:
    rng = np.random.default_rng(size)
    half = rng.standard_normal((size, size + 3))
    if function is factor:
        given: tuple[Any, ...] = (half @ half.T + size * np.eye(size),)
    elif function is triangle:
        given = half, np.zeros((size, size))
    else:
        given = half, rng.standard_normal((size + 2, size + 3))[:, ::-1], np.zeros((size, size + 2))
    if size == 40 and function is not factor:
        half[3, 5], half[20, 7], half[30, 1] = np.inf, np.nan, -0.0
    mine, theirs = ([x.copy() for x in given] for _ in range(2))
    if function is rows_by_rows:
        mine[1] = given[1]  # a view whose rows run backwards
    with np.errstate(all="ignore"):
        got, wanted = transkern.compile(function, target="cpu")(*mine), function(*theirs)
    for x, y in zip([*mine, got], [*theirs, wanted], strict=True):
        if y is not None:
            np.testing.assert_array_equal(x, y)
            assert (np.signbit(x) == np.signbit(y))[~np.isnan(y)].all()


def test_the_error_of_a_step_comes_from_the_copied_loop_too() -> None:
    a = np.eye(60)
    a[50, 50] = -1.0
    with pytest.raises(ValueError, match=r"math domain error|expected a nonnegative"):
        transkern.compile(factor, target="cpu")(a)


def nearest(q, k):
    out = np.zeros(len(q))
    s = np.zeros(len(k))
    for i in range(len(q)):
        m = -np.inf
        for j in range(len(k)):
            t = 0.0
            for a in range(q.shape[1]):
                t += q[i, a] * k[j, a]
            s[j] = t / q.shape[1]
            m = max(m, s[j])
        z = 0.0
        for j in range(len(k)):
            z += s[j] - m
        out[i] = z
    return out


@pytest.mark.parametrize(("rows", "pays"), [(100, True), (15, False), (1, False), (5000, True)])
def test_blocks_of_a_range_are_the_range(rows: int, pays: bool) -> None:
    """A loop that goes block by block has as many iterations as before: fewer rows than a block are some, too."""
    source = "import numpy as np\n" + inspect.getsource(nearest)
    program = program_of(source, "nearest", "nearest(float64[n,m], float64[p,m])", PASSES)
    turned = {s.buffer for s in walk(program.body) if isinstance(s, n.Alloc) and "turned" in s.buffer}
    ifs = [s for s in walk(program.body) if isinstance(s, n.If)]
    (condition,) = (s.condition for s in ifs if {x.buffer for x in s.then if isinstance(x, n.Alloc)} & turned)
    assert any(isinstance(s, n.Loop) and b.constant(s.step) == 1024 for s in walk(program.body))
    sizes = {name: b.index(5 if name == "m." else rows) for name in variables_read(condition)}
    assert b.substitute(condition, sizes) == (b.TRUE if pays else b.FALSE)


@pytest.mark.parametrize("size", [1, 15, 31, 33, 47, 63, 64, 97, 1030])
def test_lanes_of_half_a_block(size: int) -> None:
    """What is left behind whole blocks of lanes goes in halves of one, in quarters, and by what is left of these."""
    rng = np.random.default_rng(size)
    q, k = rng.standard_normal((min(size, 40), 7)), rng.standard_normal((size, 7))
    alike(nearest, q, k)
    alike(nearest, q, np.where(k > 2, np.inf, k))


def test_half_a_block_has_as_many_sums_as_an_addition_takes() -> None:
    source = "import numpy as np\n" + inspect.getsource(nearest)
    program = program_of(source, "nearest", "nearest(float64[n,m], float64[p,m])", PASSES)
    sizes = {b.constant(program.buffers[s.buffer].dims[0]) for s in walk(program.body) if isinstance(s, n.Alloc)}
    assert {64, 32, 16} <= sizes
