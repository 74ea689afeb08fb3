"""Places of loops in order that are taken as they are where all count from the start."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import source_of
from transkern.fuse.lanes.from_start import count_from_start
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of


def pairs(s: Any, t: Any, k: int) -> Any:
    c = np.zeros((k, k))
    for i in range(len(s) - 1):
        c[s[i], t[i + 1]] += 1
    return c


def kept_least(s: Any, t: Any, k: int) -> Any:
    least = np.arange(k)
    for i in range(len(s)):
        least[s[i]] = min(least[s[i]], least[t[i]] - i % 7)
    return least


def beside_a_number(s: Any, t: Any, k: int) -> Any:
    out, last = np.zeros((k, k)), 0.0
    for a, z in zip(s, t, strict=True):
        out[z, a] = last
        last = last * 0.5 + a
    return out, last


def into_an_argument(s: Any, t: Any, k: int) -> Any:
    for i in range(1, len(s)):
        s[s[i] % 5] = t[i - 1]
        t[t[i]] += 1
    return s


def one_place(s: Any, t: Any, k: int) -> Any:
    c = np.zeros(k)
    for i in range(len(s)):
        c[s[i]] += i
    return c


def places_of_places(s: Any, t: Any, k: int) -> Any:
    c = np.zeros((k, k))
    for i in range(len(s)):
        c[s[t[i]], t[i]] += 1
    return c


FUNCTIONS = {
    pairs: True, kept_least: True, beside_a_number: True, into_an_argument: False, one_place: False,
    places_of_places: False,
}  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_the_question(function: Any) -> None:
    types = f"{function.__name__}(int64[n], int64[n], int)"
    passes = PASSES[: PASSES.index(count_from_start) + 1]
    program = program_of(source_of(function), function.__name__, types, passes)
    found = any("from_start" in s.name for s in walk(program.body) if isinstance(s, n.Accumulator))
    assert found == FUNCTIONS[function]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_numpys_answer(function: Any) -> None:
    rng = np.random.default_rng(1)
    for size in (0, 1, 2, 1026, 2500):
        s, t = rng.integers(0, 12, size), rng.integers(0, 12, size)
        alike(function, s, t, 12)
        for place in {0, size - 1} if size else ():
            for number in (-12, 12, -13, np.iinfo(np.int64).min):
                for one in (s, t):
                    kept, one[place] = one[place], number
                    alike(function, s, t, 12)
                    one[place] = kept
    s, t = rng.integers(-12, 12, 500), rng.integers(-12, 12, 500)
    alike(function, s, t, 12)
    alike(function, s.astype(np.int8), t.astype(np.int8), 12)
