"""What a mask chooses is chosen once, before the loops that read it; a mask of several dims takes no divisions; arrays
that grow have their memory once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target
from transkern import pipeline
from transkern.frontend.sources.source import live_function
from transkern.frontend.specialise import specialise
from transkern.frontend.values.types import parse_signature
from transkern.ir import nodes as n
from transkern.ir.traverse import bodies, walk
from transkern.targets.cpu.printing.module import emit

W = np.array([0.5, -1.0, 2.0, 4.0, -0.25])
M = np.array([True, False, True, True, False])


def positions(w: Any, m: Any) -> Any:
    found = np.flatnonzero(m)
    total = 0.0
    for i in range(len(found)):
        total = total * 0.5 + w[found[i]]
    return total


def pieces(w: Any, m: Any) -> Any:
    joined = np.concatenate((w, w[m]))
    total = 0.0
    for i in range(len(w)):
        total = total * 0.5 + joined[i] * joined[-1]
    return total


def by_a_helper(w: Any, m: Any) -> Any:
    return halved(w[m]), halved(w[~m])


def halved(values: Any) -> Any:
    total = 0.0
    for k in range(len(values) - 1, -1, -1):
        total = total * 0.5 + values[k]
    return total


def by_an_inner_function(w: Any, m: Any) -> Any:
    chosen = w[m]

    def at(k: int) -> Any:
        return chosen[k]

    total = 0.0
    for k in range(2):
        total = total * 0.5 + at(k)
    return total


def chosen_in_each_turn(w: Any, m: Any) -> Any:
    total = 0.0
    for i in range(len(w)):
        chosen = w[m & (w <= w[i])]
        for k in range(len(chosen)):
            total = total * 0.5 + chosen[k]
    return total


DEPTHS = {positions: 0, pieces: 0, by_a_helper: 0, by_an_inner_function: 0, chosen_in_each_turn: 1}
"""How many loops stand around the filters."""


def depths(block: tuple[n.Stmt, ...], around: int = 0) -> list[int]:
    found = []
    for s in block:
        if isinstance(s, n.Filter):
            found.append(around)
        for inner in bodies(s):
            found += depths(inner, around + isinstance(s, (n.Loop, n.While)))
    return found


@pytest.mark.parametrize("function", DEPTHS, ids=lambda f: f.__name__)
def test_filters_stand_outside_of_loops_that_read_them(function: Callable[..., Any]) -> None:
    program = specialise(live_function(function), parse_signature("f(float64[n], bool[n])")[1])
    assert set(depths(program.body)) == {DEPTHS[function]}


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.parametrize("function", DEPTHS, ids=lambda f: f.__name__)
def test_they_are_as_numpys(function: Callable[..., Any], target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    alike(function, W, M, target=target)


def stored_by_mask(a: Any, v: float) -> Any:
    for _ in range(2):
        a[a > v] *= 0.5
    a[a < -v] = 7.0
    a[a == 1.0] = a[a == 1.0] + v
    return a[a > 0.0].sum(), a[a > v]


def test_a_mask_of_matrices_goes_through_memory() -> None:
    """Positions of a mask are within the array, and (k // m) * m + k % m is k."""
    program = pipeline.run(
        specialise(live_function(stored_by_mask), parse_signature("f(float64[n,m], float)")[1], True),
        pipeline.passes_for("cpu"),
    )
    assert not any(isinstance(s, n.Guard) for s in walk(program.body))
    assert "floordiv_index" not in emit(program)  # which is there only where something needs it


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_masks_of_matrices_are_as_numpys(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    a = np.array([[1.0, -2.0, np.nan], [0.5, 4.0, -0.0]])
    for given in (a, a.T, a[:, ::-1], a[:0], a[:, :0], np.asfortranarray(a), np.resize(a, (2, 3))[::1, :1]):
        alike(stored_by_mask, given, 0.75, target=target)


def grown(w: Any, m: Any) -> Any:
    out = np.array([0.0])
    for i in range(len(w)):
        if m[i]:
            out = np.append(out, w[i])
    return out


def test_an_array_that_grows_has_its_memory_once() -> None:
    """Reserved at each turn, its pages are new at each turn."""
    program = pipeline.run(
        specialise(live_function(grown), parse_signature("f(float64[n], bool[n])")[1], True), pipeline.passes_for("cpu")
    )
    text = emit(program)
    function = text[text.index("static int grown_loop(") :].partition("\n}\n")[0]
    assert function.count("= reserve(") == 1 and function.index("= reserve(") < function.index("for (")
    alike(grown, W, M)
