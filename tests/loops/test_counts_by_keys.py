"""Counts of what has each of several keys, in one pass."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import source_of
from transkern.fuse.filters.by_keys import count_by_keys
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of


def of_labels(y: Any, p: Any, k: int) -> Any:
    return np.array([np.sum(y == c) for c in range(k)])


def confusion(y: Any, p: Any, k: int) -> Any:
    out = np.zeros((k, k), np.int64)
    for i in range(k):
        for j in range(k):
            out[i, j] = np.sum((y == i) & (p == j))
    return out


def in_loops(y: Any, p: Any, k: int) -> Any:
    out = np.zeros((k, k))
    for a in range(1, k):
        for b in range(k):
            count = 0
            for t in range(len(y) - 1):
                if y[t] == a and p[t + 1] == b:
                    count += 1
            out[a, b] = count / (b + 1)
    return out


def with_a_condition(y: Any, p: Any, k: int) -> Any:
    return np.array([np.count_nonzero((p > 2) & (y == c - 1)) for c in range(k)])


def broadcast(y: Any, p: Any, k: int) -> Any:
    return (y == np.arange(k)[:, None]).sum(axis=1)


def of_other_integers(y: Any, p: Any, k: int) -> Any:
    out = np.zeros(k, np.int64)
    for c in range(k):
        total = 0
        for t in range(len(y)):
            if y[t] == c:
                total += p[t]
        out[c] = total
    return out


def of_images(y: Any, p: Any, k: int) -> Any:
    image = y[: len(y) // 4 * 4].reshape(-1, 4)
    areas = np.zeros(k, int)
    for c in range(k):
        areas[c] = (image[:, 1:] == c).sum()
    return areas


def of_what_is_written(y: Any, p: Any, k: int) -> Any:
    out = y[:k].copy()
    for c in range(len(out)):
        count = 0
        for t in range(len(out)):
            if out[t] == c:
                count += 1
        out[c] = count
    return out


def more_than_equal(y: Any, p: Any, k: int) -> Any:
    return np.array([np.sum(y >= c) for c in range(k)])


def of_floats(y: Any, p: Any, k: int) -> Any:
    z = y * 0.5
    return np.array([np.sum(z == c) for c in range(k)])


FUNCTIONS = (of_labels, confusion, in_loops, with_a_condition, broadcast, of_other_integers, of_images,
             of_what_is_written, more_than_equal, of_floats)  # fmt: skip
FOUND = {f: f not in (of_what_is_written, more_than_equal, of_floats) for f in FUNCTIONS if f is not of_other_integers}


@pytest.mark.parametrize("function", FOUND, ids=lambda f: f.__name__)
def test_keys_are_counted_in_one_pass(function: Any) -> None:
    passes = PASSES[: PASSES.index(count_by_keys) + 1]
    types = f"{function.__name__}(int64[n], int64[n], int)"
    program = program_of(source_of(function), function.__name__, types, passes)
    found = any("by_key" in s.buffer for s in walk(program.body) if isinstance(s, n.Alloc))
    assert found == FOUND[function]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_numpys_answer(function: Any) -> None:
    compiled = transkern.compile(function, target="cpu")
    rng = np.random.default_rng(6)
    for dtype in (np.int64, np.uint8) if function is confusion else (np.int64,):
        for size in (1, 40, 1000):
            y, p = (rng.integers(0, 25, size).astype(dtype) for _ in range(2))
            if dtype is np.int64:
                y[::7], p[::5] = -3, -100
                y[0] = np.iinfo(np.int64).max
            for k in (1, 5, 16, 40):
                want, got = function(y, p, k), compiled(y, p, k)
                np.testing.assert_array_equal(got, want)
                assert got.dtype == want.dtype
