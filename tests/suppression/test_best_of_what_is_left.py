"""The best element of an array that gets shorter, searched anew each time, over a mask: special values, all orders."""

from pathlib import Path

import numpy as np
import pytest

import transkern
from tests.tools import on_target
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of


def largest_first(x):
    left = np.arange(len(x))
    found = []
    while left.size > 0:
        best = left[np.argmax(x[left])]
        found.append(best)
        left = left[np.abs(left - best) > 1]
    return np.array(found, dtype=np.int64)


def smallest_first(x):
    left = np.arange(len(x))
    found = []
    while len(left):
        k = x[left].argmin()
        found.append(left[k])
        keep = np.abs(left - left[k]) > 1
        keep[k] = False
        left = left[keep]
    return np.array(found, dtype=np.int64)


def of_the_rest(x):
    """The search leaves the first one out."""
    left = np.arange(len(x))
    found = []
    while left.size > 1:
        k = np.argmax(x[left[1:]])
        found.append(left[k + 1])
        left = left[left != left[k + 1]]
    return np.array(found, dtype=np.int64)


def with_bounds(x):
    """Reductions of what is left beside the search."""
    left = np.arange(len(x))
    found = []
    while left.size > 0:
        if x[left].max() < 0 or not np.any(x[left] > 0):
            break
        found.append(left[np.argmax(x[left])])
        left = left[x[left] < x[left].max()]
    return np.array(found, dtype=np.int64)


FUNCTIONS = (largest_first, smallest_first, of_the_rest, with_bounds)


def values(dtype):
    rng = np.random.default_rng(5)
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        return [
            rng.integers(0, 9, 40).astype(dtype), np.full(6, info.min, dtype),
            np.array([info.max, info.min] * 4, dtype), np.zeros(1, dtype), np.zeros(0, dtype),
        ]  # fmt: skip
    x = rng.standard_normal(40).astype(dtype)
    some = x.copy()
    some[[3, 17, 18]], some[[5, 30]], some[7] = np.nan, -np.inf, np.inf
    zeros = np.array([0.0, -0.0] * 5, dtype)
    return [x, some, *(np.full(7, v, dtype) for v in (np.nan, -np.inf, np.inf)), zeros, x[:1], x[:0]]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "int8", "uint64"])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_special_values(function, dtype):
    compiled = transkern.compile(function, target="cpu")
    for x in values(dtype):
        np.testing.assert_array_equal(compiled(x), function(x))


@pytest.mark.parametrize("target", ["cuda", "pallas"])
@pytest.mark.parametrize("function", FUNCTIONS[:2])
def test_other_targets(function, target, monkeypatch):
    compiled = transkern.compile(function, target=on_target(target, monkeypatch))
    for x in values("float32")[:4]:
        np.testing.assert_array_equal(compiled(x), function(x))


@pytest.mark.parametrize("function", FUNCTIONS[:2])
def test_nothing_is_moved(function):
    source = Path(__file__).read_text()
    program = program_of(source, function.__name__, f"{function.__name__}(float64[n])")
    assert not any(isinstance(s, n.Compact) for s in walk(program.body))
