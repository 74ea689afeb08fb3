"""States of lanes that are read from where each step stores them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import source_of
from transkern.fuse.lanes.read_back import read_back
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of


def smoothed(x: Any, k: int) -> Any:
    out = np.empty_like(x)
    level = np.zeros(x.shape[1])
    for t in range(len(x)):
        level = 0.7 * level + x[t]
        out[t] = level
    return out


def column_by_column(x: Any, k: int) -> Any:
    out = np.zeros((len(x) + 3, x.shape[1]))
    for j in range(x.shape[1]):
        total = 1.0
        for t in range(len(x)):
            total = total * 0.5 - x[t, j]
            out[t + 2, j] = total
    return out


def two_of_them(x: Any, k: int) -> Any:
    one, two = np.empty_like(x), np.empty_like(x)
    a, c = np.zeros(x.shape[1]), np.ones(x.shape[1])
    for t in range(len(x)):
        a = a * 0.5 + x[t] + c
        c = c * 0.25 - a
        one[t], two[t] = a, c
    return one, two


def from_a_step_on(x: Any, k: int) -> Any:
    out = x.copy()
    state = np.zeros(x.shape[1])
    for t in range(k, len(x)):
        state = np.maximum(state * 0.9, x[t])
        out[t] = state
    return out


def read_behind(x: Any, k: int) -> Any:
    out = np.empty_like(x)
    state = np.zeros(x.shape[1])
    for t in range(len(x)):
        state = 0.5 * state + x[t]
        out[t] = state
    return out, state


def another_state(x: Any, k: int) -> Any:
    out = np.empty_like(x)
    state, p = np.zeros(x.shape[1]), np.ones(x.shape[1])
    for t in range(len(x)):
        p = p * 0.5 + 0.1
        state = p * state + x[t]
        out[t] = state
    return out


def narrower(x: Any, k: int) -> Any:
    out = np.empty(x.shape, np.float32)
    state = np.zeros(x.shape[1])
    for t in range(len(x)):
        state = 0.3 * state + x[t]
        out[t] = state
    return out


def changed_behind(x: Any, k: int) -> Any:
    out = np.empty_like(x)
    state = np.zeros(x.shape[1])
    for t in range(len(x)):
        state = 0.3 * state + x[t]
        out[t] = state
        out[t, 0] = 5.0
    return out


def in_one_row(x: Any, k: int) -> Any:
    out = np.zeros((2, x.shape[1]))
    state = np.zeros(x.shape[1])
    for t in range(len(x)):
        state = 0.3 * state + x[t]
        out[t % 2] = state
    return out


FUNCTIONS = {
    smoothed: True, column_by_column: True, two_of_them: True, from_a_step_on: False, read_behind: False,
    another_state: False, narrower: False, changed_behind: False, in_one_row: False,
}  # fmt: skip


def _states(function: Any, at: int) -> int:
    types = f"{function.__name__}(float64[n, m], int)"
    program = program_of(source_of(function), function.__name__, types, PASSES[:at])
    return sum(isinstance(s, n.Assign) for s in walk(program.body))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_states_are_read_back(function: Any) -> None:
    at = PASSES.index(read_back)
    assert (_states(function, at + 1) < _states(function, at)) == FUNCTIONS[function]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_numpys_answer(function: Any) -> None:
    rng = np.random.default_rng(8)
    for shape in ((0, 5), (1, 1), (2, 3), (7, 300), (40, 65)):
        x = rng.standard_normal(shape)
        x[-1:, ::2] = np.nan
        for k in (0, 3, 9):
            alike(function, x, k)
    alike(function, x[::-1, ::2], 2)
