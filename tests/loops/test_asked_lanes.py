"""Lanes ask together before they compute roots, quotients and functions that few of them choose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import source_of
from transkern.fuse.lanes.asked import ask_before_costly
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of, run
from transkern.records import replace


def nearest(p: Any, c: Any, most: Any) -> Any:
    out = np.empty(len(p))
    for i in range(len(p)):
        best = np.inf
        for j in range(len(c)):
            d = p[i] - c[j] if p[i] > c[j] else c[j] - p[i]
            t = np.sqrt(d) if d < most else np.inf
            best = t if t < best else best
        out[i] = best
    return out


def kernels(p: Any, c: Any, most: Any) -> Any:
    s = np.zeros(len(p))
    for j in range(len(c)):
        d = (p - c[j]) ** 2
        s += np.where(d > most, 0.0, np.exp(-d) / (1.0 + d))
    return s


def of_a_list(p: Any, c: Any, most: Any) -> Any:
    s = np.full(len(p), -np.inf)
    for v in c:
        near = np.abs(p - v) < most
        s = np.maximum(s, np.where(near, np.log(np.abs(p * v)), -1.0))
    return s


ASKED: list[Callable[..., Any]] = [nearest, kernels, of_a_list]


def soon_done(p: Any, c: Any, most: Any) -> Any:
    s = np.zeros(len(p))
    for j in range(len(c)):
        d = (p - c[j]) ** 2
        s += np.where(d > most, 0.0, d * 2 + p)
    return s


def dear_to_ask(p: Any, c: Any, most: Any) -> Any:
    s = np.zeros(len(p))
    for j in range(len(c)):
        d = np.exp(-np.abs(p - c[j]))
        s += np.where(d > most, 0.0, np.sqrt(d))
    return s


def of_what_changes(p: Any, c: Any, most: Any) -> Any:
    s = np.zeros(len(p))
    for j in range(len(c)):
        s = np.where(s < most, np.sqrt(s + c[j] * c[j]), s)
    return s


@pytest.mark.parametrize("function", [*ASKED, soon_done, dear_to_ask, of_what_changes])
def test_lanes_ask_for_what_takes_long(function: Callable[..., Any]) -> None:
    types = f"{function.__name__}(float64[n], float64[m], float)"
    program = program_of(source_of(function), function.__name__, types, PASSES)
    kept = [s for s in walk(program.body) if isinstance(s, n.Alloc) and program.buffers[s.buffer].kept]
    assert bool(kept) == (function in ASKED)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function", ASKED)
def test_numpys_numbers_whoever_wants_them(function: Callable[..., Any]) -> None:
    compiled = transkern.compile(function, target="cpu")
    for size, count in ((0, 3), (5, 0), (70, 6), (130, 40)):
        rng = np.random.default_rng(size)
        p, c = np.sort(rng.standard_normal(size)) * 8, rng.standard_normal(count)
        for most in (1e9, 0.0, 0.05, np.nan, 2.0):
            for _ in range(2):  # what has been asked in vain is not asked again
                found, wanted = compiled(p, c, most), function(p, c, most)
                np.testing.assert_allclose(found, wanted, rtol=1e-13)
        if size and count:
            p[1], p[-1], c[-1] = np.nan, -0.0, np.inf
            np.testing.assert_allclose(compiled(p, c, 0.5), function(p, c, 0.5), rtol=1e-13)


def test_roots_have_numpys_bits() -> None:
    rng = np.random.default_rng(1)
    for most in (1e9, 0.0, 0.1):
        alike(nearest, rng.standard_normal(150), rng.standard_normal(9), most)


def test_nothing_is_passed_by_where_warnings_are_asked_for() -> None:
    passes = PASSES[: PASSES.index(ask_before_costly)]
    program = run(program_of(source_of(nearest), "nearest", "nearest(float64[n], float64[m], float)", ()), passes)
    assert ask_before_costly(program) != program
    warns = replace(program, warns=True)
    assert ask_before_costly(warns) == warns
