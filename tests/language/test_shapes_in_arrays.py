"""Shapes that are arrays of integers: as many axes as the array has elements, which only the run knows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target


def padded(x: Any, width: int) -> Any:
    dims = np.array(x.shape) + 2 * width
    out = np.full(dims, -1.0)
    out[width : dims[0] - width, width : dims[1] - width] = x
    return out


def halved(x: Any) -> Any:
    shape = np.asarray(x.shape) // 2
    out = np.zeros(shape, dtype=x.dtype)
    for i in range(shape[0]):
        for j in range(shape[1]):
            out[i, j] = x[2 * i, 2 * j]
    return out, np.ones(shape[::-1]), np.empty(np.maximum(shape, 3)).shape


def reshaped(x: Any, shape: Any) -> Any:
    return x.reshape(shape) + 1, np.reshape(x, np.flip(shape))


def narrow(k: int) -> Any:
    return np.zeros(np.array([k, 2], np.uint8)), np.ones(np.array([3]))


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_shapes_in_arrays(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    for n, m in ((4, 6), (1, 2), (5, 5)):
        x = np.arange(float(n * m)).reshape(n, m)
        alike(padded, x, 2, target=target)
        alike(padded, x.T, 1, target=target)
    if target == "cpu":
        alike(halved, np.arange(24.0).reshape(4, 6), target=target)


def test_shapes_of_a_call() -> None:
    alike(narrow, 3)
    alike(narrow, 0)
    compiled = transkern.compile(reshaped, types="(float64[n], int64[2])")
    for shape in ([3, 4], [12, 1], [1, 12]):
        found, wanted = (f(np.arange(12.0), np.array(shape)) for f in (compiled, reshaped))
        assert all(np.array_equal(a, b) and a.shape == b.shape for a, b in zip(found, wanted, strict=True))
    errors = []
    for f in (compiled, reshaped):
        with pytest.raises(ValueError) as caught:
            f(np.arange(12.0), np.array([5, 5]))
        errors.append(str(caught.value))
    assert errors[0] == errors[1]
    with pytest.raises(RuntimeError, match="not compiled"):  # what remains: known at the call only
        compiled(np.arange(12.0), np.array([-1, 6]))


def test_negative_sizes_are_numpys_error() -> None:
    def f(k: Any) -> Any:
        return np.zeros(np.array([k, 2]))

    for k in (-1, 2):
        alike(f, k)
