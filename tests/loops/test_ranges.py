"""Checks of one number are asked once where they hold (`fuse/checks/ranges.py`), and raise what Python raises."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import require
from transkern import pipeline
from transkern.frontend.sources.source import live_function
from transkern.frontend.specialise import specialise
from transkern.frontend.values.types import parse_signature
from transkern.ir import nodes as n
from transkern.ir import printer
from transkern.ir.traverse import walk

require("cc")


def counted(x: Any) -> Any:
    h = np.zeros(8, dtype=np.int64)
    for k in range(len(x)):
        i = int(x[k])
        if 0 <= i < 8:
            h[i] += 1
    return h


def floors(x: Any) -> Any:
    total = 0
    for v in x:
        total = (total * 3 + math.floor(v)) % 1009
    return total


def once(x: Any) -> Any:
    return int(x[0])


@pytest.mark.parametrize("function, loops", [(counted, True), (floors, True), (once, False)])
def test_checks_stand_behind_one_question(function: Any, loops: bool) -> None:
    program = pipeline.run(specialise(live_function(function), parse_signature("f(float64[n])")[1], True))
    branches = [s for s in walk(program.body) if isinstance(s, n.If) and isinstance(s.then[0], n.Guard)]
    assert bool(branches) == loops
    if loops:
        text = "\n".join(printer.block(program.body, 0))
        assert "if not (absolute(" in text and ") < 9.223372036854776e+18):" in text


@pytest.mark.parametrize("function", [counted, floors, once])
@pytest.mark.parametrize("value", [
    0.0, -0.5, 3.9, np.nan, np.inf, -np.inf, 2.0**62, -(2.0**62), 2.0**63, -(2.0**63), 2.0**53, 1e300, -1e300,
])  # fmt: skip
def test_exceptions_are_pythons(function: Any, value: float) -> None:
    compiled = transkern.compile(function, target="cpu")
    for at in (0, 3):
        x = np.array([1.0, 2.5, 7.0, 4.0])
        x[at] = value
        try:
            wanted: Any = function(x)
        except (ValueError, OverflowError) as error:
            with pytest.raises(type(error), match=str(error)):
                compiled(x)
            continue
        try:
            np.testing.assert_array_equal(compiled(x), wanted)
        except OverflowError as error:  # Python's integers have no end
            assert abs(value) >= 2.0**62 and "64 bits" in str(error)
