"""Ranges as arguments: of one compiled function for all beginnings and ends, and for each step of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target


def total(x: Any, among: Any) -> Any:
    s = 0.0
    for k in among:
        s += x[k]
    return s, len(among)


def picked(x: Any, among: Any) -> Any:
    return x[among], np.array(among), [2 * k for k in among]


def asked(x: Any, among: Any) -> Any:
    found = 0
    for k in range(len(x)):
        if k in among:
            found += k
    return found, list(among), 3 in among


def ends(x: Any, among: Any) -> Any:
    return among.start, among.stop, among.step, sum(among), len(among[:2])


def outermost(x: Any, among: Any) -> Any:
    return among[0], among[-1], max(among)


def handed_on(x: Any, among: Any) -> Any:
    return total(x, among[1:]), [k + 1 for k in reversed(among)], list(enumerate(among)), sorted(among, reverse=True)


RANGES = [range(4), range(2, 7), range(7, 1, -2), range(0, 8, 3), range(5, 6)]


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.parametrize("function", [total, picked])
def test_on_targets(function: Callable[..., Any], target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    for among in RANGES[:3]:
        alike(function, np.arange(10.0), among, target=target)


@pytest.mark.parametrize("among", [*RANGES, range(0), range(3, 1)], ids=str)
@pytest.mark.parametrize("function", [total, picked, ends, outermost, handed_on])
def test_are_pythons(function: Callable[..., Any], among: range) -> None:
    alike(function, np.arange(10.0), among, target="cpu")


@pytest.mark.parametrize("among", [range(4), range(2, 7), range(0), range(3, 1)], ids=str)
def test_membership(among: range) -> None:
    alike(asked, np.arange(10.0), among, target="cpu")


def test_one_code_for_all_ends() -> None:
    compiled = transkern.compile(target="cpu")(total)
    x = np.arange(100.0)
    for stop in range(5, 50):
        assert compiled(x, range(3, stop)) == total(x, range(3, stop))
    assert compiled.cache_info().compiled + compiled.cache_info().from_disk == 1
    assert compiled.signature == "total(float64[x_0], range(int, int, 1))"


def test_not_every_range_has_machine_numbers() -> None:
    with pytest.raises(transkern.CompileError, match="range"):
        transkern.compile(target="cpu")(total)(np.arange(3.0), range(2**70, 2**70 + 2))
