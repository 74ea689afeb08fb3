"""Loops and arrays of a function's own turned to what they touch (`fuse/layouts.py`)."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import on_target
from transkern.ir import nodes as n
from transkern.pipeline import PASSES, program_of


def softmax(x: Any) -> Any:
    t = x.T
    e = np.exp(t - t.max(axis=0))
    return (e / e.sum(axis=0)).T.copy()


def centred(x: Any) -> Any:
    d = x.T - x.mean(axis=1)
    e = d * d
    return np.ascontiguousarray(np.transpose(d / np.sqrt(e.sum(axis=0) + 1.0)))


def cubes(x: Any) -> Any:
    c = np.stack((x, x * 2, x + 1)).transpose(2, 0, 1)
    d = np.sqrt(c * c + 1.0)
    return d.transpose(1, 2, 0) * 0.5


def masked(x: Any) -> Any:
    t = x.T * 2.0
    t[t > 1.0] = 1.0
    t[0] = -1.0
    return t.T + x


def in_a_loop(x: Any) -> Any:
    out = np.zeros_like(x)
    for k in range(3):
        t = x.T + k
        out += np.abs(t).T
    return out


def both_ways(x: Any) -> Any:
    t = np.cos(x)
    return t + t.T[: x.shape[0], : x.shape[1]].sum(), t.T * 2.0


def by_columns(x: Any) -> Any:
    d = np.exp(x)
    m = d.mean(axis=0)
    return ((d - m) ** 2).mean(axis=0)


def rows_in_order(x: Any) -> Any:
    t = (x * 2.0).T
    out = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[1]):
            s = s * 0.5 + t[j, i]
        out[i] = s
    return out


ALL = (softmax, centred, cubes, masked, in_a_loop, both_ways, by_columns, rows_in_order)


def _same(function: Callable[..., Any], target: str) -> None:
    compiled = transkern.compile(function, target=target)
    rng = np.random.default_rng(5)
    for shape in ((7, 5), (1, 4), (6, 1), (33, 70)):
        x = rng.standard_normal(shape)
        x[0, 0] = -0.0
        for special in (None, np.nan, np.inf):
            given = x.copy()
            if special is not None:
                given[shape[0] // 2, shape[1] // 2] = special
            with np.errstate(all="ignore"):
                wanted, found = function(given.copy()), compiled(given.copy())
            for a, b in zip(
                wanted if isinstance(wanted, tuple) else (wanted,), found if isinstance(found, tuple) else (found,),
                strict=True,
            ):  # fmt: skip
                np.testing.assert_allclose(np.asarray(b), a, rtol=1e-13, atol=1e-13)
                assert b.shape == a.shape and b.dtype == a.dtype


@pytest.mark.parametrize("function", ALL, ids=lambda f: f.__name__)
def test_results(function: Callable[..., Any]) -> None:
    _same(function, "cpu")


@pytest.mark.parametrize("target", ["cuda", "pallas"])
@pytest.mark.parametrize("function", [softmax, cubes, masked, in_a_loop], ids=lambda f: f.__name__)
def test_devices(function: Callable[..., Any], target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _same(function, on_target(target, monkeypatch))


def test_turned_arrays_are_computed_where_they_are_read() -> None:
    source = inspect.getsource(softmax).replace(": Any", "").replace(" -> Any", "")
    program = program_of(f"import numpy as np\n{source}", "softmax", "softmax(float64[n,m])", PASSES)
    assert sum(isinstance(s, n.Kernel) for s in program.body) == 1
    assert not [b for b in program.buffers.values() if b.role == "temporary"]
