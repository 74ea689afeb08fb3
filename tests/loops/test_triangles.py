"""Sums whose bounds move with a loop in order around them (rows of triangular matrices) have vectors."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import require

require("cc")


def forwards(a: Any, x: Any, b: Any) -> Any:
    for i in range(len(x)):
        x[i] = (b[i] - a[i, :i] @ x[:i]) / a[i, i]
    return x


def backwards(a: Any, x: Any, b: Any) -> Any:
    for i in range(len(x) - 1, -1, -1):
        x[i] = (b[i] - (a[i, i + 1 :] * x[i + 1 :]).sum()) / a[i, i]
    return x


def with_largest(a: Any, x: Any, b: Any) -> Any:
    for i in range(1, len(x)):
        x[i] = a[i, :i].max() + np.abs(x[:i]).sum() * 1e-3 + b[i]
    return x


@pytest.mark.parametrize("function", [forwards, backwards, with_largest])
def test_they_are_numpys(function: Callable[..., Any]) -> None:
    rng, compiled = np.random.default_rng(0), transkern.compile(function)
    for n in (0, 1, 2, 9, 513, 1030):
        a, b = rng.random((n, n)) / (n + 1) + np.eye(n), rng.random(n)
        x, y = np.zeros(n), np.zeros(n)
        found, wanted = compiled(a, x, b), function(a, y, b)
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
        assert found is x and wanted is y


@pytest.mark.parametrize("function", [forwards, backwards])
def test_compilers_do_not_know_where_bounds_cross(function: Callable[..., Any]) -> None:
    """GCC 12 split the loop around at ``i > 0``, and made no vectors of the sum."""
    code = transkern.compile(function, types=f"{function.__name__}(float64[n,n],float64[n],float64[n])").emit()
    assert re.search(r'__asm__\("" : "\+r"\(\w+\)\);\s+for \(int64_t \w+_block', code)
