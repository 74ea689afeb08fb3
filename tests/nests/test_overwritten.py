"""Elements stored behind the loop that makes their array, chosen in there on devices (`fuse/loops/overwritten.py`)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.fuzz.oracle import call, difference
from tests.tools import on_target
from transkern.ir import nodes as n
from transkern.ir.traverse import result_buffers
from transkern.pipeline import program_of


def diag_min(x: Any) -> Any:
    d = ((x[:, None, :] - x[None, :, :]) ** 2).sum(-1)
    np.fill_diagonal(d, np.inf)
    return d.min(axis=1), d.argmin(axis=1)


def diag2(x: Any) -> Any:
    d = np.abs(x[:, None] - x[None, :]).sum(axis=2)
    i = np.arange(len(x))
    d[i, i] = 1e9
    return d.min(1)


def diag3(x: Any) -> Any:
    n = len(x)
    d = np.abs(x[:, None] - x[None, :]).sum(axis=2)
    for i in range(n):
        d[i, i] = 0.5
    return d.sum(1)


def off(x: Any) -> Any:
    n = len(x)
    d = x[:, None, 0] * x[None, :, 1]
    for i in range(n - 1):
        d[i, i + 1] = 0
        d[i + 1, i] = 7
    return d.max(1)


def first0(x: Any) -> Any:
    w = 1 / (1 + x[:, 0] ** 2)
    w[0] = 0
    w[-1] = 0.5
    return (w * x[:, 1]).sum()


def near(x: Any) -> Any:
    out = np.zeros(len(x), np.int64)
    for i in range(len(x)):
        d = ((x - x[i]) ** 2).sum(1)
        d[i] = np.inf
        out[i] = d.argmin()
    return out


def twice(x: Any) -> Any:
    w = x[:, 0] * 2
    w[0] = 1
    w[0] = 2
    w[1:3] = 5
    return w + 1


def read_between(x: Any) -> Any:
    w = x[:, 0] * 2
    s = w[0]
    w[0] = 1
    return w + s


def own_value(x: Any) -> Any:
    w = x[:, 0] * 2
    w[0] = w[1]
    w[2] = x[3, 0]
    return w * 2


def partly(x: Any) -> Any:
    w = np.zeros(len(x))
    w[2:] = x[2:, 0]
    w[1] = 4
    w[2] = 3
    return w * 2


def ints(x: Any) -> Any:
    w = (x[:, 0] * 10).astype(np.int32)
    w[0] = 2 ** 31 - 1
    w[1] = 3.9
    return w * 2


def f32(x: Any) -> Any:
    w = x[:, 0].astype(np.float32)
    w[3] = 16777217
    w[2] = 0.1
    return w * np.float32(3)


def masks(x: Any, k: Any) -> Any:
    keep = x[:, 0] > 0
    keep[k] = False
    y = x[:, 1][keep]
    return y


def dep(x: Any, k: Any) -> Any:
    w = x[:, 0] + 1
    k = int(w[0] > 0)
    w[k] = -1
    return w * w


def looped(x: Any) -> Any:
    s = 0.0
    for t in range(4):
        w = x[:, 0] * t
        w[t] = 100.0
        w[-t - 1] = -50
        s = s + (w * x[:, 1]).max()
    return s


def rows(x: Any) -> Any:
    d = x * 2
    d[0] = 1
    d[:, 1] = 3
    return d + x


ONE = (diag_min, diag2, diag3, off, first0, near, twice, read_between, own_value, partly, ints, f32, looped, rows)
WITH_A_PLACE = (masks, dep)


def _check(function: Callable[..., Any], compiled: Callable[..., Any], *args: Any) -> None:
    given = ([a.copy() if isinstance(a, np.ndarray) else a for a in args] for _ in range(2))
    wanted, found = (call(f, one) for f, one in zip((function, compiled), given, strict=True))
    assert not difference(found, wanted), (function.__name__, args, wanted, found)


@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
@pytest.mark.parametrize("function", ONE + WITH_A_PLACE, ids=lambda f: f.__name__)
def test_results(function: Callable[..., Any], target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = transkern.compile(function, target=on_target(target, monkeypatch))
    rng = np.random.default_rng(3)
    for size in (0, 1, 2, 4, 9) if target != "pallas" else (0, 1, 5):
        x = rng.integers(-4, 5, (size, 3)).astype(float)  # sums are exact in any order
        places = (0, -1, size - 1, -size, size) if function in WITH_A_PLACE else (None,)
        for k in places if target == "cpu" else places[:2]:
            _check(function, compiled, *(x,) if k is None else (x, k))
        if size > 3 and function not in (ints,):
            x[2, 1] = np.nan
            _check(function, compiled, *(x,) if function in ONE else (x, 2))


@pytest.mark.parametrize("function", [diag2, diag3, first0, masks, twice], ids=lambda f: f.__name__)
def test_the_array_goes(function: Callable[..., Any]) -> None:
    """Nothing is left of the array that was made, stored into and read: what is, are results and sums."""
    source = inspect.getsource(function).replace(": Any", "").replace(" -> Any", "")
    types = "float64[n,3]" + (",int" if function in WITH_A_PLACE else "")
    program = program_of(f"import numpy as np\n{source}", function.__name__, f"{function.__name__}({types})")
    results = {x for s in program.body if isinstance(s, n.Return) for x in result_buffers(s.result)}
    left = [x for x in program.buffers.values() if x.role == "temporary" and x.dims and x.name not in results]
    assert not left


@pytest.mark.parametrize("function", [read_between, own_value, partly], ids=lambda f: f.__name__)
def test_it_stays_where_something_would_see_it(function: Callable[..., Any]) -> None:
    source = inspect.getsource(function).replace(": Any", "").replace(" -> Any", "")
    program = program_of(f"import numpy as np\n{source}", function.__name__, f"{function.__name__}(float64[n,3])")
    assert any(x.role == "temporary" and x.dims for x in program.buffers.values())

