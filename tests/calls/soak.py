"""Threads and processes that compile, call, clear the cache, run out of disk and kill each other:

    python -m tests.calls.soak --minutes 10

Eight threads in this process and four more processes (forked after a kernel has run on several threads, spawned, from
a fork server, and of loky where joblib is installed) call functions that all of them compile, with one cache between
them. Every answer is compared with NumPy's. Every few seconds one of the processes is killed, wherever it is, and
started anew; the processes empty the cache now and then, and may write no file larger than a few kilobytes for a while,
as on a full disk. A wrong answer, an exception, a worker that has not answered for a minute, or memory that grows is a
failure.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import queue
import random
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

THREADS = 8
PATIENCE = 60.0
"""Seconds without an answer after which a worker hangs."""
VARIANTS = 6
"""How many functions there are of each sort: enough for cold ones all the time the cache is emptied, and no more."""


def scaled(k: int) -> Callable[..., Any]:
    def function(x: Any, y: Any) -> Any:
        return x * (k + 0.5) + y

    return function


def summed(k: int) -> Callable[..., Any]:
    def function(x: Any, y: Any) -> Any:
        return (x[k:] > 1).sum(), (y - k).max()

    return function


def stored(k: int) -> Callable[..., Any]:
    def function(x: Any, y: Any) -> Any:
        x[k::2] = y[k::2]
        return x[::-1]

    return function


def looped(k: int) -> Callable[..., Any]:
    def function(x: Any, y: Any) -> Any:
        found = []
        order = np.argsort(x, kind="stable")
        while order.size > k:
            found.append(order[0])
            order = order[1:][y[order[1:]] != y[order[0]]]
        return np.array(found)

    return function


SORTS = (scaled, summed, stored, looped)


def one(rng: random.Random, compiled: dict[tuple[int, int], Any]) -> None:
    """One call, compared with NumPy's; raises where it differs."""
    import transkern

    sort, k = rng.randrange(len(SORTS)), rng.randrange(VARIANTS)
    function = SORTS[sort](k)
    if (sort, k) not in compiled or rng.random() < 0.05:
        compiled[sort, k] = transkern.compile(function, target="cpu")
    n = rng.choice((8, 40, 1000, 60_000) if sort != 3 else (8, 40))
    dtype = rng.choice((np.float64, np.float32, np.int64))
    x = np.array([rng.randrange(9) for _ in range(8)]).astype(dtype)
    mine = [np.resize(x, n), np.resize(x[::-1], n)]
    theirs = [a.copy() for a in mine]
    found, wanted = compiled[sort, k](*mine), function(*theirs)
    pairs = [*zip(_parts(found), _parts(wanted), strict=True), *zip(mine, theirs, strict=True)]
    for a, b in pairs:
        if np.asarray(a).dtype != np.asarray(b).dtype or not np.array_equal(a, b):
            raise AssertionError(f"{SORTS[sort].__name__}({k}) of {n} {dtype.__name__}: {a!r}, with NumPy {b!r}")


def _parts(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def process(seed: int, answers: Any) -> None:
    """What a process does until it is killed: calls, an emptied cache now and then, a full disk now and then."""
    import resource

    from transkern.runtime.caching import cache

    rng = random.Random(seed)
    compiled: dict[tuple[int, int], Any] = {}
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    calls = 0
    try:
        while True:
            chance = rng.random()
            if chance < 0.002:
                cache.clear()
            if chance > 0.998:
                compiled.clear()
            full = rng.random() < 0.01
            if full:
                resource.setrlimit(resource.RLIMIT_FSIZE, (2048, limits[1]))
                compiled.clear()
            try:
                one(rng, compiled)
            except Exception as error:
                if not full or not _is_refused(error):
                    raise
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, limits)
            calls += 1
            if calls % 20 == 0:
                answers.put(("calls", os.getpid(), 20))
    except Exception:
        answers.put(("failed", os.getpid(), traceback.format_exc()))


def _is_refused(error: Exception) -> bool:
    """Where no file can be written at all, the C compiler cannot work: that is said, and nothing is wrong."""
    from transkern.errors import TranskernError

    return isinstance(error, TranskernError)


def _of_loky(seed: int, answers: Any) -> Any:
    from joblib.externals.loky.backend.process import LokyProcess

    return LokyProcess(target=process, args=(seed, answers))


def starters() -> dict[str, Callable[[int, Any], Any]]:
    """How the processes are made."""
    made: dict[str, Callable[[int, Any], Any]] = {
        kind: lambda seed, answers, kind=kind: multiprocessing.get_context(kind).Process(  # type: ignore[misc]
            target=process, args=(seed, answers), daemon=True
        )
        for kind in ("fork", "spawn", "forkserver")
    }
    try:
        import joblib  # noqa: F401
    except ImportError:
        made["spawn again"] = made["spawn"]
    else:
        made["loky"] = _of_loky
    return made


