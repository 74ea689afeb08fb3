"""Small arrays that become scalars: elements are the same by one subscript for each axis, and by one for all."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.regressions.support import alike
from tests.tools import on_target


def norms(p: Any, n: int) -> Any:
    out = []
    for k in range(n):
        a = np.outer(p[k], np.ones(3)) + np.eye(3)
        a = a @ a
        out.append(a / np.linalg.norm(a))
    return np.array(out)


def lines(p: Any, n: int) -> Any:
    out = np.zeros((n, 3))
    for k in range(n):
        a = np.outer(p[k], p[k - 1])
        a[1, 2] = 5
        line = a.ravel()
        out[k] = line[5], a.flat[4], a.reshape(-1)[7] + a[2, 1]
    return out


def through_lines(p: Any, n: int) -> Any:
    out = np.zeros((n, 2, 2))
    for k in range(n):
        a = np.zeros((2, 2))
        line = a.reshape(-1)
        line[1] = p[k, 0]
        line[2] = p[k, 1]
        a[1, 1] += a[0, 1] * 2
        out[k] = a
    return out


def complex_ones(p: Any, n: int) -> Any:
    out = np.zeros(n, complex)
    for k in range(n):
        a = np.outer(p[k] + 1j, p[k] - 2j)[:2, :2]
        a = a @ a
        out[k] = a.reshape(-1)[1] * a[1, 0] + np.vdot(a, a)
    return out


@pytest.mark.parametrize("function", [norms, lines, through_lines, complex_ones], ids=lambda f: f.__name__)
@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_by_one_subscript(function: Callable[..., Any], target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`contract_temporaries` took what one subscript for all axes names for other elements, which nothing had set."""
    if target == "pallas" and function is lines:
        return  # a position in memory, which is refused there
    if target != "cpu":
        on_target(target, monkeypatch)
    alike(function, np.random.default_rng(0).integers(1, 9, (6, 3)).astype(float), 6, target=target)
