"""Filters of places that are counted go row by row on the CPU, and are NumPy's for rows of every length."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from transkern import pipeline
from transkern.frontend.sources.source import live_function
from transkern.frontend.specialise import specialise
from transkern.frontend.values.types import parse_signature
from transkern.ir import nodes as n
from transkern.ir.expr import Apply
from transkern.ir.traverse import own_exprs, walk, walk_expr

random = np.random.default_rng(4)
WIDTHS = (0, 1, 3, 15, 16, 17, 40, 300)


def places(m: Any) -> Any:
    return np.nonzero(m), np.argwhere(m), np.flatnonzero(m)


def compared(m: Any) -> Any:
    rows, columns = np.where(m > 0)
    return rows, columns, m[rows, columns], len(rows)


def of_cubes(m: Any) -> Any:
    return np.nonzero(m.reshape(m.shape[0], -1, 1) * np.ones((1, 1, 17), bool))


def pairs(m: Any) -> Any:
    i, j = np.triu_indices(m.shape[1], 1)
    near = np.abs(i - j) < 5
    return i, j, i[near], np.tril_indices(m.shape[1], -2)


def beside_the_diagonal(m: Any, k: int) -> Any:
    return np.triu_indices(m.shape[1], k), np.tril_indices(m.shape[1], k, 20), np.triu_indices(21, k, m.shape[1])


def above(m: Any) -> Any:
    """A bound for the place, and what else is asked."""
    at = np.arange(m.shape[1])
    i, j = np.nonzero((at[:, None] < at) & (np.sum(m, axis=0) != at % 3))
    return i, j


def asked_before(m: Any) -> Any:
    """Bounds that have a value only where another condition holds."""
    ends = np.array([3, 20])
    at = np.arange(m.shape[1])
    found = []
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            if i < len(ends) and j < ends[i]:
                found.append(i * 100 + j)
    zero = m.shape[0] // 2
    rows, columns = np.nonzero((at[:, None] < 2) & (at < (zero and 9 // zero)))
    return found, rows, columns


def in_a_loop(m: Any) -> Any:
    found, sizes = np.zeros(0, np.int64), []
    for k in range(3):
        i, j = np.nonzero(m[k % max(len(m), 1) :])
        found = np.concatenate([found, i * 2 + j])
        sizes.append(len(i))
    return found, sizes


def appended(m: Any) -> Any:
    kept = []
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            if m[i, j]:
                kept.append((i, j))
    return kept


FUNCTIONS = [places, compared, of_cubes, pairs, above, asked_before, in_a_loop, appended]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_is_numpys(function: Callable[..., Any]) -> None:
    for rows in (0, 1, 4):
        for width in WIDTHS:
            alike(function, random.random((rows, width)) < 0.4)
    alike(function, np.ones((20, 33), bool))
    alike(function, np.zeros((20, 33), bool))


@pytest.mark.parametrize("k", [-(2**62), -50, -1, 0, 1, 7, 16, 50, 2**62])
def test_triangles_from_any_diagonal(k: int) -> None:
    for width in (0, 1, 3, 16, 19, 30):
        alike(beside_the_diagonal, np.zeros((1, width)), k)


def test_no_element_divides() -> None:
    def after(name: str, program: n.Program) -> None:
        if name != "filter_rows":
            return
        loops = [s for s in walk(program.body) if isinstance(s, n.Loop) and s.kind == "sequential"]
        assert loops
        for s in loops:
            for e in (x for inner in walk(s.body) for own in own_exprs(inner) for x in walk_expr(own)):
                assert not (isinstance(e, Apply) and e.op in ("floor_divide", "remainder")), e
        seen.append(name)

    seen: list[str] = []
    for function, types in ((compared, "compared(float64[n,m])"), (pairs, "pairs(float64[n,m])")):
        program = specialise(live_function(function), parse_signature(types)[1], True)
        pipeline.run(program, pipeline.passes_for("cpu"), after)
    assert len(seen) == 2


def test_pairs_of_a_triangle_are_not_asked_for() -> None:
    """What a row keeps of it is a range."""
    text = transkern.compile(pairs, target="cpu").emit(types="pairs(float64[n,m])")
    assert text.count("place < last") >= 2
