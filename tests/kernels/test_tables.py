"""What is dear and made of single bytes is looked up where there are many: the same numbers as computed for each."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def brighter(image: Any, by: Any) -> Any:
    return (255 * (image / 255.0) ** by).astype(np.uint8)


def linear(image: Any, by: Any) -> Any:
    x = image / np.float32(255)
    return np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4) * by, x


def logarithms(image: Any, by: Any) -> Any:
    return np.log(image.astype(np.float64)) + by, np.sqrt(image * 1.0) - np.arctan2(image * 1.0, by)


def beside_another(image: Any, by: Any) -> Any:
    n, m = image.shape
    return np.exp(image * -0.01) * np.cos(image[::-1] * by), np.sin(image * 1.0) * np.arange(n * m).reshape(n, m)


def a_pixel_at_a_time(image: Any, by: Any) -> Any:
    out = np.empty(image.shape)
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            v = abs(float(image[i, j])) + 1.0
            if v > 100.0:
                out[i, j] = v**by
            else:
                out[i, j] = np.log1p(v) / (v**by + 1.0)
    return out


def in_place(image: Any, by: Any) -> Any:
    image[:] = (np.sqrt(np.exp(image / 300.0)) * by).astype(image.dtype)
    return np.tanh(image / 100.0)


def set_again(image: Any, by: Any) -> Any:
    levels = image * 1.0
    out = np.zeros(image.shape)
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            for _ in range(3):
                out[i, j] += np.exp(levels[i, j] * -by)
                levels[i, j] = levels[i, j] / 2.0 + image[i, j]
    return out, levels


def of_neighbours(image: Any, by: Any) -> Any:
    cost = image + np.roll(image, 1, axis=0) + np.roll(image, -1, axis=1)  # a byte that wraps, or a truth value
    half = cost.astype(np.int8) if image.dtype != bool else cost
    return np.exp(half * -by / 100), np.where(half > 1, np.sqrt(np.exp(half * 0.01)) * by, half)


def in_order(image: Any, by: Any) -> Any:
    out, total, last = np.zeros(image.shape), 0.0, image.dtype.type(0)
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            last = last ^ image[i, j]  # a byte, and another one in each iteration
            total = total * 0.5 + np.exp(last * -0.01)
            v = (abs(float(image[i, j])) / 255) ** by
            if v > total:
                last = image[i, j]
            out[i, j] = total + v + np.exp(last * -0.02)
    return out, np.array([total])


def until_one_is_found(image: Any, by: Any) -> Any:
    total = 0.0
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            total += np.exp(image[i, j] * -by)
            if total > 40.0:
                break
    return np.array([total])


FUNCTIONS: list[Callable[..., Any]] = [
    brighter, linear, logarithms, beside_another, a_pixel_at_a_time, in_place, set_again, of_neighbours,
    in_order, until_one_is_found,
]  # fmt: skip


def image(rows: int, dtype: type) -> Any:
    rng = np.random.default_rng(rows)
    return (rng.integers(0, 2, (rows, 32)) if dtype is bool else rng.integers(-128, 256, (rows, 32))).astype(dtype)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, bool])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_as_numpy(function: Callable[..., Any], dtype: type) -> None:
    compiled = transkern.compile(function)
    for rows in (0, 1, 127, 128, 200):
        mine, theirs = image(rows, dtype), image(rows, dtype)
        found, wanted = compiled(mine, 1.7), function(theirs, 1.7)
        for one, other in zip(*(x if isinstance(x, tuple) else (x,) for x in (found, wanted)), strict=True):
            assert one.dtype == other.dtype
            if one.dtype.kind in "iub":  # a last bit may decide which number a float becomes
                assert np.abs(one.astype(int) - other.astype(int)).max(initial=0) <= 1
            else:
                np.testing.assert_allclose(one, other, rtol=1e-6)
        assert np.abs(mine.astype(int) - theirs.astype(int)).max(initial=0) <= 1


@pytest.mark.parametrize("function", [brighter, linear, logarithms])
def test_a_table_has_the_same_numbers(function: Callable[..., Any]) -> None:
    compiled = transkern.compile(function)
    pixels = np.arange(256 * 32).astype(np.uint8).reshape(-1, 32)
    whole, parts = compiled(pixels, 0.45), [compiled(part, 0.45) for part in np.split(pixels, 8)]
    assert "table[" in compiled.emit()
    for k, one in enumerate(whole if isinstance(whole, tuple) else (whole,)):
        other = np.concatenate([part[k] if isinstance(part, tuple) else part for part in parts])
        np.testing.assert_allclose(one, other, rtol=2e-7 if one.dtype == np.float32 else 1e-15)


def test_bytes_that_an_iteration_computes_have_a_table() -> None:
    compiled = transkern.compile(of_neighbours)
    compiled(image(200, np.int8), 0.5)
    assert "table[" in compiled.emit()


def test_loops_in_order_have_tables() -> None:
    compiled = transkern.compile(in_order)
    compiled(image(200, np.uint8), 0.5)
    assert "table[" in compiled.emit()
    left = transkern.compile(until_one_is_found)
    left(image(200, np.uint8), 0.5)
    assert "table[" not in left.emit()


def test_what_is_soon_computed_has_no_table() -> None:
    compiled = transkern.compile(lambda image, by: (image / 255.0 - by) * 2)
    compiled(image(8, np.uint8), 0.5)
    assert "table[" not in compiled.emit()
