"""What a user waits for besides the work itself: imports, first calls, the call."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import timeit
from pathlib import Path

import numpy as np
from cases import sigmoid

ROOT = Path(__file__).parents[1]

_FIRST = """
import sys, time
sys.path.insert(0, {examples!r})
import numpy as np, transkern, sigmoid
f = transkern.compile(sigmoid.sigmoid, target="cpu")
args = sigmoid.arguments(1000)
start = time.perf_counter()
f(*args)
print(time.perf_counter() - start)
"""
_IMPORT = """
import time
{before}
start = time.perf_counter()
import transkern
print(time.perf_counter() - start)
"""


def _seconds(code: str, cache: str) -> float:
    environment = dict(os.environ, XDG_CACHE_HOME=cache, PYTHONPATH=str(ROOT))
    environment.pop("TRANSKERN_CACHE_DIR", None)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    return float(run.stdout)


def waits(times: int = 5) -> dict[str, float]:
    """Seconds, each the median of some new processes."""
    first = _FIRST.format(examples=str(ROOT / "examples"))
    cold, warm, alone, after = [], [], [], []
    for _ in range(times):
        with tempfile.TemporaryDirectory() as cache:
            cold.append(_seconds(first, cache))
            warm.append(_seconds(first, cache))
            alone.append(_seconds(_IMPORT.format(before=""), cache))
            after.append(_seconds(_IMPORT.format(before="import numpy"), cache))
    return {
        "first call, nothing on disk": statistics.median(cold),
        "first call in a new process, from disk": statistics.median(warm),
        "import transkern": statistics.median(alone),
        "import transkern, NumPy already there": statistics.median(after),
    }


def overhead() -> dict[str, float]:
    """Seconds of a call on 100 elements, and of a Python function that does nothing."""
    import transkern

    compiled = transkern.compile(sigmoid.sigmoid, target="cpu")
    args = sigmoid.arguments(100)

    def empty(x: object, a: object, b: object) -> None:
        pass

    def best(call: object) -> float:
        timer = timeit.Timer("call(x, a, b)", globals={"call": call, "x": args[0], "a": args[1], "b": args[2]})
        timer.timeit(1000)
        return statistics.median(timer.repeat(31, 2000)) / 2000

    nothing, mine, plain = best(empty), best(compiled), best(sigmoid.sigmoid)
    assert np.array_equal(compiled(*args).shape, (100,))
    return {
        "empty Python call": nothing,
        "call on 100 elements": mine,
        "above the empty call": mine - nothing,
        "NumPy on 100 elements": plain,
    }
