"""Sizes at which threads share the work, as waves of tiles or one team for all passes: Python's bits all the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import numpy as np
import transkern
from tests.loops import functions as f

rng = np.random.default_rng(1)
cases = {
    "levenshtein": (rng.integers(0, 4, 450), rng.integers(0, 4, 460)),
    "gauss_seidel": (rng.random((455, 450)), 2),
    "jacobi": (rng.random((330, 310)), np.zeros((330, 310)), 2),
    "slid": (rng.random(9001), rng.random(9001), 50),
    "eliminated": (rng.random((90, 90)) + 90 * np.eye(90),),
    "floyd": (rng.random((120, 120)) - 0.001,),
}
for name, given in cases.items():
    plain = getattr(f, name)
    mine, theirs = ([x.copy() if isinstance(x, np.ndarray) else x for x in given] for _ in range(2))
    got, wanted = transkern.compile(plain, target="cpu")(*mine), plain(*theirs)
    for x, y in zip([*mine, got], [*theirs, wanted], strict=True):
        assert x is y is None or np.array_equal(x, y), name
print("equal")
"""


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_threads_do_not_show(threads: int) -> None:
    root = Path(__file__).parents[2]
    env = {**os.environ, "OMP_NUM_THREADS": str(threads), "PYTHONPATH": str(root)}
    run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=env, check=False)
    assert run.stdout.strip() == "equal", run.stderr
