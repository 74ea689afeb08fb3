"""What a `while` loop asks first is its condition (`fuse/lowering/first_exits.py`)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.fuzz.oracle import call, difference
from tests.tools import on_target
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of


def condition(x: Any, limit: Any) -> Any:
    k = 0
    s = 0.0
    while k < limit and s < 10:
        s = s + x[k % 4]
        k += 1 + k % 2
    return s, k


def always(x: Any, limit: Any) -> Any:
    k = 0
    s = 0.0
    while True:
        if not (k < limit and s < 10):
            break
        s = s + x[k % 4]
        k += 1 + k % 2
    return s, k


def two_exits(x: Any, limit: Any) -> Any:
    k = 0
    s = 0.0
    while True:
        if k >= limit:
            break
        if not s < 10:
            break
        s = s + x[k % 4]
        k += 1 + k % 2
    return s, k


def one_of_each(x: Any, limit: Any) -> Any:
    k = 0
    s = 0.0
    while k < limit:
        if s < 10:
            s = s + x[k % 4]
            k += 1 + k % 2
        else:
            break
    return s, k


def named(x: Any, limit: Any) -> Any:
    k = 0
    s = 0.0
    while k < limit:
        enough = not s < 10
        if enough:
            break
        s = s + x[k % 4]
        k += 1 + k % 2
    return s, k


def behind_a_store(x: Any, limit: Any) -> Any:
    k = 0
    s = 0.0
    while k < limit:
        x[k % 4] += 1
        if not s < 10:
            break
        s = s + x[k % 4]
        k += 1 + k % 2
    return s, k, x


def of_an_element(x: Any, limit: Any) -> Any:
    k = 0
    s = 0.0
    while k < limit:
        if x[k] < 0:  # may be outside
            break
        s += x[k]
        k += 1 + k % 2
    return s, k


def twice_used(x: Any, limit: Any) -> Any:
    k = 0
    s = 1.0
    while k < limit:
        e = 1 / (1 + s * s)
        if e < 0.01:
            break
        s += e + abs(x[k % 4])
        k += 1 + k % 2
    return s, k


SAME = (condition, always, two_exits, one_of_each, named)
OTHERS = (behind_a_store, of_an_element, twice_used)


def _body(function: Callable[..., Any]) -> str:
    source = inspect.getsource(function).replace(": Any", "").replace(" -> Any", "")
    program = program_of(f"import numpy as np\n{source}", function.__name__, f"{function.__name__}(float64[n],int)")
    loops = [s for s in walk(program.body) if isinstance(s, n.While)]
    assert not any(isinstance(s, n.Break) for s in walk(program.body))
    assert len(loops) == 1
    return function.__name__


@pytest.mark.parametrize("function", SAME, ids=lambda f: f.__name__)
def test_exits_go_into_the_condition(function: Callable[..., Any]) -> None:
    _body(function)


def test_what_was_seen_before_an_exit_stays_before_it() -> None:
    for function in (behind_a_store, twice_used):
        with pytest.raises(AssertionError):
            _body(function)


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.parametrize("function", SAME + OTHERS, ids=lambda f: f.__name__)
def test_results(function: Callable[..., Any], target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = transkern.compile(function, target=on_target(target, monkeypatch))
    for x in ([1.0, 2.0, 3.0, 4.0], [5.0, -1.0, 9.0, 1.0], [np.nan, 1.0, 1.0, 1.0], [0.0, 0.0, 0.0, -0.0]):
        for limit in (0, 1, 4, 7) if target == "cpu" else (0, 4):
            given = [np.array(x), limit]
            wanted = call(function, [given[0].copy(), limit])
            found = call(compiled, [given[0].copy(), limit])
            assert not difference(found, wanted), (x, limit, found, wanted)
