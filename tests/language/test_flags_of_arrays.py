"""`x.flags`, and the order in memory of what is filled, which decides what `reshape` and `ravel` share."""

from __future__ import annotations

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import require

require("cc")

ROWS = np.arange(12.0).reshape(3, 4)
CONSTANT = np.arange(6.0).reshape(2, 3)


def in_order(a):
    if not a.flags.c_contiguous:
        a = np.ascontiguousarray(a)
    return a.ravel()[::2] * 2, a.flags["C"], a.flags.forc, a[0].flags["CONTIGUOUS"]


def of_views(a, k):
    b = a.T
    f = b.flags
    known = f.c_contiguous, f["F_CONTIGUOUS"], f.fnc, a[1:].flags.c_contiguous, a[::-1].flags.c_contiguous
    made = (b + 1).flags.f_contiguous, (b + 1).T.flags.c_contiguous, np.zeros(a.shape, order="F").flags["F"]
    return known, made, a[:, :k].flags.c_contiguous, a.copy().flags.writeable, CONSTANT.T.flags.f_contiguous


@pytest.mark.parametrize(
    "a", [ROWS, ROWS.T, ROWS[:, ::2], ROWS[:0], ROWS[:, :0], ROWS[:1], ROWS[:, :1], ROWS[::-1]],
)  # fmt: skip
def test_contiguous(a):
    alike(in_order, a) if len(a) else alike(lambda a: (a.flags.c_contiguous, a.flags["F"], a.flags.fnc), a)


@pytest.mark.parametrize("k", [4, 3, 1, 0])
def test_of_views(k):
    alike(of_views, ROWS, k)
    alike(of_views, ROWS[:1], k)


def test_flags_that_are_none():
    alike(lambda a: a.flags.nothing, ROWS)
    alike(lambda a: a.flags["NOTHING"], ROWS)


def test_what_only_a_call_knows():
    with pytest.raises(transkern.CompileError, match="only a call knows"):
        transkern.compile(lambda a: a.flags.f_contiguous)(ROWS.T)
    with pytest.raises(transkern.CompileError, match="the flag 'owndata'"):
        transkern.compile(lambda a: a.flags.owndata)(ROWS)


def filled(a, n):
    x, y, z = np.zeros((n, 4), order="F"), np.full((2, 3), [1, 2, 3], order="F"), np.ones((2, 3, 4), np.float32, "F")
    p, q, r = x.reshape(-1), y.ravel(order="F"), z.transpose(2, 1, 0).reshape(-1)
    p[1], q[1], r[5] = 5, 6, 7
    for i in range(n):
        x[i] += i
    return x, y, z, p, q, r, x.strides


def filled_like(a, n):
    x, y, z = np.zeros_like(a.T), np.full_like(a * 2, 2), np.ones_like((a.T * n).T, order="F")
    w = np.zeros_like((a.T * n).T)
    p, q, r, s = x.reshape(-1), y.reshape(-1), z.T.reshape(-1), w.reshape(-1)
    p[1], q[1], r[1], s[1] = 5, 6, 7, 8
    return x, y, z, w, x.strides, w.strides


def computed(a, n):
    x, y = (a.T * n).T, (a.T + a.T)[::-1].T[1:]
    z = np.add.accumulate((a.T * n).T, axis=1)
    p, q, r = x.reshape(-1), y.reshape(-1), z.reshape(-1)
    p[0], q[0], r[1] = 5, 6, 7
    return x, y, z, x.strides, y.strides, np.exp(a.T).strides, np.stack([a, a]).strides


@pytest.mark.parametrize("function", [filled, filled_like, computed])
def test_memory_as_numpy_lays_it_out(function):
    alike(function, ROWS.copy(), 3)
