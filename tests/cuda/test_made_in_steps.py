"""What a step of a loop makes for its own end is computed where it is read: threads meet once a step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.cuda.support import check_call, program_from, small_grid
from transkern.targets.cuda.emit import emit
from transkern.targets.cuda.load import function as launcher_function

TEXT = """
import numpy as np

def limited(u, steps):
    for _ in range(steps):
        left = u[1:-1] - u[:-2]
        right = u[2:] - u[1:-1]
        slope = np.where(left * right > 0, np.where(np.abs(left) < np.abs(right), left, right), np.float32(0))
        flux = u[1:-1] + np.float32(0.25) * slope
        u[2:-1] -= np.float32(0.5) * (flux[1:] - flux[:-1])
    return u

def table(u, w, steps):
    k = 0
    while k < steps:
        lap = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
        push = np.maximum(np.abs(lap) - np.float32(0.1), 0) * w[1:-1, 1:-1] * lap
        u[1:-1, 2:-1] += np.float32(0.1) * (push[:, 1:] - push[:, :-1])
        k += 1
    return u

def changed_between(u, steps):
    for _ in range(steps):
        d = np.abs(u[1:] - u[:-1]) * (u[1:] + u[:-1]) * np.float32(0.125) - np.abs(u[1:] * u[:-1]) * u[1:]
        u[3] = 0
        u[1:-1] = u[1:-1] * np.float32(0.5) + np.float32(0.01) * (d[1:] - d[:-1])
    return u

def read_often(u, steps):
    for _ in range(steps):
        d = np.abs(u[1:] - u[:-1]) * (u[1:] + u[:-1]) * np.float32(0.125) - np.abs(u[1:] * u[:-1]) * u[1:]
        u[2:-3] = d[:-4] + d[1:-3] * d[2:-2] + d[3:-1] - d[4:]
    return u
"""
MEETINGS = {"limited": 2, "table": 2, "changed_between": None, "read_often": 4}  # of two steps, or of one in place
TYPES = dict.fromkeys(MEETINGS, "float32[n], int") | {"table": "float32[n, m], float32[n, m], int"}


@pytest.mark.parametrize("grid", [False, True], ids=["block", "grid"])
@pytest.mark.parametrize("name", MEETINGS)
def test_to_the_bit(name: str, grid: bool) -> None:
    space: dict[str, Any] = {}
    exec(TEXT, space)  # the text is our own
    code, text = emit(program_from(TEXT, f"{name}({TYPES[name]})"))
    if (most := MEETINGS[name]) is not None:
        loop = code.partition("_loop_by(")[2].partition("extern")[0]
        assert loop.count("group.sync();") <= most, loop
    compiled = launcher_function(name, code, small_grid(text) if grid else text, simulate=True)
    for size, steps in ((9, 1), (40, 2), (200, 5), (40, 0)):
        shape = (size, size + 3) if name == "table" else (size,)
        arrays = [np.random.default_rng(k).random(shape).astype(np.float32) for k in range(TYPES[name].count("["))]
        check_call(space[name], compiled, (*arrays, steps))
