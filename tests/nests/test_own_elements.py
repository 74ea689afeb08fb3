"""Stores into parts of an array that read single elements of it, and slices whose length is seen: no temporaries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import on_target, require, source_of
from transkern import pipeline
from transkern.fuse.passes import BEFORE_LOOPS
from transkern.ir import nodes as n
from transkern.ir.traverse import walk

require("cc")


def paths(d):
    for k in range(len(d)):
        for i in range(len(d)):
            d[i] = np.minimum(d[i], d[i, k] + d[k])


def paths_as_a_whole(d):
    for k in range(len(d)):
        d[:] = np.minimum(d, d[:, k : k + 1] + d[k])


def elimination(d):
    for k in range(len(d)):
        for i in range(k + 1, len(d)):
            d[i, k:] -= d[i, k] * 0.5 * d[k, k:]


def rows_over_their_diagonal(d):
    for k in range(len(d)):
        d[k] = d[k] * 2 - d[k, k]


def turned_rows(d):
    for k in range(len(d)):
        d[k, :] = d[k, ::-1] + d[k, k]


def columns_and_rows(d):
    for k in range(len(d)):
        d[:, k] *= d[k, k]
        d[k] += d[0, 0]


def less_the_first(d):
    d[:] = d[:1, :1].sum() - d
    if len(d) > 1:
        d[1:, 1:] -= d[1, 1]
        d[d > 1] = d[0, 1] + d[1, 1]


def into_nothing(d):
    if len(d) > 0:
        d[:0] = d[0, 0]
        d[:, :0] = d[0, 0]
    d[len(d) :] = d[:1].sum() * 2


def chosen_elements(d):
    for k in range(len(d)):
        d[k] = np.where(d[k] > 1, d[k, 0], d[k] - d[k, k]) if k % 2 else d[k, k] - d[k]


def windows(d):
    for k in range(len(d) - 2):
        d[k : k + 3] = d[k : k + 3][::-1] - d[k, k]
        d[k, k : k + 2] = d[k, k] + d[0, k : k + 2]


def windows_beyond_the_end(d):
    for k in range(len(d)):
        d[k, k : k + 2] = d[0, k : k + 2] * 2
        d[k : k + 3, k] += 1


def windows_around(d):
    for i in range(1, len(d) - 1):
        d[i - 1 : i + 2, i] = d[i, i - 1 : i + 2] - d[i, i]


FUNCTIONS = (
    paths, paths_as_a_whole, elimination, rows_over_their_diagonal, turned_rows, columns_and_rows, less_the_first,
    into_nothing, chosen_elements, windows, windows_beyond_the_end, windows_around,
)  # fmt: skip


def given(size: int, dtype: type, stepped: bool) -> Any:
    made = (np.arange(4 * size * size).reshape(2 * size, 2 * size) ** 2 % 7 - 2).astype(dtype)
    return made[::2, ::2] if stepped else made[:size, :size].copy()


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_elements_are_read_before_the_store(
    function: Callable[..., Any], target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = transkern.compile(function, target=on_target(target, monkeypatch))
    for size in (4, 2, 1, 0) if target == "cpu" else (4, 1):
        for dtype in (float, np.int32) if function is not elimination else (float,):
            for stepped in (False, True):
                one, two = given(size, dtype, stepped), given(size, dtype, stepped)
                compiled(one)
                function(two)
                assert one.tolist() == two.tolist(), (size, dtype, stepped)


@pytest.mark.parametrize("function", [rows_over_their_diagonal, columns_and_rows], ids=lambda f: f.__name__)
def test_no_row_is_held(function: Callable[..., Any]) -> None:
    text = source_of(function)
    program = pipeline.program_of(text, function.__name__, f"{function.__name__}(float64[n, n])", BEFORE_LOOPS)
    assert not [s for s in walk(program.body) if isinstance(s, n.Alloc)]
