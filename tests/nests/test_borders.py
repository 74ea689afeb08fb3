"""Loops split at their borders (fuse/loops/borders.py), reductions of a few elements, and sizes that are the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import on_target, require, source_of
from transkern import pipeline
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const
from transkern.ir.traverse import exprs, walk

require("cc")


def second_difference(x):
    return np.roll(x, 1) + np.roll(x, -1) - 2 * x


def padded(x):
    p = np.pad(x, 2)
    return p[4:] - p[:-4] + p[2:-2]


def padded_by_edges(x):
    p = np.pad(x, 3, mode="edge")
    return p[6:] - p[:-6]


def smoothed(x):
    return np.convolve(x, np.array([0.25, 0.5, 0.25, -1.0]), mode="same")


def smoothed_outwards(x):
    return np.convolve(x, np.ones(5) / 5)


def smoothed_inside(x):
    return np.convolve(x, np.ones(3) / 3, mode="valid")


def correlated(x):
    return np.correlate(np.array([1.0, -2.0, 3.0]), x, mode="same")


def with_ends_of_its_own(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        if i == 0:
            out[i] = -x[i]
        elif i == len(x) - 1:
            out[i] = x[i] * 3
        else:
            out[i] = x[i - 1] + x[i + 1]
    return out


def clamped(x):
    out = np.zeros(len(x))
    last = len(x) - 1
    for i in range(len(x)):
        low, high = max(i - 2, 0), min(i + 2, last)
        out[i] = x[high] - x[low] + (1.0 if i > 1 and i <= last - 2 else 0.5)
    return out


def from_behind(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        k = len(x) - 1 - i
        out[i] = x[k] if k < 1 else x[k] + x[k - 1]
    return out


def wrapped(x):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = x[(i - 1) % len(x)] * 2 - x[(i + 3) % len(x)]
    return out


def in_a_grid(x):
    a = np.outer(x, x[::-1]) + x
    p = np.pad(a, 1)
    turned = np.roll(a, 1, axis=0) - np.roll(a, -1, axis=1)
    return p[:-2, 1:-1] + p[2:, 1:-1] - p[1:-1, :-2] * p[1:-1, 2:] + turned


def in_steps(x):
    x = x + 0
    for _ in range(5):
        x = x + 0.25 * (np.roll(x, 1) + np.roll(x, -1) - 2 * x)
    return x


def of_rows_with_ends(x):
    a = np.outer(x, x)
    for i in range(len(x)):
        for j in range(len(x)):
            if i > 0 and j > 0 and i < len(x) - 1:
                a[i, j] = a[i, j] * 2 + x[i - 1] * x[j - 1]
    return a


SPLIT = (
    second_difference, padded, padded_by_edges, smoothed, smoothed_outwards, smoothed_inside, correlated,
    with_ends_of_its_own, clamped, from_behind, wrapped, in_a_grid, in_steps, of_rows_with_ends,
)  # fmt: skip
SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 40, 1500)


@pytest.mark.parametrize("function", SPLIT, ids=lambda f: f.__name__)
def test_borders_are_numpys(function: Callable[..., Any]) -> None:
    compiled = transkern.compile(function, target="cpu")
    rng = np.random.default_rng(0)
    for size in SIZES if function not in (in_a_grid, of_rows_with_ends) else SIZES[:-1]:
        x = rng.standard_normal(size)
        x[size // 2] = rng.choice([np.nan, np.inf, -0.0, 1.0])
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(compiled(x), function(x), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "function", [second_difference, padded, smoothed, with_ends_of_its_own, clamped, wrapped], ids=lambda f: f.__name__
)
def test_nothing_is_asked_in_between(function: Callable[..., Any]) -> None:
    """The loop over most of the elements has no condition in it."""
    program = pipeline.program_of(source_of(function), function.__name__, "f(float64[n])", PASSES)
    asked = [sum(_asks(e) for e in exprs(loop.body)) for loop in walk(program.body) if _is_main(loop)]  # type: ignore[attr-defined]
    assert asked and not any(asked)


def _is_main(s: n.Stmt) -> bool:
    return isinstance(s, n.Loop) and s.kind == "parallel" and not isinstance(s.stop, Const)


def _asks(e: Any) -> bool:
    return isinstance(e, Apply) and e.op in ("where", "remainder", "minimum", "maximum", "less", "greater_equal")


# --- reductions of a few elements


def sums_of_windows(x):
    return np.lib.stride_tricks.sliding_window_view(x, 9).sum(axis=1)


def means_of_windows(x):
    return np.lib.stride_tricks.sliding_window_view(x, 16).mean(axis=1)


def widths_of_windows(x):
    w = np.lib.stride_tricks.sliding_window_view(x, 5)
    return w.max(axis=1) - w.min(axis=-1)


def products_of_windows(x):
    return np.lib.stride_tricks.sliding_window_view(x, 3).prod(axis=1)


FEW = (sums_of_windows, means_of_windows, widths_of_windows, products_of_windows)


@pytest.mark.parametrize("function", FEW, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_few_are_reduced_as_in_numpy(
    function: Callable[..., Any], dtype: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = transkern.compile(function, target=on_target(target, monkeypatch))
    rng = np.random.default_rng(0)
    for special in (1.0, np.nan, np.inf, -0.0):
        x = rng.standard_normal(70).astype(dtype)
        x[5:40:7] = special
        if special == 0:
            x[:] = -0.0
        wanted, found = function(x), compiled(x)
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found, wanted, rtol=1e-5 if dtype == "float32" else 1e-13, atol=1e-6)
        assert (np.signbit(found) == np.signbit(wanted))[~np.isnan(wanted)].all()


# --- one size in several forms


def by_slices(x):
    total = np.zeros(len(x) - 7)
    for k in range(8):
        total += x[k : len(x) - 7 + k]
    return total / 8


def by_parts(x):
    d = np.zeros(len(x) - 1)
    d[:] = x[1:] - x[:-1]
    out = np.zeros(x.shape[0] - 2)
    out[:] = d[1:] * d[:-1]
    return out


@pytest.mark.parametrize("function", [by_slices, by_parts], ids=lambda f: f.__name__)
@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_sizes_that_are_the_same_need_no_memory(function: Callable[..., Any], target: str) -> None:
    program = pipeline.program_of(source_of(function), function.__name__, "f(float64[n])", pipeline.passes_for(target))
    made = {s.buffer for s in walk(program.body) if isinstance(s, n.Alloc)}
    assert len({name.partition("_lanes")[0] for name in made} - {"total_held", "total"}) == 1


@pytest.mark.parametrize("size", [0, 1, 2, 6, 7, 8, 9, 300])
@pytest.mark.parametrize("function", [by_slices, by_parts], ids=lambda f: f.__name__)
def test_sizes_are_numpys(function: Callable[..., Any], size: int) -> None:
    x = np.random.default_rng(0).standard_normal(size)
    compiled = transkern.compile(function, target="cpu")
    try:
        wanted = function(x)
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error)):
            compiled(x)
    else:
        np.testing.assert_array_equal(compiled(x), wanted)


def slopes(u, v):
    down, right = np.gradient(u, 0.5)
    return down - np.gradient(v, axis=1), right


def test_loops_of_known_length_have_borders_too() -> None:
    """`np.gradient` asks for two elements, so that sizes are known: in between, nothing is asked."""
    program = pipeline.program_of(source_of(slopes), "slopes", "f(float64[90,100], float64[90,100])", PASSES)
    loops = [s for s in walk(program.body) if isinstance(s, n.Loop) and s.kind == "parallel"]
    inner = [s for s in loops if not any(isinstance(x, n.Loop) for x in walk(s.body))]
    assert inner and not any(_asks(e) for loop in inner for e in exprs(loop.body))
    u = np.random.default_rng(0).standard_normal((90, 100))
    for one, two in zip(transkern.compile(slopes, target="cpu")(u, u * u), slopes(u, u * u), strict=True):
        np.testing.assert_array_equal(one, two)
