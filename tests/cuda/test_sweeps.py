"""Sweeps in place that follow each other, all at once: the same bits as one after the other."""

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
def nine(a, steps):
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = (a[i - 1, j - 1] + a[i - 1, j] + a[i - 1, j + 1] + a[i, j - 1] + a[i, j]
                           + a[i, j + 1] + a[i + 1, j - 1] + a[i + 1, j] + a[i + 1, j + 1]) / 9

def weighted(u, b, first, steps):
    for sweep in range(first, steps):
        for i in range(1, u.shape[0] - 1):
            for j in range(2, u.shape[1] - 2):
                r = b[i, j] - 0.25 * (u[i - 1, j + 2] + u[i + 1, j - 2] + u[i, j - 1] + u[i, j + 1])
                if r > 0:
                    u[i, j] = u[i, j] + 0.7 * (r - u[i, j])

def two(u, v, steps):
    for t in range(steps):
        for i in range(1, u.shape[0]):
            for j in range(1, u.shape[1]):
                u[i, j] = 0.5 * (u[i - 1, j] + v[i, j - 1])
                v[i, j] = 0.5 * (v[i - 1, j - 1] + u[i, j]) - 0.1 * v[i, j]

def coloured(a, steps):
    for t in range(steps):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                if (i + j) % 2 == t % 2:
                    a[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
"""
TYPES = {
    "nine": "float64[n, m], int", "weighted": "float64[n, m], float64[n, m], int, int",
    "two": "float64[n, m], float64[n, m], int", "coloured": "float64[n, m], int",
}  # fmt: skip


def _call(name: str, shape: tuple[int, int], steps: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(abs(steps))
    arrays = [rng.random(shape) for _ in range(TYPES[name].count("float64"))]
    return (*arrays, *([1, steps + 1] if name == "weighted" else [steps]))


@pytest.mark.parametrize("grid", [False, True], ids=["block", "grid"])
@pytest.mark.parametrize("name", TYPES)
def test_to_the_bit(name: str, grid: bool) -> None:
    space: dict[str, Any] = {}
    exec(TEXT, space)  # the text is our own
    code, text = emit(program_from(TEXT, f"{name}({TYPES[name]})"))
    assert ("sweep" in code.partition("for (")[2]) is (name != "coloured")
    compiled = launcher_function(name, code, small_grid(text) if grid else text, simulate=True)
    for shape, steps in (((18, 20), 3), ((20, 40), 1), ((40, 19), 17), ((20, 20), 0), ((20, 20), -2), ((5, 30), 3)):
        check_call(space[name], compiled, _call(name, shape, steps))


def test_no_race(recorder: Recorder) -> None:
    run_checked(program_from(TEXT, f"weighted({TYPES['weighted']})"), _call("weighted", (19, 22), 3), recorder, "race")
