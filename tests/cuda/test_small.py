"""Kernels of few points that follow each other are one launch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.cuda.support import Recorder, check_call, program_from, recorder
from tests.cuda.test_sanitized import run_checked
from transkern.targets.cuda.emit import emit
from transkern.targets.cuda.load import function as launcher_function

__all__ = ["recorder"]

TEXT = """
import numpy as np

def equalised(image):
    hist, _ = np.histogram(image.ravel(), 256, (0, 256))
    cdf = hist.cumsum()
    lowest = cdf[cdf > 0].min()
    table = np.clip((cdf - lowest) * 255 // (cdf[-1] - lowest), 0, 255).astype(np.uint8)
    return table[image]

def levels(x, low):
    h = np.zeros(64)
    for v in x:
        h[int(v * 64)] += 1
    share = h / h.sum()
    if share.max() > low:
        raise ValueError("too uneven")
    best = share.argmax()
    spread = np.sqrt((share * (np.arange(64) - best) ** 2).sum())
    order = share.cumsum()
    return order / order[-1], spread, best

def table(x):
    t = np.arange(16.0)[:, None] * np.arange(8.0)
    u = t - t.mean(axis=0)
    v = u / np.abs(u).max()
    w = v.sum(axis=1)
    return w[x % 16], w.max(), v
"""
TYPES = {"equalised": "uint8[n, m]", "levels": "float64[n], float", "table": "int64[n]"}


def _calls(name: str) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng(4)
    match name:
        case "equalised":
            return [(rng.integers(0, high, (20, 31), np.uint8),) for high in (3, 90, 256)]
        case "levels":
            return [(rng.random(300), 0.5), (rng.random(300), 0.01), (rng.random(0), 0.5)]
        case _:
            return [(rng.integers(0, 99, 50),), (rng.integers(0, 99, 0),)]


@pytest.mark.parametrize("name", TYPES)
def test_few_launches(name: str, recorder: Recorder) -> None:
    space: dict[str, Any] = {}
    exec(TEXT, space)  # the text is our own
    code, text = emit(program_from(TEXT, f"{name}({TYPES[name]})"))
    compiled = launcher_function(name, code, text, simulate=True)
    for args in _calls(name):
        before = len(recorder.launches)
        check_call(space[name], compiled, args, 1e-14)
        assert len(recorder.launches) - before <= 5, [x.kernel for x, _ in recorder.launches]


def test_no_race(recorder: Recorder) -> None:
    run_checked(program_from(TEXT, f"equalised({TYPES['equalised']})"), _calls("equalised")[0], recorder, "race")
