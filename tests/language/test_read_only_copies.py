"""Copies that are only read are no copies, unless what they are made of changes: NumPy's results, as always."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.fuzz.oracle import call, difference
from tests.tools import on_target
from transkern.frontend.sources.source import live_function
from transkern.frontend.specialise import specialise
from transkern.frontend.values.types import parse_signature
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import passes_for, run


def counted(x: Any, k: int) -> Any:
    flat = x.flatten()
    out = np.zeros(8, np.int64)
    for i in range(flat.size):
        out[int(flat[i]) % 8] += 1
    return out


def in_the_middle(x: Any, k: int) -> Any:
    y = np.ascontiguousarray(x[1:, :-1])
    total = 0.0
    for i in range(y.shape[0]):
        for j in range(y.shape[1]):
            if y[i, j] > y[i, 0]:
                total += y[i, j]
    return total, y[::-1] * 2


def a_row(x: Any, k: int) -> Any:
    row = x[k % x.shape[0]].copy()
    best = 0
    for j in range(row.size):
        if row[j] > row[best]:
            best = j
    return best, row[::2].sum()


def changed_behind(x: Any, k: int) -> Any:
    y = x.flatten()
    a = y[::-1] + 1
    x[0, 0] = 7
    return a, x


def changed_before(x: Any, k: int) -> Any:
    y = x.flatten()
    x[0, 0] += 7
    return y[::-1] + 1, x


def changed_in_a_loop(x: Any, k: int) -> Any:
    for _ in range(3):
        y = x.flatten()
        for i in range(x.shape[0]):
            x[i, 0] = y[0] + y[y.size - 1] + i
    return x


def at_another_place(x: Any, k: int) -> Any:
    place = k % x.shape[0]
    row = x[place].copy()
    place = 0
    return row + x[place], row[0]


def given_away(x: Any, k: int) -> Any:
    y = x.flatten()
    z = y
    z[0] = 5
    return x, y.sum()


def without_axes(x: Any, k: int) -> Any:
    y = np.array(x[0, 0])
    return y + 1, y


READ = (counted, in_the_middle, a_row, changed_behind)
CHANGED = (changed_before, changed_in_a_loop, given_away)


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.parametrize("function", [*READ, *CHANGED, at_another_place, without_axes], ids=lambda f: f.__name__)
def test_results_are_numpys(function: Callable[..., Any], target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    compiled = transkern.compile(function, target=target)
    for dtype in ("float32", "int32"):
        x = np.random.default_rng(2).integers(0, 9, (4, 5)).astype(dtype)
        for given in (x, x[:, ::-1], x[:1]):
            found, wanted = (call(f, [given.copy() if given.size == 20 else given * 1, 3]) for f in (compiled, function))
            assert not difference(found, wanted)


@pytest.mark.parametrize("function", [*READ, *CHANGED], ids=lambda f: f.__name__)
def test_which_are_made(function: Callable[..., Any]) -> None:
    parsed = parse_signature("f(float64[n,m],int)")[1]
    program = run(specialise(live_function(function), parsed, True), passes_for("cpu"))
    made = [s for s in walk(program.body) if isinstance(s, n.Alloc) and program.buffers[s.buffer].role == "temporary"]
    assert bool(made) is (function in CHANGED)
