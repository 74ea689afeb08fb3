"""The kernel that moves what a filter keeps to the front on a TPU, interpreted; and filters as they are written."""

import numpy as np
import pytest

from transkern.targets.pallas.printing import prelude

from .support import check, compiled, random

jax = pytest.importorskip("jax")
SPACE: dict = {}
exec(prelude.IMPORTS + "\n".join(prelude.HELPERS[h] for h in prelude.needed({"_packed"})), SPACE)


def test_blocks():
    rng, size = np.random.default_rng(0), 4500
    compress = jax.jit(lambda keep, *values: SPACE["_compress"](keep, values, 8))
    values = rng.standard_normal(size).astype(np.float32), rng.integers(-9, 9, size).astype(np.int32)
    values[0][::7] = np.nan
    masks = [rng.random(size) < share for share in (0, 0.01, 0.5, 0.99, 1)]
    masks += [np.arange(size) >= size // 2, np.arange(size) % 1024 == 1023]
    for keep in masks:
        made, count = compress(keep, *values)
        assert int(count) == keep.sum()
        for found, value in zip(made, values, strict=True):
            np.testing.assert_array_equal(found[: int(count)], value[keep])
            assert not np.asarray(found)[int(count) :].any()


def test_what_is_behind_stays():
    source = """
def f(x):
    k = 0
    for i in range(len(x)):
        if x[i] > 0:
            x[k] = x[i]
            k += 1
    return k
"""
    check(source, "f(float32[n])", random(300))


def test_filters():
    source = """
def f(x, rows):
    at = np.flatnonzero(x > 0)
    return x[x > 0], at, rows[x > 0], (x > 1)[x < 0], np.delete(x, at)
"""
    types = "f(float32[n], float32[n,3])"
    assert "_packed(" in compiled(source, types).text
    for size in (0, 1, 130):
        check(source, types, random(size, special=1), random(size, 3))
    check(source, types, np.full(5, np.nan, np.float32), random(5, 3))


def test_of_tables():
    check("def f(m):\n    return np.nonzero(m > 1), m[m > 0]", "f(float32[n,m])", random(20, 30, special=1))
