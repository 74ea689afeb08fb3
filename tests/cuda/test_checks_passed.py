"""What is made for arrays of places goes before the checks of others: a kernel for all that has one size, then the
checks, in their order, then what reads at these places."""

from typing import Any

import numpy as np
import pytest

from tests.cuda.support import compiled_for
from tests.regressions.support import alike
from tests.tools import on_target


def resized(a: Any, h: int, w: int) -> Any:
    y = np.linspace(0, a.shape[0] - 1, h)
    x = np.linspace(0, a.shape[1] - 1, w)
    y0, x0 = y.astype(int), x.astype(int)
    y1, x1 = np.minimum(y0 + 1, a.shape[0] - 1), np.minimum(x0 + 1, a.shape[1] - 1)
    fy, fx = (y - y0)[:, None], (x - x0)[None, :]
    top = a[y0[:, None], x0] * (1 - fx) + a[y0[:, None], x1] * fx
    return top * (1 - fy) + (a[y1[:, None], x0] * (1 - fx) + a[y1[:, None], x1] * fx) * fy


def of_both(a: Any, k: Any, m: Any) -> Any:
    rows = k + 1
    columns = m * 2
    return a[rows, columns] + columns


def stored_between(a: Any, k: Any, m: Any) -> Any:
    a[0] = 7.0
    rows = k + 1
    some = a[rows, 0]
    a[1] = 8.0
    columns = m * 2
    return some + a[0, columns]


def divided_behind(a: Any, k: Any, m: Any) -> Any:
    rows = k // (m[0] + 1)
    some = a[rows]
    if m[1] == 0:
        raise ValueError("zero")
    return some.sum() + (m // m[1]).sum(), k // m[1]


_A = np.arange(20.0).reshape(4, 5)
_GOOD = np.array([0, 1, 2, -3]), np.array([1, 1, 2, 0])


@pytest.mark.parametrize("function", [of_both, stored_between, divided_behind])
def test_errors(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's first one, and what was stored before it."""
    on_target("cuda", monkeypatch)
    compiled, text = compiled_for(function, _A, *_GOOD)
    assert function is not of_both or text.count("__global__") == 2
    k, m = _GOOD
    far = np.array([1, 9, 0, -9])
    for rows, columns in (_GOOD, (far, m), (k, far), (far, far[::-1]), (k[:0], m), (k, m * 0)):
        alike(function, _A, rows, columns, compiled=compiled)


def test_resized(monkeypatch: pytest.MonkeyPatch) -> None:
    on_target("cuda", monkeypatch)
    compiled, text = compiled_for(resized, _A, 7, 3)
    assert text.count("__global__") == 3
    assert text.count("error[0] = ") == 4  # of eight places of rows and columns, each twice
    for h, w in ((7, 3), (1, 9), (0, 2)):
        alike(resized, _A, h, w, compiled=compiled)
    alike(resized, _A[:0], 2, 2, compiled=compiled)
