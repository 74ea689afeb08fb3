"""Updates of elements that data choose: in several loops, with checks, in bins of a block, of several elements, again
and again. Against NumPy, bit for bit."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tests.cuda.support import compiled_for, program_from
from tests.regressions.support import alike
from transkern.targets.cuda import load as loading
from transkern.targets.cuda.emit import emit

RNG = np.random.default_rng(11)


pytestmark = pytest.mark.usefixtures("on_simulator")


# ---- updates in several loops ----------------------------------------------------------------------------------------


def counted(image):
    h = np.zeros(256, np.int64)
    for i in range(image.shape[0]):
        for j in range(image.shape[1]):
            h[image[i, j]] += 1
    return h


def counted_in_part(h, image, low):
    for k in range(image.shape[0]):
        for i in range(image.shape[1]):
            for j in range(image.shape[2]):
                if image[k, i, j] > low:
                    h[k, image[k, i, j]] += i
    return h


def test_updates_in_several_loops_are_made_at_once() -> None:
    image = RNG.integers(0, 256, (30, 50), np.uint8)
    for x in (image, image[:0], image[:, ::-3], image[:1, :1]):
        alike(counted, x, target="cuda")
    _, code = compiled_for(counted, image)
    assert "atomicAdd" in code and "sync()" not in code.partition("counted_h")[2]
    images = RNG.integers(0, 64, (3, 20, 20))
    alike(counted_in_part, np.zeros((3, 64), np.int64), images, 9, target="cuda")
    images[1, 2, 3] = 64
    alike(counted_in_part, np.zeros((3, 64), np.int64), images, 9, target="cuda")


# ---- updates of several elements -------------------------------------------------------------------------------------


def voxels(p, size, n):
    sums, count = np.zeros((n, n, 3), np.float32), np.zeros((n, n), np.int32)
    for k in range(len(p)):
        i = min(max(int(p[k, 0] / size), 0), n - 1)
        j = min(max(int(p[k, 1] / size), 0), n - 1)
        count[i, j] += 1
        for c in range(3):
            sums[i, j, c] += p[k, c]
    return sums, count


def one_place_twice(h, x, w):
    for k in range(len(x)):
        h[x[k], 0] += w[k]
        h[x[k], 1] -= w[k] * 2
        h[x[k], 0] *= 1.5
    return h


def test_updates_of_several_elements_are_sorted_once() -> None:
    p = RNG.uniform(0, 8, (6000, 3)).astype(np.float32)
    compiled, code = compiled_for(voxels, p, 0.5, 9)
    assert code.count("argsort(") == 1 and "group.rank() == 0" not in code[: code.index("voxels_terms")]
    for case in (p, p[::-1], p[:5000]):
        alike(voxels, case, 0.5, 9, compiled=compiled)
    p[4321, 1] = np.nan
    alike(voxels, p, 0.5, 9, compiled=compiled)
    alike(voxels, p[:0], 0.5, 9, target="cuda")


def test_updates_of_one_element_stay_in_order() -> None:
    h, x, w = np.zeros((50, 2)), RNG.integers(0, 50, 6000), RNG.standard_normal(6000) * 1e-3
    alike(one_place_twice, h, x, w, target="cuda")


def ranks(src, dst, n, steps):
    r = np.full(n, 1 / n)
    for _ in range(steps):
        new = np.full(n, 0.15 / n)
        for e in range(len(src)):
            new[dst[e]] += 0.85 * r[src[e]]
        r = new
    return r


def moving_places(x, k, steps):
    for _ in range(steps):
        sums = np.zeros(9)
        for i in range(len(x)):
            sums[k[i]] += x[i]
        x = x * 0.5 + sums[0]
        k = (k + 1) % 9
    return x, sums


def from_the_second_on(x, k, steps):
    sums = np.zeros(9)
    for t in range(steps):
        if t == 0:
            continue
        for i in range(len(x)):
            sums[k[i]] += x[i] * t
    return sums


def in_some(x, k, steps):
    sums = np.zeros(9)
    for t in range(steps):
        if t % 3 == 2:
            for i in range(len(x)):
                sums[k[i]] += x[i] * t
        sums *= 0.5
    return sums


def test_places_that_stay_are_sorted_in_the_first_iteration() -> None:
    src, dst = RNG.integers(-300, 300, (2, 5000))
    compiled, code = compiled_for(ranks, src, dst, 300, 4)
    assert re.search(r"if \w*_\w* == 0:\n", code)
    for steps in (0, 1, 4):
        alike(ranks, src, dst, 300, steps, compiled=compiled if steps else None, target="cuda")
    dst[4000] = 300
    alike(ranks, src, dst, 300, 4, compiled=compiled)
    x, k = RNG.standard_normal(5000), RNG.integers(0, 9, 5000)
    for function in (moving_places, from_the_second_on, in_some):
        alike(function, x, k, 5, target="cuda")


# ---- updates with checks, and counts of blocks -----------------------------------------------------------------------


def confusion(true, found, n):
    m = np.zeros((n, n), np.int64)
    for k in range(len(true)):
        m[true[k], found[k]] += 1
    return m


def threes(x, n, dtype):
    h = np.zeros(n, dtype)
    for k in range(len(x)):
        if x[k] > 0:
            h[int(x[k])] += 3
        else:
            h[0] += 3
    return h


def two_tables(x, n):
    low, high = np.zeros(n, np.int32), np.full(n, 2**31 - 3, np.int32)
    for k in range(len(x)):
        low[x[k]] += 1
        high[n - 1 - x[k]] += 1
    return low, high


def masked(x, m, n):
    h = np.zeros(n, np.int32)
    for k in range(len(x)):
        h[x[k]] += 5 if m[k] else 0
    return h


def seen(h, x):
    for k in range(len(x)):
        h[x[k]] += 1
    return h


def test_counts_are_checked_where_they_are_made() -> None:
    true, found = RNG.integers(-10, 10, (2, 6000))
    compiled, code = compiled_for(confusion, true, found, 10)
    assert "put_failure" in code and "failing" not in code
    alike(confusion, true, found, 10, compiled=compiled)
    alike(confusion, true[::-2], found[::-2], 10, target="cuda")
    alike(confusion, true[:0], found[:0], 0, target="cuda")
    for bad, worse in ((10, 0), (0, 10), (-21, 30)):
        true[5000] += 20 + bad
        found[4000] += 20 + worse
        alike(confusion, true, found, 10, compiled=compiled)
    alike(seen, np.zeros(9, np.int64), RNG.integers(0, 10, 500), target="cuda")  # what came before is there


@pytest.mark.parametrize("n", [9, 1024, 1025, 3000])
@pytest.mark.parametrize("dtype", [np.int32, np.uint64])
def test_blocks_count_in_bins_of_their_own_where_places_are_few(n: int, dtype: type) -> None:
    x = RNG.uniform(-1, 9, 20_000)
    x[::7] = RNG.uniform(0, n, len(x[::7]))
    _, code = compiled_for(threes, x, n, dtype)
    assert "h_bins[1024]" in code and " * (" in code
    alike(threes, x, n, dtype, target="cuda")
    alike(threes, x[:100], n, dtype, target="cuda")  # not worth its beginning
    x[17_000], x[16_000] = np.nan, np.inf
    alike(threes, x, n, dtype, target="cuda")


def whole(x, n):
    h = np.zeros(n, np.int64)
    for v in x:
        h[int(v * n)] += 1
    return h


def given(x, h):
    for k in range(len(x)):
        h[x[k]] += 2
    return h


@pytest.mark.parametrize(
    "function, types, x, of",
    [
        (whole, "float64[k], int", RNG.random(30_000), 40),
        (given, "int64[k], int64[n]", RNG.integers(-50, 50, 30_000), 0),
    ],
)
def test_several_are_loaded_before_one_is_counted(function, types, x, of) -> None:
    """On a device so small that a thread has many, also where some may not be counted: the first one is told."""
    code, text = emit(program_from(function, f"{function.__name__}({types})"))
    most = "8 * _multiprocessors()"
    assert "_next[4];" in code and most in text
    compiled = loading.function(function.__name__, code, text.replace(most, "1"), simulate=True)
    bad = x.copy()
    bad[[700, 20_000, 20_001]] = 80, 90, -100
    for values in (x, bad, x[:9], x[:0]):
        alike(function, values, of or np.arange(50), compiled=compiled)


def test_counts_wrap_as_numpy_s() -> None:
    x = RNG.integers(0, 50, 9000)
    _, code = compiled_for(two_tables, x, 50)
    assert "low_bins" in code and "high_bins" in code
    with np.errstate(all="ignore"):
        alike(two_tables, x, 50, target="cuda")
    for m in (x > 20, x < 0):
        alike(masked, x, m, 50, target="cuda")
    alike(lambda x: np.histogram(x, 20, (0, 50))[0], x.astype(float), target="cuda")
