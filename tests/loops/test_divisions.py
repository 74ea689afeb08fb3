"""Divisions by constants, which become multiplications where that has the same bits."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np
import pytest

import transkern


def divided(x, y):
    for i in range(x.shape[0]):
        y[i, 0] = x[i] / 3.0
        y[i, 1] = x[i] / 7
        y[i, 2] = x[i] / 9.0
        y[i, 3] = x[i] / -1023.0
        y[i, 4] = x[i] / 6.0
        y[i, 5] = x[i] / 1.5
        y[i, 6] = x[i] / 1025.0
        y[i, 7] = x[i] / 0.0 + x[i] / -1.0


def values(dtype: str) -> np.ndarray:
    """Special values, those around powers of two and multiples of the divisors, subnormals, and any bits."""
    info = np.finfo(dtype)
    special = [0.0, np.inf, np.nan, info.max, info.tiny, info.smallest_subnormal, 1.0]
    whole = np.arange(1, 4000).astype(dtype)
    bits = np.random.default_rng(1).integers(0, 256, 40_000 * info.bits // 8, dtype=np.uint8).view(dtype)
    parts = [np.array(special, dtype), whole, whole * info.smallest_subnormal, whole * info.tiny, bits]
    parts += [np.nextafter(whole * 3, np.inf, dtype=dtype), np.ldexp(whole, info.maxexp - 13).astype(dtype)]
    one = np.concatenate(parts)
    return np.concatenate([one, -one])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_quotients_have_the_same_bits(dtype: str) -> None:
    x = values(dtype)
    mine = np.empty((x.size, 8), dtype)
    with np.errstate(all="ignore"):
        divisors = (3.0, 7, 9.0, -1023.0, 6.0, 1.5, 1025.0)
        theirs = np.stack([x / dtype_of(dtype, d) for d in divisors] + [x / dtype_of(dtype, 0.0) + -x], axis=1)
        compiled = transkern.compile(divided, target="cpu")
        compiled(x, mine)
    assert "divided_" in compiled.emit()
    same = (mine.view(f"u{mine.itemsize}") == theirs.view(f"u{mine.itemsize}")) | (np.isnan(mine) & np.isnan(theirs))
    assert same.all(), x[np.argwhere(~same)[:5, 0]]


def dtype_of(dtype: str, value: float) -> np.generic:
    return np.dtype(dtype).type(value)


def rests(x, y):
    return x % y, x // y, np.fmod(x, y), x % 360.0, (x + np.pi) % (2 * np.pi)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_rests_have_the_same_bits(dtype: str) -> None:
    """Also next to whole quotients, where a rounded quotient is one too many, and for quotients of any size."""
    rng = np.random.default_rng(2)
    y = values(dtype)[: 60_000]
    with np.errstate(all="ignore"):
        whole = y * rng.integers(-(2**20), 2**20, y.size).astype(dtype)
        near = np.nextafter(whole, rng.choice([-np.inf, np.inf], y.size))
        for x in (near.astype(dtype), rng.permutation(y), y * np.dtype(dtype).type(3), np.full(y.size, -0.0, dtype)):
            found = transkern.compile(rests, target="cpu")(x, y)
            for one, two in zip(found, rests(x, y), strict=True):
                assert not np.any((bits(one) != bits(two)) & ~(np.isnan(one) & np.isnan(two)))


def bits(x: np.ndarray) -> np.ndarray:
    return x.view(f"u{x.itemsize}")
