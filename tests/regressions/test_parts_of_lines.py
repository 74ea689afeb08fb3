"""Parts of complex arrays that have been made one line: `(place, part)` was taken for the subscripts of two axes, and
sums along arrays in Fortran's order were of other elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target

Arrays = tuple[Any, ...]


def sums(z: Any) -> Arrays:
    return np.cumsum(z), np.cumsum(z.ravel()), np.cumprod(z[:, :2]), z.reshape(-1).real + 1, z.flatten().imag


def changed_parts(z: Any) -> Arrays:
    v = z.reshape(-1).real
    v[1:4] = 7
    z.ravel().imag[::2] += 1
    z.reshape(-1).real = z.reshape(-1).imag * 2
    w = z.reshape(2, -1).real
    w[1] *= 2
    return v, w, z.reshape(3, 2, 2).imag.T, z


def changed_one_by_one(z: Any) -> Arrays:
    v = z.reshape(-1)
    for i in range(len(v) - 1):
        v[i + 1] = complex(v.real[i] + 1, v[i].imag * 2)
        v.real[i] += 2
    return v.real.sum(), z


ORDERS: dict[str, Callable[[Any], Any]] = {
    "C": np.ascontiguousarray, "F": np.asfortranarray, "turned": lambda z: z[:, ::-1], "apart": lambda z: z[::2].T,
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["complex128", "complex64"])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_sums_of_lines(target: str, order: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    z = ORDERS[order]((rng.normal(size=(6, 5)) + 1j * rng.normal(size=(6, 5))).astype(dtype))
    on_target(target, monkeypatch)
    for found, expected in zip(transkern.compile(sums, target=target)(z), sums(z), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5, strict=True)


@pytest.mark.parametrize("function", [changed_parts, changed_one_by_one])
@pytest.mark.parametrize("shape", [(3, 4), (4, 3), (1, 12), (12, 1)])
def test_parts_of_lines_are_views(function: Callable[..., Any], shape: tuple[int, int]) -> None:
    alike(function, np.arange(12).reshape(shape) * (1 + 2j))


def test_parts_of_lines_share_memory() -> None:
    z = np.arange(12).reshape(3, 4) * (1 + 2j)
    for part in transkern.compile(changed_parts)(z)[:3]:
        assert np.shares_memory(part, z)
