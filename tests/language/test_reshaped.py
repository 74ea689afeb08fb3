"""Arrays whose elements are counted in one shape and taken apart in another: patches, heads, turned rows, repeats."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from tests.tools import on_target


def into_patches(x: Any, k: Any) -> Any:
    h, w = x.shape
    return x.reshape(h // 4, 4, w // 2, 2).swapaxes(1, 2).reshape(-1, 8) * k


def out_of_patches(x: Any, k: Any) -> Any:
    h, w = x.shape
    p = x.reshape(h, w // 6, 2, 3).transpose(0, 2, 1, 3)
    return p.reshape(h * 2, w // 2) + k


def pixel_shuffle(x: Any, k: Any) -> Any:
    b, c, h, w = x.shape
    return x.reshape(b, c // 4, 2, 2, h, w).transpose(0, 1, 4, 2, 5, 3).reshape(b, c // 4, h * 2, w * 2) - k


def heads(x: Any, k: Any) -> Any:
    n, d = x.shape
    apart = x.reshape(n, k, d // k).transpose(1, 0, 2)
    return (apart + apart.max(axis=2, keepdims=True)).transpose(1, 0, 2).reshape(n, d)


def turned(x: Any, k: Any) -> Any:
    return x.T.reshape(-1) * k, x.T.ravel(), x[::-1, ::2].reshape(-1)


def windows(x: Any, k: Any) -> Any:
    return np.lib.stride_tricks.sliding_window_view(x, (2, 3)).reshape(-1, 6).max(axis=1) + k


def convolution(x: Any, k: Any) -> Any:
    seen = np.lib.stride_tricks.sliding_window_view(x, (2, 2), axis=(2, 3))
    return np.tensordot(seen, k, axes=([1, 4, 5], [1, 2, 3])).transpose(0, 3, 1, 2)


def repeated(x: Any, k: Any) -> Any:
    return np.kron(x, np.ones((2, 3))) + k, np.tile(x, (2, 3)), np.repeat(np.repeat(x, 2, axis=0), 3, axis=1)


def counted(x: Any, k: Any) -> Any:
    n, m = x.shape
    out = np.empty(n * m)
    for e in range(n * m):
        out[e] = x[e // m, e % m] * k
    return out


def counted_in_two_shapes(x: Any, k: Any) -> Any:
    n, m = x.shape
    out = np.empty(n * m)
    for e in range(n * m):
        out[e] = x[e // m, e % m] * k + x[e % n, e // n]
    return out


def shifted(x: Any, k: Any) -> Any:
    n, m = x.shape
    e = np.arange(n * m)
    return x[(e + n * m) % n, (e // n + 3 * m) % m] * k


def flat_number(x: Any, k: Any) -> Any:
    n, m = x.shape
    y = (x.T.reshape(m * n) + np.arange(n * m)).reshape(n, m)
    y[0] = k
    return y


def matrix(rows: int, columns: int) -> Any:
    return np.arange(rows * columns, dtype=np.float64).reshape(rows, columns) - 5


CASES: list[tuple[Callable[..., Any], list[tuple[Any, Any]]]] = [
    (into_patches, [(matrix(8, 6), 2.0), (matrix(4, 2), -1.0), (matrix(4, 6), 1.0), (matrix(0, 6), 1.0), (matrix(8, 5), 1.0)]),
    (out_of_patches, [(matrix(4, 12), 1.0), (matrix(1, 6), 1.0), (matrix(3, 0), 1.0), (matrix(3, 7), 1.0)]),
    (pixel_shuffle, [(matrix(2, 96).reshape(2, 8, 3, 4), 1.0), (matrix(1, 4).reshape(1, 4, 1, 1), 1.0)]),
    (heads, [(matrix(5, 12), 3), (matrix(5, 12), 1), (matrix(1, 12), 12), (matrix(4, 6), 2), (matrix(4, 6), 4)]),
    (turned, [(matrix(5, 7), 2.0), (matrix(1, 7), 2.0), (matrix(5, 1), 2.0), (matrix(0, 3), 2.0), (matrix(6, 8)[::2, ::-1], 3.0)]),
    (windows, [(matrix(5, 7), 2.0), (matrix(2, 3), 2.0), (matrix(1, 3), 2.0)]),
    (convolution, [(matrix(2, 40).reshape(2, 2, 4, 5), matrix(3, 8).reshape(3, 2, 2, 2))]),
    (repeated, [(matrix(3, 4), 1.0), (matrix(1, 1), 1.0), (matrix(0, 2), 1.0)]),
    (counted_in_two_shapes, [(matrix(3, 4), 2.0), (matrix(1, 1), 2.0), (matrix(5, 5), 1.0)]),
    (counted, [(matrix(3, 4), 2.0), (matrix(4, 3), 2.0), (matrix(1, 1), 2.0), (matrix(0, 3), 2.0)]),
    (shifted, [(matrix(3, 4), 2.0), (matrix(4, 3), 2.0), (matrix(1, 3), 2.0)]),
    (flat_number, [(matrix(3, 4), 2.0), (matrix(4, 1), 2.0), (matrix(1, 4), 2.0)]),
]  # fmt: skip


@pytest.mark.parametrize(("function", "inputs"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_as_numpy(function: Callable[..., Any], inputs: list[tuple[Any, Any]]) -> None:
    for x, k in inputs:
        alike(function, x, k)


@pytest.mark.parametrize("target", ["cuda", "pallas"])
@pytest.mark.parametrize(("function", "inputs"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_on_devices(
    function: Callable[..., Any], inputs: list[tuple[Any, Any]], target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    alike(function, *inputs[0], target=on_target(target, monkeypatch))


@pytest.mark.parametrize("function", [into_patches, pixel_shuffle, turned, windows, convolution, counted])
def test_nothing_is_divided_for_an_element(function: Callable[..., Any]) -> None:
    (x, k), *_ = dict(CASES)[function]
    compiled = transkern.compile(function)
    compiled(x, k)
    stores = [line for line in compiled.emit().splitlines() if "] = " in line]
    assert stores
    assert not [line for line in stores if "floordiv_index(" in line or "floormod_index(" in line]
