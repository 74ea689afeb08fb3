"""Vectors of remainders, quotients rounded down and `fmod` are NumPy's to the bit, whatever stands in their lanes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def all_of_them(x: Any, y: Any) -> Any:
    return x % y, x // y, np.fmod(x, y)


def by_constants(x: Any) -> Any:
    return x % 6, (x + np.pi) % (2 * np.pi) - np.pi, x // -0.5, np.fmod(x, 1e-30), np.where(x > 1, x % 0.0, x)


def added_up(x: Any, y: Any) -> Any:
    return (x % y).max(axis=0), np.where(y != 0, np.floor_divide(x, y), -1).min(axis=1)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_pair_of_special_values(dtype: str) -> None:
    info = np.finfo(dtype)
    some = [0.0, 1.0, 0.1, 3.0, 6.0, 1e9, 2.0 ** (info.nmant + 1), np.inf, info.max, info.tiny, info.smallest_subnormal]
    special = np.array([np.nan, *some, *(-v for v in some)], dtype)
    x, y = np.meshgrid(special, special)
    alike(all_of_them, x.ravel(), y.ravel())
    alike(by_constants, special)
    ordinary = np.random.default_rng(0).normal(size=(64, 50)).astype(dtype) * 100
    for place in range(0, 40, 3):  # of a vector, or behind the last one
        x, y = ordinary.copy(), ordinary[::-1].copy()
        x[:, place] = special[place % special.size]
        alike(added_up, x, y)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numbers_of_all_sizes(dtype: str) -> None:
    rng = np.random.default_rng(1)
    for spread in (1, 20, 60):
        x, y = (np.exp2(rng.uniform(-spread, spread, 20_000)) * rng.choice([-1, 1], 20_000) for _ in range(2))
        alike(all_of_them, x.astype(dtype), y.astype(dtype))
    bits = rng.integers(0, 2**63, 4096, dtype=np.uint64)
    x = bits.view(dtype)
    alike(all_of_them, x, x[::-1].copy())
    whole = np.arange(-2000, 2000).astype(dtype) / dtype_of(dtype)(8)
    alike(all_of_them, whole, np.full_like(whole, 0.375))


def dtype_of(name: str) -> Any:
    return np.dtype(name).type


def test_loops_have_vectors_of_them() -> None:
    x = np.ones(100)
    compiled = transkern.compile(all_of_them)
    compiled(x, x)
    text = compiled.emit(target="cpu")
    assert "vv_fmod" in text
    assert all(f"vector_{name}_float64(" in text for name in ("fremainder", "ffloordiv", "fmod"))
    flags = transkern.compile(all_of_them, warnings="numpy")
    flags(x, x)
    assert "vector_fmod" not in flags.emit(target="cpu")
