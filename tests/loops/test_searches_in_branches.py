"""Loops that look for an extreme among what branches leave (`continue`, branches in branches): what Python finds, where
the worst of all numbers counts, too, and with no search left in order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.fuzz.stages import function_of
from tests.regressions.support import alike
from tests.tools import on_target
from transkern import pipeline
from transkern.ir import nodes as n
from transkern.ir.traverse import walk

ROUND = """
def f(x, y, taken, t):
    out = np.full(len(x), -1)
    for i in range(len(x)):
        best, at = t, -1
        for j in range(len(y)):
            {}
        if at >= 0:
            taken[at] = True
            out[i] = at
    return out, taken
"""
LEFT_OUT = """if taken[j]:
                continue
            o = min(x[i], y[j]) / max(x[i], y[j])
            if o < 0.5:
                continue
            if o {} best:
                best, at = o, j"""
IN_BRANCHES = """if not taken[j]:
                o = min(x[i], y[j]) / max(x[i], y[j])
                if o != 1:
                    if o {} best:
                        best = o
                        at = j"""
OF_NEIGHBOURS = """if j > 0:
                o = y[j - 1] - y[j] * x[i]
                if o {} best and not taken[j]:
                    best = o
                    at = j"""
ROUNDS = {
    "left out": ROUND.format(LEFT_OUT.format(">=")), "in branches": ROUND.format(IN_BRANCHES.format(">")),
    "of neighbours": ROUND.format(OF_NEIGHBOURS.format(">=")),
}  # fmt: skip
WORST = """
def f(x, taken, t):
    best, at = t, -1
    for j in range(len(x)):
        if taken[j]:
            continue
        {}
        if x[j] {} best:
            best, at = x[j], j
    return best, at
"""


def given(size: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(size)
    y = rng.integers(1, 20, size).astype(np.float32)  # many are equal
    y[size // 2 : size // 2 + 2] = np.nan
    return rng.integers(1, 20, size // 2 + 3).astype(np.float32), y, rng.random(size) < 0.2, np.float32(0.2)


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.parametrize("name", ROUNDS)
def test_each_takes_the_best_that_is_left(name: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function = function_of("import numpy as np\n" + ROUNDS[name])
    for size in (3, 150):
        alike(function, *given(size), target=on_target(target, monkeypatch))


@pytest.mark.parametrize("name", ROUNDS)
@pytest.mark.parametrize("target", ["cpu", "pallas"])
def test_the_search_is_in_no_order(name: str, target: str) -> None:
    program = pipeline.program_of(
        "import numpy as np\n" + ROUNDS[name], "f", "f(float32[n], float32[m], bool[m], float32)",
        pipeline.passes_for(target),
    )  # fmt: skip
    searched = [s for s in walk(program.body) if isinstance(s, n.Accumulate)]
    assert searched, program


@pytest.mark.parametrize("target", ["cpu", "pallas"])
@pytest.mark.parametrize("number", [np.float32(-np.inf), np.int32(np.iinfo(np.int32).max)])
@pytest.mark.parametrize("beside", ["", "for k in range(1):\n            if x[k] == 3: continue"])
def test_the_worst_of_all_numbers_counts(target: str, number: Any, beside: str) -> None:
    function = function_of(WORST.format(beside, ">=" if number < 0 else "<="))
    taken = np.zeros(90, bool)
    taken[70:] = True
    for t in (number, number.dtype.type(3)):
        alike(function, np.full(90, number), taken, t, target=target)
