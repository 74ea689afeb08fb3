"""Rows that threads go through again and again, each its own: from a turned copy, where sizes are worth it."""

from typing import Any

import numpy as np
import pytest

from tests.cuda.support import program_from
from tests.regressions.support import alike
from tests.tools import on_target
from transkern.targets.cuda import load as loading
from transkern.targets.cuda.emit import emit


def farthest(x: Any, y: Any) -> Any:
    return np.abs(x[:, None, :] - y[None, :, :]).max(-1)


def same(x: Any, y: Any) -> Any:
    """How many are equal, in loops, of an array and itself."""
    out = np.zeros((len(x), len(x)), np.int64)
    for i in range(len(x)):
        for j in range(len(x)):
            for k in range(x.shape[1]):
                if x[i, k] == x[j, k]:
                    out[i, j] += 1
    return out


def nearest(x: Any, y: Any) -> Any:
    return np.abs(x[:, None, :] - y[None, :, :]).max(-1).argmin(1)


def weighted(x: Any, y: Any) -> Any:
    """Rows that are read the other way round need no copy; those of a part do."""
    return (np.abs(x[:, None, 1:] - y[None, :, :-1]) > 0.5).sum(-1)


def changed(x: Any, y: Any) -> Any:
    """A copy of what the array is now."""
    y[1:3] = 7.0
    found = np.abs(x[:, None, :] - y[None, :, :]).max(-1)
    y[0] = 9.0
    return found


def _of(n: int, m: int, k: int) -> tuple[Any, Any]:
    random = np.random.default_rng(0)
    return np.round(random.standard_normal((n, k)), 1), np.round(random.standard_normal((m, k)), 1)


@pytest.mark.parametrize("function", [farthest, same, nearest, weighted, changed])
def test_like_numpy(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """With bounds so low that small arrays are large."""
    on_target("cuda", monkeypatch)
    name = function.__name__
    code, text = emit(program_from(function, f"{name}(float64[n,k], float64[m,k])"))
    assert "_turned[" in code.partition("__global__")[2]
    low = text.replace("32768", "640").replace("131072", "5000")
    assert low != text
    compiled = loading.function(name, code, low, simulate=True)
    for sizes in ((160, 160, 7), (40, 33, 7), (20, 150, 5), (40, 70, 4), (0, 9, 7), (3, 0, 6)):
        alike(function, *_of(*sizes), compiled=compiled)
