"""Elements at places that data choose: the kernel that looks them up on a TPU, interpreted; and look-ups as written."""

import numpy as np
import pytest

from transkern.targets.pallas.module.schedule import check_many
from transkern.targets.pallas.printing import prelude

from .support import check, compiled, random

jax = pytest.importorskip("jax")
SPACE: dict = {}
exec(prelude.IMPORTS + "\n".join(prelude.HELPERS[h] for h in prelude.needed({"_looked_up"})), SPACE)
SPECIAL = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 5e-324], np.float32)

SOURCE = """
def table(t, k):
    return t[k]


def scaled(t, k, x):
    return x * t[k] + 1


def chosen(m, w):
    k = m.argmin(axis=1)
    return m[np.arange(len(m)), k] + w[k]


def colours(image, rows, columns):
    return image[rows[:, None], columns]


def whole_rows(m, k):
    return m[k]
"""


@pytest.mark.parametrize("size, shape", [(1, (127,)), (127, (1,)), (128, (3, 129)), (129, (2, 3, 130)), (3000, (1500,))])
def test_blocks(size, shape):
    rng = np.random.default_rng(size)
    at = rng.integers(0, size, shape).astype(np.int32)
    at.reshape(-1)[0] = size - 1
    floats = np.resize(SPECIAL, size)
    for words in (floats, rng.integers(-(1 << 31), 1 << 31, size).astype(np.int32)):
        found = np.asarray(jax.jit(SPACE["_from_rows"])(words, at))
        assert found.shape == at.shape and found.dtype == words.dtype
        np.testing.assert_array_equal(found.view(np.int32), words[at].view(np.int32))
    short = words.astype(np.uint8)
    np.testing.assert_array_equal(jax.jit(SPACE["_from_rows"])(short, at), short[at])


@pytest.mark.parametrize("dtype", [np.bool_, np.uint8, np.int16, np.float32])
def test_of_all_words_and_of_several_dimensions(dtype, monkeypatch):
    monkeypatch.setitem(SPACE, "_interpret", lambda: False)
    monkeypatch.setitem(SPACE, "_from_rows", lambda words, at: words.reshape(-1)[at])
    table = np.arange(7 * 5 * 3).astype(dtype).reshape(7, 5, 3)
    rng = np.random.default_rng(0)
    index = rng.integers(0, 7, (40, 1, 1)), rng.integers(0, 5, (1, 30, 1)), np.arange(3).reshape(1, 1, 3)
    found = SPACE["_looked_up"](jax.numpy.asarray(table), *map(jax.numpy.asarray, index))
    assert found.dtype == table.dtype
    np.testing.assert_array_equal(found, table[index])


def test_dimension_by_dimension():
    table, rng = np.arange(7 * 5 * 3).reshape(7, 5, 3), np.random.default_rng(0)
    rows, columns = rng.integers(0, 7, (9, 1, 1)), rng.integers(0, 5, (1, 4, 1))
    for index in ((rows, columns, np.arange(3).reshape(1, 1, 3)), (rows, columns, np.array(2)), (rows, columns, rows % 3),
                  (rows[:1], columns, np.array(0)), (columns, rows % 5, np.array(1))):  # fmt: skip
        given = tuple(map(jax.numpy.asarray, index))
        found = SPACE["_taken"](jax.numpy.asarray(table), given, np.broadcast_shapes(*(i.shape for i in index)))
        np.testing.assert_array_equal(found, table[index])


@pytest.mark.parametrize("size", [0, 1, 127, 129])
def test_as_they_are_written(size):
    t, x = random(130, special=1), random(size, special=1)
    k = np.random.default_rng(1).integers(-130, 130, size)
    check(SOURCE, "table(float32[m],int64[n])", t, k)
    check(SOURCE, "scaled(float32[m],int64[n],float32[n])", t, k, x, text=["_grid(scaled"])
    if size:
        check(SOURCE, "chosen(float32[n,m],float32[m])", random(size, 5, special=1), random(5), text=["_picked("])


def test_places_that_are_not_there():
    check(SOURCE, "table(float32[m],int64[n])", random(3), np.array([0, -3, 3, 1]))
    check(SOURCE, "scaled(float32[m],int64[n],float32[n])", random(0), np.array([0]), random(1))


def test_neighbours_go_with_a_place():
    rng = np.random.default_rng(2)
    image = rng.integers(0, 256, (6, 7, 3)).astype(np.uint8)
    types = "colours(uint8[n,m,3],int64[k],int64[l])"
    check(SOURCE, types, image, rng.integers(0, 6, 5), rng.integers(-7, 7, 4), text=["_looked_up("])
    check(SOURCE, "whole_rows(float32[n,m],int64[k])", random(5, 4), rng.integers(0, 5, 7))
    assert "_looked_up(" not in compiled(SOURCE, "whole_rows(float32[n,m],int64[k])").text


def test_a_tpu_takes_them():
    pytest.importorskip("libtpu")
    f, i = "float32", "int32"
    shapes = {
        "table(float32[m],int64[n])": [((5000,), f), ((3000,), i)],
        "scaled(float32[m],int64[n],float32[n])": [((256,), f), ((4096,), i), ((4096,), f)],
        "table(uint8[m],uint8[n])": [((256,), "uint8"), ((5000,), "uint8")],
        "chosen(float32[n,m],float32[m])": [((500, 300), f), ((300,), f)],
    }
    modules = {f"case{k}": (compiled(SOURCE, t, narrow=True).text, s) for k, (t, s) in enumerate(shapes.items())}
    check_many({key: (*module, list(shapes)[int(key[4:])].partition("(")[0]) for key, module in modules.items()})
