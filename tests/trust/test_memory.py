"""The entry in C looks before it reads: arguments of any kind, in turn, and memory that is not there."""

from __future__ import annotations

import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern

ROOT = Path(__file__).parents[2]


def run(program: str, *options: str) -> str:
    """What a program prints in a process of its own: what is tested here ends the process where it fails."""
    command = [sys.executable, *options, "-c", program]
    made = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=300, check=False)
    assert made.returncode == 0, made.stderr[-3000:]
    return made.stdout


def test_an_array_without_axes_behind_one_with_an_axis() -> None:
    program = """
from tests.trust.functions import plus
import numpy as np, transkern
f = transkern.compile(plus, target="cpu")
for x in (np.zeros(3), np.array(3.0), np.zeros((2, 3)), np.array(3.0), np.zeros(3)):
    print(f(x).shape)
"""
    assert run(program).split("\n")[:5] == ["(3,)", "()", "(2, 3)", "()", "(3,)"]


def test_memory_that_is_not_there() -> None:
    """For results, for what stands between kernels, and within kernels, also where threads share a loop; and sizes
    whose bytes 64 bits do not count."""
    program = """
import resource
import numpy as np, transkern
from tests.trust import functions as f

compiled = {g: transkern.compile(g, target="cpu") for g in (f.sorted_outer, f.outer, f.outer_in_turn, f.outer_in_rows)}
def check():
    for g, c in compiled.items():
        assert repr(c(np.ones(50), np.ones(60))) == repr(g(np.ones(50), np.ones(60))), g
check()
assert "py_lost" in compiled[f.outer_in_rows].emit()
most = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize() + (400 << 20)
resource.setrlimit(resource.RLIMIT_AS, (most, most))
for n, m in ((1 << 14, 1 << 14), (1 << 31, 1 << 31), (1 << 31, 1 << 30)):
    for g, c in compiled.items():
        try:
            c(np.broadcast_to(1.0, (n,)), np.broadcast_to(1.0, (m,)))
        except (MemoryError, ValueError) as error:
            print(type(error).__name__)
check()
"""
    assert run(program).split() == [
        "MemoryError", "MemoryError", "MemoryError", "MemoryError",
        "MemoryError", "ValueError", "MemoryError", "MemoryError",  # NumPy's own for a result: the array is too big
        "MemoryError", "ValueError", "MemoryError", "MemoryError",
    ]  # fmt: skip


def test_no_call_keeps_anything() -> None:
    """Calls that succeed, that raise, and that are refused."""
    program = """
import gc, resource, sys
import numpy as np, transkern
from tests.trust import functions as f

def memory():
    gc.collect()
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()

cases = [(f.user_error, 9), (f.texts, 9.5), (f.subscript, 99), (f.inverse, 1), (f.parts, 1), (f.parts, "a")]
for g, n in cases:
    c = transkern.compile(g, target="cpu")
    x = np.ones(300)
    held = [None, np.ndarray, np.float64, np.linalg, ValueError, IndexError, np.linalg.LinAlgError, f.Odd, x, n]
    def call(times):
        for k in range(times):
            try:
                c(x, n)
            except Exception as error:
                pass
    often = 100 if n == "a" else 2000  # it is refused, each time anew
    call(often // 5)
    grown = []
    for _ in range(3):  # what is kept grows each time; an arena of the interpreter (1 MiB) may be taken in one of them
        before, counts = memory(), [sys.getrefcount(h) for h in held]
        call(often)
        after, more = memory(), [sys.getrefcount(h) for h in held]
        grown.append(after - before)
        # what was kept for the calls before may go
        assert all(-500 < a - b < 100 for a, b in zip(more, counts, strict=True)), (g, counts, more)
        if grown[-1] < 1 << 20:
            break
    else:
        raise AssertionError((g, n, grown))
print("flat")
"""
    assert run(program) == "flat\n"


def test_an_error_shows_no_memory_that_is_gone() -> None:
    """A debugger, or pytest, prints the arrays in the frames of a traceback."""
    from tests.trust.functions import inverse

    with pytest.raises(np.linalg.LinAlgError) as caught:
        transkern.compile(inverse, target="cpu")(np.ones(3), 1)
    names = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(caught.tb)]
    assert not any("numpy" in name for name in names) and any("functions.py" in name for name in names), names


def appended(n: int) -> list[int]:
    found = []
    for i in range(n):
        if i % 2:
            found.append(i)
        if i > 5:
            break
    return found


def appended_in_rows(n: int) -> list[list[int]]:
    rows = []
    for i in range(n):
        for j in range(n):
            if j > 2:
                break
            rows.append([i, j])
        if i > 2:
            break
    return rows


@pytest.mark.parametrize("function", [appended, appended_in_rows])
def test_a_list_in_a_loop_that_ends_long_before(function: Any) -> None:
    """It got memory for as many elements as the loop could append: MemoryError."""
    compiled = transkern.compile(function, target="cpu")
    for n in (3, 10**10, 10**12, 2**63 - 1, 3):
        assert compiled(n) == function(n)
