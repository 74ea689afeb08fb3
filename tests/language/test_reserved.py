"""Memory that lists without a bound reserve: kept where they were short, given back where they were long."""

from __future__ import annotations

import os
import resource
import runpy
from collections import deque
from pathlib import Path

import transkern
from tests.tools import require

PAGE = os.sysconf("SC_PAGE_SIZE")


def stacked(n: int) -> float:
    stack = [0.5]
    total = 0.0
    while stack:
        v = stack.pop()
        total += v
        if v < n:
            stack.append(v + 1)
            if v % 2 < 1:
                stack.append(n + v)
    return total


def grown(n: int) -> int:
    found = [1]
    for v in found:
        if v < n:
            found.append(v + 1)
    return len(found)


def queued(n: int) -> int:
    queue = deque([1])
    longest = 0
    while queue:
        v = queue.popleft()
        if v < n:
            queue.append(v + 1)
            queue.append(v + n)
        longest = max(longest, len(queue))
        if v == n - 1:
            queue.appendleft(2 * n)
    return longest


def resident() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * PAGE


def test_long_lists_give_their_memory_back() -> None:
    require("cc")
    for function in (grown, queued):
        compiled = transkern.compile(function)
        assert compiled(50) == function(50)
        before = resident()
        for _ in range(3):
            assert compiled(2_000_000) >= 1
        assert resident() < before + (12 << 20)  # of 16 MB, in each call
        assert compiled(60) == function(60)


def test_short_lists_are_none_the_worse_for_long_ones() -> None:
    require("cc")
    compiled = transkern.compile(stacked)
    for n in (3, 40, 100_000, 4, 41):
        assert compiled(n) == stacked(n)


def test_memory_of_many_lists_is_kept(tmp_path: Path) -> None:
    """A function with more than 24 lists at once got each of the others anew from the system in each call."""
    names = [f"l{k}" for k in range(40)]
    lines = ["def f(n):", *(f"    {name} = []" for name in names), "    stack = [0]", "    while stack:"]
    lines += ["        at = stack.pop()", "        if at < n:", "            stack.append(at + 1)"]
    lines += [f"        {name}.append(at + {k})" for k, name in enumerate(names)]
    lines.append(f"    return [sum(l) for l in ({', '.join(names)})]")
    (tmp_path / "many.py").write_text("\n".join(lines) + "\n")
    function = runpy.run_path(str(tmp_path / "many.py"))["f"]
    compiled = transkern.compile(function, target="cpu")
    for n in (3, 100_000, 5, 5):
        assert compiled(n) == function(n)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(100):
        compiled(5)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 500


def test_memory_of_short_queues_is_kept() -> None:
    """What a queue begins with stood where a mark told that there is memory to give back: all was looked through at
    the end of each call, which took longer than what a short search did."""
    require("cc")
    compiled = transkern.compile(queued)
    assert compiled(20) == queued(20)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(200):
        compiled(20)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt < before + 200
