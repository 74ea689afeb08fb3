"""Values that are named for a store alone: elements that change are told from values of an iteration's own."""

from __future__ import annotations

from typing import Any

import numpy as np

import transkern
from tests.tools import source_of
from transkern.fuse.loops.forward import with_values_stored
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.expr import Apply, Const, Load, Var
from transkern.ir.traverse import walk
from transkern.pipeline import program_of


def pulled(p: Any, m: Any) -> Any:
    a = np.zeros_like(p)
    for i in range(len(p)):
        for j in range(i + 1, len(p)):
            d = p[j] - p[i]
            g = d / np.sqrt(d @ d + 0.5)
            a[i] += m[j] * g
            a[j] -= m[i] * g
    return a


def pulled_by_elements(p: Any, m: Any) -> Any:
    a = np.zeros_like(p)
    for i in range(len(p)):
        for j in range(i + 1, len(p)):
            x, y, z = p[j, 0] - p[i, 0], p[j, 1] - p[i, 1], p[j, 2] - p[i, 2]
            f = np.sqrt(x * x + y * y + z * z + 0.5)
            new = a[j, 0] - m[i] * (x / f)
            a[i, 0] += m[j] * (x / f)
            a[i, 1] += m[j] * (y / f)
            a[i, 2] += m[j] * (z / f)
            a[j, 0] = new
            a[j, 1] -= m[i] * (y / f)
            a[j, 2] -= m[i] * (z / f)
    return a


def test_before_and_after() -> None:
    place, x = (Var("k"),), Var("x", "float64")
    value = Apply("add", (Load("y", place, "float64"), Const(1.0, "float64")), "float64")
    block = (n.Let("x", value), n.Store("y", place, x))
    assert with_values_stored(block, {"x": 1}) == (n.Store("y", place, value),)
    assert with_values_stored(block, {"x": 2}) == block  # somebody else reads it
    apart = (block[0], n.Store("y", (Const(0, "index"),), x), block[1])
    assert with_values_stored(apart, {"x": 2}) == apart


def test_rows_and_elements_meet() -> None:
    for function in (pulled, pulled_by_elements):
        types = f"{function.__name__}(float64[n,3], float64[m])"
        program = program_of(source_of(function), function.__name__, types, PASSES)
        (loop, *_) = (
            s for s in walk(program.body)
            if isinstance(s, n.Loop) and s.kind == "parallel" and any("sqrt" in repr(x) for x in s.body)
        )  # fmt: skip
        stored = {x.buffer for x in walk(loop.body) if isinstance(x, n.Store)}
        assert stored
        assert "a" not in stored  # what is handed on is behind the loop of divisions and roots


def test_numpy_s_answers() -> None:
    rng = np.random.default_rng(5)
    for function in (pulled, pulled_by_elements):
        compiled = transkern.compile(function, target="cpu")
        for size in (8, 9, 40):
            p, m = rng.standard_normal((size, 3)), rng.random(size)
            p[1, 2] = np.nan if size == 9 else -0.0
            np.testing.assert_allclose(compiled(p, m), function(p, m), rtol=1e-12, atol=1e-14)
