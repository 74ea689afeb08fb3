"""Loops in any order whose checks look at what they compute (`fuse/checks/late.py`): Python's exceptions all
the same."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable

import numpy as np
import pytest

import transkern
from tests.tools import on_target, require
from transkern import pipeline
from transkern.fuse import passes as pass_lists
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import walk

require("cc")


def gains(z, c):
    out = np.empty_like(z)
    for j in range(z.shape[1]):
        p = 1.0
        for t in range(z.shape[0]):
            p = p + 0.25
            gain = p / (p - c)
            p = (1 - gain) * p
            out[t, j] = gain * z[t, j]
    return out


def each(z, c):
    out = np.zeros(z.shape)
    for i in range(z.shape[0]):
        for j in range(z.shape[1]):
            d = float(i) * 0.5 - c + float(j) * 0.0
            out[i, j] = 1.0 / d
    return out


def roots(z, c):
    out = np.zeros(len(z))
    for i in range(len(z)):
        x = float(i) - c
        out[i] = math.sqrt(x * x - 1.0 + x) if i != 3 else math.log(x + 2.0)
    return out


def by_newton(z, c):
    out = np.zeros(z.shape[0])
    for i in range(z.shape[0]):
        x = c
        for _ in range(4):
            if x > -50.0:
                x = x - (x * x - i) / (2.0 * x)
        out[i] = x
    return out


def of_integers(z, c):
    out = np.zeros(len(z), np.int64)
    for i in range(len(z)):
        k = i
        for _ in range(3):
            k = k * 1_000_000 if c == 1.25 else k * 3
        out[i] = k
    return out


def kept(z, c):
    out, last = np.zeros(len(z)), np.zeros(1)
    for i in range(len(z)):
        x = float(i) - c
        y = 1.0 / x
        if y > 0:
            out[i] = y
        else:
            out[i] = -1.0 / (x - 1.0)
    last[0] = out[-1]
    return out, last


def into_an_argument(z, c):
    for i in range(z.shape[0]):
        x = float(i) - c
        z[i, 0] = 1.0 / x
    return z[:, 0].sum()


def over_itself(z, c):
    a = z.copy()
    for i in range(z.shape[0]):
        x = float(i) - c
        a[i, 0] = a[i, 0] / 3.0 + 1.0 / x
    return a


def places(z, c):
    out = np.zeros(len(z))
    for i in range(len(z)):
        x = float(i) - c
        k = int(8.0 / x) % len(z)
        out[i] = z[k, 0]
    return out


def beside_places(z, c):
    out = np.zeros(z.shape[1])
    for j in range(z.shape[1]):
        p = j * 0.25
        for t in range(2):
            p = 1.0 / (p - c) + z[t + 1, j]
        out[j] = math.exp(z[0, j]) + p
    return out


def beside_places_of_data(z, c):
    out, at = np.zeros(z.shape[1]), np.arange(z.shape[1]) // 2
    for j in range(z.shape[1]):
        p = j * 0.25
        for t in range(z.shape[0]):
            p = 1.0 / (p - c)
            if t < 2:
                p += z[at[j], j]
        out[j] = p
    return out


FUNCTIONS = (
    gains, each, roots, by_newton, of_integers, kept, into_an_argument, over_itself, places, beside_places,
    beside_places_of_data,
)  # fmt: skip
LATE = (gains, by_newton, of_integers, beside_places, beside_places_of_data)
"""Whose checks need what the loop computes; those of the others are made before, or keep the loop in order."""


def outcome(function: Callable[..., object], z: np.ndarray, c: float) -> tuple[object, np.ndarray]:
    z = z.copy()
    try:
        with np.errstate(all="ignore"):
            return function(z, c), z
    except Exception as error:
        return (type(error), str(error)), z


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("target", ["cpu", "cuda", "pallas"])
def test_exceptions_are_pythons(function: Callable[..., object], target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = transkern.compile(function, target=on_target(target, monkeypatch))
    rng = np.random.default_rng(0)
    shapes = ((5, 40), (40, 5), (1, 1), (0, 3), (3, 0), (70, 33)) if target == "cpu" else ((5, 7), (0, 3))
    for shape in shapes:
        z = rng.standard_normal(shape)
        for c in (-9.3, 1.25, 0.0, 2.0, 4.0, 39.0, np.nan):
            if function is places and (c != c or not z.size):
                continue
            wanted, z_wanted = outcome(function, z, c)
            try:
                found, z_found = outcome(compiled, z, c)
            except transkern.CompileError:
                assert target != "cpu"
                return
            if isinstance(wanted, tuple) and isinstance(wanted[0], type):
                assert isinstance(found, tuple)
                assert found[0] == wanted[0]
                assert found == wanted or function is of_integers  # whose words are others at 64 bits
                if target != "cpu":
                    continue  # which hand no arguments back then
            else:
                for f, w in zip(*((v if isinstance(v, tuple) else (v,)) for v in (found, wanted)), strict=True):
                    np.testing.assert_allclose(f, w, rtol=1e-13, atol=0)
            np.testing.assert_allclose(z_found, z_wanted, rtol=1e-13, atol=0)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_what_may_run_in_any_order_does(function: Callable[..., object]) -> None:
    source = f"import math\nimport numpy as np\n{inspect.getsource(function)}"
    passes = PASSES[: PASSES.index(pass_lists.parallelise) + 1]
    program = pipeline.program_of(source, function.__name__, "f(float64[m,n], float)", passes)
    late = any(isinstance(s, n.Accumulator) and s.name.startswith("wrong") for s in walk(program.body))
    assert late == (function in LATE)
