"""An array that is returned in another shape (`z.reshape(n * m, 3)`, `z.ravel()`) is made where the result stands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import require
from transkern import pipeline
from transkern.frontend.sources.source import live_function
from transkern.frontend.specialise import specialise
from transkern.frontend.values.types import parse_signature
from transkern.ir import nodes as n
from transkern.ir.traverse import walk

require("cc")


def points_of(x):
    z = np.zeros((len(x), len(x[0]), 3))
    z[:, :, 0] = x
    z[:, :, 1] = x[:, ::-1]
    return z.reshape(-1, 3)


def in_order(x):
    z = x * 2
    for i in range(1, len(z)):
        z[i] = z[i] + z[i - 1] * 0.5
    return z.flatten()


def split(x):
    z = np.zeros(x.size)
    for k in range(x.size):
        z[k] = k if k % 3 else x.sum()
    return z.reshape(x.shape)


def changed_as_a_view(x):
    z = np.zeros((*x.shape, 2))
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            z[i, j, 0] = i
            z[i, j, 1] = x[i, j]
    rows = z.reshape(-1, 2)
    rows[0] = 7
    return rows


def left_early(x):
    z = np.zeros((len(x), 4))
    for i in range(len(x)):
        if x[i, 0] > 1:
            return z.reshape(-1)
        z[i] = x[i, 0]
    return z.reshape(4, -1)


def in_two_shapes(x):
    z = np.zeros(x.shape)
    z[1:] = x[:-1]
    z[:-1] += x[1:]
    return z.ravel(), z.T.ravel(), z.reshape(-1, 1) + 1


def of_a_library(x):
    z = np.sort(x, axis=1)
    return z.ravel()


def complex_ones(x):
    z = x * 1j
    z[0, 0] = 3
    return z.reshape(-1)


FUNCTIONS = [points_of, in_order, split, changed_as_a_view, left_early, in_two_shapes, of_a_library, complex_ones]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_they_are_as_numpys(function: Callable[..., Any]) -> None:
    rng = np.random.default_rng(0)
    for shape in ((3, 5), (1, 1), (2, 600)):
        alike(function, rng.integers(-8, 9, shape).astype(float))


@pytest.mark.parametrize("function", [points_of, in_order, changed_as_a_view])
def test_nothing_is_copied(function: Callable[..., Any]) -> None:
    types = parse_signature(f"{function.__name__}(float64[n,m])")[1]
    made = pipeline.run(specialise(live_function(function), types, True))
    assert {made.buffers[s.buffer].role for s in walk(made.body) if isinstance(s, n.Alloc)} == {"result"}
