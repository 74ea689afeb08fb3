"""Products with vectors in loops in order are sums in the loop's own kernel: no library is asked in each iteration.
Outside of loops many products of matrices are one step of a library."""

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


HEADS = """import numpy as np

def f(q, k, v):
    s = np.einsum("bqhd,bkhd->bhqk", q, k) * q.dtype.type(0.2)
    p = np.exp(s - s.max(axis=-1, keepdims=True))
    return np.einsum("bhqk,bkhd->bqhd", p / p.sum(axis=-1, keepdims=True), v)
"""
PRODUCTS = """import numpy as np

def f(q, k, v):
    q, k, v = q.transpose(0, 2, 1, 3), k.transpose(0, 2, 3, 1), v.transpose(0, 2, 1, 3)
    s = q @ k * q.dtype.type(0.2)
    p = np.exp(s - s.max(axis=-1, keepdims=True))
    return (p / p.sum(axis=-1, keepdims=True) @ v).transpose(0, 2, 1, 3)
"""
IN_A_LOOP = """import numpy as np

def f(a, p, steps):
    for _ in range(steps):
        p = np.tanh(a @ p @ a.transpose(0, 2, 1)) + np.einsum("nij,nkj->nik", p, a)
    return p
"""


@pytest.mark.parametrize("target", ["cuda", "pallas"])
@pytest.mark.parametrize("text", [HEADS, PRODUCTS])
def test_many_products_are_one_step(text: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    function: Callable[..., Any] = function_of(text)
    compiled = transkern.compile(function, target=target)
    rng = np.random.default_rng(0)
    for shape in ((2, 7, 3, 9), (1, 1, 1, 6), (2, 6, 0, 5)):
        q, k, v = (rng.standard_normal(shape).astype(np.float32) for _ in range(3))
        np.testing.assert_allclose(compiled(q, k, v), function(q, k, v), rtol=2e-5, atol=1e-6)
    text = compiled.emit()
    assert text.count(".matmul(") == 2
    assert text.partition("__global__")[2].count("extern") <= 3 if target == "cuda" else "_grid(" in text


def test_many_products_in_a_loop_stay_in_its_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    on_target("cuda", monkeypatch)
    function: Callable[..., Any] = function_of(IN_A_LOOP)
    a, p = np.random.default_rng(0).standard_normal((2, 4, 6, 6)) / 3
    compiled = transkern.compile(function, target="cuda")
    np.testing.assert_allclose(compiled(a, p, 3), function(a, p, 3), rtol=1e-10)
    assert "matmul" not in compiled.emit()
