"""Library steps in loops: arrays that show memory to NumPy are made once where it stays, and anew where it does not."""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.kernels.support import difference, outcome

random = np.random.default_rng(5)
A, X = random.standard_normal((7, 7)), random.standard_normal(7)


def balanced(c: Any) -> Any:
    k = np.exp(-c)
    u = np.ones(len(c)) / len(c)
    v = u.copy()
    for _ in range(9):
        u = 1 / (k @ v)
        v = 1 / (k.T @ u)
    return u, v, k


def leading(a: Any, x: Any) -> Any:
    """Views of other sizes, and temporaries of theirs, in each iteration."""
    out = np.zeros(len(a))
    for k in range(len(a)):
        part = a[:k, :k] * 2
        out[k] = (part @ x[:k]).sum() + (part.T @ x[:k]).max(initial=0)
    return out


def rows_of(a: Any, x: Any) -> Any:
    """Views that move."""
    out = []
    for k in range(len(a) - 2):
        out.append((a[k : k + 3] @ x)[1] + (a[k] @ a)[0])
    return out


def growing(a: Any, x: Any) -> Any:
    """A size that a loop changes, around a loop in which it stays."""
    total, k = x.sum(), 1
    while k < len(x):
        b = np.ones((k, k)) * a[0, 0]
        y = x[:k].copy()
        for _ in range(3):
            y = b @ y
            y = y / np.abs(y).sum()
        total += y[0]
        k = k * 2
    return total


def twice(a: Any, x: Any) -> Any:
    """Memory for one name in two places."""
    y = np.zeros(0)
    for j in range(4):
        y = np.linalg.inv(a + 9 * np.eye(len(a))) @ x if j % 2 else (a * j) @ (x + j)
    return y


def handed_out(a: Any, x: Any) -> Any:
    """Results of iterations that outlive them."""
    kept = []
    y = x
    for _ in range(3):
        y = a @ y
        kept.append(y)
    return kept, y


def failing(a: Any, x: Any) -> Any:
    y = x
    for j in range(5):
        y = np.linalg.solve(a * (3 - j), y)
    return y


def alike(function: Callable[..., Any], *args: Any) -> None:
    assert not difference(outcome(transkern.compile(function, target="cpu"), args), outcome(function, args), 1e-12)


@pytest.mark.parametrize("function", [leading, rows_of, growing, twice, handed_out, failing], ids=lambda f: f.__name__)
@pytest.mark.parametrize("size", [0, 1, 2, 7])
def test_is_numpys(function: Callable[..., Any], size: int) -> None:
    for order in (np.ascontiguousarray, np.asfortranarray, lambda a: np.repeat(a, 2, 1)[::-1, ::2]):
        alike(function, order(A[:size, :size]), X[:size])


@pytest.mark.parametrize("size", [1, 2, 7])
def test_arrays_are_made_once(size: int) -> None:
    alike(balanced, A[:size, :size])
    text = transkern.compile(balanced, target="cpu").emit(types="balanced(float64[n,n])")
    made = re.findall(r"^ *(.*) = as_array\(", text, re.MULTILINE)
    assert len(made) == 3 and all(m.startswith("if (!") for m in made), made


def test_nothing_is_kept_by_calls() -> None:
    compiled = transkern.compile(handed_out, target="cpu")
    compiled(A, X)
    before = sys.getrefcount(X), sys.getrefcount(np.float64)
    for _ in range(50):
        compiled(A, X)
    gc.collect()
    assert sys.getrefcount(X) <= before[0] and sys.getrefcount(np.float64) <= before[1] + 1
