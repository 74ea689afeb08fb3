"""Short sorts are a thread's, in its registers, and the order of an order takes no sort."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.cuda.support import Recorder, check_call, recorder
from tests.cuda.test_sanitized import run_checked
from transkern.pipeline import passes_for, program_of
from transkern.targets.cuda.emit import emit
from transkern.targets.cuda.load import function as launcher_function

__all__ = ["recorder"]

TEXT = """
import numpy as np

def denoised(x):
    n, m = x.shape
    out = x.copy()
    for i in range(1, n - 1):
        for j in range(1, m - 1):
            out[i, j] = np.median(x[i - 1 : i + 2, j - 1 : j + 2])
    return out

def combined(a, b, c):
    frames = np.stack([a, b, c])
    return np.sort(frames, axis=0), np.median(frames, axis=0)

def trimmed(x):
    s = np.sort(x.reshape(-1, 5), axis=1)
    return s[:, 1:4].mean(axis=1)

def ranks(x):
    return x.argsort().argsort()

def ranked_rows(x):
    order = np.argsort(x, axis=1)
    return np.argsort(order, axis=1) + 1, order
"""
TYPES = {
    "denoised": "float32[n, m]", "combined": "float64[n], float64[n], float64[n]", "trimmed": "float32[n]",
    "ranks": "float64[n]", "ranked_rows": "float64[n, m]",
}  # fmt: skip
_SPECIAL = [0.5, 1.5, np.nan, -2.0, np.inf, -np.inf]


def _calls(name: str) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng(0)
    match name:
        case "denoised":
            return [(rng.choice(_SPECIAL, shape).astype(np.float32),) for shape in ((9, 40), (4, 4), (2, 5), (0, 7))]
        case "combined":
            return [tuple(rng.choice(_SPECIAL, (3, size))) for size in (50, 0)]
        case "trimmed":
            return [(rng.choice(_SPECIAL[:4], size).astype(np.float32),) for size in (200, 0)]
        case "ranks":
            return [(rng.choice(_SPECIAL, size),) for size in (300, 2, 0)]
        case _:
            return [(rng.choice(_SPECIAL, shape),) for shape in ((7, 40), (0, 3), (3, 0))]


def _made(name: str) -> tuple[Callable[..., Any], Any]:
    space: dict[str, Any] = {}
    exec(TEXT, space)  # the text is our own
    return space[name], program_of(TEXT, name, f"{name}({TYPES[name]})", passes_for("cuda"))


@pytest.mark.parametrize("name", TYPES)
def test_sorts_of_threads(name: str, recorder: Recorder) -> None:
    function, program = _made(name)
    code, text = emit(program)
    assert text.count("cp.sort(") == 0 and text.count("cp.argsort(") == name.startswith("rank")
    compiled = launcher_function(name, code, text, simulate=True)
    for args in _calls(name):
        before = len(recorder.launches)
        check_call(function, compiled, args, 0.0)
        assert len(recorder.launches) - before <= 2


@pytest.mark.parametrize("name", ["denoised", "ranked_rows"])
def test_no_race(name: str, recorder: Recorder) -> None:
    run_checked(_made(name)[1], _calls(name)[0], recorder, "race")
