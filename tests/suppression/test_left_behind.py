"""Suppression whose array of what is left is looked at behind the loop, or has matrices beside it: still a mask."""

import inspect
from pathlib import Path

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of


def last_one_apart(x, s, t, most):
    order = s.argsort()
    keep = []
    while len(order) > 1:
        i, order = order[-1], order[:-1]
        keep.append(i)
        order = order[np.abs(x[order, 0] - x[i, 0]) > t]
    if len(order):
        keep.append(order[0])
    return keep


def limited(x, s, t, most):
    order = np.argsort(-s)
    keep = []
    while order.size > 0:
        if len(keep) == most:
            break
        i = order[0]
        keep.append(i)
        order = order[1:][np.abs(x[order[1:], 1] - x[i, 1]) > t]
    return np.array(keep), order


def limited_at_the_end(x, s, t, most):
    order = np.argsort(-s)
    picked = 0
    while order.size:
        i = order[0]
        rest = order[1:]
        picked += 1
        if picked > most:
            break
        order = rest[np.abs(x[rest] - x[i]).sum(axis=1) > t]
    return picked, order.size, x[order]


def from_both_ends(x, s, t, most):
    order = np.argsort(s)
    total = 0
    while order.size >= 3:
        low, high = order[0], order[-1]
        total += high - low
        order = order[1:-1][np.abs(x[order[1:-1], 0] - x[high, 0]) > t]
    return total, np.sort(order)


def two_loops(x, s, t, most):
    order = np.argsort(-s)
    coarse, fine = [], []
    while order.size > 4:
        i = order[0]
        coarse.append(i)
        order = order[1:][np.abs(x[order[1:], 0] - x[i, 0]) > t]
    while order.size > 0:
        i = order[0]
        fine.append(i)
        order = order[1:][np.abs(x[order[1:], 1] - x[i, 1]) > t]
    return coarse, fine


def columns(x, s, t, most):
    y = x.T
    order = s.argsort()
    keep = []
    while len(order) > 0:
        i, order = order[-1], order[:-1]
        keep.append(i)
        q = y[:, order]
        wide = np.maximum(q[0] - y[0, i], y[0, i] - q[0])
        order = order[wide + np.abs(q[1] - y[1, i]) > t]
    return keep


def products(x, s, t, most):
    order = np.argsort(s)[::-1]
    keep = []
    while len(order) > 0:
        i = order[0]
        keep.append(i)
        rest = order[1:]
        d = x[rest] - x[i]
        e = d * d / (s[rest] + s[i] + 1)[:, None]
        far = (e[:, 0] + e[:, 1] > t) & (d[:, 0] * e[:, 1] < 50)
        order = rest[far]
    return np.array(keep)


FUNCTIONS = [last_one_apart, limited, limited_at_the_end, from_both_ends, two_loops, columns, products]


def given(size, dtype):
    rng = np.random.default_rng(size)
    return rng.uniform(0, 30, (size, 2)).astype(dtype), (rng.permutation(size) / 64).astype(dtype)


@pytest.mark.parametrize("function", [f for f in FUNCTIONS if f is not two_loops])
def test_nothing_is_moved_in_the_loop(function):
    name = function.__name__
    types = f"{name}(float32[n,2],float32[n],float,int)"
    program = program_of(Path(inspect.getfile(function)).read_text(), name, types)
    loops = [s for s in walk(program.body) if isinstance(s, n.While)]
    assert loops and not any(isinstance(s, n.Compact) for loop in loops for s in walk((loop,)))
    kernels = [s for s in walk(program.body) if isinstance(s, n.Kernel)]
    assert sum(any(loop in loops for loop in walk(k.body)) for k in kernels) == 1


@pytest.mark.parametrize("target", ["cpu", "cuda"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_picks(function, target, monkeypatch):
    compiled = transkern.compile(function, target=on_target(target, monkeypatch))
    for size in (0, 1, 2, 5, 64) if target == "cpu" else (0, 2, 40):
        if size == 0 and function is limited_at_the_end:
            continue
        for t, most in ((3.0, 4), (0.0, 2), (100.0, 50), (np.nan, 3)):
            alike(function, *given(size, np.float64), t, most, compiled=compiled)


def test_gaps_are_closed_on_the_way():
    """With elements enough that what is left is moved together now and then."""
    x, s = given(3000, np.float64)
    for function in FUNCTIONS:
        alike(function, x * 40, s, 60.0, 7)
        alike(function, x * 40, s, 9.0, 400)


@pytest.mark.parametrize("function", [limited, columns])
def test_picks_on_pallas(function, monkeypatch):
    compiled = transkern.compile(function, target=on_target("pallas", monkeypatch))
    for size in (1, 40):
        alike(function, *given(size, np.float32), 3.0, 4, compiled=compiled)
