"""Slices whose ends move with a loop: settled before it, in place, and each element's steps in a loop of its own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import source_of
from transkern.fuse.checks.slices import settle_slices
from transkern.fuse.passes import PASSES
from transkern.fuse.schedule.interchange import lanes_outside
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of


def overlaps(x: Any, r: int) -> Any:
    s, c = np.zeros(len(x)), np.zeros(len(x))
    for d in range(-r, r + 1):
        low, high = max(0, -d), min(len(x), len(x) - d)
        s[low:high] += x[low + d : high + d] * (d + 0.5)
        c[low:high] += 1
    return s, c


def overlaps_in_a_plane(x: Any, r: int) -> Any:
    a = x[: len(x) // 3 * 3].reshape(-1, 3)
    rows, columns = a.shape
    s, c = np.zeros(a.shape), np.zeros(a.shape)
    for i in range(-r, r + 1):
        for j in range(-1, 2):
            i0, i1, j0, j1 = max(0, -i), min(rows, rows - i), max(0, -j), min(columns, columns - j)
            s[i0:i1, j0:j1] += a[i0 + i : i1 + i, j0 + j : j1 + j]
            c[i0:i1, j0:j1] += 1
    return s / c


def later(x: Any, r: int) -> Any:
    y = np.zeros(len(x))
    for k in range(r):
        y[k:] += x[: len(x) - k] * (k + 1)
    return y


def earlier(x: Any, r: int) -> Any:
    y = np.full(len(x), -np.inf)
    for k in range(r):
        y[: len(x) - k] = np.maximum(y[: len(x) - k], x[k:])
    return y


def laid_over(x: Any, r: int) -> Any:
    y = np.zeros(len(x) + 3)
    for t in range(len(x)):
        y[t : t + 4] += x[t] * (r - np.arange(4.0))
    return y


def triangle(x: Any, r: int) -> Any:
    y = np.ones(len(x))
    for t in range(len(x)):
        y[t:] *= x[t] + r
    return y


def neighbours(x: Any, r: int) -> Any:
    m = x.copy()
    for k in range(1, r):
        m[: len(x) - k] = np.minimum(m[: len(x) - k], m[1 : len(x) - k + 1])
    return m


def rows(x: Any, r: int) -> Any:
    a = x[: len(x) // 2 * 2].reshape(-1, 2)
    out = np.zeros(a.shape)
    for k in range(r):
        out[k:] += a[: len(a) - k] * 0.5
        out[: len(a) - k] -= a[k:]
    return out


def of_other_lengths(x: Any, r: int) -> Any:
    y = np.zeros(len(x))
    for k in range(r):
        y[k:] += x[: len(x) - 2 * k]
    return y


FUNCTIONS = (overlaps_in_a_plane, later, earlier, laid_over, triangle, neighbours, rows, of_other_lengths)


def after(function: Any, last: Any) -> n.Program:
    passes = PASSES[: PASSES.index(last) + 1]
    return program_of(source_of(function), function.__name__, f"{function.__name__}(float64[n], int)", passes)


@pytest.mark.parametrize("function", (overlaps, earlier, rows), ids=lambda f: f.__name__)
def test_sizes_are_differences_where_no_end_is_negative(function: Any) -> None:
    """Before: checks and choices in the loop; after: none in one of two versions."""
    program = after(function, settle_slices)
    (choice,) = (s for s in program.body if isinstance(s, n.If))
    assert not any(isinstance(s, n.Guard) for s in walk(choice.then))
    assert any(isinstance(s, n.Guard) for s in walk(choice.orelse))


@pytest.mark.parametrize("function", (overlaps, later, earlier), ids=lambda f: f.__name__)
def test_each_element_goes_through_its_own_steps(function: Any) -> None:
    """Before: steps around elements; after, in one of two versions: a loop in order for each element, of its range."""
    program = after(function, lanes_outside)
    (choice,) = (s for s in program.body if isinstance(s, n.If))
    (nest,) = (s for s in choice.then if isinstance(s, n.Loop))
    assert nest.kind == "parallel"
    assert any(isinstance(s, n.Loop) and s.kind == "sequential" for s in walk(nest.body))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_all_lengths_and_steps(function: Any) -> None:
    compiled = transkern.compile(function, target="cpu")
    for size in (0, 1, 2, 7, 40):
        rng = np.random.default_rng(size)
        x = rng.choice([0.5, -0.25, 1.0, -0.0, np.nan, np.inf, 3.0], size=size)
        for r, given in ((-1, x), (0, x), (1, x), (3, x), (8, x), (41, x[:9])):
            with np.errstate(all="ignore"):
                try:
                    expected = function(given, r)
                except ValueError as error:
                    with pytest.raises(ValueError) as raised:
                        compiled(given, r)
                    assert str(raised.value) == str(error)
                    continue
            found = compiled(given, r)
            for a, b in zip(np.atleast_2d(found), np.atleast_2d(expected), strict=True):
                np.testing.assert_array_equal(a, b)
                assert a[~np.isnan(a)].tobytes() == b[~np.isnan(b)].tobytes()


def test_what_was_stored_before_an_error_stays() -> None:
    def function(y: Any, x: Any, w: int) -> None:
        for k in range(w):
            y[k:] += x[: len(x) - 2 * k]

    compiled = transkern.compile(function, target="cpu")
    mine, theirs, x = np.zeros(9), np.zeros(9), np.arange(9.0)
    with pytest.raises(ValueError, match="broadcast"):
        function(theirs, x, 3)
    with pytest.raises(ValueError, match="broadcast"):
        compiled(mine, x, 3)
    np.testing.assert_array_equal(mine, theirs)


def test_backwards() -> None:
    x = np.arange(9.0)[::-1]
    np.testing.assert_array_equal(transkern.compile(later, target="cpu")(x, 4), later(x, 4))


def test_slices_of_one_array_that_overlap() -> None:
    def function(x: Any, w: int) -> Any:
        for k in range(1, w):
            x[k:] += x[: len(x) - k]
            x[: len(x) - k] -= x[k:] * 0.5
        return x

    compiled = transkern.compile(function, target="cpu")
    for w in (0, 2, 5, 9):
        x = np.arange(10.0)
        np.testing.assert_array_equal(compiled(x.copy(), w), function(x.copy(), w))
