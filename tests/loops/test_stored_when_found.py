"""What a search stores into an element when it ends: it waits in a variable, as if it had a name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import source_of
from transkern.fuse.passes import PASSES
from transkern.fuse.scalars.promote import promote_elements
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of


def first_above(x: Any, v: Any) -> Any:
    out = np.full(len(v), -1)
    for i in range(len(v)):
        for k in range(len(x)):
            if x[k] > v[i]:
                out[i] = k
                break
    return out


def first_passage(x: Any, v: Any) -> Any:
    out, hit = np.empty(len(v)), np.zeros(len(v), bool)
    for p in range(len(v)):
        s = v[p]
        for t in range(len(x)):
            s = s * 0.9 + x[t]
            if s > 1.0:
                out[p] = s
                hit[p] = True
                break
        else:
            out[p] = np.nan
    return out, hit


def until(x: Any, v: Any) -> Any:
    steps = np.zeros((2, len(v)), np.int32)
    for p in range(len(v)):
        a, t = v[p], 0
        while t < 50:
            if not a < 4.0:
                steps[1, p] = t
                break
            a, t = a * a + 0.25, t + 1
    return steps


FOUND = [first_above, first_passage, until]


@pytest.mark.parametrize("function", FOUND)
def test_nothing_is_stored_by_a_loop_that_may_end(function: Callable[..., Any]) -> None:
    passes = PASSES[: PASSES.index(promote_elements) + 1]
    program = program_of(source_of(function), function.__name__, "f(float64[n], float64[m])", passes)
    loops = [s for s in walk(program.body) if isinstance(s, (n.Loop, n.While)) and _ends(s)]
    assert loops and not any(isinstance(x, n.Store) for s in loops for x in walk(s.body))


def _ends(s: n.Loop | n.While) -> bool:
    """Whether the loop has an exit and no loop inside."""
    inside = list(walk(s.body))
    return any(isinstance(x, n.Break) for x in inside) and not any(isinstance(x, (n.Loop, n.While)) for x in inside)


def beyond(x: Any, v: Any) -> Any:
    out = np.zeros(2)
    for i in range(len(v)):
        for k in range(len(x)):
            if x[k] > v[i]:
                out[i] = x[k]
                break
    return out


def seen_on_the_way(x: Any, v: Any) -> Any:
    out = np.zeros(len(v) + 1)
    for i in range(len(v)):
        for k in range(len(x)):
            if x[k] > v[i] + out[k % len(out)]:
                out[i] = k
                break
    return out


def into_what_is_read(x: Any, v: Any) -> Any:
    for i in range(len(v)):
        for k in range(len(x)):
            if x[k] > 0.5:
                x[i % len(x)] = v[i]
                break
    return x


@pytest.mark.parametrize("function", [*FOUND, beyond, seen_on_the_way, into_what_is_read])
def test_elements_are_numpys(function: Callable[..., Any]) -> None:
    for many, few in ((0, 3), (5, 0), (70, 9), (1, 1)):
        rng = np.random.default_rng(many)
        x, v = rng.standard_normal(few), rng.standard_normal(many)
        alike(function, x, v)
        alike(function, x - 9, v)
        if many and few:
            x[0] = v[-1] = np.nan
            alike(function, x, v)
