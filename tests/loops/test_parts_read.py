"""Elements of sums that nobody reads are not computed (`fuse/states/parts_read.py`)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from transkern.fuse.passes import PASSES
from transkern.fuse.states.parts_read import compute_read
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of


def by_name(x: Any, k: int) -> Any:
    c = np.convolve(x, x[::-1])
    m = len(x) - 1
    return c[m : m + k] * c[m]


def again_and_again(x: Any, k: int) -> Any:
    c = np.correlate(x, x, "full")
    c = c[len(c) // 2 :]
    return c[:k] + c[0]


def one_element(x: Any, k: int) -> Any:
    c = np.convolve(x, x)
    return c[k] + 1


def one_and_some(x: Any, k: int) -> Any:
    c = np.convolve(x, x)
    return c[k], c[k : k + 2]


def ends(x: Any, k: int) -> Any:
    c = np.convolve(x, x)
    return c[0], c[-1]


def under_a_condition(x: Any, k: int) -> Any:
    c = np.correlate(x, x, "full")
    if k > 2:
        return c[len(x) :]
    return c[len(x) - 1 :] * 2


def all_of_it(x: Any, k: int) -> Any:
    c = np.convolve(x, x)
    return c + c[len(x) - 1]


def in_a_loop(x: Any, k: int) -> Any:
    c = np.convolve(x, x)
    total = 0.0
    for j in range(min(k, len(c))):
        total += c[j] * c[len(x) - 1]
    return total


def handed_out(x: Any, k: int) -> Any:
    c = np.convolve(x, x)
    return c, c[len(x) - 1 :]


PARTS = {by_name: True, again_and_again: True, all_of_it: False, handed_out: False, ends: False, in_a_loop: False}


@pytest.mark.parametrize("function", PARTS)
def test_a_part_is_computed(function: Callable[..., Any]) -> None:
    source = "import numpy as np\n" + inspect.getsource(function)
    at = PASSES.index(compute_read)
    programs = [
        program_of(source, function.__name__, f"{function.__name__}(float64[n], int)", PASSES[: at + k]) for k in (0, 1)
    ]
    extents = [[s.axes[0].extent for s in walk(p.body) if isinstance(s, n.Define) and s.axes] for p in programs]
    assert (extents[0] != extents[1]) == PARTS[function]


@pytest.mark.parametrize("function", [*PARTS, one_element, one_and_some, under_a_condition])
def test_values(function: Callable[..., Any]) -> None:
    compiled = transkern.compile(function, target="cpu")
    for size in (0, 1, 2, 9, 40):
        for k in (-50, -9, -1, 0, 1, 2, 5, 17, 18, 100):
            alike(function, np.arange(size) % 5 - 2.0, k, compiled=compiled)
