"""Reductions of columns go through memory row by row; their sums are as exact as other sums."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.regressions.support import alike
from transkern import pipeline
from transkern.frontend.sources.source import live_function
from transkern.frontend.specialise import specialise
from transkern.frontend.values.types import parse_signature
from transkern.fuse.passes import PASSES
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.traverse import walk


def summed(a: Any) -> Any:
    return a.sum(axis=0)


def means(a: Any) -> Any:
    centred = a - a.mean(axis=0)
    return centred.std(axis=0), (centred * centred).sum(axis=0)


def chosen(a: Any) -> Any:
    return a[a[:, 0] > 0].sum(axis=0), np.sum(a, axis=0, where=a > 0)


def of_three_dims(a: Any) -> Any:
    return a.reshape(a.shape[0], -1, 1).sum(axis=0), a[None].sum(axis=1)


def along_rows(a: Any) -> Any:
    return a.sum(axis=1)


def extremes(a: Any) -> Any:
    return a.max(axis=0), np.min(a, axis=0, keepdims=True), a.argmax(axis=0), np.argmin(a, axis=0), np.ptp(a, axis=0)


def truths(a: Any) -> Any:
    return a.any(axis=0), np.all(a > 1, axis=0, keepdims=True), np.count_nonzero(a, axis=0), (a > 2).argmax(axis=0)


def totals(a: Any) -> Any:
    return a.sum(axis=0), a.prod(axis=0), np.max(a, axis=0, initial=1), np.sum(a > 0, axis=0), a.sum(0, where=a > 1)


def in_the_middle(a: Any) -> Any:
    return a[None, :, :].max(axis=1), a.reshape(1, a.shape[0], -1).argmin(axis=1)


def by_loops(a: Any) -> Any:
    top, where = a[0].copy(), np.zeros(a.shape[1], np.int64)
    for j in range(a.shape[1]):
        for i in range(1, a.shape[0]):
            if a[i, j] > top[j]:
                top[j], where[j] = a[i, j], i
    return top, where, np.array([np.any(a[:, j] > 2) for j in range(a.shape[1])])


def along_rows_max(a: Any) -> Any:
    return a.max(axis=1)


REDUCED = (extremes, truths, totals, in_the_middle, by_loops)

FUNCTIONS = {
    extremes: True, truths: True, totals: True, in_the_middle: True, along_rows_max: False, summed: True, means: True,
    chosen: True, along_rows: False,
}  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_which_are_in_order(function: Callable[..., Any]) -> None:
    columns = "m" if FUNCTIONS[function] else "40"  # what is short is in order along rows, too (`order_pairs`)
    parsed = parse_signature(f"f(float64[n,{columns}])")[1]
    program = pipeline.run(specialise(live_function(function), parsed, True), pipeline.passes_for("cpu"))
    lanes = [s for s in walk(program.body) if isinstance(s, n.Loop) and s.axis.startswith("lane")]
    assert bool(lanes) == FUNCTIONS[function]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_they_are_as_numpys(dtype: str) -> None:
    """Exact terms: sums in any order have the same bits."""
    random = np.random.default_rng(5)
    for shape in ((7, 40), (1, 33), (0, 9), (513, 31), (1025, 8), (600, 65), (3, 0), (40, 1)):
        a = random.integers(-8, 9, shape).astype(dtype) / 2
        for given in (a, a[::-1], a[:, ::-1], np.asfortranarray(a), a[::2, ::2]):
            for function in (summed, chosen, of_three_dims):
                if given.shape[1] or function is not chosen:
                    alike(function, given)
    special = random.integers(-8, 9, (600, 40)).astype(dtype)
    special[3, 1], special[500, 1], special[7, 2], special[8, 3] = np.inf, -np.inf, np.nan, np.finfo(dtype).max
    special[9, 3] = special[8, 3]
    alike(summed, special)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "uint64", "float16", "float32", "float64"])
@pytest.mark.parametrize("function", REDUCED, ids=lambda f: f.__name__)
def test_other_reductions_are_as_numpys(function: Callable[..., Any], dtype: str) -> None:
    random = np.random.default_rng(7)
    if (dtype, function) in (("bool", extremes), ("bool", totals), ("float16", totals)):
        return  # NumPy subtracts no bools; products of float16 are not rounded at each step
    for shape in ((7, 40), (1, 33), (300, 9), (130, 513), (40, 1)):
        a = random.integers(0 if dtype[0] in "ub" else -3, 4, shape).astype(dtype)  # equal ones: the first counts
        for given in (a, a[::-1], a[:, ::-1], np.asfortranarray(a), a[::2, ::2]):
            alike(function, given)
    if dtype.startswith(("int", "uint")):
        info = np.iinfo(dtype)
        alike(function, np.full((5, 20), info.min, dtype))
        alike(function, np.full((5, 20), info.max, dtype))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_what_is_no_number_counts_as_in_numpy(dtype: str) -> None:
    random = np.random.default_rng(8)
    a = random.standard_normal((40, 70)).astype(dtype)
    a[random.random(a.shape) < 0.02] = np.nan
    a[random.random(a.shape) < 0.05] = np.inf
    a[random.random(a.shape) < 0.05] = -np.inf
    a[:, 3], a[:, 4], a[:, 5], a[0, 6], a[-1, 7] = -np.inf, np.inf, np.nan, np.nan, np.nan
    with np.errstate(all="ignore"):
        for function in (extremes, truths, in_the_middle, by_loops):
            alike(function, a)


@pytest.mark.parametrize("shape", [(0, 9), (3, 0), (0, 0)])
def test_nothing_to_reduce(shape: tuple[int, int]) -> None:
    for function in (truths, totals) if shape[0] else (along_rows_max, extremes, in_the_middle):
        alike(function, np.zeros(shape))


def test_they_are_exact_to_the_last_digits() -> None:
    random = np.random.default_rng(6)
    a = random.standard_normal((20_000, 12)) * 10.0 ** random.integers(-8, 9, (20_000, 12))
    found = transkern.compile(summed)(a)
    wanted = np.array([math.fsum(a[:, k]) for k in range(12)])
    assert np.all(np.abs(found - wanted) <= 4 * np.spacing(np.abs(a).sum(axis=0)))
    spread = transkern.compile(means)(a)
    for one, other in zip(spread, means(a), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def narrow(a: Any) -> Any:
    return a.sum(axis=0), (a > 1).sum(axis=0), np.where(a > 0, a, 0).sum(axis=0), (a == 1).mean(axis=0)


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint16, np.int32, bool])
def test_sums_of_narrow_integers(kind: Any) -> None:
    """Parts of 512 terms in narrower types hold the least and the most of these."""
    limits = (0, 1) if kind is bool else (np.iinfo(kind).min, np.iinfo(kind).max)
    for rows, columns in ((1, 70), (512, 9), (513, 64), (1300, 130), (0, 20)):
        for fill in limits:
            alike(narrow, np.full((rows, columns), fill, kind))
        alike(narrow, (np.arange(rows * columns).reshape(rows, columns) * 7919 % 256).astype(kind))


def in_a_branch(x: Any, m: Any) -> Any:
    s, q = np.zeros(x.shape[1]), np.zeros(x.shape[1])
    for j in range(x.shape[1]):
        for i in range(x.shape[0]):
            t = x[i, j] * 2
            u = t + 1
            if m[i]:
                s[j] += t * u
                q[j] = max(q[j], u)
            else:
                s[j] -= u
    return s, q


def centred(x: Any, m: Any) -> Any:
    d = x - np.floor(x.mean(axis=0))
    return np.where(m[:, None], d * d, 0).sum(axis=0), x[m].sum(axis=0), x[~m, 1:].max(axis=0, initial=-9)


@pytest.mark.parametrize("function", [in_a_branch, centred], ids=lambda f: f.__name__)
@pytest.mark.parametrize("shape", [(40, 100), (7, 64), (9, 3), (600, 70), (0, 5), (5, 0)])
def test_rows_that_a_mask_leaves_out(function: Callable[..., Any], shape: tuple[int, int]) -> None:
    """What is computed before a branch that all lanes take is read in it."""
    rng = np.random.default_rng(0)
    x = rng.integers(-4, 5, shape).astype(float)
    for m in (rng.random(shape[0]) > 0.5, np.zeros(shape[0], bool), np.ones(shape[0], bool)):
        if function is not centred or len(x):
            alike(function, x, m)
    x[1:2] = np.nan
    if function is not centred or len(x):
        alike(function, x, np.arange(shape[0]) != 1)


def over_short_axes(x: Any, w: Any) -> Any:
    return np.einsum("cijab,ocab->oij", np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(1, 2)), w)


@pytest.mark.parametrize("dtype", ["float64", "float32", "uint8"])
def test_short_axes_are_parts_together(dtype: str) -> None:
    """Exact where terms cancel, with values that are none, and as many terms as several parts have."""
    compiled = transkern.compile(over_short_axes, target="cpu")
    for channels in (1, 2, 56, 57, 130):
        rng = np.random.default_rng(channels)
        x, w = rng.random((channels, 4, 40)) * 9, rng.random((3, channels, 3, 3)) * 9
        if dtype == "float64":
            x *= 10.0 ** rng.integers(-8, 8, x.shape)
            w[:, channels // 2 :] *= -1
        x, w = x.astype(dtype), w.astype(dtype)
        found, windows = compiled(x, w), np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(1, 2))
        if dtype == "float64":
            for o, i, j in ((0, 0, 0), (2, 1, 37), (1, 0, 33)):
                terms = (windows[:, i, j] * w[o]).ravel()
                assert abs(found[o, i, j] - math.fsum(terms)) <= 4e-15 * np.abs(terms).sum()
        else:
            np.testing.assert_allclose(found, over_short_axes(x, w), rtol=1e-4)
        assert found.dtype == dtype
    x, w = np.ones((2, 4, 40)), np.ones((1, 2, 3, 3))
    x[0, 1, 5], x[1, 2, 9], x[1, 0, 20] = np.nan, np.inf, -np.inf
    np.testing.assert_array_equal(compiled(x, w), over_short_axes(x, w))


def test_parts_of_short_axes_have_512_terms() -> None:
    text = f"import numpy as np\n{inspect.getsource(over_short_axes)}".replace(": Any", "").replace(" -> Any", "")
    program = pipeline.program_of(text, "over_short_axes", "f(float64[c,h,w],float64[o,c,3,3])", PASSES)
    loops = [s for s in walk(program.body) if isinstance(s, n.Loop) and s.kind == "sequential"]
    assert {b.constant(s.step) for s in loops if "_few" not in s.axis} == {1, 56}


def filtered(x: Any, w: Any) -> Any:
    return (np.lib.stride_tricks.sliding_window_view(x, w.shape) * w).sum(axis=(2, 3))


def contracted(x: Any, w: Any) -> Any:
    return np.einsum("ij,jk->ik", x, w)


def masked(x: Any, w: Any) -> Any:
    return (np.where(x[:, :1] > 0, x, 0)).sum(axis=0) + w[0, 0] * 0


@pytest.mark.parametrize("function", [filtered, contracted, masked], ids=lambda f: f.__name__)
@pytest.mark.parametrize("terms", [3, 16, 17, 40, 530])
def test_sums_of_float32_lose_no_more_than_16_terms_do(function: Callable[..., Any], terms: int) -> None:
    """Parts of 16 terms in float32, and their total in float64."""
    random = np.random.default_rng(terms)
    side = max(1, round(terms**0.5)) if function is filtered else terms
    x = random.uniform(0.5, 1, (60, 70) if function is filtered else (70, terms)).astype(np.float32)
    if function is masked:
        x = np.ascontiguousarray(x.T) * random.choice([-1, 1], (terms, 1)).astype(np.float32)
    w = random.uniform(0.5, 1, (side, side if function is filtered else 50)).astype(np.float32)
    found = transkern.compile(function, target="cpu")(x, w)
    wanted, most = (function(a.astype(float), b.astype(float)) for a, b in ((x, w), (abs(x), abs(w))))
    assert found.dtype == np.float32
    assert (abs(found - wanted) <= 18 * 2.0**-24 * most).all()


def test_what_overflows_float32_does_so() -> None:
    most = np.finfo(np.float32).max
    a = np.full((40, 30), most, np.float32)
    a[1::2] = -most
    a[:, 4], a[3, 5], a[:, 6] = most, np.inf, 1
    with np.errstate(all="ignore"):
        alike(summed, a)
