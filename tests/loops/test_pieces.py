"""Arrays that are made in pieces, and read element by element: computed where they are read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from tests.tools import on_target, source_of
from transkern.fuse.passes import PASSES
from transkern.fuse.states.pieces import merge_pieces
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of


def laplacian(u: Any) -> Any:
    out = np.zeros_like(u)
    out[1:-1, 1:-1] = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1]
    return u + 0.1 * out


def differences(u: Any) -> Any:
    gx, gy = np.zeros_like(u), np.full(u.shape, 2.5)
    gx[:, 1:] = u[:, 1:] - u[:, :-1]
    gy[:-2] = u[2:]
    return np.sqrt(gx**2 + gy**2)


def rows_and_corners(u: Any) -> Any:
    out = np.ones(u.shape)
    out[1:] = u[1:] * 2
    out[0] = u[-1]
    out[-1, 0] = -0.0
    return u - out


def added_to(u: Any) -> Any:
    out = np.zeros(u.shape)
    out[:, 2:] += u[:, 2:]
    return out * u


def in_steps(u: Any) -> Any:
    state, rate = u.copy(), np.zeros_like(u)
    for _ in range(3):
        rate = np.zeros_like(state)
        rate[1:-1] = state[2:] - 2 * state[1:-1] + state[:-2]
        state = state + 0.25 * rate
    return state


def summed(u: Any) -> Any:
    out = np.zeros(u.shape)
    out[1:-1] = u[2:] - u[:-2]
    return (out * out).sum(axis=1), np.abs(out).max(initial=0)


def looked_at_beside(u: Any) -> Any:
    out = np.zeros(u.shape)
    out[1:] = u[:-1]
    return out[:, ::-1] + u


def of_other_elements(u: Any) -> Any:
    out = np.zeros(u.shape)
    out[1:] = u[:-1]
    out[:, 1:] = out[:, :-1] + 1
    return out + u


def changed_in_between(u: Any) -> Any:
    a, out = u.copy(), np.zeros(u.shape)
    out[1:] = a[:-1]
    a[0] = 7
    out[:1] = a[:1]
    return out + u


def every_other(u: Any) -> Any:
    out = np.zeros(u.shape)
    out[::2] = u[::2]
    return out + u


def a_copy(u: Any) -> Any:
    out = u.copy()
    out[1:-1] = (u[2:] + u[:-2]) / 2
    return out + u


MERGED = (laplacian, differences, rows_and_corners, added_to, in_steps, summed)
LEFT = (looked_at_beside, of_other_elements, changed_in_between, every_other, a_copy)


@pytest.mark.parametrize("function", (*MERGED, *LEFT), ids=lambda f: f.__name__)
def test_pieces_are_one_statement(function: Any) -> None:
    passes = PASSES[: PASSES.index(merge_pieces) + 1]
    program = program_of(source_of(function), function.__name__, f"{function.__name__}(float64[n,m])", passes)
    names = ("out", "g", "rate", "copy")
    pieces = [s for s in walk(program.body) if isinstance(s, n.Write) and s.buffer.startswith(names)]
    assert bool(pieces) == (function in LEFT)


@pytest.mark.parametrize("function", (laplacian, differences, in_steps), ids=lambda f: f.__name__)
def test_on_a_device(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    on_target("cuda", monkeypatch)
    compiled = transkern.compile(function, target="cuda")
    u = np.random.default_rng(9).standard_normal((20, 37))
    np.testing.assert_allclose(compiled(u), function(u), rtol=1e-13, atol=1e-13)
    # of three steps two change places, and the third is stored aside and copied
    assert compiled.kernels <= (1 if function is laplacian or function is differences else 4)


@pytest.mark.parametrize("function", (*MERGED, *LEFT), ids=lambda f: f.__name__)
def test_numpys_answer(function: Any) -> None:
    compiled = transkern.compile(function, target="cpu")
    rng = np.random.default_rng(8)
    shapes = ((1, 1), (1, 5), (2, 2), (3, 4), (5, 1), (17, 33), (70, 90))
    for shape in shapes if function in (rows_and_corners, changed_in_between) else ((0, 3), (2, 0), *shapes):
        u = rng.standard_normal(shape)
        if min(shape) > 4:
            u[1, 2], u[3, 3], u[-1, -1], u[0, 0] = np.nan, np.inf, -np.inf, -0.0
        with np.errstate(all="ignore"):
            want = function(u)
        got = compiled(u)
        for one, other in zip(want if isinstance(want, tuple) else (want,), got if isinstance(got, tuple) else (got,),
                              strict=True):  # fmt: skip
            np.testing.assert_allclose(other, one, rtol=1e-13, atol=1e-13)


def test_counts_in_a_loop_of_the_host() -> None:
    def distinct(x: Any, p: Any) -> Any:
        count = 0
        for i in range(x.size - 1, 0, -1):
            count = 2 + np.unique(p).size
            if i < 3:
                continue
            x[i] = 1.0
        return count

    x, p = np.zeros(6), np.array([3, 1, 3, 2])
    assert transkern.compile(distinct, target="cpu")(x.copy(), p) == distinct(x, p)
