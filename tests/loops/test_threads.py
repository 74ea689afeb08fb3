"""Sizes at which threads share the work, as waves of tiles or one team for all passes: Python's bits all the same."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from transkern.runtime.emitting import emit_files
from transkern.targets.cpu import compiler
from transkern.targets.cpu.printing import waking
from transkern.targets.cpu.running import limits

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


def test_the_rest_of_the_last_block_is_not_taken_for_the_work(tmp_path: Path) -> None:
    """What a block of lanes leaves goes by shorter ones: a nest that is deeper, and runs once."""
    loops = " for i in range(x.size):\n  s = 0.0\n  for k in range(c.size):\n   s = s * x[i] + c[k]\n  y[i] = s\n"
    path = tmp_path / "f.py"
    path.write_text(f"import numpy as np\ndef f(c, x):\n y = np.empty_like(x)\n{loops} return y\n")
    text = emit_files(path, "f", "cpu", "f(float64[n], float64[m])")["f.c"]
    pays = re.findall(r"py_pays\(&\w+, (.*), ", text)
    assert pays and all(len(re.findall(r"\bm\b", turns)) == 1 for turns in pays), pays


def test_a_pass_without_work_for_threads_does_not_ask_openmp(tmp_path: Path) -> None:
    """OpenMP takes a while to find out that it has nothing to do, and this loop asks again and again."""
    (tmp_path / "steps.py").write_text(STEPS)
    files = emit_files(tmp_path / "steps.py", "steps", "cpu", "steps(float64[n], float64[n], int)")
    text = next(v for k, v in files.items() if k.endswith(".c"))
    with_threads, _, without = text[text.index("steps_loop") :].partition("} else {")
    without = without[: without.index("py_paid")]
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


WAKES = """
import time
import numpy as np
import transkern

@transkern.compile(target="cpu")
def scaled(x, y):
    return np.exp(x) * y

x, y = np.random.default_rng(3).random((2, 300_000))
wanted = np.exp(x) * y
for pause in (0.0, 0.003):  # threads that spin, and threads that sleep
    for _ in range(60):
        got = scaled(x, y)
        time.sleep(pause)
        assert np.allclose(got, wanted, rtol=1e-15)
print("equal")
"""


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_loops_learn_whether_threads_pay(threads: int, tmp_path: Path) -> None:
    (tmp_path / "wakes.py").write_text(WAKES)
    env = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    command = [sys.executable, "wakes.py"]
    run = subprocess.run(command, capture_output=True, text=True, env=env, cwd=tmp_path, check=False)
    assert run.stdout == "equal\n", run.stderr


DECISIONS = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define _OPENMP 1
static int64_t clock_now, to_wake;
static int omp_get_max_threads(void) { return 2; }
static int64_t py_clock(void) { return clock_now; }
typedef struct { int threads, running; int64_t awake, waking, missed, alone, saved, worth; } py_shares;
static py_shares py_own = {0, 0, 0, 50000}, *py_shared = &py_own;
@TEXT@
// For each case what a loop takes alone, shared, to wake threads, until the next loops, at first besides,
// how many loops follow each other, and what wakings were worth to others before.
int main(int count, char **given) {
    for (; *++given; given += 6) {
        const int64_t alone = atoll(given[0]), shared = atoll(given[1]), pause = atoll(given[3]);
        const int64_t cold = atoll(given[4]), burst = atoll(given[5]), worth = atoll(given[6]);
        to_wake = atoll(given[2]);
        clock_now = 1000000000;
        py_own = (py_shares){0, 0, 0, 50000};
        py_own.worth = worth;
        py_pace pace = {0, 0};
        int64_t total = 0, often = 0;
        for (int k = 0; k < 1000; ++k) {
            const int64_t begun = clock_now;
            const py_deal deal = py_pays(&pace, alone, 1000);
            clock_now += (deal.shared ? shared : alone) + (k ? 0 : cold);
            py_paid(&deal);
            total += clock_now - begun;
            often += deal.shared;
            if ((k + 1) % burst == 0) clock_now += pause;
        }
        printf("%lld %lld\n", (long long)total, (long long)often);
    }
    return 0;
}
"""


def test_threads_are_woken_when_that_pays(tmp_path: Path) -> None:
    """The decision alone, with a clock of its own: never much worse than always alone, or always shared."""
    text = "\n".join([limits(0, False), waking.DEAL, waking.WAKING])
    text = re.sub(r"static int64_t py_clock.*?\n}\n", "", text, flags=re.DOTALL)
    text = re.sub(r"#if defined\(_OPENMP\) && defined\(__linux__\).*?#endif\n\n", "", text, flags=re.DOTALL)
    text = re.sub(r"const int core = .*?py_gather\([^)]*\);", "clock_now += to_wake;", text, flags=re.DOTALL)
    (tmp_path / "decide.c").write_text(DECISIONS.replace("@TEXT@", text))
    subprocess.run([*compiler.command(), "-O1", "-o", "decide", "decide.c"], cwd=tmp_path, check=True)
    cases = list(itertools.product(
        (40_000, 150_000, 1_000_000), (0.5, 0.8, 1.5), (10_000, 400_000),
        ((0, 1), (50_000, 1), (5_000_000, 1), (5_000_000, 3), (5_000_000, 20)), (0, 4_000_000), (0, 1000),
    ))  # fmt: skip
    given = [
        [alone, int(part * alone), wake, pause, cold, burst, worth]
        for alone, part, wake, (pause, burst), cold, worth in cases
        if not worth or (1 - part) * alone > 1.3 * wake
    ]
    command = ["./decide", *(str(x) for case in given for x in case)]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    for (alone, shared, wake, pause, cold, burst, worth), line in zip(given, run.stdout.splitlines(), strict=True):
        total, often = map(int, line.split())
        each_time = wake if pause > 100_000 else 0
        best = 1000 * min(alone, shared + each_time / burst)
        most = 1.25 * best + 20 * (wake + alone) + cold
        assert total <= most, (alone, shared, wake, pause, burst, cold, worth, total / best, often)
