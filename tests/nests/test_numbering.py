"""Equal reductions are computed once, however far they stand from each other (`fuse/scalars/numbering.py`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import on_target, require, source_of
from transkern import pipeline
from transkern.fuse import passes as pass_lists
from transkern.fuse.passes import PASSES
from transkern.ir.expr import Reduce
from transkern.ir.traverse import exprs

require("cc")


def correlation(x, y, a):
    return ((x - x.mean()) * (y - y.mean())).sum() / np.sqrt(
        ((x - x.mean()) ** 2).sum() * ((y - y.mean()) ** 2).sum() + 1.0
    )


def columns(x, y, a):
    z = (a - a.mean(axis=0)) * 2
    return z + (a - a.mean(axis=0)).sum(axis=1)[:, None]


def in_branches(x, y, a):
    total = x.sum()
    if x[0] > 0:
        y = y + x.sum() / 2
    else:
        y = y - x.sum()
    return y * total


def in_a_loop(x, y, a):
    low = np.abs(a).min()
    for k in range(3):
        y = y + np.abs(a).min() * k - low
    return y


def scores(x, y, a):
    """The mean of a variance keeps its axis, the one beside it does not."""
    return (a - a.mean(axis=1)[:, None]) / (a.std(axis=1)[:, None] + 1), a.sum(axis=(0, 1), keepdims=True) / a.sum()


ONCE = {scores: 3, correlation: 5, columns: 2, in_branches: 1, in_a_loop: 1}
"""With the reductions that are left."""


def changed_between(x, y, a):
    x = x.copy()
    first = x.sum()
    x[1:] += y[1:]
    second = x.sum()
    x[:] = y
    return first, second, x.sum() + y.sum()


def changed_in_a_loop(x, y, a):
    x = x.copy()
    first = x.sum()
    out = np.zeros(3)
    for k in range(3):
        out[k] = x.sum() - first
        x *= 2
    return out, x.sum()


def made_anew(x, y, a):
    total = x.sum()
    for k in range(3):
        z = x * k
        x = z - y
        total += x.sum() + z.max()
        z = x + y
        total -= z.max() * x.sum()
    return total, x


def other_branch(x, y, a):
    if x[0] > 0:
        scale = y.sum()
    else:
        scale = 1.0
    return scale + y.sum()


def other_axis(x, y, a):
    return a.sum(axis=0), a.sum(axis=1), a.T.sum(axis=0), a.sum(), a.max(axis=0) + a.min(axis=0)


def by_index(x, y, a):
    out = np.zeros(len(x))
    for i in range(len(a)):
        out[i] = a[i].sum()
    for i in range(len(a)):
        out[i] -= a[i].sum() + a[0].sum()
    return out, a[0].sum()


def handed_back(x, y, a):
    first = a.mean(axis=0)
    second = a.mean(axis=0)
    first += 1
    return first, second, a.mean(axis=0)


FUNCTIONS = (*ONCE, changed_between, changed_in_a_loop, made_anew, other_branch, other_axis, by_index, handed_back)


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_numpys_answer(function: Callable[..., Any], target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = transkern.compile(function, target=on_target(target, monkeypatch))
    for shape in ((5, 4), (1, 1), (17, 3)):
        rng = np.random.default_rng(3)
        x, y, a = (rng.integers(-6, 7, s) * 0.5 for s in (shape[0], shape[0], shape))
        if shape[0] == 17:
            x[0] = -1.5
        wanted, found = (f(x.copy(), y.copy(), a.copy()) for f in (function, made))
        pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
        for one, other in pairs:
            np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12, err_msg=str(shape))


@pytest.mark.parametrize("function", ONCE)
def test_reductions_are_there_once(function: Callable[..., Any]) -> None:
    source = source_of(function)
    passes = PASSES[: PASSES.index(pass_lists.number_values) + 1]
    types = f"{function.__name__}(float64[n], float64[n], float64[n, m])"
    program = pipeline.program_of(source, function.__name__, types, passes)
    assert sum(isinstance(e, Reduce) for e in exprs(program.body)) == ONCE[function]
