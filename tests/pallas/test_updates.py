"""Elements that are changed at places that data choose: the kernels for it on a TPU, interpreted."""

import numpy as np
import pytest

from transkern.targets.pallas.module.schedule import check_many
from transkern.targets.pallas.printing import prelude

from .support import check, compiled, random

jax = pytest.importorskip("jax")
SPACE: dict = {}
exec(prelude.IMPORTS + "\n".join(prelude.HELPERS[h] for h in prelude.needed({"_updated"})), SPACE)
SPACE["_interpret"], SPACE["INTERPRET"] = (lambda: False), True
pallas_call = SPACE["pl"].pallas_call

SOURCE = """
def counted(x):
    return np.bincount(x, minlength=20)


def added(h, k, w):
    np.add.at(h, k, w)
    return h


def highest(h, k, w):
    np.maximum.at(h, k, w)
    return h


def lowest(h, k, w):
    np.minimum.at(h, k, w)
    return h


def pairs(h, i, j):
    for k in range(len(i)):
        h[i[k], j[k]] += 1
    return h
"""


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    made = lambda *args, **how: pallas_call(*args, **{**how, "interpret": True})  # noqa: E731
    monkeypatch.setattr(SPACE["pl"], "pallas_call", made)


def places(size, count):
    found = np.random.default_rng(count).integers(0, size, count).astype(np.int32)
    found[: count // 9] = size  # which is no place
    return found


@pytest.mark.parametrize("size, count", [(1, 1), (5, 127), (129, 129), (300, 3000)])
@pytest.mark.parametrize("op", ["add", "max", "min"])
def test_integers_in_any_order(size, count, op):
    at, new = places(size, count), np.random.default_rng(1).integers(-(1 << 31), 1 << 31, count).astype(np.int32)
    begin = np.random.default_rng(2).integers(-9, 9, size).astype(np.int32)
    wanted = np.append(begin, np.int32(0))
    {"add": np.add, "max": np.maximum, "min": np.minimum}[op].at(wanted, at, new)
    found = SPACE["_updated"](jax.numpy.asarray(begin), (jax.numpy.asarray(at),), new, op)
    np.testing.assert_array_equal(found, wanted[:size])


@pytest.mark.parametrize("size, count", [(1, 1), (5, 127), (700, 9000)])
@pytest.mark.parametrize("op", ["add", "max", "min"])
def test_floats_in_their_order(size, count, op):
    at, new = places(size, count), random(count, special=1)
    begin = random(size)
    wanted = np.append(begin, np.float32(0))
    with np.errstate(all="ignore"):
        {"add": np.add, "max": np.maximum, "min": np.minimum}[op].at(wanted, at, new)
    found = SPACE["_updated"](jax.numpy.asarray(begin), (jax.numpy.asarray(at),), new, op)
    np.testing.assert_array_equal(found, wanted[:size])


def test_of_two_axes_and_more_than_fits():
    i, j = np.arange(40) % 6, np.arange(40) % 5
    for shape in ((6, 5), (300, 300)):
        begin, wanted = np.zeros(shape, np.int32), np.zeros(shape, np.int32)
        np.add.at(wanted, (i, j), 1)
        index = jax.numpy.asarray(i), jax.numpy.asarray(j)
        np.testing.assert_array_equal(SPACE["_updated"](jax.numpy.asarray(begin), index, 1, "add"), wanted)


def test_as_they_are_written():
    rng = np.random.default_rng(3)
    for size in (0, 1, 129):
        check(SOURCE, "counted(int64[n])", rng.integers(0, 30, size))
        check(SOURCE, "added(float32[m],int64[n],float32[n])", random(7), rng.integers(-7, 7, size), random(size, special=1))
    check(SOURCE, "added(float32[m],int64[n],float32[n])", random(7), np.array([1, 7, 2]), random(3))
    for name in ("highest", "lowest"):
        types = f"{name}(float32[m],int64[n],float32[n])"
        for size in (0, 1, 129):
            k, w = rng.integers(-7, 7, size), random(size, special=1)
            check(SOURCE, types, random(7, special=1), k, w, text=["_updated("])
        check(SOURCE, types, random(0), np.zeros(0, int), random(0))
        check(SOURCE, types, random(0), np.array([0]), random(1))
    check(SOURCE, "pairs(int64[n,m],int64[k],int64[k])", np.zeros((3, 4), int), np.array([0, -1, 2]), np.array([3, 3, -4]))


def test_a_tpu_takes_them():
    pytest.importorskip("libtpu")
    f, i = "float32", "int32"
    shapes = {
        "added(float32[m],int64[n],float32[n])": [((5000,), f), ((3000,), i), ((3000,), f)],
        "highest(float32[m],int64[n],float32[n])": [((5000,), f), ((3000,), i), ((3000,), f)],
        "pairs(int64[n,m],int64[k],int64[k])": [((8, 9), i), ((4000,), i), ((4000,), i)],
    }
    modules = {t.partition("(")[0]: (compiled(SOURCE, t, narrow=True).text, s) for t, s in shapes.items()}
    check_many({name: (*module, name) for name, module in modules.items()})
