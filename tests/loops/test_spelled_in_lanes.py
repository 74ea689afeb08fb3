"""Loops that went one element at a time for the way they were written are Python's, and have lanes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from transkern import pipeline
from transkern.fuse.passes import PASSES
from transkern.ir import build as b
from transkern.ir import nodes as n
from transkern.ir.expr import Var
from transkern.ir.highest import at_worst


def forces(p: Any) -> Any:
    """What all lanes load under a condition."""
    f = np.zeros((len(p), 3))
    for i in range(len(p)):
        for j in range(len(p)):
            if i != j:
                dx, dy, dz = p[i, 0] - p[j, 0], p[i, 1] - p[j, 1], p[i, 2] - p[j, 2]
                s = 1.0 / (dx * dx + dy * dy + dz * dz)
                f[i, 0] += s * dx
                f[i, 1] += s * dy
                f[i, 2] += s * dz
    return f


def beside(p: Any) -> Any:
    """What is loaded under a condition may not be there."""
    out = np.zeros(len(p))
    for i in range(len(p)):
        for j in range(len(p)):
            if i + j < len(p) - 1:
                out[i] += p[i + j + 1, 0] * p[j, 1]
    return out


def similarity(p: Any) -> Any:
    """Sums over windows, and what is added up of them."""
    x = p[:, :2] @ p[:, :2].T
    h, w = x.shape[0] - 4, x.shape[1] - 4
    s = np.empty((max(h, 0), max(w, 0)))
    for i in range(h):
        for j in range(w):
            v = x[i : i + 5, j : j + 5]
            s[i, j] = (v * v).mean() - v.mean() ** 2
    return s.sum(), s


def escape(p: Any) -> Any:
    """What all lanes of points that leave at different times load."""
    out = np.zeros((len(p), len(p)), np.int64)
    for i in range(len(p)):
        for j in range(len(p)):
            a = c = 0.0
            k = 0
            while k < 30 and a * a + c * c <= 4.0:
                a, c = a * a - c * c + p[j, 0], 2 * a * c + p[i, 1]
                k += 1
            out[i, j] = k
    return out


def bins(p: Any) -> Any:
    """What all lanes load in a turn of a loop that they leave."""
    edges = p[:5, 2].copy()
    edges.sort()
    out = np.zeros(len(p), np.int64)
    for i in range(len(p)):
        k = 0
        while k < len(edges) and p[i, 0] >= edges[k]:
            k += 1
        out[i] = k
    return out


def below(p: Any) -> Any:
    """Few edges that all of many numbers are compared with."""
    x, edges = p.ravel(), p.ravel()[:7]
    return (x[:, None] >= edges).sum(axis=1), (x[:, None] - edges).sum(axis=1)


FUNCTIONS = [forces, beside, similarity, escape, bins, below]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("size", [0, 1, 2, 5, 31, 32, 63, 64, 65, 130])
def test_values(function: Callable[..., Any], size: int) -> None:
    compiled = transkern.compile(function, target="cpu")
    for special in (None, np.nan, np.inf, -0.0):
        p = np.random.default_rng(size).standard_normal((size, 3))
        if special is not None and size:
            p[size // 2, size % 3] = special
        with np.errstate(all="ignore"):
            mine, theirs = compiled(p), function(p)
        for one, two in zip(*((x if isinstance(x, tuple) else (x,)) for x in (mine, theirs)), strict=True):
            np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("function", [forces, similarity, escape, bins, below])
def test_lanes(function: Callable[..., Any]) -> None:
    compiled = transkern.compile(function, target="cpu")
    compiled(np.random.default_rng(0).standard_normal((80, 3)))
    text = compiled.emit(target="cpu")
    assert "for (int64_t lane = 0;" in text and "no-tree-loop-if-convert" not in text


@pytest.mark.parametrize("width", [-40, -3, -1, 0, 1, 2, 7, 30, 31])
def test_slices_that_move_with_the_loop(width: int) -> None:
    def highest(x: Any, w: int) -> Any:
        out = np.empty(len(x) - w + 1)
        for i in range(out.size):
            out[i] = np.max(x[i : i + w])
        return out

    x = np.random.default_rng(1).standard_normal(30)
    compiled = transkern.compile(highest, target="cpu")
    try:
        theirs = highest(x, width)
    except ValueError as error:
        with pytest.raises(ValueError, match=str(error)[:20]):
            compiled(x, width)
    else:
        np.testing.assert_array_equal(compiled(x, width), theirs)


def test_what_moves_along_cancels() -> None:
    """``max(i + w, 0) - i`` is at least `w`, as far as a loop goes."""
    i, w, size = Var("i"), Var("w"), Var("size")
    loop = n.Loop("i", b.ZERO, size, b.ONE, "sequential", ())
    length = b.sub(b.maximum(b.add(i, w), b.ZERO), i)
    found = at_worst(b.compare("greater", length, b.ZERO), (loop,))
    last = b.add(b.sub(b.ONE, size), b.ZERO)
    assert found == b.compare("less", b.minimum(b.mul(b.index(-1), w), b.sub(b.ZERO, last)), b.ZERO)


def test_names_in_a_loop_for_what_is_computed_before_it() -> None:
    text = (
        "import math, numpy as np\ndef f(x, r, t):\n out = np.empty(len(x))\n"
        " for i in range(len(x)):\n  d = -r * t\n  out[i] = x[i] * math.cos(d)\n return out\n"
    )
    program = pipeline.program_of(text, "f", "f(float64[n], float, float)", PASSES)
    kernels = [s for s in program.body if isinstance(s, n.Kernel)]
    assert kernels and "cos" not in repr(kernels)


def best_of_rows(x: Any, c: Any) -> Any:
    best, label = np.full(len(x), np.inf), np.zeros(len(x), np.int64)
    for k in range(len(c)):
        d = np.abs(x - c[k])
        closer = d < best
        best[closer] = d[closer]
        label[closer] = k
    return best, label


def best_of_elements(x: Any, c: Any) -> Any:
    best, label = np.full(len(x), np.inf), np.zeros(len(x), np.int64)
    for i in range(len(x)):
        for k in range(len(c)):
            if abs(x[i] - c[k]) < best[i]:
                best[i] = abs(x[i] - c[k])
                label[i] = k
    return best, label


def best_in_branches(x: Any, c: Any) -> Any:
    best, label = np.zeros(len(x)), np.full(len(x), -1)
    for i in range(len(x)):
        low, high = np.inf, -np.inf
        for k in range(len(c)):
            if c[k] > x[i]:
                if c[k] < low:
                    low = c[k]
                    label[i] = k
            elif c[k] > high:
                high = c[k]
                label[i] = label[i] * 2 - k
        best[i] = high - low
    return best, label


@pytest.mark.parametrize("function", [best_of_rows, best_of_elements, best_in_branches])
def test_elements_that_some_lanes_store_are_chosen(function: Callable[..., Any]) -> None:
    """A vector does not branch on whether one of its lanes stores: that depends on data."""
    made = transkern.compile(function, target="cpu", types="(float64[n], float64[m])")
    text = made.emit()
    lanes = text[text.index("for (int64_t k = 0") :].split("} else")[0]
    assert "label[" in lanes and "if (" not in lanes
    assert "no-thread-jumps" in text
    rng = np.random.default_rng(1)
    x = np.append(rng.integers(-5, 6, 300), [np.nan, np.inf, -np.inf, -0.0])
    c = np.append(rng.integers(-5, 6, 20), [np.nan, -0.0, np.inf])
    with np.errstate(invalid="ignore"):
        for given in ((x, c), (x[:70], c[:2]), (x[:5], c), (x[:0], c), (x, c[:0])):
            for got, want in zip(made(*given), function(*given), strict=True):
                np.testing.assert_array_equal(got, want)
                np.testing.assert_array_equal(np.signbit(got), np.signbit(want))
