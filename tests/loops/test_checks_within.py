"""Checks of all elements that go into the loop in order behind them: where, and that errors stay."""

from __future__ import annotations

import numpy as np
import pytest

import transkern
from tests.fuzz.stages import function_of
from tests.regressions.support import alike
from tests.tools import require
from transkern.fuse.checks.within import check_within
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of

# the body of a function of k: int64[n], j: int32[n], w: float64[n], y: float64[m]; whether a check moves
BODIES = {
    "added up": ("out = np.zeros(9)\n np.add.at(out, k, w)\n return out", True),
    "of a size that is given": ("out = np.zeros(len(y))\n np.add.at(out, k, w * w)\n return out", True),
    "the largest, places of 32 bits": ("out = np.full(9, -np.inf)\n np.maximum.at(out, j, w)\n return out", True),
    "two places": ("out = np.zeros((9, 9))\n np.add.at(out, (k, j), w)\n return out", True),
    "two tables": ("out, c = np.zeros(9), np.zeros(9, int)\n np.add.at(out, k, w)\n np.add.at(c, k, 1)\n"
                   " return out, c", True),
    "the caller's": ("np.add.at(y, k, w)\n return y", False),
    "other places from the end": ("out = np.zeros(9)\n np.add.at(out, k, w[k])\n return out", None),
    "what one before is": ("v = k[0]\n out = np.zeros(9)\n np.add.at(out, k, w)\n out[v] = 1.0\n return out", None),
    "caught": ("out = np.zeros(9)\n try:\n  np.add.at(out, k, w)\n except IndexError:\n  out[0] = -1.0\n"
               " return out", None),
}  # fmt: skip


def _text(name: str) -> str:
    return f"import numpy as np\n\n\ndef f(k, j, w, y):\n {BODIES[name][0]}\n"


def _arguments(size: int, **put: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(size)
    k, w = rng.integers(-9, 9, size), rng.standard_normal(size)
    for at, value in zip(put, put.values(), strict=True):
        k[{"first": 0, "middle": size // 2, "last": -1}[at]] = value
    w[: size // 3 : 2] = (np.nan, -0.0, np.inf)[size % 3]
    return k, rng.integers(-9, 9, size).astype(np.int32), w, rng.standard_normal(9)


@pytest.mark.parametrize("name", BODIES)
def test_what_fails_and_what_comes_out(name: str) -> None:
    require("cc")
    function = function_of(_text(name))
    compiled = transkern.compile(function, target="cpu")
    least = -(2**63)
    for put in ({}, {"first": 9}, {"middle": -10}, {"last": 2**63 - 1}, {"first": least, "last": 9}):
        for size in (2, 200):
            alike(function, *_arguments(size, **put), compiled=compiled)
    alike(function, *_arguments(0), compiled=compiled)
    k, j, w, y = _arguments(200)
    alike(function, k[::-1], j[::-2].repeat(2), w[::-1], y[::-1], compiled=compiled)
    j[7] = 9
    alike(function, k, j, w, y, compiled=compiled)


@pytest.mark.parametrize("name", [name for name, (_, moves) in BODIES.items() if moves is not None])
def test_where_checks_move(name: str) -> None:
    types = "f(int64[n], int32[n], float64[n], float64[m])"
    before = program_of(_text(name), "f", types, PASSES[: PASSES.index(check_within)])
    after = check_within(before)
    assert (after != before) == BODIES[name][1]
    for loop in after.body if after != before else ():
        if isinstance(loop, n.Loop) and loop.kind == "sequential":
            assert any(isinstance(s, n.Guard) for s in walk(loop.body)) or name == "two tables"
