"""Integers of 8 and 16 bits in kernels over blocks: 32 bits between the load and the store, cut off as their type does."""

import numpy as np
import pytest

from tests.pallas.support import check, compiled
from transkern.targets.pallas.module.schedule import check_many

SOURCE = """
def mixed(x, y):
    return x * np.uint8(3) + y, x - y, np.maximum(x, y), ~x & y, np.where(x < y, x, y * y)


def signed(x, y):
    return -x, abs(y), x + y, x ^ y, (x * x).astype(np.int8), x > y


def converted(x, f):
    return (f * 300).astype(np.uint8), (x.astype(np.float32) * f).astype(np.int16), x.astype(np.int8), (x > 3) * x


def reduced(x):
    return x.max(), x.min(), x.max(axis=0), x.min(axis=1), x.argmax(axis=1), x.sum(axis=1)


def neighbours(x):
    return x[1:, 1:] - x[:-1, 1:] + np.uint8(2) * x[1:, :-1]


def planes(x):
    return (0.25 * x[..., 0] + 0.5 * x[..., 1] + 0.125 * x[..., 2]).astype(np.uint8)


def masked(x, y):
    x[x > y] = y[x > y] + np.uint8(7)
    return x


def filled(x):
    out = np.zeros(x.shape, np.uint8)
    out[1:-1] = x[2:] ^ x[:-2]
    return out


def divided(x, y):
    return x // y, x % y, x << y, x >> y


def halved(x):
    return np.reciprocal(x)
"""
SIZES = (0, 1, 127, 129, 1300)


def shorts(dtype, *shape):
    found = np.random.default_rng(sum(shape)).integers(-(1 << 15), 1 << 16, shape).astype(dtype)
    found.reshape(-1)[:2] = np.iinfo(dtype).max, np.iinfo(dtype).min
    return found


def made(dtype, *shape):
    return shorts(dtype, *shape) if np.prod(shape) > 1 else np.full(shape, np.iinfo(dtype).min, dtype)


@pytest.mark.parametrize("n", SIZES)
def test_arithmetic_wraps(n):
    x, y = made("uint8", n), made("uint8", n)[::-1].copy()
    check(SOURCE, "mixed(uint8[n],uint8[n])", x, y, text=["_grid(", "& 255"])
    for dtype in ("int8", "int16"):
        x, y = made(dtype, n), made(dtype, n)[::-1].copy()
        check(SOURCE, f"signed({dtype}[n],{dtype}[n])", x, y, text=["_grid("])


@pytest.mark.parametrize("n", SIZES)
def test_conversions(n):
    f = np.resize(np.array([0.0, -0.0, 0.9, -0.5, 3.75, -3.99], np.float32), n)
    check(SOURCE, "converted(uint8[n],float32[n])", made("uint8", n), f, text=["_grid("])


@pytest.mark.parametrize("shape", [(1, 1), (3, 129), (127, 2), (40, 300)])
def test_reductions_and_neighbours(shape):
    for dtype in ("uint8", "int16"):
        check(SOURCE, f"reduced({dtype}[n,m])", made(dtype, *shape), text=["_grid("])
    check(SOURCE, "neighbours(uint8[n,m])", made("uint8", *shape), text=["_grid("])
    check(SOURCE, "planes(uint8[n,m,3])", made("uint8", *shape, 3), text=["_grid("])


@pytest.mark.parametrize("n", SIZES)
def test_masks_and_parts(n):
    x, y = made("uint8", n), made("uint8", n)[::-1].copy()
    check(SOURCE, "masked(uint8[n],uint8[n])", x, y)
    if n > 1:
        check(SOURCE, "filled(uint8[n])", x)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint16", "int16"])
def test_divisions_and_shifts(dtype):
    x, y = made(dtype, 300), np.resize(np.array([0, 1, 3, 7, 8, 15, 16, 31, 33, 127, 255]).astype(dtype), 300)
    check(SOURCE, f"divided({dtype}[n],{dtype}[n])", x, y, text=["_grid("])
    check(SOURCE, f"divided({dtype}[n],{dtype}[n])", y, x)


def test_what_has_no_like_in_more_bits_is_xlas():
    check(SOURCE, "halved(int8[n])", made("int8", 300) | np.int8(1))
    assert "arithmetic of short integers" in compiled(SOURCE, "halved(int8[n])").text


@pytest.mark.parametrize("topology", ["v5e:2x2", "v4:2x2x1"])
def test_a_tpu_takes_them(topology):
    pytest.importorskip("libtpu")
    shapes = {
        "mixed(uint8[n],uint8[n])": [((300,), "uint8")] * 2, "signed(int16[n],int16[n])": [((300,), "int16")] * 2,
        "divided(int8[n],int8[n])": [((300,), "int8")] * 2, "neighbours(uint8[n,m])": [((300, 500), "uint8")],
        "reduced(uint8[n,m])": [((300, 500), "uint8")], "planes(uint8[n,m,3])": [((300, 500, 3), "uint8")],
    }  # fmt: skip
    programs = {}
    for types, of in shapes.items():
        name = types.partition("(")[0]
        programs[name] = compiled(SOURCE, types, narrow=True).text, of, name
    for name, found in check_many(programs, topology).items():
        assert any(k.pallas for k in found), name
