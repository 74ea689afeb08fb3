"""What a loop reserves for lists is given back when the function returns: a process would run out of addresses."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import transkern


def sets_in_a_loop(keys: list[int]) -> list[int]:
    out = []
    for i in range(len(keys)):
        few = set()
        for k in range(i):
            few.add(keys[k])
        for key in few:
            out.append(key)
    return out


def left_in_the_middle(keys: list[int]) -> int:
    total = 0
    for i in range(len(keys)):
        few = []
        for k in range(i + 3):
            few.append(keys[i] + k)
        if few[i] == 3:
            break
        if few[i] == 4:
            continue
        total += few[-1]
    return total


def _addresses() -> int:
    """Pages of this process."""
    return int(Path("/proc/self/statm").read_text().split()[0])


@pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's own account")
@pytest.mark.parametrize("function", [sets_in_a_loop, left_in_the_middle])
def test_addresses_are_given_back(function: Any) -> None:
    compiled, keys = transkern.compile(function, target="cpu"), [1, 2, 3, 3, 1]
    assert compiled(keys) == function(keys)
    before = _addresses()
    for _ in range(20):
        compiled(keys)
    assert _addresses() - before < 2**20  # a list has eight times as many
