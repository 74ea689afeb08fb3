"""Sorts in loops of independent iterations: all rows at once on CUDA, with NumPy's answer."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.tools import require
from transkern.fuse.sorts import batches
from transkern.pipeline import passes_for, program_of
from transkern.targets.cuda.load import load, printed

CASES: list[Callable[..., Any]] = []


def case(f: Callable[..., Any]) -> Callable[..., Any]:
    CASES.append(f)
    return f


@case
def sorted_rows(x, t):
    out = np.zeros_like(x)
    for i in range(len(x)):
        s = np.sort(x[i])
        out[i] = s * t
    return out


@case
def ranks(x, t):
    out = np.zeros(x.shape, np.int64)
    for i in range(x.shape[0]):
        order = np.argsort(x[i], kind="stable")
        out[i, order] = np.arange(x.shape[1])
    return out


@case
def suppressed(x, t):
    b, n = x.shape
    keep = np.zeros((b, n), np.bool_)
    for i in range(b):
        order = np.argsort(-x[i], kind="stable")
        dead = np.zeros(n, np.bool_)
        for j in range(n):
            if dead[j]:
                continue
            keep[i, order[j]] = True
            for k in range(j + 1, n):
                if abs(x[i, order[j]] - x[i, order[k]]) < t:
                    dead[k] = True
    return keep


@case
def middles(x, t):
    out = np.zeros(len(x))
    for i in range(len(x)):
        out[i] = np.median(x[i]) + t
    return out


@case
def twice(x, t):
    out = np.zeros_like(x)
    for i in range(len(x)):
        shift = x[i, 0] * t
        s = np.sort(x[i] + shift)
        d = np.sort(np.abs(s - shift))
        out[i] = d + s + shift
    return out


@case
def in_place(x, t):
    for i in range(len(x)):
        x[i] = np.sort(x[i])[::-1]
    return x


@case
def from_the_second_on(x, t):
    out = np.zeros_like(x)
    for i in range(1, len(x)):
        out[i] = np.sort(x[i] - x[i - 1])
    return out


def _text(f: Callable[..., Any]) -> str:
    return "import numpy as np\n" + textwrap.dedent(inspect.getsource(f).partition("\n")[2])


def _special(x: Any) -> Any:
    if x.size > 9:
        x.reshape(-1)[[1, 3, 5, 6]] = np.inf, -np.inf, -0.0, 0.0
    return x


@pytest.mark.parametrize("together", [batches.ELEMENTS, 100])
@pytest.mark.parametrize("f", CASES)
def test_all_rows_at_once(f: Callable[..., Any], together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    require("c++")
    monkeypatch.setattr(batches, "ELEMENTS", together)
    monkeypatch.setattr(batches, "_LONG", 64 if together == 100 else 8192)
    program = program_of(_text(f), f.__name__, f"{f.__name__}(float64[n,m], float)", passes_for("cuda"))
    made = printed(program)
    assert "for first in range(" in made.text, made.text
    call = load(made, simulate=True)
    random = np.random.default_rng(1)
    for shape in ((7, 20), (40, 9), (3, 50), (1, 1), (2, 1), (0, 4)):
        x = _special(random.standard_normal(shape))
        wanted, found = f(x.copy(), 0.25), call(x.copy(), 0.25)
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)


def carried(x, t):
    s = np.zeros(x.shape[1])
    for i in range(len(x)):
        s = np.sort(s * t + x[i])
    return s


def checked(x, t):
    out = np.zeros(len(x))
    for i in range(len(x)):
        s = np.sort(x[i])
        out[i] = s[int(t)]
    return out


@pytest.mark.parametrize("f", [carried, checked])
def test_what_stays_in_order(f: Callable[..., Any]) -> None:
    require("c++")
    text = "import numpy as np\n" + textwrap.dedent(inspect.getsource(f))
    made = printed(program_of(text, f.__name__, f"{f.__name__}(float64[n,m], float)", passes_for("cuda")))
    call = load(made, simulate=True)
    x = np.random.default_rng(1).standard_normal((6, 8))
    np.testing.assert_array_equal(call(x.copy(), 3.0), f(x, 3.0))
    if f is checked:
        with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 8"):
            call(x, 9.0)
