"""Sums over windows of unknown size: a window is a part, not each of its rows, and as exact as before."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import source_of
from transkern.fuse.passes import PASSES
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of


def viewed(x: Any, r: Any) -> Any:
    return np.lib.stride_tricks.sliding_window_view(x, (r, r)).sum(axis=(2, 3))


def sliced(x: Any, r: Any) -> Any:
    out = np.empty((x.shape[0] - r + 1, x.shape[1] - r + 1))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = np.sum(x[i : i + r, j : j + r])
    return out


@pytest.mark.parametrize("function", [viewed, sliced])
def test_parts_have_512_terms_of_several_rows(function: Callable[..., Any]) -> None:
    types = f"{function.__name__}(float64[n,m], int)"
    program = program_of(source_of(function), function.__name__, types, PASSES)
    loops = [s for s in walk(program.body) if isinstance(s, n.Loop) and s.kind == "sequential"]
    pairs = [
        (b.constant(s.step) or 0) * (b.constant(inner.step) or 0)
        for s in loops for inner in s.body if isinstance(inner, n.Loop)
    ]  # fmt: skip
    assert 512 in pairs


@pytest.mark.parametrize("function", [viewed, sliced])
def test_sums_are_exact(function: Callable[..., Any]) -> None:
    compiled = transkern.compile(function, target="cpu")
    rng = np.random.default_rng(0)
    x = rng.standard_normal((45, 60)) * 10.0 ** rng.integers(-6, 6, (45, 60))
    for r in (1, 2, 16, 17, 33, 45):
        found = compiled(x, r)
        assert found.shape == (46 - r, 61 - r)
        for i, j in ((0, 0), (45 - r, 60 - r), ((45 - r) // 2, (60 - r) // 3)):
            terms = x[i : i + r, j : j + r].ravel()
            assert abs(found[i, j] - math.fsum(terms)) <= 64 * np.finfo(float).eps * np.abs(terms).max() * r


@pytest.mark.parametrize("function", [viewed, sliced])
def test_what_is_no_number_is_in_its_windows_alone(function: Callable[..., Any]) -> None:
    x = np.arange(30.0 * 40).reshape(30, 40)
    x[3, 4], x[20, 30], x[25, 2], x[26, 3] = np.nan, np.inf, np.inf, -np.inf
    with np.errstate(invalid="ignore"):
        for r in (1, 5, 20):
            np.testing.assert_array_equal(transkern.compile(function, target="cpu")(x, r), function(x, r))
