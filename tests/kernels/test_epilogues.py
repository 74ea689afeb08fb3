"""What rows compute of their reductions: behind these, for several rows at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import source_of
from transkern.fuse.passes import PASSES
from transkern.fuse.schedule.epilogues import distribute_epilogues
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of


def logistic(x: Any, w: Any) -> Any:
    return 1 / (1 + np.exp(-(x * w).sum(axis=1)))


def a_loss(x: Any, w: Any) -> Any:
    p = 1 / (1 + np.exp(-(x * w).sum(axis=1)))
    return -np.log(p).sum(), p


def a_sum_and_an_extreme(x: Any, w: Any) -> Any:
    return x.max(axis=1) + np.log(np.abs(x - w).sum(axis=1))


def in_loops(x: Any, w: Any) -> Any:
    out = np.zeros((x.shape[0], 2))
    for i in range(x.shape[0]):
        most = np.max(np.abs(x[i]))
        total = np.sum(x[i] * w)
        scaled = np.tanh(total) * most
        out[i, 0] = scaled
        out[i, 1] = np.exp(-abs(scaled))
    return out


def stored_first(x: Any, w: Any) -> Any:
    sums, out = np.zeros(x.shape[0]), np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        sums[i] = np.sum(x[i] * w)
        out[i] = np.tanh(sums[i]) + sums[i]
    return sums, out


def cheap(x: Any, w: Any) -> Any:
    return (x * w).sum(axis=1) + 1


def of_no_reduction(x: Any, w: Any) -> Any:
    return np.exp(x[:, 0]), (x * w).sum(axis=1)


FOUND = {logistic: True, a_loss: True, a_sum_and_an_extreme: True, in_loops: True, stored_first: True, cheap: False,
         of_no_reduction: False}  # fmt: skip


@pytest.mark.parametrize("function", FOUND, ids=lambda f: f.__name__)
def test_what_takes_functions_of_sums_is_behind_them(function: Any) -> None:
    passes = PASSES[: PASSES.index(distribute_epilogues) + 1]
    types = f"{function.__name__}(float64[n,m], float64[m])"
    program = program_of(source_of(function), function.__name__, types, passes)
    blocks = [s for s in walk(program.body) if isinstance(s, n.Loop) and s.axis.startswith("block")]
    assert bool(blocks) == FOUND[function]


@pytest.mark.parametrize("function", FOUND, ids=lambda f: f.__name__)
def test_numpys_answer(function: Any) -> None:
    compiled = transkern.compile(function, target="cpu")
    rng = np.random.default_rng(5)
    for rows, columns in ((0, 3), (1, 1), (1, 40), (15, 17), (16, 40), (31, 17), (33, 33), (257, 18), (700, 100)):
        x, w = rng.standard_normal((rows, columns)), rng.standard_normal(columns)
        if rows > 16:
            x[3, 2], x[-1, 0], x[16, 1] = np.nan, np.inf, -np.inf
        for given in (x, x[::-1]) if function is a_loss else (x,):
            with np.errstate(all="ignore"):
                want = function(given, w)
            got = compiled(given, w)
            for one, other in zip(np.atleast_1d(want) if isinstance(want, np.ndarray) else want, got, strict=True):
                np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-13)
