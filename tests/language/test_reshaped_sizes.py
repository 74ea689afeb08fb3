"""Shapes of which one size is what remains: seen as a size where what is given divides all, also under other names."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target
from transkern.frontend.sources.source import live_function
from transkern.frontend.specialise import specialise
from transkern.frontend.values.types import parse_signature
from transkern.ir.traverse import walk_expr

pytestmark = pytest.mark.slow


def columns(x: Any, k: int, step: int, pad: int) -> Any:
    n, c, h, w = x.shape
    high = (h + 2 * pad - k) // step + 1
    wide = (w + 2 * pad - 2) // step + 1
    img = np.pad(x, [(0, 0), (0, 0), (pad, pad), (pad, pad)], "constant")
    col = np.zeros((n, c, k, 2, high, wide), dtype=x.dtype)
    for i in range(k):
        for j in range(2):
            col[:, :, i, j] = img[:, :, i : i + step * high : step, j : j + step * wide : step]
    return col.transpose(0, 4, 5, 1, 2, 3).reshape(n * high * wide, -1) * 2


def turned(x: Any, k: int, step: int, pad: int) -> Any:
    n, _c, h, w = x.shape
    return x.transpose(0, 2, 3, 1).reshape(n * h * w, -1) + k


def in_a_name(x: Any, k: int, step: int, pad: int) -> Any:
    size = k + pad
    a = np.ones((size, step)) * x[0, 0, 0, 0]
    rows = size * step
    return a.reshape(rows, -1), a.reshape(-1, rows)


def of_a_slice(x: Any, k: int, step: int, pad: int) -> Any:
    y = x[0, 0, 0, 2:]
    n = x.shape[3]
    return np.outer(y, y).reshape((n - 2) * (n - 2), -1)


def on_one_path(x: Any, k: int, step: int, pad: int) -> Any:
    y = x[0, 0, 0, :1]
    if pad > 0:
        y = np.ones((k, step)).sum(axis=1)
    return x.reshape(k * step, -1), y


FUNCTIONS = (columns, turned, in_a_name, of_a_slice, on_one_path)
SHAPES = ((2, 3, 6, 4), (1, 2, 4, 4), (2, 1, 2, 2), (0, 3, 4, 4), (1, 1, 3, 1), (2, 2, 3, 0))
NUMBERS = ((3, 1, 0), (2, 2, 1), (1, 3, 1), (-2, -3, 0), (-2, -3, 1), (0, 2, 0), (2, 0, 1), (-1, 1, 0))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_as_numpy_has_them(function: Callable[..., Any]) -> None:
    for shape in SHAPES:
        for numbers in NUMBERS:
            alike(function, np.arange(float(np.prod(shape))).reshape(shape), *numbers)


@pytest.mark.parametrize("target", ["cuda", "pallas"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_on_other_targets(function: Callable[..., Any], target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    for shape in SHAPES[:2]:
        for numbers in NUMBERS[:2]:
            alike(function, np.arange(float(np.prod(shape))).reshape(shape), *numbers, target=target)


@pytest.mark.parametrize(("function", "numbers"), [(columns, "int,1,int"), (turned, "int,int,int"), (in_a_name, "int,int,int")])
def test_nothing_is_divided(function: Callable[..., Any], numbers: str) -> None:
    """What remains is the product of the other sizes."""
    signature = parse_signature(f"f(float64[n,c,h,w],{numbers})")[1]
    program = specialise(live_function(function), signature, True)
    sizes = [d for x in program.buffers.values() for d in x.dims]
    assert not any(getattr(e, "op", "") == "floor_divide" for d in sizes for e in walk_expr(d))


def halved(state: Any, qubit: int) -> Any:
    n = int(np.log2(len(state)))
    parts = np.moveaxis(state.reshape([2] * n), qubit, 0)
    return parts[0].reshape(-1), np.reshape(state, (2,) * n).sum(axis=0)


def joined(a: Any, sizes: list[int], more: list[int]) -> Any:
    return a.reshape(sizes + more) * 2


def whole(x: Any) -> Any:
    return [x[0]] * round(math.sqrt(9.0)), int(np.floor(np.float32(7.5)))


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_how_many_dimensions_a_list_tells(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    alike(halved, np.arange(8.0), 1, target=target)
    alike(halved, np.arange(4.0), 0, target=target)
    alike(halved, np.arange(6.0), 1, target=target)  # no power of two
    if target != "pallas":  # which takes no lists that are put together while it runs
        alike(joined, np.arange(24.0), [2, 3], [4], target=target)
        alike(joined, np.arange(24.0), [], [24], target=target)
    alike(whole, np.arange(3.0), target=target)


def no_number(x: Any) -> Any:
    return x * int(np.log(-1.0))


def test_what_is_no_integer_raises_as_in_python() -> None:
    alike(no_number, np.arange(2.0))
