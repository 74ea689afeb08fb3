"""Loops and arrays of a function's own turned to what they touch (`fuse/schedule/layouts.py`)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.fuzz.oracle import call, difference
from tests.tools import on_target
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.expr import Var
from transkern.ir.traverse import walk
from transkern.pipeline import program_of


def softmax(x: Any) -> Any:
    t = x.T
    e = np.exp(t - t.max(axis=0))
    return (e / e.sum(axis=0)).T.copy()


def centred(x: Any) -> Any:
    d = x.T - x.mean(axis=1)
    e = d * d
    return np.ascontiguousarray(np.transpose(d / np.sqrt(e.sum(axis=0) + 1.0)))


def cubes(x: Any) -> Any:
    c = np.stack((x, x * 2, x + 1)).transpose(2, 0, 1)
    d = np.sqrt(c * c + 1.0)
    return d.transpose(1, 2, 0) * 0.5


def masked(x: Any) -> Any:
    t = x.T * 2.0
    t[t > 1.0] = 1.0
    t[0] = -1.0
    return t.T + x


def in_a_loop(x: Any) -> Any:
    out = np.zeros_like(x)
    for k in range(3):
        t = x.T + k
        out += np.abs(t).T
    return out


def both_ways(x: Any) -> Any:
    t = np.cos(x)
    return t + t.T[: x.shape[0], : x.shape[1]].sum(), t.T * 2.0


def by_columns(x: Any) -> Any:
    d = np.exp(x)
    m = d.mean(axis=0)
    return ((d - m) ** 2).mean(axis=0)


def rows_in_order(x: Any) -> Any:
    t = (x * 2.0).T
    out = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[1]):
            s = s * 0.5 + t[j, i]
        out[i] = s
    return out


def as_a_line(x: Any) -> Any:
    t = x.T * 2.0
    s = 0.0
    for v in t.flat:
        s = s * 0.5 + v
    return s * np.ones(1), t.ravel()[1:3] + 1, t.T + x


ALL = (as_a_line, softmax, centred, cubes, masked, in_a_loop, both_ways, by_columns, rows_in_order)


def _same(function: Callable[..., Any], target: str) -> None:
    compiled = transkern.compile(function, target=target)
    rng = np.random.default_rng(5)
    for shape in ((7, 5), (1, 4), (6, 1), (33, 70)):
        x = rng.standard_normal(shape)
        x[0, 0] = -0.0
        for special in (None, np.nan, np.inf):
            given = x.copy()
            if special is not None:
                given[shape[0] // 2, shape[1] // 2] = special
            with np.errstate(all="ignore"):
                wanted, found = function(given.copy()), compiled(given.copy())
            for a, b in zip(
                wanted if isinstance(wanted, tuple) else (wanted,), found if isinstance(found, tuple) else (found,),
                strict=True,
            ):  # fmt: skip
                np.testing.assert_allclose(np.asarray(b), a, rtol=1e-13, atol=1e-13)
                assert b.shape == a.shape and b.dtype == a.dtype


@pytest.mark.parametrize("function", ALL, ids=lambda f: f.__name__)
def test_results(function: Callable[..., Any]) -> None:
    _same(function, "cpu")


@pytest.mark.parametrize("target", ["cuda", "pallas"])
@pytest.mark.parametrize("function", [softmax, cubes, masked, in_a_loop], ids=lambda f: f.__name__)
def test_devices(function: Callable[..., Any], target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _same(function, on_target(target, monkeypatch))


def test_turned_arrays_are_computed_where_they_are_read() -> None:
    source = inspect.getsource(softmax).replace(": Any", "").replace(" -> Any", "")
    program = program_of(f"import numpy as np\n{source}", "softmax", "softmax(float64[n,40])", PASSES)
    assert sum(isinstance(s, n.Kernel) for s in program.body) == 1
    assert not [b for b in program.buffers.values() if b.role == "temporary"]


def looked_up(a: Any, d: Any, steps: Any) -> Any:
    back = np.zeros((steps, len(d)), np.int64)
    for t in range(steps):
        s = a.T + d
        k = np.argmax(s, axis=1)
        back[t] = k
        d = np.take_along_axis(s, k[:, None], axis=1)[:, 0] * 0.5
    return back, d


def test_what_is_looked_up_in_rows_lies_as_it_is_made() -> None:
    compiled = transkern.compile(looked_up, target="cpu")
    for size in (1, 2, 5, 32, 40):
        for steps in (0, 1, 6):
            a, d = np.random.default_rng(size).standard_normal((size, size)), np.arange(size) * 0.1
            a[size // 2, size // 3], d[size // 2] = np.nan, np.inf
            for one, two in zip(compiled(a, d, steps), looked_up(a, d, steps), strict=True):
                np.testing.assert_array_equal(one, two, strict=True)
    text = "import numpy as np\n" + inspect.getsource(looked_up).replace(": Any", "").replace(" -> Any", "")
    program = program_of(text, "looked_up", "f(float64[n,n],float64[n],int)", PASSES)
    stores = [x for s in walk(program.body) if isinstance(s, n.Loop) for x in s.body
              if isinstance(x, n.Store) and x.buffer == "s" and x.index[-1] == Var(s.axis, "index")]  # fmt: skip
    assert stores


def rows_of_positions(edges: Any, c: Any, s: Any) -> Any:
    ys, xs = np.nonzero(edges)
    return np.round(xs[:, None] * np.cos(c) + ys[:, None] * s).astype(np.int64), (xs * 2 - ys)[:, None] // (s + 3.0)


def test_rows_that_a_mask_keeps() -> None:
    """Divisions that say where a row's element stood are made once a row, and values of columns once for all rows."""
    rng = np.random.default_rng(2)
    compiled = transkern.compile(rows_of_positions, target="cpu")
    for shape in ((9, 7), (1, 5), (5, 1), (0, 3), (3, 0)):
        edges = rng.random(shape) < 0.4
        for columns in (0, 1, 33):
            c, s = rng.standard_normal((2, columns))
            for a, b in zip(rows_of_positions(edges, c, s), compiled(edges, c, s), strict=True):
                np.testing.assert_array_equal(b, a)
                assert a.dtype == b.dtype and a.shape == b.shape


