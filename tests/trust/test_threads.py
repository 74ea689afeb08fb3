"""Kernels beside Python's threads: without its lock where they are long, and with their share of the threads."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from tests.trust.functions import fails_late, in_order, times, until, wide
from transkern.targets.cpu import threads

ROOT = Path(__file__).parents[2]
THIRDS = np.array([0.1, 0.2, 0.3])


def running() -> ctypes.c_int:
    """How many long kernels run in this process, at this moment."""
    shares: Any = threads._State.shares
    return ctypes.c_int.from_address(shares.share(0) + ctypes.sizeof(ctypes.c_int))


@contextmanager
def in_the_background(call: Callable[[], Any]) -> Iterator[list[Any]]:
    """A call in another thread; what it gave (or raised) and how long it took, once the block has been left."""
    found: list[Any] = []

    def work() -> None:
        before = time.perf_counter()
        try:
            found.append(call())
        except Exception as error:
            found.append(error)
        found.append(time.perf_counter() - before)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield found
    finally:
        thread.join()


LONG = {
    "known before": (times, (THIRDS, 600_000_000)),
    "known after": (until, (THIRDS, 5e7)),
    "an error at the end": (fails_late, (THIRDS, 600_000_000)),
}


@pytest.mark.parametrize("name", LONG)
def test_python_goes_on_while_a_kernel_runs(name: str) -> None:
    function, given = LONG[name]
    compiled = transkern.compile(function, target="cpu")
    compiled(THIRDS, type(given[1])(1))
    gaps, seen = [0.0], 0
    with in_the_background(lambda: compiled(*given)) as found:
        while not found:
            before = time.perf_counter()
            seen = max(seen, running().value)
            time.sleep(0.001)
            gaps.append(time.perf_counter() - before)
    result, took = found
    assert isinstance(result, IndexError) == (name == "an error at the end")
    assert max(gaps) < took * 0.6 and len(gaps) > 5, (took, max(gaps))  # how long it took is the machine's affair
    assert seen == 1 and running().value == 0


def test_short_kernels_keep_the_lock() -> None:
    """To let go of it costs more than they take, and another thread may keep it for milliseconds."""
    compiled = transkern.compile(in_order, target="cpu")
    text, x = compiled.emit(types="f(float64[n])"), np.ones(100)
    assert "py_begin(" in text
    compiled(np.ones(100_000))
    stop = threading.Event()

    def idle() -> None:
        while not stop.is_set():
            pass

    busy = threading.Thread(target=idle)
    busy.start()
    before, calls = time.perf_counter(), 3000
    for _ in range(calls):
        compiled(x)
    took = time.perf_counter() - before
    stop.set()
    busy.join()
    assert took < calls * sys.getswitchinterval() / 10, took


def test_kernels_of_several_threads_run_at_the_same_time() -> None:
    compiled = transkern.compile(until, target="cpu")
    compiled(THIRDS, 1.0)
    seen = 0
    work = partial(compiled, THIRDS, 1e7)
    with in_the_background(work) as one, in_the_background(work) as two:
        while len(one) + len(two) < 4:
            seen = max(seen, running().value)
            time.sleep(0.001)
    assert seen == 2 and one[0] == two[0] and running().value == 0


def grow(n: int) -> Any:
    """A list whose memory is reserved, and a library step."""
    stack, found = [n], 0
    while stack:
        k = stack.pop()
        found += k
        if k > 1:
            stack.append(k // 2)
            stack.append(k - k // 2)
    return found


def smooth(x: Any, steps: int) -> Any:
    """A team of threads, results in kept memory, and a sort."""
    y = x.copy()
    for _ in range(steps):
        y[1:-1] = (y[:-2] + y[2:]) * 0.5
    return np.sort(y), y.sum()


def test_eight_threads_share_compiled_functions() -> None:
    """Memory that is kept for results, reasons for a miss, teams and lists: nothing of it belongs to two calls."""
    functions = (wide, in_order, smooth, grow)
    compiled = {f: transkern.compile(f, target="cpu") for f in functions}
    large = np.linspace(0.0, 1.0, 300_000)
    cases = [
        (wide, (large,)), (wide, (large[::2],)), (wide, (np.float32(2),)), (in_order, (large,)), (smooth, (large, 3)),
        (smooth, (large[:50], 200)), (grow, (40_000,)), (wide, (np.arange(9, dtype="i4")[1:],)),
    ]  # fmt: skip
    expected = [f(*given) for f, given in cases]

    def work(seed: int) -> None:
        held = []
        for k in range(16):
            f, given = cases[(k * (seed + 1) + seed) % len(cases)]
            found, wanted = compiled[f](*given), expected[(k * (seed + 1) + seed) % len(cases)]
            pairs = zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]
            assert all(np.allclose(a, b, rtol=1e-12, atol=0) for a, b in pairs), f.__name__
            held = [*held[-2:], found]

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(work, seed) for seed in range(8)]:
            done.result()
    assert running().value == 0


COUNTED = """
import ctypes, os, sys, threading, time
import numpy as np, transkern
from tests.trust.functions import wide
from transkern.targets.cpu.threads import _State

x = np.arange(3_000_000.0)
count = lambda: len(os.listdir("/proc/self/task"))
before = count()

def more(**options):
    "How many threads a call makes, in a thread of the caller's that has none yet."
    found = []
    def call():
        f = transkern.compile(wide, target="cpu", **options)
        while count() > before + 1:  # the last one's threads are going
            time.sleep(0.01)
        f(x)
        found.append(count() - before - 1)
    t = threading.Thread(target=call)
    t.start()
    t.join()
    return found[0]

print(transkern.get_num_threads(), more(), more(threads=2), more(threads=1))
transkern.set_num_threads(3)
print(transkern.get_num_threads(), more(), more(threads=9))
shares = _State.shares.share(0)
running = ctypes.c_int.from_address(shares + 4)
for others in (1, 2, 7):
    running.value = others
    print(others, more())
"""


def test_kernels_have_as_many_threads_as_they_are_given() -> None:
    env = {**os.environ, "OMP_NUM_THREADS": "4", "PYTHONPATH": str(ROOT)}
    run = subprocess.run(
        [sys.executable, "-c", COUNTED], env=env, capture_output=True, text=True, timeout=240, check=False
    )  # fmt: skip
    # four threads are the caller and three more; the third of three threads has one, whoever else runs
    assert run.stdout.splitlines() == ["4 3 1 0", "3 2 2", "1 0", "2 0", "7 0"], run.stdout + run.stderr


def test_the_number_of_threads_is_checked() -> None:
    before = transkern.get_num_threads()
    for wrong, error in ((0, ValueError), (-1, ValueError), (1.5, TypeError), ("2", TypeError)):
        with pytest.raises(error):
            transkern.set_num_threads(wrong)  # type: ignore[arg-type]
        with pytest.raises(error):
            transkern.compile(wide, threads=wrong)
    with pytest.raises(ValueError, match="threads is too large: there are at most 2147483647"):
        transkern.set_num_threads(10**30)
    assert transkern.get_num_threads() == before
    assert "omp parallel" not in transkern.compile(wide, threads=1).emit("cpu", "f(float64[n])")
