"""How it is measured: peers in turn, in one run, on a machine that is never quiet."""

from __future__ import annotations

import os
import statistics
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from peers import Runner

REST = 0.015
"""Seconds before each sample: the threads of some peers' OpenMP spin for 4 to 9 ms after a call, and take a core from
whatever comes next."""

WINDOW = 1e-3
"""Seconds of a sample at least: shorter calls are repeated within it."""

WARMED = 2e-2
"""Seconds up to which a call is made once before each sample: the rest has emptied the caches. The bound is far above
`WINDOW`, or one of two equal peers would be timed with caches, and the other one without them."""


@dataclass
class Timing:
    """Seconds a call: the median of the samples, and their quartiles."""

    median: float
    low: float
    high: float
    samples: int


def interleaved(runners: Mapping[str, Runner], seconds: float = 0.5, most: int = 40) -> dict[str, Timing]:
    """Times the runners round by round, each round from another one on; about `seconds` for each."""
    once = {name: _once(one) for name, one in runners.items()}
    repeats = {name: max(1, min(10_000, round(WINDOW / took))) for name, took in once.items()}
    spent = dict.fromkeys(runners, 0.0)
    samples: dict[str, list[float]] = {name: [] for name in runners}
    names = list(runners)
    for turn in range(most):
        shift = turn % len(names)
        for name in names[shift:] + names[:shift]:
            if len(samples[name]) >= 5 and spent[name] > seconds:
                continue
            duration = _sample(runners[name], repeats[name], once[name] <= WARMED)
            samples[name].append(duration / repeats[name])
            spent[name] += duration + REST
    return {name: _summary(taken) for name, taken in samples.items()}


def _sample(one: Runner, repeats: int, warmed: bool) -> float:
    time.sleep(REST)
    step = one.step
    if warmed:
        step()  # wakes the peer's threads, and brings small arrays back into the cache
    start = time.perf_counter()
    for _ in range(repeats):
        step()
    return time.perf_counter() - start


def _once(one: Runner) -> float:
    """About how many seconds a call takes."""
    one.step()
    start = time.perf_counter()
    one.step()
    return max(time.perf_counter() - start, 1e-7)


def _summary(taken: list[float]) -> Timing:
    low, middle, high = statistics.quantiles(taken, n=4)
    return Timing(middle, low, high, len(taken))


class Others:
    """How much of the machine others take: what they take, a parallel region waits for."""

    def __init__(self) -> None:
        self._start = self._read()

    @staticmethod
    def _read() -> tuple[float, float, float, float]:
        """Seconds: all cores busy, taken away by the machine's host, all cores, and this process with its children."""
        mine = os.times()
        try:
            fields = [int(f) for f in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
        except OSError:
            return 0.0, 0.0, 0.0, 0.0
        tick = os.sysconf("SC_CLK_TCK")
        idle, stolen = fields[3] + fields[4], fields[7]
        return (sum(fields) - idle - stolen) / tick, stolen / tick, sum(fields) / tick, sum(mine[:4])

    def shares(self) -> tuple[float, float]:
        """The parts of all cores' time that other processes had since the start, and that the machine's host took of
        the time in which a core had something to do."""
        busy, stolen, whole, mine = (after - before for before, after in zip(self._start, self._read(), strict=True))
        wanted = busy + stolen
        # of a few ticks: what the kernel counts of idle and stolen time may go back by one
        shares = (busy - mine) / whole if whole > 0 else 0.0, stolen / wanted if wanted > 0 else 0.0
        return min(1.0, max(0.0, shares[0])), min(1.0, max(0.0, shares[1]))

    def told(self) -> tuple[str, dict[str, float]]:
        """Both shares as a sentence, and for the record."""
        others, stolen = self.shares()
        sentence = f"other processes took {others:.0%} of the machine, its host {stolen:.0%} of what was wanted"
        quiet = others <= 0.05 and stolen <= 0.02
        return sentence + ("" if quiet else ": not a quiet run"), {"taken_by_others": others, "taken_by_host": stolen}


def copy_bandwidth(threads: int, megabytes: int = 256) -> float:
    """Bytes a second, read and written, of a copy that all threads take part in.

    Each copies its own part in pieces that take about a millisecond; the sum over threads of the median rate.
    """
    piece = 16 << 20
    each = max(piece, (megabytes << 20) // threads // piece * piece)
    rates: list[float] = [0.0] * threads
    barrier = threading.Barrier(threads)

    def work(which: int) -> None:
        source, target = np.ones(each, np.uint8), np.zeros(each, np.uint8)
        times: list[float] = []
        barrier.wait()
        for _ in range(4):
            for at in range(0, each, piece):
                start = time.perf_counter()
                np.copyto(target[at : at + piece], source[at : at + piece])
                times.append(time.perf_counter() - start)
        rates[which] = 2 * piece / statistics.median(times)

    workers = [threading.Thread(target=work, args=(k,)) for k in range(threads)]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    return sum(rates)


def difference(found: list[Any], expected: list[Any], exact: bool) -> str:
    """What is wrong with an answer, or nothing."""
    if len(found) != len(expected):
        return f"{len(found)} results, not {len(expected)}"
    for mine, theirs in zip(found, expected, strict=True):
        if mine.dtype != theirs.dtype:
            return f"{mine.dtype}, not {theirs.dtype}"
        if mine.shape != theirs.shape:
            return f"shape {mine.shape}, not {theirs.shape}"
        if exact:
            if not np.array_equal(mine, theirs):
                return "other values"
        elif not np.allclose(mine, theirs, rtol=1e-4, atol=1e-5):
            return f"off by {float(np.max(np.abs(mine - theirs))):.1e}"
    return ""
