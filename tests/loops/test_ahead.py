"""Checks made before the loops whose ranges decide them: where, and that errors and what was stored so far stay."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import transkern
from transkern.fuse.checks.ahead import check_ahead
from transkern.fuse.passes import PASSES
from transkern.ir import nodes as n
from transkern.ir.traverse import walk
from transkern.pipeline import program_of

# the body of a function of n: int, steps: int, x: float64[a], y: float64[b], i8: int64[c]; whether it has two versions
BODIES = {
    "steps over an array": (
        "for t in range(steps):\n  for i in range(1, n):\n   x[i] = x[i] * 0.5 + x[i - 1]\n", True
    ),
    "from one array to another and back": (
        "for t in range(steps):\n  for i in range(1, n - 1):\n   y[i] = x[i - 1] + x[i + 1]\n"
        "  for i in range(1, n - 1):\n   x[i] = 0.5 * y[i]\n", True
    ),
    "an element of the step": (
        "for t in range(n):\n  s = x[t]\n  for i in range(y.shape[0]):\n   y[i] = y[i] * 0.5 + s\n", True
    ),
    "a triangle": (
        "for k in range(1, n):\n  s = 0.0\n  for i in range(k):\n   s += x[k - i] * y[i]\n  y[k] = s\n", True
    ),
    "a sum": ("s = 0\n for i in range(n):\n  s += i8[i]\n return s\n", True),
    "downwards": ("for i in range(n, 0, -1):\n  x[i] = x[i - 1] + x[i] * 0.5\n", True),
    "in steps of two": ("for i in range(2, n, 2):\n  x[i] = x[i - 2] + x[i - 1] * 0.5\n", True),
    "within a window": (
        "for i in range(n):\n  for j in range(max(0, i - 2), min(n, i + 3)):\n   x[i] = x[i] * 0.5 + x[j]\n", True
    ),
    "where the data says so": (
        "for i in range(1, n):\n  if y[i] > 0.5:\n   x[i] = x[i - 1] + 1.0\n  else:\n   x[i] = x[i] - x[i - 1]\n", True
    ),
    "where the place says so": (
        "for i in range(n):\n  if i + 1 < n:\n   x[i] = x[i] + x[i + 1]\n  if i > 0:\n   x[i] = x[i] - x[i - 1]\n", None
    ),
    "values that data choose between": (
        "h = np.zeros(len(i8), np.int8)\n for i in range(1, len(i8)):\n  s = 4 * n if i8[i] > 4 else steps\n"
        "  h[i] = max(h[i - 1] + s, h[i] - n)\n return int(h.sum())\n", True
    ),
    "values that a loop computes": (
        "h = np.zeros(len(i8), np.int8)\n s = n\n for i in range(1, len(i8)):\n"
        "  s = 3 * s if i8[i] > 4 else steps\n  h[i] = h[i - 1] + s\n return int(h.sum())\n", False
    ),
    "left early": ("for i in range(1, n):\n  if x[i] > 0.9:\n   break\n  x[i] = x[i - 1] * 0.5\n", False),
    "places from data": ("for i in range(n):\n  x[i8[i]] = x[i] * 0.5\n", False),
    "a range that data gives": (
        "for t in range(steps):\n  for i in range(int(x[0] * 4.0)):\n   x[i] = x[i] * 0.5 + 0.125\n", False
    ),
    "an error of its own": (
        "for i in range(1, n):\n  if x[i] > 0.97:\n   raise ValueError('large')\n  x[i] = x[i - 1] * 0.5\n", False
    ),
    "slices that move": (
        "m = x[:len(x) - n + 1].copy()\n for k in range(1, n):\n  m = np.minimum(m, x[k:len(x) - n + 1 + k])\n"
        " x[:len(m)] = m\n", True
    ),
    "slices that move back": (
        "m = x[n:] * 1\n for k in range(n - 1, -1, -1):\n  m += x[k:k - n]\n x[:len(m)] = m\n", None
    ),
    "slices of two arrays": ("for k in range(n):\n  x[k:] *= y[:len(x) - k]\n", None),
    "negative places": ("for i in range(1, n):\n  x[-i] = x[-i] * 0.5 + x[i - 1]\n", None),
}  # fmt: skip


def text(body: str) -> str:
    return f"import numpy as np\ndef f(n, steps, x, y, i8):\n {body}"


@pytest.mark.parametrize("name", BODIES)
def test_where(name: str) -> None:
    body, made = BODIES[name]
    types = "f(int, int, float64[a], float64[b], int64[c])"
    before = program_of(text(body), "f", types, PASSES[: PASSES.index(check_ahead)])
    after = check_ahead(before)
    assert made is None or (after != before) == made
    if after != before:
        first = next(s for s in after.body if isinstance(s, n.If))
        assert not any(isinstance(s, n.Guard) for s in walk(first.then))
        assert any(isinstance(s, n.Guard) for s in walk(first.orelse))


@pytest.mark.parametrize("name", BODIES)
def test_errors_and_elements_are_python_s(name: str, tmp_path: Path) -> None:
    path = tmp_path / "bodies.py"
    path.write_text(text(BODIES[name][0]))
    space: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    compiled = transkern.compile(space["f"], target="cpu")
    for seed, (a, b, c) in enumerate([(9, 9, 9), (9, 7, 8), (7, 9, 9), (1, 2, 0), (40, 40, 40)]):
        rng = np.random.default_rng(seed)
        for size in (-2, 0, 1, 2, 6, 7, 8, 9, 10, 12, 40, 41):
            for steps in (-1, 0, 2):
                data = [rng.random(a), rng.random(b), rng.integers(0, 9, c)]
                mine, theirs = copy.deepcopy(data), copy.deepcopy(data)
                got, expected = ending(compiled, size, steps, mine), ending(space["f"], size, steps, theirs)
                assert got == expected
                for one, two in zip(mine, theirs, strict=True):
                    assert one.tobytes() == two.tobytes()


def ending(call: Any, size: int, steps: int, data: list[Any]) -> Any:
    try:
        return call(size, steps, *data)
    except Exception as error:
        return type(error), str(error)
