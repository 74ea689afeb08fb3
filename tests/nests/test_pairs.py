"""Short reductions of pairs in order (`fuse/schedule/pairs.py`): NumPy's results at every length, and lanes over the
pairs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import require
from transkern import pipeline
from transkern.fuse import passes as pass_lists
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import walk

require("cc")


def distances(x, y):
    return ((x[:, None, :] - y[None, :, :]) ** 2).sum(axis=-1)


def named(x, y):
    d = x[:, np.newaxis] - y
    return np.sqrt(np.sum(d * d, axis=2))


def a_row_at_a_time(x, y):
    out = np.zeros((len(x), len(y)), x.dtype)
    for i in range(len(x)):
        out[i] = np.abs(y - x[i]).sum(axis=1)
    return out


def by_einsum(x, y):
    return np.einsum("ik,jk->ij", x, y)


def chebyshev(x, y):
    return np.abs(x[:, None] - y[None]).max(axis=2), np.minimum(x[:, None], y).min(axis=2)


def equal(x, y):
    return (x[:, None] == y).all(axis=2), (x[:, None] > y).any(axis=2), (x[:, None] < y[None]).sum(axis=2)


def where_most(x, y):
    d = x[:, None] * y[None]
    return d.argmax(axis=2), d.argmin(axis=2), np.prod(d, axis=2)


def of_three(x, y):
    return ((x[:, None, None] - y[None, :, None]) * (y + 1)[None, None]).sum(axis=3)


SIZES = ((37, 23, 3), (40, 1, 16), (1, 40, 17), (9, 70, 1), (20, 20, 40), (0, 5, 2), (5, 0, 2), (300, 20, 6))
"""Rows, columns and terms."""
FUNCTIONS = (distances, named, a_row_at_a_time, by_einsum, chebyshev, equal, where_most, of_three)


@pytest.mark.parametrize(
    ("function", "dtype"),
    [*((f, "float64") for f in FUNCTIONS), *((f, d) for f in FUNCTIONS[::3] for d in ("float32", "int32", "int8"))],
    ids=lambda x: getattr(x, "__name__", x),
)
def test_results(function: Callable[..., Any], dtype: str) -> None:
    rng = np.random.default_rng(1)
    compiled = transkern.compile(function, target="cpu")
    exact = {"rtol": 1e-13, "atol": 1e-12} if dtype == "float64" else {"rtol": 2e-5, "atol": 1e-3}
    for rows, columns, terms in SIZES:
        x, y = (rng.standard_normal((k, terms)) * 9 for k in (rows, columns))
        if dtype == "float64" and rows > 5:
            x[3, 0], x[4, -1], x[5, 0] = np.nan, np.inf, -0.0
        x, y = x.astype(dtype), y.astype(dtype)
        with np.errstate(all="ignore"):
            wanted, found = function(x, y), compiled(x, y)
        for f, w in zip(*((v if isinstance(v, tuple) else (v,)) for v in (found, wanted)), strict=True):
            assert (f.dtype, f.shape) == (w.dtype, w.shape)
            if w.dtype.kind == "f":
                np.testing.assert_allclose(f, w, **exact)
            else:
                np.testing.assert_array_equal(f, w)


def test_nothing_to_reduce() -> None:
    x, y = np.ones((30, 0)), np.ones((20, 0))
    assert np.array_equal(transkern.compile(distances, target="cpu")(x, y), np.zeros((30, 20)))
    with pytest.raises(ValueError, match="zero-size array"):
        transkern.compile(chebyshev, target="cpu")(x, y)


def frames(x, win, hop):
    n = 1 + (len(x) - win) // hop
    out = np.empty((2, n), np.float32)
    for i in range(n):
        frame = x[i * hop : i * hop + win]
        out[0, i] = np.mean(np.abs(np.diff(np.sign(frame))))
        out[1, i] = np.mean(frame**2)
    return out


def test_rows_whose_length_each_iteration_tells() -> None:
    """Whether they are short is not known before the loop: it was asked there by the name that the loop gives it."""
    x = np.sin(np.arange(400, dtype=np.float32))
    compiled = transkern.compile(frames, target="cpu")
    for win, hop in ((20, 5), (50, 8), (1, 9)):
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            np.testing.assert_allclose(compiled(x, win, hop), frames(x, win, hop), rtol=1e-5)


SOURCE = """import numpy as np
def f(x, y):
    return ((x[:, None] - y) ** 2).sum(axis=-1)
def rows(x):
    return (x * x).sum(axis=1)
def products(x, y):
    return (x * y).sum(axis=1)
"""


def test_short_ones_are_in_order_and_long_ones_are_not() -> None:
    (kernel,) = (s for s in walk(_program("f", "f(float64[n,p], float64[m,p])").body) if isinstance(s, n.If))
    assert _kinds(kernel.then)[-1] == "sequential" and _kinds(kernel.orelse)[-1] == "parallel"
    assert "sequential" not in _kinds(_program("f", "f(float64[n,40], float64[m,40])").body)
    assert _kinds(_program("f", "f(float64[n,3], float64[m,3])").body) == ["parallel", "parallel"]  # an expression


@pytest.mark.parametrize("types", ["rows(float64[n,3])", "products(float64[n,3], float64[n,3])"])
def test_rows_that_are_read_once_are_not_pairs(types: str) -> None:
    assert "sequential" not in _kinds(_program(types.partition("(")[0], types).body)


def _program(name: str, types: str) -> n.Program:
    passes = PASSES[: PASSES.index(pass_lists.order_pairs) + 1]
    return pipeline.program_of(SOURCE, name, types, passes)


def _kinds(body: tuple[n.Stmt, ...]) -> list[str]:
    return [s.kind for s in walk(body) if isinstance(s, n.Loop)]
