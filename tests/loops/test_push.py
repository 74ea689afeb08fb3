"""Loops whose elements need sums over the elements before them, in blocks of lanes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import transkern
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of

CASES = {
    "a triangular solve": ("x[i] = y[i]\nfor k in range(i):\n  x[i] -= a[i, k] * x[k]\nx[i] /= a[i, i] + 9", True),
    "a sum from a variable": ("s = y[i]\nfor k in range(i):\n  s += a[k, i] * x[k]\nx[i] = s * 0.1", True),
    "the element before its own as well": (
        "s = y[i]\nfor k in range(1, i + 1):\n  s += a[k, i] * x[k - 1]\nx[i] = s * 0.1", True
    ),
    "without the last ones": ("s = y[i]\nfor k in range(i - 2):\n  s += a[i, k] * x[k]\nx[i] = s * 0.1", True),
    "from the third on": ("s = y[i]\nfor k in range(3, i):\n  s += a[k, i] * x[k]\nx[i] = s * 0.1", True),
    "a condition in the step": (
        "s = y[i]\nfor k in range(i):\n  if x[k] > 0:\n    s += a[i, k] * x[k]\nx[i] = s * 0.1", True
    ),
    "a condition on the element": (
        "s = y[i]\nfor k in range(i):\n  s += a[i, k] * x[k]\nif s > 0:\n  x[i] = s * 0.1\nelse:\n  x[i] = -1.0", True
    ),
    "an element before it in the step": (
        "s = y[i]\nfor k in range(i):\n  s += x[k] * x[i - 1]\nx[i] = s * 0.01", False
    ),
    "an element before it at first": ("s = x[i - 1]\nfor k in range(i):\n  s += a[i, k] * x[k]\nx[i] = s * 0.1", False),
    "a store behind": ("s = y[i]\nfor k in range(i):\n  s += a[i, k] * x[k]\nx[i] = s * 0.1\nx[i // 2] = s", False),
    "a store before, where the steps read": (
        "x[i - 1] = 1.0\ns = y[i]\nfor k in range(i):\n  s += a[i, k] * x[k]\nx[i] = s * 0.1", False
    ),
    "a variable from element to element": (
        "s = y[i]\nfor k in range(i):\n  s += a[i, k] * x[k] * t\nt = s * 0.1\nx[i] = t", False
    ),
    "steps beyond the element": ("s = y[i]\nfor k in range(m):\n  s += a[i, k] * x[k]\nx[i] = s * 0.1", False),
    "an end": ("s = y[i]\nfor k in range(i):\n  s += a[i, k] * x[k]\nx[i] = s * 0.1\nif s > 3:\n  break", False),
}  # fmt: skip


def source(body: str) -> str:
    lines = "\n  ".join(body.split("\n"))
    return f"def f(a, x, y):\n m = x.shape[0]\n t = 1.0\n for i in range(m):\n  {lines}\n return t"


def pushed(text: str, types: str) -> bool:
    program = program_of(text, "f", types, PASSES)
    return any(isinstance(s, n.Alloc) and s.buffer.endswith("_lanes") and "s" in s.buffer for s in walk(program.body))


def run(text: str, compiled: bool, *args: Any) -> tuple[Any, ...]:
    space: dict[str, Any] = {}
    exec(compile(text, "<push>", "exec"), space)
    given = tuple(x.copy() for x in args)
    if compiled:
        result = transkern.compile(_with_source(space["f"], text), target="cpu")(*given)
    else:
        result = space["f"](*given)
    return result, *given


def _with_source(function: Any, text: str) -> Any:
    import linecache

    name = f"<push {hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space: dict[str, Any] = {}
    exec(compile(text, name, "exec"), space)
    return space["f"]


@pytest.mark.parametrize("name", CASES)
def test_sums_are_pushed_where_they_may_be(name: str) -> None:
    body, wanted = CASES[name]
    text = source(body)
    assert pushed(text, "f(float64[m,m], float64[m], float64[m])") == wanted
    for size in (0, 1, 7, 8, 9, 32, 33, 70):
        rng = np.random.default_rng(size)
        args = rng.standard_normal((size, size)), rng.standard_normal(size), rng.standard_normal(size)
        if size == 70:
            args[1][[3, 50]] = -0.0
            args[2][[0, 20, 40]] = -0.0, np.inf, np.nan
        with np.errstate(all="ignore"):
            for mine, theirs in zip(run(text, True, *args), run(text, False, *args), strict=True):
                np.testing.assert_array_equal(mine, theirs)
                assert (np.signbit(mine) == np.signbit(theirs))[np.isfinite(theirs)].all()


ANY_ORDER = {
    "max": "best = x[i - 1]\nfor k in range(1, i):\n  best = max(best, x[k] + a[k, i])\nx[i] = best + y[i]",
    "min": "best = x[i - 1]\nfor k in range(1, i):\n  best = min(best, x[k] + a[i, k])\nx[i] = best + y[i]",
    "sum": "best = x[i - 1]\nfor k in range(1, i):\n  best += x[k] * a[k, i]\nx[i] = best + y[i]",
}


@pytest.mark.parametrize("name", ANY_ORDER)
@pytest.mark.parametrize("dtype", ["int64", "int16"])
def test_integers_may_start_from_nothing(name: str, dtype: str) -> None:
    text = source(ANY_ORDER[name]).replace("t = 1.0", "t = 1").replace("range(m)", "range(1, m)")
    found = program_of(text, "f", f"f({dtype}[m,m], {dtype}[m], {dtype}[m])", PASSES)
    assert any(isinstance(s, n.Alloc) and s.buffer.endswith("_lanes") for s in walk(found.body))
    for size in (1, 2, 30, 150):
        rng = np.random.default_rng(size)
        args = [rng.integers(-9, 9, shape).astype(dtype) for shape in ((size, size), size, size)]
        with np.errstate(all="ignore"):
            for mine, theirs in zip(run(text, True, *args), run(text, False, *args), strict=True):
                np.testing.assert_array_equal(mine, theirs)
