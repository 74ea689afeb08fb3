"""`x.strides`, and `as_strided` over what stands in order in memory; what reaches beyond it is refused at run time."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import transkern
from tests.regressions.support import alike
from tests.tools import on_target


def windows(x: Any, k: int) -> Any:
    w = as_strided(x, shape=(len(x) - k + 1, k), strides=(x.strides[0], x.strides[0]))
    frames = as_strided(x, ((len(x) - k) // 2 + 1, k), (2 * x.itemsize, x.itemsize))
    return w.sum(axis=1), frames * 2, w[::-1, 1:].copy()


def blocks(x: Any, k: int) -> Any:
    m = np.outer(x, x)
    s0, s1 = m.strides
    size = (m.shape[0] // k, m.shape[1] // k, k, k)
    return np.lib.stride_tricks.as_strided(m, size, (s0 * k, s1 * k, s0, s1)).max(axis=(2, 3)), m.strides


def convolved(x: Any, k: int) -> Any:
    xp = np.pad(x.reshape(1, 2, 2, 3), ((0, 0), (0, 0), (1, 1), (1, 1)))
    n, c, h, w = xp.shape
    s0, s1, s2, s3 = xp.strides
    win = as_strided(xp, shape=(n, c, (h - 2) // k + 1, (w - 2) // k + 1, 2, 2), strides=(s0, s1, s2 * k, s3 * k, s2, s3))
    weights = np.arange(16.0).reshape(2, 2, 2, 2)
    return np.einsum("ncijkl,ockl->noij", win, weights), np.tensordot(win, weights, axes=([1, 4, 5], [1, 2, 3]))


def other_orders(x: Any, k: int) -> Any:
    m = x.reshape(3, 4)
    turned, line = as_strided(m, (4, 3), (8, 32)), as_strided(m, (12,), (8,))
    return turned, line[::k], as_strided(m, (3,), (40,)), as_strided(m[1:, 1:], (2, 2), m.strides), m.T.strides


def seen_again(x: Any, k: int) -> Any:
    w = as_strided(x, (3, 4), (16, 8))
    x[3] = 99
    return w + 0, as_strided(x, (k, len(x)), (0, 8)).sum(axis=0), as_strided(x[::-1], (3, 2), (-16, -8)) + 1


def wrong_lengths(x: Any, k: int) -> Any:
    return as_strided(x, (k, 2), (8,))


def of_a_number(x: Any, k: int) -> Any:
    return as_strided(x, k, x.strides) if k % 2 else as_strided(x, (k,), 8)


FUNCTIONS = (windows, blocks, convolved, other_orders, seen_again, wrong_lengths, of_a_number)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_as_numpy_does(function: Callable[..., Any]) -> None:
    for k in (1, 2, 3):
        alike(function, np.arange(12.0), k)


@pytest.mark.parametrize("target", ["cuda", "pallas"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_on_other_targets(function: Callable[..., Any], target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target(target, monkeypatch)
    alike(function, np.arange(12.0), 2, target=target)


def of_rows(x: Any, k: int) -> Any:
    return as_strided(x, (k, x.shape[1]), x.strides)


def between_rows(x: Any, k: int) -> Any:
    return as_strided(x, (5, k), (x.strides[1], x.strides[1]))


def by_halves(x: Any, k: int) -> Any:
    return as_strided(x, (3,), (k,))


def test_outside_is_refused() -> None:
    """NumPy shows memory that is none of the array's."""
    x = np.arange(12.0).reshape(3, 4)
    assert np.array_equal(transkern.compile(of_rows, target="cpu")(x, 3), x)
    for function, k in ((of_rows, 4), (between_rows, 2), (by_halves, 4)):
        with pytest.raises(RuntimeError, match="as_strided"):
            transkern.compile(function, target="cpu")(x, k)


def stored(x: Any) -> Any:
    w = as_strided(x, (4, 2), (8, 8))
    w += 1
    return x


def stored_all_the_same(x: Any) -> Any:
    w = as_strided(x, (4, 2), (8, 8), writeable=False)
    w[0, 0] = 1
    return x


def test_stores() -> None:
    with pytest.raises(transkern.CompileError, match="a store through as_strided"):
        transkern.compile(stored, target="cpu")(np.arange(9.0))
    alike(stored_all_the_same, np.arange(9.0))


def test_other_layouts() -> None:
    """Of an array that does not stand in order, only NumPy knows the strides."""
    x = np.arange(48.0).reshape(6, 8)
    for given in (x[:, ::2], x.T, x[::-1]):
        with pytest.raises(transkern.CompileError, match="strides of an array"):
            transkern.compile(of_rows, target="cpu")(given, 2)
