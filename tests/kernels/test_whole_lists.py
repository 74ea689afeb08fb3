"""Lists that end as arrays of as many elements as they have room for are made in the result's memory."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from transkern.fuse.states.whole import hand_out_whole
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import passes_for, program_of


def windows(x: Any, w: int) -> Any:
    return np.array([x[i : i + w].max() for i in range(len(x) - w + 1)])


def appended(x: Any, w: int) -> Any:
    found = []
    for v in x:
        found.append(v * w)
    return np.asarray(found), x.sum()


def some(x: Any, w: int) -> Any:
    return np.array([v * w for v in x if v > 0])


def until(x: Any, w: int) -> Any:
    found = []
    for v in x:
        if v > w:
            break
        found.append(v)
    return np.array(found)


def twice(x: Any, w: int) -> Any:
    found = [v * 2 for v in x]
    if w > 2:
        return np.array(found)
    return np.array(found), np.array(found)


def anew(x: Any, w: int) -> Any:
    found = [0.0]
    for k in range(w):
        found = [v + k for v in x[k:]]
    return np.array(found)


WHOLE = {windows: 1, appended: 1, some: 0, until: 0, anew: 0}


@pytest.mark.parametrize("function", WHOLE)
def test_no_copy_where_all_is_handed_out(function: Callable[..., Any]) -> None:
    source = "import numpy as np\n" + inspect.getsource(function)
    passes = passes_for("cpu")
    until = passes[: passes.index(hand_out_whole)]
    program = program_of(source, function.__name__, f"{function.__name__}(float64[n], int)", until)
    made = {s.buffer for s in walk(program.body) if isinstance(s, n.Alloc)}
    results = [{k for k in made if p.buffers[k].role == "result"} for p in (program, hand_out_whole(program))]
    assert len(results[1] - results[0]) == WHOLE[function]


@pytest.mark.parametrize("function", [*WHOLE, twice])
def test_values(function: Callable[..., Any]) -> None:
    for size in (0, 1, 7, 300):
        for w in (0, 1, 3, 8):
            alike(function, np.arange(size) % 5 - 1.5, w)
