"""Values that some axes of a statement do not change are computed once for each of their elements
(`fuse/scalars/once.py`), and reductions read what is cheap where it is computed (`fuse/states/reading.py`)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import transkern
from tests.tools import require, source_of
from transkern import pipeline
from transkern.fuse import passes as pass_lists
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.expr import Apply
from transkern.ir.traverse import own_exprs, walk, walk_expr

require("cc")


def outer(a, x, y):
    return np.exp(-x)[:, None] * np.cos(y)[None, :]


def stretched(a, x, y):
    return np.exp(-x[:, None]) + a * np.sqrt(np.abs(y)) - y / 3.0


def weighted(a, x, y):
    return (a * np.exp(y)).sum(axis=1), (a * np.exp(x)[:, None]).sum(axis=0), (a / (y * y + 1.0)).max(axis=1)


def scored(a, x, y):
    centred = a - a.mean(axis=0)
    return centred / np.sqrt((centred * centred).sum(axis=0) / len(a))


def scored_by_rows(a, x, y):
    centred = a - a.sum(axis=1)[:, None] / max(a.shape[1], 1)
    spread = np.sqrt((centred**2).sum(axis=1) + 1.0)
    return centred / spread[:, None], spread


def in_a_loop(a, x, y):
    a = a.copy()
    for k in range(3):
        y = y * 0.5 + k
        a += np.exp(-y) * x[:, None]
        a[1:] = a[:-1] / (1.0 + y * y)
        y[k % max(len(y), 1) : 2] += a[:1, k % max(len(y), 1) : 2].sum(axis=0)
    return a, y


def of_integers(a, x, y):
    k = (y * 4).astype(np.int64)
    return k // 3 + np.arange(len(x))[:, None], (a > 0) * (100 // np.where(k == 0, 7, k))


def chosen(a, x, y):
    safe = np.where(y > 0, np.log(np.abs(y) + 1.0), y / 2.0)
    return np.where(a > 0, safe, a), np.where(x[:, None] > 0, np.sqrt(np.abs(y)), a)


def in_three_dimensions(a, x, y):
    t = a[:, None, :] * np.exp(x)[None, :, None]
    return t.sum(axis=1), (t * np.tanh(y)).sum(axis=(0, 2)), t / (1.0 + y * y)


def gathered(a, x, y):
    at = np.arange(len(y))[::-1] // 2
    return a * np.exp(y[at]) if len(y) else a * 2


FUNCTIONS = (
    outer, stretched, weighted, scored, scored_by_rows, in_a_loop, of_integers, chosen, in_three_dimensions, gathered,
)  # fmt: skip
SHAPES = ((1, 1), (4, 7), (7, 4), (30, 40), (3, 0), (1, 9), (9, 1), (0, 4))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_values_are_numpys(function: Callable[..., object]) -> None:
    compiled = transkern.compile(function, target="cpu")
    rng = np.random.default_rng(0)
    for special in (0.5, np.nan, np.inf, -0.0):
        for m, size in SHAPES:
            if special in (np.inf, np.nan) and function is of_integers:
                continue
            a, x, y = rng.standard_normal((m, size)), rng.standard_normal(m), rng.standard_normal(size)
            y[size // 2 : size // 2 + 1], a[m // 2 :, : size // 3] = special, -special
            wanted, found = outcome(function, a, x, y), outcome(compiled, a, x, y)
            assert len(found) == len(wanted)
            for f, w in zip(found, wanted, strict=True):
                if isinstance(w, np.ndarray):
                    assert (f.dtype, f.shape) == (w.dtype, w.shape)
                    np.testing.assert_allclose(f, w, rtol=1e-12, atol=1e-12)
                else:
                    assert f == w


def outcome(function: Callable[..., object], *args: np.ndarray) -> tuple[object, ...]:
    copies = [x.copy() for x in args]
    try:
        with np.errstate(all="ignore"):
            result = function(*copies)
    except ValueError as error:
        return (str(error),)
    return (*(result if isinstance(result, tuple) else (result,)), *copies)


@pytest.mark.parametrize("function", [outer, stretched, weighted], ids=lambda f: f.__name__)
def test_nothing_costly_is_computed_in_each_row(function: Callable[..., object]) -> None:
    """In the loops inside another one stands no value that the inner ones alone change and that costs more than a
    load."""
    source = source_of(function)
    passes = PASSES[: PASSES.index(pass_lists.lower) + 1]
    program = pipeline.program_of(source, function.__name__, "f(float64[m,n], float64[m], float64[n])", passes)
    nests = [s for s in program.body if isinstance(s, n.Loop)]
    deep = [s for nest in nests for inner in nest.body if isinstance(inner, n.Loop) for s in walk((inner,))]
    costly = [
        x for s in deep for own in own_exprs(s) for x in walk_expr(own)
        if isinstance(x, Apply) and x.op in ("cos", "sqrt", "divide", "tanh", "exp") and "a" not in _loaded(x)
        and "x" not in _loaded(x)
    ]  # fmt: skip
    assert deep and not costly


def _loaded(e: Apply) -> set[str]:
    return {x.buffer for x in walk_expr(e) if hasattr(x, "buffer")}
