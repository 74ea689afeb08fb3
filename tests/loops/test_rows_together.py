"""Short rows, of which there are many, are gone over together: NumPy's results, whatever the sizes."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.fuzz.oracle import call, difference
from tests.tools import between_closed_pages
from transkern import pipeline
from transkern.frontend.sources.source import live_function
from transkern.frontend.specialise import specialise
from transkern.frontend.values.types import parse_signature
from transkern.ir import nodes as n
from transkern.ir.traverse import walk

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def totals(x: Any, m: Any) -> Any:
    return x.sum(axis=1), (x * x[::-1]).sum(axis=1), (x > 0).sum(axis=1), x.prod(axis=1)


def extremes(x: Any, m: Any) -> Any:
    return x.max(axis=1), x.argmin(axis=1), np.ptp(x, axis=1), (x > 1).any(axis=1), (x < 3).all(axis=1)


def forms(x: Any, m: Any) -> Any:
    return np.einsum("pi,ij,pj->p", x, m, x)


def centred(x: Any, m: Any) -> Any:
    c = x - x.max(axis=1, keepdims=True)
    return c / 2, (c * c).sum(axis=1)


def in_place(x: Any, m: Any) -> Any:
    x -= x.sum(axis=1, keepdims=True)
    x *= x.max(axis=1, keepdims=True)
    return x.min(axis=1) + 0  # of zeros either


def of_batches(x: Any, m: Any) -> Any:
    y = x.reshape(1, *x.shape) + np.zeros((2, 1, 1), x.dtype)
    return y - y.max(axis=2, keepdims=True), y.sum(axis=2)


def by_loops(x: Any, m: Any) -> Any:
    out = np.empty(x.shape[0], x.dtype)
    for p in range(x.shape[0]):
        total = x[0, 0] * 0
        for i in range(x.shape[1]):
            row = x[0, 0] * 0
            for j in range(x.shape[1]):
                row += m[i, j] * x[p, j]
            total += row * x[p, i]
        out[p] = total
    return out


def twice(x: Any, m: Any) -> Any:
    """The row of each is stored, under a condition, and read again."""
    for p in range(x.shape[0]):
        most = x[p, 0]
        for i in range(x.shape[1]):
            if x[p, i] > most:
                most = x[p, i]
        for i in range(x.shape[1]):
            if x[p, i] < 0:
                x[p, i] = most - x[p, i]
        for i in range(1, x.shape[1]):
            x[p, i] = x[p, i - 1] + x[p, i]
    return x


def neighbours(x: Any, m: Any) -> Any:
    """What is read is the row of another one."""
    out = np.zeros_like(x)
    for p in range(1, x.shape[0]):
        for i in range(x.shape[1]):
            for j in range(x.shape[1]):
                out[p, i] += x[p - 1, j] * m[i, j] + x[p, i]
    return out


FUNCTIONS = (totals, extremes, forms, centred, in_place, of_batches, by_loops, twice, neighbours)


def alike(function: Callable[..., Any], compiled: Any, *arguments: Any) -> None:
    found, wanted = (call(f, [a.copy() for a in arguments]) for f in (compiled, function))
    assert not difference(found, wanted)


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32", "uint8"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_results_are_numpys(function: Callable[..., Any], dtype: str) -> None:
    """Exact terms: sums in any order have the same bits."""
    compiled = transkern.compile(function, target="cpu")
    random = np.random.default_rng(3)
    for rows, columns in ((0, 5), (1, 5), (31, 5), (32, 1), (33, 2), (64, 16), (70, 17), (65, 32), (130, 33), (129, 7)):
        low = 0 if dtype == "uint8" else -2
        x = random.integers(low, 3, (rows, columns)).astype(dtype)
        m = random.integers(low, 3, (columns, columns)).astype(dtype)
        if function is totals and columns > 20:
            x[:, 9:] = 1  # products that stay exact
        alike(function, compiled, x, m)
    whole = random.integers(0, 3, (140, 14)).astype(dtype)
    parts: tuple[Callable[[Any], Any], ...] = (
        lambda w: w[::-2, ::2], lambda w: w[:, :7], lambda w: np.asfortranarray(w[:, :7]),
        lambda w: w[:70, 3:10][:, ::-1],
    )  # fmt: skip
    for part in parts:  # of an array each: to copy a part would put it in order
        found, wanted = (call(f, [part(whole.copy()), np.eye(7, dtype=dtype)]) for f in (compiled, function))
        assert not difference(found, wanted)


@pytest.mark.parametrize("function", [extremes, centred, in_place, by_loops, twice], ids=lambda f: f.__name__)
def test_what_is_no_number_is_numpys(function: Callable[..., Any]) -> None:
    compiled = transkern.compile(function, target="cpu")
    random = np.random.default_rng(4)
    x = random.integers(-2, 3, (100, 6)).astype(np.float64)
    x[random.random(x.shape) < 0.1] = np.nan
    x[random.random(x.shape) < 0.1] = np.inf
    x[random.random(x.shape) < 0.05] = -np.inf
    x[random.random(x.shape) < 0.05] = -0.0
    alike(function, compiled, x, np.eye(6))


def test_nothing_comes_of_rows_that_are_empty() -> None:
    compiled = transkern.compile(extremes, target="cpu")
    alike(extremes, compiled, np.ones((40, 3)), np.eye(3))
    alike(extremes, compiled, np.ones((40, 0)), np.eye(0))


@pytest.mark.parametrize("function", [f for f in FUNCTIONS if f is not twice], ids=lambda f: f.__name__)
def test_rows_of_neighbours_are_lanes(function: Callable[..., Any]) -> None:
    parsed = parse_signature("f(float64[n,m],float64[m,m])")[1]
    program = pipeline.run(specialise(live_function(function), parsed, True), pipeline.passes_for("cpu"))
    assert any(isinstance(s, n.Loop) and s.axis.startswith("lane") for s in walk(program.body))


@pytest.mark.parametrize("copied", [True, False])
def test_rows_that_are_gone_over_again_are_copied(copied: bool) -> None:
    function = forms if copied else totals
    parsed = parse_signature("f(float64[n,m],float64[m,m])")[1]
    program = pipeline.run(specialise(live_function(function), parsed, True), pipeline.passes_for("cpu"))
    assert any("_row" in name for name in program.buffers) is copied


def by_permutation(x: Any, m: Any) -> Any:
    """The row is known only once something else has been computed."""
    out = np.zeros(x.shape[0])
    for p in range(x.shape[0]):
        q = (p * 7) % x.shape[0]
        k = q % x.shape[1]
        for i in range(x.shape[1]):
            for j in range(k):
                out[p] += m[i, j] * x[q, j] + x[q, i]
    return out


def nobody_asks(x: Any, m: Any, length: int, times: int) -> Any:
    """Rows have fewer elements than the loops over them, which nobody comes to."""
    out = np.zeros(x.shape[0])
    for p in range(x.shape[0]):
        for _ in range(times):
            for j in range(length):
                out[p] += x[p, j] * 2
        for _ in range(times):
            for j in range(length):
                out[p] -= x[p, j]
    return out


def asked_first(x: Any, m: Any, length: int, times: int) -> Any:
    out = np.zeros(x.shape[0])
    for p in range(x.shape[0]):
        for _ in range(times):
            for j in range(length):
                if j < x.shape[1]:
                    out[p] += x[p, j] * 2
        for j in range(length):
            if j < x.shape[1]:
                out[p] -= x[p, j]
    return out


def test_rows_that_are_known_later() -> None:
    x = np.random.default_rng(1).integers(-2, 3, (90, 9)).astype(float)
    alike(by_permutation, transkern.compile(by_permutation, target="cpu"), x, x[:9])


@pytest.mark.parametrize("function", [nobody_asks, asked_first], ids=lambda f: f.__name__)
def test_rows_are_not_read_beyond_their_ends(function: Callable[..., Any]) -> None:
    compiled = transkern.compile(function, target="cpu", threads=1)
    times = (0,) if function is nobody_asks else (0, 2)
    with between_closed_pages(np.random.default_rng(1).integers(-2, 3, (64, 8))) as x:
        for count in times:
            found, wanted = (f(x, x[:8], 60, count) for f in (compiled, function))
            np.testing.assert_array_equal(found, wanted)
        found, wanted = (f(x, x[:8], 8, 3) for f in (compiled, function))
        np.testing.assert_array_equal(found, wanted)
