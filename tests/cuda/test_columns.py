"""Tables whose rows and columns bring values of their own: a thread goes down several rows of a column."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.cuda.support import program_from
from tests.regressions.support import alike
from tests.tools import on_target
from transkern.targets.cuda import load as loading
from transkern.targets.cuda.emit import emit


def boxes(a: Any, c: Any) -> Any:
    low = np.maximum(a[:, None, :2], c[None, :, :2])
    high = np.minimum(a[:, None, 2:], c[None, :, 2:])
    sides = np.clip(high - low, 0, None)
    return sides[..., 0] * sides[..., 1]


def batches(a: Any, c: Any) -> Any:
    """The rows of several tables."""
    k = np.arange(a.shape[2])
    return a[:, :, k // 2] - c[k] * a[:, :, ::-1]


def inside(a: Any, c: Any) -> Any:
    """Rows and columns that do not begin with the first."""
    out = a.copy()
    out[1:-2, 1:-1] = a[:-3, 1:-1] + a[2:-1, 1:-1] * c[1:-1] - a[1:-2, 2:]
    return out


def chosen(a: Any, c: Any) -> Any:
    """With a branch and a short loop in each point."""
    out = np.zeros((len(a), len(c)))
    for i in range(len(a)):
        for j in range(len(c)):
            if c[j] < a[i, 0]:
                continue
            for k in range(3):
                out[i, j] += a[i, k] * c[j]
    return out


def _of(*shapes: tuple[int, ...]) -> tuple[Any, ...]:
    random = np.random.default_rng(1)
    return tuple(random.standard_normal(shape) for shape in shapes)


CASES: list[tuple[Callable[..., Any], str, list[tuple[Any, ...]]]] = [
    (boxes, "float64[n,4], float64[m,4]", [_of((31, 4), (300, 4)), _of((20, 4), (40, 4)), _of((0, 4), (200, 4))]),
    (batches, "float64[b,n,m], float64[m]", [_of((3, 11, 150), (150,)), _of((3, 1, 7), (7,))]),
    (inside, "float64[n,m], float64[m]", [_of((20, 203), (203,)), _of((3, 300), (300,)), _of((9, 2), (2,))]),
    (chosen, "float64[n,3], float64[m]", [_of((20, 3), (150,)), _of((2, 3), (3,))]),
]


@pytest.mark.parametrize("function, types, calls", CASES, ids=lambda x: getattr(x, "__name__", ""))
def test_like_numpy(function: Any, types: str, calls: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a device so small that few rows are many for it."""
    on_target("cuda", monkeypatch)
    code, text = emit(program_from(function, f"{function.__name__}({types})"))
    large = "(1024 * _multiprocessors())"
    assert "long long down" in code and large in text
    compiled = loading.function(function.__name__, code, text.replace(large, "1500"), simulate=True)
    for arguments in calls:
        alike(function, *arguments, compiled=compiled)
