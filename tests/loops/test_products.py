"""Products of matrices in loops: loops themselves where they are small, a library's where they are not."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import require
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of

require("cc")


def states(a, x, steps):
    for _ in range(steps):
        x = a @ x * 0.5
    return x


def from_the_left(a, x, steps):
    rows = np.zeros((steps, len(x)), x.dtype)
    for t in range(steps):
        x = np.dot(x, a) + 1
        rows[t] = x
    return rows


def stored_into(a, x, steps):
    x = x.copy()
    for _ in range(steps):
        x[:] = a @ x
    return x


def powers(a, x, steps):
    b = a
    for _ in range(steps):
        b = (b @ a) / 2
    return b @ x


def turned(a, x, steps):
    for _ in range(steps):
        x = a.T @ x[::-1] + a[::-1, ::-1] @ x
    return x


def einsum(a, x, steps):
    b = a.copy()
    for _ in range(steps):
        b = np.einsum("ij,kj->ik", a, b) * 0.25
    return np.einsum("ij,j->i", b, x)


def until(a, x, steps):
    t = 0
    while t < steps:
        x = a @ x
        if abs(x[0]) > 3:
            break
        t += 1
    return x, t


def growing(a, x, steps):
    total = x.sum()
    for t in range(min(steps, len(x)) + 1):
        total += (a[:t, :t] @ x[:t]).sum()
    return total


def squares(a, x, steps):
    total = np.zeros_like(a)
    for t in range(steps):
        d = a - x[t % len(x)]
        total += d.T @ d
    return total


def into_out(a, x, steps):
    y = np.zeros_like(x)
    for _ in range(steps):
        np.matmul(a, x, out=y)
        x = x + y
    return x, y


def kept(a, x, steps):
    found = []
    for _ in range(steps):
        x = a @ x
        found.append(x)
    return found


def left_behind(a, x, steps):
    y = x
    for _ in range(steps):
        y = a @ x
        x = y + 1
    return y, x


def nested(a, x, steps):
    total = np.zeros_like(x)
    for s in range(3):
        b = a * s
        for _ in range(steps):
            total += b @ x + (b @ a) @ x
    return total


def in_a_branch(a, x, steps):
    for t in range(steps):
        if t % 2:
            x = a @ x
        else:
            x = x @ a
    return x


def in_batches(a, x, steps):
    w = x * 0
    for s in range(0, len(a), max(steps, 1)):
        part, wanted = a[s : s + steps], x[s : s + steps]
        w -= part.T @ (part @ w - wanted) / 16
    return w


FUNCTIONS = [
    states, from_the_left, stored_into, powers, turned, einsum, until, growing, squares, into_out, kept, left_behind,
    nested, in_a_branch, in_batches,
]  # fmt: skip


BOOLS = [stored_into, into_out, kept]
SPECIAL = [states, from_the_left, stored_into, turned, left_behind, in_batches]


def same(found: Any, wanted: Any) -> None:
    if isinstance(wanted, (tuple, list)):
        assert type(found) is type(wanted) and len(found) == len(wanted)
        for one, two in zip(found, wanted, strict=True):
            same(one, two)
        return
    assert type(found) is type(wanted) and np.shape(found) == np.shape(wanted)
    if isinstance(wanted, np.ndarray):
        assert found.dtype == wanted.dtype
    tolerance = 1e-4 if np.asarray(wanted).dtype in (np.float32, np.complex64) else 1e-10
    if np.asarray(wanted).dtype.kind in "iub":
        np.testing.assert_array_equal(found, wanted)
    else:
        np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


def given(dtype: str, size: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(size)
    a, x = rng.random((size, size)), rng.random(size)
    a /= max(size, 1) / 2
    if dtype == "int64":
        return (a * 20).astype(np.int64) % 3, (x * 9).astype(np.int64)
    if dtype.startswith("complex"):
        return (a * (1 + 0.5j)).astype(dtype), (x * (1 - 1j)).astype(dtype)
    if dtype == "bool":
        return a > 1.5 / max(size, 1), x > 0.8
    return a.astype(dtype), x.astype(dtype)


@pytest.mark.parametrize("dtype", ["float64", "float32", "complex128", "int64", "bool"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_products_are_numpys(function: Callable[..., Any], dtype: str) -> None:
    divided = (states, powers, einsum, in_batches)
    if (dtype == "int64" and function in divided) or (dtype == "bool" and function not in BOOLS):
        pytest.skip("what is divided is no integer")
    compiled = transkern.compile(function, target="cpu")
    for size in (1, 2, 3, 5, 8, 17, 64, 65, 0) if function is not squares else (1, 2, 5, 17, 65):
        for steps in (0, 1, 4):
            a, x = given(dtype, size)
            try:
                wanted = function(a.copy(), x.copy(), steps)
            except IndexError as error:
                with pytest.raises(IndexError, match=str(error)):
                    compiled(a, x, steps)
                continue
            same(compiled(a, x, steps), wanted)


@pytest.mark.parametrize("function", SPECIAL, ids=lambda f: f.__name__)
def test_special_values(function: Callable[..., Any]) -> None:
    compiled = transkern.compile(function, target="cpu")
    for special in (np.nan, np.inf, -np.inf, -0.0, 0.0, 5e-324):
        for at in range(5):
            a, x = given("float64", 5)
            a[at, 1], x[(at + 2) % 5] = special, -special
            with np.errstate(all="ignore"):
                wanted = function(a, x, 3)
            same(compiled(a, x, 3), wanted)
    for strided in (lambda a: a[::-1], lambda a: a[:, ::-1], lambda a: a.T, lambda a: np.repeat(a, 2, axis=1)[:, ::2]):
        a, x = given("float64", 6)
        same(compiled(strided(a), x[::-1], 2), function(strided(a), x[::-1], 2))


def test_shapes_that_do_not_fit() -> None:
    compiled = transkern.compile(from_the_left, target="cpu")
    for a, x in ((np.ones((3, 4)), np.ones(4)), (np.ones((2, 2)), np.ones(3))):
        with pytest.raises(ValueError) as wanted:
            from_the_left(a, x, 2)
        with pytest.raises(ValueError) as found:
            compiled(a, x, 2)
        assert str(found.value) == str(wanted.value)


def products(function: Callable[..., Any], types: str) -> tuple[int, int]:
    """How many products of a library are left, and how many branches decide by size."""
    text = f"import numpy as np\n{inspect.getsource(function)}"
    found = list(walk(program_of(text, function.__name__, f"f({types})", PASSES).body))
    steps = [s for s in found if isinstance(s, n.Library) and s.name in ("matmul", "dot")]
    chosen = [s for s in found if isinstance(s, n.If) and any(x in steps for x in walk(s.orelse))
              and not any(isinstance(x, n.Library) for x in walk(s.then))]  # fmt: skip
    return len(steps), len(chosen)


def test_one_question_chooses_between_two_loops() -> None:
    types = "float64[n,n], float64[n], int"
    assert products(states, types) == (1, 1)
    assert products(turned, types) == (2, 1)
    assert products(until, types) == (1, 1)


def test_sizes_of_an_iteration_are_asked_for_in_it() -> None:
    left, chosen = products(in_batches, "float64[n,n], float64[n], int")
    assert left == chosen > 0


def test_products_of_integers_are_loops() -> None:
    assert products(from_the_left, "int64[n,n], int64[n], int") == (0, 0)
    assert products(nested, "int64[n,n], int64[n], int") == (0, 0)


def test_large_products_stay_a_librarys() -> None:
    """Their bits are BLAS's."""
    compiled = transkern.compile(states, target="cpu")
    a, x = given("float64", 120)
    np.testing.assert_array_equal(compiled(a, x, 5), states(a, x, 5))