def resident() -> float:
    """This process's memory, in megabytes."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def _kill(child: Any) -> None:
    with contextlib.suppress(ProcessLookupError):  # it has ended by itself, and that is told; loky's have no `kill`
        os.kill(child.pid, signal.SIGKILL)


class Soak:
    """A run of all this."""

    def __init__(self, seconds: float, seed: int = 0) -> None:
        self.seconds, self.seed = seconds, seed
        self.until = 0.0
        self.failures: list[str] = []
        self.counts: Counter[str] = Counter()
        self.heard: dict[str, float] = {}
        self.memory: list[tuple[float, float]] = []

    def run(self) -> None:
        one(random.Random(self.seed), {})  # several threads of OpenMP have run before anything forks
        threads = [threading.Thread(target=self._thread, args=(k,), daemon=True) for k in range(THREADS)]
        manager = multiprocessing.get_context("spawn").Manager()
        answers = manager.Queue()
        kinds, rng = starters(), random.Random(self.seed)
        numbers = iter(range(self.seed * 10_000, 1 << 60))
        alive = {kind: make(next(numbers), answers) for kind, make in kinds.items()}
        for kind, child in alive.items():
            child.start()
            self.heard[kind] = time.monotonic()
        begun = time.monotonic()  # not before: on a busy machine the processes take seconds to start
        self.until = begun + self.seconds
        for thread in threads:
            thread.start()
        kill = begun + min(5, self.seconds / 2)
        while (time.monotonic() < self.until or not self.counts["killed"]) and not self.failures:
            self._listen(answers, {child.pid: kind for kind, child in alive.items()})
            now = time.monotonic()
            self.memory.append((now, resident()))
            late = [who for who, heard in self.heard.items() if now - heard > PATIENCE]
            if late:
                self.failures.append(f"{late} did not answer for {PATIENCE:.0f} s")
            for kind, child in list(alive.items()):
                if not child.is_alive():
                    self.failures.append(f"a process ({kind}) ended with {child.exitcode}")
            if now > kill and not self.failures:
                kill = now + rng.uniform(2, 6)
                kind = rng.choice(sorted(alive))
                _kill(alive[kind])
                alive[kind].join()
                self.counts["killed"] += 1
                alive[kind] = kinds[kind](next(numbers), answers)
                alive[kind].start()
                self.heard[kind] = time.monotonic()
        self.until = 0.0
        for child in alive.values():
            _kill(child)
        for thread in threads:
            thread.join(PATIENCE)
            if thread.is_alive():
                self.failures.append("a thread does not end")
        self._listen(answers, {})
        manager.shutdown()
        self._check_memory()

    def _thread(self, number: int) -> None:
        rng, compiled = random.Random(f"{self.seed} {number}"), {}  # type: ignore[var-annotated]
        who = f"thread {number}"
        self.heard[who] = time.monotonic()
        try:
            while time.monotonic() < self.until:
                one(rng, compiled)
                self.heard[who] = time.monotonic()
                self.counts["calls of threads"] += 1
                if rng.random() < 0.001:
                    compiled.clear()
        except Exception:
            self.failures.append(f"{who}: {traceback.format_exc()}")

    def _listen(self, answers: Any, kinds: dict[int | None, str]) -> None:
        deadline = time.monotonic() + 0.5
        while time.monotonic() < deadline:
            try:
                what, pid, told = answers.get(timeout=0.2)
            except queue.Empty:
                continue
            if what == "failed":
                self.failures.append(f"process {kinds.get(pid, pid)}: {told}")
                continue
            self.counts["calls of processes"] += told
            if pid in kinds:
                self.heard[kinds[pid]] = time.monotonic()

    def _check_memory(self) -> None:
        """Memory must not grow between the middle of the run, when everything has been compiled once, and its end."""
        middle = [m for at, m in self.memory if at > self.memory[0][0] + self.seconds / 2]
        if self.seconds < 120 or len(middle) < 8:
            return
        quarter = len(middle) // 4
        begin, end = min(middle[:quarter]), min(middle[-quarter:])
        self.counts["MB in the middle"], self.counts["MB at the end"] = round(begin), round(end)
        if end > begin * 1.1 + 10:
            self.failures.append(f"memory grows: {begin:.0f} MB in the middle, {end:.0f} MB at the end")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o700)
        os.environ["TRANSKERN_CACHE_DIR"] = folder
        warnings.simplefilter("ignore")
        soak = Soak(given.minutes * 60, given.seed)
        soak.run()
    for failure in soak.failures:
        print(failure)
    print(", ".join(f"{count} {what}" for what, count in soak.counts.items()))
    sys.stdout.flush()
    os._exit(bool(soak.failures))  # a thread that hangs must not keep it


if __name__ == "__main__":
    main()
