"""Sums of columns go through memory row by row, and are as exact as other sums."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from transkern import pipeline
from transkern.frontend.source import live_function
from transkern.frontend.specialise import specialise
from transkern.frontend.types import parse_signature
from transkern.ir import nodes as n
from transkern.ir.traverse import walk


def summed(a: Any) -> Any:
    return a.sum(axis=0)


def means(a: Any) -> Any:
    centred = a - a.mean(axis=0)
    return centred.std(axis=0), (centred * centred).sum(axis=0)


def chosen(a: Any) -> Any:
    return a[a[:, 0] > 0].sum(axis=0), np.sum(a, axis=0, where=a > 0)


def of_three_dims(a: Any) -> Any:
    return a.reshape(a.shape[0], -1, 1).sum(axis=0), a[None].sum(axis=1)


def along_rows(a: Any) -> Any:
    return a.sum(axis=1)


FUNCTIONS = {summed: True, means: True, chosen: True, along_rows: False}


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_which_sums_are_in_order(function: Callable[..., Any]) -> None:
    parsed = parse_signature("f(float64[n,m])")[1]
    program = pipeline.run(specialise(live_function(function), parsed, True), pipeline.passes_for("cpu"))
    lanes = [s for s in walk(program.body) if isinstance(s, n.Loop) and s.axis.startswith("lane")]
    assert bool(lanes) == FUNCTIONS[function]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_they_are_as_numpys(dtype: str) -> None:
    """Exact terms: sums in any order have the same bits."""
    random = np.random.default_rng(5)
    for shape in ((7, 40), (1, 33), (0, 9), (513, 31), (1025, 8), (600, 65), (3, 0), (40, 1)):
        a = random.integers(-8, 9, shape).astype(dtype) / 2
        for given in (a, a[::-1], a[:, ::-1], np.asfortranarray(a), a[::2, ::2]):
            for function in (summed, chosen, of_three_dims):
                if given.shape[1] or function is not chosen:
                    alike(function, given)
    special = random.integers(-8, 9, (600, 40)).astype(dtype)
    special[3, 1], special[500, 1], special[7, 2], special[8, 3] = np.inf, -np.inf, np.nan, np.finfo(dtype).max
    special[9, 3] = special[8, 3]
    alike(summed, special)


def test_they_are_exact_to_the_last_digits() -> None:
    random = np.random.default_rng(6)
    a = random.standard_normal((20_000, 12)) * 10.0 ** random.integers(-8, 9, (20_000, 12))
    found = transkern.compile(summed)(a)
    wanted = np.array([math.fsum(a[:, k]) for k in range(12)])
    assert np.all(np.abs(found - wanted) <= 4 * np.spacing(np.abs(a).sum(axis=0)))
    spread = transkern.compile(means)(a)
    for one, other in zip(spread, means(a), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
