"""Next states that are chosen between a changed copy and the array are stores where the copy has changed
(`fuse/choices/changed.py`), with NumPy's bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import require
from transkern import pipeline
from transkern.frontend.sources.source import live_function
from transkern.frontend.specialise import specialise
from transkern.frontend.values.types import parse_signature
from transkern.fuse.choices.changed import store_changes
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import walk

require("cc")


def by_where(u, m, steps):
    u = u.copy()
    for _ in range(steps):
        v = u.copy()
        v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u = np.where(m, u, v)
    return u


def by_mask(u, m, steps):
    u, free = u.copy(), ~m
    for _ in range(steps):
        v = u.copy()
        v[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u[free] = v[free]
    return u


def by_copyto(u, m, steps):
    u = u.copy()
    for _ in range(steps):
        v = np.array(u)
        v[:, 2:] = u[:, :-2] - 0.5 * u[:, 1:-1]
        np.copyto(u, v, where=m)
    return u


def in_an_argument(u, m, steps):
    for _ in range(steps):
        v = u.copy()
        v[1:] = 0.5 * (u[1:] + u[:-1])
        u[...] = np.where(m, v, u)
    return u


def of_its_mask(u, m, steps):
    u = u.copy()
    for _ in range(steps):
        v = u.copy()
        v[1:] = 0.5 * (u[1:] + u[:-1])
        u[v > u] = v[v > u]
    return u


def twice_changed(u, m, steps):
    u = u.copy()
    for _ in range(steps):
        v = u.copy()
        v[1:-1] = 0.5 * (u[2:] + u[:-2])
        v[0] = v[1]
        u = np.where(m, u, v)
    return u


def another_elsewhere(u, m, steps):
    u = u.copy()
    for _ in range(steps):
        v = u.copy()
        v[1:-1] = 0.5 * (u[2:] + u[:-2])
        u = np.where(m, 0.0, v)
    return u


def read_beside(u, m, steps):
    u = u.copy()
    for _ in range(steps):
        v = u.copy()
        v[1:-1] = 0.5 * (u[2:] + u[:-2])
        u[1:] = np.where(m[1:], u[1:], v[:-1])
    return u


def changed_between(u, m, steps):
    u = u.copy()
    for k in range(steps):
        v = u.copy()
        v[1:-1] = 0.5 * (u[2:] + u[:-2])
        u[0] = k
        u = np.where(m, u, v)
    return u


MEET = (by_where, by_mask, by_copyto, in_an_argument)
APART = (twice_changed, another_elsewhere, read_beside, changed_between)


@pytest.mark.parametrize("function", [*MEET, of_its_mask, *APART], ids=lambda f: f.__name__)
def test_states_are_numpys(function: Callable[..., Any]) -> None:
    compiled, rng = transkern.compile(function, target="cpu"), np.random.default_rng(1)
    for shape in ((3, 3), (2, 7), (40, 67)):
        u, m = rng.standard_normal(shape), rng.random(shape) < 0.4
        u.flat[:: 5], u.flat[3:: 17], u.flat[4:: 19] = -0.0, np.nan, np.inf
        for steps in (0, 1, 4, 7):
            one, two = u.copy(), u.copy()
            with np.errstate(all="ignore"):
                wanted = function(one, m, steps)
            found = compiled(two, m, steps)
            np.testing.assert_array_equal(found, wanted)
            np.testing.assert_array_equal(two, one)
            here = ~np.isnan(wanted)
            np.testing.assert_array_equal(np.signbit(found[here]), np.signbit(wanted[here]))


@pytest.mark.parametrize("function", [*MEET, *APART], ids=lambda f: f.__name__)
def test_the_copy_is_gone_where_it_may(function: Callable[..., Any]) -> None:
    program = specialise(live_function(function), parse_signature("f(float64[n,m], bool[n,m], int)")[1], True)
    program = pipeline.run(program, PASSES[: PASSES.index(store_changes) + 1])
    (loop,) = (s for s in program.body if isinstance(s, n.Loop))
    assert any(isinstance(s, n.Define) for s in walk(loop.body)) == (function in APART)
