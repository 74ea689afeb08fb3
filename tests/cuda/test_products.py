"""Products with vectors in loops in order are sums in the loop's own kernel: no library is asked in each iteration.
Outside of loops many products of matrices are one step of a library."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.cuda.support import program_from, simulated
from tests.fuzz.stages import function_of
from tests.tools import on_target
from transkern.targets.cuda.emit import emit

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
    if target == "cuda":
        names = re.findall(r"__global__ void __launch_bounds__\([^)]*\) (\w+)\(", text)
        assert len({name.removesuffix("_shared") for name in names}) <= 4
    else:
        assert "_grid(" in text


def test_many_products_in_a_loop_stay_in_its_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    on_target("cuda", monkeypatch)
    function: Callable[..., Any] = function_of(IN_A_LOOP)
    a, p = np.random.default_rng(0).standard_normal((2, 4, 6, 6)) / 3
    compiled = transkern.compile(function, target="cuda")
    np.testing.assert_allclose(compiled(a, p, 3), function(a, p, 3), rtol=1e-10)
    assert "matmul" not in compiled.emit()


TURNED = """
import numpy as np

def scores(q, k):
    s = q @ k.T
    k *= 2
    return s, k @ k.T

def changed(q, k):
    turned = k.T.copy()
    k += 1
    return q @ turned

def looked_at(q, k):
    turned = np.ascontiguousarray(k.T)
    return q @ turned + turned[0]

def twice(q, k):
    t = k.T
    return (q @ t) @ np.maximum(t, 0).T, k.T @ q[: k.shape[0]]
"""


@pytest.mark.parametrize(("name", "taken"), [("scores", 2), ("changed", 0), ("looked_at", 0), ("twice", 2)])
def test_transposes_go_to_a_library_as_they_lie(name: str, taken: int) -> None:
    types = f"{name}(float64[n, d], float64[m, d])"
    products = [line for line in emit(program_from(TURNED, types))[1].splitlines() if "cp.matmul(" in line]
    assert sum(".T" in line for line in products) == taken
    space: dict[str, Any] = {}
    exec(TURNED, space)  # the text is our own
    call = simulated(TURNED, types)
    for n, m, d in ((4, 3, 5), (3, 3, 2), (5, 4, 0), (0, 3, 2)):
        q, k = (np.arange(s * d, dtype=np.float64).reshape(s, d) % 7 - 2 for s in (n, m))
        mine, theirs = (q.copy(), k.copy()), (q.copy(), k.copy())
        try:
            wanted = space[name](*theirs)
        except (ValueError, IndexError) as error:
            with pytest.raises(type(error)):
                call(*mine)
            continue
        assert all(map(np.array_equal, call(*mine), wanted))
        assert np.array_equal(mine[1], theirs[1])