def many_products(x: Any, y: Any) -> Any:
    return x @ y, np.matmul(x[..., ::-1, :], y) * 2


PRODUCTS = [
    ((3, 5, 6), (3, 6, 7)), ((3, 5, 6), (6, 7)), ((5, 6), (4, 6, 7)), ((2, 1, 5, 6), (3, 6, 7)), ((0, 5, 6), (6, 7)),
    ((3, 5, 0), (3, 0, 7)), ((3, 0, 6), (3, 6, 7)), ((3, 5, 6), (1, 6, 7)), ((3, 5, 6), (2, 6, 7)),
    ((3, 5, 6), (3, 5, 7)),
    ((1, 1, 9), (9, 1)), ((4, 2, 5, 6), (3, 6, 1)),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "int64"])
def test_many_products_are_numpys_to_the_bit(dtype: str) -> None:
    rng = np.random.default_rng(3)
    compiled = transkern.compile(many_products, target="cpu")
    for one, two in PRODUCTS:
        x, y = ((8 * rng.standard_normal(s)).astype(dtype) for s in (one, two))
        found, wanted = (call(f, [x, y]) for f in (compiled, many_products))
        assert not difference(found, wanted), (one, two)


def short_sums(x: Any) -> Any:
    return x.sum(axis=1), (x * x).sum(axis=1) + x.mean(axis=1), np.sum(x[:, :2] - 1.0, axis=1)


def test_sums_of_few() -> None:
    compiled = transkern.compile(short_sums, target="cpu")
    for width in (1, 2, 3, 4, 5):
        x = np.random.default_rng(width).standard_normal((9, width))
        x[2], x[3, 0], x[4, -1] = -0.0, np.nan, np.inf
        for dtype in (np.float64, np.float32):
            given = x.astype(dtype)
            for a, b in zip(short_sums(given), compiled(given), strict=True):
                np.testing.assert_allclose(b, a, rtol=1e-5 if dtype is np.float32 else 1e-14)
                np.testing.assert_array_equal(np.signbit(b[2]), np.signbit(a[2]))
