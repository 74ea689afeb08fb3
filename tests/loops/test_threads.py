"""Sizes at which threads share the work, as waves of tiles or one team for all passes: Python's bits all the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from transkern.runtime.emitting import emit_files

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


TRIANGLES = {
    "one that widens": "range(i + 1)",
    "one that narrows": "range(i, m)",
}


@pytest.mark.parametrize("name", TRIANGLES)
def test_rows_of_triangles_go_to_threads_in_turn(name: str, tmp_path: Path) -> None:
    """Half of the rows may be three quarters of the work, and the last row of a triangle that narrows is empty."""
    loops = f" for i in range(m):\n  for j in {TRIANGLES[name]}:\n   b[i, j] = a[i, j] * 2\n"
    text = f"def f(a, b):\n m = a.shape[0]\n{loops}"
    (tmp_path / "triangle.py").write_text(text)
    command = [sys.executable, "-m", "transkern", "emit", "triangle.py", "--types", "f(float64[m,m], float64[m,m])"]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    run = subprocess.run(command, capture_output=True, text=True, env=env, cwd=tmp_path, check=False)
    assert "#pragma omp parallel for schedule(static, 1) if(" in run.stdout, run.stderr


STEPS = """
import numpy as np

def steps(x, y, n):
    for t in range(n):
        for i in range(x.shape[0]):
            y[i] = y[i] * x[i] + t
        total = 0.0
        for i in range(x.shape[0]):
            total += y[i]
        x[0] = total
"""


def test_a_pass_without_work_for_threads_does_not_ask_openmp(tmp_path: Path) -> None:
    """OpenMP takes a while to find out that it has nothing to do, and this loop asks again and again."""
    (tmp_path / "steps.py").write_text(STEPS)
    files = emit_files(tmp_path / "steps.py", "steps", "cpu", "steps(float64[n], float64[n], int)")
    text = next(v for k, v in files.items() if k.endswith(".c"))
    with_threads, _, without = text[text.index("steps_loop") :].partition("} else {")
    assert "#pragma omp parallel" in with_threads
    assert "omp parallel" not in without
    assert "#pragma omp simd" in without


RELAXED = """
import os
import sys

if "one" in sys.argv:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import numpy as np
import transkern

@transkern.compile(target="cpu")
def relaxed(x, steps):
    y = x.copy()
    for _ in range(steps):
        y[0] = y[1] + y[2]
        for i in range(1, x.shape[0] - 1):
            x[i] = (y[i - 1] + y[i + 1]) * 0.5
        for i in range(1, x.shape[0] - 1):
            y[i] = x[i - 1] - x[i + 1]
    return y

if __name__ == "__main__":
    x = np.random.default_rng(2).standard_normal(150_001)
    got = relaxed(x.copy(), 100)
    y = x.copy()
    for _ in range(100):
        y[0] = y[1] + y[2]
        x[1:-1] = (y[:-2] + y[2:]) * 0.5
        y[1:-1] = x[:-2] - x[2:]
    np.testing.assert_array_equal(got, y)
    if sys.platform == "linux":  # each thread may still run on every core
        assert len({frozenset(os.sched_getaffinity(int(t))) for t in os.listdir("/proc/self/task")}) == 1
    print("equal")
"""


@pytest.mark.parametrize("cores", ["all", "one"])
@pytest.mark.parametrize("threads", [1, 2, 7])
def test_a_team_waits_for_all_its_threads(threads: int, cores: str, tmp_path: Path) -> None:
    """Also where there are more of them than cores, and some fall asleep; one thread does the first line alone."""
    (tmp_path / "relaxed.py").write_text(RELAXED)
    files = emit_files(tmp_path / "relaxed.py", "relaxed", "cpu", "relaxed(float64[n], int)")
    text = next(v for k, v in files.items() if k.endswith(".c"))
    assert text.count("meet(&passes") == text.count(" nowait") == 3
    env = {**os.environ, "OMP_NUM_THREADS": str(threads), "PYTHONPATH": str(Path(__file__).parents[2])}
    if cores == "one" and sys.platform != "linux":
        pytest.skip("threads are bound to cores on Linux only")
    command = [sys.executable, str(tmp_path / "relaxed.py"), cores]
    run = subprocess.run(command, capture_output=True, text=True, env=env, check=False, timeout=120)
    assert run.stdout.strip() == "equal", run.stderr
