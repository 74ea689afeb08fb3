"""`math.gamma` and `math.lgamma`: Python's numbers to the last bit in Python itself, its errors everywhere."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from transkern.frontend.compositions.series import lanczos

ENDS = [0.0, -0.0, 1.0, 23.0, 24.0, 171.5, 172.0, 1e-310, -1e-21, math.inf, -math.inf, math.nan, -1.0, -200.5, -201.5,
        1e300, 2.5e305, 1e306]  # fmt: skip


def _outcome(function: Any, x: Any) -> Any:
    try:
        return repr(function(x))
    except (ValueError, OverflowError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("name", ["gamma", "lgamma"])
def test_as_it_stands_it_is_pythons(name: str) -> None:
    r = np.random.default_rng(3)
    others = [*r.uniform(-180, 180, 400), *r.uniform(0, 6, 400), *10 ** r.uniform(-30, 30, 200)]
    with np.errstate(over="ignore"):
        for x in map(float, [*ENDS, *others]):
            assert _outcome(getattr(lanczos, name), x) == _outcome(getattr(math, name), x), x


@pytest.mark.parametrize("x", [*ENDS, 5, -0.5, "a", 1j])
def test_of_any_number(x: Any) -> None:
    alike(_both, x)


def _both(x: Any) -> Any:
    return math.gamma(x), math.lgamma(x)


def test_in_loops() -> None:
    def volumes(d: Any) -> Any:
        return [math.pi ** (k / 2) / math.gamma(k / 2 + 1) for k in range(d)]

    alike(volumes, 8)
