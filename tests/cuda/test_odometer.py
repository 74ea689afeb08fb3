"""Threads that go from point to point of a nest without dividing: by a block, by a grid, whatever the extents."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.cuda.support import Recorder, check_call, program_from, recorder, small_grid
from tests.cuda.test_sanitized import run_checked
from transkern.targets.cuda.emit import emit
from transkern.targets.cuda.load import function as launcher_function

__all__ = ["recorder"]

TEXT = """
import numpy as np

def smoothed(a, b, steps):
    for _ in range(steps):
        b[1:-1, 1:-1] = a[1:-1, 1:-1] + 0.25 * (a[:-2, 1:-1] - a[2:, 1:-1]) + a[1:-1, :-2]
        a[1:-1, 1:-1] = b[1:-1, 1:-1] - 0.5 * b[1:-1, 2:]
    return a.sum()

def eliminated(a):
    for k in range(a.shape[0]):
        for i in range(k + 1, a.shape[0]):
            for j in range(k + 1, a.shape[1]):
                a[i, j] -= a[i, k] * a[k, j]

def turned(a, steps):
    out = np.zeros_like(a)
    for s in range(steps):
        out += a[::-1, :, ::-1] * s
        out[:, ::2, 1:] -= a[:, ::2, :-1]
        out *= 1 + (out > out.mean())
    return out

def named(quotient, carry, steps):
    for _ in range(steps):
        carry = carry * 0.5 + quotient.T
        quotient[1:] = quotient[:-1] + carry.T[1:].max()
    return carry
"""


def _calls(name: str, rng: np.random.Generator) -> list[tuple[Any, ...]]:
    match name:
        case "smoothed":
            shapes = ((4, 4), (2, 5), (4, 300), (300, 4), (41, 70), (7, 0))
            return [(rng.random(s), rng.random(s), 3) for s in shapes]
        case "eliminated":
            return [(rng.random((n, m)) + 1,) for n, m in ((9, 9), (70, 3), (3, 70), (40, 35), (0, 4))]
        case "turned":
            shapes = ((3, 4, 5), (2, 90, 4), (0, 3, 4), (5, 3, 4), (17, 3, 40), (2, 3, 300))
            return [(rng.integers(-9, 9, s).astype(np.float64), 3) for s in shapes]
        case _:
            return [(rng.random((n, m)), rng.random((m, n)), 4) for n, m in ((5, 8), (30, 41), (3, 200))]


@pytest.mark.parametrize("grid", [False, True], ids=["block", "grid"])
@pytest.mark.parametrize("name", ["smoothed", "eliminated", "turned", "named"])
def test_points_in_turn(name: str, grid: bool) -> None:
    space: dict[str, Any] = {}
    exec(TEXT, space)  # the text is our own
    types = {
        "smoothed": "float64[n, m], float64[n, m], int", "eliminated": "float64[n, m]",
        "turned": "float64[n, m, k], int", "named": "float64[n, m], float64[m, n], int",
    }  # fmt: skip
    code, text = emit(program_from(TEXT, f"{name}({types[name]})"))
    assert "quotient(group." in code and "_at, " not in code and "carry(" in code
    compiled = launcher_function(name, code, small_grid(text) if grid else text, simulate=True)
    for args in _calls(name, np.random.default_rng(1)):
        check_call(space[name], compiled, args, 1e-12)


def test_no_race(recorder: Recorder) -> None:
    args = np.random.default_rng(1).random((20, 35)), np.zeros((20, 35)), 2
    run_checked(program_from(TEXT, "smoothed(float64[n, m], float64[n, m], int)"), args, recorder, "race")


def test_first_places_are_found_once() -> None:
    """Before the loop over steps, for both nests."""
    program = program_from(TEXT, "smoothed(float64[n, m], float64[n, m], int)")
    kernel = emit(program)[0].partition("template <class Group>")[2]
    assert 0 < kernel.rindex("quotient(") < kernel.index("for (long long _")
