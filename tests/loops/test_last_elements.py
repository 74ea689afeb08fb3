"""The element before, which a loop over one axis reads again: it stays in a variable, whatever it is read for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import source_of
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.expr import Load
from transkern.ir.traverse import exprs, walk
from transkern.pipeline import program_of


def run_lengths(x: Any) -> Any:
    k = np.zeros(len(x), np.int64)
    for i in range(1, len(x)):
        k[i] = k[i - 1] + 1 if x[i] > 0 else 0
    return k


def last_valid(x: Any) -> Any:
    y = np.zeros(len(x) + 2)
    for i in range(2, len(y)):
        if x[i - 2] == x[i - 2]:
            y[i] = x[i - 2]
        else:
            y[i] = y[i - 1]
    return y


def decayed(x: Any) -> Any:
    y = np.full(len(x), -1.0, np.float32)
    for i in range(1, len(x)):
        y[i] = y[i - 1] * 0.5 if x[i] < 0 else min(y[i - 1], 0.25) + x[i]
    return y


@pytest.mark.parametrize("function", [run_lengths, last_valid, decayed])
def test_the_last_element_is_not_loaded(function: Callable[..., Any]) -> None:
    program = program_of(source_of(function), function.__name__, f"{function.__name__}(float64[n])", PASSES)
    loops = [s for s in walk(program.body) if isinstance(s, n.Loop) and s.kind == "sequential"]
    assert loops and not any(isinstance(e, Load) and e.buffer != "x" for s in loops for e in exprs((s,)))


def into_itself(x: Any) -> Any:
    for i in range(1, len(x)):
        x[i] = x[i - 1] if x[i] > 1 else x[i - 1] * 0.5
    return x


def shifted(x: Any) -> Any:
    y = np.zeros(len(x) + 1)
    z = y[1:]
    for i in range(len(x)):
        z[i] = y[i] + x[i] if x[i] > 0 else -0.0
    return y


@pytest.mark.parametrize("function", [run_lengths, last_valid, decayed, into_itself, shifted])
def test_elements_have_numpys_bits(function: Callable[..., Any]) -> None:
    for size in (0, 1, 2, 50):
        x = np.random.default_rng(size).standard_normal(size)
        alike(function, x)
        alike(function, x[::-1])
        x[size // 2 :: 3] = np.nan
        x[size // 3 : size // 2] = -0.0
        alike(function, x)
