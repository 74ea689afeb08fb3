"""Products with vectors in loops in order are sums in the loop's own kernel: no library is asked in each iteration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.fuzz.stages import function_of
from tests.tools import on_target

RANKS = """import numpy as np

def f(a, steps):
    x = np.ones(len(a)) / len(a)
    for _ in range(steps):
        y = 0.85 * (a @ x) + 0.15 / len(a)
        if np.abs(y - x).sum() < 1e-9:
            break
        x = y
    return x
"""
POWERS = """import numpy as np

def f(a, steps):
    x = np.ones(len(a), a.dtype)
    for _ in range(steps):
        y = a @ x
        x = y / np.sqrt((y * y).sum())
    return x
"""


@pytest.mark.parametrize("steps", [0, 1, 30])
@pytest.mark.parametrize(("text", "dtype"), [(RANKS, np.float64), (POWERS, np.float64), (POWERS, np.float32)])
def test_products_in_loops(text: str, dtype: Any, steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target("cuda", monkeypatch)
    function: Callable[..., Any] = function_of(text)
    a = np.random.default_rng(0).random((70, 70)).astype(dtype)
    a /= a.sum(axis=0)
    compiled = transkern.compile(function, target="cuda")
    tolerance = 1e-12 if dtype == np.float64 else 1e-5
    np.testing.assert_allclose(compiled(a, steps), function(a, steps), rtol=tolerance)
    assert "matmul" not in compiled.emit().partition("__global__")[2]
