"""Some seconds of `make soak`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits and memory of processes are Linux's")
def test_threads_and_processes_answer_right_while_others_are_killed() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "tests.calls.soak", "--minutes", "0.12"], capture_output=True, text=True, timeout=300,
        cwd=Path(__file__).parents[2], env={**os.environ, "OMP_NUM_THREADS": "2"}, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    counts = {what: int(n) for n, what in re.findall(r"(\d+) ([a-z ]+)", run.stdout)}
    assert counts["killed"] >= 1 and counts["calls of threads"] > 8, run.stdout
