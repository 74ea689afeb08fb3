"""Checks of places of a few bits are asked of the array's size: NumPy's elements, and its errors where it is short."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import require, source_of
from transkern.fuse.checks.limits import ask_sizes_first
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.pipeline import program_of

require("cc")


def looked_up(x: Any, image: Any, table: Any, gain: Any) -> Any:
    h = table[x & 15] & 7
    k = np.clip(x, 0, 15)
    return gain[h] * 2.0 + x, table[(x + 3) % 16], table[k], table[image]


@pytest.mark.parametrize(("length", "gains"), [(256, 8), (200, 8), (16, 8), (15, 8), (256, 7), (0, 8)])
def test_look_ups(length: int, gains: int) -> None:
    x = np.arange(-60, 60)
    image = np.arange(120).astype(np.uint8)
    table, gain = np.arange(length)[::-1].copy() * 3, np.arange(gains) / 3
    compiled = transkern.compile(looked_up, target="cpu")
    for given in (image, image + np.uint8(100), image[:0]):
        try:
            wanted = looked_up(x, given, table, gain)
        except IndexError as error:
            with pytest.raises(IndexError, match=str(error)):
                compiled(x, given, table, gain)
            continue
        for mine, theirs in zip(compiled(x, given, table, gain), wanted, strict=True):
            np.testing.assert_array_equal(mine, theirs)
    if (length, gains) == (256, 8):
        assert "255 < " in compiled.emit()


def clipped(x: Any, count: int, m: int) -> Any:
    out, table = np.zeros(count, np.int64), np.arange(m) * 3.0
    k = np.clip(np.floor(x * count).astype(int), 0, count - 1)
    np.add.at(out, k, 1)
    return out, table[np.minimum(np.maximum(k, 0), m - 1)], table[np.maximum(np.minimum(x.astype(int), m - 1), 0)]


def beyond(x: Any, count: int, m: int) -> Any:
    table = np.arange(m)
    return table[np.clip(x.astype(int), 0, count - 1)], table[np.minimum(x.astype(int), m - 1)]


@pytest.mark.parametrize("function", (clipped, beyond), ids=lambda f: f.__name__)
def test_places_that_are_cut_at_sizes(function: Any) -> None:
    compiled = transkern.compile(function, target="cpu")
    x = np.array([-3.5, 0.0, 0.2, 0.99, 1.0, 7.5])
    for count, m in ((1, 1), (4, 4), (3, 9), (9, 3), (0, 2), (2, 0), (0, 0), (1, 0)):
        for given in (x, x[3:], x[:0]):
            try:
                wanted = function(given, count, m)
            except IndexError as error:
                with pytest.raises(IndexError) as raised:
                    compiled(given, count, m)
                assert str(raised.value) == str(error)
                continue
            for mine, theirs in zip(compiled(given, count, m), wanted, strict=True):
                np.testing.assert_array_equal(mine, theirs)


def test_what_is_cut_is_asked_of_sizes() -> None:
    """Before: three searches among all elements; after: behind questions about sizes, but for the one that goes along
    with the elements' making."""
    k = PASSES.index(ask_sizes_first)
    before = program_of(source_of(clipped), "clipped", "clipped(float64[k], int, int)", PASSES[:k])
    after = ask_sizes_first(before)

    def searches(program: n.Program) -> list[n.Stmt]:
        return [s for s in program.body if isinstance(s, n.Loop) and "'first'" in repr(s)]

    assert len(searches(before)) == 3
    assert len(searches(after)) == 1
